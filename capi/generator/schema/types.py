# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The type grammar of the schema and the C parameters each type becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

V = TypeVar("V")

PLAIN = {  # base type -> C type of the one parameter it becomes
    "tensor": "tsr_tensor",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "f64": "double",
    "bool": "int32_t",
    "dtype": "tsr_dtype",
    "status": "tsr_status",
    "ptr": "void*",
    "cptr": "const void*",
}
NAMED = {"handle", "enum", "struct", "fn", "extern", "cfn"}  # written handle.node, enum.reduction ...
SPECIAL = {"str", "device", "scalar", "generator"}
LISTS = {"tensor", "int64", "f64", "handle", "struct"}
# What an op row may use; everything else is for functions outside ops.
OP_BASES = {"tensor", "int64", "f64", "scalar", "bool", "enum", "dtype", "device", "str", "generator"}
# Kinds of host numbers and their constants; each holds the ones before it.
SCALAR_KINDS = {"bool": "BOOL", "i64": "INTEGER", "f64": "REAL", "c128": "COMPLEX"}

_PATTERN = re.compile(
    r"(?P<dir>out |inout )?(?P<base>[a-z0-9]+)(\.(?P<name>\w+))?(?P<hole>\?)?(?P<list>\[\])?(?P<opt>\?)?"
)


class SchemaError(Exception):
    """A mistake in a schema file; the text names the file and the row."""


@dataclass(frozen=True)
class CParam:
    """One parameter of a C function."""

    ctype: str
    name: str

    def __str__(self) -> str:
        return f"{self.ctype} {self.name}"


@dataclass(frozen=True)
class Type:
    """One type of the grammar, for example `tensor`, `int64[]?`, `enum.reduction`, `out tensor[]`."""

    text: str
    base: str
    name: str | None  # X of handle.X, enum.X, struct.X, fn.X, extern.X
    is_list: bool
    optional: bool  # the value, or the list as a whole, may be absent
    holes: bool  # entries of the list may be NULL
    direction: str  # "in", "out" or "inout"

    @property
    def is_tensor(self) -> bool:
        return self.base == "tensor" and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        return self.base == "tensor" and self.is_list


def parse_type(text: str) -> Type:
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise SchemaError(f"'{text}' is not a type of the grammar")
    base, name = match["base"], match["name"]
    if base not in PLAIN.keys() | NAMED | SPECIAL or (name is not None) != (base in NAMED):
        raise SchemaError(f"'{text}' is not a type of the grammar")
    is_list = match["list"] is not None
    hole = match["hole"] is not None
    if hole and not is_list and match["opt"] is not None:
        raise SchemaError(f"'{text}' is not a type of the grammar")
    if is_list and base not in LISTS:
        raise SchemaError(f"'{text}': lists are made of {', '.join(sorted(LISTS))} only")
    return Type(
        text=text,
        base=base,
        name=name,
        is_list=is_list,
        optional=(match["opt"] is not None) or (hole and not is_list),
        holes=hole and is_list,
        direction=(match["dir"] or "in").strip(),
    )


def _value_type(kind: Type) -> str:
    """The C type of one value, before any pointer of a list or an out parameter."""
    if kind.base == "handle":
        return f"tsr_{kind.name}"
    if kind.base == "generator":
        return "tsr_generator"
    if kind.base == "scalar":
        return "tsr_number"
    if kind.base in ("enum", "struct"):
        return f"tsr_{kind.name}"
    if kind.base == "extern":
        return f"struct {kind.name}*"
    if kind.base == "cfn":
        return f"tsr_{kind.name}_fn"
    return PLAIN[kind.base]


def c_params(name: str, kind: Type, count_of: str | None = None) -> list[CParam]:
    """The C parameters of one argument. `count_of` names the list whose length an out list shares."""
    if kind.direction == "in":
        return _in_params(name, kind)
    if kind.is_list and kind.base == "tensor":
        fill = [CParam("tsr_tensor*", name)]
        return fill if count_of else fill + [CParam("int32_t", f"{name}_capacity"), CParam("int32_t*", f"{name}_count")]
    if kind.is_list and kind.base == "struct":  # the caller's array, to be changed
        return [CParam(f"{_value_type(kind)}*", name), CParam("int32_t", f"n_{name}")]
    if kind.is_list:  # borrowed view of numbers
        return [CParam(f"const {_value_type(kind)}**", name), CParam("int32_t*", f"n_{name}")]
    if kind.base == "str":
        return [CParam("const char**", name), CParam("int64_t*", f"{name}_len")]
    if kind.base == "device":
        return [CParam("tsr_device_type*", f"{name}_type"), CParam("int32_t*", f"{name}_index")]
    return [CParam(_value_type(kind) + "*", name)]


def _in_params(name: str, kind: Type) -> list[CParam]:
    if kind.is_list:
        return [CParam(f"const {_value_type(kind)}*", name), CParam("int32_t", f"n_{name}")]
    if kind.base == "str":
        return [CParam("const char*", name), CParam("int64_t", f"{name}_len")]
    if kind.base == "device":
        return [CParam("tsr_device_type", f"{name}_type"), CParam("int32_t", f"{name}_index")]
    if kind.base == "f64" and kind.optional:
        return [CParam("double", name), CParam("int32_t", f"has_{name}")]
    if kind.base in ("struct", "scalar"):
        return [CParam(f"const {_value_type(kind)}*", name)]
    if kind.base == "fn":
        prefix = "" if name == "callback" else f"{name}_"
        return [
            CParam(f"tsr_{kind.name}_fn", name),
            CParam("void*", f"{prefix}user"),
            CParam("tsr_drop_fn", f"{prefix}drop"),
        ]
    return [CParam(_value_type(kind), name)]


def entry(table: Mapping[str, V], kind: Type) -> V:
    """What a language's table says of a type: of its text (`int64[]?`), else of its base (`int64[]`), else of lists (`[]`)."""
    mark = "[]" * kind.is_list
    return next(table[key] for key in (kind.text, kind.base + mark, mark) if key in table)


def passed(table: Mapping[str, Sequence[str]], kind: Type, *value: object) -> list[str]:
    """A value of a language as arguments of a C function: the table's text with the value at {0}."""
    found = entry(table, kind)
    return [part.format(*value) for part in ((found,) if isinstance(found, str) else found)]
