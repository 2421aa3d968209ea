# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What a table of values does not show of scattering and of windows on memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd import gradcheck


def rng() -> Any:
    return np.random.default_rng(0)


# ---- scattering ----


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", [ts.float32, ts.float16, ts.int64], ids=str)
def test_results_do_not_depend_on_threads(reduce: str, dtype: ts.DType) -> None:
    draw = rng()
    x = ts.asarray(draw.uniform(1, 3, (40, 300))).astype(dtype)
    rows = ts.asarray(draw.integers(0, 40, (4000, 300)))
    source = ts.asarray(draw.uniform(0.9, 1.1, (4000, 300))).astype(dtype)
    flat, places = ts.asarray(draw.uniform(1, 3, 50)).astype(dtype), ts.asarray(draw.integers(0, 50, 200000))
    values = ts.asarray(draw.uniform(0.9, 1.1, 200000)).astype(dtype)
    threads, found = ts.get_num_threads(), []
    try:
        for count in (1, max(threads, 2)):
            ts.set_num_threads(count)
            one = ts.scatter_reduce(x, 0, rows, source, reduce).astype(ts.float64).numpy()
            found.append((one, ts.scatter_reduce(flat, 0, places, values, reduce).astype(ts.float64).numpy()))
    finally:
        ts.set_num_threads(threads)
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)


def test_last_of_equal_places_is_written_whatever_the_threads() -> None:
    places = ts.asarray(rng().integers(0, 100, 300000))
    wanted = np.zeros(100)
    wanted[places.numpy()] = np.arange(300000)
    found = ts.scatter(ts.zeros(100, dtype=ts.float64), 0, places, ts.arange(300000).astype(ts.float64))
    np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64], ids=str)
def test_nan_wins_and_infinities_count(reduce: str, dtype: ts.DType) -> None:
    x = ts.tensor([0.0, 0.0, np.nan], dtype=dtype)
    found = ts.scatter_reduce(
        x, 0, ts.asarray([0, 0, 1, 2]), ts.tensor([1.0, np.nan, np.inf, 5.0], dtype=dtype), reduce
    )
    values = found.astype(ts.float64).numpy()
    assert np.isnan(values[0]) and np.isnan(values[2]) and values[1] == (np.inf if reduce == "amax" else 0)


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_short_floats_are_ordered_as_float32(dtype: ts.DType) -> None:
    draw = rng()
    bits = draw.integers(0, 2**16, (2, 9, 333)).astype(np.uint16)
    bits[:, :, ::7] &= 0x8000  # both zeros
    x, source = (ts.from_numpy(part.copy()).view_dtype(dtype) for part in bits)
    index = ts.asarray(draw.integers(0, 9, 9))
    places = ts.asarray(draw.integers(0, 333, (9, 333)))
    for reduce in ("amax", "amin"):
        for call in (lambda a, b: ts.index_reduce(a, 0, index, b, reduce), lambda a, b: ts.scatter_reduce(a, 1, places, b, reduce)):
            found = call(x, source).astype(ts.float32).numpy()
            np.testing.assert_array_equal(found, call(x.astype(ts.float32), source.astype(ts.float32)).numpy())


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
@pytest.mark.parametrize("rows, columns", [(3, 2000), (70, 130), (5000, 3), (90000, 1)])
def test_sums_of_short_floats_are_rounded_once(dtype: ts.DType, rows: int, columns: int) -> None:
    draw = rng()
    x = ts.asarray(draw.standard_normal((columns, rows))).astype(dtype).T
    source = ts.asarray(draw.standard_normal((rows, 2 * columns))).astype(dtype)[:, ::2]
    for given in (source, source.contiguous(), ts.asarray(0.3, dtype=dtype).expand(rows, columns)):
        for axis, size in ((0, rows), (1, columns)):
            places = ts.asarray(draw.integers(0, size, (rows, columns)))
            wide = ts.scatter_add(x.astype(ts.float32), axis, places, given.astype(ts.float32))
            assert ts.equal(ts.scatter_add(x, axis, places, given), wide.astype(dtype)).all()
            index = ts.asarray(draw.integers(0, size, size))
            wide = ts.index_add(x.astype(ts.float32), axis, index, given.astype(ts.float32))
            assert ts.equal(ts.index_add(x, axis, index, given), wide.astype(dtype)).all()


def test_largest_of_unsigned_numbers_is_exact() -> None:
    x = ts.asarray(np.array([2**63 + 1], np.uint64))
    source = ts.asarray(np.array([2**64 - 1, 5], np.uint64))
    assert ts.scatter_reduce(x, 0, ts.asarray([0, 0]), source, "amax").tolist() == [2**64 - 1]
    assert ts.scatter_reduce(x, 0, ts.asarray([0]), source[:1], "amin", include_self=False).tolist() == [2**64 - 1]


def test_bools_are_folded_as_truth_values() -> None:
    x, index = ts.asarray([False, True, True]), ts.asarray([0, 1, 1])
    source = ts.asarray([True, True, False])
    assert ts.scatter_reduce(x, 0, index, source, "sum").tolist() == [True, True, True]
    assert ts.scatter_reduce(x, 0, index, source, "prod").tolist() == [False, False, True]
    assert ts.scatter_reduce(x, 0, index, source, "amin").tolist() == [False, False, True]


def test_equal_extremes_share_the_gradient() -> None:
    x = ts.tensor([2.0, 1.0], requires_grad=True)
    source = ts.tensor([2.0, 2.0, 0.0], requires_grad=True)
    ts.scatter_reduce(x, 0, ts.asarray([0, 0, 1]), source, "amax").sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1 / 3, 1])
    np.testing.assert_allclose(source.grad.numpy(), [1 / 3, 1 / 3, 0])
    x.grad = source.grad = None
    ts.scatter_reduce(x, 0, ts.asarray([0, 0, 1]), source, "amax", include_self=False).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0, 0])
    np.testing.assert_allclose(source.grad.numpy(), [1 / 2, 1 / 2, 1])


def test_gradient_of_products_with_zeros() -> None:
    for factors in ([0.0, 2.0, 3.0], [0.0, 2.0, 0.0], [4.0, 0.0, 3.0], [0.0, 0.0, 0.0]):
        x = ts.tensor(factors[:1], dtype=ts.float64, requires_grad=True)
        source = ts.tensor(factors[1:], dtype=ts.float64, requires_grad=True)
        ts.scatter_reduce(x, 0, ts.asarray([0, 0]), source, "prod").sum().backward()
        wanted = [np.prod(factors[:i] + factors[i + 1 :]) for i in range(3)]
        np.testing.assert_allclose([*x.grad.tolist(), *source.grad.tolist()], wanted)


def test_an_index_outside_changes_nothing() -> None:
    x = ts.ones(3)
    calls = [
        lambda: x.scatter_(0, ts.asarray([0, 3]), 5.0),
        lambda: x.scatter_reduce_(0, ts.asarray([0, 3]), ts.ones(2), "prod", include_self=False),
        lambda: x.index_add_(0, ts.asarray([0, -1]), ts.ones(2)),
        lambda: x.index_fill_(0, ts.asarray([0, 3]), 7.0),
        lambda: x.put_(ts.asarray([0, -4]), ts.ones(2)),
    ]
    for call in calls:
        with pytest.raises(IndexError):
            call()
        assert x.tolist() == [1, 1, 1]


def test_in_place_forms_write_through_views_and_differentiate() -> None:
    base = ts.tensor(rng().uniform(1, 2, (3, 4)), requires_grad=True)
    source = ts.tensor(rng().uniform(1, 2, 3), requires_grad=True)
    index = ts.asarray([0, 2, 2])

    def through(name: str, *more: Any) -> Any:
        def function(b: ts.Tensor, s: ts.Tensor) -> ts.Tensor:
            whole = b * 1
            getattr(whole[:, 1], name)(0, index, s, *more)
            return whole

        return function

    for name, *more in [
        ("scatter_reduce_", "prod"),
        ("scatter_reduce_", "mean", False),
        ("scatter_reduce_", "amax"),
        ("index_add_",),
    ]:
        assert gradcheck(through(name, *more), (base, source))

    def put(b: ts.Tensor, s: ts.Tensor) -> ts.Tensor:
        whole = b * 1
        whole.T.put_(ts.asarray([1, 5, -1]), s)  # not row-major
        return whole

    assert gradcheck(put, (base, source))


def test_scattering_into_itself_reads_first() -> None:
    x = ts.arange(6).astype(ts.float32)
    assert x.clone().scatter_(0, ts.asarray([5, 4, 3, 2, 1, 0]), x).tolist() == [5, 4, 3, 2, 1, 0]
    x.scatter_(0, ts.asarray([5, 4, 3, 2, 1, 0]), x)
    assert x.tolist() == [5, 4, 3, 2, 1, 0]


def test_one_element_has_the_axis_0() -> None:
    x = ts.tensor(5.0, requires_grad=True)
    one = ts.asarray([0])
    for found in (
        ts.index_select(x, 0, one),
        ts.index_select(x, -1, ts.asarray(0)),
        ts.roll(x, 3, axis=0),
        ts.squeeze(x, -1),
    ):
        assert found.shape == () and float(found) == 5
    assert ts.gather(x, 0, ts.asarray([0, 0])).tolist() == [5, 5]
    assert ts.gather(ts.tensor([1.0, 2.0]), 0, ts.asarray(1)).shape == ()
    assert ts.scatter(x, 0, one, ts.tensor([3.0])).tolist() == 3
    assert ts.scatter_add(x, 0, ts.asarray([0, 0]), ts.tensor([3.0, 4.0])).tolist() == 12
    (ts.gather(x, 0, ts.asarray([0, 0])).sum() + ts.index_select(x, 0, one) + ts.take(x, one, axis=0).sum()).backward()
    assert x.grad is not None and x.grad.tolist() == 4
    for call in (lambda: ts.roll(x, 1, axis=1), lambda: ts.take(x, one, axis=1), lambda: ts.gather(x, 1, one)):
        with pytest.raises(IndexError):
            call()


def test_a_mask_widens_the_result_but_no_tensor_in_place() -> None:
    x = ts.ones(2)
    mask = ts.asarray([[True], [False]])
    assert ts.masked_fill(x, mask, 3.0).tolist() == [[3, 3], [1, 1]]
    with pytest.raises(ts.ShapeError):
        x.masked_fill_(mask, 3.0)


# ---- windows on memory ----


def test_a_window_that_repeats_sums_its_gradients() -> None:
    x = ts.tensor(rng().uniform(0, 1, (2, 3)), requires_grad=True)
    y = ts.as_strided(x, (2, 2, 2), (1, 2, 0))
    weights = ts.asarray(rng().uniform(0, 1, (2, 2, 2)))
    (y * weights).sum().backward()
    wanted = np.zeros(6)
    for i, j, k in np.ndindex(2, 2, 2):
        wanted[i + 2 * j] += weights.numpy()[i, j, k]
    np.testing.assert_allclose(x.grad.numpy().reshape(-1), wanted)


def test_an_input_that_repeats_gets_the_mean() -> None:
    line = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)
    wide = line.broadcast_to((4, 3))
    ts.as_strided(wide, (3,), (1,)).sum().backward()
    np.testing.assert_allclose(line.grad.numpy(), [1, 1, 1])
    gaps = ts.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    ts.as_strided(gaps[::2], (2, 2), (2, 0)).sum().backward()
    np.testing.assert_allclose(gaps.grad.numpy(), [2, 0, 2, 0])


def test_writes_through_windows_reach_the_base() -> None:
    x = ts.zeros(6)
    ts.as_strided(x, (2, 2), (3, 1)).fill_(1)
    assert x.tolist() == [1, 1, 0, 1, 1, 0]
    x.unfold(0, 2, 3)[1] = 5
    assert x.tolist() == [1, 1, 0, 5, 5, 0]
    with pytest.raises(ValueError, match="overlapping elements"):
        x.unfold(0, 2, 1).fill_(1)
    leaf = ts.ones(6, requires_grad=True)
    y = leaf * 2
    ts.as_strided(y, (2, 2), (3, 1)).multiply_(3)
    y.sum().backward()
    assert leaf.grad.tolist() == [6, 6, 2, 6, 6, 2]


def test_unfold_of_a_transposed_tensor_differentiates() -> None:
    x = ts.tensor(rng().uniform(0, 1, (3, 4)), requires_grad=True)
    assert gradcheck(lambda t: t.T.unfold(0, 3, 1) ** 2, (x,))


def test_bytes_under_another_dtype() -> None:
    x = ts.tensor([1.0, -2.0])
    bits = x.view_dtype(ts.int32)
    assert bits.tolist() == np.array([1.0, -2.0], np.float32).view(np.int32).tolist()
    bits[0] = 0
    assert x.tolist() == [0, -2]
    leaf = ts.ones(2, requires_grad=True)
    assert not leaf.view_dtype(ts.int32).requires_grad and not leaf.view_dtype(ts.float16).requires_grad
    y = leaf * 1
    with pytest.raises(ts.AutogradError):
        y.view_dtype(ts.float16).fill_(0)
    assert ts.ones((2, 4), dtype=ts.uint8).view_dtype(ts.int32).shape == (2, 1)
    assert ts.ones((4, 2), dtype=ts.uint8).T.view_dtype(ts.int8).T.shape == (4, 2)


def test_view_takes_a_shape_or_a_dtype() -> None:
    x = ts.tensor([[1.0, 2.0]])
    assert x.view(ts.int32).dtype is x.view(dtype=ts.int32).dtype is ts.int32 and ts.view(x, ts.uint8).shape == (1, 8)
    assert x.view(2).shape == x.view((2,)).shape == x.view(size=2).shape == (2,) and x.view(2, 1).shape == (2, 1)
    for call in (
        lambda: x.view(),
        lambda: x.view("float32"),
        lambda: x.view(ts.int32, 1),
        lambda: x.view(2, dtype=ts.int32),
    ):
        with pytest.raises(TypeError):
            call()


def test_where_of_a_condition_alone_gives_positions() -> None:
    x = ts.tensor([[0.0, 2.0], [3.0, 0.0]])
    for found in (ts.where(x), ts.where(x > 0)):
        assert isinstance(found, tuple) and [p.tolist() for p in found] == [[0, 1], [1, 0]]
    assert ts.where(x > 0, x, -1.0).tolist() == [[-1, 2], [3, -1]]
    with pytest.raises(TypeError):
        ts.where(x > 0, x)


def test_grids_take_lists_and_arguments() -> None:
    a, b = ts.arange(3), ts.arange(2)
    for grids in (ts.meshgrid(a, b), ts.meshgrid([a, b])):
        assert isinstance(grids, tuple) and [g.shape for g in grids] == [(2, 3), (2, 3)]
    assert [t.shape for t in ts.broadcast_arrays(a, ts.zeros((2, 1)))] == [(2, 3), (2, 3)]
    assert [t.shape for t in ts.atleast_2d(a, ts.zeros(()))] == [(1, 3), (1, 1)] and ts.atleast_2d(a).shape == (1, 3)
    assert ts.cartesian_prod(a, b).shape == (6, 2) and ts.block_diag(a, b).shape == (2, 5)
    assert [p.shape for p in a.tensor_split(ts.asarray([1]), dim=0)] == [(1,), (2,)]
    assert [p.shape for p in ts.zeros((2, 4)).hsplit([1, 3])] == [(2, 1), (2, 2), (2, 1)]


def test_a_tensor_of_given_strides() -> None:
    x = ts.empty_strided((2, 3), (1, 2))
    assert x.shape == (2, 3) and x.stride() == (1, 2)
    assert x.new_empty_strided((2,), (3,)).stride() == (3,)


def test_triangles_of_long_matrices_take_no_time() -> None:
    assert ts.tril_indices(2**50, 0).shape == ts.triu_indices(0, 2**50, 3).shape == (2, 0)
    assert ts.triu_indices(2**50, 2).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert ts.tril_indices(2, 2**50, 1).tolist() == [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]
    assert ts.tril_indices(3, offset=-(2**62)).shape == (2, 0) and ts.tril_indices(2, offset=2**62).shape == (2, 4)
