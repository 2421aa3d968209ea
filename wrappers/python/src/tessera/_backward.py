# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""backward and grad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Union

from ._constants import (
    BACKWARD_ALLOW_UNUSED,
    BACKWARD_BATCHED,
    BACKWARD_CREATE_GRAPH,
    BACKWARD_FREE_GRAPH,
    BACKWARD_RETAIN_GRAPH,
)
from . import _core
from ._core import TensorBase
from ._errors import ArgumentTypeError, InvalidValueError, as_list
from ._graph import GradientEdge, get_gradient_edge

if TYPE_CHECKING:
    from ._tensor import Tensor

Tensors = Union["Tensor", Sequence["Tensor"]]
Inputs = Union["Tensor", GradientEdge, Sequence[Union["Tensor", GradientEdge]]]
Grads = Union["Tensor", Sequence[Union["Tensor", None]], None]


def _many(given: Any, what: str, holes: bool = False) -> list[Any]:
    if isinstance(given, GradientEdge):
        raise ArgumentTypeError(f"{what}: expected Tensors, got a GradientEdge, which can only be an input")
    items = [given] if isinstance(given, TensorBase) else as_list(given, what)
    for item in items:
        if not isinstance(item, TensorBase) and not (holes and item is None):
            raise ArgumentTypeError(f"{what}: expected Tensors, got {type(item).__name__}")
    return items


def _inputs(given: Any, what: str) -> tuple[list[Any], bool]:
    """The inputs as a list, and whether there are edges among them."""
    edges = isinstance(given, GradientEdge)
    items = [given] if edges else [given] if isinstance(given, TensorBase) else as_list(given, what)
    edges = edges or any(isinstance(item, GradientEdge) for item in items)
    if not edges:
        items = _many(items, what)
    if not items:
        raise InvalidValueError(f"{what} must not be empty")
    return items, edges


def _edges(items: list[Any]) -> list[Any]:
    return [item if isinstance(item, GradientEdge) else get_gradient_edge(item) for item in items]


def _flags(retain_graph: bool | None, create_graph: bool, allow_unused: bool = False) -> int:
    retain = create_graph if retain_graph is None else retain_graph
    flags = BACKWARD_CREATE_GRAPH if create_graph else 0
    flags |= BACKWARD_RETAIN_GRAPH if retain else (BACKWARD_FREE_GRAPH if create_graph else 0)
    return flags | (BACKWARD_ALLOW_UNUSED if allow_unused else 0)


def _grads(given: Grads, outputs: list[Any], what: str) -> list[Any]:
    grads = [] if given is None else _many(given, what, holes=True)
    if grads and len(grads) != len(outputs):
        raise InvalidValueError(f"{what}: expected {len(outputs)} gradients, one for each output, got {len(grads)}")
    return grads


def backward(
    tensors: Tensors,
    grad_tensors: Grads = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Inputs | None = None,
) -> None:
    """Computes the gradients of the tensors and adds them to .grad of the leaves, or of `inputs` only.

    An input may be a GradientEdge. At one that belongs to no leaf only hooks run, and gradients are retained.
    """
    flags = _flags(retain_graph, create_graph) if retain_graph or create_graph else 0
    roots = _many(tensors, "backward()")
    grads = _grads(grad_tensors, roots, "backward(): grad_tensors")
    if inputs is None:
        return _core.backward(roots, grads, [], flags)
    wanted, edges = _inputs(inputs, "backward(): inputs")
    if not edges:
        return _core.backward(roots, grads, wanted, flags)
    computed: list[Any] = [item for item in wanted if isinstance(item, TensorBase) and not item.is_leaf]
    for item in computed:
        item.retain_grad()  # as an input without edges does
    return _core.backward_edges(roots, grads, _edges(wanted), flags)


def grad(
    outputs: Tensors,
    inputs: Inputs,
    grad_outputs: Grads = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    is_grads_batched: bool = False,
) -> tuple[Any, ...]:
    """Returns the gradients of the outputs with respect to the inputs as a tuple; changes no .grad.

    An input that was not used is an error; with allow_unused its gradient is None. With is_grads_batched the gradients of
    the outputs have an axis in front, and so have those of the inputs: one backward computes what one call for each row
    would. Nodes without a rule for it, custom functions and hooks run once for each row.
    """
    roots = _many(outputs, "grad(): outputs")
    wanted, edges = _inputs(inputs, "grad(): inputs")
    grads = _grads(grad_outputs, roots, "grad(): grad_outputs")
    flags = _flags(retain_graph, create_graph, allow_unused)
    if is_grads_batched:
        _check_rows(grads)
        flags |= BACKWARD_BATCHED
    return _core.grad_edges(roots, grads, _edges(wanted), flags) if edges else _core.grad(roots, grads, wanted, flags)


def _check_rows(batches: list[Any]) -> None:
    given = [b for b in batches if b is not None]
    sizes = {int(b.shape[0]) if b.ndim else -1 for b in given}
    if len(sizes) != 1 or -1 in sizes or 0 in sizes:
        raise InvalidValueError(
            "grad(): is_grads_batched: expected grad_outputs with one size of their first axis, above 0, "
            f"got shapes {[tuple(b.shape) for b in given]}"
        )


def queue_callback(callback: Callable[[], None]) -> None:
    """Calls the function at the end of the backward that is running on this thread."""
    _core.queue_callback(callback)
