# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data: the library's data sets, samplers and loader, with PyTorch's tensors in the batches."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...._core import TensorBase
from ...._dtypes import float64
from ...._interop import asarray
from ....utils import data as _data
from ....utils.data.collate import stack_arrays, stack_tensors
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
from ... import cuda
from ..._namespace import lookup
from ..._tensor import retyped

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


def default_collate(batch: Any) -> Any:
    """One batch of samples: tensors, arrays and numbers are stacked, also inside sequences and dicts."""
    first = batch[0]
    if isinstance(first, TensorBase):
        return retyped(stack_tensors(batch))
    if isinstance(first, (np.ndarray, np.generic)):
        return retyped(stack_arrays(batch))
    if isinstance(first, (bool, int, float)):
        return retyped(asarray(list(batch), dtype=float64 if isinstance(first, float) else None))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if not isinstance(first, (tuple, list)):
        raise TypeError(f"default_collate: expected tensors, arrays, numbers, dicts or lists, got {type(first).__name__}")
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [default_collate(list(part)) for part in zip(*batch)]
    return type(first)(*parts) if hasattr(first, "_fields") else parts


def default_convert(data: Any) -> Any:
    """The data with arrays as tensors."""
    return retyped(_data.default_convert(data))


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
            multiprocessing_context = multiprocessing.get_start_method()
        if pin_memory and not cuda.is_available():
            warnings.warn("DataLoader: pin_memory=True without CUDA, so the memory is not pinned", stacklevel=2)
            pin_memory = False
        if collate_fn is None and not hasattr(type(dataset), "_batch"):
            collate_fn = default_convert if batch_size is None and batch_sampler is None else default_collate
        if shuffle and sampler is None and batch_sampler is None and not isinstance(dataset, IterableDataset):
            sampler, shuffle = RandomSampler(dataset, generator=generator), False
        self.in_order = in_order
        super().__init__(
            dataset, batch_size, bool(shuffle), sampler, batch_sampler, num_workers, collate_fn, drop_last, timeout,
            worker_init_fn, multiprocessing_context, generator, 2 if prefetch_factor is None else prefetch_factor,
            persistent_workers, pin_memory, pin_memory_device,
        )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        return map(_batch, super().__iter__())


def _batch(batch: Any) -> Any:
    """A batch with PyTorch's tensors, in a list where a TensorDataset makes it at once."""
    made = retyped(batch)
    return list(made) if type(made) is tuple else made


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
