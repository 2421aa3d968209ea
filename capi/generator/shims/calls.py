# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls as values: the record of every row, the table of all functions, and the way into each by number."""

from __future__ import annotations

from ..schema.model import Arg, CFunction, Function, Op, Schema
from ..schema.types import Type
from ..text import banner

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
    text = banner("//", "The record of every function: id, name, arguments with their types.") + "#pragma once\n\n"
    text += '#include "capi/call.h"\n\nnamespace tsr::capi {\n\n'
    rows: list[Op | Function] = [*schema.functions, *schema.ops]
    for row in rows:
        args: tuple[Arg, ...] = row.args + (row.returns if isinstance(row, Op) else ())
        name, list_name = info(row), info(row).replace("kInfo", "kArgs", 1)
        pairs = ", ".join(f"{{\"{a.name}\", '{letter(a.type)}'}}" for a in args)
        if args:
            text += f"inline constexpr ArgInfo {list_name}[] = {{{pairs}}};\n"
        text += f'inline constexpr CallInfo {name}{{{row.id}, "{row.name}"{f", {list_name}" * bool(args)}}};\n'
    return text + "\n}  // namespace tsr::capi\n"


def functions(schema: Schema) -> str:
    """What tsr_get_proc, tsr_function_id, tsr_function_name and tsr_call read."""
    text = banner("//", "All exported functions, and a way into each signature of operators.")
    text += '#include "capi/generated/infos.h"\n#include "capi/places_by_id.h"\n#include "capi/unpack.h"\n\n'
    text += "namespace tsr::capi {\nnamespace {\n\n"
    ways: dict[str, int] = {}
    signatures: dict[str, str] = {}
    for function in schema.c_functions:
        if function.op is not None and (letters := signature(function)) not in signatures:
            way = ways.setdefault(_way(letters), len(ways))
            signatures[letters] = f'    {{"{letters}", call_{way}}},\n'
    for body, number in ways.items():
        text += f"tsr_status call_{number}(AnyFunction f, tsr_value* v) {{ {body} }}\n"
    text += "\nconstexpr Signature kSignatures[] = {\n" + "".join(signatures.values()) + "};\n\n"
    text += "}  // namespace\n\n// Sorted by name, for binary search.\nconst Symbol kSymbols[] = {\n"
    numbers = {letters: i for i, letters in enumerate(signatures)}
    ordered = sorted(schema.c_functions, key=lambda f: f.name)
    for f in ordered:
        row = f.op or f.function
        assert row is not None
        way_in = f"&kSignatures[{numbers[signature(f)]}]" if f.op else "nullptr"
        text += f'    {{"{f.name}", reinterpret_cast<AnyFunction>(&{f.name}), {f.id}, &{info(row)}, {way_in}}},\n'
    text += f"}};\nconst size_t kSymbolCount = {len(ordered)};\n\nnamespace {{\n\n// Their numbers, in the same order.\n"
    text += "constexpr int32_t kIds[] = {\n" + "".join(f"    {f.id},\n" for f in ordered) + "};\n"
    text += "constexpr auto kPlacesById = places_by_id(kIds);\n\n}  // namespace\n\n"
    return text + "const uint16_t* const kSymbolsById = kPlacesById.data();\n\n}  // namespace tsr::capi\n"


def _way(letters: str) -> str:
    """The body of a function that calls one of this signature."""
    passed: list[tuple[str, str]] = []
    for i, name in enumerate(letters):
        entry = PASSED.get(name, PASSED.get(name.upper()))
        assert entry is not None, f"tsr_call has no way to pass '{name}'"
        passed += [(ctype, value.format(f"v[{i}]")) for ctype, value in entry]
    types, values = ", ".join(t for t, _ in passed), ", ".join(v for _, v in passed)
    return f"return as<{types}>(f)({values});"


def outputs(schema: Schema) -> dict[str, str]:
    return {"capi/generated/infos.h": infos(schema), "capi/generated/functions.cpp": functions(schema)}
