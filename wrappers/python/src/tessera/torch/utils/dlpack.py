# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.dlpack."""

from __future__ import annotations

from typing import Any

from .._namespace import functions

from_dlpack = functions["from_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """The tensor as a DLPack capsule, which one consumer may take."""
    return tensor.__dlpack__()


__all__ = ["from_dlpack", "to_dlpack"]
