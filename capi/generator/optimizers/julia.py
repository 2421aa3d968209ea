# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Julia: a struct of options for each kind. Some options are one, a pair."""

from __future__ import annotations

from ..text import banner
from .rows import PAIRS, Optimizer, with_pairs


def rules(rows: tuple[Optimizer, ...]) -> str:
    text = banner("#", "The kinds of optimizers with their options.")
    text += "".join(_struct(row) for row in rows) + "\n"
    return text + "".join(f"kind(::Type{{{row.name}}}) = C.TSR_OPTIMIZER_{row.kind}\n" for row in rows)


def _struct(row: Optimizer) -> str:
    by_name = {o.name: o for o in row.options}
    text = f'\n"{row.doc}"\nBase.@kwdef struct {row.name} <: Rule\n'
    for name in with_pairs(row):
        if name in PAIRS:
            low, high = (by_name[part].literal for part in PAIRS[name])
            text += f"    {name}::Tuple{{Float64,Float64}} = ({low}, {high})\n"
        else:
            option = by_name[name]
            text += f"    {name}::{option.type('Bool', 'Int', 'Float64')} = {option.literal}\n"
    return text + "end\n"
