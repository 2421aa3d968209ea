# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The raw layer of the Julia package: the types and functions of the C ABI."""

from __future__ import annotations

import textwrap

from ..schema.model import CFunction, Schema, Struct
from ..text import banner, version_number, wrap_call
from .text import docstring, wrapped

PLAIN = {
    "void": "Cvoid",
    "int32_t": "Int32",
    "uint32_t": "UInt32",
    "int64_t": "Int64",
    "uint64_t": "UInt64",
    "double": "Float64",
    "char": "UInt8",
    "size_t": "Csize_t",
}


def julia_type(ctype: str) -> str:
    """The Julia type that a C type is passed as."""
    ctype = ctype.replace("const ", "").strip()
    if ctype.startswith("struct "):
        return "Ptr{Cvoid}" if ctype.count("*") == 1 else "Ptr{Ptr{Cvoid}}"
    if ctype.endswith("*"):
        return f"Ptr{{{julia_type(ctype[:-1])}}}"
    if ctype.startswith("tsr_") and ctype.endswith("_fn"):
        return "Ptr{Cvoid}"
    return PLAIN.get(ctype, ctype)


def types(schema: Schema) -> str:
    text = banner("#", "Handles, constants and structs of the C ABI.") + "\n"
    newest = max(version_number(f.since) for f in schema.c_functions)
    text += "# Major and minor number of the ABI that all this belongs to.\n"
    text += f"const ABI_VERSION = ({newest >> 16}, {newest & 0xFFFF})\n\n"
    for handle in schema.handles:
        text += docstring(wrapped(handle.doc))
        text += f"mutable struct tsr_{handle.name}_s end\nconst tsr_{handle.name} = Ptr{{tsr_{handle.name}_s}}\n\n"
    text += "const tsr_dtype = Int32\n"
    text += "".join(f"const {d.constant} = Int32({d.value:#x})\n" for d in schema.dtypes)
    for enum in schema.enums:
        text += "\n" + "".join(f"# {line}\n" for line in wrapped(enum.doc) if line) + f"const {enum.name} = Int32\n"
        text += "".join(f"const {c.name} = Int32({c.value})\n" for c in enum.constants)
    text += "\n" + "".join(_struct(schema, s) for s in schema.structs)
    rows = "".join(f'    ("{s.name}", {s.name}),\n' for s in schema.structs if s.sized)
    text += f"# What tsr_abi_probe checks when the library is loaded.\nconst STRUCTS = (\n{rows})\n"
    names = "".join(f"    {c.value} => :{c.name[4:]},\n" for c in schema.status.constants)
    return text + f"\nconst STATUS_NAMES = Dict{{Int32,Symbol}}(\n{names})\n"


def _struct(schema: Schema, struct: Struct) -> str:
    fields = "".join(f"    {f.name}::{julia_type(f.ctype)}\n" for f in struct.fields)
    text = docstring(wrapped(struct.doc)) + f"struct {struct.name}\n{fields}end\n"
    if struct.sized and not any(f.ctype in {s.name for s in schema.structs} for f in struct.fields):
        zeros = [_zero(julia_type(f.ctype)) for f in struct.fields[1:]]
        size = f"sizeof({struct.name})"
        text += wrap_call(f"{struct.name}() = {struct.name}(", [size, *zeros], ")") + "\n"
    return text + "\n"


def _zero(kind: str) -> str:
    return "C_NULL" if kind.startswith("Ptr") else "0"


def functions(schema: Schema) -> str:
    text = banner("#", "Every function of the C ABI.")
    text += "# A name here is that of the C function; arguments are passed as they are.\n"
    for domain in schema.domains:
        for row in domain.rows:
            for i, function in enumerate(row.functions):
                text += ("\n" + _note(function) if i == 0 else "") + _ccall(function)
    return text


def _note(function: CFunction) -> str:
    return "".join(f"# {line}\n" for line in wrapped(function.doc) if line)


def _ccall(function: CFunction) -> str:
    parts = [f"{p.name}::{julia_type(p.ctype)}" for p in function.params]
    line = f"@c {function.name}({', '.join(parts)})::{julia_type(function.returns)}"
    return textwrap.fill(line, 96, subsequent_indent=" " * 4, break_long_words=False) + "\n"
