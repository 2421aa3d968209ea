# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Random indices of every kind, mixed, for reading and writing, against NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tessera as ts

CASES = 400  # of each seed


def random_array(rng: random.Random) -> Any:
    """Distinct numbers in some memory layout; now and then an empty array."""
    shape = [rng.choice([1, 2, 3, 4, 5,
                         5 if rng.random() < 0.9 else 0]) for _ in range(rng.randint(1, 5))]
    array = np.arange(int(np.prod(shape)), dtype=rng.choice(["f4", "i8", "f8"])).reshape(shape)
    if rng.random() < 0.3:
        return array.transpose(rng.sample(range(array.ndim), array.ndim))
    if rng.random() < 0.3:
        return array[tuple(slice(None, None, rng.choice([1, -1, 2])) for _ in shape)]
    return array


class RandomIndex:
    """An index of an array of some shape, item by item; arrays in it broadcast together."""

    def __init__(self, rng: random.Random, shape: tuple[int, ...]) -> None:
        self.rng, self.shape, self.axis = rng, shape, 0
        self.joint = [rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 2))]
        self.items: list[Any] = []
        makers = [self.integer, self.span, self.span, self.new_axis, self.array, self.array,
                  self.mask]
        while self.axis < len(shape) and rng.random() < 0.85:
            rng.choice(makers)()
        if rng.random() < 0.3 and self.axis < len(shape):
            self.items.append(...)

    @property
    def value(self) -> tuple[Any, ...]:
        return tuple(self.items)

    def integer(self) -> None:
        size = self.shape[self.axis]
        if size > 0:
            self.items.append(self.rng.randrange(-size, size))
            self.axis += 1

    def span(self) -> None:
        size = self.shape[self.axis]
        start, stop = (self.rng.choice([None,
                                        self.rng.randint(-size - 2, size + 2)]) for _ in range(2))
        self.items.append(slice(start, stop, self.rng.choice([None, 1, 2, -1, -2, 3])))
        self.axis += 1

    def new_axis(self) -> None:
        self.items.append(None)

    def array(self) -> None:
        size = self.shape[self.axis]
        if size > 0:
            shape = self.joint[self.rng.randint(0, len(self.joint)) :]
            numbers = [self.rng.randrange(-size, size) for _ in range(int(np.prod(shape)))]
            self.items.append(np.array(numbers, self.rng.choice(["i8", "i4"])).reshape(shape))
            self.axis += 1

    def mask(self) -> None:
        count = self.rng.randint(0, min(2, len(self.shape) - self.axis))
        shape = self.shape[self.axis : self.axis + count]
        bits = [self.rng.random() < 0.5 for _ in range(int(np.prod(shape)))]
        self.items.append(np.array(bits, bool).reshape(shape))
        self.axis += count


def for_tensors(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(ts.asarray(i) if isinstance(i, np.ndarray) else i for i in index)


def expected_read(array: Any, index: tuple[Any, ...]) -> Any:
    """What NumPy reads; None where the index arrays do not broadcast together."""
    try:
        return array[index]
    except IndexError:
        return None


@pytest.mark.parametrize("seed", range(5))
def test_reading_and_writing_agree_with_numpy(seed: int) -> None:
    rng = random.Random(seed)
    for number in range(CASES):
        array = random_array(rng)
        index = RandomIndex(rng, array.shape).value
        where = f"seed {seed}, case {number}: {array.shape} {array.strides} {index}"
        expected = expected_read(array, index)
        tensor = ts.from_numpy(array)
        if expected is None:
            with pytest.raises(IndexError):
                tensor[for_tensors(index)]
            continue
        np.testing.assert_array_equal(tensor[for_tensors(index)].numpy(), expected, where)
        shape = [rng.choice([n, n, 1]) for n in np.shape(expected)]
        shape = shape[rng.randint(0, len(shape)) :]
        value = 1000 + np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
        changed = array.copy()
        written = ts.from_numpy(array.copy())
        if not distinct(array, index):
            continue  # which of several values wins is NumPy's secret
        changed[index] = value
        written[for_tensors(index)] = ts.asarray(value)
        np.testing.assert_array_equal(written.numpy(), changed, where)


def distinct(array: Any, index: tuple[Any, ...]) -> bool:
    places = np.arange(array.size).reshape(array.shape)[index]
    return len(np.unique(places)) == places.size
