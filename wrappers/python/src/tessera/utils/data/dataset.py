# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data sets: anything with __getitem__ and __len__."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ... import _ops
from ..._errors import ArgumentTypeError, InvalidValueError, NotSupportedError, OutOfRangeError, as_int, as_list
from ..._interop import asarray
from ..._random import Generator
from ..._tensor import Tensor
from .collate import rows

T_co = TypeVar("T_co", covariant=True)


class Sized(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class NoSuchSampleError(OutOfRangeError, ValueError):
    """An IndexError, by which a loop ends, and the ValueError that PyTorch raises."""


class Dataset(Generic[T_co]):
    """Base class of data sets; subclasses define __getitem__, and __len__ (not needed for iteration alone).

    A data set that can load several samples faster than one by one also defines __getitems__(indices), which returns a
    list of samples.
    """

    def __getitem__(self, index: int) -> T_co:
        raise NotSupportedError(f"{type(self).__name__} needs a method __getitem__")

    def __add__(self, other: Any) -> Any:
        return ConcatDataset([self, other])  # type: ignore[list-item]


class IterableDataset(Dataset[T_co]):
    """A data set whose samples can only be read in order; subclasses define __iter__."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotSupportedError(f"{type(self).__name__} needs a method __iter__")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors of equal length. An array of NumPy stands for the tensor on its memory."""

    def __init__(self, *tensors: Any) -> None:
        tensors = tuple(asarray(t) if isinstance(t, np.ndarray) else t for t in tensors)
        for tensor in tensors:
            if not hasattr(tensor, "__len__") or not hasattr(tensor, "__getitem__"):
                raise ArgumentTypeError(f"TensorDataset(): expected Tensors, got {type(tensor).__name__}")
        if not tensors or any(len(t) != len(tensors[0]) for t in tensors):
            raise InvalidValueError(f"expected tensors of one length, got {[len(t) for t in tensors]}")
        self.tensors: tuple[Tensor, ...] = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getrows__(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        """A whole batch at once, equal to the collated samples."""
        return tuple(rows(t, indices) for t in self.tensors)


class Subset(Dataset[Any]):
    """Some samples of a data set."""

    def __init__(self, dataset: Sized, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Data sets one after the other."""

    def __init__(self, datasets: Iterable[Sized]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise InvalidValueError("ConcatDataset(): expected at least one data set")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise ArgumentTypeError("ConcatDataset(): expected data sets with __getitem__; ChainDataset takes iterable ones")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise NoSuchSampleError(f"index {index} is out of range for {len(self)} samples")
        part = bisect_right(self.cumulative_sizes, place)
        return self.datasets[part][place - (self.cumulative_sizes[part - 1] if part else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable data sets one after the other."""

    def __init__(self, datasets: Iterable[IterableDataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentTypeError(f"ChainDataset: expected an IterableDataset, got {type(dataset).__name__}")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)  # type: ignore[arg-type, misc]


class StackDataset(Dataset[Any]):
    """Data sets of equal length side by side: samples are tuples, or dicts for data sets given by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise InvalidValueError("StackDataset(): expected data sets either in order or by name")
        self.datasets: Any = kwargs or args
        sizes = [len(d) for d in (kwargs.values() if kwargs else args)]
        if len(set(sizes)) != 1:
            raise InvalidValueError(f"StackDataset(): expected data sets of one length, got {sizes}")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return len(next(iter(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)))


def random_split(dataset: Sized, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Parts of the given lengths, or of the given fractions of the data set, drawn at random without overlap."""
    counts = _counts(len(dataset), as_list(lengths, "lengths"))
    if sum(counts) != len(dataset):
        raise InvalidValueError(f"lengths: expected a sum of {len(dataset)}, got {sum(counts)}")
    order = _ops.randperm(len(dataset), generator=generator).tolist()
    return [Subset(dataset, order[end - count : end]) for count, end in zip(counts, accumulate(counts))]


def _counts(size: int, lengths: Any) -> list[int]:
    """The lengths of the parts; what fractions leave over goes to the first parts, one sample each."""
    if not any(isinstance(n, float) for n in lengths):
        return [as_int(n, "lengths") for n in lengths]
    if not math.isclose(sum(lengths), 1):
        raise InvalidValueError(f"lengths: expected fractions with a sum of 1, got {list(lengths)}")
    if any(not 0 <= part <= 1 for part in lengths):
        raise InvalidValueError(f"lengths: expected fractions from 0 to 1, got {list(lengths)}")
    counts = [math.floor(size * part) for part in lengths]
    for place in range(size - sum(counts)):
        counts[place % len(counts)] += 1
    return counts
