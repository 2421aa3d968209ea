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

OUT_KINDS = ("fresh", "other shape", "input", "view", "overlap", "other dtype")
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
            if kind == "overlap" and number == 0 and result is not None:
                places.append(self._overlapping(call, result, handles))
                continue
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

    def _overlapping(self, call: Call, result: Value, handles: Handles) -> Any:
        """A destination for the result in the memory of an input, which it overlaps in part where the input moves."""
        names = [n for n in call.tensors if call.args[n].dtype == result.dtype and call.args[n].state == "constant"]
        if not names:
            return self.tensors.make(like(self.rng, result))
        name = self.rng.choice(sorted(names))
        value = call.args[name]
        memory = self.tensors.empty((max(value.array.size, result.array.size) + 4,), value.dtype)
        self.tensors.write(memory, np.zeros(max(value.array.size, result.array.size) + 4, value.array.dtype))
        moved = self._window(memory, value.shape, self.rng.choice([0, 1, 3]))
        self.tensors.write(moved, value.array)
        handles.one[name] = moved
        return self._window(memory, result.shape, self.rng.choice([0, 1, 2, 4]))

    def _window(self, memory: Any, shape: tuple[int, ...], offset: int) -> Any:
        """Row-major, or its transpose."""
        order = list(shape)
        reverse = len(shape) > 1 and self.rng.random() < 0.3
        if reverse:
            order = order[::-1]
        steps = [int(np.prod(order[i + 1 :], dtype=np.int64)) for i in range(len(order))]
        if reverse:
            steps = steps[::-1]
        return self.tensors.made("tsr_as_strided", memory, shape, len(shape), steps, len(steps), offset)

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

    def compare_inplace_overlapping(self, call: Call) -> None:
        """The first argument shares memory with another one, moved by a few elements."""
        function = call.function("inplace")
        first = call.op.args[0].name
        mine = call.args.get(first)
        if function is None or call.op.forms[0] == "inplace" or not isinstance(mine, Value):
            return
        others = [n for n in call.tensors if n != first and call.args[n].dtype == mine.dtype]
        if not others:
            return
        name = self.rng.choice(sorted(others))
        other = call.args[name]
        size = max(mine.array.size, other.array.size) + 4
        memory = self.tensors.empty((size,), mine.dtype)
        self.tensors.write(memory, np.resize(np.concatenate([mine.array.ravel(), other.array.ravel()]), size))
        windows = {n: self._window(memory, call.args[n].shape, self.rng.choice([0, 1, 3])) for n in (first, name)}
        moved = replace(call, args={**call.args, **{n: self.tensors.read(h) for n, h in windows.items()}})
        expected = self.functional(moved, Handles(self.tensors, moved))
        handles = Handles(self.tensors, moved)
        handles.one.update(windows)
        args = c_arguments(self.library, self.tensors, moved, function, handles)
        self.seed(moved)
        if self._counted(function.name, *args) != OK:
            self._check_refusal(moved, expected, moved.args[first])
            return
        if expected.status != OK:
            raise Fault(f"{moved}: in place it succeeded, the functional form says: {expected.message}")
        if expected.results and expected.results[0] is not None:
            found, result = self.tensors.read(windows[first]), expected.results[0]
            if found.dtype == result.dtype and not same(found, result):
                raise Fault(f"{moved}: in place, overlapping {name}: {found}, the functional form gives {result}")

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
