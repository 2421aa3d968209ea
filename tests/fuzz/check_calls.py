# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls every operator's function by its number and directly: for the cases of the schema both must do the same.

Usage: check_calls.py LIBRARY. Then each value of a valid call is replaced by an invalid one, and tsr_call must refuse it by name.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import Any

from binding import OK, Fault, Library
from calls import Handles, _seed, c_arguments
from forms import Forms
from generator.cases.matching import matching
from generator.schema.model import Case, CFunction, Literal
from generator.shims.calls import signature
from numbered import KINDS, ROOM, Values
from tensors import Tensors


@dataclass
class Outcome:
    status: int
    message: str
    tensors: list[Any]  # the results, then the arguments afterwards


class Checker:
    def __init__(self, library: Library) -> None:
        self.library, self.ffi, self.lib = library, library.ffi, library.lib
        rng = random.Random(1)
        self.tensors = Tensors(library, rng)
        self.values = Values(library, self.tensors)
        self.kinds = self.values.kinds
        self.forms = Forms(library, self.tensors, rng)
        self.good: dict[str, tuple[CFunction, Any]] = {}  # the values of one call that succeeded, by function
        self.compared = self.refused = 0

    # ---- The same call twice ----

    def compare(self, function: CFunction, case: Case) -> None:
        direct = self._run(function, case, by_number=False)
        numbered = self._run(function, case, by_number=True)
        if (direct.status, direct.message) != (numbered.status, numbered.message):
            raise Fault(
                f"{function.name}: {direct.status} {direct.message}; by number {numbered.status} {numbered.message}"
            )
        expected = self.library.codes[case.error or "OK"]
        if direct.status != expected:
            raise Fault(f"{function.name}: {direct.status} {direct.message}; the case says {case.error or 'OK'}")
        for a, b in zip(direct.tensors, numbered.tensors, strict=True):
            equal = a.array.tobytes() == b.array.tobytes() or _is_unwritten(function)
            if (a.dtype, a.shape) != (b.dtype, b.shape) or not equal:
                raise Fault(f"{function.name}: {a}, by number {b}")
        self.compared += 1

    def _run(self, function: CFunction, case: Case, by_number: bool) -> Outcome:
        assert function.op is not None
        call = _seed(function.op, function, case.args)
        handles = Handles(self.tensors, call)
        args = c_arguments(self.library, self.tensors, call, function, handles)
        places: list[Any] = []
        targets: list[Any] = []
        for arg in function.args[len(function.op.args) :]:
            if function.form == "out":
                targets.append(self._target(case, len(targets)))
                args.append(targets[-1])
            elif arg.type.is_list:
                places.append((self.tensors.keep("tsr_tensor[]", ROOM), self.tensors.keep("int32_t*")))
                args += [places[-1][0], ROOM, places[-1][1]]
            else:
                places.append(self.tensors.keep("tsr_tensor*"))
                args.append(places[-1])
        self.forms.seed(call)
        if by_number:
            status = self._by_number(function, args, places)
        else:
            status = self.library.call(function.name, *args)
        message = "" if status == OK else self.library.message()
        made = self._made(places)
        if status != OK and made:
            raise Fault(f"{function.name}: failed and left a handle in an out place")
        self.tensors.owned += made
        seen = [*made, *targets, *handles.all()]
        return Outcome(status, message, [self.tensors.read(h) for h in seen])

    def _target(self, case: Case, number: int) -> Any:
        wanted = case.returns[number]
        assert isinstance(wanted, Literal)
        return self.tensors.empty(wanted.shape, wanted.dtype)

    def _made(self, places: list[Any]) -> list[Any]:
        found: list[Any] = []
        for place in places:
            found += [place[0][i] for i in range(place[1][0])] if isinstance(place, tuple) else [place[0]]
        return [h for h in found if h]

    def _by_number(self, function: CFunction, args: list[Any], places: list[Any]) -> int:
        values = self.values.make(function, args)
        status: int = self.library.call("tsr_call", function.id, values, len(values))
        for i, letter in enumerate(signature(function)):
            if letter == "Q":
                places[-1][1][0] = values[i].n if status == OK else 0
        if status == OK:
            self.good.setdefault(function.name, (function, values))
        return status

    # ---- Refusals ----

    def refuse(self, function: CFunction, values: Any) -> None:
        letters = signature(function)
        assert function.op is not None
        named = [a.name for a in (*function.op.args, *function.op.returns)]
        for count in (len(letters) - 1, len(letters) + 1, 0):
            self._must_fail("VALUE", function, values, count, f"expected {len(letters)} values")
        for i, letter in enumerate(letters):
            for kind in (*self.kinds.values(), -1, 1 << 30):
                number = letter.upper() == "N" and (self.kinds["BOOL"] <= kind <= self.kinds["COMPLEX"] or kind == self.kinds["UNSIGNED"])
                fits = number or kind == self.kinds.get(KINDS.get(letter.upper(), ""))
                if fits or (kind == self.kinds["NONE"] and (letter.islower() or letter in "PQ")):
                    continue
                spoiled = self.tensors.keep("tsr_value[]", list(values))
                spoiled[i].kind = kind
                self._must_fail("TYPE", function, spoiled, len(letters), f": {named[i]}: expected TSR_VALUE_")

    def _must_fail(self, code: str, function: CFunction, values: Any, count: int, said: str) -> None:
        assert function.op is not None
        status = self.library.call("tsr_call", function.id, values, count)
        message = self.library.message()
        if status != self.library.codes[code] or not message.startswith(function.op.name) or said not in message:
            raise Fault(f"tsr_call({function.name}): {status} {message}; expected {code} that says '{said}'")
        self.refused += 1

    # ---- The whole check ----

    def run(self) -> None:
        library, functions = self.library, [f for f in self.library.schema.c_functions if f.op is not None]
        for op in library.schema.ops:
            for case in op.cases:
                for function, called, _ in matching(op, case):
                    if case.error is None or function.form != "out":  # the destinations are made from the results
                        self.compare(function, called)
            for function, values in [self.good[f.name] for f in op.functions if f.name in self.good]:
                self.refuse(function, values)
            self.tensors.clean()
        if missing := [f.name for f in functions if f.name not in self.good]:
            raise Fault(f"never called by number: {', '.join(missing)}")
        self.names()
        print(f"{len(functions)} functions: {self.compared} calls compared, {self.refused} refused")

    def names(self) -> None:
        """Every exported function has its own number, and no other number is accepted."""
        for function in self.library.schema.c_functions:
            text = self.ffi.new("char[]", function.name.encode())
            found = self.lib.tsr_function_id(text, -1)
            back = self.lib.tsr_function_name(function.id)
            if found != function.id or self.ffi.string(back).decode() != function.name:
                raise Fault(f"{function.name}: number {found}, expected {function.id}")
            if function.op is None and self.library.call("tsr_call", function.id, self.ffi.new("tsr_value*"), 1) == OK:
                raise Fault(f"{function.name}: is no operator and was called by number")
        for number in (0, -1, 1 << 30, 2**31 - 1):
            if self.lib.tsr_function_name(number) or self.library.call("tsr_call", number, self.ffi.NULL, 0) == OK:
                raise Fault(f"the number {number} is no function's")


def _is_unwritten(function: CFunction) -> bool:
    """Whether the values of the results are undefined."""
    assert function.op is not None
    return "empty" in function.op.name


def main() -> int:
    library = Library(sys.argv[1])
    library.schema.ops.sort(key=lambda op: op.id)
    Checker(library).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
