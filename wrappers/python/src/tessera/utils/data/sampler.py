# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The order in which samples are loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ... import _ops
from ..._dtypes import float64
from ..._errors import InvalidValueError, NotSupportedError, as_int
from ..._interop import asarray
from ..._random import Generator
from .dataset import Sized

_AT_ONCE = 1024  # indices that are drawn together: a program may ask for billions and stop early


class Sampler:
    """Base class of samplers; iterating yields indices."""

    def __iter__(self) -> Iterator[Any]:
        raise NotSupportedError(f"{type(self).__name__} needs a method __iter__")


class SequentialSampler(Sampler):
    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Every sample once, in a new random order each time; or `num_samples`: drawn with replacement, or from one random order
    after the other."""

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._wanted = num_samples

    @property
    def num_samples(self) -> int:
        """How many each pass has: without a number given, as many as the data set has now."""
        return len(self.data_source) if self._wanted is None else self._wanted

    def __iter__(self) -> Iterator[int]:
        count, rest = len(self.data_source), self.num_samples
        while count and rest > 0:
            if self.replacement:
                drawn = _ops.randint(0, count, (min(rest, _AT_ONCE),), generator=self.generator).tolist()
            else:
                drawn = _ops.randperm(count, generator=self.generator).tolist()[:rest]
            yield from drawn
            rest -= len(drawn)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in a new random order each time."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = _ops.randperm(len(self.indices), generator=self.generator).tolist()
        return (self.indices[place] for place in order)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` indices drawn with the given weights, which need not sum to 1."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        if as_int(num_samples, "num_samples") < 1:
            raise InvalidValueError(f"num_samples: expected at least 1, got {num_samples}")
        self.weights = asarray(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise InvalidValueError(f"weights: expected one axis, got the shape {tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = _ops.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of indices."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool = False) -> None:
        if as_int(batch_size, "batch_size") < 1:
            raise InvalidValueError(f"batch_size: expected at least 1, got {batch_size}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
