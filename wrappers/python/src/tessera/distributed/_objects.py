# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives of Python objects, which travel as pickles: only between ranks that trust each other."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from .._dtypes import int64, uint8
from .._interop import frombuffer, tensor
from .._ops import zeros
from ._collectives import all_gather_into_tensor, broadcast
from ._group import Group, get_world_size, group_or_default


def _bytes_of(value: Any) -> Any:
    return frombuffer(bytearray(pickle.dumps(value)), dtype=uint8)


def _object_of(data: Any, first: int, length: int) -> Any:
    return pickle.loads(bytes(memoryview(data.numpy())[first : first + length]))


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Collects every rank's object on every rank: fills the list, which has one place for each rank."""
    members = group_or_default(group)
    if members is None:
        return
    data, size = _bytes_of(obj), members.size()
    lengths = zeros((size,), dtype=int64)
    all_gather_into_tensor(lengths, tensor([data.shape[0]], dtype=int64), members)
    counts = [int(count) for count in lengths.numpy()]
    longest = max(counts)
    padded = zeros((longest,), dtype=uint8)
    padded[: data.shape[0]] = data
    everything = zeros((longest * size,), dtype=uint8)
    all_gather_into_tensor(everything, padded, members)
    object_list[:] = [_object_of(everything, rank * longest, counts[rank]) for rank in range(size)]


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: Group = None) -> None:
    """Collects every rank's object at rank `dst`, which gives a list with one place for each rank."""
    members = group_or_default(group)
    if members is None:
        return
    found: list[Any] = [None] * members.size()
    all_gather_object(found, obj, members)
    if members.rank() == members.member(dst, "dst") and object_gather_list is not None:
        object_gather_list[:] = found


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Group = None) -> None:
    """Replaces the objects of the list by those of rank `src`."""
    members = group_or_default(group)
    if members is None:
        return
    root = members.member(src, "src") == members.rank()
    data = _bytes_of(list(object_list)) if root else None
    length = tensor([data.shape[0] if data is not None else 0], dtype=int64)
    broadcast(length, src, members)
    count = int(length.numpy()[0])
    if data is None:
        data = zeros((count,), dtype=uint8)
    broadcast(data, src, members)
    if not root:
        object_list[:] = _object_of(data, 0, count)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Group = None,
) -> None:
    """Puts the object of this rank, from the list of rank `src`, into the first place of the output list."""
    members = group_or_default(group)
    if members is None:
        return
    listed = list(scatter_object_input_list or [None] * get_world_size(members))
    broadcast_object_list(listed, src, members)
    scatter_object_output_list[:1] = [listed[members.rank()]]
