# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""DataLoader: batches of a data set, in this process or made by workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..._core import GeneratorBase
from ..._errors import ArgumentTypeError, InvalidValueError
from ..._random import Generator
from .dataset import IterableDataset
from .fetch import Collate, fetch, pinned, stream
from .sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """Iterates over batches of a data set.

    shuffle draws a new order for each pass, from `generator` if given. With num_workers, other processes make the
    batches and pass them in shared memory, always in the order of the sampler; an exception in a worker is raised here
    with its traceback. persistent_workers keeps the processes, and their copies of the data set, from one pass to the
    next. Workers are started by spawn, or as multiprocessing_context says. With spawn and forkserver the data set,
    collate_fn and worker_init_fn must be picklable: classes and functions of a module, not of a notebook. With fork they
    need not be, but no other thread of the program may be inside a library that a fork breaks. pin_memory puts the
    tensors of a batch, at any depth of dicts and sequences, into memory pinned for pin_memory_device, in this process.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Collate | None = None,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: str | Any = None,
        generator: Generator | None = None,
        prefetch_factor: int = 2,
        persistent_workers: bool = False,
        pin_memory: bool = False,
        pin_memory_device: str = "",
    ) -> None:
        for name, value, least in ("num_workers", num_workers, 0), ("timeout", timeout, 0), ("prefetch_factor", prefetch_factor, 1):
            if value < least:
                raise InvalidValueError(f"{name}: expected at least {least}, got {value}")
        if persistent_workers and num_workers == 0:
            raise InvalidValueError("persistent_workers: expected num_workers above 0 with it, got 0")
        if generator is not None and not isinstance(generator, GeneratorBase):
            raise ArgumentTypeError(f"generator: expected a Generator, got {type(generator).__name__}")
        if sampler is not None and shuffle:
            raise InvalidValueError("sampler: expected shuffle=False with it, got True")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise InvalidValueError("batch_sampler: expected no batch_size, shuffle, sampler or drop_last with it, got one of them")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.timeout, self.prefetch_factor = num_workers, timeout, prefetch_factor
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.collate_fn = collate_fn
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self._pool: Any = None
        self._passes = 0
        self._iterable = isinstance(dataset, IterableDataset)
        if not self._iterable and not hasattr(dataset, "__getitem__"):
            raise ArgumentTypeError(f"dataset: expected one with __getitem__ and __len__, got {type(dataset).__name__}")
        if self._iterable:
            if shuffle or sampler is not None or batch_sampler is not None:
                raise InvalidValueError("dataset: an IterableDataset has its own order: expected no shuffle, sampler or batch_sampler, got one")
            self.sampler, self.batch_sampler = None, None
        else:
            default = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
            self.sampler = default if sampler is None else sampler
            self.batch_sampler = batch_sampler
            if batch_sampler is None and batch_size is not None:
                self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)

    def __len__(self) -> int:
        if self._iterable:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def __iter__(self) -> Iterator[Any]:
        if not self.pin_memory:
            return self._batches()
        return (pinned(batch, self.pin_memory_device) for batch in self._batches())

    def _batches(self) -> Iterator[Any]:
        if self.num_workers > 0:
            return self._from_workers()
        if self._iterable:
            return stream(iter(self.dataset), self.batch_size, self.drop_last, self.collate_fn)
        return (fetch(self.dataset, keys, self.collate_fn, self._batched) for keys in self._keys())

    @property
    def _batched(self) -> bool:
        return self.batch_sampler is not None

    def _keys(self) -> Iterator[Any]:
        return iter(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def _from_workers(self) -> Iterator[Any]:
        from .workers import Pool  # imports multiprocessing, which few programs need

        pool = self._pool
        if pool is None or pool.busy or not pool.usable:
            inner = pool is not None and pool.busy  # a pass within a pass has its own workers
            pool = Pool(self)
            if self.persistent_workers and not inner:
                self._pool = pool
        keys = iter(lambda: None, 0) if self._iterable else self._keys()
        try:
            yield from pool.run(keys)
        finally:
            if pool is not self._pool:
                pool.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}
