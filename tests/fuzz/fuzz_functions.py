#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the whole C ABI with random variations of the schema's calls, and checks the rules that hold for all calls."""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable

from arguments import Arguments
from binding import Fault, Library
from calls import Call, Handles, seeds, varied
from forms import Forms
from graphs import Graphs
from numbered import Spoiled
from scarcity import Scarcity
from stale import Stale
from tensors import Tensors

ARGUMENT_CALLS = 4  # calls with invalid arguments for each drawn call
SHOWN = 20  # faults, one for each op
BATCH = 50  # calls of ops between two checks of the counters


class Session:
    """One run: draws calls until enough have been made."""

    def __init__(self, library: Library, seed: int, only: str) -> None:
        self.library = library
        self.seed = seed
        self.rng = random.Random()
        self.tensors = Tensors(library, self.rng)
        self.forms = Forms(library, self.tensors, self.rng)
        self.graphs = Graphs(library, self.tensors, self.forms, self.rng)
        self.arguments = Arguments(library, self.tensors, self.graphs.callbacks, self.rng)
        self.numbered = Spoiled(library, self.tensors, self.arguments, self.rng)
        self.scarcity = Scarcity(library, self.forms, self.rng) if os.environ.get("LD_PRELOAD") else None
        self.stale = Stale(library, self.tensors, self.rng) if os.environ.get("TSR_DEBUG") == "handles" else None
        self.seeds = [s for s in seeds(library.schema) if not only or s.op.name == only]
        self.faults: dict[str, str] = {}
        self.succeeded = 0

    @property
    def calls(self) -> int:
        return self.forms.calls + self.arguments.calls + self.numbered.calls

    def run(self, calls: int) -> None:
        step = 0
        while self.calls < calls:
            self.batch(range(step, step + BATCH))
            step += BATCH

    def batch(self, steps: range) -> None:
        before = self.library.counters()
        drawn = [self.step(number) for number in steps]
        self.tensors.clean()
        self.library.reset()  # runs queued drops
        self._guarded("drops", self.graphs.check_drops)
        after = self.library.counters()
        if after != before:
            self._fault("counters", f"{before} became {after} in {', '.join(d.op.name for d in drawn)}")

    def step(self, number: int) -> Call:
        """Makes and checks one call; it depends only on its number and the seed of the run."""
        self.library.step = number
        self.rng.seed(f"{self.seed}/{number}")
        call = varied(self.rng, self.rng.choice(self.seeds))
        tasks: list[Callable[[Call], None]] = [self.compare_forms, self.compare_forms, self.graphs.step, self.numbered.step]
        if self.scarcity is not None:
            tasks.append(self.scarcity.step)
        if self.stale is not None:
            tasks.append(self.stale.step)
        self._guarded(call.op.name, self.rng.choice(tasks), call)
        for _ in range(ARGUMENT_CALLS):
            self._guarded("arguments", self.arguments.step)
            self.library.reset()
        if self.rng.random() < 0.2:
            self._guarded(call.op.name, self.graphs.compare_inplace_gradient, call)
        return call

    def compare_forms(self, call: Call) -> None:
        expected = self.forms.functional(call, Handles(self.tensors, call))
        self.succeeded += expected.status == 0
        if call.op.forms[0] == "functional" and call.op.returns:
            self.forms.compare_out(call, expected)
            self.forms.compare_inplace(call, expected)
            self.forms.compare_inplace_overlapping(call)

    def _guarded(self, where: str, task: Callable[..., None], *args: Call) -> None:
        try:
            task(*args)
        except Fault as fault:
            self._fault(where, str(fault))

    def _fault(self, where: str, text: str) -> None:
        if where not in self.faults and len(self.faults) < SHOWN:
            print(f"step {self.library.step}: {where}: {text}", flush=True)
        self.faults.setdefault(where, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--step", type=int, default=-1, help="only this step of the run, to look at a fault again")
    parser.add_argument("--only", default="", help="the name of one op")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    start = time.monotonic()
    path = os.path.abspath(options.library)
    # For the trail, and for what functions write under the names that they get. A crash leaves it.
    folder = tempfile.mkdtemp(prefix="tessera_fuzz_")
    os.chdir(folder)
    print(f"in {folder}", flush=True)
    library = Library(path, f"fuzz_last_call_{options.seed}.txt")
    session = Session(library, options.seed, options.only)
    if options.step >= 0:
        session.batch(range(options.step, options.step + 1))
    else:
        session.run(options.calls)
    library.close()
    os.chdir("/")
    shutil.rmtree(folder)
    seconds = time.monotonic() - start
    print(
        f"{session.calls} calls ({session.succeeded} ops succeeded), {len(session.faults)} kinds of faults, {seconds:.1f} s"
    )
    return 1 if session.faults else 0


if __name__ == "__main__":
    sys.exit(main())
