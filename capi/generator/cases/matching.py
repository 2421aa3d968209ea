# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Which function a case of an op can call, and where the op's gradient is looked at."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

from ..schema.model import Case, CFunction, Literal, Op, Schema

FLOATS = ("f16", "bf16", "f32", "f64")


class Match(NamedTuple):
    """A function that a case can call. `kind` tells calls of one form apart: whole numbers as f64 and as i64, or none given."""

    function: CFunction
    case: Case
    kind: str | None


def matching(op: Op, case: Case) -> list[Match]:
    """The functions of a row that a case can call with the results it states."""
    numbers = {
        a.name for a in op.args if a.type.base == "tensor" and not a.type.is_list and _is_number(case.args.get(a.name))
    }
    found = []
    for function in op.functions:
        scalars = set(function.numbers) - {a.name for a in op.args if a.type.base == "scalar"}
        if not numbers <= scalars or any(isinstance(case.args.get(n), Literal) for n in scalars):
            continue
        if case.forms and function.form not in case.forms:
            continue
        if function.form == "inplace" and not case.error and case.returns and not _fits_in_place(op, case):
            continue
        found += _with_kinds(function, case)
    return found


def uncovered(schema: Schema) -> list[str]:
    """Functions of ops that no case calls."""
    covered = {f.name for op in schema.ops for case in op.cases if not case.error for f, _, _ in matching(op, case)}
    return [f.name for op in schema.ops for f in op.functions if f.name not in covered]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, str))


def _with_kinds(function: CFunction, case: Case) -> list[Match]:
    """The case as it stands, and with its whole numbers as the other kind where floating operands decide the result."""
    given = {n: case.args[n] for n in function.numbers if case.args.get(n) is not None}
    if not given:
        return [Match(function, case, "scalars" if function.numbers else None)]
    if any(isinstance(v, (bool, str)) or not float(v).is_integer() for v in given.values()):
        return [Match(function, case, None)]
    tensors = [v for v in case.args.values() if isinstance(v, Literal) and v.dtype != "bool"]
    decided = bool(tensors) and all(t.dtype in FLOATS for t in tensors)
    decided = decided and all(isinstance(r, Literal) and r.dtype in (*FLOATS, "bool") for r in case.returns)
    assert function.op is not None
    if not decided or not {"i64", "f64"} <= set(function.op.scalar_kinds):
        return [Match(function, case, None)]
    return [
        Match(function, dataclasses.replace(case, args=case.args | {n: cast(v) for n, v in given.items()}), kind)
        for kind, cast in (("f64", float), ("i64", int))
    ]


def _fits_in_place(op: Op, case: Case) -> bool:
    first, result = case.args.get(op.args[0].name), case.returns[0]
    return (
        isinstance(first, Literal)
        and isinstance(result, Literal)
        and (first.dtype, first.shape) == (result.dtype, result.shape)
    )


def gradient_case(op: Op, form: str) -> Case | None:
    """The first case without host scalars for tensors, with floating inputs and results."""
    if not op.gradient or form not in op.forms or (form == "functional" and not op.returns):
        return None
    for case in op.cases:
        plain = not any(
            isinstance(case.args.get(a.name), (int, float, str)) for a in op.args if a.type.base == "tensor"
        )
        if case.error or not plain or (case.forms and form not in case.forms):
            continue
        inputs = [v for given in case.args.values() for v in literals_in(given)]
        results = [v for r in (*case.returns, *case.after.values()) for v in literals_in(r)]
        first = case.args.get(op.args[0].name) if op.args else None
        fits = form == "functional" or (
            isinstance(first, Literal) and _moves(first) and first.shape == results[0].shape
        )
        if fits and any(_moves(v) for v in inputs) and any(v.dtype in FLOATS for v in results):
            return case
    return None


def literals_in(value: Any) -> list[Literal]:
    values = value if isinstance(value, list) else [value]
    return [v for v in values if isinstance(v, Literal)]


def _moves(value: Any) -> bool:
    return isinstance(value, Literal) and value.dtype in FLOATS and bool(value.data)


def _moved(value: Literal, start: int) -> Literal:
    """As float64, a little nearer to 0 and no two alike: away from kinks, ties and the ends of domains."""
    finite = (float(x) if math.isfinite(x) else 0.7 for x in value.data or ())
    data = tuple(x * 0.9 + 0.013 * (start + i + 1) for i, x in enumerate(finite))
    return dataclasses.replace(value, dtype="f64", data=tuple(round(x, 6) for x in data))


def gradient_place(op: Op, form: str) -> tuple[Case, tuple[str, ...]] | None:
    """The gradient case moved to a good place in float64, and the arguments that get gradients there."""
    case = gradient_case(op, form)
    if case is None:
        return None
    named = op.gradient_args or {}
    args = case.args | named
    inputs: list[str] = []
    count = 0
    for arg in op.args:
        given = args.get(arg.name)
        values = given if isinstance(given, list) else [given]
        if not values or not all(_moves(v) for v in values):
            continue
        moved = []
        for value in values:
            moved.append(dataclasses.replace(value, dtype="f64") if arg.name in named else _moved(value, count))
            count += len(value.data or ())
        args[arg.name] = moved if isinstance(given, list) else moved[0]
        inputs.append(arg.name)
    return dataclasses.replace(case, args=args), tuple(inputs)


def gradient_function(op: Op, form: str) -> CFunction:
    """The function that is called there: operands are tensors."""
    return next(f for f in op.functions if f.form == form)
