# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The visible parts of the autograd graph: nodes and hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._core import (
    NodeBase,
    add_node_hook,
    gradient_edge,
    metadata_object,
    register,
    remove_hook,
    run_node,
    saved_tensors,
    set_metadata,
    set_saved_hooks,
)
from ._device import Device, make_device
from ._dtypes import BY_BITS, DType
from .capi import adopt, check, document, ffi, handle, lib, made, out, text

if TYPE_CHECKING:
    from ._tensor import Tensor

_SAVED, _RAW_SAVED = "_saved_", "_raw_saved_"
# PyTorch calls the first argument of a function self.
_SAVED_ALIASES = {"self": "input"}


class NodeOutput(NamedTuple):
    """What the gradient of an output of a node looks like."""

    shape: tuple[int, ...]
    dtype: DType
    device: Device


class SavedTensor:
    """One of the tensors that a node saved, before it is read."""

    __slots__ = ("_index", "_node")

    def __init__(self, node: Node, index: int) -> None:
        self._node, self._index = node, index

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keeps what pack_hook(tensor) returns in place of the tensor, from now on; the node gets unpack_hook of it.

        The tensor must have no hooks yet. An exception of `pack_hook` comes out here and changes nothing.
        """
        set_saved_hooks(self._node, self._index, pack_hook, unpack_hook)


class NodeMetadata(MutableMapping[str, Any]):
    """The metadata of a node: a dictionary that lives as long as the node. Texts are visible in every language.

    Do not store a tensor of the same graph: it keeps its node, and the node would keep it.
    """

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getitem__(self, key: str) -> Any:
        data = key.encode()
        found = metadata_object(self._node, key)
        if found is not NotImplemented:
            return found
        buffer = ffi.gc(
            out("tsr_buffer", lib.tsr_node_metadata_text, handle(self._node), data, len(data)), lib.tsr_buffer_release
        )
        if buffer == ffi.NULL:
            raise KeyError(key)
        return text(lib.tsr_buffer_data, buffer)

    def __setitem__(self, key: str, value: Any) -> None:
        set_metadata(self._node, key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self._keys():
            raise KeyError(key)
        data = key.encode()
        check(lib.tsr_node_metadata_remove(handle(self._node), data, len(data)))

    def _keys(self) -> list[str]:
        found: list[str] = document(lib.tsr_node_metadata_keys, handle(self._node))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def __repr__(self) -> str:
        return repr(dict(self))


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

    @property
    def saved_names(self) -> tuple[str, ...]:
        """The names of `saved_tensors`: the argument that each one was, or "result" for an output."""
        count = out("int64_t", lib.tsr_node_saved_count, handle(self))
        return tuple(text(lib.tsr_node_saved_name, handle(self), index) for index in range(count))

    @property
    def outputs(self) -> tuple[NodeOutput | None, ...]:
        """Shape, dtype and device of each output of the function; None for one that the caller skipped."""
        found: list[NodeOutput | None] = []
        info = ffi.new("tsr_node_output*", {"struct_size": ffi.sizeof("tsr_node_output")})
        for index in range(out("int64_t", lib.tsr_node_output_count, handle(self))):
            check(lib.tsr_node_output_info(handle(self), index, info))
            if not info.flags & lib.TSR_NODE_OUTPUT_EXISTS:
                found.append(None)
                continue
            shape = tuple(int(size) for size in ffi.unpack(info.sizes, info.ndim)) if info.ndim else ()
            device = make_device(info.device_type, info.device_index)
            found.append(NodeOutput(shape, BY_BITS[info.dtype], device))
        return tuple(found)

    @property
    def metadata(self) -> NodeMetadata:
        """A dictionary for the program; anomaly mode stores the stack of the forward under "stack"."""
        return NodeMetadata(self)

    def __call__(self, *gradients: Tensor | None) -> Any:
        """The derivative of this node alone: the gradients of the function's inputs for these of its outputs.

        None stands for a gradient that is zero, or not needed. Of one input the result is its gradient, else a tuple. No
        hook of the node runs, and what it saved is kept. The AccumulateGrad node of a leaf adds to its `.grad`.
        """
        found = run_node(self, gradients)
        return found[0] if len(found) == 1 else found

    def _saved_at(self, wanted: str) -> tuple[list[int], bool]:
        """The places of the saved tensors of a name, and whether they are a list."""
        names = self.saved_names
        wanted = wanted if wanted in names else _SAVED_ALIASES.get(wanted, wanted)
        places = [index for index, known in enumerate(names) if known == wanted]
        if not places or not wanted:
            raise AttributeError(f"{self.name()} saved no {wanted!r}, only {', '.join(filter(None, names)) or 'nothing'}")
        return places, len(places) > 1 or (wanted == "indices" and self.name().startswith("Index"))

    def __getattr__(self, name: str) -> Any:
        prefix = _RAW_SAVED if name.startswith(_RAW_SAVED) else _SAVED
        if not name.startswith(prefix):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        places, listed = self._saved_at(name[len(prefix) :])
        if prefix == _RAW_SAVED:
            found: Any = tuple([SavedTensor(self, index) for index in places])
        else:
            found = tuple([made("tsr_tensor", lib.tsr_node_saved, handle(self), index) for index in places])
        return found if listed else found[0]

    def __dir__(self) -> list[str]:
        try:
            saved = [prefix + name for name in self.saved_names if name for prefix in (_SAVED, _RAW_SAVED)]
        except RuntimeError:  # freed by a backward
            saved = []
        return sorted({*super().__dir__(), *saved})

    def register_prehook(self, hook: Callable[[tuple[Any, ...]], Any]) -> HookHandle:
        """Calls hook(gradients of the outputs) before a backward runs the node.

        Gradients that are not there are None. The hook returns None, or a tuple that replaces them. The hooks of the
        node's tensors have run before; hooks run in order of registration. The node is destroyed with the last graph that
        uses it, also the AccumulateGrad node of a leaf.
        """
        return HookHandle(None, add_node_hook(self, hook, False))

    def register_hook(self, hook: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]) -> HookHandle:
        """Calls hook(gradients of the inputs, gradients of the outputs) after a backward has run the node.

        Gradients that are not there are None. The hook returns None, or a tuple that replaces the gradients of the
        inputs.
        """
        return HookHandle(None, add_node_hook(self, hook, True))

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hash(self):#x}>"


register(node=Node)


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes: output number `output_nr` of `node`. backward and grad take it as an input."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor that requires grad; of a leaf it is its AccumulateGrad node."""
    return GradientEdge(*gradient_edge(tensor))


class HookHandle:
    """Removes a hook, also at the end of a with block. The tensor need not outlive it."""

    __slots__ = ("__weakref__", "_number", "_tensor")

    def __init__(self, tensor: Tensor | None, number: int) -> None:
        self._tensor = tensor  # None: the hook of a node or of several tensors
        self._number: int | None = number

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        number, self._number = self._number, None
        tensor, self._tensor = self._tensor, None
        if number is not None:
            remove_hook(tensor, number)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
