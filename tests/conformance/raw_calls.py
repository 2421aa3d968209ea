# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the C function of a replay through cffi, without the Python layer: the vectors depend on the ABI alone."""

from __future__ import annotations

from typing import Any

from generator.cases.replay import Given, Replay, Stored, number_fields

import tessera as ts
from tessera.capi import adopt, check, ffi, handle, lib

MANY = 16  # slots for a list of results; more than any case has


def call(replay: Replay, tensors: dict[str, ts.Tensor]) -> dict[str, Any]:
    """The results by name: a tensor, or a tuple of tensors. `tensors` has the tensor arguments by key."""
    parts: list[Any] = []
    alive: list[Any] = []
    for given in replay.args:
        parts += _parameters(replay, given, tensors, alive)
    cells: dict[str, Any] = {}
    for arg in replay.function.args[len(replay.args) :]:
        if arg.type.is_list:
            cells[arg.name] = ffi.new("tsr_tensor[]", MANY), ffi.new("int32_t*")
            parts += [cells[arg.name][0], MANY, cells[arg.name][1]]
        else:
            cells[arg.name] = ffi.new("tsr_tensor*")
            parts.append(cells[arg.name])
    check(getattr(lib, replay.function.name)(*parts))
    return {name: _taken(cell) for name, cell in cells.items()}


def _taken(cell: Any) -> Any:
    if isinstance(cell, tuple):
        many, count = cell
        return tuple(adopt(many + i) for i in range(count[0]))
    return adopt(cell)


def _parameters(replay: Replay, given: Given, tensors: dict[str, ts.Tensor], alive: list[Any]) -> list[Any]:
    """The C parameters of one argument; `alive` keeps the memory that they point to."""
    kind, value = given.arg.type, given.value
    if kind.base == "tensor" and kind.is_list:
        handles = [ffi.NULL if s is None else handle(tensors[s.key]) for s in value or ()]
        alive.append(ffi.new("tsr_tensor[]", handles))
        return [alive[-1], len(handles)]
    if kind.base == "tensor":
        return [ffi.NULL if value is None else handle(tensors[value.key])]
    if kind.is_list:
        alive.append(ffi.new("double[]" if kind.base == "f64" else "int64_t[]", list(value or ())))
        return [alive[-1], -1 if value is None else len(value)]
    if kind.base == "scalar":
        if value is None:
            return [ffi.NULL]
        alive.append(ffi.new("tsr_number*", number_fields(value)))
        return [alive[-1]]
    if kind.base == "f64":
        return [0.0 if value is None else value] + ([int(value is not None)] if kind.optional else [])
    if kind.base == "str":
        text = ffi.NULL if value is None else ffi.new("char[]", value.encode())
        alive.append(text)
        return [text, 0 if value is None else -1]
    if kind.base == "device":
        return [-1, -1] if value is None else [1, 0]
    if kind.base == "generator":
        return [ffi.NULL]
    if kind.base == "int64":
        return [lib.tsr_none() if value is None else value]
    if kind.base in ("dtype", "enum"):
        return [-1 if value is None else value.value]
    return [-1 if value is None else int(value)]  # bool


def of(tensors: Any) -> tuple[Stored, ...]:
    """The tensors of an argument or a result, without its holes."""
    items = tensors if isinstance(tensors, tuple) else (tensors,)
    return tuple(s for s in items if isinstance(s, Stored))
