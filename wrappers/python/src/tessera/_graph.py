# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The visible parts of the autograd graph: nodes and hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import NodeBase, register, remove_hook, saved_tensors
from .capi import adopt, check, ffi, handle, lib, made, out, text

if TYPE_CHECKING:
    from ._tensor import Tensor


class Node(NodeBase):
    """A node of the graph: a function whose backward may run later."""

    __slots__ = ()

    def name(self) -> str:
        return text(lib.tsr_node_name, handle(self))

    @property
    def sequence_nr(self) -> int:
        return int(out("uint64_t", lib.tsr_node_sequence, handle(self)))

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that gets its gradient: (node or None, index of that node's output)."""
        found = []
        for index in range(out("int64_t", lib.tsr_node_next_count, handle(self))):
            node, output = ffi.new("tsr_node*"), ffi.new("int64_t*")
            check(lib.tsr_node_next(handle(self), index, node, output))
            found.append((adopt(node), int(output[0])))
        return tuple(found)

    @property
    def variable(self) -> Tensor | None:
        """The leaf that an AccumulateGrad node adds to."""
        leaf: Tensor | None = made("tsr_tensor", lib.tsr_node_variable, handle(self))
        return leaf

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that the forward saved for the backward; raises after a backward has freed them."""
        return saved_tensors(self)

    def __repr__(self) -> str:
        return f"<{self.name()} at {hash(self):#x}>"


register(node=Node)


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
            remove_hook(tensor, self._number)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
