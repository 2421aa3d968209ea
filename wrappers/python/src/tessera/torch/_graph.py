# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.graph: nodes and hooks with PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _graph as _plain
from ..autograd import graph as _graph
from ..autograd.graph import GradientEdge, increment_version, saved_tensors_hooks
from ._tensor import Node, retyped


def get_gradient_edge(tensor: Any) -> GradientEdge:
    node, number = _plain.get_gradient_edge(tensor)
    return GradientEdge(Node.of(node), number)


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[[Any], Any], *, mode: str = "all") -> Any:
    return _graph.register_multi_grad_hook(tensors, lambda grads: fn(retyped(grads)), mode=mode)


__all__ = [
    "GradientEdge",
    "Node",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "saved_tensors_hooks",
]
