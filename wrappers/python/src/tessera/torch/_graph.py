# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.graph: nodes and hooks with PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _graph as _plain
from .._backward import queue_callback
from ..autograd import graph as _graph
from ..autograd.graph import (
    GradientEdge,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    increment_version,
    save_on_cpu,
)
from ._tensor import Node, retyped


class saved_tensors_hooks(_graph.saved_tensors_hooks):  # noqa: N801  (PyTorch's name)
    """The library's, whose pack hook gets tensors of this module."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__(lambda tensor: pack_hook(retyped(tensor)), unpack_hook)


def get_gradient_edge(tensor: Any) -> GradientEdge:
    node, number = _plain.get_gradient_edge(tensor)
    return GradientEdge(Node.of(node), number)


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[[Any], Any], *, mode: str = "all") -> Any:
    return _graph.register_multi_grad_hook(tensors, lambda grads: fn(retyped(grads)), mode=mode)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Does nothing: a backward waits for the stream of each gradient that it adds."""


__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "queue_callback",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]
