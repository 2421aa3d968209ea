# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of first and second derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from .. import _ops
from .._backward import grad
from .._core import TensorBase
from .._dtypes import complex128, float64
from .._errors import InvalidValueError, NotSupportedError
from .._interop import from_numpy
from .._tensor import Tensor
from . import _jacobians as j
from ._function import Function
from ._jacobians import GradcheckError
from .._modes import enable_grad

Inputs = Union[Tensor, Sequence[Any]]


class _Options(NamedTuple):
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool
    check_batched_forward_grad: bool


def _wanted(inputs: tuple[Any, ...]) -> list[int]:
    places = [i for i, x in enumerate(inputs) if isinstance(x, TensorBase) and x.requires_grad]
    if not places:
        raise InvalidValueError("gradcheck(): at least one input must require grad")
    for i in places:
        if inputs[i].dtype not in (float64, complex128):
            raise InvalidValueError(f"gradcheck(): input {i}: expected float64 or complex128, got {inputs[i].dtype.name}")
    return places


# ---- the whole Jacobian ----


def _compare(numeric: Any, analytic: Any, where: tuple[int, int], kind: str, options: _Options) -> None:
    if np.allclose(analytic, numeric, rtol=options.rtol, atol=options.atol, equal_nan=True):
        return
    output, place = where
    worst = np.nanmax(np.abs(analytic - numeric))
    raise GradcheckError(
        f"Jacobian mismatch{kind} for output {output} with respect to input {place}: the largest difference is {worst:g}\n"
        f"numerical:\n{numeric}\nanalytical:\n{analytic}"
    )


def _compare_whole(function: Any, items: tuple[Any, ...], places: list[int], outputs: list[Tensor], o: _Options) -> None:
    """A row of the message's Jacobians is a direction of the input, a column an element of the output."""
    count = len(outputs)
    numeric = {p: j.numerical(function, items, p, o.eps, count) for p in places if items[p].numel()}
    for number, output in enumerate(outputs):
        if not output.numel():
            continue
        if o.check_backward_ad:
            found = j.analytical(output, items, places, o.check_grad_dtypes, number)
            for analytic, p in zip(found, places):
                if p in numeric:
                    _compare(numeric[p][number], analytic, (number, p), "", o)
    if o.check_forward_ad:
        for p in numeric:
            for number, analytic in enumerate(j.by_duals(function, items, p, count)):
                if outputs[number].numel():
                    _compare(numeric[p][number], analytic, (number, p), " of forward mode", o)


# ---- projections on random directions ----


def _random_direction(numbers: Any, tensor: Tensor) -> Any:
    """A vector of length 1."""
    made = numbers.standard_normal(tensor.numel())
    if tensor.dtype.is_complex:
        made = made + 1j * numbers.standard_normal(tensor.numel())
    return made / max(np.sqrt(_squared(made)), 1e-300)


def _squared(vector: Any) -> float:
    return float(j.real_product(vector, vector))


def _compare_projected(
    function: Any, items: tuple[Any, ...], places: list[int], outputs: list[Tensor], o: _Options
) -> None:
    """Compares one number for each pair of output and input, weight @ Jacobian @ direction. Draws all directions from a
    generator of its own. A mismatch is reported with the whole Jacobians if these show it, too."""
    numbers = np.random.default_rng(0)
    weights = [_random_direction(numbers, output) for output in outputs]
    for p in places:
        if not items[p].numel():
            continue
        step = _random_direction(numbers, items[p])
        differences = j.difference(function, items, p, step, o.eps)
        duals = j.dual_difference(function, items, p, step) if o.check_forward_ad else []
        for number, (output, weight) in enumerate(zip(outputs, weights)):
            if not output.numel():
                continue
            numeric = float(j.real_product(weight, differences[number]))
            tolerance = o.atol * np.abs(weight).sum() * np.abs(step).sum() + o.rtol * abs(numeric)
            pairs = []
            if o.check_backward_ad:
                product = j.vector_products(output, items, [p], weight, o.check_grad_dtypes, number)[0]
                pairs.append(("", float(j.real_product(product, step))))
            if o.check_forward_ad:
                pairs.append((" of forward mode", float(j.real_product(weight, duals[number]))))
            for kind, analytic in pairs:
                if not abs(analytic - numeric) <= tolerance and not (np.isnan(analytic) and np.isnan(numeric)):
                    _compare_whole(function, items, places, outputs, o)
                    raise GradcheckError(
                        f"Jacobian mismatch{kind} for output {number} with respect to input {p}, projected on random "
                        f"directions (fast_mode)\nnumerical: {numeric}\nanalytical: {analytic}"
                    )


# ---- other rules of a backward ----


def _check_nondeterminism(outputs: list[Tensor], items: tuple[Any, ...], places: list[int], tolerance: float) -> None:
    numbers = np.random.default_rng(1)
    for number, output in enumerate(outputs):
        if not output.requires_grad or not output.numel():
            continue
        weight = _random_direction(numbers, output)
        first = j.vector_products(output, items, places, weight)
        for _ in range(2):
            for p, a, b in zip(places, first, j.vector_products(output, items, places, weight)):
                if not np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True):
                    raise GradcheckError(
                        f"backward is not deterministic for output {number}, input {p}: with the same gradient it gave "
                        f"results that differ by {np.abs(a - b).max():g}; nondet_tol is {tolerance:g}"
                    )


class _Undefined(Function):
    """The identity, whose backward gives no gradient."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None,) * len(grads)


def _check_undefined(function: Any, items: tuple[Any, ...], places: list[int]) -> None:
    """No gradient for an output is the same as zeros: all outputs, and each one while the others get zeros."""
    live = [o for o in j.outputs_of(function, items) if o.requires_grad]
    sources = [items[p] for p in places]

    def check(outputs: Sequence[Tensor], which: str) -> None:
        zeros = [_ops.zeros_like(o.detach()) for o in outputs]
        try:
            found = grad(outputs, sources, zeros, retain_graph=True, allow_unused=True)
        except Exception as error:
            raise GradcheckError(f"backward fails with an undefined gradient for {which}: {error}") from error
        for p, g in zip(places, found):
            if g is not None and np.any(_nonzero_of(g)):
                raise GradcheckError(
                    f"expected a zero or undefined gradient for input {p} with an undefined gradient for {which}, got {g}"
                )

    check(_Undefined.apply(*live), "all outputs")
    for k in range(len(live) if len(live) > 1 else 0):
        check([_Undefined.apply(o)[0] if i == k else o for i, o in enumerate(live)], f"output {k}")


def _nonzero_of(tensor: Tensor) -> Any:
    values = j.flat(tensor)
    return (values != 0) & ~np.isnan(values)


def _check_batched(outputs: list[Tensor], items: tuple[Any, ...], places: list[int], o: _Options) -> None:
    numbers = np.random.default_rng(2)
    for number, output in enumerate(outputs):
        if not output.requires_grad or not output.numel():
            continue
        weights = [_random_direction(numbers, output) for _ in range(3)]
        one_by_one = [j.vector_products(output, items, places, w) for w in weights]
        try:
            batched = j.batched_products(output, items, places, weights)
        except Exception as error:
            raise GradcheckError(f"the batched gradient of output {number} fails: {error}") from error
        for k, p in enumerate(places):
            expected = np.array([row[k] for row in one_by_one])
            if not np.allclose(batched[k], expected, rtol=o.rtol, atol=o.atol, equal_nan=True):
                raise GradcheckError(
                    f"the batched gradient of output {number} with respect to input {p} differs from single ones\n"
                    f"batched:\n{batched[k]}\nsingle:\n{expected}"
                )


def _check_batched_forward(function: Any, outputs: list[Tensor], items: tuple[Any, ...], places: list[int], o: _Options) -> None:
    for p in places:
        if not items[p].numel():
            continue
        single = j.by_duals(function, items, p, len(outputs))
        try:
            batched = j.batched_duals(function, items, p, len(outputs))
        except Exception as error:
            raise GradcheckError(f"the batched tangents with respect to input {p} fail: {error}") from error
        for number, (one, other) in enumerate(zip(single, batched)):
            if not np.allclose(other, one, rtol=o.rtol, atol=o.atol, equal_nan=True):
                raise GradcheckError(
                    f"the batched tangents of output {number} with respect to input {p} differ from single ones\n"
                    f"batched:\n{other}\nsingle:\n{one}"
                )


# ---- the public functions ----


def _check(function: Callable[..., Any], items: tuple[Any, ...], o: _Options) -> None:
    places = _wanted(items)
    outputs = j.outputs_of(function, items)
    if not any(output.requires_grad for output in outputs):
        for p in places if outputs else ():
            for number, numeric in enumerate(j.numerical(function, items, p, o.eps, len(outputs))):
                if not np.allclose(numeric, 0, atol=o.atol):
                    raise GradcheckError(f"gradcheck(): no output requires grad, but output {number} depends on input {p}")
        return
    (_compare_projected if o.fast_mode else _compare_whole)(function, items, places, outputs, o)
    if o.check_batched_forward_grad:
        _check_batched_forward(function, outputs, items, places, o)
    if not o.check_backward_ad:
        return
    _check_nondeterminism(outputs, items, places, o.nondet_tol)
    if o.check_undefined_grad:
        _check_undefined(function, items, places)
    if o.check_batched_grad:
        _check_batched(outputs, items, places, o)


def gradcheck(
    func: Callable[..., Any],
    inputs: Inputs,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_batched_forward_grad: bool = False,
) -> bool:
    """Compares the derivatives of a function of float64 (or complex128) tensors with finite differences.

    Raises GradcheckError, which names the output and the input, or returns False without raise_exception. Further checks:
    two backwards give the same gradients but for nondet_tol; a backward copes with undefined gradients; gradients have the
    dtypes of the inputs; a batch of gradients gives the same as single ones; forward mode agrees, too, also with a
    batch of tangents (check_batched_forward_grad). fast_mode compares one random projection of each Jacobian instead of all its elements.
    """
    if masked:
        raise NotSupportedError("gradcheck(): masked: there are no sparse tensors")
    if not check_backward_ad and not check_forward_ad:
        raise InvalidValueError("gradcheck(): expected check_backward_ad or check_forward_ad, got neither")
    if check_batched_forward_grad and not check_forward_ad:
        raise InvalidValueError("gradcheck(): check_batched_forward_grad: expected check_forward_ad=True with it, got False")
    options = _Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad, check_forward_ad,
        check_backward_ad, fast_mode, check_batched_forward_grad,
    )  # fmt: skip
    try:
        _check(func, j.as_tuple(inputs), options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _random_gradients(outputs: list[Tensor], spread: bool) -> list[Any]:
    """Random gradients of the outputs; `spread`: with gaps between their elements."""
    numbers = np.random.default_rng(0)
    made = []
    for output in outputs:
        shape = (*output.shape, 2) if spread else tuple(output.shape)
        weight = numbers.standard_normal(shape)
        if output.dtype.is_complex:
            weight = weight + 1j * numbers.standard_normal(shape)
        whole = from_numpy(np.array(weight, output.dtype.numpy))
        made.append((whole[..., 0] if spread else whole).requires_grad_())
    return made


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Inputs,
    grad_outputs: Inputs | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    gen_non_contig_grad_outputs: bool = False,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """gradcheck of the function that computes the gradients, for random gradients of the outputs or the given ones.

    check_fwd_over_rev checks the forward-mode derivatives of the gradients.
    """
    items = j.as_tuple(inputs)
    places = _wanted(items)
    outputs = [o for o in j.outputs_of(func, items) if o.requires_grad]
    given = None if grad_outputs is None else list(j.as_tuple(grad_outputs))
    vectors = _random_gradients(outputs, gen_non_contig_grad_outputs) if given is None else given
    count = len(vectors)

    def detached(tensor: Any) -> Any:
        return _ops.detach(tensor).requires_grad_()

    def gradients(*args: Any) -> Any:
        live = tuple(
            a if not isinstance(a, TensorBase) or a.requires_grad or i not in places else detached(a)
            for i, a in enumerate(args[count:])
        )
        with enable_grad():
            found = [o for o in j.outputs_of(func, live) if o.requires_grad]
            sources = [live[p] for p in places]
            grads = grad(found, sources, args[:count], create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    if not any(g.requires_grad for g in gradients(*vectors, *items)):
        return True
    return gradcheck(
        gradients, (*vectors, *items), eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad,
        check_grad_dtypes, check_batched_grad, check_fwd_over_rev, check_rev_over_rev, fast_mode, masked,
    )  # fmt: skip
