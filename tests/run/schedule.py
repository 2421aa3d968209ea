#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the parts of parts.py, as many at a time as there are cores, each as soon as what it needs is there.

Beside them one part that compiles runs on all cores with a lower priority, so that no core waits while there is
something to compile. Every part is announced in parts.txt before the first one starts: one that leaves no report is a
failure (tests/tools/summarize.py). What a part prints is shown when it has ended, and times.txt says what each took.

A part that passed in an earlier run is not run again while nothing that it depends on has changed (earlier.py).

Usage: schedule.py <report folder> --jobs <cores> [--since <seconds that have passed>] [--full] [--again]
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

from earlier import Earlier
from parts import PARTS, Part
from slowest import as_text, slowest

HERE = pathlib.Path(__file__).resolve().parent
NICENESS = 10  # of a part that compiles
ENDING = (signal.SIGTERM, signal.SIGHUP)  # signals that end the schedule and its parts


@dataclass
class Ended:
    succeeded: bool
    seconds: float = 0  # from start to end
    processor: float = 0  # seconds of all its processes


@dataclass
class Running:
    part: Part
    process: subprocess.Popen
    output: pathlib.Path
    key: str | None  # of what it depends on, when it began
    started: float = field(default_factory=time.monotonic)


class Schedule:
    def __init__(self, parts: list[Part], reports: pathlib.Path, jobs: int, since: float = 0, scripts: pathlib.Path = HERE,
                 earlier: Earlier | None = None):  # fmt: skip
        self.waiting, self.reports, self.jobs, self.scripts, self.earlier = list(parts), reports, jobs, scripts, earlier
        self.asked: set[str] = set()
        self.names = {part.name for part in parts}
        self.start = time.monotonic() - since
        self.running: dict[int, Running] = {}
        self.ended: dict[str, Ended] = {}

    def say(self, text: str) -> None:
        seconds = int(time.monotonic() - self.start)
        print(f"[{seconds // 60:3d}m{seconds % 60:02d}s] {text}", flush=True)

    # ---- What may start ----

    def has_room(self, part: Part) -> bool:
        beside = [other.part for other in self.running.values() if other.part.compiles == part.compiles]
        return len(beside) < (1 if part.compiles else self.jobs)

    def waits_for(self, part: Part) -> set[str]:
        return {name for name in (*part.needs, *part.after) if name in self.names and name not in self.ended}

    def failed_needs(self, part: Part) -> list[str]:
        return [name for name in part.needs if name in self.ended and not self.ended[name].succeeded]

    def start_what_can(self) -> None:
        for part in list(self.waiting):
            if failed := self.failed_needs(part):
                self.waiting.remove(part)
                self.ended[part.name] = Ended(False)
                self.say(f"{part.name}: not run, because {' and '.join(failed)} failed")
                return self.start_what_can()  # others may need this one
            if self.waits_for(part):
                continue
            if then := self.earlier_run(part):
                self.waiting.remove(part)
                self.ended[part.name] = Ended(True)
                self.say(f"{part.name}: passed on {then}, and nothing has changed since")
                return self.start_what_can()
            if self.has_room(part):
                self.waiting.remove(part)
                self.begin(part)

    # ---- Earlier runs ----

    def builds_of(self, part: Part) -> tuple[str, ...]:
        """The builds that a part uses: those among what it needs, and among what these need."""
        if part.name == "library":
            return ("release",)
        if part.script == "builds" and part.name.startswith("build-"):
            return (part.name.removeprefix("build-"),)
        builds = {build for other in PARTS if other.name in part.needs for build in self.builds_of(other)}
        return tuple(sorted(builds))

    def key_of(self, part: Part) -> str | None:
        return self.earlier.key(self.builds_of(part)) if self.earlier and not part.always and not part.compiles else None

    def earlier_run(self, part: Part) -> str | None:
        """When the part passed, if nothing has changed since; asked once, because it looks at every file."""
        if not self.earlier or part.name in self.asked or not self.earlier.has(part.name, part.makes):
            return None
        self.asked.add(part.name)
        return self.earlier.take(part.name, self.key_of(part))

    # ---- Processes ----

    def begin(self, part: Part) -> None:
        self.say(part.name)
        output = self.reports / f"{part.name}.output"
        command = ["bash", str(self.scripts / f"{part.script}.sh"), part.name]
        if part.compiles:
            command = ["nice", "-n", str(NICENESS), *command]
        key = self.key_of(part)
        # A signal waits until the part is among those that stop() ends.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            with output.open("wb") as file:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
                    preexec_fn=let_signals_through,
                )  # fmt: skip
            self.running[process.pid] = Running(part, process, output, key)
        finally:
            let_signals_through()

    def wait_for_one(self) -> None:
        pid, status, usage = os.wait4(-1, 0)
        run = self.running.pop(pid, None)
        if run is None:
            return  # no part of ours: a process that one left behind
        run.process.returncode = code = os.waitstatus_to_exitcode(status)
        ended = Ended(code == 0, time.monotonic() - run.started, usage.ru_utime + usage.ru_stime)
        self.ended[run.part.name] = ended
        if self.earlier and run.key and ended.succeeded:
            self.earlier.keep(run.part.name, run.key, self.builds_of(run.part))
        text = f"{run.part.name}: {ended.seconds:.0f} s, {ended.processor:.0f} s of processor time"
        self.say(text if ended.succeeded else f"{text}; FAILED with exit status {code}")
        sys.stdout.flush()
        sys.stdout.buffer.write(run.output.read_bytes())
        sys.stdout.buffer.flush()
        self.write_times()

    def write_times(self) -> None:
        rows = [(name, e.seconds, e.processor) for name, e in self.ended.items()]
        rows.sort(key=lambda row: -row[2])
        lines = [f"{name:<18} {seconds:8.1f} {processor:8.1f}" for name, seconds, processor in rows]
        total = f"{'all':<18} {time.monotonic() - self.start:8.1f} {sum(row[2] for row in rows):8.1f}"
        head = f"{'part':<18} {'seconds':>8} {'processor':>8}"
        (self.reports / "times.txt").write_text("\n".join([head, *lines, total, ""]))

    def stop(self) -> None:
        for run in self.running.values():
            try:
                os.killpg(run.process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def run(self) -> None:
        with (self.reports / "parts.txt").open("a") as file:
            file.writelines(f"{part.name}\n" for part in self.waiting)
        try:
            self.start_what_can()
            while self.running:
                self.wait_for_one()
                self.start_what_can()
        finally:
            self.stop()
        if self.waiting:
            sys.exit(f"these parts wait for each other: {', '.join(part.name for part in self.waiting)}")


def check(parts: list[Part]) -> None:
    known = {part.name for part in PARTS}
    for part in parts:
        if unknown := {*part.needs, *part.after} - known:
            sys.exit(f"{part.name} waits for {', '.join(sorted(unknown))}, which parts.py does not have")


def let_signals_through() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def end_with_signals() -> None:
    """Ended by a signal, the schedule ends its parts too."""
    for number in ENDING:
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("reports", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--since", type=float, default=0)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    parts = [part for part in PARTS if options.full or not part.full]
    check(parts)
    if options.full:
        os.environ["TSR_TEST_FULL"] = "1"
    end_with_signals()
    earlier = Earlier(options.reports)
    if options.full or options.again:
        earlier.forget()
    schedule = Schedule(parts, options.reports, options.jobs, options.since, earlier=earlier)
    began = time.time()
    schedule.run()
    print((options.reports / "times.txt").read_text(), end="")
    if compiled := slowest(HERE.parents[1] / "build", began):
        (options.reports / "slowest.txt").write_text(as_text(compiled))


if __name__ == "__main__":
    main()
