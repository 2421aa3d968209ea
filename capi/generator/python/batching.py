# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of func.vmap: for each function and method of Python the batching rule of its row, and the arguments that the
rule looks at."""

from __future__ import annotations

from ..schema.model import Arg, Op
from ..text import banner, c_string
from .model import parameter_names, public_forms

AXES = ("axis", "axes", "axis0", "axis1", "axis2")


def batching(ops: list[Op]) -> str:
    text = banner("#", "How func.vmap runs each op.")
    text += "# ruff: noqa: E501\n\nfrom typing import Any, Final\n\n"
    text += "# name: (rule, rank, folded arguments, tensors, axes: (argument, default, whether it is a list))\n"
    text += "TABLE: Final[dict[str, tuple[str, int, tuple[str, ...], tuple[str, ...], tuple[tuple[str, Any, bool], ...]]]] = {\n"
    return text + "".join(_row(op, name) for op, _, name in public_forms(ops)) + "}\n"


def _row(op: Op, name: str) -> str:
    rule = op.batching
    names = {a.name: parameter_names(op, a)[0] for a in op.args}
    tensors = tuple(names[a.name] for a in op.args if a.type.base == "tensor")
    folded = tuple(names[n] for n in rule.folded) or tensors[:1]
    axes = tuple((names[a.name], _default(a), a.type.is_list) for a in op.args if a.name in AXES)
    entry = (rule.rule, rule.rank, folded if rule.rule in ("fold", "fold_loss") else (), tensors, axes)
    return f"    {c_string(name)}: ({', '.join(map(_text, entry))}),\n"


def _text(value: object) -> str:
    return c_string(value) if isinstance(value, str) else repr(value).replace("'", '"')


def _default(arg: Arg) -> object:
    return None if arg.required else arg.default
