# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python files of the package that follow from the schema: its functions and its constants."""

from __future__ import annotations

from ..schema.model import Op, Schema
from ..text import banner
from .model import exports, functions, namespaces


def ops(ops: list[Op]) -> str:
    text = banner("#", "The functions of all ops, as the extension made them.") + "\nfrom . import _core\n\n"
    for op, _, name in functions(ops):
        text += "".join(f"{spelled} = _core.{name}\n" for spelled in (name, *op.python.aliases))
    return text + "".join("\n" + exports(namespace, ops) for namespace in namespaces(ops))


def constants(schema: Schema) -> str:
    text = banner("#", "Dtypes, status codes and flags of the C ABI.") + "\nfrom typing import Final\n\n"
    text += "# (name, bits, bytes, category)\nDTYPES: Final = (\n"
    text += "".join(f'    ("{d.name}", {d.value:#x}, {d.itemsize}, "{d.category}"),\n' for d in schema.dtypes)
    text += ")\n\n# code: (name, the exception that users of Python would catch)\nSTATUS: Final = {\n"
    for constant in schema.status.constants:
        if constant.value:
            text += f'    {constant.value}: ("{constant.name[4:]}", "{constant.wrapper or "RuntimeError"}"),\n'
    text += "}\n"
    for enum in schema.enums:
        if enum.name != "tsr_status":
            text += "".join(f"\n{c.name[4:]}: Final = {c.value}" for c in enum.constants) + "\n"
    return text
