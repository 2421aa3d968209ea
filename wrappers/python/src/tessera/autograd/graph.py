# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph: its nodes and edges, drawings, hooks on several tensors, hooks on the tensors that nodes save."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from .._constants import MULTI_HOOK_ALL, MULTI_HOOK_ANY
from .._core import TensorBase
from .._errors import InvalidValueError
from .._graph import GradientEdge, HookHandle, Node, NodeMetadata, NodeOutput, get_gradient_edge
from ._saved_hooks import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    save_on_device,
    save_to_disk,
    saved_tensors_hooks,
)
from ..capi import check, ffi, handle, handles, lib, out, text

if TYPE_CHECKING:
    from .._tensor import Tensor

_FORMATS = {"dot": lib.TSR_GRAPH_DOT, "svg": lib.TSR_GRAPH_SVG, "table": lib.TSR_GRAPH_TABLE}


def nodes(root: Tensor | Node) -> Iterator[Node]:
    """The nodes behind a tensor, each once: depth first, along `next_functions` in order."""
    start = root if isinstance(root, Node) else root.grad_fn
    seen: set[Node] = set()
    waiting = [] if start is None else [start]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        waiting.extend(next_node for next_node, _ in reversed(node.next_functions) if next_node is not None)


class Drawing(str):
    """The text of a drawing. A notebook shows an SVG as a picture."""

    kind = "svg"  # or "dot", "table"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the drawing to a file."""
        Path(path).write_text(self, encoding="utf-8")

    def _repr_svg_(self) -> str | None:
        return str(self) if self.kind == "svg" else None


def draw(
    roots: Tensor | Sequence[Tensor],
    params: Mapping[str, Tensor] | None = None,
    format: str = "svg",
    show_saved: bool = False,
) -> Drawing:
    """Draws the graph behind one or several tensors, in the direction of the forward.

    `params` names leaves and roots, for example `dict(model.named_parameters())`. `format` is "svg", a complete picture,
    "dot", text for Graphviz, or "table", the operators with their multiply-adds. With `show_saved` each node lists the
    tensors that it keeps for the backward.
    """
    if format not in _FORMATS:
        raise InvalidValueError(f"draw(): format: expected one of {', '.join(_FORMATS)}, got {format!r}")
    listed = [roots] if isinstance(roots, _core.TensorBase) else list(roots)
    named = dict(params or {})
    names = json.dumps(list(named)).encode()
    buffer = out(
        "tsr_buffer",
        lib.tsr_graph_draw,
        handles(listed),
        len(listed),
        handles(named.values()),
        len(named),
        names,
        len(names),
        _FORMATS[format],
        lib.TSR_GRAPH_SHOW_SAVED if show_saved else 0,
    )
    owned = ffi.gc(buffer, lib.tsr_buffer_release)
    drawing = Drawing(text(lib.tsr_buffer_data, owned))
    drawing.kind = format
    return drawing


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all") -> HookHandle:
    """Calls a function once in each backward that reaches any of the tensors.

    With "all" it gets the gradients of all tensors as a tuple, None for those that get none in this backward; it runs as
    soon as the last is there, or, if some get none, after the last node. With "any" it gets the first gradient that is
    there. Backwards on several threads, or inside each other, count by themselves.
    """
    modes = {"all": MULTI_HOOK_ALL, "any": MULTI_HOOK_ANY}
    if mode not in modes:
        raise InvalidValueError(f"register_multi_grad_hook(): expected the mode 'all' or 'any', got {mode!r}")
    return HookHandle(None, _core.add_multi_hook(list(tensors), fn, modes[mode]))


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Says that the memory of a tensor, or of several, was changed outside the library: raises its version."""
    for item in [tensor] if isinstance(tensor, TensorBase) else tensor:
        check(lib.tsr_tensor_version_increment(handle(item)))


__all__ = [
    "Drawing",
    "GradientEdge",
    "Node",
    "NodeMetadata",
    "NodeOutput",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "draw",
    "get_gradient_edge",
    "increment_version",
    "nodes",
    "register_multi_grad_hook",
    "save_on_cpu",
    "save_on_device",
    "save_to_disk",
    "saved_tensors_hooks",
]
