# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls by number: the arguments of a call as values, and such calls with values that are spoiled in every way."""

from __future__ import annotations

import random
from typing import Any

from arguments import COUNTS, DOUBLES, INTS, TEXTS, Arguments
from binding import OK, Fault, Library
from calls import Call, Handles, c_arguments
from generator.schema.model import CFunction
from generator.shims.calls import PASSED, signature
from tensors import Tensors

KINDS = {
    "T": "TENSOR", "L": "TENSORS", "I": "INT", "J": "INTS", "R": "REAL", "V": "REALS",
    "B": "BOOL", "E": "INT", "D": "DTYPE", "C": "DEVICE", "S": "TEXT", "G": "GENERATOR", "P": "PLACE", "Q": "PLACES",
}  # fmt: skip
ABSENT_INT = -(2**63)
ROOM = 64  # for a list of results


class Values:
    """Makes tsr_value arrays of C arguments."""

    def __init__(self, library: Library, tensors: Tensors) -> None:
        self.ffi, self.tensors = library.ffi, tensors
        self.kinds = {c.name.removeprefix("TSR_VALUE_"): c.value for c in library.schema.enum("value_kind").constants}

    def make(self, function: CFunction, args: list[Any]) -> Any:
        """The C arguments as values, one for each letter of the signature."""
        letters = signature(function)
        values = self.tensors.keep("tsr_value[]", len(letters))
        at = 0
        for value, letter in zip(values, letters, strict=True):
            count = len(PASSED[letter if letter in PASSED else letter.upper()])
            self._fill(value, letter, args[at : at + count])
            at += count
        assert at == len(args)
        return values

    def _fill(self, value: Any, letter: str, parts: list[Any]) -> None:
        kind, optional = letter.upper(), letter.islower()
        flagged = optional and kind == "R" and parts[1] == 0
        absent = (self.ffi.NULL, None, ABSENT_INT if kind == "I" else -1)
        if flagged or (optional and kind != "R" and parts[0] in absent):
            return
        if kind == "N":
            number = parts[0]
            value.kind, value.integer = number.kind, number.integer
            if number.kind == 5:  # TSR_NUMBER_UNSIGNED has another number among the kinds of values
                value.kind = self.kinds["UNSIGNED"]
            value.real, value.imaginary = number.real, number.imaginary
            return
        value.kind = self.kinds[KINDS[kind]]
        if kind in "TGP":
            value.pointer = parts[0]
        elif kind in "LJVQ":
            value.pointer, value.n = parts[0], parts[1]
        elif kind == "S":
            value.pointer, value.integer = self.tensors.keep("char[]", parts[0]), parts[1]
        elif kind == "C":
            value.integer, value.n = parts
        elif kind == "R":
            value.real = parts[0]
        else:
            value.integer = parts[0]


class Spoiled:
    """Valid calls in which some values are replaced: absent, of another kind, extreme, or the tensor of another argument."""

    def __init__(self, library: Library, tensors: Tensors, arguments: Arguments, rng: random.Random) -> None:
        self.library, self.tensors, self.arguments, self.rng = library, tensors, arguments, rng
        self.values = Values(library, tensors)
        self.calls = 0

    def step(self, call: Call) -> None:
        for form in call.op.forms:
            function = call.function(form)
            if function is not None:
                self._call(call, function)

    def _call(self, call: Call, function: CFunction) -> None:
        handles = Handles(self.tensors, call)
        args = c_arguments(self.library, self.tensors, call, function, handles)
        places: list[tuple[Any, int]] = []
        for arg in function.args[len(call.op.args) :]:
            if function.form == "out":
                args.append(self._destination(handles))
            elif arg.type.is_list:
                places.append((self.tensors.keep("tsr_tensor[]", ROOM), ROOM))
                args += [*places[-1], self.tensors.keep("int32_t*")]
            else:
                places.append((self.tensors.keep("tsr_tensor*"), 1))
                args.append(places[-1][0])
        values = self.values.make(function, args)
        letters = signature(function)
        for _ in range(self.rng.choice([0, 1, 1, 2, 3]) if letters else 0):
            at = self.rng.randrange(len(letters))
            if function.args[at].fuzz:
                self._spoil(values, at, letters[at].upper())
        self.calls += 1
        status = self.library.call("tsr_call", function.id, values, len(values))
        self._take(function, status, places)

    def _take(self, function: CFunction, status: int, places: list[tuple[Any, int]]) -> None:
        for place, room in places:
            made = [place[i] for i in range(room) if place[i]]
            for handle in made:
                self.library.lib.tsr_tensor_release(handle)
            if made and status != OK:
                raise Fault(f"tsr_call({function.name}): failed and left a tensor in an out place")

    def _destination(self, handles: Handles) -> Any:
        """Any tensor, often an input or another view of its memory."""
        inputs, roll = handles.all(), self.rng.random()
        if not inputs or roll < 0.3:
            return self.arguments.tensor()
        chosen = self.rng.choice(inputs)
        return chosen if roll < 0.6 else self._window(chosen)

    def _window(self, handle: Any) -> Any:
        """Another view of the memory of a tensor, which may overlap it in any way; else the tensor itself."""
        choice, out = self.rng.choice, self.library.ffi.new("tsr_tensor*")
        rank = choice([0, 1, 1, 2])
        shape, strides = [choice([0, 1, 2, 3]) for _ in range(rank)], [choice([0, 1, 1, 2, 3]) for _ in range(rank)]
        status = self.library.call(
            "tsr_as_strided", handle, shape, rank, strides, rank, choice([ABSENT_INT, 0, 1, 2]), out
        )
        if status != OK:
            return handle
        self.tensors.owned.append(out[0])
        return out[0]

    def _spoil(self, values: Any, at: int, letter: str) -> None:
        value, rng, ffi = values[at], self.rng, self.library.ffi
        roll = rng.random()
        if roll < 0.08:
            value.kind = rng.choice([*self.values.kinds.values(), -1, 1 << 30])
            # A kind for which the pointer would be read as something else than it is.
            if value.kind != self.values.kinds.get(KINDS.get(letter, "")):
                value.pointer, value.n = ffi.NULL, rng.choice([0, -1, 2])
        elif roll < 0.16:
            value.kind = 0
        elif letter in "TG":
            value.pointer = ffi.NULL if roll < 0.3 or letter == "G" else self._other_tensor(values, at)
        elif letter in "LJVQ":
            self._spoil_list(value, letter)
        elif letter == "P":
            value.pointer = ffi.NULL
        elif letter == "S":
            value.pointer, value.integer = self.tensors.keep("char[]", rng.choice(TEXTS)), rng.choice([-1, 0, -7])
        elif letter == "C":
            value.integer, value.n = rng.choice([1, -1, 2, 12, 77, 2**40]), rng.choice([0, -1, 3, 2**31 - 1])
        elif letter == "R":
            value.real = rng.choice(DOUBLES)
        elif letter == "N":
            value.kind, value.integer = rng.choice([1, 2, 3, 4, 18]), rng.choice(INTS)
            value.real, value.imaginary = rng.choice(DOUBLES), rng.choice(DOUBLES)
        elif letter in "BDE":
            value.integer = rng.choice([*INTS, 5, *self.tensors.shorts])
        elif letter == "I":
            value.integer = rng.choice(INTS)

    def _spoil_list(self, value: Any, letter: str) -> None:
        rng, roll = self.rng, self.rng.random()
        if roll < 0.2:
            value.pointer = self.library.ffi.NULL
        elif roll < 0.5:
            value.n = rng.choice([*COUNTS[:-1], 0, 1 if value.pointer and value.n > 0 else 0])
        elif letter == "J":
            count = rng.choice([0, 1, 2, 3, 65])
            value.pointer, value.n = self.tensors.keep("int64_t[]", [rng.choice(INTS[1:7]) for _ in range(count)]), count
        elif letter == "V":
            count = rng.choice([0, 1, 2, 3])
            value.pointer, value.n = self.tensors.keep("double[]", [rng.choice(DOUBLES) for _ in range(count)]), count
        elif letter == "L":
            null = self.library.ffi.NULL
            entries = [null if rng.random() < 0.2 else self.arguments.tensor() for _ in range(rng.choice([0, 1, 2, 3]))]
            value.pointer, value.n = self.tensors.keep("tsr_tensor[]", entries), len(entries)

    def _other_tensor(self, values: Any, at: int) -> Any:
        """The tensor of another argument, a view of its memory, or any tensor."""
        tensor = self.values.kinds["TENSOR"]
        others = [v.pointer for i, v in enumerate(values) if i != at and v.kind == tensor and v.pointer]
        if not others or self.rng.random() < 0.4:
            return self.arguments.tensor()
        chosen = self.library.ffi.cast("tsr_tensor", self.rng.choice(others))
        return chosen if self.rng.random() < 0.5 else self._window(chosen)
