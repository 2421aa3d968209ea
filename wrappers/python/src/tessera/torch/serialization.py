# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.serialization: load, save, and the list of classes that a file may have, which stays as it is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ._namespace import lookup
from ._serialization import load, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]


def add_safe_globals(safe_globals: Any) -> None:
    """Nothing: load() reads tensors in containers, and refuses any other class."""


def get_safe_globals() -> list[Any]:
    return []


def clear_safe_globals() -> None:
    """Nothing: there are none."""


@contextlib.contextmanager
def safe_globals(safe_globals: Any) -> Iterator[None]:
    """Nothing, as add_safe_globals."""
    yield


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
