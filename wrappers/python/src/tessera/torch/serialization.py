# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.serialization: load, save, and the classes that a file may have beside tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ._namespace import lookup
from ._serialization import SAFE, load, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]


def add_safe_globals(safe_globals: Any) -> None:
    """Allows classes and functions, or pairs of one and its name, in the files that load() reads."""
    for item in safe_globals:
        given, name = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
        module, _, rest = name.rpartition(".")
        SAFE[module, rest] = given


def get_safe_globals() -> list[Any]:
    return list(SAFE.values())


def clear_safe_globals() -> None:
    SAFE.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: Any) -> Iterator[None]:
    """add_safe_globals() for a block."""
    before = dict(SAFE)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        SAFE.clear()
        SAFE.update(before)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
