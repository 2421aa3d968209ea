# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Access to the C ABI: `lib` has all of its functions, `ffi` makes their arguments (cffi).

    cell = ffi.new("tsr_tensor*")
    check(lib.tsr_exp(handle(x), cell))
    y = tensor(cell[0])
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import GeneratorBase, NodeBase, check
from ._errors import ArgumentTypeError, InvalidValueError
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._random import Generator
    from ._tensor import Tensor

__all__ = ["check", "ffi", "handle", "lib", "tensor"]

_KINDS = [ffi.typeof(name) for name in ("tsr_tensor*", "tsr_node*", "tsr_generator*")]  # in the order of adopt()
_POINTER = ffi.sizeof("void*")


def handle(owner: Tensor | _core.NodeBase | Generator) -> Any:
    """The handle of a Tensor, a Node or a Generator, for calls through `lib`.

    It is borrowed: the object keeps its reference, and the handle keeps nothing alive. Use it while the object lives, or
    make it yours with lib.tsr_tensor_retain(h) and give it back with lib.tsr_tensor_release(h).
    """
    cell = ffi.new(_KINDS[1 if isinstance(owner, NodeBase) else 2 if isinstance(owner, GeneratorBase) else 0])
    _core.lend(owner, ffi.buffer(cell))
    return cell[0]


def tensor(handle: Any) -> Tensor:
    """A Tensor that takes over a handle: the reference that a C function wrote to its out parameter.

    Call it once per reference, and do not release that reference. For a borrowed handle call lib.tsr_tensor_retain(h)
    first.
    """
    if not isinstance(handle, ffi.CData) or ffi.typeof(handle) is not _KINDS[0].item:
        given = ffi.typeof(handle).cname if isinstance(handle, ffi.CData) else type(handle).__name__
        raise ArgumentTypeError(f"tensor(): expected a tsr_tensor, got {given}")
    if handle == ffi.NULL:
        raise InvalidValueError("tensor(): expected a tensor, got NULL")
    check(lib.tsr_tensor_info(handle, ffi.new("tsr_info*", {"struct_size": ffi.sizeof("tsr_info")})))
    found: Tensor = adopt(ffi.new(_KINDS[0], handle))
    return found


# ---- helpers for the package's own rare calls ----


def adopt(cell: Any) -> Any:
    """The Tensor, Node or Generator that takes over the handle in a cell and empties the cell; None for NULL."""
    return _core.adopt(_KINDS.index(ffi.typeof(cell)), ffi.buffer(cell))


def handles(tensors: Iterable[Tensor]) -> Any:
    """The handles of tensors as an array; borrowed, as handle() says."""
    listed = list(tensors)
    cells = ffi.new("tsr_tensor[]", len(listed))
    _core.lend_all(listed, ffi.buffer(cells))
    return cells


def adopt_all(cells: Any, count: int) -> list[Tensor]:
    """The Tensors that take over the first handles of an array."""
    return _core.adopt_all(count, ffi.buffer(cells, count * _POINTER))


def out(kind: str, function: Callable[..., int], *args: Any) -> Any:
    """Calls a C function and returns the value of its last parameter, an out parameter of type `kind`."""
    cell = ffi.new(f"{kind}*")
    check(function(*args, cell))
    return cell[0]


def made(kind: str, function: Callable[..., int], *args: Any) -> Any:
    """Calls a C function and returns the object for the handle in its last parameter; None for NULL."""
    cell = ffi.new(f"{kind}*")
    check(function(*args, cell))
    return adopt(cell)


def text(function: Callable[..., int], *args: Any) -> str:
    """Calls a C function and returns the text in its last two parameters."""
    data, size = ffi.new("const char**"), ffi.new("int64_t*")
    check(function(*args, data, size))
    return str(ffi.unpack(data[0], size[0]).decode())


def taken(buffer: Any) -> bytes:
    """The bytes of a buffer, which is released."""
    owned = ffi.gc(buffer, lib.tsr_buffer_release)
    data, size = ffi.new("const char**"), ffi.new("int64_t*")
    check(lib.tsr_buffer_data(owned, data, size))
    return bytes(ffi.buffer(data[0], size[0]))


def document(function: Callable[..., int], *args: Any) -> Any:
    """Calls a C function and returns the JSON in the buffer of its last parameter."""
    return json.loads(taken(out("tsr_buffer", function, *args)))
