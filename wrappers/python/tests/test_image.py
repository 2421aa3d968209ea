# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops and layers of images, distances, masked reductions: what the rows of op_table_*.py do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import masked, nn
from tessera.autograd import grad, gradcheck
from tessera.autograd.forward_ad import dual_level, make_dual, unpack_dual
from tessera.nn import functional as F

torch = pytest.importorskip("torch")


def last(x: ts.Tensor) -> ts.Tensor:
    """The same image with the channels innermost in memory."""
    return x.permute_dims((0, 2, 3, 1)).contiguous().permute_dims((0, 3, 1, 2))


@pytest.mark.parametrize("dtype", ("float32", "float16"))
@pytest.mark.parametrize("mode", ("nearest", "bilinear", "bicubic", "area"))
def test_layouts_give_the_same_numbers(mode: str, dtype: str) -> None:
    rows = ts.randn((2, 5, 9, 7)).astype(getattr(ts, dtype)).requires_grad_()
    channels = last(rows.detach()).requires_grad_()
    a, b = (F.interpolate(x, (4, 13), mode=mode) for x in (rows, channels))
    assert b.stride()[1] == 1 and a.is_contiguous()
    assert (a == b).all()
    a.sum().backward()
    b.sum().backward()
    assert (rows.grad == channels.grad).all()


@pytest.mark.parametrize("threads", (1, 2, 3))
def test_threads_give_the_same_numbers(threads: int) -> None:
    x = ts.randn((3, 2, 150, 170))
    wanted = F.interpolate(x, scale_factor=1.7, mode="bicubic")
    before = ts.get_num_threads()
    try:
        ts.set_num_threads(threads)
        assert (F.interpolate(x, scale_factor=1.7, mode="bicubic") == wanted).all()
    finally:
        ts.set_num_threads(before)


def test_an_element_without_weight_takes_no_part() -> None:
    x = ts.asarray([[[1.0, float("inf"), 3.0]]])
    result = F.interpolate(x, size=3, mode="linear", align_corners=True)
    assert result.tolist() == [[[1.0, float("inf"), 3.0]]]
    assert F.interpolate(x, size=2, mode="linear", align_corners=True).tolist() == [[[1.0, 3.0]]]


def test_factors_are_numbers_of_any_kind() -> None:
    x = ts.ones((1, 1, 2, 2))
    for factor in (2, 2.0, np.float32(2), (2, 2), [2.0, 2]):
        assert F.interpolate(x, scale_factor=factor).shape == (1, 1, 4, 4)


def test_nearest_keeps_every_number() -> None:
    x = ts.asarray([[[-0.0, float("nan"), float("-inf")]]])
    result = F.interpolate(x, scale_factor=2).numpy()[0, 0]
    assert np.signbit(result[:2]).all() and np.isnan(result[2:4]).all() and np.isneginf(result[4:]).all()


@pytest.mark.parametrize("dtype", ("uint8", "int64", "bool_", "complex64"))
def test_nearest_takes_any_dtype(dtype: str) -> None:
    x = ts.asarray([[[0, 1]]]).astype(getattr(ts, dtype))
    result = F.interpolate(x, scale_factor=2)
    assert result.dtype is x.dtype and (result == ts.asarray([[[0, 0, 1, 1]]]).astype(x.dtype)).all()
    with pytest.raises(TypeError, match="input: expected a floating dtype"):
        F.interpolate(x, scale_factor=2, mode="linear")


@pytest.mark.parametrize(("options", "text"), (
    ({}, "size: expected either size or scale_factor, got neither"),
    ({"size": 3, "scale_factor": 2}, "got both"),
    ({"scale_factor": (2, 2)}, "scale_factor: expected 1 or 1 numbers, got 2"),
    ({"scale_factor": -1}, "scale_factor: expected positive finite numbers"),
    ({"scale_factor": float("nan")}, "scale_factor: expected positive finite numbers"),
    ({"scale_factor": 1e30}, "scale_factor: expected result sizes below"),
    ({"size": 0}, "size: expected numbers of at least 1"),
    ({"size": 3, "mode": "bicubic"}, 'mode: expected 2 spatial axes for "bicubic", got 1'),
    ({"size": 3, "align_corners": True}, "align_corners: expected none"),
    ({"size": 3, "mode": "linear", "antialias": True}, "antialias: expected the mode bilinear or bicubic"),
    ({"size": 3, "recompute_scale_factor": True}, "recompute_scale_factor: expected scale_factor, got size"),
))  # fmt: skip
def test_interpolate_says_what_is_wrong(options: Any, text: str) -> None:
    with pytest.raises(ts.InvalidValueError, match=text):
        F.interpolate(ts.ones((1, 1, 4)), **options)


@pytest.mark.parametrize("call", (
    lambda x: F.max_pool1d(x, 2),
    lambda x: F.avg_pool1d(x, 2),
    lambda x: F.interpolate(x, size=3),
    lambda x: F.conv1d(x, ts.ones((1, 1, 1))),
    lambda x: F.conv1d(ts.ones((1, 1, 1)), x),
))  # fmt: skip
def test_axes_that_32_bits_cannot_count_are_refused(call: Any) -> None:
    with pytest.raises(ts.ShapeError, match="at least 1 and below 2147483648, got shape .1, 1, 2147483648"):
        call(ts.ones((1, 1, 1)).expand((1, 1, 2**31)))  # has the memory of one element


def test_grid_sample_reads_no_foreign_memory() -> None:
    image = ts.ones((1, 1, 2, 2))
    grid = ts.asarray([[[[float("nan"), 0.0], [float("inf"), 0.0], [1e30, -1e30], [float("-inf"), float("nan")]]]])
    for padding in ("zeros", "border", "reflection"):
        for mode in ("bilinear", "nearest", "bicubic"):
            result = F.grid_sample(image, grid, mode=mode, padding_mode=padding)
            assert result[0, 0, 0, 0].item() == 0
            assert mode == "bicubic" or result.isfinite().all()  # its weights are NaN at infinity, as in PyTorch


def test_the_last_of_many_elements_is_not_rounded_up() -> None:
    size = 2**25 + 4  # float32 has the last only as the one behind it
    memory = ts.zeros(size + 1)
    memory[size] = 7.0
    image = memory[:size].reshape((1, 1, 1, size))
    for padding in ("zeros", "border", "reflection"):
        for mode in ("bilinear", "nearest"):
            assert F.grid_sample(image, ts.ones((1, 1, 1, 2)), mode=mode, padding_mode=padding).item() == 0


def test_grid_of_the_identity_gives_the_image() -> None:
    image = ts.randn((2, 3, 4, 5))
    theta = ts.asarray([[[1.0, 0, 0], [0, 1, 0]]] * 2)
    for corners in (False, True):
        grid = F.affine_grid(theta, image.shape, align_corners=corners)
        np.testing.assert_allclose(F.grid_sample(image, grid, align_corners=corners).numpy(), image.numpy(), atol=1e-5)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_grid_sample_computes_16_bits_in_float32(dtype: str) -> None:
    kind = getattr(ts, dtype)
    image, grid = (ts.randn(s).astype(kind) for s in ((1, 2, 4, 4), (1, 3, 3, 2)))
    wanted = F.grid_sample(image.astype(ts.float32), grid.astype(ts.float32)).astype(kind)
    result = F.grid_sample(image, grid)
    assert result.dtype is kind and (result == wanted).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_grid_sample_of_many_channels_is_that_of_each(dtype: str) -> None:
    rng = np.random.default_rng(3)
    image = ts.asarray(rng.standard_normal((2, 37, 9, 11)).astype(dtype))
    grid = ts.asarray((rng.random((2, 12, 13, 2)) * 2.6 - 1.3).astype(dtype))
    for mode in ("bilinear", "nearest", "bicubic"):
        whole = F.grid_sample(image, grid, mode=mode)
        for c in range(37):
            each = F.grid_sample(image[:, c : c + 1], grid, mode=mode)
            assert np.array_equal(whole[:, c : c + 1].numpy(), each.numpy())


def test_gradient_at_the_border_is_that_of_pytorch() -> None:
    points = [[[[-1.0, 1.0], [0.3, -1.0], [1.5, 0.2], [0.1, 0.2]]]]
    numbers = np.random.default_rng(0).normal(size=(1, 2, 3, 3))
    for padding in ("zeros", "border", "reflection"):
        for corners in (False, True):
            ours = ts.asarray(points, dtype=ts.float64).requires_grad_()
            theirs = torch.tensor(points, dtype=torch.float64, requires_grad=True)
            F.grid_sample(ts.asarray(numbers), ours, padding_mode=padding, align_corners=corners).sum().backward()
            torch.nn.functional.grid_sample(
                torch.from_numpy(numbers), theirs, padding_mode=padding, align_corners=corners
            ).sum().backward()
            np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), atol=1e-12, err_msg=f"{padding} {corners}")


@pytest.mark.parametrize("corners", (False, True))
@pytest.mark.parametrize("padding", ("zeros", "border", "reflection"))
@pytest.mark.parametrize("mode", ("bilinear", "nearest", "bicubic"))
def test_the_kernel_of_a_grid_gives_what_its_ordinary_ops_give(mode: str, padding: str, corners: bool) -> None:
    """Those run with tangents, and for gradients that are differentiated again."""
    rng = np.random.default_rng(7)
    options: dict[str, Any] = {"mode": mode, "padding_mode": padding, "align_corners": corners}
    for dtype, shape, out in (
        ("float32", (2, 3, 5, 7), (11, 13)), ("float64", (1, 2, 1, 4), (1, 1)), ("float64", (3, 1, 4, 4), (16, 8)),
        ("float32", (1, 20, 9, 3), (1, 129)), ("float32", (2, 2, 3, 4, 5), (3, 7, 11)), ("float64", (2, 1, 1, 2, 3), (2, 2, 2)),
    ):  # fmt: skip
        if mode == "bicubic" and len(shape) == 5:
            continue
        image = ts.asarray(rng.standard_normal(shape).astype(dtype))
        numbers = (rng.random((shape[0], *out, len(out))) * 6 - 3).astype(dtype)
        numbers.flat[:4] = (-1, 1, 0, -3)
        weights = ts.asarray(rng.standard_normal((*shape[:2], *out)).astype(dtype))
        for grid in (ts.asarray(numbers), ts.asarray(np.ascontiguousarray(numbers.T)).permute(tuple(range(len(shape)))[::-1])):
            found = F.grid_sample(image, grid, **options)
            with dual_level():
                dual = F.grid_sample(image, make_dual(grid, ts.zeros_like(grid)), **options)
                assert np.array_equal(found.numpy(), unpack_dual(dual).primal.numpy())
            given = [image.detach().requires_grad_(), grid.detach().requires_grad_()]
            once, again = [
                grad([F.grid_sample(*given, **options)], given, [weights], create_graph=twice, allow_unused=True) for twice in (False, True)
            ]
            for one, other in zip(once, again):
                assert (one is None) == (other is None)
                if one is not None:
                    np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-4 if dtype == "float32" else 1e-9)


def test_the_number_of_threads_changes_no_sample_of_a_grid() -> None:
    image, grid = ts.randn((3, 2, 20, 30)).requires_grad_(), (ts.rand((3, 50, 60, 2)) * 2.2 - 1.1).requires_grad_()
    threads, results = ts.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            ts.set_num_threads(count)
            found = F.grid_sample(image, grid)
            results.append([found.detach().numpy(), *(g.numpy() for g in grad([found.sum()], [image, grid]))])
    finally:
        ts.set_num_threads(threads)
    for result in results[1:]:
        assert all(np.array_equal(one, other) for one, other in zip(result, results[0]))


def test_batched_gradients_of_a_grid_are_those_of_each_sample() -> None:
    image, grid = ts.randn((2, 3, 4, 5)), (ts.rand((2, 6, 7, 2)) * 2.2 - 1.1).requires_grad_()
    found, rows = F.grid_sample(image, grid), ts.randn((4, 2, 3, 6, 7))
    together = grad([found], [grid], [rows], is_grads_batched=True, retain_graph=True)[0]
    for row, of_row in zip(rows, together):
        np.testing.assert_allclose(of_row.numpy(), grad([found], [grid], [row], retain_graph=True)[0].numpy(), rtol=1e-5, atol=1e-5)


# ---- distances ----


@pytest.mark.parametrize("p", (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")))
def test_distance_of_0_has_gradient_0(p: float) -> None:
    for rows in (2, 30):
        x = ts.ones((rows, 3), dtype=ts.float64).requires_grad_()
        ts.cdist(x, x.detach(), p=p).sum().backward()
        assert (x.grad == 0).all()
    x = ts.ones((3, 2)).requires_grad_()
    F.pdist(x, p).sum().backward()
    assert (x.grad == 0).all()


@pytest.mark.parametrize("p", (0.0, 1.0, 1.5, 2.0, 3.0, float("inf")))
@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_distances_of_few_and_of_many_vectors_and_components(dtype: str, p: float) -> None:
    rng = np.random.default_rng(11)
    for batch, rows1, rows2, components in ((1, 1, 5, 3), (3, 2, 1, 1), (2, 5, 17, 2), (1, 4, 16, 16), (2, 3, 40, 33), (1, 2, 9, 64), (1, 3, 20, 65)):
        a, b = (rng.integers(-3, 4, (batch, rows, components)).astype(dtype) for rows in (rows1, rows2))
        apart = a[:, :, None] - b[:, None]
        wanted = (apart != 0).sum(-1) if p == 0 else np.linalg.norm(apart, p, -1)
        found = ts.cdist(ts.asarray(a), ts.asarray(b), p=p, compute_mode="donot_use_mm_for_euclid_dist").numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == "float32" else 1e-12)
        i, j = np.triu_indices(rows2, 1)
        wanted = (b[0, i] != b[0, j]).sum(-1) if p == 0 else np.linalg.norm(b[0, i] - b[0, j], p, -1)
        np.testing.assert_allclose(F.pdist(ts.asarray(b[0]), p).numpy(), wanted, rtol=1e-5 if dtype == "float32" else 1e-12)
        b[0, 0, -1] = np.nan
        found = ts.cdist(ts.asarray(a), ts.asarray(b), p=p, compute_mode="donot_use_mm_for_euclid_dist").numpy()
        assert np.isnan(found[0, :, 0]).all() == (p != 0) and not np.isnan(found[:, :, 1:]).any()


def test_vectors_without_components_have_no_distance() -> None:
    for p in (0.0, 2.0, float("inf")):
        assert ts.cdist(ts.ones((2, 0)), ts.ones((3, 0)), p=p).tolist() == [[0.0] * 3] * 2
        assert F.pdist(ts.ones((3, 0)), p).tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("p", (0.0, 1.0, 2.0, 2.5, float("inf")))
def test_distances_of_any_number_of_components(p: float, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for components in range(1, 36):
        a, b = (rng.integers(-3, 4, (n, components)).astype(dtype) for n in (3, 4))
        wanted = np.linalg.norm(a[:, None] - b, p, axis=-1)
        mode = "donot_use_mm_for_euclid_dist"
        np.testing.assert_allclose(ts.cdist(ts.from_numpy(a), ts.from_numpy(b), p, mode).numpy(), wanted, 1e-5)
        i, j = np.triu_indices(4, 1)
        np.testing.assert_allclose(F.pdist(ts.from_numpy(b), p).numpy(), np.linalg.norm(b[i] - b[j], p, axis=-1), 1e-5)


@pytest.mark.parametrize("p", (1.0, 1.5, 2.0, float("inf")))
def test_nan_and_infinity_reach_the_distance(p: float) -> None:
    x = ts.zeros((3, 11))
    x[1, 2], x[2, 10] = float("nan"), float("-inf")
    found = ts.cdist(x, ts.zeros((1, 11)), p)[:, 0].tolist()
    assert found[0] == 0 and np.isnan(found[1]) and found[2] == np.inf


def test_product_agrees_with_differences() -> None:
    a, b = ts.randn((40, 7), dtype=ts.float64), ts.randn((3, 7), dtype=ts.float64)
    wanted = ts.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").numpy()
    np.testing.assert_allclose(ts.cdist(a, b).numpy(), wanted, atol=1e-12)
    with pytest.raises(ts.InvalidValueError, match="compute_mode: expected"):
        ts.cdist(a, b, compute_mode="mm")


# ---- masks ----


def test_masked_has_the_ops_of_its_names() -> None:
    from tessera import _ops

    named = {name.removeprefix("masked_") for name in _ops.__all__ if name.startswith("masked_")}
    assert named - {"fill", "scatter", "select"} == set(masked.__all__)


def test_what_a_mask_leaves_out_does_not_matter() -> None:
    mask = ts.asarray([[True, False, True], [False, False, False]])
    for name in sorted(set(masked.__all__) - {"argmax", "argmin"}):
        x = ts.asarray([[1.0, float("nan"), 2.0], [float("inf"), 3.0, 4.0]], dtype=ts.float64).requires_grad_()
        function = getattr(masked, name)
        result = function(x, 2, 1, mask) if name == "normalize" else function(x, mask=mask, axis=1)
        assert not result[0].isnan().any(), name
        where = ts.asarray([0, 2]) if result.ndim == 2 else None
        chosen = result[0] if where is None else ts.take(result[0], where)
        chosen.sum().backward()
        assert x.grad is not None and x.grad.isfinite().all() and (ts.where(mask, 0, x.grad) == 0).all(), name


def test_masked_extremum_is_never_one_that_is_left_out() -> None:
    x = ts.asarray([5.0, float("-inf"), float("-inf")])
    assert masked.argmax(x, ts.asarray([False, False, True])).item() == 2
    assert masked.argmin(-x, ts.asarray([False, False, True])).item() == 2
    assert masked.argmax(ts.asarray([3, -128, 1], dtype=ts.int8), ts.asarray([False, True, False])).item() == 1


def test_segments_can_leave_out_the_rest() -> None:
    x = ts.asarray([1.0, 2.0, 4.0]).requires_grad_()
    result = ts.segment_reduce(x, "max", lengths=ts.asarray([2]), unchecked=True)
    assert result.tolist() == [2.0]
    result.backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


# ---- layers ----


def both(ours: nn.Module, theirs: Any, *shape: int) -> None:
    """Checks that a layer does what PyTorch's does, and prints its settings."""
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    np.testing.assert_allclose(ours(ts.asarray(x)).numpy(), theirs(torch.from_numpy(x)).numpy(), atol=1e-6)
    assert repr(ours).startswith(type(theirs).__name__ + "(")


def test_layers() -> None:
    t = torch.nn
    both(nn.Upsample(scale_factor=2.0, mode="bilinear"), t.Upsample(scale_factor=2.0, mode="bilinear"), 1, 2, 3, 4)
    both(nn.Upsample((5, 6)), t.Upsample((5, 6)), 1, 2, 3, 4)
    both(nn.UpsamplingNearest2d(scale_factor=2), t.UpsamplingNearest2d(scale_factor=2), 1, 2, 3, 4)
    both(nn.UpsamplingBilinear2d((5, 7)), t.UpsamplingBilinear2d((5, 7)), 1, 2, 3, 4)
    both(nn.PixelShuffle(2), t.PixelShuffle(2), 1, 8, 2, 3)
    both(nn.PixelUnshuffle(2), t.PixelUnshuffle(2), 1, 2, 4, 6)
    both(nn.ChannelShuffle(2), t.ChannelShuffle(2), 1, 4, 2, 2)
    both(nn.Unfold(3, padding=1, stride=2), t.Unfold(3, padding=1, stride=2), 1, 2, 5, 5)
    both(nn.Fold((3, 3), 2), t.Fold((3, 3), 2), 1, 8, 4)
    assert repr(nn.PixelShuffle(3)) == "PixelShuffle(upscale_factor=3)"
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2.0, mode='nearest')"


def test_fold_adds_16_bits_in_float32() -> None:
    columns = ts.full((1, 9, 9), 1.0 + 2.0**-10).astype(ts.float16)
    wanted = F.fold(columns.astype(ts.float32), 5, 3).astype(ts.float16)
    assert (F.fold(columns, 5, 3) == wanted).all()


def test_columns_of_nothing_need_no_time() -> None:
    size = 2**20
    assert F.fold(ts.zeros((1, 0, 4)), 1, size, padding=size // 2).shape == (1, 0, 1, 1)


def test_columns_are_differentiable_twice() -> None:
    x = ts.randn((1, 1, 3, 3), dtype=ts.float64).requires_grad_()
    gradcheck(lambda t: (F.unfold(t, 2) ** 2).sum(), (x,))
