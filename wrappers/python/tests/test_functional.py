# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.autograd.functional: products with Jacobian and Hessian matrices, and the matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def tensor(*values: float) -> ts.Tensor:
    return ts.tensor(list(values), dtype=ts.float64)


def wave(x: ts.Tensor, y: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
    """A function of two inputs with two outputs, not symmetric in anything."""
    return (x * y).sin(), (x.reshape(-1, 1) * y).exp().sum(1)


def matrices(x: Any, y: Any) -> Any:
    """The Jacobian of wave in closed form, by outputs and inputs."""
    outer = np.exp(np.outer(x, y))
    return (
        (np.diag(y * np.cos(x * y)), np.diag(x * np.cos(x * y))),
        (np.diag((outer * y).sum(1)), outer * x[:, None]),
    )


X, Y = np.array([0.5, -1.0]), np.array([2.0, 0.25])


def test_jacobian_of_several_outputs_by_several_inputs() -> None:
    found = jacobian(wave, (ts.asarray(X), ts.asarray(Y)))
    for row, expected_row in zip(found, matrices(X, Y)):
        for block, expected in zip(row, expected_row):
            assert not block.requires_grad
            np.testing.assert_allclose(block.numpy(), expected, atol=1e-14)


def test_shapes_of_jacobians() -> None:
    x = ts.ones((2, 3))
    assert jacobian(lambda t: t.sum(), x).shape == (2, 3)
    assert jacobian(lambda t: t.sum(0) * 2, x).shape == (3, 2, 3)
    assert jacobian(lambda t: t[:0], x).shape == (0, 3, 2, 3)
    assert isinstance(jacobian(lambda t: (t, t), x), tuple)
    assert jacobian(lambda t: [t], (x,))[0][0].shape == (2, 3, 2, 3)


def test_products_are_those_with_the_matrices() -> None:
    inputs = (ts.asarray(X), ts.asarray(Y))
    (a, b), (c, d) = matrices(X, Y)
    v = (tensor(1.0, -2.0), tensor(0.5, 3.0))
    first, second = (t.numpy() for t in v)
    values, back = vjp(wave, inputs, v)
    assert [t.tolist() for t in values] == [t.tolist() for t in wave(*inputs)]
    np.testing.assert_allclose(back[0].numpy(), first @ a + second @ c)
    np.testing.assert_allclose(back[1].numpy(), first @ b + second @ d)
    _, forth = jvp(wave, inputs, v)
    np.testing.assert_allclose(forth[0].numpy(), a @ first + b @ second)
    np.testing.assert_allclose(forth[1].numpy(), c @ first + d @ second)


def cubic(x: ts.Tensor) -> ts.Tensor:
    return (x**3).sum() + x[0] * x[1]


def test_hessian_and_its_products() -> None:
    x, v = tensor(2.0, -1.0), tensor(1.0, 10.0)
    expected = np.array([[12.0, 1.0], [1.0, -6.0]])
    np.testing.assert_allclose(hessian(cubic, x).numpy(), expected)
    value, product = vhp(cubic, x, v)
    assert value.item() == cubic(x).item()
    np.testing.assert_allclose(product.numpy(), v.numpy() @ expected)
    np.testing.assert_allclose(hvp(cubic, x, v)[1].numpy(), expected @ v.numpy())
    blocks = hessian(lambda a, b: (a * a * b).sum(), (x, v))
    np.testing.assert_allclose(blocks[0][1].numpy(), np.diag(2 * x.numpy()))
    np.testing.assert_allclose(blocks[1][1].numpy(), np.zeros((2, 2)))


class Cube(ts.autograd.Function):
    """Has no jvp."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def test_products_from_the_right_run_the_function_once_in_forward_mode() -> None:
    x, v = tensor(2.0, -1.0), tensor(1.0, 10.0)
    runs = []

    def counted(t: ts.Tensor) -> ts.Tensor:
        runs.append(ts.autograd.forward_ad.unpack_dual(t).tangent is not None)
        return cubic(t)

    assert jvp(counted, x, v)[1].item() == pytest.approx((v * ts.tensor([11.0, 5.0])).sum().item())
    assert hvp(counted, x, v)[1].tolist() == [22.0, -59.0]
    assert runs == [True, True]


def test_a_function_without_jvp_takes_two_backwards() -> None:
    x, v = tensor(2.0, -1.0), tensor(1.0, 10.0)
    assert jvp(Cube.apply, x, v)[1].tolist() == [12, 30]
    value, product = hvp(lambda t: Cube.apply(t).sum(), x, v)
    assert value.item() == 7 and product.tolist() == [12, -60]


def test_products_from_the_right_are_of_the_class_of_the_inputs() -> None:
    import tessera.torch as torch

    seen = []

    def function(t: Any) -> Any:
        seen.append(type(t))
        return (t * t).sum()

    x, v = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 0.0])
    value, pushed = torch.autograd.functional.jvp(function, x, v)
    _, product = torch.autograd.functional.hvp(function, x, v)
    assert {*seen, type(value), type(pushed), type(product)} == {torch.Tensor}
    assert (pushed.item(), product.tolist()) == (4, [2, 0])


def test_create_graph_of_products_from_the_right() -> None:
    x, v = tensor(2.0, 3.0).requires_grad_(), tensor(1.0, 1.0)
    value, product = hvp(lambda t: (t**4).sum(), x, v, create_graph=True)
    assert value.requires_grad and product.tolist() == [48, 108]
    product.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [48, 72]
    value, product = hvp(lambda t: (t**4).sum(), x, v)
    assert not value.requires_grad and not product.requires_grad


def test_create_graph_differentiates_further() -> None:
    x = tensor(2.0, 3.0).requires_grad_()
    third = jacobian(lambda t: hessian(lambda u: (u**3).sum(), t, create_graph=True), x)
    assert third[0, 0, 0].item() == 6 and third[0, 1, 1].item() == 0
    _, product = jvp(lambda t: t**3, x, ts.ones_like(x), create_graph=True)
    product.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [12, 18]


def test_complex_inputs() -> None:
    z = ts.tensor([1 + 2j, -1j], dtype=ts.complex128)
    v = ts.tensor([0.5 + 1j, 2.0], dtype=ts.complex128)
    _, product = jvp(lambda t: t * t, z, v)
    np.testing.assert_allclose(product.numpy(), (2 * z * v).numpy())


def test_what_is_not_connected_is_zero_or_an_error() -> None:
    x, y = tensor(1.0, 2.0), tensor(3.0)
    constant = ts.ones(2, dtype=ts.float64)
    assert jacobian(lambda t: constant, x).tolist() == [[0, 0], [0, 0]]
    assert jacobian(lambda a, b: a.sum(), (x, y))[1].tolist() == [0]
    assert hessian(lambda t: t.sum(), x).tolist() == [[0, 0], [0, 0]]
    for call in (
        lambda: jacobian(lambda t: constant, x, strict=True),
        lambda: jacobian(lambda a, b: a.sum(), (x, y), strict=True),
        lambda: hessian(lambda t: t.sum(), x, strict=True),
        lambda: jvp(lambda t: constant, x, x, strict=True),
    ):
        with pytest.raises(RuntimeError, match="does not depend|do not depend"):
            call()


def test_inputs_are_left_alone() -> None:
    x = tensor(1.0, 2.0).requires_grad_()
    with ts.no_grad():
        jacobian(lambda t: t * x, x)
    assert x.grad is None


@pytest.mark.parametrize("call, kind, text", [
    (lambda: vjp(lambda t: t, ts.ones(2)), ValueError, "v may be left out"),
    (lambda: vjp(lambda t: t, ts.ones(2), ts.ones(3)), ValueError, "v: expected the shapes"),
    (lambda: jacobian(lambda t: 3, ts.ones(2)), TypeError, "result"),
    (lambda: jacobian(lambda t: t, [3]), TypeError, "expected Tensors, got int at 0"),
    (lambda: hessian(lambda t: t, ts.ones(2)), ValueError, "one element, got shape"),
    (lambda: hvp(lambda t: (t, t), ts.ones(2), ts.ones(2)), ValueError, "got tuple"),
])  # fmt: skip
def test_wrong_calls_say_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
