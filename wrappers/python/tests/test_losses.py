# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Losses where the op table cannot look: limits, kinks, and the layers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn
from tessera.nn import functional as F


def test_binary_cross_entropy_keeps_its_logarithms_above_minus_100() -> None:
    p = ts.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    loss = F.binary_cross_entropy(p, ts.tensor([1.0, 0.0, 0.0, 1.0]), reduction="none")
    assert loss.tolist() == [100.0, 100.0, 0.0, 0.0]
    loss.sum().backward()
    assert np.isfinite(p.grad.numpy()).all() and p.grad.tolist()[2:] == [0.0, 0.0]
    assert np.isnan(F.binary_cross_entropy(ts.tensor([-0.5]), ts.tensor([1.0])).item())


def test_binary_cross_entropy_differentiates_towards_its_target_too() -> None:
    target = ts.tensor([0.25, 0.5], dtype=ts.float64, requires_grad=True)
    p = ts.tensor([0.75, 0.5], dtype=ts.float64)
    F.binary_cross_entropy(p, target, reduction="sum").backward()
    np.testing.assert_allclose(target.grad.numpy(), np.log(1 - p.numpy()) - np.log(p.numpy()), 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16, ts.float16], ids=str)
@pytest.mark.parametrize("shape", [(150, 7), (3, 21, 90), (1, 140, 70), (2, 5, 9, 17), (2, 5, 0)], ids=str)
@pytest.mark.parametrize("function", [F.nll_loss, F.cross_entropy], ids=lambda function: function.__name__)
def test_losses_of_classes_far_apart_match_a_plain_loop(function: Any, shape: tuple[int, ...], dtype: ts.DType) -> None:
    """More positions than are taken together, and classes that are not neighbours in memory."""
    rng = np.random.default_rng(3)
    x = ts.from_numpy(rng.uniform(-3, 3, shape)).astype(dtype).requires_grad_()
    classes, places = shape[1], (shape[0], *shape[2:])
    targets = rng.integers(0, classes, places)
    targets[rng.uniform(size=places) < 0.1] = -100
    weights = rng.integers(1, 5, classes) / 4
    loss = function(x, ts.from_numpy(targets), ts.from_numpy(weights).astype(dtype), reduction="none")
    upstream = rng.integers(-4, 5, places) / 4
    loss.backward(ts.from_numpy(upstream).astype(dtype))
    numbers = x.detach().astype(ts.float64).numpy()
    lse = np.log(np.exp(numbers).sum(1)) if function is F.cross_entropy else np.zeros(places)
    wanted, slopes = np.zeros(places), np.zeros(shape)
    for place in np.ndindex(places):
        if (target := targets[place]) >= 0:
            row = (place[0], slice(None), *place[1:])
            factor = weights[target] * upstream[place]
            wanted[place] = weights[target] * (lse[place] - numbers[row][target])
            if function is F.cross_entropy:
                slopes[row] = factor * np.exp(numbers[row] - lse[place])
            slopes[row][target] -= factor
    tolerance = {ts.float64: 1e-12, ts.float32: 2e-6, ts.float16: 4e-3, ts.bfloat16: 4e-2}[dtype]
    np.testing.assert_allclose(loss.detach().astype(ts.float64).numpy(), wanted, tolerance, tolerance)
    np.testing.assert_allclose(x.grad.astype(ts.float64).numpy(), slopes, tolerance, tolerance)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (2, 140, 9), (2, 3, 130)], ids=str)
def test_label_smoothing_is_the_same_along_every_axis(shape: tuple[int, ...], dtype: ts.DType) -> None:
    rng = np.random.default_rng(4)
    x = ts.from_numpy(rng.uniform(-3, 3, shape)).astype(dtype).requires_grad_()
    targets = ts.from_numpy(rng.integers(0, shape[1], (shape[0], *shape[2:])))
    targets[0] = -100
    weights = ts.from_numpy(rng.integers(1, 5, shape[1]) / 4).astype(dtype)
    loss = F.cross_entropy(x, targets, weights, label_smoothing=0.25)
    loss.backward()
    numbers = x.detach().astype(ts.float64).requires_grad_()
    log_p, w = numbers.log_softmax(1), weights.astype(ts.float64)
    kept = targets >= 0
    goal = 0.75 * F.one_hot(ts.where(kept, targets, 0), shape[1]).movedim(-1, 1).astype(ts.float64) + 0.25 / shape[1]
    each = -(goal * log_p * w.reshape((-1, *[1] * (len(shape) - 2)))).sum(1)
    wanted = (each * kept).sum() / (w[ts.where(kept, targets, 0)] * kept).sum()
    wanted.backward()
    tolerance = {ts.float64: 1e-12, ts.float32: 2e-6, ts.bfloat16: 2e-2}[dtype]
    np.testing.assert_allclose(loss.item(), wanted.item(), tolerance, tolerance)
    np.testing.assert_allclose(x.grad.astype(ts.float64).numpy(), numbers.grad.numpy(), tolerance, tolerance)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_logits_that_are_not_finite_stay_with_their_position(dtype: ts.DType) -> None:
    logits = np.zeros((3, 40))
    logits[1, 3], logits[1, 17], logits[0, 20], logits[2, 39] = -np.inf, np.nan, np.inf, -np.inf
    for axis, x in ((1, logits[None]), (0, logits.T[..., None])):  # positions side by side, and rows
        x = ts.from_numpy(np.ascontiguousarray(x)).astype(dtype).requires_grad_()
        loss = F.cross_entropy(x, ts.zeros((x.shape[0], x.shape[2]), dtype=ts.int64), reduction="none").reshape(-1)
        loss.sum().backward()
        gradient = x.grad.numpy().reshape(3, 40) if axis else x.grad.numpy().reshape(40, 3).T
        odd = [17, 20]
        assert np.isnan(loss.detach().numpy()[odd]).all() and np.isnan(gradient[:, odd]).all(axis=0).all()
        assert loss[3].item() == loss[39].item() == pytest.approx(np.log(2)) and loss[0].item() == pytest.approx(np.log(3))
        assert gradient[1, 3] == 0 and np.isfinite(np.delete(gradient, odd, axis=1)).all()


def test_losses_of_classes_name_a_target_out_of_range() -> None:
    for function in (F.nll_loss, F.cross_entropy):
        with pytest.raises(IndexError, match=r"\[0, 5\).*got 7"):
            function(ts.zeros((2, 5, 40)), ts.full((2, 40), 7))


def test_gaussian_nll_limits_the_variance_and_lets_its_gradient_through() -> None:
    var = ts.tensor([0.0], requires_grad=True)
    loss = F.gaussian_nll_loss(ts.tensor([1.0]), ts.tensor([1.0]), var, eps=0.5)
    assert loss.item() == pytest.approx(0.5 * np.log(0.5))
    loss.backward()
    assert var.grad.item() == pytest.approx(0.5 / 0.5)


def test_margins_pass_their_gradient_at_the_kink_as_pytorch_does() -> None:
    torch = pytest.importorskip("torch")
    for function, inputs in {
        "hinge_embedding_loss": ([1.0, 0.5], [-1.0, -1.0]),
        "margin_ranking_loss": ([1.0, 2.0], [1.0, 0.0], [1.0, 1.0]),
    }.items():
        ours = [ts.tensor(i, requires_grad=n == 0) for n, i in enumerate(inputs)]
        theirs = [torch.tensor(i, requires_grad=n == 0) for n, i in enumerate(inputs)]
        getattr(F, function)(*ours).backward()
        getattr(torch.nn.functional, function)(*theirs).backward()
        assert ours[0].grad.tolist() == theirs[0].grad.tolist(), function


def test_normalize_of_zeros_is_zero_and_half_numbers_do_not_overflow() -> None:
    assert F.normalize(ts.zeros((2, 3))).tolist() == [[0.0] * 3] * 2
    x = ts.full((1, 4), 300.0, dtype=ts.float16)
    assert F.normalize(x).tolist() == [[0.5] * 4]
    out = ts.empty(0)
    assert F.normalize(ts.tensor([[3.0, 4.0]]), out=out) is out and out.tolist()[0] == pytest.approx([0.6, 0.8])


X, Y = np.linspace(-1, 1, 12).reshape(3, 4), np.linspace(0.9, 0.1, 12).reshape(3, 4)
SIGNS, ROW_SIGNS = np.where(np.arange(12).reshape(3, 4) % 2, 1.0, -1.0), np.array([1.0, -1.0, 1.0])
LABELS = np.array([[3, 0, -1, 1], [1, -1, 2, 0], [0, 1, 2, 3]])
LAYERS: list[tuple[Any, dict[str, Any], tuple[Any, ...]]] = [
    (nn.L1Loss, {}, (X, Y)), (nn.SmoothL1Loss, {"beta": 0.5}, (X, Y)), (nn.HuberLoss, {"delta": 0.5}, (X, Y)),
    (nn.KLDivLoss, {"log_target": True}, (X, Y)), (nn.KLDivLoss, {"reduction": "batchmean"}, (X, Y)), (nn.BCELoss, {}, (Y, Y)),
    (nn.PoissonNLLLoss, {"full": True}, (X, Y)), (nn.GaussianNLLLoss, {"full": True}, (X, X, Y)), (nn.SoftMarginLoss, {}, (X, SIGNS)),
    (nn.HingeEmbeddingLoss, {"margin": 0.5}, (X, SIGNS)), (nn.MarginRankingLoss, {"margin": 0.5}, (X, Y, SIGNS)),
    (nn.CosineEmbeddingLoss, {"margin": 0.25}, (X, Y, ROW_SIGNS)), (nn.TripletMarginLoss, {"margin": 0.5, "swap": True}, (X, Y, SIGNS)),
    (nn.MultiLabelMarginLoss, {}, (X, LABELS)), (nn.MultiMarginLoss, {"p": 2, "margin": 0.5}, (X, LABELS[:, 0])),
    (nn.MultiLabelSoftMarginLoss, {}, (X, Y)), (nn.CosineSimilarity, {"eps": 1e-6}, (X, Y)), (nn.PairwiseDistance, {"p": 1.0}, (X, Y)),
]  # fmt: skip


@pytest.mark.parametrize("kind, options, inputs", LAYERS, ids=lambda value: getattr(value, "__name__", ""))
def test_layers_are_pytorchs(kind: Any, options: dict[str, Any], inputs: tuple[Any, ...]) -> None:
    torch = pytest.importorskip("torch")
    layer = kind(**options)
    expected = getattr(torch.nn, kind.__name__)(**options)(*map(torch.tensor, inputs))
    np.testing.assert_allclose(layer(*map(ts.tensor, inputs)).numpy(), expected.numpy(), 1e-5)
    assert kind.__name__ in repr(layer)


REDUCED = list(dict.fromkeys(kind for kind, _, _ in LAYERS if "reduction" in inspect.signature(kind).parameters))


@pytest.mark.parametrize("kind", REDUCED, ids=lambda kind: kind.__name__)
def test_layers_refuse_unknown_reductions(kind: Any) -> None:
    with pytest.raises(ts.InvalidValueError):
        kind(reduction="max")
