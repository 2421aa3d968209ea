# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The standard library's multiprocessing, whose queues, pipes and arguments of processes send tensors by handle.

Importing this module registers the tensors with multiprocessing's pickler. A tensor that is sent moves to shared memory
once; then only a handle goes to the other process, and both see each other's writes. While a NumPy array uses its memory a
tensor cannot move, and sending it is an error. Views of one storage stay views of one storage. A gradient that is there is
shared too. Works with spawn, forkserver and fork; a process that was forked computes on one thread.
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403
from collections.abc import Sequence
from typing import Any

from .. import _shared
from .._dtypes import DType
from .._shared import Handle as SharedHandle
from .._tensor import Tensor
from . import _reductions
from ._spawn import ProcessContext, ProcessFailedError, ProcessExitedError, ProcessRaisedError, spawn, start_processes

__all__ = [
    "ProcessContext", "ProcessFailedError", "ProcessExitedError", "ProcessRaisedError", "get_all_sharing_strategies",
    "from_shared", "get_sharing_strategy", "ipc_collect", "set_sharing_strategy", "shared_handle", "shared_memory_counts", "SharedHandle",
    "spawn", "start_processes",
]  # fmt: skip
__all__ += [name for name in _standard.__all__ if name not in __all__]

_reductions.register()


def set_sharing_strategy(new_strategy: str) -> None:
    """Sets for this process how tensors are shared from now on: "file_descriptor" sends descriptors of anonymous files,
    "file_system" names in /dev/shm, for programs with very many tensors or sockets that pass no descriptors."""
    _shared.strategy = _shared.known(new_strategy)


def get_sharing_strategy() -> str:
    return _shared.strategy


def get_all_sharing_strategies() -> set[str]:
    return set(_shared.STRATEGIES)


def ipc_collect() -> int:
    """Gives up device memory that was sent and that no other process uses any more; returns how many storages. This
    also happens by itself when memory is sent and when it runs out."""
    return _shared.ipc_collect()


def shared_memory_counts() -> dict[str, int]:
    """The shared memory that this process has mapped: blocks, nbytes, and descriptors that are kept open."""
    return _shared.counts()


def shared_handle(tensor: Tensor) -> SharedHandle:
    """What a process of any language needs to open the memory of a tensor after share_memory_(). The tensor keeps the
    memory alive; the file descriptor is the tensor's, so duplicate it or let the other process inherit it."""
    return _shared.exported(tensor)


def from_shared(
    handle: SharedHandle, shape: Sequence[int], dtype: DType, offset: int = 0, strides: Sequence[int] | None = None
) -> Tensor:
    """A tensor on shared memory; offset and strides are in elements. Without strides it is row-major."""
    steps = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        steps[axis - 1] = steps[axis] * shape[axis]
    made: Tensor = _shared.opened(handle, offset, shape, steps if strides is None else strides, dtype)
    return made


def __getattr__(name: str) -> Any:
    """The submodules of multiprocessing: `from tessera.multiprocessing import reduction`."""
    return getattr(_standard, name)
