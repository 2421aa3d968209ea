# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of first and second derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from .._core import TensorBase
from .._dtypes import complex128, float64
from .._interop import from_numpy
from .._tensor import Tensor
from .._backward import grad
from .._errors import InvalidValueError
from ._modes import no_grad

Inputs = Union[Tensor, Sequence[Any]]


class GradcheckError(AssertionError):
    """A derivative that differs from finite differences."""


def _tuple(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else tuple(given) if isinstance(given, list) else (given,)


def _outputs(function: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Tensor]:
    found = [o for o in _tuple(function(*inputs)) if isinstance(o, Tensor)]
    return [o for o in found if o.dtype.is_floating_point or o.dtype.is_complex]


def _wanted(inputs: tuple[Any, ...]) -> list[int]:
    places = [i for i, x in enumerate(inputs) if isinstance(x, TensorBase) and x.requires_grad]
    if not places:
        raise InvalidValueError("gradcheck(): at least one input must require grad")
    for i in places:
        if inputs[i].dtype not in (float64, complex128):
            raise InvalidValueError(f"gradcheck(): input {i}: expected float64 or complex128, got {inputs[i].dtype.name}")
    return places


def _values(outputs: list[Tensor]) -> list[Any]:
    return [np.array(o.detach().numpy()).reshape(-1) for o in outputs]


def _numeric(function: Any, inputs: tuple[Any, ...], place: int, eps: float) -> list[Any]:
    """For each output the matrix d output / d input, by central differences. Steps are real, and also imaginary for
    complex inputs, in the second half of the rows."""
    plain = inputs[place].detach()
    base = np.array(plain.numpy())
    steps = [eps] + ([eps * 1j] if plain.dtype is complex128 else [])
    rows: list[list[Any]] = []
    for step in steps:
        for flat in range(base.size):
            sides = []
            for sign in (1, -1):
                moved = base.copy()
                moved.reshape(-1)[flat] += sign * step
                changed = [x.detach() if isinstance(x, TensorBase) else x for x in inputs]
                changed[place] = _like(moved, plain)
                with no_grad():
                    sides.append(_values(_outputs(function, tuple(changed))))
            rows.append([(a - b) / (2 * eps) for a, b in zip(*sides)])
    count = len(rows[0]) if rows else len(_outputs(function, inputs))
    return [np.array([r[k] for r in rows]) if rows else np.zeros((0, 0)) for k in range(count)]


def _like(values: Any, plain: Tensor) -> Tensor:
    """The values in a tensor with the strides of `plain` if these are dense."""
    made = plain.clone()
    if 0 in plain._strides:
        return from_numpy(values)
    made.copy_(from_numpy(values))
    return made


def _analytic(outputs: list[Tensor], inputs: tuple[Any, ...], places: list[int]) -> list[list[Any]]:
    """analytic[output][input place]: rows of vector-Jacobian products with unit vectors."""
    found = []
    for output in outputs:
        rows: list[list[Any]] = [[] for _ in places]
        units = [1.0] + ([1j] if output.dtype.is_complex else [])
        for unit in units:
            for flat in range(output.numel()):
                weight = np.zeros(output.numel(), output.dtype.numpy)
                weight[flat] = unit
                vector = from_numpy(weight.reshape(output.shape))
                got = _vjp(output, inputs, places, vector)
                for k, g in enumerate(got):
                    rows[k].append(g)
        found.append([np.array(r) for r in rows])
    return found


def _vjp(output: Tensor, inputs: tuple[Any, ...], places: list[int], vector: Tensor) -> list[Any]:
    if not output.requires_grad:
        return [np.zeros(inputs[p].numel(), inputs[p].dtype.numpy) for p in places]
    grads = grad(output, [inputs[p] for p in places], vector, retain_graph=True, allow_unused=True)
    back = []
    for p, g in zip(places, grads):
        if g is None:
            back.append(np.zeros(inputs[p].numel(), inputs[p].dtype.numpy))
            continue
        if g.shape != inputs[p].shape or g.dtype is not inputs[p].dtype:
            raise GradcheckError(
                f"gradient of input {p}: expected {inputs[p].shape} {inputs[p].dtype.name}, got {g.shape} {g.dtype.name}"
            )
        back.append(np.array(g.detach().numpy()).reshape(-1))
    return back


def _compare(numeric: Any, analytic: Any, out: Tensor, inp: Tensor, atol: float, rtol: float, where: str) -> None:
    # numeric: rows are steps of the input; analytic: rows are unit vectors of the output.
    n_in, n_out = inp.numel(), out.numel()
    expected = np.zeros_like(analytic)
    for row in range(analytic.shape[0]):
        unit = 1j if row >= n_out else 1.0
        column = row % n_out
        for flat in range(n_in):
            real = (np.conj(unit) * numeric[flat][column]).real
            value: Any = real
            if inp.dtype.is_complex:
                value = real + 1j * (np.conj(unit) * numeric[n_in + flat][column]).real
            expected[row, flat] = value
    if not np.allclose(analytic, expected, rtol=rtol, atol=atol, equal_nan=True):
        worst = np.nanmax(np.abs(analytic - expected)) if analytic.size else 0
        raise GradcheckError(f"{where}: differs by {worst:g}\nnumeric:\n{expected}\nanalytic:\n{analytic}")


def gradcheck(
    function: Callable[..., Any],
    inputs: Inputs,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compares the derivatives of a function of float64 (or complex128) tensors with finite differences."""
    items = _tuple(inputs)
    places = _wanted(items)
    try:
        outputs = _outputs(function, items)
        if not any(o.requires_grad for o in outputs):
            raise GradcheckError("gradcheck(): no output requires grad")
        analytic = _analytic(outputs, items, places)
        for k, place in enumerate(places):
            numeric = _numeric(function, items, place, eps)
            for o, output in enumerate(outputs):
                if output.numel() and items[place].numel():
                    _compare(numeric[o], analytic[o][k], output, items[place], atol, rtol, f"output {o}, input {place}")
        return True
    except GradcheckError:
        if raise_exception:
            raise
        return False


def gradgradcheck(
    function: Callable[..., Any],
    inputs: Inputs,
    grad_outputs: Inputs | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """gradcheck of the function that computes the gradients."""
    items = _tuple(inputs)
    places = _wanted(items)
    outputs = [o for o in _outputs(function, items) if o.requires_grad]
    if grad_outputs is None:
        numbers = np.random.default_rng(0)
        vectors: list[Any] = []
        for output in outputs:
            weight = numbers.standard_normal(output.shape)
            if output.dtype.is_complex:
                weight = weight + 1j * numbers.standard_normal(output.shape)
            vectors.append(from_numpy(np.array(weight, output.dtype.numpy)).requires_grad_())
    else:
        vectors = list(_tuple(grad_outputs))
    count = len(vectors)

    def gradients(*args: Any) -> Any:
        live = tuple(
            a if not isinstance(a, TensorBase) or a.requires_grad or i not in places else a.detach().requires_grad_()
            for i, a in enumerate(args[count:])
        )
        from ._modes import enable_grad

        with enable_grad():
            found = [o for o in _outputs(function, live) if o.requires_grad]
            sources = [live[p] for p in places]
            grads = grad(found, sources, args[:count], create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    if not any(g.requires_grad for g in gradients(*vectors, *items)):
        return True
    return gradcheck(gradients, (*vectors, *items), eps, atol, rtol, raise_exception)
