# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What can be seen of the autograd graph: nodes and hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import NodeBase, ffi, lib, table
from ._errors import check

if TYPE_CHECKING:
    from ._tensor import Tensor


class Node(NodeBase):
    """A function of the graph, waiting for its backward."""

    __slots__ = ()

    @property
    def _handle(self) -> Any:
        return ffi.cast("tsr_node", self._address)

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
            found.append((table["adopt_node"](int(ffi.cast("intptr_t", node[0]))), int(output[0])))
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
        found: tuple[Tensor, ...] = saved_tensors(self._address)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._address == other._address

    def __hash__(self) -> int:
        return self._address

    def __repr__(self) -> str:
        return f"<{self.name()} at {hash(self):#x}>"


saved_tensors, _remove_hook = table["saved_tensors"], table["remove_hook"]


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
            _remove_hook(tensor, self._number)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
