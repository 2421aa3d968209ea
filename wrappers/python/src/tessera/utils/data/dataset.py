# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data sets: anything with __getitem__ and __len__."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from ... import _ops
from ..._errors import ArgumentTypeError, InvalidValueError, NotSupportedError, OutOfRangeError, as_int, as_list
from ..._random import Generator
from ..._tensor import Tensor

T_co = TypeVar("T_co", covariant=True)


class Sized(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class Dataset(Generic[T_co]):
    """Base class of data sets; subclasses define __getitem__, and __len__ (not needed for iteration alone).

    A data set that can load several samples faster than one by one also defines __getitems__(indices), which returns a
    list of samples.
    """

    def __getitem__(self, index: int) -> T_co:
        raise NotSupportedError(f"{type(self).__name__} needs a method __getitem__")


class IterableDataset(Dataset[T_co]):
    """A data set whose samples can only be read in order; subclasses define __iter__."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotSupportedError(f"{type(self).__name__} needs a method __iter__")


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors of equal length."""

    def __init__(self, *tensors: Tensor) -> None:
        for tensor in tensors:
            if not hasattr(tensor, "__len__") or not hasattr(tensor, "__getitem__"):
                raise ArgumentTypeError(f"TensorDataset(): expected Tensors, got {type(tensor).__name__}")
        if not tensors or any(len(t) != len(tensors[0]) for t in tensors):
            raise InvalidValueError(f"expected tensors of one length, got {[len(t) for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def _batch(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        """A whole batch at once, equal to the collated samples."""
        return tuple(t[list(indices)] for t in self.tensors)


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

    def __init__(self, datasets: Sequence[Sized]) -> None:
        self.datasets = list(datasets)

    def __len__(self) -> int:
        return sum(len(d) for d in self.datasets)

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        for dataset in self.datasets:
            if 0 <= place < len(dataset):
                return dataset[place]
            place -= len(dataset)
        raise OutOfRangeError(f"index {index} is out of range for {len(self)} samples")


def random_split(dataset: Sized, lengths: Sequence[int], generator: Generator | None = None) -> list[Subset]:
    """Parts of the given lengths, drawn at random without overlap."""
    lengths = [as_int(n, "lengths") for n in as_list(lengths, "lengths")]
    if sum(lengths) != len(dataset):
        raise InvalidValueError(f"lengths: expected a sum of {len(dataset)}, got {sum(lengths)}")
    order = _ops.randperm(len(dataset), generator=generator).tolist()
    parts, start = [], 0
    for length in lengths:
        parts.append(Subset(dataset, order[start : start + length]))
        start += length
    return parts
