# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The op layer of the Julia package: a file for each family, their index, the broadcast table."""

from __future__ import annotations

import itertools
import textwrap

from ..schema.model import Op, Schema
from ..text import banner
from .names import HIDDEN, OPERATORS, exported, qualified, spelled
from .ops import op_text


def ops(title: str, ops: tuple[Op, ...]) -> str:
    text = banner("#", f"{title}, in Julia's idiom.")
    for op in ops:
        if not op.python.hidden or op.name in HIDDEN:
            text += "\n" + op_text(op)
    return text


def index(schema: Schema) -> str:
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


def broadcast(schema: Schema) -> str:
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
        bang = bang if bang in spelled(op) else f"by_copy({name})"
        forms = f"({name}, {bang}, {str('inplace' in op.forms).lower()})"
        own = [name] if not name.startswith(("Base.", "LinearAlgebra.")) else []
        for function in dict.fromkeys([*OPERATORS.get(op.name, [name]), *own]):
            text += f"operation(::typeof({function}), ::Val{{{tensors}}}) = {forms}\n"
    return text
