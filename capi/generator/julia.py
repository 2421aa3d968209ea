# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Julia package's generated half: C functions, ops in Julia's idiom, the broadcast table."""

from __future__ import annotations

import itertools
import textwrap

from .julia_names import HIDDEN, OPERATORS, exported, qualified, spelled
from .julia_ops import docstring, op_text
from .model import CFunction, Op, Schema, Struct
from .text import banner, version_number, wrap_call

FOLDER = "wrappers/julia/src/generated/"
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


def outputs(schema: Schema) -> dict[str, str]:
    files = {
        FOLDER + "types.jl": _types(schema),
        FOLDER + "functions.jl": _functions(schema),
        FOLDER + "broadcast.jl": _broadcast(schema),
    }
    for domain in schema.domains:
        if domain.ops:
            files[f"{FOLDER}{domain.name}.jl"] = _ops(domain.title, domain.ops)
    files[FOLDER + "ops.jl"] = _index(schema)
    return files


def wrapped(text: str) -> list[str]:
    return [line for part in text.split("\n") for line in textwrap.wrap(part, 92) or [""]]


# ---- The raw layer: types and functions ----


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


def _types(schema: Schema) -> str:
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


def _functions(schema: Schema) -> str:
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


# ---- The op layer ----


def _ops(title: str, ops: tuple[Op, ...]) -> str:
    text = banner("#", f"{title}, in Julia's idiom.")
    for op in ops:
        if not op.python.hidden or op.name in HIDDEN:
            text += "\n" + op_text(op)
    return text


def _index(schema: Schema) -> str:
    """The file that includes the others: imports, exports, order."""
    text = banner("#", "The op layer: one file per family.") + "\n"
    names = [n for op in schema.ops for n in spelled(op)]
    public = sorted({n for n in names if exported(n)})
    for _, part in itertools.groupby(public, key=lambda name: name[0]):  # a new name changes its line alone
        text += textwrap.fill("export " + ", ".join(part), 96, subsequent_indent=" " * 4, break_long_words=False) + "\n"
    text += "\n"
    for domain in schema.domains:
        if domain.ops:
            text += f'include("{domain.name}.jl")\n'
    return text


# ---- Broadcasting ----


def _broadcast(schema: Schema) -> str:
    text = banner("#", "Which op stands for which function in a dotted expression.")
    text += (
        "# operation(f, n) gives, for f of n arguments: the op, its form that writes, whether that form\n"
        "# also works in place (then without a destination before its arguments).\n\n"
    )
    for op in schema.ops:
        if not op.family.startswith("ops_pointwise_"):
            continue
        tensors = sum(1 for a in op.args if a.required or a.name in ("min", "max"))
        name = qualified(op)
        bang = qualified(op, bang=True)
        forms = f"({name}, {bang}, {str('inplace' in op.forms).lower()})"
        own = [name] if not name.startswith(("Base.", "LinearAlgebra.")) else []
        for function in dict.fromkeys([*OPERATORS.get(op.name, [name]), *own]):
            text += f"operation(::typeof({function}), ::Val{{{tensors}}}) = {forms}\n"
    return text
