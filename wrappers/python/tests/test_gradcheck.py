# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""gradcheck and gradgradcheck find wrong derivatives, in each of their modes [P0 gradcheck / gradgradcheck]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd import Function, GradcheckError, gradcheck, gradgradcheck

MODES = [{}, {"fast_mode": True}]


def leaf(*shape: int, dtype: Any = ts.float64) -> ts.Tensor:
    numbers = np.random.default_rng(3)
    made = numbers.standard_normal(shape)
    if dtype.is_complex:
        made = made + 1j * numbers.standard_normal(shape)
    return ts.from_numpy(np.asarray(made)).astype(dtype).requires_grad_()


def custom(forward: Any, backward: Any) -> Any:
    class Custom(Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.save_for_backward(*args)
            return forward(*args)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return backward(ctx, *grads)

    return Custom.apply


right = custom(
    lambda a, b: (a * b, a.sin()),
    lambda c, p, q: (p * c.saved_tensors[1] + q * c.saved_tensors[0].cos(), p * c.saved_tensors[0]),
)


@pytest.mark.parametrize("mode", MODES)
def test_right_derivatives_pass(mode: Any) -> None:
    x, y = leaf(2, 3), leaf(2, 3)
    every = {"check_batched_grad": True, "check_grad_dtypes": True, **mode}
    assert gradcheck(lambda a, b: (a @ b.mT).sin(), (x, y), **every)
    assert gradcheck(right, (x, y), **every)
    assert gradgradcheck(lambda a, b: (a @ b.mT).sin(), (x, y), **every)
    assert gradgradcheck(lambda a: a.exp() * a, (x,), gen_non_contig_grad_outputs=True, **mode)


@pytest.mark.parametrize("mode", MODES)
def test_complex_derivatives_pass_and_wrong_ones_do_not(mode: Any) -> None:
    z, w = leaf(3, dtype=ts.complex128), leaf(3, dtype=ts.complex128)
    for function in (lambda a, b: a * b.conj(), lambda a, b: (a * b).abs(), lambda a, b: a.real * b):
        assert gradcheck(function, (z, w), **mode)
        assert gradgradcheck(function, (z, w), **mode)
    forgets_conj = custom(lambda a: a * a, lambda c, g: g * 2 * c.saved_tensors[0])
    with pytest.raises(GradcheckError, match="output 0 with respect to input 0"):
        gradcheck(forgets_conj, (z,), **mode)
    to_complex = custom(lambda a: a * ts.tensor(1j, dtype=ts.complex128), lambda c, g: g.real)
    with pytest.raises(RuntimeError):  # which PyTorch's is
        gradcheck(to_complex, (leaf(3),), **mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_derivative_names_the_output_and_the_input(mode: Any) -> None:
    wrong = custom(
        lambda a, b: (a * b, a.sin()),
        lambda c, p, q: (p * c.saved_tensors[1] + q * c.saved_tensors[0].cos(), p * c.saved_tensors[0] + q),
    )
    x, y = leaf(3), leaf(3)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(wrong, (x, y), **mode)
    text = str(caught.value)
    assert "Jacobian mismatch for output 1 with respect to input 1" in text
    assert "numerical:" in text and "analytical:" in text
    assert gradcheck(wrong, (x, y), raise_exception=False, **mode) is False


@pytest.mark.parametrize("mode", MODES)
def test_one_wrong_element_of_many_is_found(mode: Any) -> None:
    def spoil(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        made = (g * 2 * ctx.saved_tensors[0]).clone()
        made[7] = made[7] * 1.5
        return made

    with pytest.raises(GradcheckError):
        gradcheck(custom(lambda a: a * a, spoil), (leaf(40),), **mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_second_derivative_is_found(mode: Any) -> None:
    def first(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        x = ctx.saved_tensors[0]
        return g * 3 * x.detach() * x  # the value is right, its derivative is not

    cube = custom(lambda a: a**3, first)
    x = leaf(3)
    assert gradcheck(cube, (x,), **mode)
    with pytest.raises(GradcheckError):
        gradgradcheck(cube, (x,), **mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_backward_that_varies_is_found_unless_it_is_tolerated(mode: Any) -> None:
    calls = [0]

    def varying(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        calls[0] += 1
        return g * 2 * ctx.saved_tensors[0] + 1e-9 * (calls[0] % 2)

    function = custom(lambda a: a * a, varying)
    with pytest.raises(GradcheckError, match="not deterministic for output 0, input 0"):
        gradcheck(function, (leaf(3),), **mode)
    assert gradcheck(function, (leaf(3),), nondet_tol=1e-8, **mode)


def test_undefined_gradients_are_tried() -> None:
    class Careless(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return (0 if a is None else a * 2) + b * 3

    class Wrong(Careless):
        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            a, b = (ts.ones(3, dtype=ts.float64) if g is None else g for g in (a, b))
            return a * 2 + b * 3

    x = leaf(3)
    with pytest.raises(GradcheckError, match="backward fails with an undefined gradient for all outputs"):
        gradcheck(lambda t: sum(Careless.apply(t)), (x,))
    with pytest.raises(GradcheckError, match="expected a zero or undefined gradient for input 0 .* for all outputs"):
        gradcheck(lambda t: sum(Wrong.apply(t)), (x,))
    assert gradcheck(lambda t: sum(Wrong.apply(t)), (x,), check_undefined_grad=False)
    with pytest.raises(GradcheckError, match="expected a zero or undefined gradient for input 0"):
        gradcheck(custom(lambda a: a * 2, lambda c, g: g * 2 if np.any(g.numpy()) else g + 1), (x,))


def test_a_batched_gradient_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera.autograd import _jacobians

    assert gradcheck(lambda t: t.exp(), (leaf(3),), check_batched_grad=True)
    real = _jacobians.batched_products
    monkeypatch.setattr(_jacobians, "batched_products", lambda *args: [g + 1 for g in real(*args)])
    with pytest.raises(GradcheckError, match="the batched gradient of output 0 with respect to input 0 differs"):
        gradcheck(lambda t: t.exp(), (leaf(3),), check_batched_grad=True)


@pytest.mark.parametrize("mode", MODES)
def test_forward_mode_is_compared_where_it_is_there(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera.autograd import _jacobians

    x = leaf(3)
    try:
        _jacobians.forward_mode()
    except ts.NotSupportedError:
        with pytest.raises(ts.NotSupportedError, match="forward_ad"):
            gradcheck(lambda t: t.exp(), (x,), check_forward_ad=True, **mode)
    else:
        assert gradcheck(lambda t: t.exp(), (x,), check_forward_ad=True, **mode)

    def by_differences(function: Any, inputs: Any, place: int, step: Any) -> Any:
        return [factor * d for d in _jacobians.difference(function, inputs, place, step, 1e-6)]

    monkeypatch.setattr(_jacobians, "dual_difference", by_differences)
    factor = 1.0
    assert gradcheck(lambda t: t.exp(), (x,), check_forward_ad=True, **mode)
    assert gradcheck(lambda t: t.exp(), (x,), check_forward_ad=True, check_backward_ad=False, **mode)
    factor = 1.1
    with pytest.raises(GradcheckError, match="of forward mode for output 0 with respect to input 0"):
        gradcheck(lambda t: t.exp(), (x,), check_forward_ad=True, **mode)


def test_arguments_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="must require grad"):
        gradcheck(lambda t: t, (ts.ones(2, dtype=ts.float64),))
    with pytest.raises(ValueError, match="float64"):
        gradcheck(lambda t: t, (ts.ones(2, requires_grad=True),))
    with pytest.raises(ValueError, match="got neither"):
        gradcheck(lambda t: t, (leaf(2),), check_backward_ad=False)
    with pytest.raises(NotImplementedError, match="masked"):
        gradcheck(lambda t: t, (leaf(2),), masked=True)
    with pytest.raises(GradcheckError, match="no output requires grad"):
        gradcheck(lambda t: t.detach(), (leaf(2),))
