# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.nvtx: ranges are those of the library's profiler."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ..profiler import record_function
from ._namespace import lookup

__all__ = ["mark", "range", "range_pop", "range_push"]


class _Open(threading.local):
    def __init__(self) -> None:
        self.ranges: list[Any] = []


_open = _Open()


def range_push(msg: str) -> int:
    """Begins a range, and returns how many are around it."""
    made = record_function(msg)
    made.__enter__()
    _open.ranges.append(made)
    return len(_open.ranges) - 1


def range_pop() -> int:
    """Ends the innermost range of the thread, and returns how many are around it; below 0 there was none."""
    if _open.ranges:
        _open.ranges.pop().__exit__(None, None, None)
        return len(_open.ranges)
    return -1


def mark(msg: str) -> None:
    with record_function(msg):
        pass


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around a block or a function."""
    with record_function(msg.format(*args, **kwargs)):
        yield


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
