# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Jacobians of functions, and their products with vectors: by differences, by backwards, by dual numbers.

A Jacobian has a row for each real direction of the input (for complex inputs, first the real ones and then the imaginary
ones), and a column for each element of the output.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._backward import grad
from .._core import TensorBase
from .._errors import NotSupportedError
from .._interop import from_numpy
from .._tensor import Tensor
from .._modes import no_grad


class GradcheckError(AssertionError, RuntimeError):
    """A derivative that differs from finite differences, or that breaks another rule."""


def as_tuple(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else tuple(given) if isinstance(given, list) else (given,)


def outputs_of(function: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Tensor]:
    """The results that can have a derivative."""
    found = [o for o in as_tuple(function(*inputs)) if isinstance(o, Tensor)]
    return [o for o in found if o.dtype.is_floating_point or o.dtype.is_complex]


def flat(tensor: Tensor) -> Any:
    return np.array(tensor.detach().numpy()).reshape(-1)


def like(values: Any, plain: Tensor) -> Tensor:
    """The values in a tensor with the strides of `plain` if these are dense."""
    given = from_numpy(np.asarray(values))
    if 0 in plain._strides:
        return given
    made = plain.clone()
    made.copy_(given)
    return made


def directions(tensor: Tensor) -> Any:
    """The real directions of a tensor, one a row."""
    unit = np.eye(tensor.numel(), dtype=tensor.dtype.numpy)
    return np.concatenate([unit, 1j * unit]) if tensor.dtype.is_complex else unit


def real_product(a: Any, b: Any) -> Any:
    """The product of two numbers or vectors as real ones, which complex numbers are pairs of."""
    return (np.conj(a) * b).real.sum(-1)


# ---- by differences ----


def difference(function: Any, inputs: tuple[Any, ...], place: int, step: Any, eps: float) -> list[Any]:
    """The derivative of each output in the direction `step` of one input, by central differences."""
    plain = inputs[place].detach()
    base = np.array(plain.numpy())
    sides = []
    for sign in (1, -1):
        changed = [x.detach() if isinstance(x, TensorBase) else x for x in inputs]
        changed[place] = like(base + sign * eps * step.reshape(base.shape), plain)
        with no_grad():
            sides.append([flat(o) for o in outputs_of(function, tuple(changed))])
    return [(a - b) / (2 * eps) for a, b in zip(*sides)]


def numerical(function: Any, inputs: tuple[Any, ...], place: int, eps: float, count: int) -> list[Any]:
    """The Jacobian of each of `count` outputs with respect to one input."""
    rows = [difference(function, inputs, place, step, eps) for step in directions(inputs[place])]
    return [np.array([row[o] for row in rows]) for o in range(count)]


# ---- by backwards ----


def vector_products(
    output: Tensor, inputs: tuple[Any, ...], places: Sequence[int], weight: Any, check_dtypes: bool = False, number: int = 0
) -> list[Any]:
    """weight @ Jacobian for each input, as a vector of the input's numbers."""
    nothing = [np.zeros(inputs[p].numel(), inputs[p].dtype.numpy) for p in places]
    if not output.requires_grad:
        return nothing
    vector = from_numpy(np.array(weight, output.dtype.numpy).reshape(output.shape))
    grads = grad(output, [inputs[p] for p in places], vector, retain_graph=True, allow_unused=True)
    found = []
    for p, zero, g in zip(places, nothing, grads):
        if g is not None and g.shape != inputs[p].shape:
            raise GradcheckError(
                f"output {number}, input {p}: expected a gradient of shape {inputs[p].shape}, got {g.shape}"
            )
        if g is not None and check_dtypes and g.dtype is not inputs[p].dtype:
            raise GradcheckError(
                f"output {number}, input {p}: expected a gradient of dtype {inputs[p].dtype.name}, got {g.dtype.name}"
            )
        found.append(zero if g is None else flat(g))
    return found


def analytical(
    output: Tensor, inputs: tuple[Any, ...], places: Sequence[int], check_dtypes: bool = False, number: int = 0
) -> list[Any]:
    """The Jacobian of an output with respect to each input."""
    weights = directions(output)
    count = output.numel()
    products = [vector_products(output, inputs, places, w, check_dtypes, number) for w in weights]
    found = []
    for k, p in enumerate(places):
        steps = directions(inputs[p])
        jacobian = np.zeros((len(steps), count), output.dtype.numpy)
        for row, product in enumerate(products):
            part = real_product(product[k], steps)
            jacobian[:, row % count] += part if row < count else 1j * part
        found.append(jacobian)
    return found


def batched_products(output: Tensor, inputs: tuple[Any, ...], places: Sequence[int], weights: Any) -> list[Any]:
    """weight @ Jacobian for several weights in one call, where grad() has is_grads_batched; else one after the other."""
    if "is_grads_batched" not in inspect.signature(grad).parameters:
        rows = [vector_products(output, inputs, places, w) for w in weights]
        return [np.array([row[k] for row in rows]) for k in range(len(places))]
    vectors = from_numpy(np.array(weights, output.dtype.numpy).reshape((len(weights), *output.shape)))
    batched: Any = grad
    found = batched(
        output, [inputs[p] for p in places], vectors, retain_graph=True, allow_unused=True, is_grads_batched=True
    )
    empty = [np.zeros((len(weights), inputs[p].numel()), inputs[p].dtype.numpy) for p in places]
    return [e if g is None else flat(g).reshape(len(weights), -1) for e, g in zip(empty, found)]


# ---- by dual numbers ----


def forward_mode() -> Any:
    try:
        return importlib.import_module("tessera.autograd.forward_ad")
    except ModuleNotFoundError:
        raise NotSupportedError("gradcheck(): check_forward_ad needs tessera.autograd.forward_ad") from None


def dual_difference(function: Any, inputs: tuple[Any, ...], place: int, step: Any) -> list[Any]:
    """The derivative of each output in the direction `step` of one input, by a dual number."""
    mode = forward_mode()
    with mode.dual_level():
        changed = [x.detach() if isinstance(x, TensorBase) else x for x in inputs]
        plain = inputs[place].detach()
        tangent = like(np.array(step, plain.dtype.numpy).reshape(tuple(plain.shape)), plain)
        changed[place] = mode.make_dual(plain, tangent)
        found = []
        for output in outputs_of(function, tuple(changed)):
            made = mode.unpack_dual(output)[1]
            found.append(np.zeros(output.numel(), output.dtype.numpy) if made is None else flat(made))
        return found


def batched_duals(function: Any, inputs: tuple[Any, ...], place: int, count: int) -> list[Any]:
    """by_duals for all directions at once, by vmap."""
    from ..func import jvp, vmap

    plain = [x.detach() if isinstance(x, TensorBase) else x for x in inputs]
    steps = from_numpy(directions(inputs[place]).reshape((-1, *inputs[place].shape)))

    def pushed(step: Any) -> Any:
        def run(value: Any) -> Any:
            changed = [*plain[:place], value, *plain[place + 1 :]]
            return tuple(outputs_of(function, tuple(changed)))

        return jvp(run, (plain[place],), (step,))[1]

    return [made.detach().numpy().reshape(len(steps), -1) for made in vmap(pushed)(steps)[:count]]


def by_duals(function: Any, inputs: tuple[Any, ...], place: int, count: int) -> list[Any]:
    """The Jacobian of each of `count` outputs with respect to one input."""
    rows = [dual_difference(function, inputs, place, step) for step in directions(inputs[place])]
    return [np.array([row[o] for row in rows]) for o in range(count)]
