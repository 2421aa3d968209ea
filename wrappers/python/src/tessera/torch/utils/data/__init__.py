# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data: the library's data sets, samplers and loader, with PyTorch's tensors in the batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ....utils import data as _data
from ....utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    Dataset,
    DistributedSampler,
    IterableDataset,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)
from ....utils.data.fetch import many
from ... import cuda
from ..._namespace import lookup
from ..._tensor import retyped
from . import _utils, distributed  # noqa: F401 (torch.utils.data._utils and .distributed)
from ._utils.collate import default_collate, default_convert

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset",
    "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip


class RandomSampler(_data.RandomSampler):
    __doc__ = _data.RandomSampler.__doc__

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement: expected a bool, got {replacement!r}")
        super().__init__(data_source, replacement, num_samples, generator)
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples: expected at least 1, got {self.num_samples}")


class TensorDataset(_data.TensorDataset):
    __doc__ = _data.TensorDataset.__doc__

    def __init__(self, *tensors: Any) -> None:
        if len({len(tensor) for tensor in tensors}) > 1:
            raise AssertionError(f"Size mismatch between tensors: {[len(tensor) for tensor in tensors]}")
        super().__init__(*tensors)
        self.tensors = retyped(self.tensors)


# What a loader was made of.
_FIXED = frozenset(["batch_sampler", "batch_size", "dataset", "drop_last", "persistent_workers", "sampler"])


class DataLoader(_data.DataLoader):
    """Iterates over batches of a data set. Workers start as Python's multiprocessing starts processes, on Linux by fork before
    Python 3.14; another `multiprocessing_context` needs what can be pickled."""

    def __init__(
        self, dataset: Any, batch_size: Any = 1, shuffle: Any = None, sampler: Any = None, batch_sampler: Any = None,
        num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Any = None, multiprocessing_context: Any = None, generator: Any = None, *,
        prefetch_factor: Any = None, persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:
        if num_workers and multiprocessing_context is None:
            import multiprocessing  # few programs need it

            multiprocessing_context = multiprocessing.get_start_method()
        if pin_memory and not cuda.is_available():
            warnings.warn("DataLoader: pin_memory=True without CUDA, so the memory is not pinned", stacklevel=2)
            pin_memory = False
        self._joined = collate_fn is None and many(type(dataset)) == "__getrows__"  # the data set makes the batches
        if collate_fn is None and not self._joined:
            collate_fn = default_convert if batch_size is None and batch_sampler is None else default_collate
        if batch_size is None and batch_sampler is None and drop_last:
            raise ValueError("batch_size=None makes no batches, so there is no last one to drop")
        if prefetch_factor is not None and not num_workers:
            raise ValueError("prefetch_factor: expected None without num_workers")
        if shuffle and sampler is None and batch_sampler is None and not isinstance(dataset, IterableDataset):
            sampler, shuffle = RandomSampler(dataset, generator=generator), False
        self.in_order = in_order
        super().__init__(
            dataset, batch_size, bool(shuffle), sampler, batch_sampler, num_workers, collate_fn, drop_last, timeout,
            worker_init_fn, multiprocessing_context, generator, 2 if prefetch_factor is None else prefetch_factor,
            persistent_workers, pin_memory, pin_memory_device,
        )  # fmt: skip
        if not num_workers:
            self.prefetch_factor: Any = None
        if batch_sampler is not None:
            self.batch_size = None

        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_made" in self.__dict__:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Any:
        return _Batches(self, super().__iter__())


class _Batches:
    """The iterator of a loader, which knows how many batches that has."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]) -> None:
        self._loader, self._batches = loader, batches

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:
        batch = retyped(next(self._batches))
        return list(batch) if self._loader._joined and type(batch) is tuple else batch

    def __len__(self) -> int:
        return len(self._loader)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__}, files=("dataloader", "dataset", "sampler"))
