# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives and messages. Ranks in `src` and `dst` are those of the default group, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._core import TensorBase
from .._errors import ArgumentTypeError, InvalidValueError, as_int
from ..capi import ffi, handle, handles, lib
from ._group import Group, ProcessGroup, ReduceOp, Seconds, Work, group_or_default

if TYPE_CHECKING:
    from .._tensor import Tensor


def _tensors(given: Any, name: str) -> list[Any]:
    listed = list(given) if isinstance(given, (list, tuple)) else None
    if listed is None or not all(isinstance(one, TensorBase) for one in listed):
        raise ArgumentTypeError(f"{name}: expected a list of Tensors, got {type(given).__name__}")
    return listed


def _tensor(given: Any, name: str) -> Any:
    if not isinstance(given, TensorBase):
        raise ArgumentTypeError(f"{name}: expected a Tensor, got {type(given).__name__}")
    return handle(given)  # type: ignore[arg-type]


def _started(work: Work, async_op: bool) -> Work | None:
    if async_op:
        return work
    work.wait()
    return None


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Reduces the tensor element by element over all ranks, in place."""
    _tensor(tensor, "tensor")
    return all_reduce_coalesced([tensor], op, group, async_op)


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """all_reduce of several tensors; those of one dtype and device travel together."""
    members = group_or_default(group)
    if members is None:
        return None
    listed = _tensors(tensors, "tensors")
    return _started(members.start(lib.tsr_group_all_reduce, handles(listed), len(listed), int(op)), async_op)


def reduce(
    tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """all_reduce with the result only at rank `dst`; elsewhere the tensor stays as it is."""
    members = group_or_default(group)
    if members is None:
        return None
    root = members.member(as_int(dst, "dst"), "dst")
    return _started(members.start(lib.tsr_group_reduce, _tensor(tensor, "tensor"), int(op), root), async_op)


def broadcast(tensor: Tensor, src: int, group: Group = None, async_op: bool = False) -> Work | None:
    """Copies the tensor of rank `src` into those of the other ranks."""
    members = group_or_default(group)
    if members is None:
        return None
    _tensor(tensor, "tensor")
    root = members.member(as_int(src, "src"), "src")
    return _started(members.start(lib.tsr_group_broadcast, handles([tensor]), 1, root), async_op)


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Collects every rank's tensor on every rank: one in the list for each rank."""
    members = group_or_default(group)
    if members is None:
        return None
    listed = _of_ranks(tensor_list, members, "tensor_list")
    work = members.start(lib.tsr_group_all_gather, handles(listed), len(listed), _tensor(tensor, "tensor"))
    return _started(work, async_op)


def _of_ranks(given: Any, members: ProcessGroup, name: str) -> list[Any]:
    listed = _tensors(given, name)
    if len(listed) != members.size():
        raise InvalidValueError(f"{name}: expected one tensor for each of {members.size()} ranks, got {len(listed)}")
    return listed


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """all_gather into one tensor, which has the elements of all ranks in their order."""
    members = group_or_default(group)
    if members is None:
        return None
    _tensor(output_tensor, "output_tensor")
    given = _tensor(input_tensor, "input_tensor")
    return _started(members.start(lib.tsr_group_all_gather, handles([output_tensor]), 1, given), async_op)


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Reduces the ranks' lists element by element; each rank gets the tensor of its number."""
    members = group_or_default(group)
    if members is None:
        return None
    listed = _of_ranks(input_list, members, "input_list")
    result = _tensor(output, "output")
    work = members.start(lib.tsr_group_reduce_scatter, result, handles(listed), len(listed), int(op))
    return _started(work, async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """reduce_scatter of one tensor, whose parts lie in the order of ranks."""
    members = group_or_default(group)
    if members is None:
        return None
    _tensor(input, "input")
    result = _tensor(output, "output")
    return _started(members.start(lib.tsr_group_reduce_scatter, result, handles([input]), 1, int(op)), async_op)


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int = 0,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Collects every rank's tensor at rank `dst`, which gives a list."""
    members = group_or_default(group)
    if members is None:
        return None
    listed = _tensors(gather_list or [], "gather_list")
    root = members.member(as_int(dst, "dst"), "dst")
    work = members.start(lib.tsr_group_gather, handles(listed), len(listed), _tensor(tensor, "tensor"), root)
    return _started(work, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int = 0,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Gives each rank one tensor of the list of rank `src`."""
    members = group_or_default(group)
    if members is None:
        return None
    listed = _tensors(scatter_list or [], "scatter_list")
    root = members.member(as_int(src, "src"), "src")
    work = members.start(lib.tsr_group_scatter, _tensor(tensor, "tensor"), handles(listed), len(listed), root)
    return _started(work, async_op)


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Gives rank r the r-th input of every rank. Shapes may differ."""
    members = group_or_default(group)
    if members is None:
        return None
    outputs = _of_ranks(output_tensor_list, members, "output_tensor_list")
    inputs = _of_ranks(input_tensor_list, members, "input_tensor_list")
    work = members.start(lib.tsr_group_all_to_all, handles(outputs), len(outputs), handles(inputs), len(inputs))
    return _started(work, async_op)


def _splits(given: Sequence[int] | None, name: str) -> tuple[Any, int]:
    if not given:
        return ffi.NULL, -1
    return ffi.new("int64_t[]", [as_int(size, name) for size in given]), len(given)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """all_to_all of parts of one tensor along axis 0; without sizes the parts are equal."""
    members = group_or_default(group)
    if members is None:
        return None
    received, sent = _splits(output_split_sizes, "output_split_sizes"), _splits(input_split_sizes, "input_split_sizes")
    work = members.start(
        lib.tsr_group_all_to_all_single, _tensor(output, "output"), _tensor(input, "input"), *received, *sent
    )
    return _started(work, async_op)


def barrier(group: Group = None, async_op: bool = False) -> Work | None:
    """Returns when every rank has called it."""
    members = group_or_default(group)
    return None if members is None else _started(members.start(lib.tsr_group_barrier), async_op)


def monitored_barrier(group: Group = None, timeout: Seconds | None = None, wait_all_ranks: bool = False) -> None:
    """A barrier with a time limit of its own."""
    members = group_or_default(group)
    if members is not None:
        members.start(lib.tsr_group_barrier).wait(timeout)


# ---- messages ----


def isend(tensor: Tensor, dst: int, group: Group = None, tag: int = 0) -> Work | None:
    """Sends a tensor to one rank; the tensor must not change until wait() has returned."""
    members = group_or_default(group)
    if members is None:
        return None
    peer = members.member(as_int(dst, "dst"), "dst")
    return members.start(lib.tsr_group_send, _tensor(tensor, "tensor"), peer, as_int(tag, "tag"))


def irecv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0) -> Work | None:
    """Receives a tensor from one rank, or from whichever sends first."""
    members = group_or_default(group)
    if members is None:
        return None
    peer = lib.tsr_none() if src is None else members.member(as_int(src, "src"), "src")
    return members.start(lib.tsr_group_recv, _tensor(tensor, "tensor"), peer, as_int(tag, "tag"))


def send(tensor: Tensor, dst: int, group: Group = None, tag: int = 0) -> None:
    """isend, and waits."""
    work = isend(tensor, dst, group, tag)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0) -> int:
    """irecv, and waits; returns the rank that sent."""
    work = irecv(tensor, src, group, tag)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """A message for batch_isend_irecv: isend or irecv, its tensor and its peer."""

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int, group: Group = None, tag: int = 0) -> None:
        if op not in (isend, irecv):
            raise InvalidValueError("op: expected isend or irecv")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Starts all messages of a list and returns what to wait for."""
    started = [one.op(one.tensor, one.peer, one.group, one.tag) for one in p2p_op_list]
    return [work for work in started if work is not None]
