# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Activations where the op table cannot look: kinks, NaN and huge arguments, random choices, layers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn
from tessera.nn import functional as F

KINKS = [-6.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 6.0]
WITH_KINKS: list[tuple[str, dict[str, float]]] = [
    ("elu", {"alpha": 0.5}), ("celu", {"alpha": 2.0}), ("selu", {}), ("hardswish", {}), ("hardsigmoid", {}), ("relu6", {}),
    ("hardtanh", {}), ("softshrink", {}), ("hardshrink", {}), ("softsign", {}), ("threshold", {"threshold": 0.5, "value": 2.0}),
    ("softplus", {"beta": 1.0, "threshold": 3.0}), ("relu", {}), ("leaky_relu", {}),
]  # fmt: skip


def slopes(name: str, options: dict[str, float], recorded: bool) -> Any:
    x = ts.tensor(KINKS, dtype=ts.float64, requires_grad=True)
    y = getattr(F, name)(x, **options)
    (found,) = ts.autograd.grad([y], [x], [ts.ones_like(y)], create_graph=recorded)
    return found.detach().numpy()


@pytest.mark.parametrize("name, options", WITH_KINKS, ids=lambda value: value if isinstance(value, str) else "")
def test_derivatives_at_kinks_are_pytorchs_in_both_ways(name: str, options: dict[str, float]) -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(KINKS, dtype=torch.float64, requires_grad=True)
    getattr(torch.nn.functional, name)(x, **options).sum().backward()
    wanted = x.grad.numpy()
    if name == "hardswish":  # as PyTorch 2.15 has it; older ones have -0.5 and 1.5
        wanted[KINKS.index(-3.0)], wanted[KINKS.index(3.0)] = 0, 1
    for recorded in (False, True):
        np.testing.assert_allclose(slopes(name, options, recorded), wanted, 1e-6, err_msg=f"{name}, recorded: {recorded}")


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16, ts.float16])
def test_hardswish_is_flat_at_the_left_kink_and_has_the_slope_1_at_the_right_one(dtype: Any) -> None:
    x = ts.asarray([-3.0, 3.0] * 20, dtype=dtype).requires_grad_()
    slope = ts.autograd.grad(F.hardswish(x).sum(), x)[0]
    again = ts.autograd.grad(F.hardswish(x).sum(), x, create_graph=True)[0]
    curve = ts.autograd.grad(again.sum(), x)[0]
    pushed = ts.func.jvp(F.hardswish, (x.detach(),), (ts.ones_like(x.detach()),))[1]
    for found in (slope, again.detach(), pushed):
        assert found.tolist() == [0, 1] * 20
    assert curve.tolist() == [0] * 40


@pytest.mark.parametrize("name, options", [*WITH_KINKS, ("mish", {}), ("tanhshrink", {}), ("logsigmoid", {})])
def test_nan_stays_and_huge_arguments_have_their_limits(name: str, options: dict[str, float]) -> None:
    x = ts.tensor([float("nan"), 1e30, -1e30], requires_grad=True)
    y = getattr(F, name)(x, **options)
    y.backward(ts.ones(3))
    values = y.tolist()
    assert np.isnan(values[0]) and not np.isnan(values[1:]).any(), values
    assert not np.isnan(x.grad.tolist()[1:]).any(), x.grad


def test_prelu_takes_its_weight_at_zero_and_sums_the_weights_gradient() -> None:
    x = ts.tensor([[0.0, -2.0], [3.0, -4.0]], requires_grad=True)
    weight = ts.tensor([0.5, 0.25], requires_grad=True)
    F.prelu(x, weight).backward(ts.ones((2, 2)))
    assert x.grad.tolist() == [[0.5, 0.25], [1.0, 0.25]]
    assert weight.grad.tolist() == [0.0, -6.0]


def test_softmin_converts_integers_before_it_negates_them() -> None:
    wanted = [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))]
    for dtype in (ts.uint8, ts.uint16, ts.uint32, ts.uint64, ts.int8):
        found = F.softmin(ts.tensor([0, 1], dtype=dtype), -1)
        assert found.dtype is ts.float32
        np.testing.assert_allclose(found.numpy(), wanted, 1e-6)
    lowest = F.softmin(ts.tensor([-128, -127], dtype=ts.int8), -1, dtype=ts.float64)
    np.testing.assert_allclose(lowest.numpy(), wanted, 1e-12)
    np.testing.assert_allclose(F.softmin(ts.tensor([-128, -127], dtype=ts.int8), -1).numpy(), wanted, 1e-6)


def test_gumbel_softmax_draws_from_the_generator_and_follows_the_probabilities() -> None:
    scores = F.log_softmax(ts.tensor([0.0, 1.0, 2.0]), 0)
    rows = scores.broadcast_to((20000, 3))
    ts.manual_seed(3)
    hard = F.gumbel_softmax(rows, hard=True)
    ts.manual_seed(3)
    again = F.gumbel_softmax(rows, hard=True)
    assert ts.array_equal(hard, again)
    assert ts.array_equal(hard.sum(axis=1), ts.ones(20000)) and set(np.unique(hard.numpy())) == {0.0, 1.0}
    np.testing.assert_allclose(hard.mean(axis=0).numpy(), np.exp(scores.numpy()), atol=0.02)
    soft = F.gumbel_softmax(rows, tau=0.5)
    np.testing.assert_allclose(soft.sum(axis=1).numpy(), 1, 1e-5)


def test_hard_gumbel_softmax_has_the_gradient_of_the_soft_one() -> None:
    weights = ts.tensor([1.0, 2.0, 4.0])
    found = []
    for hard in (False, True):
        ts.manual_seed(5)
        x = ts.tensor([0.5, -0.5, 0.25], requires_grad=True)
        (F.gumbel_softmax(x, 0.7, hard) * weights).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[0], found[1], 1e-6)
    with pytest.raises(ValueError):
        F.gumbel_softmax(weights, -1.0)


LAYERS = [
    (nn.ELU(0.5), lambda x: F.elu(x, 0.5)), (nn.CELU(2.0), lambda x: F.celu(x, 2.0)), (nn.SELU(), F.selu), (nn.Mish(), F.mish),
    (nn.Hardswish(), F.hardswish), (nn.Hardsigmoid(), F.hardsigmoid), (nn.ReLU6(), F.relu6),
    (nn.Hardtanh(-2, 3), lambda x: F.hardtanh(x, -2, 3)), (nn.Threshold(0.5, 7.0), lambda x: F.threshold(x, 0.5, 7.0)),
    (nn.Softplus(2.0, 3.0), lambda x: F.softplus(x, 2.0, 3.0)), (nn.Softshrink(0.75), lambda x: F.softshrink(x, 0.75)),
    (nn.Hardshrink(0.75), lambda x: F.hardshrink(x, 0.75)), (nn.Softsign(), F.softsign), (nn.Tanhshrink(), F.tanhshrink),
    (nn.LogSigmoid(), F.logsigmoid), (nn.GLU(0), lambda x: F.glu(x, 0)), (nn.Softmin(0), lambda x: F.softmin(x, 0)),
    (nn.PReLU(3, 0.5), lambda x: F.prelu(x, ts.full((3,), 0.5))),
]  # fmt: skip


@pytest.mark.parametrize("layer, function", LAYERS, ids=lambda value: type(value).__name__)
def test_layers_are_their_functions(layer: nn.Module, function: Any) -> None:
    x = ts.tensor(np.linspace(-7, 7, 12).reshape(4, 3), dtype=ts.float32)
    wanted = function(x)
    assert ts.array_equal(layer(x), wanted)
    assert ts.array_equal(copy.deepcopy(layer)(x), wanted)
    assert type(layer).__name__ in repr(layer)


def test_layers_write_in_place_when_they_are_told_to() -> None:
    for layer in (nn.ELU(inplace=True), nn.Hardtanh(inplace=True), nn.ReLU6(True), nn.Mish(True), nn.Threshold(0.0, 1.0, True)):
        x = ts.tensor([-2.0, 0.5, 9.0])
        assert layer(x) is x and "inplace=True" in repr(layer)


def test_layers_refuse_wrong_settings() -> None:
    with pytest.raises(ts.TesseraError):
        nn.Hardtanh(1.0, -1.0)
    with pytest.raises(ValueError):
        nn.Softshrink(-1.0)(ts.ones(2))


def test_classes_derived_from_an_activation_have_its_function() -> None:
    class Own(nn.ELU):
        pass

    class Limited(nn.ReLU6):
        def __init__(self) -> None:
            super().__init__(inplace=True)

    x = ts.tensor([-2.0, 0.5, 9.0])
    assert Own(2.0)(x).tolist() == nn.ELU(2.0)(x).tolist()
    assert Limited()(x) is x and x.tolist() == [0.0, 0.5, 6.0]
