# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The processes that make batches for a DataLoader: their lifetime, and the order of their batches."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import queue
import random
import signal
import sys
import threading
import time
import traceback
import types
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

import numpy as np

from ... import _shared
from ..._errors import ArgumentTypeError
from ..._random import Generator, default_generator, manual_seed
from ...capi import check, lib
from . import transport, worker_info
from .fetch import fetch, stream
from .worker_info import WorkerError, WorkerInfo

_GUARD = "a program that uses worker processes keeps its main part under `if __name__ == '__main__':`"
_MODULE = "write it into a module (a .py file) and import it, or use num_workers=0"


# ---- Messages between the processes ----


class _Text(str):
    """A message whose lines stay lines in a KeyError."""

    __repr__ = str.__str__


class _Failure:
    """An exception sent by a worker, with the text of its traceback."""

    def __init__(self, error: BaseException) -> None:
        self.text = "".join(traceback.format_exception(error))
        self.kind: bytes | None = None
        try:
            self.kind = pickle.dumps(type(error))
            pickle.loads(self.kind)
        except Exception:  # a class that only the worker can import
            self.kind = None

    def reraise(self, worker: int) -> None:
        message = _Text(f"in worker {worker} of a DataLoader:\n{self.text}")
        try:
            made = pickle.loads(self.kind)(message) if self.kind is not None else WorkerError(message)
        except Exception:
            made = WorkerError(message)
        if isinstance(made, StopIteration):  # which would end the loader's generator
            made = WorkerError(message)
        raise made


class _End:
    """The worker's part of an IterableDataset has no more batches."""


@dataclass
class _Task:
    """The data that a worker gets once, at its start."""

    dataset: Any
    count: int
    init: Any
    iterable: bool
    size: int | None
    drop_last: bool
    collate: Any
    batched: bool


# ---- In the worker ----


def _work(number: int, pipe: Any, task: _Task | None = None, parents: Sequence[Any] = ()) -> None:
    """The main loop of a worker: makes batches for jobs until the pipe is closed. A forked worker gets its task here,
    and the pipes of its parent, which would not end while a copy of them is open."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides what an interrupt means
    for end in parents:
        end.close()
    check(lib.tsr_set_num_threads(1))  # the workers share the processors
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, jobs), daemon=True).start()
    try:
        _serve(number, pipe, jobs, task)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the loader is gone


def _receive(pipe: Any, jobs: queue.SimpleQueue[Any]) -> None:
    """Receives jobs on a thread of its own, so that the loader and the worker never wait for each other."""
    try:
        while True:
            jobs.put(pipe.recv_bytes())
    except (EOFError, OSError):
        jobs.put(None)
        time.sleep(5.0)
        os._exit(1)  # the loader is gone, but the data set is still working


def _serve(number: int, pipe: Any, jobs: queue.SimpleQueue[Any], task: _Task | None) -> None:
    failure: _Failure | None = None
    source: Iterator[Any] | None = None
    if task is None:
        first = jobs.get()
        if first is None:
            return
        try:
            task = pickle.loads(first)
        except Exception as error:
            failure = _Failure(error)
    info: WorkerInfo | None = None
    if task is not None:
        info = worker_info.current = WorkerInfo(number, task.count, 0, task.dataset)
    started = False
    while (job := jobs.get()) is not None:
        epoch, index, wanted = pickle.loads(job)
        value: Any = failure
        try:
            if task is not None and info is not None and index < 0:  # a new pass, with its seed
                info.seed = wanted + number
                manual_seed(info.seed)
                random.seed(info.seed)
                np.random.seed(info.seed % 2**32)
                if not started and task.init is not None:
                    task.init(number)
                started, failure = True, None
                source = stream(iter(task.dataset), task.size, task.drop_last, task.collate) if task.iterable else None
                continue
            if failure is None and task is not None:
                value = next(source, _End()) if source is not None else fetch(task.dataset, wanted, task.collate, task.batched)
        except Exception as error:
            value = _Failure(error)
            if index < 0:
                failure = value  # every job of this pass fails with it
                continue
        if index >= 0:
            _answer(pipe, epoch, index, value)


def _answer(pipe: Any, epoch: int, index: int, value: Any) -> None:
    try:
        message = transport.Message((epoch, index, value), recycled=True)
    except Exception as error:
        message = transport.Message((epoch, index, _Failure(error)))
    transport.send(pipe, message)


# ---- In the process of the loader ----


class Pool:
    """The workers of a loader."""

    def __init__(self, loader: Any) -> None:
        task = _Task(
            loader.dataset, loader.num_workers, loader.worker_init_fn, loader._iterable, loader.batch_size,
            loader.drop_last, loader.collate_fn, loader._batched,
        )  # fmt: skip
        self._ahead, self._timeout, self._generator = loader.prefetch_factor, loader.timeout, loader.generator
        self._epoch, self.busy = loader._passes, False
        loader._passes += 1
        self._processes: list[Any] = []
        self._pipes: list[Any] = []
        self._end = weakref.finalize(self, _stop, self._processes, self._pipes, os.getpid())
        context = _context(loader.multiprocessing_context)
        forked = context.get_start_method() == "fork"
        payload = b"" if forked else _dumped(task)
        try:
            with _without_main(not forked and b"__main__" not in payload):
                for number in range(loader.num_workers):
                    self._start(context, number, payload, task if forked else None)
        except BaseException:
            self.close()
            raise

    def _start(self, context: Any, number: int, payload: bytes, task: _Task | None) -> None:
        ours, theirs = context.Pipe()
        self._pipes.append(ours)
        inherited = (theirs, task, self._pipes) if task is not None else (theirs,)
        process = context.Process(target=_work, args=(number, *inherited), daemon=True)
        process.start()
        self._processes.append(process)
        theirs.close()
        if task is None:
            self._tell(number, payload)

    @property
    def usable(self) -> bool:
        return bool(self._end.alive) and all(p.is_alive() for p in self._processes)

    def close(self) -> None:
        """Stops the workers; a second call does nothing."""
        self._end()

    def run(self, keys: Iterator[Any]) -> Iterator[Any]:
        """One pass: yields one batch for each of the keys."""
        self.busy = True
        try:
            yield from self._pass(keys)
        finally:
            self.busy = False

    def _pass(self, keys: Iterator[Any]) -> Iterator[Any]:
        """Distributes jobs round robin and yields the batches in the same order."""
        self._epoch += 1
        count = len(self._processes)
        seed = _base_seed(self._generator, self._epoch if self._generator is not None else next(_passes))
        for number in range(count):
            self._job(number, -1, seed)
        live, owner, ready = list(range(count)), dict[int, int](), dict[int, Any]()
        sent = done = 0
        turn = -1

        def send() -> None:
            nonlocal sent, turn
            job = next(keys, owner) if live else owner
            if job is owner:  # there are no more
                return
            owner[sent] = turn = next((number for number in live if number > turn), live[0])
            self._job(owner[sent], sent, job)
            sent += 1

        for _ in range(self._ahead * count):
            send()
        while done < sent:
            value = self._wait(done, owner, ready)
            number = owner.pop(done)
            done += 1
            if isinstance(value, _Failure):
                value.reraise(number)
            if isinstance(value, _End):
                if number in live:
                    live.remove(number)
                continue
            send()
            yield value

    def _job(self, number: int, index: int, wanted: Any) -> None:
        self._tell(number, pickle.dumps((self._epoch, index, wanted)))

    def _tell(self, number: int, message: bytes) -> None:
        try:
            self._pipes[number].send_bytes(message)
        except (BrokenPipeError, ConnectionResetError):
            self._died(number)
        except BaseException:
            self.close()  # a part of the message may be in the pipe
            raise

    def _wait(self, index: int, owner: dict[int, int], ready: dict[int, Any]) -> Any:
        """Waits for the answer to one job; keeps answers to other jobs that arrive first."""
        deadline = time.monotonic() + self._timeout if self._timeout else None
        while index not in ready:
            pipes = [self._pipes[n] for n in sorted(set(owner.values()))]
            left = None if deadline is None else deadline - time.monotonic()
            found = connection.wait(pipes, left) if left is None or left > 0 else []
            if not found:
                raise WorkerError(f"no batch came within timeout={self._timeout} seconds")
            for pipe in found:
                try:
                    epoch, number, value = transport.receive(pipe)
                except (EOFError, ConnectionResetError):
                    self._died(self._pipes.index(pipe))
                except BaseException:
                    self.close()  # a part of the answer may still be in the pipe
                    raise
                if epoch == self._epoch:  # else it belongs to a pass that was left early
                    ready[number] = value
        return ready.pop(index)

    def _died(self, number: int) -> None:
        process = self._processes[number]
        process.join(timeout=5.0)
        code = process.exitcode
        self.close()
        raise WorkerError(
            f"worker {number} of a DataLoader died (exit code {code}); what it printed says why. If it did so while it "
            f"started: {_GUARD}"
        ) from None


_passes = itertools.count()


def _base_seed(generator: Generator | None, number: int) -> int:
    """The seed of the first worker. It follows the generator but draws nothing from it, because the order of the samples
    is that of a loader without workers, and of the loaders of other languages. The function is SplitMix64."""
    state, offset = (default_generator if generator is None else generator)._state()
    mixed = 0
    for part in (state, offset, number):
        mixed = (mixed + part + 0x9E3779B97F4A7C15) % 2**64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ mixed >> shift) * factor % 2**64
        mixed ^= mixed >> 31
    return mixed >> 2


def _stop(processes: list[Any], pipes: list[Any], parent: int) -> None:
    for pipe in pipes:
        pipe.close()
    if os.getpid() != parent:  # a copy of the pool, in a process that was forked
        return
    deadline = time.monotonic() + 0.5
    for process in processes:
        process.join(timeout=max(0.0, deadline - time.monotonic()))
    for end in ("terminate", "kill"):
        for process in processes:
            if process.is_alive():
                getattr(process, end)()
        for process in processes:
            process.join(timeout=2.0)
    for process in processes:
        process.close()
    processes.clear()
    _shared.ipc_collect()  # the memory that this process has kept for the next batches of the workers


def _context(kind: Any) -> Any:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise WorkerError(f"a worker process runs the program again and would start workers itself: {_GUARD}")
    if multiprocessing.current_process().daemon:
        raise WorkerError("a worker of a DataLoader, as every daemonic process, cannot start processes: use num_workers=0 in it")
    return multiprocessing.get_context(kind or "spawn") if kind is None or isinstance(kind, str) else kind


def _dumped(task: _Task) -> bytes:
    """The pickled task, or an error that says why it cannot be sent to workers."""
    try:
        payload = pickle.dumps(task, protocol=5)
    except Exception as error:
        raise ArgumentTypeError(
            f"a DataLoader with workers needs a data set, collate_fn and worker_init_fn that can be pickled: {error}; "
            f"what is defined inside a function cannot; {_MODULE}"
        ) from None
    main = sys.modules["__main__"]
    importable = getattr(main, "__spec__", None) is not None or os.path.exists(getattr(main, "__file__", ""))
    if b"__main__" in payload and not importable:
        raise ArgumentTypeError(
            "a DataLoader with workers needs a data set, collate_fn and worker_init_fn that other processes can import: what "
            f"is defined in a notebook or at the prompt cannot be; {_MODULE}"
        )
    return payload


class _without_main:  # noqa: N801
    """Processes started inside the block do not import the main program if they need nothing of it."""

    def __init__(self, hide: bool) -> None:
        self._hide = hide

    def __enter__(self) -> None:
        self._main = sys.modules["__main__"]
        if self._hide:
            sys.modules["__main__"] = types.ModuleType("__main__")

    def __exit__(self, *exception: object) -> None:
        sys.modules["__main__"] = self._main
