# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives that return new tensors and have derivatives, which are collectives themselves.

The derivative is that of the sum of all ranks' losses. A result requires grad on all ranks if the input of one rank does; the
backward must then run on every rank, and grad mode must be equal on all. Ranks in `src` and `dst` are those of the default
group. Unlike PyTorch's, the functions write none of their arguments: `output` and `output_tensor_list` tell shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import _ops
from ..._core import TensorBase
from ..._errors import ArgumentTypeError, InvalidValueError, as_int
from ...capi import handle, lib, made
from .._collectives import _of_ranks, _splits, _tensor
from .._group import Group, ProcessGroup, ReduceOp, group_or_default

if TYPE_CHECKING:
    from ..._tensor import Tensor

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "recv", "reduce", "reduce_scatter", "send",
]  # fmt: skip


def _members(group: Group) -> ProcessGroup:
    found = group_or_default(group)
    if found is None:
        raise InvalidValueError("group: expected one that has this rank, got one without it")
    return found


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The reduction of the ranks' tensors. MIN and MAX share the gradient among equal elements."""
    given = _tensor(tensor, "tensor")
    found: Tensor = made("tsr_tensor", lib.tsr_collective_all_reduce, _members(group).handle, given, int(op))
    return found


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The reduction at rank `dst`, zeros elsewhere. SUM or AVG, where a tensor requires grad."""
    members, given = _members(group), _tensor(tensor, "tensor")
    root = members.member(as_int(dst, "dst"), "dst")
    found: Tensor = made("tsr_tensor", lib.tsr_collective_reduce, members.handle, given, int(op), root)
    return found


def broadcast(tensor: Tensor, src: int, group: Group = None) -> Tensor:
    """The tensor of rank `src`; the others' tell shape and dtype."""
    members, given = _members(group), _tensor(tensor, "tensor")
    root = members.member(as_int(src, "src"), "src")
    found: Tensor = made("tsr_tensor", lib.tsr_collective_broadcast, members.handle, given, root)
    return found


def all_gather(tensor: Tensor, group: Group = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, in their order."""
    members = _members(group)
    _tensor(tensor, "tensor")
    rows = tensor.reshape((1, *tensor.shape))
    whole = made("tsr_tensor", lib.tsr_collective_all_gather, members.handle, handle(rows))
    return tuple(whole[rank] for rank in range(members.size()))


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Group = None
) -> Tensor:
    """The reduction of the ranks' tensors of this rank's number, in the shape of `output`."""
    members = _members(group)
    _tensor(output, "output")
    listed = _of_ranks(input_list, members, "input_list")
    whole = _joined([each.reshape((1, *output.shape)) for each in listed])
    part = made("tsr_tensor", lib.tsr_collective_reduce_scatter, members.handle, handle(whole), int(op))
    found: Tensor = part.reshape(output.shape)
    return found


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Group = None
) -> tuple[Tensor, ...]:
    """What every rank has for this one, in the order of ranks and in the shapes of `output_tensor_list`."""
    members = _members(group)
    outputs = _of_ranks(output_tensor_list, members, "output_tensor_list")
    inputs = _of_ranks(input_tensor_list, members, "input_tensor_list")
    whole = _joined([each.reshape((-1,)) for each in inputs])
    received = _splits([_count(each) for each in outputs], "output_tensor_list")
    sent = _splits([_count(each) for each in inputs], "input_tensor_list")
    flat = made("tsr_tensor", lib.tsr_collective_all_to_all, members.handle, handle(whole), *received, *sent)
    parts, first = [], 0
    for each in outputs:
        parts.append(flat[first : first + _count(each)].reshape(each.shape))
        first += _count(each)
    return tuple(parts)


def all_to_all_single(
    output: Tensor | None,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
) -> Tensor:
    """all_to_all of parts of one tensor along axis 0; without sizes they are equal.

    `output` may be None, and with `input_split_sizes` alone the ranks tell each other the sizes.
    """
    members, given = _members(group), _tensor(input, "input")
    if output is not None and not isinstance(output, TensorBase):
        raise ArgumentTypeError(f"output: expected a Tensor or None, got {type(output).__name__}")
    received, sent = _splits(output_split_sizes, "output_split_sizes"), _splits(input_split_sizes, "input_split_sizes")
    found: Tensor = made("tsr_tensor", lib.tsr_collective_all_to_all, members.handle, given, *received, *sent)
    return found


def send(tensor: Tensor, dst: int, group: Group = None, tag: int = 0) -> Tensor:
    """Sends a tensor to a rank that calls recv. Returns a zero that stands for the message, to be added to the loss.

    A backward that reaches the zero waits for the gradient. Several messages between two ranks need tags of their own.
    """
    members, given = _members(group), _tensor(tensor, "tensor")
    peer = members.member(as_int(dst, "dst"), "dst")
    found: Tensor = made("tsr_tensor", lib.tsr_collective_send, members.handle, given, peer, as_int(tag, "tag"))
    return found


def recv(tensor: Tensor, src: int, group: Group = None, tag: int = 0, requires_grad: bool = True) -> Tensor:
    """A new tensor with what rank `src` sends, of the shape and dtype of `tensor`.

    `requires_grad`: the sender's tensor does, and its backward waits for the gradient.
    """
    members, given = _members(group), _tensor(tensor, "tensor")
    peer = members.member(as_int(src, "src"), "src")
    number, wanted = as_int(tag, "tag"), int(bool(requires_grad))
    found: Tensor = made("tsr_tensor", lib.tsr_collective_recv, members.handle, given, peer, number, wanted)
    return found


def _count(tensor: Any) -> int:
    count = 1
    for length in tensor.shape:
        count *= length
    return count


def _joined(tensors: Sequence[Any]) -> Any:
    return _ops.concat(tensors, axis=0)
