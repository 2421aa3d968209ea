# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""From the numbers of samples to a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..._core import TensorBase
from .collate import default_collate

Collate = Callable[[list[Any]], Any]


def fetch(dataset: Any, keys: Any, collate: Collate | None, batched: bool) -> Any:
    """One batch of the samples `keys`; unless `batched` one sample, whose key is `keys`, of any type."""
    if not batched:
        sample = dataset[keys]
        return sample if collate is None else collate(sample)
    keys = keys if isinstance(keys, (list, tuple)) else list(keys)
    method = many(type(dataset))
    if method == "__getrows__" and collate is None:
        return dataset.__getrows__(keys)
    samples = dataset.__getitems__(keys) if method == "__getitems__" else [dataset[k] for k in keys]
    return (collate or default_collate)(samples)


def many(kind: type) -> str:
    """The method that returns several samples of a data set of this class: the one that the most derived class defines,
    so that __getitem__ is called for each sample if a subclass defines only that."""
    for base in kind.__mro__:
        for name in ("__getrows__", "__getitems__", "__getitem__"):
            if name in base.__dict__:
                return name
    return "__getitem__"


def pinned(batch: Any, device: str = "") -> Any:
    """The batch with its tensors, and other objects that have pin_memory, in memory pinned for the device."""
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory(device) if device and isinstance(batch, TensorBase) else batch.pin_memory()
    if isinstance(batch, Mapping):
        return type(batch)({key: pinned(value, device) for key, value in batch.items()})  # type: ignore[call-arg]
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(pinned(part, device) for part in batch))
    return type(batch)(pinned(part, device) for part in batch) if isinstance(batch, (list, tuple)) else batch


def stream(samples: Iterator[Any], size: int | None, drop_last: bool, collate: Collate | None) -> Iterator[Any]:
    """Batches of consecutive samples; without a size single samples."""
    if size is None:
        for sample in samples:
            yield sample if collate is None else collate(sample)
        return
    batch: list[Any] = []
    for sample in samples:
        batch.append(sample)
        if len(batch) == size:
            yield (collate or default_collate)(batch)
            batch = []
    if batch and not drop_last:
        yield (collate or default_collate)(batch)
