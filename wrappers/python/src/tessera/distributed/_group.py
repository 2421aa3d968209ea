# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of ranks: the default group, groups of some of its ranks, and operations under way."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from datetime import timedelta
from enum import IntEnum
from typing import Any

from .._device import device_pair
from .._errors import ArgumentTypeError, InvalidValueError, TesseraError, as_int
from ..capi import check, ffi, lib, out, text

Seconds = float | timedelta


class ReduceOp(IntEnum):
    """How a collective reduces the elements of the ranks. For bool, SUM and MAX are "or", PRODUCT and MIN are "and"."""

    SUM = lib.TSR_REDUCE_OP_SUM
    AVG = lib.TSR_REDUCE_OP_AVG
    MIN = lib.TSR_REDUCE_OP_MIN
    MAX = lib.TSR_REDUCE_OP_MAX
    PRODUCT = lib.TSR_REDUCE_OP_PROD
    BAND = lib.TSR_REDUCE_OP_BIT_AND
    BOR = lib.TSR_REDUCE_OP_BIT_OR
    BXOR = lib.TSR_REDUCE_OP_BIT_XOR


class Work:
    """An operation under way or done. Its tensors must not be used until wait() has returned."""

    def __init__(self, handle: Any, group: ProcessGroup) -> None:
        self._handle = ffi.gc(handle, lib.tsr_work_release)
        self._group = group

    def wait(self, timeout: Seconds | None = None) -> bool:
        """Returns True when the operation is done, and raises its failure.

        CancelledError after `timeout` seconds, which are the group's if there are none here. With a GPU's own backend the
        current stream waits instead, unless a time is given.
        """
        seconds = seconds_of(timeout)
        check(lib.tsr_work_wait(self._handle, seconds or 0.0, seconds is not None))
        return True

    def is_completed(self) -> bool:
        """Whether wait() would return at once; a failed operation is completed."""
        return bool(out("int32_t", lib.tsr_work_done, self._handle))

    def is_success(self) -> bool:
        """Whether a completed operation has not failed."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> TesseraError | None:
        """The failure of a completed operation."""
        try:
            if self.is_completed():
                self.wait()
        except TesseraError as error:
            return error
        return None

    def source_rank(self) -> int:
        """The rank that a receive came from, after wait()."""
        found = int(out("int64_t", lib.tsr_work_source, self._handle))
        return self._group._first_rank(found) if found >= 0 else found


class ProcessGroup:
    """Ranks that exchange tensors; made by init_process_group and new_group."""

    def __init__(self, handle: Any) -> None:
        self._handle: Any = ffi.gc(handle, lib.tsr_group_release)
        self._rank, self._size = self._info().rank, self._info().size
        self._ranks = [self._first_rank(rank) for rank in range(self._size)]

    @property
    def handle(self) -> Any:
        if self._handle is None:
            raise InvalidValueError("the group was destroyed")
        return self._handle

    def _info(self) -> Any:
        info = ffi.new("tsr_group_info*", {"struct_size": ffi.sizeof("tsr_group_info")})
        check(lib.tsr_group_describe(self.handle, info))
        return info

    def _first_rank(self, rank: int) -> int:
        return int(out("int64_t", lib.tsr_group_first_rank, self.handle, rank))

    def rank(self) -> int:
        return int(self._rank)

    def size(self) -> int:
        return int(self._size)

    def name(self) -> str:
        """The name of the backend."""
        return text(lib.tsr_group_backend, self.handle)

    @property
    def ranks(self) -> list[int]:
        """The members, as ranks of the default group."""
        return list(self._ranks)

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self._info().timeout)

    def abort(self, reason: str = "the program aborted it") -> None:
        """Ends the operations under way; later ones raise CancelledError with the reason."""
        data = reason.encode()
        check(lib.tsr_group_abort(self.handle, data, len(data)))

    def aborted(self) -> bool:
        return bool(self._info().aborted)

    def member(self, rank: int, name: str) -> int:
        """The rank in this group of a rank of the default group."""
        if rank not in self._ranks:
            raise InvalidValueError(f"{name}: expected one of the group's ranks {self._ranks}, got {rank}")
        return self._ranks.index(rank)

    def split(self, color: int, key: int) -> ProcessGroup | None:
        """A collective: ranks of one color form a group, in the order of (key, rank); None for a negative color."""
        part = out("tsr_group", lib.tsr_group_split, self.handle, color, key)
        return ProcessGroup(part) if part != ffi.NULL else None

    def start(self, function: Any, *args: Any) -> Work:
        return Work(out("tsr_work", function, self.handle, *args), self)

    def _close(self) -> None:
        if self._handle is not None:
            ffi.release(self._handle)
        self._handle = None


class NonMember:
    """What new_group gives to ranks that are not in the group."""

    def __repr__(self) -> str:
        return "GroupMember.NON_GROUP_MEMBER"


class GroupMember:
    NON_GROUP_MEMBER = NonMember()


Group = ProcessGroup | NonMember | None


class _State:
    """The default group, and the groups that were made of it."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.parts: list[ProcessGroup] = []


_of_process = _State()
_of_thread = threading.local()  # where the ranks are threads


def _state() -> _State:
    found: _State = getattr(_of_thread, "state", _of_process)
    return found


class _Where(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802 (PyTorch's name)
        return _state().default


class group(metaclass=_Where):  # noqa: N801 (PyTorch's name)
    """group.WORLD is the default group, None before it begins."""


def seconds_of(time: Seconds | None) -> float | None:
    if time is None:
        return None
    if isinstance(time, timedelta):
        return time.total_seconds()
    if isinstance(time, (int, float)) and not isinstance(time, bool):
        return float(time)
    raise ArgumentTypeError(f"timeout: expected seconds or a timedelta, got {type(time).__name__}")


def _named(value: int, variable: str) -> int:
    return int(os.environ.get(variable, -1)) if value == -1 else as_int(value, variable.lower())


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Seconds | None = None,
    world_size: int = -1,
    rank: int = -1,
    *,
    device_id: Any = None,
    checked: bool = True,
) -> ProcessGroup:
    """Begins the default group of this process and waits until all ranks are there.

    `backend`: "mpi", for processes that mpirun has started; "nccl", one GPU for each rank, with the path of a file that
    all ranks can read as `init_method`; "threads", where every thread of this process that calls this is a rank. `timeout`
    (1800 s) is for this call and for every operation. `checked`: ranks are asked whether they want the same before data
    move, where the backend can.
    """
    threads = backend == "threads"
    state = _State() if threads else _of_process
    if _state().default is not None:
        raise InvalidValueError("init_process_group(): the default group is there already")
    options = ffi.new("tsr_group_options*", {"struct_size": ffi.sizeof("tsr_group_options")})
    asks = backend == "nccl"  # MPI knows both
    options.rank = _named(rank, "RANK") if asks else as_int(rank, "rank")
    options.size = _named(world_size, "WORLD_SIZE") if asks else as_int(world_size, "world_size")
    options.unchecked = not checked
    seconds = seconds_of(timeout)
    if seconds is not None and seconds <= 0:
        raise InvalidValueError(f"timeout: expected a time above 0 s, got {seconds}")
    options.timeout = seconds or 0.0
    if device_id is not None:
        options.device_type, options.device_index = device_pair(device_id)
    name = (backend or "mpi").encode()
    address = (init_method or "").removeprefix("file://").encode()
    made = out("tsr_group", lib.tsr_group_init, name, len(name), address, len(address), options)
    if threads:
        _of_thread.state = state
    state.default = ProcessGroup(made)
    return state.default


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _state().default is not None


def default_group() -> ProcessGroup:
    found = _state().default
    if found is None:
        raise InvalidValueError("expected a default group: call init_process_group() first")
    return found


def group_or_default(group: Group) -> ProcessGroup | None:
    """None for a rank that is not a member: its collectives do nothing."""
    if isinstance(group, NonMember):
        return None
    if group is not None and not isinstance(group, ProcessGroup):
        raise ArgumentTypeError(f"group: expected a ProcessGroup or None, got {type(group).__name__}")
    return default_group() if group is None else group


def new_group(ranks: Iterable[int] | None = None, timeout: Seconds | None = None, backend: str | None = None) -> Group:
    """A group of some ranks of the default group; every rank must call it. Its backend and timeout are the default's."""
    parent = default_group()
    listed = list(range(parent.size())) if ranks is None else [as_int(rank, "ranks") for rank in ranks]
    if len(set(listed)) != len(listed) or any(rank not in range(parent.size()) for rank in listed):
        raise InvalidValueError(f"ranks: expected different ranks from 0 to {parent.size() - 1}, got {listed}")
    if backend not in (None, parent.name()):
        raise InvalidValueError(f"backend: expected that of the default group, {parent.name()}, got {backend}")
    # Sorted, as PyTorch's new_group does by default.
    mine = parent.rank() in listed
    part = parent.split(0 if mine else -1, parent.rank())
    if part is None:
        return GroupMember.NON_GROUP_MEMBER
    _state().parts.append(part)
    return part


def destroy_process_group(group: Group = None) -> None:
    """Ends a group for this rank, or, without one, all groups."""
    state = _state()
    if isinstance(group, NonMember):
        return
    ending = [group] if group is not None and group is not state.default else [*state.parts, default_group()]
    for one in ending:
        one._close()
    state.parts = [part for part in state.parts if part not in ending]
    if state.default in ending:
        state.default = None
        if hasattr(_of_thread, "state"):
            del _of_thread.state


def get_rank(group: Group = None) -> int:
    """The caller's rank in the group; -1 if it is not a member."""
    found = group_or_default(group)
    return -1 if found is None else found.rank()


def get_world_size(group: Group = None) -> int:
    """The number of ranks; -1 for a rank that is not a member."""
    found = group_or_default(group)
    return -1 if found is None else found.size()


def get_backend(group: Group = None) -> str:
    found = group_or_default(group)
    if found is None:
        raise InvalidValueError("get_backend(): this rank is not in the group")
    return found.name()


def get_process_group_ranks(group: Group = None) -> list[int]:
    """The members, as ranks of the default group."""
    found = group_or_default(group)
    return [] if found is None else found.ranks


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    return group._first_rank(as_int(group_rank, "group_rank"))


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    return group.member(as_int(global_rank, "global_rank"), "global_rank")
