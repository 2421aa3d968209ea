# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What can be seen of the autograd graph: nodes and hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import ffi, lib, table
from ._errors import check

if TYPE_CHECKING:
    from ._tensor import Tensor


class Node:
    """A function of the graph, waiting for its backward."""

    __slots__ = ("__weakref__", "_handle")

    def __init__(self, handle: Any) -> None:
        self._handle = ffi.gc(handle, lib.tsr_node_release)

    def name(self) -> str:
        text, size = ffi.new("const char**"), ffi.new("int64_t*")
        check(lib.tsr_node_name(self._handle, text, size))
        return str(ffi.unpack(text[0], size[0]).decode())

    @property
    def sequence_nr(self) -> int:
        number = ffi.new("uint64_t*")
        check(lib.tsr_node_sequence(self._handle, number))
        return int(number[0])

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where the gradient of each input goes: (node or None, number of that node's output)."""
        count = ffi.new("int64_t*")
        check(lib.tsr_node_next_count(self._handle, count))
        found = []
        for index in range(count[0]):
            node, output = ffi.new("tsr_node*"), ffi.new("int64_t*")
            check(lib.tsr_node_next(self._handle, index, node, output))
            found.append((Node(node[0]) if node[0] != ffi.NULL else None, int(output[0])))
        return tuple(found)

    @property
    def variable(self) -> Tensor | None:
        """The leaf that an AccumulateGrad node adds to."""
        leaf = ffi.new("tsr_tensor*")
        check(lib.tsr_node_variable(self._handle, leaf))
        found: Tensor | None = table["adopt"](int(ffi.cast("intptr_t", leaf[0])))
        return found

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What the forward kept for the backward; raises once a backward has freed it."""
        return saved_tensors(self._handle)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and bool(self._handle == other._handle)

    def __hash__(self) -> int:
        return int(ffi.cast("intptr_t", self._handle))

    def __repr__(self) -> str:
        return f"<{self.name()} at {hash(self):#x}>"


def saved_tensors(node: Any) -> tuple[Any, ...]:
    """What a node kept for the backward."""
    count = ffi.new("int64_t*")
    check(lib.tsr_node_saved_count(node, count))
    found = []
    for index in range(count[0]):
        saved = ffi.new("tsr_tensor*")
        check(lib.tsr_node_saved(node, index, saved))
        found.append(table["adopt"](int(ffi.cast("intptr_t", saved[0]))))
    return tuple(found)


def make_node(address: int) -> Node:
    """Takes over the reference to a node."""
    return Node(ffi.cast("tsr_node", address))


class HookHandle:
    """Removes a hook, also at the end of a with block. The tensor need not outlive it."""

    __slots__ = ("__weakref__", "_number", "_tensor")

    def __init__(self, tensor: Tensor, number: int) -> None:
        self._tensor: Tensor | None = tensor
        self._number = number

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        tensor, self._tensor = self._tensor, None
        if tensor is not None:
            check(lib.tsr_tensor_hook_remove(ffi.cast("tsr_tensor", tensor._address), self._number))

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
