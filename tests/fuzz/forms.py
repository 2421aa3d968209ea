# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the functional, out and in-place forms of an op agree, also if they write to their own inputs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from binding import OK, Fault, Library
from calls import Call, Handles, c_arguments, like
from tensors import Tensors, Value, same

OUT_KINDS = ("fresh", "other shape", "input", "view", "other dtype")
LARGEST = 1 << 20  # elements of a result that is compared


@dataclass
class Outcome:
    status: int
    results: list[Value | None]
    handles: list[Any]  # of the results
    message: str = ""


class Forms:
    def __init__(self, library: Library, tensors: Tensors, rng: random.Random) -> None:
        self.library = library
        self.tensors = tensors
        self.rng = rng
        self.call: Callable[..., int] = self._counted  # how the functional form is called
        self.calls = 0  # of functions under test

    def functional(self, call: Call, handles: Handles) -> Outcome:
        """Runs the functional form, or the only form of the op."""
        library, ffi = self.library, self.library.ffi
        function = call.function(call.op.forms[0])
        assert function is not None
        args = c_arguments(library, self.tensors, call, function, handles)
        self.seed(call)
        if function.form == "inplace" or not call.op.returns:
            status = self.call(function.name, *args)
            return Outcome(status, [], [], "" if status == OK else library.message())
        if call.op.returns_list:
            slots, count = self.tensors.keep("tsr_tensor[]", 64), ffi.new("int32_t*")
            status = self.call(function.name, *args, slots, 64, count)
            made = [slots[i] for i in range(count[0])] if status == OK else []
        else:
            places = [self.tensors.keep("tsr_tensor*") for _ in call.op.returns]
            status = self.call(function.name, *args, *places)
            made = [p[0] for p in places]
            if status != OK and any(made):
                raise Fault(f"{call}: failed and left a handle in an out place")
        self.tensors.owned += [h for h in made if h]
        results = [self.tensors.read(h) for h in made] if status == OK and self._readable(made) else []
        return Outcome(status, list(results), made, "" if status == OK else library.message())

    def _counted(self, name: str, *args: Any) -> int:
        self.calls += 1
        return self.library.call(name, *args)

    def _readable(self, handles: list[Any]) -> bool:
        """An expanded result may have more elements than there is memory."""
        return all(self.tensors.numel(h) <= LARGEST for h in handles)

    def seed(self, call: Call) -> None:
        """Every form of a random op draws the same numbers."""
        if not any(a.type.base == "generator" for a in call.op.args):
            return
        generator = self.library.ffi.new("tsr_generator*")
        self.library.check("tsr_generator_new", 5, generator)
        previous = self.library.ffi.new("tsr_generator*")
        self.library.check("tsr_generator_set_current", generator[0], previous)
        self.library.lib.tsr_generator_release(generator[0])
        self.library.lib.tsr_generator_release(previous[0])

    # ---- out ----

    def compare_out(self, call: Call, expected: Outcome) -> None:
        function = call.function("out")
        if function is None or call.op.returns_list or (expected.status == OK and not expected.results):
            return
        for kind in self.rng.sample(OUT_KINDS, 3):
            handles = Handles(self.tensors, call)
            before = [self.tensors.read(h) for h in handles.all()]
            places = self._places(kind, call, expected, handles)
            args = c_arguments(self.library, self.tensors, call, function, handles)
            self.seed(call)
            status = self._counted(function.name, *args, *places)
            said = f"{call} with out = {kind}"
            if status == OK:
                self._check_written(said, expected, places)
            elif expected.status == OK and kind in ("fresh", "other shape"):
                raise Fault(f"{said}: {self.library.message()}")
            else:
                self._check_untouched(said, handles, before)

    def _places(self, kind: str, call: Call, expected: Outcome, handles: Handles) -> list[Any]:
        places = []
        for number in range(len(call.op.places)):
            result = expected.results[number] if number < len(expected.results) else None
            place = like(self.rng, result) if result is not None else Value(_ones(), "f32")
            if kind in ("input", "view") and number == 0 and handles.one:
                places.append(self._aliasing(kind, handles))
                continue
            if kind == "other shape":
                place = replace(place, array=_ones().astype(place.array.dtype), layout="plain")
            if kind == "other dtype" and place.dtype in ("f32", "f16", "bf16"):
                place = Value(_ones().astype("f8"), "f64")
            places.append(self.tensors.make(place))
        return places

    def _aliasing(self, kind: str, handles: Handles) -> Any:
        chosen = handles.one[self.rng.choice(sorted(handles.one))]
        if kind == "input":
            return chosen
        return self.tensors.made("tsr_detach", chosen)

    def _check_written(self, said: str, expected: Outcome, places: list[Any]) -> None:
        if expected.status != OK:
            raise Fault(f"{said}: succeeded where the functional form says: {expected.message}")
        for result, place in zip(expected.results, places):
            found = self.tensors.read(place)
            assert result is not None
            if found.shape != result.shape:
                raise Fault(f"{said}: shape {found.shape}, the functional form gives {result.shape}")
            if found.dtype == result.dtype and not same(found, result):
                raise Fault(f"{said}: {found}, the functional form gives {result}")

    def _check_untouched(self, said: str, handles: Handles, before: list[Value]) -> None:
        for handle, value in zip(handles.all(), before):
            after = self.tensors.read(handle)
            if after.dtype != value.dtype or after.shape != value.shape:
                raise Fault(f"{said}: failed and changed an input from {value} to {after}")

    # ---- in place ----

    def compare_inplace(self, call: Call, expected: Outcome) -> None:
        function = call.function("inplace")
        if function is None or call.op.forms[0] == "inplace" or (expected.status == OK and not expected.results):
            return
        first = call.op.args[0].name
        handles = Handles(self.tensors, call)
        if first not in handles.one:
            return
        before = call.args[first]
        args = c_arguments(self.library, self.tensors, call, function, handles)
        self.seed(call)
        status = self._counted(function.name, *args)
        if status != OK:
            self._check_refusal(call, expected, before)
            return
        if expected.status != OK:
            raise Fault(f"{call}: in place it succeeded, the functional form says: {expected.message}")
        found, result = self.tensors.read(handles.one[first]), expected.results[0]
        assert result is not None
        if found.dtype == result.dtype and not same(found, result):
            raise Fault(f"{call}: in place {found}, the functional form gives {result}")

    def _check_refusal(self, call: Call, expected: Outcome, before: Value) -> None:
        """In place may refuse a change of shape or of the kind of number, and overlapping elements."""
        if expected.status != OK or before.layout == "expanded" or before.state != "constant":
            return
        result = expected.results[0]
        assert result is not None
        if (result.shape, result.dtype) == (before.shape, before.dtype):
            raise Fault(f"{call}: in place it fails: {self.library.message()}")


def _ones() -> np.ndarray:
    return np.ones((2, 1, 3), "f4")
