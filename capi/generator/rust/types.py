# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The plain enumerations of the safe crate."""

from __future__ import annotations

from ..schema.model import Enum, Schema
from ..template import Template
from ..text import banner, camel
from .text import doc

TEMPLATE = Template(__file__, "types.rs.in")


def safe_types(schema: Schema) -> str:
    text = banner("//", "Dtypes, device types and error kinds.")
    return text + _dtype(schema) + _device_type(schema.enum("device_type")) + _error_kind(schema.status)


Rows = list[tuple[str, str]]


def _variants(rows: list[tuple[str, str, str]]) -> str:
    """Of (name, constant, documentation)."""
    return "".join(doc(about, "    ") + f"    {variant} = tessera_sys::{constant},\n" for variant, constant, about in rows)


def _arms(rows: Rows) -> str:
    return "".join(f"            {left} => {right},\n" for left, right in rows)


def _dtype(schema: Schema) -> str:
    names = [(f"DType::{camel(t.short)}", t) for t in schema.dtypes]

    def category(wanted: str) -> str:
        return " | ".join(n for n, t in names if t.category == wanted)

    return TEMPLATE(
        "dtype",
        variants=_variants([(camel(t.short), t.constant, f"{t.name}, {t.itemsize} bytes") for t in schema.dtypes]),
        all="".join(f"        {n},\n" for n, _ in names),
        names=_arms([(n, f'"{t.name}"') for n, t in names]),
        sizes=_arms([(n, str(t.itemsize)) for n, t in names]),
        floating=category("floating"),
        complex=category("complex"),
        integral=category("integral"),
    )


def _constants(enum: Enum) -> list[tuple[str, str, str]]:
    """(Rust name, C name, doc) of each constant."""
    return [(camel(enum.short(c)), c.name, c.doc) for c in enum.constants]


def _device_type(enum: Enum) -> str:
    rows = [(name, constant, note or f"`{name.lower()}`") for name, constant, note in _constants(enum)]
    return TEMPLATE(
        "device_type",
        variants=_variants(rows),
        all=", ".join(f"DeviceType::{n}" for n, _, _ in rows),
        names=_arms([(f"DeviceType::{n}", f'"{n.lower()}"') for n, _, _ in rows]),
    )


def _error_kind(enum: Enum) -> str:
    rows = [row for row in _constants(enum) if row[1] != "TSR_OK"]
    return TEMPLATE(
        "error_kind",
        variants=_variants(rows),
        names=_arms([(f"Self::{n}", f'"{c.removeprefix("TSR_")}"') for n, c, _ in rows]),
        codes=_arms([(f"tessera_sys::{c}", f"Self::{n}") for n, c, _ in rows if n != "Internal"]),
    )
