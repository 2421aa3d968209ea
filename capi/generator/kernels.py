# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel ids of the backend contract, the switch from an id to its functor, the op rows' names.

What an op or a kernel row of the schema says once becomes here: an enumerator whose value is the
row's id (and so never changes), a case that names the functor, and the declaration of the row.
"""

from __future__ import annotations

from .model import KERNEL_FAMILIES, Op, Schema
from .text import banner, wrap_call

FORMULAS = {
    "unary": "out = f(x).",
    "binary": "out = f(a, b).",
    "ternary": "out = f(a, b, c).",
    "reduce": "out[kept] = the fold of in[kept, reduced].",
}
# The C++ type of a row by the arguments of its op: an op with others is a function, declared by hand.
ROW_TYPES: dict[str, dict[tuple[str, ...], str]] = {
    "unary": {("input",): "Unary"},
    "binary": {("input", "other"): "Binary"},
    "reduce": {("input", "axes", "keepdims"): "Reduction", ("input", "axes", "keepdims", "dtype"): "Total"},
}


def outputs(schema: Schema) -> dict[str, str]:
    files = {"src/kernel/generated/op_ids.h": op_ids(schema)}
    for family in KERNEL_FAMILIES:
        files[f"src/backend/common/generated/visit_{family}.h"] = visitor(schema, family)
    for family in ROW_TYPES:
        files[f"src/ops/generated/{family}_rows.h"] = rows(schema, family)
    return files


def op_ids(schema: Schema) -> str:
    text = banner("//", "The ids of the kernels: part of the backend contract.")
    text += "#pragma once\n\n#include <cstdint>\n\nnamespace tsr::kernel {\n"
    text += """
// An id is the schema's, so it never changes and is never given to something else; a new op adds
// one. p0 is the plan's first parameter. A backend answers kNotImplemented to an id it has no
// kernel for.

// kFirst <= id < kEnd for every id of a family: the places of a table, of which some stay empty.
template <class Op>
struct OpRange;
"""
    for family in KERNEL_FAMILIES:
        kernels = schema.kernels(family)
        kind = f"{family.capitalize()}Op"
        text += f"\n// {FORMULAS[family]}\nenum class {kind} : int32_t {{\n"
        text += "  kNone = 0,  // no kernel\n"
        for k in kernels:
            note = f"  // {k.doc}" if k.doc else ""
            text += f"  k{k.functor} = {k.id},{note}\n"
        text += "};\ntemplate <>\n"
        text += f"struct OpRange<{kind}> {{\n"
        text += f"  static constexpr int32_t kFirst = {kernels[0].id};\n"
        text += f"  static constexpr int32_t kEnd = {kernels[-1].id + 1};\n}};\n"
    return text + "\n}  // namespace tsr::kernel\n"


def visitor(schema: Schema, family: str) -> str:
    kind = f"kernel::{family.capitalize()}Op"
    kernels = schema.kernels(family)
    text = banner("//", f"From a {family} id to its functor.")
    text += f'#pragma once\n\n#include "backend/common/functors_{family}.h"\n'
    text += '#include "kernel/generated/op_ids.h"\n\nnamespace tsr::math {\n'
    text += f"""
// visit.operator()<F>() with the functor F of `op`, or a default result for an id without one.
template <class Visit>
constexpr auto visit_functor({kind} op, const Visit& visit) {{
  switch (op) {{
"""
    for k in kernels:
        text += f"    case {kind}::k{k.functor}:\n"
        text += f"      return visit.template operator()<{k.functor}>();\n"
    text += f"""    default:
      return decltype(visit.template operator()<{kernels[0].functor}>()){{}};
  }}
}}

}}  // namespace tsr::math
"""
    return text


def rows(schema: Schema, family: str) -> str:
    by_type: dict[str, list[str]] = {kind: [] for kind in ROW_TYPES[family].values()}
    for op in schema.ops:
        if op.kernel is not None and (kind := _row_type(op)) and op.kernel.family == family:
            by_type[kind].append(op.name)
    text = banner("//", f"The names of the {family} op rows.")
    text += "#pragma once\n\nnamespace tsr::ops {\n"
    for kind, names in by_type.items():
        text += f"\nstruct {kind};\n" + _declare(kind, names)
    return text + "\n}  // namespace tsr::ops\n"


def _declare(kind: str, names: list[str]) -> str:
    return wrap_call(f"extern const {kind} ", names, ";\n").replace(" \n", "\n")


def _row_type(op: Op) -> str | None:
    assert op.kernel is not None
    return ROW_TYPES.get(op.kernel.family, {}).get(tuple(a.name for a in op.args))
