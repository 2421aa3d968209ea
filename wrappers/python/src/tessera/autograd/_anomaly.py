# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Anomaly mode: errors of a backward say where the forward was called."""

from __future__ import annotations

from types import TracebackType

from .._core import set_anomaly
from ..capi import lib


def is_anomaly_enabled() -> bool:
    """Whether this thread is in anomaly mode."""
    return bool(lib.tsr_anomaly_mode() & lib.TSR_ANOMALY_ENABLED)


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a backward of this thread fails at the first nan that a node makes."""
    return bool(lib.tsr_anomaly_mode() & lib.TSR_ANOMALY_CHECK_NAN)


class set_detect_anomaly:  # noqa: N801
    """set_detect_anomaly(mode, check_nan=True): switches anomaly mode on this thread at once; as a context manager, only
    for the block.

    In the mode, every node keeps the call stack of its forward in its metadata. A backward that fails says where the
    forward of the failing node was called, and, with `check_nan`, fails when a node returns nan though the gradients that
    it got have none. The mode makes every function slower; use it to find errors.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        flags = lib.TSR_ANOMALY_ENABLED | (lib.TSR_ANOMALY_CHECK_NAN if check_nan else 0)
        self._before = set_anomaly(flags if mode else 0)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_anomaly(self._before)


class detect_anomaly:  # noqa: N801
    """detect_anomaly(check_nan=True): anomaly mode for a block, see set_detect_anomaly.

    with autograd.detect_anomaly():
        loss = model(x).sum()
        loss.backward()
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self._entered: list[set_detect_anomaly] = []

    def __enter__(self) -> None:
        self._entered.append(set_detect_anomaly(True, self.check_nan))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.pop().__exit__(kind, error, trace)
