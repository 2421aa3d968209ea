# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Rust wrapper's generated half: the raw crate, the enumerations and the op methods."""

from __future__ import annotations

from ..schema.model import Schema
from . import ops, sys, types


def outputs(schema: Schema) -> dict[str, str]:
    files = sys.outputs(schema) | ops.outputs(schema)
    files[ops.FOLDER + "types.rs"] = types.safe_types(schema)
    return files
