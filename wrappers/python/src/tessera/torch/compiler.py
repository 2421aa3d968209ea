# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compiler: there is none, so what it would be told about functions changes nothing."""

from __future__ import annotations

from typing import Any

from ._namespace import lookup
from .nn import Module

__all__ = [
    "allow_in_graph", "assume_constant_result", "cudagraph_mark_step_begin", "disable", "is_compiling", "is_dynamo_compiling",
    "is_exporting", "reset",
]  # fmt: skip


class OptimizedModule(Module):
    """What torch.compile gives for a module: it calls `_orig_mod`, has its attributes, and the names of its state under that name."""

    def __init__(self, mod: Any) -> None:
        super().__init__()
        self._orig_mod = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("_modules", {})
        if "_orig_mod" not in found or name.startswith("__"):
            raise AttributeError(name)
        return found["_orig_mod"] if name == "_orig_mod" else getattr(found["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__ or "_orig_mod" not in self.__dict__.get("_modules", ()):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)


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
