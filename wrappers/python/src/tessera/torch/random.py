# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.random, and the generators of torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _random
from .._device import CPU, Device, device_of
from .._random import default_generator, get_rng_state, initial_seed, set_rng_state
from ._namespace import lookup

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


class Generator(_random.Generator):
    """A stream of random numbers. Its numbers are the library's, not PyTorch's."""

    __slots__ = ()

    def __new__(cls, device: Any = "cpu") -> Any:
        device_of(device)
        return super().__new__(cls, 67280421310721)

    @property
    def device(self) -> Device:
        return CPU


def manual_seed(seed: int) -> Any:
    """Seeds the default generator."""
    return _random.manual_seed(int(seed))


def seed() -> int:
    """Seeds the default generator from the operating system."""
    return default_generator.seed()


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **_: Any) -> Iterator[None]:
    """Restores the state of the default generator at the end of the block."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
