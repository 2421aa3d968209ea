# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel table, its fill in each backend, the kernel ids, the switch from an id to its functor, the op rows' names.

What an op or a kernel row of the schema says once becomes here: an enumerator whose value is the
row's id (and so never changes), a case that names the functor, and the declaration of the row.
"""

from __future__ import annotations

from ..schema.model import BACKENDS, KERNEL_FAMILIES, Family, Op, Schema
from ..text import banner, camel, wrap_call

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
    files = {
        "src/kernel/generated/op_ids.h": op_ids(schema),
        "src/kernel/generated/families.h": families(schema),
        "src/kernel/generated/kernel_names.cpp": kernel_names(schema),
    }
    for backend in BACKENDS:
        files[f"src/backend/{backend}/generated/entries.h"] = entries(schema, backend)
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


def families(schema: Schema) -> str:
    """The kernel table and the constants that launch() takes."""
    text = banner("//", "The kernel table, one entry per family, and the families' names.") + "#pragma once\n\n"
    text += "".join(f'#include "kernel/{h}"\n' for h in sorted({f.header for f in schema.families}))
    text += "\nnamespace tsr::kernel {\n\nstruct KernelTable {\n"
    text += "".join(f"  Status (*{f.name})({_params(f)});  // {f.doc}\n" for f in schema.families)
    text += """};

// A family: its entry in the table, and the name in errors and traces.
template <auto Entry>
struct Family {
  const char* name;
};
"""
    for f in schema.families:
        text += f'inline constexpr Family<&KernelTable::{f.name}> k{camel(f.name)}{{"{f.name}"}};\n'
    text += "\n// The name of a kernel id, for example exp; the text of no kernel for a number that is none.\n"
    return text + "const char* kernel_name(int32_t id) noexcept;\n\n}  // namespace tsr::kernel\n"


def _params(family: Family, namespace: str = "") -> str:
    op = f"{namespace}{family.op} op, " if family.op else ""
    return f"{op}const {namespace}{family.plan}& plan"


def kernel_names(schema: Schema) -> str:
    text = banner("//", "From the id of a kernel to its name.")
    text += '#include "kernel/generated/families.h"\n\nnamespace tsr::kernel {\n\n'
    text += "const char* kernel_name(int32_t id) noexcept {\n  switch (id) {\n"
    for family in KERNEL_FAMILIES:
        text += "".join(f'    case {k.id}:\n      return "{k.name}";\n' for k in schema.kernels(family))
    return text + '    default:\n      return "none";\n  }\n}\n\n}  // namespace tsr::kernel\n'


def entries(schema: Schema, backend: str) -> str:
    """What a backend implements: declarations, and the table made of them."""
    own = [f for f in schema.families if backend in f.backends]
    text = banner("//", "The entries of this backend and its kernel table.") + "#pragma once\n\n"
    text += f'#include "kernel/generated/families.h"\n\nnamespace tsr::{backend} {{\n\n'
    text += "// Contracts stand beside the plans, in src/kernel.\n"
    text += "".join(f"kernel::Status {f.name}({_params(f, 'kernel::')});\n" for f in own)
    text += "\ninline constexpr kernel::KernelTable kKernels = {\n"
    text += "".join(f"    .{f.name} = {f.name},\n" for f in own)
    return text + f"}};\n\n}}  // namespace tsr::{backend}\n"


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
