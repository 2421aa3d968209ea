# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package: the C of its extension (rows, native), its functions and constants (package), its
stubs, its batching rules."""

from ..schema.model import Schema
from .batching import batching
from .native import native
from .package import constants, ops
from .stubs import core_stub, ops_stub, result_types

PACKAGE = "wrappers/python/src/tessera/"


def outputs(schema: Schema) -> dict[str, str]:
    public = [op for op in schema.ops if not op.python.hidden]
    return {f"wrappers/python/native/{name}": text for name, text in native(schema, public).items()} | {
        PACKAGE + "_ops.py": ops(public),
        PACKAGE + "_results.py": result_types(public),
        PACKAGE + "_ops.pyi": ops_stub(schema, public),
        PACKAGE + "_core.pyi": core_stub(schema, public),
        PACKAGE + "_constants.py": constants(schema),
        PACKAGE + "func/_table.py": batching(public),
    }
