# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Several processes that run one function, started and awaited together."""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable
from multiprocessing import connection
from typing import Any

from .._errors import TesseraError


class ProcessFailedError(TesseraError):
    """A process of spawn() failed."""

    def __init__(self, message: str, error_index: int = -1, error_pid: int | None = None) -> None:
        super().__init__(message)
        self.error_index, self.error_pid = error_index, error_pid


class ProcessRaisedError(ProcessFailedError):
    """The function raised an exception in one of the processes; the message has its traceback."""


class ProcessExitedError(ProcessFailedError):
    """One of the processes ended by a signal or with a status other than 0."""

    exit_code: int = 0


_MOST_TEXT = 15_000  # characters of a traceback: nobody reads the pipe, of 64 KiB, before the process has ended


def _shortened(text: str) -> str:
    half = _MOST_TEXT // 2
    return text if len(text) <= _MOST_TEXT else f"{text[:half]}\n...\n{text[-half:]}"


def _run(fn: Callable[..., Any], index: int, args: tuple[Any, ...], pipe: Any) -> None:
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent got it too
    except Exception as error:
        pipe.send(_shortened("".join(traceback.format_exception(error))))
        raise SystemExit(1) from None
    finally:
        pipe.close()


class ProcessContext:
    """The processes that start_processes() started."""

    def __init__(self, processes: list[Any], pipes: list[Any]) -> None:
        self.processes, self._pipes = processes, pipes

    def _start(self, standard: Any, target: Callable[..., None], args: tuple[Any, ...], daemon: bool) -> None:
        ours, theirs = standard.Pipe(duplex=False)
        try:
            process = standard.Process(target=target, args=(*args, theirs), daemon=daemon)
            process.start()
        finally:
            theirs.close()
        self.processes.append(process)
        self._pipes.append(ours)

    def pids(self) -> list[int]:
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until all processes have ended, or one has failed, which ends the others and raises ProcessRaisedError
        or ProcessExitedError. False if processes are left after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while waiting := {process.sentinel: i for i, process in enumerate(self.processes) if process.exitcode is None}:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ended = [waiting[found] for found in connection.wait(list(waiting), left) if isinstance(found, int)]
            for index in ended:
                self.processes[index].join()
            if self._failed() is not None or not ended:
                break
        failed = self._failed()
        if failed is None:
            return all(process.exitcode is not None for process in self.processes)
        self._stop(1.0 if grace_period is None else grace_period)
        self._report(failed)
        return False

    def _failed(self) -> int | None:
        return next((i for i, process in enumerate(self.processes) if process.exitcode not in (None, 0)), None)

    def _stop(self, grace: float) -> None:
        for end in ("terminate", "kill"):
            for process in self.processes:
                if process.exitcode is None:
                    getattr(process, end)()
            deadline = time.monotonic() + grace
            for process in self.processes:
                process.join(max(0.0, deadline - time.monotonic()))

    def _report(self, index: int) -> None:
        process = self.processes[index]
        try:
            text = self._pipes[index].recv() if self._pipes[index].poll() else None
        except EOFError:
            text = None
        if text is not None:
            raise ProcessRaisedError(f"process {index} of {len(self.processes)} raised:\n{text}", index, process.pid)
        code = int(process.exitcode)
        how = f"by the signal {signal.Signals(-code).name}" if code < 0 else f"with the status {code}"
        error = ProcessExitedError(f"process {index} of {len(self.processes)} ended {how}", index, process.pid)
        error.exit_code = code
        raise error


def start_processes(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(index, *args) in `nprocs` processes; with join waits for them, else returns the context to wait with."""
    standard = multiprocessing.get_context(start_method)
    started = ProcessContext([], [])
    try:
        for index in range(nprocs):
            started._start(standard, _run, (fn, index, args), daemon)
    except BaseException:  # of a process that cannot start, such as arguments that cannot be pickled
        started._stop(1.0)
        raise
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(index, *args) in `nprocs` processes, as start_processes() does."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
