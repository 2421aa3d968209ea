# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.random, and the generators of torch."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _random
from .._core import GeneratorBase, TensorBase
from .._device import CPU, Device, device_of
from .._dtypes import uint8
from .._errors import ArgumentTypeError
from .._interop import from_bytes
from .._random import initial_seed
from ._namespace import lookup
from ._tensor import made

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


_STATE = struct.Struct("<QQ")  # seed and offset


def _as_bytes(state: tuple[int, int]) -> Any:
    """A state as PyTorch gives it, a tensor of bytes."""
    return made(from_bytes(bytearray(_STATE.pack(*state)), uint8, (_STATE.size,)))


def _as_state(given: Any) -> tuple[int, int]:
    if isinstance(given, tuple):
        return given[0], given[1]
    if not isinstance(given, TensorBase):
        raise ArgumentTypeError(f"set_rng_state(): expected a tensor of bytes, got {type(given).__name__}")
    return _unpacked(given.tolist())


def _unpacked(state: list[int]) -> tuple[int, int]:
    first, second = _STATE.unpack(bytes(state))
    return first, second


class Generator(_random.Generator):
    """A stream of random numbers. Its numbers are the library's, not PyTorch's."""

    __slots__ = ()

    def __new__(cls, device: Any = "cpu") -> Any:
        device_of(device)
        return super().__new__(cls, 67280421310721)

    @property
    def device(self) -> Device:
        return CPU

    def get_state(self) -> Any:
        return _as_bytes(self._state())

    def set_state(self, new_state: Any) -> None:
        super().set_state(_as_state(new_state))

    def __reduce__(self) -> Any:
        return _rebuilt, (list(_STATE.pack(*self._state())),)

    def clone_state(self) -> Any:
        """Another generator in the same state."""
        twin = Generator()
        twin.set_state(self.get_state())
        return twin


def _rebuilt(state: list[int]) -> Generator:
    """A generator from its pickle."""
    made_ = Generator()
    _random.Generator.set_state(made_, _unpacked(state))
    return made_


default_generator: Generator = GeneratorBase.__new__(Generator, _random.default_generator)


def get_rng_state() -> Any:
    """The state of the default generator, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Sets the state of the default generator."""
    default_generator.set_state(new_state)


def manual_seed(seed: int) -> Any:
    """Seeds the default generator."""
    return default_generator.manual_seed(int(seed))


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
