# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over the library's groups. "gloo" is the library's backend for processes on the CPU, "mpi"."""

from __future__ import annotations

from typing import Any

from ... import distributed as _own
from ...distributed import (
    GroupMember,
    P2POp,
    ProcessGroup,
    ReduceOp,
    Work,
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    destroy_process_group,
    gather,
    gather_object,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    irecv,
    is_available,
    is_initialized,
    isend,
    monitored_barrier,
    new_group,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    scatter_object_list,
    send,
)
from .._namespace import lookup
from . import nn

__all__ = [
    "GroupMember", "P2POp", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor", "all_gather_object",
    "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend", "get_global_rank",
    "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "irecv",
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "isend",
    "monitored_barrier", "new_group", "nn", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
    "scatter_object_list", "send",
]  # fmt: skip

_OWN = {"gloo": "mpi", "cpu:gloo": "mpi"}


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Begins the default group. mpirun starts the processes, so `init_method` and `store` are not needed for "gloo"."""
    own = _OWN.get(backend or "gloo", backend)
    if own == "mpi":  # which knows rank and size better
        world_size = rank = -1
    address = None if init_method == "env://" else init_method
    _own.init_process_group(own, address, timeout, world_size, rank, device_id=device_id)


def is_mpi_available() -> bool:
    """True: the plugin says otherwise when a group asks for it."""
    return True


def is_gloo_available() -> bool:
    """True: programs for gloo run over MPI."""
    return True


def is_nccl_available() -> bool:
    """True: as is_mpi_available."""
    return True


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
