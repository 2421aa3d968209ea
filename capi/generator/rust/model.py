# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How an op looks in Rust: its name, where it belongs, and what its arguments are there."""

from __future__ import annotations

from ..literals import Words
from ..schema.model import Arg, Op
from ..text import camel

RENAMED = {"clone": "deep_clone", "where": "where_cond"}  # Clone::clone retains; a keyword
WORDS = Words(
    "None", lambda d: f"DType::{camel(d.short)}", nan="f64::NAN", infinities=("f64::NEG_INFINITY", "f64::INFINITY"),
    pair="Scalar::C128({}, {})", absent="i64::MIN", cpu="Device::CPU", fence=("&[", "]"),
)  # fmt: skip


def rust_name(op: Op) -> str:
    return RENAMED.get(op.name, op.name)


def is_free(op: Op) -> bool:
    """Steps over lists of parameters are functions; everything else belongs to Tensor."""
    return op.python.namespace == "optim.functional"


def receiver(op: Op) -> Arg | None:
    first = op.args[0] if op.args and not is_free(op) else None
    return first if first is not None and first.type.is_tensor and not first.type.optional else None


def required(op: Op) -> list[Arg]:
    return [a for a in op.args if a.required and a is not receiver(op)]


def optional(op: Op) -> list[Arg]:
    return [a for a in op.args if not a.required]


def options_name(op: Op) -> str:
    return camel(rust_name(op)) + "Options"


def operands(op: Op) -> list[str]:
    """Arguments that may be tensors or host numbers; the receiver never is."""
    own = receiver(op)
    return [n for n in op.operands if own is None or n != own.name]
