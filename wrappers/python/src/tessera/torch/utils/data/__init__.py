# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data: the library's data sets, samplers and loader, with PyTorch's tensors in the batches."""

from __future__ import annotations

import sys
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
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
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
    """Iterates over batches of a data set. Workers are started by forkserver or spawn, so the data set must be
    picklable; they import the program anew, where `torch` is not this package. Therefore a program that was started by
    `python -m tessera.torch` has none."""

    def __init__(
        self, dataset: Any, batch_size: Any = 1, shuffle: Any = None, sampler: Any = None, batch_sampler: Any = None,
        num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Any = None, multiprocessing_context: Any = None, generator: Any = None, *,
        prefetch_factor: Any = None, persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:
        if num_workers and getattr(sys.modules.get("torch"), "__name__", "") == "tessera.torch":
            warnings.warn("DataLoader: workers would import another torch, so this process loads the data", stacklevel=2)
            num_workers, persistent_workers, timeout = 0, False, 0
        if pin_memory and not cuda.is_available():
            warnings.warn("DataLoader: pin_memory=True without CUDA, so the memory is not pinned", stacklevel=2)
            pin_memory = False
        if collate_fn is None and not hasattr(type(dataset), "_batch"):
            collate_fn = default_convert if batch_size is None and batch_sampler is None else default_collate
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
