# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rust: the options of each kind as invocations of the macro of optim/rules.rs."""

from __future__ import annotations

import textwrap

from ..text import banner
from .rows import Optimizer

NAMES = {"SGD": "Sgd", "RMSprop": "RmsProp", "LAMB": "Lamb", "ASGD": "Asgd"}  # Rust writes the first letter of a word alone in capitals


def rules(rows: tuple[Optimizer, ...]) -> str:
    text = banner("//", "The kinds of optimizers with their options.")
    return text + "\nuse super::{private, Rule};\nuse tessera_sys as sys;\n" + "".join(_rule(row) for row in rows)


def _rule(row: Optimizer) -> str:
    text = "\nrule! {\n" + "".join(f"    /// {line}\n" for line in textwrap.wrap(row.doc, 90))
    text += f"    {NAMES.get(row.name, row.name)}, TSR_OPTIMIZER_{row.kind};\n"
    numbers = [f"    {o.name}: {o.type('', 'i32', 'f64')} = {o.literal}" for o in row.options if not o.is_flag]
    flags = [f"    {o.name} = {o.literal}" for o in row.options if o.is_flag]
    return text + ",\n".join(numbers) + ";\n" + ",\n".join(flags) + "\n}\n"
