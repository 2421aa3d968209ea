# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compiler: there is none, so what it would be told about functions changes nothing."""

from __future__ import annotations

from typing import Any

from ._namespace import lookup

__all__ = [
    "allow_in_graph", "assume_constant_result", "cudagraph_mark_step_begin", "disable", "is_compiling", "is_dynamo_compiling",
    "is_exporting", "reset",
]  # fmt: skip


def disable(fn: Any = None, recursive: bool = True, *, reason: Any = None) -> Any:
    """The function itself; a decorator with and without arguments."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    return fn


assume_constant_result = allow_in_graph


def is_compiling() -> bool:
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Nothing: nothing is kept."""


cudagraph_mark_step_begin = reset
__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
