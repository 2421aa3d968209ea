# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Rust wrapper's generated half: the raw crate, the enumerations and the op methods."""

from __future__ import annotations

from . import rust_ops, rust_sys
from .model import Schema


def outputs(schema: Schema) -> dict[str, str]:
    files = rust_sys.outputs(schema) | rust_ops.outputs(schema)
    files[rust_ops.FOLDER + "types.rs"] = rust_sys.safe_types(schema)
    return files
