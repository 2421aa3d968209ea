# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A test per differentiable op: the gradient through the C ABI against finite differences."""

from __future__ import annotations

from .cases import gradient_function, gradient_place, literals_in
from .literals import literal
from .model import Op, Schema


def gradient_test(schema: Schema, op: Op) -> str:
    return _test(schema, op, "functional", "has_the_gradient") + _test(
        schema, op, "inplace", "has_the_gradient_in_place"
    )


def _test(schema: Schema, op: Op, form: str, name: str) -> str:
    place = gradient_place(op, form)
    if place is None:
        return ""
    from .tests import bind

    case, differentiable = place
    inputs: list[str] = []
    slots: dict[str, list[str]] = {}
    for argument in differentiable:
        values = literals_in(case.args[argument])
        slots[argument] = (
            [f"in + {len(inputs)}", str(len(values))] if op.arg(argument).type.is_list else [f"in[{len(inputs)}]"]
        )
        inputs += [literal(schema, value) for value in values]
    function = gradient_function(op, form)
    call = bind(schema, function, case)
    results = [] if form == "inplace" else op.returns
    outs = [["out", "8", "n_out"]] if op.returns_list else [[f"out + {i}"] for i in range(len(results))]
    values_of = call.values | slots | {r.name: o for r, o in zip(results, outs)}
    given_away = set(slots) | {r.name for r in results}
    lines = [s for s in call.setup if s.split("(")[0].split(";")[0].split()[-1] not in given_away]
    if form == "inplace":
        values_of[op.args[0].name] = ["out[0]"]
        lines += ["const tsr_status copied = tsr_clone(in[0], out);", "if (copied != TSR_OK) return copied;"]
    lines += [] if op.returns_list and form != "inplace" else [f"*n_out = {max(len(results), 1)};"]
    lines.append(f"return {call.text(values_of)};")
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"\nTEST(Op_{op.name}, {name}) {{\n"
        f"  check_gradient({{{', '.join(inputs)}}}, [](const tsr_tensor* in, tsr_tensor* out, int32_t* n_out) {{\n{body}  }});\n}}\n"
    )
