# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the schema, which speaks of C, in the words of the safe Rust crate."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..schema.model import Op, Schema
from ..text import camel
from .model import is_free, rust_name


def in_rust(schema: Schema) -> Callable[[str, set[str]], str]:
    """A function that makes links of statuses, C names and other ops in a text; the second argument are names that
    mean something else there."""
    statuses = (schema.status.short(c) for c in schema.status.constants)
    known = {short.upper(): f"[`ErrorKind::{camel(short)}`](crate::ErrorKind::{camel(short)})" for short in statuses}
    ops = (op for domain in schema.domains for op in domain.ops if "functional" in op.forms and "_" in op.name)
    known |= {op.name: _link(op) for op in ops}

    def words(text: str, own: set[str]) -> str:
        def word(found: re.Match[str]) -> str:
            name = found[0]
            if name.startswith("tsr_tensor_"):
                return f"[`Tensor::{name.removeprefix('tsr_tensor_')}`]"
            if name.startswith("tsr_"):
                return f"[`sys::{name}`](crate::sys::{name})"
            return name if name in own else known.get(name, name)

        # What is code already stays, and so do calls.
        return re.sub(r"`[^`]*`|\w+\(|\w+", lambda m: m[0] if m[0][-1] in "`(" else word(m), text)

    return words


def _link(op: Op) -> str:
    name = rust_name(op)
    return f"[`{name}`](crate::ops::{name})" if is_free(op) else f"[`Tensor::{name}`]"
