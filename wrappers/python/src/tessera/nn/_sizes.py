# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of layers that are one number, or one for each spatial axis."""

from __future__ import annotations

from typing import Any, Union

from .._errors import InvalidValueError, as_int

Sizes = Union[int, "tuple[int, ...]"]


def sizes(value: Any, count: int, name: str) -> tuple[int, ...]:
    """`count` ints from one int or a sequence of as many."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,) * count
    if len(items) != count or not all(hasattr(item, "__index__") for item in items):
        raise InvalidValueError(f"{name}: expected an int or {count} ints, got {value!r}")
    return tuple(as_int(item, name) for item in items)
