# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over the library's groups. "gloo" is the library's backend for processes on the CPU, "mpi"."""

from __future__ import annotations

from typing import Any

from ... import distributed as _own
from ...distributed import (
    GroupMember,
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
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    is_available,
    is_initialized,
    monitored_barrier,
    new_group,
    reduce_scatter,
    reduce_scatter_tensor,
)
from .. import _rows
from .._absent import OF_DISTRIBUTED as _ABSENT
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


def _rank_of(rank: Any, group_rank: Any, group: Any, otherwise: int | None = None) -> Any:
    """The rank among all processes of one that is given so, or by its place in the group."""
    if rank is not None and group_rank is not None:
        raise ValueError("expected a rank, or its place in the group, got both")
    if group_rank is None:
        if rank is None and otherwise is None:
            raise ValueError("expected a rank, or its place in the group, got neither")
        return otherwise if rank is None else rank
    return group_rank if group is None or group is _own.group.WORLD else _own.get_global_rank(group, group_rank)


# What takes a rank, which is one among all processes, or one of the group by another name.
_OF_RANKS = """
broadcast(tensor, src=None, group=None, async_op=False, group_src=None)
    = own.broadcast(tensor, rank_of(src, group_src, group), group, async_op)
broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None)
    = own.broadcast_object_list(object_list, rank_of(src, group_src, group, 0), group)
gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None)
    = own.gather(tensor, gather_list, rank_of(dst, group_dst, group, 0), group, async_op)
gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None)
    = own.gather_object(obj, object_gather_list, rank_of(dst, group_dst, group, 0), group)
irecv(tensor, src=None, group=None, tag=0, group_src=None)
    = own.irecv(tensor, any_or(src, group_src, group), group, tag)
isend(tensor, dst=None, group=None, tag=0, group_dst=None)
    = own.isend(tensor, rank_of(dst, group_dst, group), group, tag)
recv(tensor, src=None, group=None, tag=0, group_src=None) = own.recv(tensor, any_or(src, group_src, group), group, tag)
reduce(tensor, dst=None, op=SUM, group=None, async_op=False, group_dst=None)
    = own.reduce(tensor, rank_of(dst, group_dst, group), op, group, async_op)
scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None)
    = own.scatter(tensor, scatter_list, rank_of(src, group_src, group, 0), group, async_op)
scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None)
    = own.scatter_object_list(scatter_object_output_list, scatter_object_input_list, rank_of(src, group_src, group, 0), group)
send(tensor, dst=None, group=None, tag=0, group_dst=None) = own.send(tensor, rank_of(dst, group_dst, group), group, tag)
"""


def _any_or(src: Any, group_src: Any, group: Any) -> Any:
    """The rank of a sender, or None for whichever comes first."""
    return None if src is None and group_src is None else _rank_of(src, group_src, group)


_FUNCTIONS = _rows.functions(
    _OF_RANKS, {"own": _own, "rank_of": _rank_of, "any_or": _any_or, "SUM": ReduceOp.SUM}, "tessera.torch.distributed",
)  # fmt: skip
globals().update(_FUNCTIONS)
globals().update(_ABSENT)


class P2POp(_own.P2POp):
    """A message of batch_isend_irecv: `op` is isend or irecv."""

    def __init__(
        self, op: Any, tensor: Any, peer: Any = None, group: Any = None, tag: int = 0, group_peer: Any = None
    ) -> None:
        plain: Any = next((getattr(_own, name) for name in ("isend", "irecv") if op is _FUNCTIONS[name]), op)
        super().__init__(plain, tensor, _rank_of(peer, group_peer, group), group, tag)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
