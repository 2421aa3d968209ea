# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls with one failing allocation of the library: they give a typed error, leak nothing, and the next call works."""

from __future__ import annotations

import random
from typing import Any

import cffi
from binding import OK, Fault, Library
from calls import Call, Handles
from forms import Forms

# oneDNN copies std::functions inside its parallel regions: a failing allocation there ends the process.
# src/backend/cpu checks for memory before it calls oneDNN.
ONEDNN = ("conv", "max_pool", "avg_pool", "batch_norm", "adaptive")
DEEPEST = 24  # only the first allocations of a call are made to fail


class Scarcity:
    """Needs failing_malloc to be preloaded."""

    def __init__(self, library: Library, forms: Forms, rng: random.Random) -> None:
        self.library = library
        self.forms = forms
        self.rng = rng
        self.failed = False  # whether an allocation of the last call failed
        ffi = cffi.FFI()
        ffi.cdef("int failing_malloc_start(void); void failing_malloc_arm(int64_t n); int failing_malloc_disarm(void);")
        self.allocations: Any = ffi.dlopen(None)
        if self.allocations.failing_malloc_start() < 1:
            raise SystemExit("failing_malloc finds no library to watch")

    def step(self, call: Call) -> None:
        if call.op.name.startswith(ONEDNN):
            return
        expected = self.forms.functional(call, Handles(self.forms.tensors, call))
        handles = Handles(self.forms.tensors, call)
        plain, self.forms.call = self.forms.call, self._call
        try:
            outcome = self.forms.functional(call, handles)
        finally:
            self.forms.call = plain
        allowed = {expected.status} | ({self.library.codes["OUT_OF_MEMORY"]} if self.failed else set())
        if outcome.status not in allowed:
            raise Fault(
                f"{call}: with an allocation that fails: {self.library.names[outcome.status]}: {outcome.message}"
            )
        again = self.forms.functional(call, handles)
        if expected.status == OK and again.status != OK:
            raise Fault(f"{call}: after an allocation that failed: {again.message}")

    def _call(self, name: str, *args: Any) -> int:
        self.allocations.failing_malloc_arm(self.rng.randrange(DEEPEST))
        try:
            return self.library.call(name, *args)
        finally:
            self.failed = bool(self.allocations.failing_malloc_disarm())
