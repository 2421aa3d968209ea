# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of ops as data, drawn from the schema's cases and varied, and the same call in each of its forms."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from binding import Library
from generator.cases.matching import matching
from generator.cases.replay import host_number, number_fields
from generator.schema.model import Arg, CFunction, Literal, Op, Schema
from tensors import FLOATING, Tensors, Value, encode, of_literal, random_numbers, with_layout

NONE = -(2**63)
ABSENT = {
    "int64": [NONE], "f64": [0.0, 0], "bool": [-1], "dtype": [-1], "enum": [-1], "device": [-1, -1], "str": [None, 0],
    "generator": [None],
}  # fmt: skip


@dataclass
class Call:
    """One call of an op, without a form: arguments by name, tensors as Value (a list of them for lists)."""

    op: Op
    numbers: frozenset[str]  # arguments that are host numbers in this overload
    args: dict[str, Any]

    def function(self, form: str) -> CFunction | None:
        for found in self.op.functions:
            if found.form == form and frozenset(found.numbers) == self.numbers:
                return found
        return None

    @property
    def tensors(self) -> list[str]:
        return [n for n, v in self.args.items() if isinstance(v, Value)]

    def __str__(self) -> str:
        listed = (
            f"{n}=[{', '.join(map(str, v))}]" if isinstance(v, list) else f"{n}={v}" for n, v in self.args.items()
        )
        return f"{self.op.name}({', '.join(listed)})"


def seeds(schema: Schema) -> list[Call]:
    """All cases of all ops as calls, including those that must fail."""
    found = []
    for op in schema.ops:
        for case in op.cases:
            for function, called, _ in matching(op, case):
                if function.form == op.forms[0]:
                    found.append(_seed(op, function, called.args))
    return found


def _seed(op: Op, function: CFunction, given: dict[str, Any]) -> Call:
    args = {}
    for arg in function.args[: len(op.args)]:
        value = given.get(arg.name, None if arg.required else arg.default)
        if isinstance(value, Literal):
            value = of_literal(value)
        elif arg.type.is_tensor_list and value is not None:
            value = [None if v is None else of_literal(v) for v in value]
        args[arg.name] = value
    return Call(op, frozenset(function.numbers), args)


# ---- Variation ----


def varied(rng: random.Random, seed: Call) -> Call:
    """The seed with other layouts, and sometimes other numbers, dtypes, sizes or options."""
    args = dict(seed.args)
    dtype = rng.choice(FLOATING + ("i64", "u8", "bool", "c64")) if rng.random() < 0.25 else None
    refill = rng.random() < 0.6
    for name, value in args.items():
        if isinstance(value, Value):
            args[name] = with_layout(rng, _other(rng, value, dtype, refill))
        elif isinstance(value, list) and any(isinstance(v, Value) for v in value):
            args[name] = [v and with_layout(rng, _other(rng, v, dtype, refill)) for v in value]
        elif rng.random() < 0.1:
            args[name] = _other_plain(rng, seed.op.arg(name), value)
    if rng.random() < 0.3:
        _resize(rng, args)
    return replace(seed, args=args)


def _other(rng: random.Random, value: Value, dtype: str | None, refill: bool) -> Value:
    # Keep valid indices.
    if dtype is not None and value.dtype in FLOATING:
        return Value(random_numbers(rng, value.shape, dtype), dtype)
    if refill and value.dtype in FLOATING:
        return Value(random_numbers(rng, value.shape, value.dtype), value.dtype)
    return value


def _other_plain(rng: random.Random, arg: Arg, value: Any) -> Any:
    kind = arg.type
    if kind.optional and rng.random() < 0.4:
        return None
    if not arg.fuzz or kind.is_tensor_list:
        return value
    if kind.is_list:
        numbers = list(value or [])
        if numbers and rng.random() < 0.7:
            numbers[rng.randrange(len(numbers))] = rng.choice([-2, -1, 0, 1, 2, 3, 2**40])
        else:
            numbers.append(rng.choice([0, 1, 2]))
        return numbers
    if kind.base == "int64":
        return rng.choice([-(2**62), -3, -2, -1, 0, 1, 2, 3, 2**62])
    if kind.base == "scalar" or isinstance(value, (int, float)) and kind.is_tensor:
        return rng.choice([True, -1, 2, -1.0, 0.0, 0.5, float("inf"), float("nan"), "0.5-2j"])
    if kind.base == "f64":
        return rng.choice([-1.0, 0.0, 0.5, 2.0, float("inf"), float("nan")])
    if kind.base == "bool":
        return not value
    return value


def _resize(rng: random.Random, args: dict[str, Any]) -> None:
    """Changes one size to another in all tensors that have it, so that the call usually stays valid."""
    sizes = {n for v in args.values() if isinstance(v, Value) for n in v.shape}
    if not sizes:
        return
    old, new = rng.choice(sorted(sizes)), rng.choice([0, 1, 2, 3, 5, 8, 17])
    for name, value in args.items():
        if isinstance(value, Value) and old in value.shape:
            shape = tuple(new if n == old else n for n in value.shape)
            if np.prod(shape, dtype=float) <= 4096:
                filled = np.resize(value.array, shape) if value.array.size else np.ones(shape, value.array.dtype)
                args[name] = with_layout(rng, Value(filled, value.dtype))


# ---- Execution ----


class Handles:
    """The tensors of one call."""

    def __init__(self, tensors: Tensors, call: Call) -> None:
        self.one: dict[str, Any] = {}
        self.many: dict[str, list[Any]] = {}
        for name, value in call.args.items():
            if isinstance(value, Value):
                self.one[name] = tensors.make(value)
            elif isinstance(value, list) and any(isinstance(v, Value) for v in value):
                self.many[name] = [tensors.library.ffi.NULL if v is None else tensors.make(v) for v in value]

    def all(self) -> list[Any]:
        return [*self.one.values(), *(h for hs in self.many.values() for h in hs if h)]


def c_arguments(library: Library, tensors: Tensors, call: Call, function: CFunction, handles: Handles) -> list[Any]:
    """The C arguments of the inputs."""
    found: list[Any] = []
    for arg in function.args[: len(call.op.args)]:
        found += _passed(library, tensors, arg, call, function, handles)
    return found


def _passed(
    library: Library, tensors: Tensors, arg: Arg, call: Call, function: CFunction, handles: Handles
) -> list[Any]:
    kind, name, value = arg.type, arg.name, call.args.get(arg.name)
    null = library.ffi.NULL
    if name in handles.one:
        return [handles.one[name]]
    if name in handles.many:
        return [tensors.keep("tsr_tensor[]", handles.many[name]), len(handles.many[name])]
    if kind.is_list:
        if value is None:
            return [null, -1]
        ctype = {"f64": "double[]", "tensor": "tsr_tensor[]"}.get(kind.base, "int64_t[]")
        return [tensors.keep(ctype, [v for v in value if not isinstance(v, Value)]), len(value)]
    if kind.base == "scalar":
        return [null if value is None else tensors.keep("tsr_number*", number_fields(host_number(value)))]
    if value is None:
        return [null if v is None else v for v in ABSENT.get(kind.base, [None])]
    if kind.base == "str":
        return [str(value).encode(), -1]
    if kind.base == "dtype":
        return [library.schema.dtype(value).value]
    if kind.base == "enum":
        constant = library.schema.enum(kind.name or "").constant(value)
        return [constant.value if constant else int(value)]
    if kind.base == "device":
        return [1, 0]
    return [float(value)] + [1] * kind.optional if kind.base == "f64" else [int(value)]


def like(rng: random.Random, result: Value) -> Value:
    """A destination of the result's shape and dtype, with other numbers in it and its own layout."""
    place = Value(encode(np.full(result.shape, 7), result.dtype), result.dtype)
    laid_out = with_layout(rng, place)
    return place if laid_out.layout == "expanded" else laid_out
