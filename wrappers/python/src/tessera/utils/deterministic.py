# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Deterministic mode: results with the same bits in every run, whatever the number of threads.

`fill_uninitialized_memory` is a setting: while the mode is on and it is True, as at first, empty() and its like fill their
memory with NaN, or with the largest integer.
"""

from __future__ import annotations

import json
import sys
import types
from typing import Any

from .._constants import DETERMINISTIC_OFF, DETERMINISTIC_ON, DETERMINISTIC_WARN
from .._errors import ArgumentTypeError, InvalidValueError
from ..capi import check, lib, out, text

_DEBUG_MODES = ("default", "warn", "error")
_CODES = (DETERMINISTIC_OFF, DETERMINISTIC_WARN, DETERMINISTIC_ON)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Switches deterministic mode on or off, for the process.

    Products, convolutions and factorizations on the CPU then do not depend on the number of threads; kernels() lists what
    changes. An operation without a deterministic implementation raises NotSupportedError, or, with warn_only, warns in
    the log.
    """
    if not isinstance(mode, bool):
        raise ArgumentTypeError(f"use_deterministic_algorithms(): expected a bool, got {type(mode).__name__}")
    _set(DETERMINISTIC_OFF if not mode else DETERMINISTIC_WARN if warn_only else DETERMINISTIC_ON)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic mode is on, or warns."""
    return bool(lib.tsr_deterministic_get() != DETERMINISTIC_OFF)


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether deterministic mode warns where there is no deterministic implementation."""
    return bool(lib.tsr_deterministic_get() == DETERMINISTIC_WARN)


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Deterministic mode by a number or a name: 0 "default" (off), 1 "warn", 2 "error"."""
    number = _DEBUG_MODES.index(debug_mode) if debug_mode in _DEBUG_MODES else debug_mode
    if number not in (0, 1, 2):
        raise InvalidValueError(
            f"set_deterministic_debug_mode(): expected 0, 1, 2, 'default', 'warn' or 'error', got {debug_mode!r}"
        )
    _set(_CODES[int(number)])


def get_deterministic_debug_mode() -> int:
    """0 if deterministic mode is off, 1 if it warns, 2 if it is on."""
    return _CODES.index(lib.tsr_deterministic_get())


def require_deterministic(operation: str) -> None:
    """For operations outside the library whose results may differ from run to run: call it before such an operation.

    Raises NotSupportedError while deterministic mode is on, and warns in the log if it only warns.
    """
    name = operation.encode()
    check(lib.tsr_deterministic_require(name, len(name)))


def kernels() -> list[dict[str, str]]:
    """The kernels whose results depend on more than their inputs while the mode is off: their family and backend, when
    that is so, and what happens instead in deterministic mode."""
    found: list[dict[str, str]] = json.loads(text(lib.tsr_deterministic_list))
    return found


def _set(code: int) -> None:
    out("int32_t", lib.tsr_deterministic_set, code)


class _Module(types.ModuleType):
    """A module with a variable that is the library's."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        return bool(lib.tsr_deterministic_fill())

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"fill_uninitialized_memory: expected a bool, got {type(value).__name__}")
        out("int32_t", lib.tsr_deterministic_set_fill, int(value))


sys.modules[__name__].__class__ = _Module

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "kernels",
    "require_deterministic",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]
