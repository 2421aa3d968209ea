# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Julia: a struct of options for each kind. The two betas are one, a pair."""

from __future__ import annotations

from ..text import banner
from .rows import Optimizer


def rules(rows: tuple[Optimizer, ...]) -> str:
    text = banner("#", "The kinds of optimizers with their options.")
    text += "".join(_struct(row) for row in rows) + "\n"
    return text + "".join(f"kind(::Type{{{row.name}}}) = C.TSR_OPTIMIZER_{row.kind}\n" for row in rows)


def _struct(row: Optimizer) -> str:
    by_name = {o.name: o for o in row.options}
    text = f'\n"{row.doc}"\nBase.@kwdef struct {row.name} <: Rule\n'
    for option in row.options:
        if option.name == "beta1":
            text += f"    betas::Tuple{{Float64,Float64}} = ({option.literal}, {by_name['beta2'].literal})\n"
        elif option.name != "beta2":
            text += f"    {option.name}::{option.type('Bool', 'Int', 'Float64')} = {option.literal}\n"
    return text + "end\n"
