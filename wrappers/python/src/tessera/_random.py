# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Generators of random numbers."""

from __future__ import annotations

import os
from typing import Any

from ._core import GeneratorBase, register
from ._errors import InvalidValueError, as_int, as_list
from .capi import check, ffi, handle, lib, made


class Generator(GeneratorBase):
    """A stream of random numbers; its whole state is (seed, offset)."""

    __slots__ = ()

    def __new__(cls, seed: int = 0) -> Generator:
        return super().__new__(cls, seed)

    def manual_seed(self, seed: int) -> Generator:
        """Restarts the stream from a seed."""
        check(lib.tsr_generator_seed(handle(self), as_int(seed, "seed") & (2**64 - 1)))
        return self

    def seed(self) -> int:
        """Restarts the stream from a seed of the operating system, and returns it."""
        seed = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        return self._state()[0]

    def get_state(self) -> tuple[int, int]:
        return Generator._state(self)

    def _state(self) -> tuple[int, int]:
        """Seed and offset, whatever get_state() of a class gives."""
        seed, offset = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        check(lib.tsr_generator_get_state(handle(self), seed, offset))
        return int(seed[0]), int(offset[0])

    def set_state(self, state: tuple[int, int]) -> None:
        numbers = [as_int(n, "state") for n in as_list(state, "state")]
        if len(numbers) != 2 or not all(0 <= n < 2**64 for n in numbers):
            raise InvalidValueError(f"state: expected the result of get_state(), two ints of 64 bits, got {state!r}")
        check(lib.tsr_generator_set_state(handle(self), *numbers))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self._state(),))

    def __repr__(self) -> str:
        seed, offset = self._state()
        return f"Generator(seed={seed}, offset={offset})"


def _rebuild(state: tuple[int, int]) -> Generator:
    made = Generator(state[0])
    made.set_state(state)
    return made


register(generator=Generator)
default_generator: Generator = made("tsr_generator", lib.tsr_generator_default)


def manual_seed(seed: int) -> Generator:
    """Seeds the default generator."""
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    return default_generator.initial_seed()


def get_rng_state() -> tuple[int, int]:
    return default_generator.get_state()


def set_rng_state(state: tuple[int, int]) -> None:
    default_generator.set_state(state)
