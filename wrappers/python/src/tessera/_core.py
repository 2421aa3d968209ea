# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C parts, loaded: the raw functions (ffi, lib) and the table of what the extension made."""

from typing import Any

from ._native import ffi as ffi
from ._native import lib

table: dict[str, Any] = {}
if lib.tpy_install(id(table)) != 0:
    raise ImportError("tessera._native could not make its types")

TensorBase, NodeBase = table["TensorBase"], table["NodeBase"]
ModeBase, DeviceBase = table["ModeBase"], table["DeviceBase"]
