# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the op table cannot say about scans, order statistics, sets and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd import grad, gradcheck

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("count", [1, 3, 100])
def test_numbers_whose_squares_overflow_have_a_variance(count: int) -> None:
    equal = np.full((count, 5), 2.0**660)  # sums of which are exact
    for layout in (equal, equal.T.copy(order="F"), np.asfortranarray(equal)):
        axis = layout.shape.index(count)
        assert ts.var(ts.asarray(layout), axis=axis).tolist() == [0.0] * 5
        assert ts.std(ts.asarray(layout)).item() == 0
    apart = ts.asarray(np.array([[1e155, 2e155, 3e155]] * count))
    assert ts.var(apart, axis=1).tolist() == [INF] * count


def test_second_derivative_of_logcumsumexp_where_the_first_one_sees_zeros() -> None:
    """d/dy of y² is 0 where y is 0, its derivative is not."""
    start = np.array([0.0, -1.0, 0.5])

    def slope(x: ts.Tensor, create_graph: bool = False) -> ts.Tensor:
        y = ts.logcumsumexp(x, 0)
        found: ts.Tensor = grad([ts.sum(y * y)], [x], create_graph=create_graph)[0]
        return found

    x = ts.asarray(start).requires_grad_()
    first = slope(x, create_graph=True)
    assert float(ts.logcumsumexp(x, 0)[0]) == 0
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-5
        ahead, behind = (slope(ts.asarray(start + s * step).requires_grad_()).numpy() for s in (1, -1))
        row = grad([first[i]], [x], retain_graph=True)[0]
        np.testing.assert_allclose(row.numpy(), (ahead - behind) / 2e-5, rtol=1e-6)


def test_logcumsumexp_neither_overflows_nor_loses_infinities() -> None:
    x = ts.asarray([-INF, -INF, 1.0, 800.0, -800.0], dtype=ts.float64).requires_grad_()
    y = ts.logcumsumexp(x, 0)
    assert y.tolist() == [-INF, -INF, 1.0, 800.0, 800.0]
    ts.sum(y[2:]).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [0, 0, 1, 2, 0], rtol=1e-12)
    assert ts.logcumsumexp(ts.asarray([1.0, INF, 2.0, NAN, 3.0]), 0).tolist()[:3] == [1.0, INF, INF]


@pytest.mark.parametrize("name", ("cumulative_prod", "logcumsumexp"))
def test_scans_of_halves_are_rounded_once(name: str) -> None:
    x = ts.asarray(np.full(2000, 1.001)).astype(ts.float16)
    wide = getattr(ts, name)(x.astype(ts.float64), 0).astype(ts.float16)
    assert getattr(ts, name)(x, 0).tolist() == wide.tolist()


def test_median_of_all_shares_the_gradient_and_of_an_axis_does_not() -> None:
    x = ts.asarray([3.0, 1.0, 3.0, 3.0, 9.0]).requires_grad_()
    ts.median(x).backward()
    assert x.grad is not None and [round(g, 6) for g in x.grad.tolist()] == [0.333333, 0, 0.333333, 0.333333, 0]
    x.grad = None
    ts.median(x, axis=0).backward()
    assert x.grad is not None and sorted(x.grad.tolist()) == [0, 0, 0, 0, 1]


def test_median_names_the_first_nan() -> None:
    x = ts.asarray([[1.0, NAN, 2.0, NAN], [4.0, 1.0, 3.0, 2.0]])
    assert ts.median_with_indices(x).indices.tolist() == [1, 3]
    assert ts.nanmedian_with_indices(x).indices.tolist() == [0, 3]
    assert ts.nanmedian_with_indices(ts.asarray([NAN, NAN])).indices.item() == 0


def test_quantiles_between_infinities() -> None:
    x = ts.asarray([INF, 1.0, INF, -INF])
    assert ts.quantile(x, ts.asarray([0.0, 0.9, 1.0])).tolist() == [-INF, INF, INF]
    assert ts.quantile(x, 0.5).item() == INF
    assert ts.quantile(ts.asarray([-INF, INF]), 0.5, interpolation="lower").item() == -INF


def test_sets_tell_every_nan_apart_and_join_zeros() -> None:
    found = ts.unique_all(ts.asarray([NAN, 0.0, -0.0, NAN, 1.0]))
    assert found.counts.tolist() == [2, 1, 1, 1] and found.indices.tolist() == [1, 4, 0, 3]
    assert found.inverse_indices.tolist() == [2, 0, 0, 3, 1]
    assert ts.unique_counts(ts.asarray([complex(1, NAN), complex(1, NAN)])).counts.tolist() == [1, 1]


def check_sets(numbers: Any) -> None:
    values, first, inverse, counts = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    found = ts.unique_all(ts.asarray(numbers))
    inverse = inverse.reshape(numbers.shape)
    for got, want in zip(found, (values, first, inverse, counts)):
        np.testing.assert_array_equal(got.numpy(), want)
    np.testing.assert_array_equal(ts.unique_values(ts.asarray(numbers)).numpy(), values)
    np.testing.assert_array_equal(ts.unique_counts(ts.asarray(numbers)).counts.numpy(), counts)
    np.testing.assert_array_equal(ts.unique_inverse(ts.asarray(numbers)).inverse_indices.numpy(), inverse)


@pytest.mark.parametrize("far", (1, 10**6, 2**62))
def test_integers_near_and_far_apart_make_the_same_sets(far: int) -> None:
    check_sets(np.random.default_rng(3).integers(-2, 2, (40, 9)) * far)


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("dtype", ("int8", "uint8", "int16", "uint32", "int64"))
def test_many_integers_make_the_same_sets_with_every_number_of_threads(dtype: str, threads: int) -> None:
    limits = np.iinfo(dtype)
    numbers = np.random.default_rng(5).integers(max(limits.min, -150), min(limits.max, 300), 70001).astype(dtype)
    before = ts.get_num_threads()
    try:
        ts.set_num_threads(threads)
        check_sets(numbers)
        check_sets(np.sort(numbers)[::2])
        check_sets(numbers[:3])
    finally:
        ts.set_num_threads(before)


def test_slices_of_many_columns_are_ordered_as_words() -> None:
    numbers = np.random.default_rng(4).integers(0, 2, (60, 37))
    numbers[30:] = numbers[:30]
    for axis in (0, 1):
        values, inverse, counts = np.unique(numbers, axis=axis, return_inverse=True, return_counts=True)
        found = ts.unique_axis(ts.asarray(numbers), axis)
        for got, want in zip(found, (values, inverse.reshape(-1), counts)):
            np.testing.assert_array_equal(got.numpy(), want)


def test_the_weights_of_a_histogram_have_a_gradient() -> None:
    x = ts.asarray([0.1, 0.2, 0.7, 5.0], dtype=ts.float64)
    weight = ts.asarray([1.0, 2.0, 3.0, 4.0], dtype=ts.float64).requires_grad_()
    for density in (False, True):
        gradcheck(lambda w, d=density: ts.histogram(x, 2, min=0, max=1, weight=w, density=d)[0], (weight,))


def test_a_number_that_no_array_can_count_is_refused() -> None:
    with pytest.raises(ts.InvalidValueError, match="input: expected integers below"):
        ts.bincount(ts.asarray([2**63 - 1]))
    with pytest.raises(ts.InvalidValueError, match="bins: expected"):
        ts.histc(ts.ones(2), 2**63 - 1)


def test_a_histogram_has_no_place_for_what_is_outside() -> None:
    hist, edges = ts.histogram(ts.asarray([-1.0, 0.0, 0.5, 1.0, 2.0, NAN, INF]), 2, min=0, max=1)
    assert hist.tolist() == [1, 2] and edges.tolist() == [0, 0.5, 1]
    assert ts.histc(ts.asarray([2.0, 2.0]), 4).tolist() == [0, 0, 2, 0]


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = ts.asarray(np.random.default_rng(5).standard_normal((70, 3000)))
    numbers = ts.asarray(np.random.default_rng(6).integers(0, 50, 200_000))

    def results() -> list[Any]:
        return [
            ts.logcumsumexp(x, 0).numpy(), ts.logcumsumexp(x, 1).numpy(), ts.cummax(x, 0)[1].numpy(), ts.quantile(x, 0.3, axis=1).numpy(),
            ts.median(x).numpy(), ts.histc(x, 33).numpy(), ts.bincount(numbers).numpy(), ts.unique_counts(numbers)[1].numpy(),
        ]  # fmt: skip

    before = ts.get_num_threads()
    try:
        ts.set_num_threads(1)
        one = results()
        ts.set_num_threads(4)
        four = results()
    finally:
        ts.set_num_threads(before)
    for a, b in zip(one, four):
        np.testing.assert_array_equal(a, b)


def test_areas_that_float32_can_hold_do_not_overflow_as_their_doubles() -> None:
    y = ts.full((4,), 1e38)
    for widths in (None, ts.arange(4, dtype=ts.float32)):
        np.testing.assert_allclose(ts.cumulative_trapezoid(y, widths).numpy(), np.array([1e38, 2e38, 3e38]), 1e-6)
    np.testing.assert_allclose(ts.trapezoid(y, ts.arange(4, dtype=ts.float32)).item(), 3e38, 1e-6)


@pytest.mark.parametrize("n", [3, 33, 255, 1024, 2047, 2048, 3136, 4095, 4096, 6145, 10001])
def test_the_sum_of_a_row_does_not_depend_on_the_rows_beside_it(n: int) -> None:
    rng = np.random.default_rng(n)
    wide = rng.standard_normal((67, n + 5)).astype(np.float32)
    rows = np.ascontiguousarray(wide[:, :n])
    exact = rows.astype(np.float64).sum(1)
    threads = ts.get_num_threads()
    try:
        found = []
        for count in (1, 2, 3):
            ts.set_num_threads(count)
            found.append(ts.asarray(rows).sum(1).numpy())
    finally:
        ts.set_num_threads(threads)
    alone = [ts.asarray(row).sum().item() for row in rows]
    for other in (*found[1:], np.array(alone, np.float32), ts.asarray(wide)[:, :n].sum(1).numpy()):
        np.testing.assert_array_equal(found[0], other)
    bound = 3 * 2.0**-24 * np.abs(rows.astype(np.float64)).sum(1)  # docs/guide/operations.md
    np.testing.assert_array_less(np.abs(found[0] - exact), bound)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8])
def test_modes_of_many_lines(kind: Any) -> None:
    """The least of the most frequent numbers, and where it stands last; each NaN stands alone."""
    x = np.random.default_rng(8).integers(0, 4, (30, 7, 400)).astype(kind)
    if kind is np.float32:
        x[:, :, ::3][x[:, :, ::3] == 3] = np.nan
    for axis in range(3):
        values, places = ts.mode(ts.asarray(x), axis)
        lines = np.moveaxis(x, axis, -1)
        counts = np.stack([(lines == n).sum(-1) for n in range(4)])
        wanted = counts.argmax(0)
        alone = counts.max(0) == 0
        wanted = np.where(alone, 0, wanted)
        assert places.is_contiguous() and places.shape == values.shape == wanted.shape
        np.testing.assert_array_equal(np.where(alone, 0, values.numpy()), wanted)
        last = np.where(lines == wanted[..., None], np.arange(x.shape[axis]), -1).max(-1)
        np.testing.assert_array_equal(np.where(alone, -1, places.numpy()), last)
