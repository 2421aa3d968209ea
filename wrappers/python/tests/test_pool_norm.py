# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling, normalisation and dropout where the op table cannot look: layouts, special values, statistics, layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import nn
from tessera.nn import functional as F

RNG = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def numbers(x: ts.Tensor) -> Any:
    return x.detach().astype(ts.float64).numpy()


def channels_last(x: ts.Tensor) -> ts.Tensor:
    """The same numbers with the channels innermost."""
    axes = (0, *range(2, x.ndim), 1)
    return x.permute(*axes).contiguous().permute(0, x.ndim - 1, *range(1, x.ndim - 1))


# ---- pooling ----


@pytest.mark.parametrize("name", ["max_pool1d", "avg_pool1d", "max_pool3d", "avg_pool3d", "adaptive_max_pool3d", "adaptive_avg_pool3d"])
@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16])
def test_channels_last_pools_to_the_same_numbers(name: str, dtype: Any) -> None:
    x = ts.asarray(normal(2, 3, *[6, 5, 7][: int(name[-2])])).astype(dtype)
    plain, other = x.clone().requires_grad_(), channels_last(x).requires_grad_()
    wanted, got = (getattr(F, name)(t, 2) for t in (plain, other))
    assert got.stride(1) == 1 and not got.is_contiguous()
    error = {"rtol": 1e-6, "atol": 1e-6} if dtype is ts.float32 else {"rtol": 1e-2, "atol": 1e-2}  # sums in another order
    np.testing.assert_allclose(numbers(got), numbers(wanted), **error)
    for t in (wanted, got):
        (t * t).sum().backward()
    np.testing.assert_allclose(numbers(other.grad), numbers(plain.grad), **error)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_an_empty_batch_pools_to_an_empty_batch(axes: int) -> None:
    x = ts.ones((0, 2, *[4] * axes))
    for name in ("max_pool", "avg_pool"):
        assert getattr(F, f"{name}{axes}d")(x, 2).shape == (0, 2, *[2] * axes)
    assert getattr(F, f"lp_pool{axes}d")(x, 2.0, 2).shape == (0, 2, *[2] * axes)
    assert getattr(F, f"adaptive_max_pool{axes}d")(x, 3).shape == (0, 2, *[3] * axes)
    assert getattr(F, f"max_unpool{axes}d")(x, ts.zeros(x.shape, dtype=ts.int64), 2).shape == (0, 2, *[8] * axes)


def test_the_first_of_equal_maxima_and_the_last_nan_win() -> None:
    nan, inf = float("nan"), float("inf")
    values, places = F.adaptive_max_pool1d_with_positions(ts.tensor([[[1.0, 1.0, 0.0, 2.0], [nan, 1.0, -inf, -inf]]]), 2)
    np.testing.assert_array_equal(values.numpy(), [[[1, 2], [nan, -inf]]])
    np.testing.assert_array_equal(places.numpy(), [[[0, 3], [0, 2]]])
    x = ts.tensor([[[1.0, 1.0, 0.0, 2.0]]]).requires_grad_()
    F.max_pool1d(x, 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[[1, 0, 0, 1]]])


def test_with_ceil_mode_one_window_may_exceed_the_input() -> None:
    x = ts.tensor([[1.0, 5.0, 3.0, 3.0]])
    np.testing.assert_array_equal(F.max_pool1d(x, 3, 2, dilation=2, ceil_mode=True).numpy(), [[3]])
    np.testing.assert_array_equal(F.avg_pool1d(x, 5, 2, ceil_mode=True).numpy(), [[3]])
    for wrong in ({"kernel_size": 5}, {"kernel_size": 6, "stride": 2, "ceil_mode": True}):
        with pytest.raises(ts.ShapeError):
            F.avg_pool1d(x, **wrong)


def test_a_norm_of_zeros_has_gradient_zero() -> None:
    x = ts.zeros((1, 1, 4)).requires_grad_()
    F.lp_pool1d(x, 2.0, 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.zeros((1, 1, 4)))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unpooling_inverts_pooling_where_the_maxima_were(axes: int) -> None:
    x = ts.asarray(normal(2, 3, *[6, 4, 4][:axes])).requires_grad_()
    values, places = getattr(F, f"max_pool{axes}d_with_positions")(x, 2)
    back = getattr(F, f"max_unpool{axes}d")(values, places, 2)
    kept = back.detach().numpy() != 0
    np.testing.assert_array_equal(back.detach().numpy()[kept], x.detach().numpy()[kept])
    assert kept.sum() == values.size
    back.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), kept)


def test_overlapping_windows_unpool_a_shared_maximum_once() -> None:
    values, places = F.max_pool1d_with_positions(ts.tensor([[[1.0, 5.0, 2.0]]]), 2, 1)
    np.testing.assert_array_equal(F.max_unpool1d(values, places, 2, 1).numpy(), [[[0, 5, 0]]])


# ---- normalisation ----


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64])
@pytest.mark.parametrize("groups", [1, 3, 6])
def test_group_norm_of_channels_last_is_that_of_rows(groups: int, dtype: Any) -> None:
    """Images long enough for several chunks of rows; values and all three gradients."""
    x = ts.asarray(normal(2, 6, 13, 17)).astype(dtype) + 3
    weight, bias = ts.asarray(normal(6)).astype(dtype), ts.asarray(normal(6)).astype(dtype)
    slope = ts.asarray(normal(2, 6, 13, 17)).astype(dtype)
    found = []
    for given in (x, channels_last(x)):
        leaves = [t.clone().requires_grad_() if t is not given else given.detach().requires_grad_() for t in (given, weight, bias)]
        y = F.group_norm(leaves[0], groups, leaves[1], leaves[2])
        (y * slope).sum().backward()
        found.append([numbers(t) for t in (y, *(leaf.grad for leaf in leaves))])
    error = {ts.float16: 2e-2, ts.bfloat16: 2e-1, ts.float32: 2e-4, ts.float64: 1e-10}[dtype]
    for rows, last in zip(*found):
        np.testing.assert_allclose(last, rows, error, error)


def test_16_bit_groups_keep_float32_parameters_and_statistics() -> None:
    x = ts.asarray(normal(2, 4, 300) * 0.01 + 100)
    half = F.group_norm(x.astype(ts.bfloat16), 2, ts.ones(4), ts.zeros(4))
    wanted = F.group_norm(x.astype(ts.bfloat16).astype(ts.float32), 2)
    assert half.dtype == ts.bfloat16
    np.testing.assert_array_equal(half.astype(ts.float32).numpy(), wanted.astype(ts.bfloat16).astype(ts.float32).numpy())


def test_instance_norm_moves_running_statistics_like_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = normal(3, 2, 5)
    ours, theirs = nn.InstanceNorm1d(2, affine=True, track_running_stats=True), torch.nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
    for scale in (1, 2):
        got, wanted = ours(ts.asarray(x * scale)), theirs(torch.from_numpy(x * scale))
        np.testing.assert_allclose(got.detach().numpy(), wanted.detach().numpy(), 1e-5, 1e-5)
    for name in ("running_mean", "running_var"):
        np.testing.assert_allclose(getattr(ours, name).numpy(), getattr(theirs, name).numpy(), 1e-5, 1e-6)
    ours.eval(), theirs.eval()
    np.testing.assert_allclose(ours(ts.asarray(x)).detach().numpy(), theirs(torch.from_numpy(x)).detach().numpy(), 1e-5, 1e-5)


def test_instance_norm_into_its_input_reads_it_for_the_statistics_first() -> None:
    x, mean, var = ts.tensor([[[1.0, 3.0]]]), ts.zeros(1), ts.ones(1)
    F.instance_norm(x, mean, var, momentum=0.5, eps=0.0, out=x)
    np.testing.assert_allclose([*x.numpy().ravel(), mean.item(), var.item()], [-1, 1, 1, 1.5])


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16])
@pytest.mark.parametrize("norm", [F.batch_norm, F.instance_norm])
@pytest.mark.parametrize("strided", [False, True])
def test_running_statistics_of_16_bits_are_those_of_float32_rounded_once(norm: Any, dtype: Any, strided: bool) -> None:
    x, before = ts.asarray(normal(4, 3, 5)).astype(dtype), ts.asarray(np.abs(normal(2, 6))).astype(dtype)
    found = []
    for kind in (dtype, ts.float32):
        memory = before.astype(kind, copy=True)
        mean, var = memory[:, ::2] if strided else memory[:, :3]
        trained = norm(x, mean, var, None, None, True, 0.25)
        found.append((trained, mean.astype(dtype), var.astype(dtype)))
        mean.copy_(mean.astype(dtype)), var.copy_(var.astype(dtype))  # evaluation begins with equal statistics
        found[-1] += (norm(x, mean, var, None, None, False),)
    for narrow, wide in zip(*found):
        assert narrow.dtype is dtype
        np.testing.assert_array_equal(numbers(narrow), numbers(wide))


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64])
def test_rms_norm_takes_the_epsilon_of_the_dtype(dtype: Any) -> None:
    tiny = ts.zeros((1, 2), dtype=dtype) + 2.0**-10
    eps = float(ts.finfo(dtype).eps)
    wanted = 2.0**-10 / np.sqrt(2.0**-20 + eps)
    np.testing.assert_allclose(F.rms_norm(tiny, 2).astype(ts.float64).numpy(), wanted, 1e-2)


def test_norms_carry_nan_only_within_their_group() -> None:
    x = ts.asarray(normal(2, 4, 3))
    x[0, 1, 2] = float("nan")
    bad = np.isnan(F.group_norm(x, 2).numpy())
    assert bad[0, :2].all() and not bad[0, 2:].any() and not bad[1].any()


# ---- dropout ----


@pytest.mark.parametrize(
    ("name", "shape", "kept"),
    [("dropout1d", (400, 20, 3), 2), ("dropout1d", (4000, 3), 1), ("dropout2d", (400, 20, 2, 2), 2), ("dropout2d", (400, 20, 3), 2),
     ("dropout3d", (400, 20, 2, 1, 2), 2), ("dropout3d", (4000, 2, 1, 2), 1), ("feature_alpha_dropout", (400, 20, 3), 2)],
)  # fmt: skip
def test_whole_channels_are_dropped(name: str, shape: tuple[int, ...], kept: int) -> None:
    ts.manual_seed(0)
    y = getattr(F, name)(ts.ones(shape), 0.25).numpy().reshape(*shape[:kept], -1)
    assert (y == y[..., :1]).all()
    low, high = np.unique(y)
    assert abs((y == low).mean() - 0.25) < 0.03
    if name != "feature_alpha_dropout":
        assert low == 0 and abs(high - 4 / 3) < 1e-6


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_alpha_dropout_keeps_mean_and_variance(name: str) -> None:
    ts.manual_seed(1)
    y = getattr(F, name)(ts.randn((500, 400)), 0.3).numpy()
    assert abs(y.mean()) < 0.02 and abs(y.std() - 1) < 0.02


@pytest.mark.parametrize("name", ["dropout", "dropout2d", "alpha_dropout", "feature_alpha_dropout"])
def test_dropout_of_complex_numbers_is_that_of_their_parts_together(name: str) -> None:
    x = ts.randn((3, 4, 5), dtype=ts.float64)
    ts.manual_seed(2)
    real = getattr(F, name)(x, 0.25).numpy()
    ts.manual_seed(2)
    both = getattr(F, name)(x * (1 + 1j), 0.25).numpy()
    ts.manual_seed(2)
    of_zero = getattr(F, name)(x * 0, 0.25).numpy()
    assert np.allclose(both.real, real) and np.allclose(both.imag, real - of_zero)


def test_the_gradient_of_dropout_is_its_mask() -> None:
    for call in (F.dropout2d, F.alpha_dropout):
        x = ts.ones((3, 4, 2, 2)).requires_grad_()
        y = call(x, 0.5)
        y.sum().backward()
        kept = y.detach().numpy() == y.detach().numpy().max()
        assert (x.grad.numpy()[~kept] == 0).all() and (x.grad.numpy()[kept] > 0).all()


# ---- layers ----

# A layer by a constructor that takes the module `nn` of either package, and its input's shape.
LAYERS: list[tuple[Callable[[Any], Any], tuple[int, ...]]] = [
    (lambda n: n.MaxPool1d(3, 2, 1), (2, 3, 9)),
    (lambda n: n.MaxPool1d(2, ceil_mode=True), (3, 7)),
    (lambda n: n.MaxPool2d(2, 1, dilation=2), (2, 3, 6, 5)),
    (lambda n: n.MaxPool3d((2, 1, 2), ceil_mode=True), (2, 3, 5, 4, 3)),
    (lambda n: n.AvgPool1d(2, padding=1, count_include_pad=False), (2, 3, 7)),
    (lambda n: n.AvgPool2d((2, 3), divisor_override=5), (2, 3, 6, 6)),
    (lambda n: n.AvgPool3d(2, ceil_mode=True), (2, 3, 5, 4, 3)),
    (lambda n: n.AdaptiveAvgPool1d(3), (2, 3, 7)),
    (lambda n: n.AdaptiveAvgPool2d((None, 2)), (2, 3, 5, 7)),
    (lambda n: n.AdaptiveAvgPool3d((2, None, 3)), (2, 3, 5, 4, 3)),
    (lambda n: n.AdaptiveMaxPool1d(3), (2, 3, 7)),
    (lambda n: n.AdaptiveMaxPool2d(2), (3, 5, 7)),
    (lambda n: n.AdaptiveMaxPool3d((2, None, 1)), (2, 3, 5, 4, 3)),
    (lambda n: n.LPPool1d(2, 3, 2, ceil_mode=True), (2, 3, 8)),
    (lambda n: n.LPPool2d(2, 2), (2, 3, 5, 4)),
    (lambda n: n.GroupNorm(2, 6), (2, 6, 3, 4)),
    (lambda n: n.GroupNorm(3, 6, eps=1e-2, affine=False), (2, 6, 4)),
    (lambda n: n.InstanceNorm1d(3), (2, 3, 5)),
    (lambda n: n.InstanceNorm1d(3, affine=True), (3, 5)),
    (lambda n: n.InstanceNorm2d(3, affine=True, track_running_stats=True), (2, 3, 5, 4)),
    (lambda n: n.InstanceNorm3d(3).eval(), (2, 3, 2, 3, 4)),
    (lambda n: n.LocalResponseNorm(3, k=2.0), (2, 5, 3, 4)),
    (lambda n: n.BatchNorm1d(3), (4, 3)),
    (lambda n: n.BatchNorm1d(3, momentum=None), (4, 3, 5)),
    (lambda n: n.BatchNorm3d(3).eval(), (2, 3, 2, 3, 2)),
    (lambda n: n.Conv1d(4, 6, 3, padding="same", groups=2), (2, 4, 7)),
    (lambda n: n.Conv1d(4, 6, 3, stride=2, padding=1, bias=False), (4, 7)),
    (lambda n: n.Conv3d(2, 4, (1, 2, 3), dilation=(1, 2, 1), padding=(0, 1, 1)), (2, 2, 3, 5, 4)),
    (lambda n: n.ConvTranspose1d(4, 6, 3, stride=2, output_padding=1, groups=2), (2, 4, 5)),
    (lambda n: n.ConvTranspose3d(2, 3, 2, stride=(1, 2, 1), dilation=2), (2, 3, 2, 4)),
    (lambda n: n.Unflatten(1, (2, 3)), (2, 6, 4)),
    (lambda n: n.ZeroPad2d((1, 2, 0, 1)), (2, 3, 4, 5)),
    (lambda n: n.ConstantPad1d(2, 3.5), (2, 3, 4)),
    (lambda n: n.ConstantPad2d((1, 0, 2, 0), -1.0), (3, 4, 5)),
    (lambda n: n.ConstantPad3d(1, 0.5), (2, 3, 4, 2, 2)),
    (lambda n: n.ReflectionPad1d(2), (2, 3, 4)),
    (lambda n: n.ReflectionPad2d((1, 2, 0, 3)), (2, 3, 4, 5)),
    (lambda n: n.ReflectionPad3d(1), (2, 3, 4, 2, 3)),
    (lambda n: n.ReplicationPad1d((3, 1)), (2, 3, 4)),
    (lambda n: n.ReplicationPad2d(2), (2, 3, 4, 5)),
    (lambda n: n.ReplicationPad3d(1), (2, 3, 4, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("make", "shape"), LAYERS)
def test_layers_are_those_of_pytorch(make: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    """Names of the state, outputs, and gradients of the input, the parameters being the same."""
    torch = pytest.importorskip("torch")
    ours, theirs = make(nn), make(torch.nn)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()})
    x = normal(*shape)
    a, b = ts.asarray(x).requires_grad_(), torch.tensor(x, requires_grad=True)
    got, wanted = ours(a), theirs(b)
    np.testing.assert_allclose(got.detach().numpy(), wanted.detach().numpy(), 2e-4, 2e-5)
    (got * got).sum().backward()
    (wanted * wanted).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), 2e-3, 2e-4)
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters()):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), 2e-3, 2e-3, err_msg=name)


def test_layers_that_pytorch_1_lacks() -> None:
    x = ts.asarray(normal(2, 3, 4, 4, 4))
    np.testing.assert_array_equal(nn.LPPool3d(2, 2)(x).numpy(), F.lp_pool3d(x, 2.0, 2).numpy())
    np.testing.assert_array_equal(nn.CircularPad3d(1)(x).numpy(), np.pad(x.numpy(), [(0, 0)] * 2 + [(1, 1)] * 3, "wrap"))
    np.testing.assert_array_equal(nn.CircularPad1d((2, 1))(x[0, 0]).numpy(), np.pad(x[0, 0].numpy(), [(0, 0)] * 2 + [(2, 1)], "wrap"))
    np.testing.assert_array_equal(nn.CircularPad2d(1)(x[0]).numpy(), np.pad(x[0].numpy(), [(0, 0)] * 2 + [(1, 1)] * 2, "wrap"))
    np.testing.assert_array_equal(nn.ZeroPad1d(1)(x[0, 0]).numpy(), np.pad(x[0, 0].numpy(), [(0, 0), (0, 0), (1, 1)]))
    np.testing.assert_array_equal(nn.ZeroPad3d((0, 1, 2, 0, 0, 3))(x).numpy(), np.pad(x.numpy(), [(0, 0)] * 2 + [(0, 3), (2, 0), (0, 1)]))
    norm = nn.RMSNorm((4, 4), eps=1e-3)
    assert list(norm.state_dict()) == ["weight"]
    np.testing.assert_allclose(norm(x).detach().numpy(), x.numpy() / np.sqrt((x.numpy() ** 2).mean((-1, -2), keepdims=True) + 1e-3), 1e-5)
    assert not list(nn.RMSNorm(4, elementwise_affine=False).parameters())


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pooling_layers_return_positions_for_unpooling(axes: int) -> None:
    x = ts.asarray(normal(2, 3, *[5, 4, 4][:axes]))
    values, places = getattr(nn, f"MaxPool{axes}d")(2, return_indices=True)(x)
    back = getattr(nn, f"MaxUnpool{axes}d")(2)(values, places, output_size=x.shape)
    assert back.shape == x.shape and (back.numpy() != 0).sum() == values.size
    values, places = getattr(nn, f"AdaptiveMaxPool{axes}d")(2, return_indices=True)(x)
    flat = x.numpy().reshape(2, 3, -1)
    np.testing.assert_array_equal(np.take_along_axis(flat, places.numpy().reshape(2, 3, -1), 2), values.numpy().reshape(2, 3, -1))


@pytest.mark.parametrize("layer", [nn.Dropout1d(0.5), nn.Dropout2d(0.5), nn.Dropout3d(0.5), nn.AlphaDropout(0.5), nn.FeatureAlphaDropout(0.5)])
def test_dropout_layers_only_drop_in_training(layer: Any) -> None:
    x = ts.ones((50, 4, 2) if isinstance(layer, nn.Dropout1d) else (50, 4, 2, 2) if not isinstance(layer, nn.Dropout3d) else (50, 4, 2, 2, 1))
    assert not np.array_equal(layer(x).numpy(), x.numpy())
    assert np.array_equal(layer.eval()(x).numpy(), x.numpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.Dropout1d(1.5),
        lambda: nn.GroupNorm(4, 6),
        lambda: nn.BatchNorm1d(2)(ts.ones((2, 2, 1, 1))),
        lambda: nn.InstanceNorm2d(3)(ts.ones((2, 3))),
        lambda: nn.InstanceNorm1d(3, affine=True)(ts.ones((2, 4, 5))),
        lambda: nn.Conv1d(3, 4, 3, padding="same", stride=2),
        lambda: nn.Conv3d(3, 4, (3, 3)),
        lambda: nn.Conv1d(3, 4, 3, padding="full"),
        lambda: nn.ReflectionPad2d((1, 2, 3)),
        lambda: nn.AdaptiveAvgPool2d((1, 2, 3))(ts.ones((1, 1, 4, 4))),
    ],
)
def test_wrong_layers_say_so(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("sizes", [{"output_size": (4, 3, 5)}, {"output_ratio": (0.5, 0.4, 0.6)}, {"output_size": 1}])
def test_fractional_max_pooling_is_pytorchs(axes: int, sizes: dict[str, Any]) -> None:
    rng = np.random.default_rng(4)
    x, numbers = rng.standard_normal((2, 3, 9, 7, 10)[: 2 + axes]), rng.uniform(size=(2, 3, axes))
    given = {k: v[:axes] if isinstance(v, tuple) else v for k, v in sizes.items()}
    kernel = (2, 3, 2)[:axes]
    theirs = torch.tensor(x, requires_grad=True)
    pool = getattr(torch.nn.functional, f"fractional_max_pool{axes}d")
    wanted, places = pool(theirs, kernel, **given, return_indices=True, _random_samples=torch.tensor(numbers))
    wanted.square().sum().backward()
    ours = ts.from_numpy(x.copy()).requires_grad_()
    kind = getattr(nn, f"FractionalMaxPool{axes}d")
    found, positions = kind(kernel, **given, return_indices=True, samples=ts.from_numpy(numbers))(ours)
    np.testing.assert_array_equal(found.detach().numpy(), wanted.detach().numpy())
    np.testing.assert_array_equal(positions.numpy(), places.numpy())
    found.square().sum().backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), 1e-12)
    alone = kind(kernel, **given, samples=ts.from_numpy(numbers[:1]))(ours[0])
    np.testing.assert_array_equal(alone.detach().numpy(), wanted[0].detach().numpy())


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16])
def test_fractional_max_pooling_of_16_bit_floats_has_the_windows_of_float64(dtype: Any) -> None:
    x = ts.sin(ts.arange(10000.0)).reshape((1, 1, 2, 5000)).astype(dtype)

    def positions(x: ts.Tensor, samples: ts.Tensor | None) -> list[int]:
        ts.manual_seed(3)
        found = F.fractional_max_pool2d_with_positions(x, (1, 2), (2, 400), samples=samples)
        return found[1].flatten().tolist()

    assert positions(x, None) == positions(x.astype(ts.float32), None)
    samples = ts.asarray([[[0.25, 0.5]]], dtype=ts.float64)
    assert positions(x, samples.astype(dtype)) == positions(x.astype(ts.float64), samples)


def test_fractional_max_pooling_draws_its_windows_and_refuses_what_does_not_fit() -> None:
    x = ts.arange(100.0).reshape((1, 1, 10, 10))
    pool = nn.FractionalMaxPool2d(2, output_ratio=0.7)
    ts.manual_seed(0)
    drawn = {tuple(pool(x).flatten().tolist()) for _ in range(20)}
    assert len(drawn) > 1 and all(max(values) == 99 and len(values) == 49 for values in drawn)
    for call in (
        lambda: nn.FractionalMaxPool2d(2), lambda: nn.FractionalMaxPool2d(2, 3, 0.5), lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5),
        lambda: F.fractional_max_pool2d(x, 2, 10), lambda: F.fractional_max_pool2d(x[0, 0], 2, 3),
        lambda: F.fractional_max_pool3d(x, 2, (3, 3)), lambda: F.fractional_max_pool2d(x, 2, 3, samples=ts.zeros((1, 2))),
        lambda: nn.FractionalMaxPool2d(2, output_ratio=math.nan)(x), lambda: nn.FractionalMaxPool2d(2, output_ratio=math.inf)(x),
        lambda: nn.FractionalMaxPool2d(2, output_ratio=1e300)(x), lambda: F.fractional_max_pool2d(x, 2**62, 2**62 + 1),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
