# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A test per differentiable op: the gradient through the C ABI against finite differences."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .literals import literal
from .model import Case, Literal, Op, Schema

FLOATS = ("f16", "bf16", "f32", "f64")


def gradient_case(op: Op, form: str) -> Case | None:
    """The first case without host scalars for tensors, with floating inputs and results."""
    if not op.gradient or form not in op.forms or (form == "functional" and not op.returns):
        return None
    for case in op.cases:
        plain = not any(
            isinstance(case.args.get(a.name), (int, float, str))
            for a in op.args
            if a.type.base == "tensor"
        )
        if case.error or not plain or (case.forms and form not in case.forms):
            continue
        inputs = [v for given in case.args.values() for v in _literals(given)]
        results = [v for r in (*case.returns, *case.after.values()) for v in _literals(r)]
        first = case.args.get(op.args[0].name) if op.args else None
        fits = form == "functional" or (
            isinstance(first, Literal) and _moves(first) and first.shape == results[0].shape
        )
        if fits and any(_moves(v) for v in inputs) and any(v.dtype in FLOATS for v in results):
            return case
    return None


def _literals(value: Any) -> list[Literal]:
    values = value if isinstance(value, list) else [value]
    return [v for v in values if isinstance(v, Literal)]


def _moves(value: Any) -> bool:
    return isinstance(value, Literal) and value.dtype in FLOATS and bool(value.data)


def _moved(value: Literal, start: int) -> Literal:
    """As float64, a little nearer to 0 and no two alike: away from kinks, ties and the ends of domains."""
    finite = (float(x) if math.isfinite(x) else 0.7 for x in value.data or ())
    data = tuple(x * 0.9 + 0.013 * (start + i + 1) for i, x in enumerate(finite))
    return dataclasses.replace(value, dtype="f64", data=tuple(round(x, 6) for x in data))


def gradient_test(schema: Schema, op: Op) -> str:
    return _test(schema, op, "functional", "has_the_gradient") + _test(
        schema, op, "inplace", "has_the_gradient_in_place"
    )


def _test(schema: Schema, op: Op, form: str, name: str) -> str:
    case = gradient_case(op, form)
    if case is None:
        return ""
    from .tests import bind

    place = op.gradient_args or {}
    case = dataclasses.replace(case, args=case.args | place)
    inputs: list[str] = []
    slots: dict[str, list[str]] = {}
    count = 0
    for arg in op.args:
        given = case.args.get(arg.name)
        values = _literals(given)
        if (
            not values
            or not all(_moves(v) for v in values)
            or len(values) != (len(given) if isinstance(given, list) else 1)
        ):
            continue
        slots[arg.name] = (
            [f"in + {len(inputs)}", str(len(values))]
            if arg.type.is_list
            else [f"in[{len(inputs)}]"]
        )
        for value in values:
            inputs.append(
                literal(
                    schema,
                    dataclasses.replace(value, dtype="f64")
                    if arg.name in place
                    else _moved(value, count),
                )
            )
            count += len(value.data or ())
    function = next(f for f in op.functions if f.form == form and f.scalar_kind in (None, "f64"))
    call = bind(schema, function, case)
    results = [] if form == "inplace" else op.returns
    outs = (
        [["out", "8", "n_out"]]
        if op.returns_list
        else [[f"out + {i}"] for i in range(len(results))]
    )
    values_of = call.values | slots | {r.name: o for r, o in zip(results, outs)}
    given_away = set(slots) | {r.name for r in results}
    lines = [s for s in call.setup if s.split("(")[0].split(";")[0].split()[-1] not in given_away]
    if form == "inplace":
        values_of[op.args[0].name] = ["out[0]"]
        lines += [
            "const tsr_status copied = tsr_clone(in[0], out);",
            "if (copied != TSR_OK) return copied;",
        ]
    lines += [] if op.returns_list and form != "inplace" else [f"*n_out = {max(len(results), 1)};"]
    lines.append(f"return {call.text(values_of)};")
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"\nTEST(Op_{op.name}, {name}) {{\n"
        f"  check_gradient({{{', '.join(inputs)}}}, [](const tsr_tensor* in, tsr_tensor* out, int32_t* n_out) {{\n{body}  }});\n}}\n"
    )
