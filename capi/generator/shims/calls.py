# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls as values: the record of every row, the table of all functions, and the way into each by number."""

from __future__ import annotations

import itertools

from ..schema.model import Arg, CFunction, Function, Op, Schema
from ..schema.types import Type
from ..template import Template
from ..text import banner

TEMPLATE = Template(__file__, "calls.cpp.in")
# The letters of capi/call.h; an argument that may be absent has a small one.
LETTERS = {
    "tensor": "T", "tensor[]": "L", "int64": "I", "int64[]": "J", "f64": "R", "f64[]": "V", "bool": "B", "enum": "E",
    "dtype": "D", "device": "C", "str": "S", "generator": "G", "scalar": "N", "int32": "I", "uint32": "I", "uint64": "I",
    "status": "E",
}  # fmt: skip
# What a letter becomes in C: the types of the parameters, and how each is read from the value at {0}.
PASSED: dict[str, tuple[tuple[str, str], ...]] = {
    "T": (("tsr_tensor", "tensor({0})"),),
    "L": (("const tsr_tensor*", "list<tsr_tensor>({0})"), ("int32_t", "count({0})")),
    "I": (("int64_t", "integer({0})"),),
    "J": (("const int64_t*", "list<int64_t>({0})"), ("int32_t", "count({0})")),
    "R": (("double", "{0}.real"),),
    "r": (("double", "{0}.real"), ("int32_t", "has({0})")),
    "V": (("const double*", "list<double>({0})"), ("int32_t", "count({0})")),
    "N": (("const tsr_number*", "Number({0})"),),
    "B": (("int32_t", "small({0})"),),
    "E": (("int32_t", "small({0})"),),
    "D": (("int32_t", "small({0})"),),
    "C": (("int32_t", "small({0})"), ("int32_t", "device_index({0})")),
    "S": (("const char*", "text({0})"), ("int64_t", "text_length({0})")),
    "G": (("tsr_generator", "generator({0})"),),
    "P": (("tsr_tensor*", "place({0})"),),
    "Q": (("tsr_tensor*", "place({0})"), ("int32_t", "{0}.n"), ("int32_t*", "&{0}.n")),
}
# The C parameters of an argument as one thing, for a trace.
TRACED = {
    "L": "ListOf{{{0}, n_{0}}}", "J": "ListOf{{{0}, n_{0}}}", "V": "ListOf{{{0}, n_{0}}}", "r": "MaybeOf{{{0}, has_{0}}}",
    "C": "DeviceOf{{{0}_type, {0}_index}}", "S": "TextOf{{{0}, {0}_len}}",
}  # fmt: skip


def letter(kind: Type) -> str:
    """The letter of a schema type."""
    if kind.direction == "out":
        return ("Q" if kind.is_list else "P") if kind.base == "tensor" else "W"
    if kind.base == "handle" and kind.name == "generator":
        return "g" if kind.optional else "G"
    found = LETTERS.get(kind.base + "[]" * kind.is_list, "O")
    return found.lower() if kind.optional else found


def signature(function: CFunction) -> str:
    """The letters of all arguments of an operator's function, then of its results."""
    return "".join(letter(a.type) for a in function.args)


def _by_letter(table: dict[str, object], name: str) -> object | None:
    return table.get(name, table.get(name.upper()))


def traced(function: CFunction) -> list[str]:
    """Expressions of the arguments of a function that the guard passes on."""
    found = []
    for arg in function.args:
        kind = letter(arg.type)
        if kind not in "PQW":
            found.append(str(_by_letter(dict(TRACED), kind) or "{0}").format(arg.name))
    return found


def info(row: Op | Function) -> str:
    return "kInfo_" + (row.name if isinstance(row, Op) else row.name[4:])


def infos(schema: Schema) -> str:
    """The record of every row: id, name, arguments and results with their types."""
    return TEMPLATE(
        "infos",
        banner=banner("//", "The record of every function: id, name, arguments with their types."),
        infos="".join(_info(row, schema) for row in schema.rows),
    )


def _info(row: Op | Function, schema: Schema) -> str:
    args: tuple[Arg, ...] = row.args + (row.returns if isinstance(row, Op) else ())
    if not args:
        return f'inline constexpr CallInfo {info(row)}{{{row.id}, 0, "{row.name}"}};\n'
    pairs = ", ".join(f"{{\"{a.name}\", '{letter(a.type)}'}}" for a in args)
    lists = [lists.get(row.name, "none") if isinstance(row, Op) else "none" for lists in (schema.autocast, schema.autocast_cpu)]
    listed = "".join(f", Autocast::k{name.capitalize()}" for name in lists) if lists != ["none", "none"] else ""
    return f'inline constexpr CallInfoOf {info(row)}{{{row.id}, "{row.name}", {{{pairs}}}{listed}}};\n'


def functions(schema: Schema) -> str:
    """What tsr_get_proc, tsr_function_id, tsr_function_name and tsr_call read."""
    ordered = sorted(schema.c_functions, key=lambda f: f.name)
    by_row = itertools.groupby(ordered, lambda f: f.id & 0xFFFF)
    return TEMPLATE(
        "functions",
        banner=banner("//", "All exported functions, and a way into each signature of operators."),
        signatures="".join(map(_signature, sorted({signature(f) for op in schema.ops for f in op.functions}))),
        symbols="".join(map(_symbol, ordered)),
        count=len(ordered),
        ids="".join(f"    {', '.join(str(f.id) for f in group)},\n" for _, group in by_row),
    )


def _signature(letters: str) -> str:
    """The letters, and a function that calls one of this signature."""
    passed: list[tuple[str, str]] = []
    for i, name in enumerate(letters):
        entry = PASSED.get(name, PASSED.get(name.upper()))
        assert entry is not None, f"tsr_call has no way to pass '{name}'"
        passed += [(ctype, value.format(f"v[{i}]")) for ctype, value in entry]
    types, values = ", ".join(t for t, _ in passed), ", ".join(v for _, v in passed)
    call = f"[](AnyFunction f, tsr_value* v) {{ return as<{types}>(f)({values}); }}"
    return f'constexpr Signature kCall_{letters}{{"{letters}", {call}}};\n'


def _symbol(function: CFunction) -> str:
    row = function.op or function.function
    assert row is not None
    name, way_in = function.name, f"&kCall_{signature(function)}" if function.op else "nullptr"
    return f'    {{"{name}", reinterpret_cast<AnyFunction>(&{name}), {function.id}, &{info(row)}, {way_in}}},\n'


def outputs(schema: Schema) -> dict[str, str]:
    return {"capi/generated/infos.h": infos(schema), "capi/generated/functions.cpp": functions(schema)}
