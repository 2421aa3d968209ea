# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for training."""

import typing as _typing

from .._on_demand import on_demand as _on_demand

if _typing.TYPE_CHECKING:
    from . import checkpoint, data, deterministic
    from ._summary import Summary, summary
else:
    __getattr__, __dir__ = _on_demand(
        __name__,
        frozenset({"checkpoint", "data", "deterministic"}),
        {"Summary": "_summary", "summary": "_summary"},
    )

__all__ = ["Summary", "checkpoint", "data", "deterministic", "summary"]
