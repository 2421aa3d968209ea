# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of the library during a block: calls, kernels, nodes of the graph, memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ._device import _NAMES as _DEVICES, Device
from ._dtypes import BY_BITS, DType
from ._errors import InvalidValueError
from .capi import check, ffi, lib

KINDS: Final = {
    "call": lib.TSR_TRACE_CALL,
    "launch": lib.TSR_TRACE_LAUNCH,
    "node": lib.TSR_TRACE_NODE,
    "allocate": lib.TSR_TRACE_ALLOCATE,
    "free": lib.TSR_TRACE_FREE,
    "annotation": lib.TSR_TRACE_ANNOTATION,
}
_NAMES: Final = {value: name for name, value in KINDS.items()}
_BATCH: Final = 1024


class Described(NamedTuple):
    """The description of a tensor argument."""

    dtype: DType
    shape: tuple[int, ...]


class Address(int):
    """An argument that is not described (a callback, a struct, memory, another handle): where it was. It may be gone."""


@dataclass(frozen=True)
class Record:
    """One event that has ended. Times are nanoseconds of time.monotonic_ns()."""

    kind: str  # a key of KINDS
    name: str  # the op or function, the kernel's op or family, the node
    family: str | None  # of a kernel
    id: int  # of the function or kernel in the schema, else 0
    begin: int
    end: int
    correlation: int
    parent: int  # correlation of the enclosing record on its thread, 0 if there is none
    thread: int
    value: int  # memory: bytes; a node: its sequence number; calls and kernels: the status
    device: Device | None  # of a kernel or of memory
    stream: int  # the native stream's address, 0 for the default one
    args: tuple[Any, ...]  # of a call, with arguments=True


class Records(list[Record]):
    """The records of a block, in the order in which they ended."""

    lost: int = 0  # events for which there was no room


@contextmanager
def record(
    *, kinds: Iterable[str] = tuple(KINDS), arguments: bool = False, capacity: int = 100_000
) -> Iterator[Records]:
    """Records the events of every thread during the block; the list is filled when the block ends.

    One trace runs at a time. `arguments` describes the arguments of calls: a tensor by dtype and shape.
    """
    flags = lib.TSR_TRACE_ARGUMENTS if arguments else 0
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidValueError(f"kinds: expected some of {', '.join(KINDS)}, got {kind!r}")
        flags |= KINDS[kind]
    records = Records()
    check(lib.tsr_trace_start(capacity, flags))
    try:
        yield records
    finally:
        check(lib.tsr_trace_stop())
        _read(records)


def _read(records: Records) -> None:
    events = ffi.new("tsr_trace_event[]", _BATCH)
    count, lost = ffi.new("int32_t*"), ffi.new("int64_t*")
    while True:
        events[0].struct_size = ffi.sizeof("tsr_trace_event")
        check(lib.tsr_trace_read(events, _BATCH, count, lost))
        records.lost += lost[0]
        records.extend(_record(events[i]) for i in range(count[0]))
        if count[0] < _BATCH:
            return


def _record(event: Any) -> Record:
    has_device = event.device_type in _DEVICES
    return Record(
        kind=_NAMES[event.kind],
        name=ffi.string(event.name).decode(),
        family=ffi.string(event.family).decode() if event.family else None,
        id=event.id,
        begin=event.begin_time,
        end=event.end_time,
        correlation=event.correlation,
        parent=event.parent,
        thread=event.thread,
        value=event.value,
        device=Device(_DEVICES[event.device_type], event.device_index) if has_device else None,
        stream=int(ffi.cast("intptr_t", event.stream)),
        args=tuple(_value(event.args[i]) for i in range(event.n_args)),
    )


def _value(value: Any) -> Any:
    kind, n = value.kind, value.n
    if kind == lib.TSR_VALUE_SHAPE:
        return Described(BY_BITS[value.integer], _numbers("int64_t", value))
    if kind == lib.TSR_VALUE_LIST:
        entries = ffi.cast("tsr_value*", value.pointer)
        return tuple(_value(entries[i]) for i in range(n))
    if kind == lib.TSR_VALUE_TEXT:
        return bytes(ffi.buffer(value.pointer, value.integer)).decode(errors="replace")
    if kind in (lib.TSR_VALUE_INTS, lib.TSR_VALUE_REALS):
        return _numbers("int64_t" if kind == lib.TSR_VALUE_INTS else "double", value)
    if kind == lib.TSR_VALUE_DEVICE:
        return Device(_DEVICES[value.integer], n) if value.integer in _DEVICES else (value.integer, n)
    if kind in (lib.TSR_VALUE_POINTER, lib.TSR_VALUE_GENERATOR):
        return Address(ffi.cast("uintptr_t", value.pointer))
    plain = {
        lib.TSR_VALUE_BOOL: bool(value.integer),
        lib.TSR_VALUE_INT: value.integer,
        lib.TSR_VALUE_UNSIGNED: value.integer % 2**64,
        lib.TSR_VALUE_REAL: value.real,
        lib.TSR_VALUE_COMPLEX: complex(value.real, value.imaginary),
        lib.TSR_VALUE_DTYPE: BY_BITS.get(value.integer, value.integer),
    }
    return plain.get(kind)


def _numbers(ctype: str, value: Any) -> tuple[Any, ...]:
    return tuple(ffi.cast(f"{ctype}*", value.pointer)[0 : value.n])
