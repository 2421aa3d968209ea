# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The batches that are being run: one level for each vmap around the code that runs now, on each thread its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .. import _core


class Level:
    """One running vmap: how many samples it has, and what random numbers mean in it."""

    __slots__ = ("alive", "depth", "randomness", "samples")

    def __init__(self, size: int, randomness: str, depth: int) -> None:
        self.samples, self.randomness, self.depth = size, randomness, depth
        self.alive = True

    def __repr__(self) -> str:
        return f"<level {self.depth} of vmap, {self.samples} samples>"


class _State(threading.local):
    def __init__(self) -> None:
        self.stack: list[Level] = []
        self.visible = 0  # how many of them random functions look at
        self.gradients = 0  # transforms around that differentiate what runs now
        self.forward: list[bool] = []  # of each transform around that differentiates, whether it does in forward mode


_state = _State()


def active() -> tuple[Level, ...]:
    """The levels of this thread, the outermost first."""
    return tuple(_state.stack)


def visible() -> Level | None:
    """The innermost level that random functions have to look at."""
    return _state.stack[_state.visible - 1] if _state.visible else None


def _show(count: int) -> None:
    _state.visible = count
    _core.redirect_random(count > 0)


@contextmanager
def entered(size: int, randomness: str) -> Iterator[Level]:
    level = Level(size, randomness, len(_state.stack) + 1)
    before = _state.visible
    _state.stack.append(level)
    _show(len(_state.stack))
    try:
        yield level
    finally:
        level.alive = False
        _state.stack.pop()
        _show(before)


@contextmanager
def outside() -> Iterator[None]:
    """Hides the innermost visible level from random functions."""
    before = _state.visible
    _show(before - 1)
    try:
        yield
    finally:
        _show(before)


@contextmanager
def hidden() -> Iterator[None]:
    """Hides all levels from random functions: what runs draws no numbers, or its caller has dealt with it."""
    before = _state.visible
    _show(0)
    try:
        yield
    finally:
        _show(before)


def differentiating() -> bool:
    return _state.gradients > 0


@contextmanager
def differentiated() -> Iterator[None]:
    """Code whose results are differentiated: gradients inside must be recorded, too."""
    _state.gradients += 1
    _state.forward.append(False)
    try:
        yield
    finally:
        _state.forward.pop()
        _state.gradients -= 1


@contextmanager
def pushed() -> Iterator[None]:
    """Code through which forward mode goes."""
    _state.forward.append(True)
    try:
        yield
    finally:
        _state.forward.pop()


def innermost_is_forward() -> bool | None:
    """Whether the innermost transform that differentiates what runs now does so in forward mode; None if there is none."""
    return _state.forward[-1] if _state.forward else None
