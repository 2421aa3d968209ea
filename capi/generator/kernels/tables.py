# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel table, its fill in each backend, the kernel ids, the switch from an id to its functor, the op rows' names.

What an op or a kernel row of the schema says once becomes here: an enumerator whose value is the
row's id (and so never changes), a case that names the functor, and the declaration of the row.
"""

from __future__ import annotations

from ..schema.model import BACKENDS, KERNEL_FAMILIES, Family, Op, Schema
from ..template import Template
from ..text import banner, camel, wrap_call

TEMPLATE = Template(__file__, "tables.h.in")
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
    text = ""
    for family in KERNEL_FAMILIES:
        kernels = schema.kernels(family)
        text += TEMPLATE(
            "family_ids",
            formula=FORMULAS[family],
            kind=f"{family.capitalize()}Op",
            ids="".join(f"  k{k.functor} = {k.id},{f'  // {k.doc}' if k.doc else ''}\n" for k in kernels),
            first=kernels[0].id,
            end=kernels[-1].id + 1,
        )
    return TEMPLATE("op_ids", banner=banner("//", "The ids of the kernels: part of the backend contract."), families=text)


def families(schema: Schema) -> str:
    """The kernel table and the constants that launch() takes."""
    found = schema.families
    return TEMPLATE(
        "families",
        banner=banner("//", "The kernel table, one entry per family, and the families' names."),
        includes="".join(f'#include "kernel/{h}"\n' for h in sorted({f.header for f in found})),
        entries="".join(f"  Status (*{f.name})({_params(f)});  // {f.doc}\n" for f in found),
        constants="".join(
            f'inline constexpr Family<&KernelTable::{f.name}> k{camel(f.name)}{{"{f.name}"}};\n' for f in found
        ),
    )


def _params(family: Family, namespace: str = "") -> str:
    op = f"{namespace}{family.op} op, " if family.op else ""
    return f"{op}const {namespace}{family.plan}& plan"


def kernel_names(schema: Schema) -> str:
    kernels = [k for family in KERNEL_FAMILIES for k in schema.kernels(family)]
    cases = "".join(f'    case {k.id}: return "{k.name}";\n' for k in kernels)
    return TEMPLATE("kernel_names", banner=banner("//", "From the id of a kernel to its name."), cases=cases)


def entries(schema: Schema, backend: str) -> str:
    """What a backend implements: declarations, and the table made of them."""
    own = [f for f in schema.families if backend in f.backends]
    return TEMPLATE(
        "entries",
        banner=banner("//", "The entries of this backend and its kernel table."),
        backend=backend,
        declarations="".join(f"kernel::Status {f.name}({_params(f, 'kernel::')});\n" for f in own),
        fields="".join(f"    .{f.name} = {f.name if f in own else 'nullptr'},\n" for f in schema.families),
    )


def visitor(schema: Schema, family: str) -> str:
    kind = f"kernel::{family.capitalize()}Op"
    functors = [k.functor for k in schema.kernels(family)]
    return TEMPLATE(
        "visitor",
        banner=banner("//", f"From a {family} id to its functor."),
        family=family,
        kind=kind,
        cases="".join(f"    case {kind}::k{f}: return visit.template operator()<{f}>();\n" for f in functors),
        first=functors[0],
    )


def rows(schema: Schema, family: str) -> str:
    by_type: dict[str, list[str]] = {kind: [] for kind in ROW_TYPES[family].values()}
    for op in schema.ops:
        if op.kernel is not None and (kind := _row_type(op)) and op.kernel.family == family:
            by_type[kind].append(op.name)
    declared = "".join(f"\nstruct {kind};\n" + _declare(kind, names) for kind, names in by_type.items())
    return TEMPLATE("rows", banner=banner("//", f"The names of the {family} op rows."), declarations=declared)


def _declare(kind: str, names: list[str]) -> str:
    return wrap_call(f"extern const {kind} ", names, ";\n").replace(" \n", "\n")


def _row_type(op: Op) -> str | None:
    assert op.kernel is not None
    return ROW_TYPES.get(op.kernel.family, {}).get(tuple(a.name for a in op.args))
