# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels are chosen by layout and size: both sides of each threshold must give the CPU's results, in 16 bits, for
slices that are not aligned, and for dims in any order. The plugin is found as in test_op_table.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import _ops
from tessera.nn import functional as F

import test_rounding
from test_families import below, numbers

FLOATS = ["float32", "float64", "float16", "bfloat16"]
TOLERANCE = {"float32": 2e-5, "float64": 1e-11, "float16": 4e-3, "bfloat16": 3e-2}


def array(tensor: ts.Tensor) -> np.ndarray:
    tensor = tensor.to("cpu")
    return (tensor.astype(ts.float32) if tensor.dtype == ts.bfloat16 else tensor).numpy()


def same(function: Callable[..., Any], *args: Any, rtol: float = 1e-12) -> None:
    """Checks that function(*args) gives the same tensors on both devices."""
    there = [a.to("cuda") if isinstance(a, ts.Tensor) else a for a in args]
    ours, theirs = function(*there), function(*args)
    pairs = zip(ours, theirs) if isinstance(theirs, (tuple, list)) else [(ours, theirs)]
    for got, wanted in pairs:
        np.testing.assert_allclose(array(got), array(wanted), rtol, rtol)


def close(function: Callable[..., Any], *args: Any, dtype: str) -> None:
    """The same, with the precision of the dtype."""
    same(function, *args, rtol=TOLERANCE[dtype])


def drawn(kind: str, *shape: int) -> ts.Tensor:
    return numbers(*shape, dtype="float32").astype(getattr(ts, kind))


def scrambled(x: ts.Tensor, dims: int) -> ts.Tensor:
    """2 ** dims numbers with as many dims that cannot be merged."""
    return ts.permute_dims(x.reshape((2,) * dims), tuple(range(dims))[::2] + tuple(range(dims))[1::2])


# ---- numbers beside 16-bit floats ----


@pytest.mark.parametrize("layout", test_rounding.LAYOUTS)
@pytest.mark.parametrize("dtype", test_rounding.SHORT, ids=str)
def test_a_number_beside_short_floats(dtype: ts.DType, layout: str) -> None:
    x = test_rounding.LAYOUTS[layout](test_rounding.numbers(0, (70_000,), dtype).to("cuda"))
    for call in test_rounding.BESIDE_A_NUMBER.values():
        expected = call(x.astype(ts.float32)).astype(dtype)
        assert np.array_equal(array(call(x)), array(expected))
    for call in (lambda a: a == 0.1, lambda a: a < 0.1, lambda a: 0.1 >= a, lambda a: ts.clip(a, 0.1, 0.4), lambda a: ts.where(a > 0, a, 0.3)):
        same(call, x.to("cpu"))


# ---- rows ----


def with_gradient(function: Callable[..., ts.Tensor]) -> Callable[..., tuple[ts.Tensor, ...]]:
    def both(x: ts.Tensor, slope: ts.Tensor, *rest: ts.Tensor) -> tuple[ts.Tensor, ...]:
        x = x.detach().clone().requires_grad_()
        y = function(x, *rest)
        return y.detach(), *ts.autograd.grad([y], [x], [slope])

    return both


# Columns at the ends of a thread's, a warp's and a block's share; 16384 positions are many.
SHAPES = [(9, c) for c in (1, 16, 17, 32, 256, 257, 1024, 1025, 3001)] + [(40000, 5), (70, 40)]
MIDDLE = [(2, 20, 9000), (3, 50, 7), (1, 3000, 3), (5, 16, 33), (5, 17, 33), (2, 1, 40), (2, 1030, 32)]


# The large shapes in one dtype.
SOFTMAX = [(s, d) for s in SHAPES + MIDDLE for d in FLOATS if d == "float32" or np.prod(s) <= 20000]


@pytest.mark.parametrize(("shape", "dtype"), SOFTMAX)
def test_softmax_of_every_layout_agrees(shape: tuple[int, ...], dtype: str) -> None:
    x, slope = drawn(dtype, *shape), drawn(dtype, *shape)
    close(with_gradient(lambda t: ts.softmax(t, 1)), x, slope, dtype=dtype)
    close(with_gradient(lambda t: _ops.log_softmax(t, 1)), x, slope, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[0] < 100])
def test_normalised_rows_of_every_width_agree(shape: tuple[int, int], dtype: str) -> None:
    x, slope = drawn(dtype, *shape), drawn(dtype, *shape)
    weight, bias = drawn(dtype, shape[1]), drawn(dtype, shape[1])
    if shape[1] > 1:  # else the row is its own mean, and the gradient is nothing but rounding
        close(with_gradient(lambda t, w, b: F.layer_norm(t, [shape[1]], w, b)), x, slope, weight, bias, dtype=dtype)
    close(with_gradient(lambda t, w: F.rms_norm(t, [shape[1]], w)), x, slope, weight, dtype=dtype)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("shape", [*SHAPES, *MIDDLE])
def test_cross_entropy_of_every_layout_agrees(shape: tuple[int, ...], smoothing: float) -> None:
    target = below(shape[1], shape[0], *shape[2:])

    def both(x: ts.Tensor, t: ts.Tensor) -> tuple[ts.Tensor, ...]:
        x = x.detach().clone().requires_grad_()
        loss = _ops.cross_entropy(x, t, ignore_index=0, reduction="sum", label_smoothing=smoothing)
        return loss.detach(), *ts.autograd.grad([loss], [x])

    close(both, numbers(*shape), target, dtype="float64")


def test_rows_of_infinities_and_nan_agree() -> None:
    x = np.random.default_rng(3).uniform(-1, 1, (6, 40))
    x[1, 3], x[2, 5], x[3, :] = np.inf, np.nan, -np.inf
    same(lambda t: (ts.softmax(t, 1), ts.logsumexp(t, axis=1), ts.var(t, axis=1)), ts.asarray(x))


# ---- reductions ----

REDUCTIONS: dict[str, Callable[[ts.Tensor, Any], ts.Tensor]] = {
    "sum": lambda x, axis: ts.sum(x, axis=axis),
    "var": lambda x, axis: ts.var(x, axis=axis),
    "max": lambda x, axis: ts.max(x, axis=axis),
    "logsumexp": lambda x, axis: ts.logsumexp(x, axis=axis),
    "count": lambda x, axis: ts.count_nonzero(x, axis=axis),
}
# Elements of one result at the ends of a thread's, a warp's, a block's and a part's share.
SIZES = [1, 2, 16, 17, 31, 32, 33, 63, 1024, 1025, 4096, 8191, 8192, 20000]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("size", SIZES)
def test_reductions_of_every_size_and_layout_agree(name: str, size: int) -> None:
    reduce, x = REDUCTIONS[name], numbers(3, size + 3)
    for dtype in ("float64", "float32", "bfloat16") if size in (33, 8191) else ("float32",):
        t = ts.asarray(x.numpy()).astype(getattr(ts, dtype))
        close(lambda a: reduce(a[:, :size].contiguous(), 1), t, dtype=dtype)
        close(lambda a: reduce(a[:, 1 : size + 1], 1), t, dtype=dtype)  # not aligned
        close(lambda a: reduce(a[:, 3:], None), t, dtype=dtype)
        close(lambda a: reduce(a.T[:size].contiguous(), 0), t, dtype=dtype)  # neighbouring results
        close(lambda a: reduce(a[:, ::2], 1), t, dtype=dtype)


@pytest.mark.parametrize("shape", [(700, 31), (700, 33), (8200, 70), (2, 300, 45), (300, 2, 45)])
def test_sums_and_positions_over_rows_agree(shape: tuple[int, ...]) -> None:
    x = numbers(*shape)
    for axis in range(len(shape)):
        same(lambda a: ts.sum(a, axis=axis), x, rtol=1e-10)  # noqa: B023
        same(lambda a: ts.argmax(ts.round(a), axis=axis), x)  # noqa: B023
    same(lambda a: ts.sum(a, axis=(0, -1)), x, rtol=1e-10)


@pytest.mark.parametrize("dtype", ["bool_", "uint8", "int16", "int64", "uint64", "complex128"])
def test_reductions_of_other_dtypes_agree(dtype: str) -> None:
    x = ts.asarray(np.random.default_rng(1).integers(0, 3, (40, 3000))).astype(getattr(ts, dtype))
    for axis in (0, 1, None):
        same(lambda a: ts.count_nonzero(a, axis=axis), x)  # noqa: B023
        same(lambda a: ts.any(a[:, 1:-2], axis=axis), x)  # noqa: B023
        same(lambda a: ts.sum(a, axis=axis), x)  # noqa: B023


def test_reductions_over_many_dims_agree() -> None:
    x = scrambled(numbers(2**13), 13)
    for axes in ((0,), (1, 3, 5, 7, 9), tuple(range(12)), tuple(range(0, 13, 2))):
        same(lambda a: ts.sum(a, axis=axes), x)  # noqa: B023
        same(lambda a: ts.var(a, axis=axes), x, rtol=1e-10)  # noqa: B023


def test_the_variance_of_numbers_far_from_zero_is_exact_enough() -> None:
    x = ts.asarray(1e8 + np.random.default_rng(2).standard_normal((4, 5000)))
    same(lambda a: ts.var(a, axis=1), x, rtol=1e-7)
    same(lambda a: ts.var(a * 0 + 3, axis=1), x, rtol=0)


# ---- elementwise ----

LENGTHS = [0, 1, 3, 15, 16, 17, 255, 1000]
DTYPES = ["bool_", "uint8", "int16", "float16", "bfloat16", "float32", "int64", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_lines_of_every_length_and_alignment_agree(length: int, dtype: str) -> None:
    kind = getattr(ts, dtype)
    a = ts.asarray(np.random.default_rng(5).integers(0, 3, length + 8)).astype(kind)
    b = ts.asarray(np.random.default_rng(6).integers(0, 3, length + 8)).astype(kind)
    for i in (0, 1, 3):
        for j in (0, 2, 3):
            same(lambda x, y: x[i : i + length] == y[j : j + length], a, b)  # noqa: B023
            same(lambda x, y: ts.where(x[i : i + length] == y[1 : 1 + length], x[j : j + length], y[:length]), a, b)  # noqa: B023
            if dtype != "bool_":
                same(lambda x, y: x[i : i + length] * y[j : j + length], a, b)  # noqa: B023
    if dtype == "bool_":
        return

    def into_a_slice(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        z = x.clone()
        z[3 : 3 + length].add_(y[1 : 1 + length])
        z[1 : 1 + length].mul_(2)
        return z

    same(into_a_slice, a, b)
    same(lambda x, y: x[1 : 1 + length] + y.sum(), a, b)  # one number of the device
    same(lambda x, y: 3 + x[3 : 3 + length], a, b)  # one number of the host


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [32, 48, 30])  # the last one is no whole number of packs
def test_rows_of_packs_agree(width: int, dtype: str) -> None:
    kind = getattr(ts, dtype)
    x, y = (ts.asarray(np.random.default_rng(i).integers(0, 5, (3, 4, width + 16))).astype(kind) for i in (1, 2))
    row, column, plane = y[0, 0, :width].contiguous(), y[0, :, :1].contiguous(), y[:, :, :1].contiguous()
    places = (slice(0, width), slice(16, 16 + width), slice(3, 3 + width))
    for place in places:  # with the packs, a pack further, beside them
        same(lambda a, r, c, p: (a[..., place] + r, a[..., place] * c, p + a[..., place]), x, row, column, plane)  # noqa: B023
        same(lambda a, b: (a[..., place] + b[..., :width], a[:, ::-1, place] == b[..., places[2]]), x, y)  # noqa: B023
        same(lambda a, b: ts.where(a[0, :, place] == b[0, :, :width], a[1, :, place], b[0, 0, :width]), x, y)  # noqa: B023
        same(lambda a: (a[..., place].contiguous(), a[:, 1:, place].astype(ts.complex64)), x)  # noqa: B023
        if kind in (ts.float32, ts.bfloat16, ts.float64):
            same(lambda a: (a[::2, :, place].astype(ts.float16), a[..., place].astype(ts.float32)), x)  # noqa: B023

        def into(a: ts.Tensor, b: ts.Tensor) -> ts.Tensor:
            z = a.clone()
            z[..., place] += b[..., places[1]]  # noqa: B023
            z[1, :, place] = b[0, :, places[2]]  # noqa: B023
            z[2, 1:, place] = 3  # noqa: B023
            z[2, :1, place] = 0  # noqa: B023
            return z

        same(into, x, y)


def test_nothing_stays_nothing() -> None:
    for shape in ((0, 5), (5, 0)):
        x = ts.zeros(shape, dtype=ts.float64)
        same(lambda a: (ts.softmax(a, 1), ts.softmax(a, 0), a + a, a.T.contiguous(), a.astype(ts.float32)), x)
        same(lambda a: (ts.sum(a), ts.sum(a, axis=0), ts.sum(a, axis=1), ts.cumulative_sum(a, 1)), x)
        same(lambda a: (ts.full_like(a, 3), ts.sort(a, 1), ts.count_nonzero(a, axis=1)), x)
    same(lambda a, i, v: ts.index_put(a, [i], v, True), numbers(4, 3), below(4, 0), numbers(0, 3))
    same(lambda a, b: a @ b, numbers(3, 0), numbers(0, 4))


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32", "float64", "complex128"])
def test_copies_and_fills_of_every_layout_agree(dtype: str) -> None:
    kind = getattr(ts, dtype)
    x = ts.asarray(np.random.default_rng(7).integers(0, 100, (3, 40, 65))).astype(kind)
    orders = [(0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0), (1, 0, 2)]
    for order in orders:
        same(lambda a: ts.permute_dims(a, order).contiguous(), x)  # noqa: B023
        same(lambda a: ts.permute_dims(a[:, 1:, 2:], order).contiguous(), x)  # noqa: B023
        same(lambda a: ts.permute_dims(a[:, :7, :9], order).contiguous(), x)  # noqa: B023

    def filled(a: ts.Tensor) -> ts.Tensor:
        z = a.clone()
        z[1, 2:, 3:5] = 0
        z[0, 1] = 7
        z[2].reshape(-1)[5:77] = 1
        z[2].reshape(-1)[100:131] = 0
        return z

    same(filled, x)
    same(lambda a: ts.full((5, 7), 3, dtype=a.dtype, device=a.device) + ts.zeros_like(a[0, :5, :7]), x)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", [*FLOATS, "int32", "bool_"])
def test_casts_agree(source: str, target: str) -> None:
    values = np.array([0.0, -0.0, 1e-8, 65504.0, 65520.0, 1e6, np.inf, -np.inf, 1.0009765, 3.14159, -2.5] * 9)
    x = ts.asarray(values).astype(getattr(ts, source))
    if target == "int32":
        x = ts.where(ts.isfinite(x), x, ts.zeros_like(x))
    for piece in (slice(None), slice(1, None), slice(3, 4), slice(None, None, 2)):
        same(lambda a: a[piece].astype(getattr(ts, target)).astype(ts.float64), x, rtol=0)  # noqa: B023


def test_elementwise_ops_over_many_dims_agree() -> None:
    x, y = scrambled(numbers(2**11), 11), numbers(*(2,) * 11)
    same(lambda a, b: (a + b, ts.exp(a), ts.where(a > b, a, b), a.contiguous(), a.astype(ts.float32)), x, y, rtol=1e-7)

    def filled(a: ts.Tensor) -> ts.Tensor:
        z = a.contiguous()
        ts.permute_dims(z, tuple(range(0, 11, 2)) + tuple(range(1, 11, 2)))[0, :, 1].fill_(2.5)
        return z

    same(filled, x)


def test_divisions_by_zero_in_many_dims_are_found() -> None:
    x = scrambled(ts.arange(2**11, dtype=ts.int64), 11).to("cuda")
    with pytest.raises(ts.TesseraError, match="zero"):
        (x // x).to("cpu")


# ---- scans ----

SCANS: dict[str, Callable[[ts.Tensor, int], Any]] = {
    "sum": lambda x, axis: ts.cumulative_sum(x, axis),
    "prod": lambda x, axis: ts.cumulative_prod(x, axis),
    "max": lambda x, axis: tuple(_ops.cummax(x, axis)),
    "logsumexp": lambda x, axis: _ops.logcumsumexp(x, axis),
}

LINES = [(1, 1), (3, 31), (3, 33), (2, 1024), (2, 1025), (1, 9000), (3, 8192), (40, 300), (2, 1500, 5)]


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("shape", LINES)
def test_scans_of_every_layout_agree(name: str, shape: tuple[int, ...]) -> None:
    scan, x = SCANS[name], 1 + numbers(*shape) / 1000
    for axis in range(len(shape)):
        same(lambda a: scan(a, axis), x, rtol=1e-10)  # noqa: B023
    same(lambda a: scan(a[:, 1:] if a.shape[1] > 1 else a, 1), x, rtol=1e-10)
    same(lambda a: scan(a[::-1], 0), x, rtol=1e-10)


@pytest.mark.parametrize("shape", LINES)
def test_scans_begin_with_the_first_element_as_it_is(shape: tuple[int, ...]) -> None:
    """0.0 + -0.0 is 0.0, and 1 * (inf + 0j) has a NaN."""
    for axis in range(len(shape)):
        zeros = ts.cumulative_sum(ts.full(shape, -0.0, device="cuda"), axis)
        assert np.signbit(array(zeros)).all()
        z = np.ones(shape, np.complex128)
        first = tuple(slice(0, 1) if d == axis else slice(None) for d in range(len(shape)))
        z[first] = np.inf
        found = array(ts.cumulative_prod(ts.asarray(z).to("cuda"), axis))
        np.testing.assert_array_equal(found[first], z[first])


def test_scans_in_16_bits_and_over_many_dims_agree() -> None:
    for dtype in ("float16", "bfloat16"):
        x = (numbers(2, 5000, dtype="float32") / 8).astype(getattr(ts, dtype))
        close(lambda a: ts.cumulative_sum(a, 1), x, dtype=dtype)
        close(lambda a: ts.cumulative_sum(a, 0), x, dtype=dtype)
    same(lambda a: ts.cumulative_sum(a, 4), scrambled(numbers(2**11), 11))


# ---- runs of equal indices ----


@pytest.mark.parametrize("count", [1, 2, 127, 128, 129, 255, 256, 257, 5000, 40000])
def test_a_run_of_one_index_agrees(count: int) -> None:
    index = ts.zeros(count, dtype=ts.int64) + 2
    same(lambda a, i, v: ts.index_put(a, [i], v, True), numbers(5, 3), index, numbers(count, 3), rtol=1e-10)
    few = ts.asarray(np.arange(count) % 3)
    same(lambda a, i, v: ts.index_put(a, [i], v, True), numbers(5), few, numbers(count), rtol=1e-10)


@pytest.mark.parametrize("kind", ["sum", "prod", "amax", "amin"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint64"])
def test_runs_of_all_lengths_are_folded(kind: str, dtype: str) -> None:
    # Runs of 1 to 299 elements begin and end at every place of a piece.
    index = np.repeat(np.arange(300), np.arange(300))
    order = np.random.default_rng(4).permutation(len(index))
    values = np.random.default_rng(5).integers(1, 3, len(index))
    if kind == "prod":
        values = np.where(np.random.default_rng(6).uniform(size=len(index)) < 0.05, values, 1)
    given = ts.asarray(index[order]), ts.asarray(values).astype(getattr(ts, dtype))
    same(lambda i, v: ts.scatter_reduce(ts.ones(300, dtype=v.dtype, device=v.device), 0, i, v, kind), *given, rtol=1e-6)


def test_sums_by_index_are_the_same_in_every_run() -> None:
    index, values = below(7, 30000).to("cuda"), numbers(30000, dtype="float32").to("cuda")
    first, again = (ts.index_put(ts.zeros(7, device="cuda"), [index], values, True).to("cpu").numpy() for _ in range(2))
    assert first.tobytes() == again.tobytes()


def test_reads_and_sums_by_index_over_many_dims_agree() -> None:
    x, index = scrambled(numbers(2**11), 11), below(2, 2, 2)
    same(lambda a, i: (a[:, i], a[i, :, i], ts.take_along_axis(a, (a > 0).astype(ts.int64), 3)), x, index)
    same(lambda a, i, v: ts.index_put(a.contiguous(), [i], v, True), x, below(2, 3), numbers(3, *(2,) * 10), rtol=1e-10)
    same(lambda a, b: ts.scatter_add(a.contiguous(), 4, (b > 0).astype(ts.int64), b), x, numbers(*(2,) * 11), rtol=1e-10)


# ---- matrix products ----


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_products_of_batches_that_cannot_be_merged_agree(dtype: str) -> None:
    a, b = (numbers(3, 2, 4, 5).astype(getattr(ts, dtype)) for _ in range(2))
    close_to = 1e-5 if dtype.endswith(("32", "64")) and dtype != "complex128" else 1e-12
    same(lambda x, y: ts.permute_dims(x, (1, 0, 2, 3)) @ ts.permute_dims(y, (1, 0, 3, 2)), a, b, rtol=close_to)
    same(lambda x, y: x[:, :1] @ ts.permute_dims(y, (0, 1, 3, 2)), a, b, rtol=close_to)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_conjugated_products_agree(dtype: str) -> None:
    def complexes(*shape: int) -> ts.Tensor:
        draw = np.random.default_rng(8)
        return ts.asarray(draw.uniform(-1, 1, shape) + 1j * draw.uniform(-1, 1, shape)).astype(getattr(ts, dtype))

    a, b, rtol = complexes(3, 2, 4, 5), complexes(3, 2, 5, 4), 1e-5 if dtype == "complex64" else 1e-12
    def turned(x: ts.Tensor) -> ts.Tensor:
        return ts.permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))

    for left in (lambda x: x, ts.conj, lambda x: turned(ts.conj(turned(x)))):
        for right in (lambda x: x, ts.conj):
            same(lambda x, y: left(x) @ right(y), a, b, rtol=rtol)  # noqa: B023
            same(lambda x, y: left(x[0, 0]) @ right(y[0, 0]), a, b, rtol=rtol)  # noqa: B023
            same(lambda x, y: turned(left(x)) @ turned(right(y)), a, b, rtol=rtol)  # noqa: B023


# ---- sorting ----


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int16", "uint16", "int8", "uint8", "bool_", "uint32"])
def test_sorting_with_short_keys_agrees(dtype: str) -> None:
    values = np.random.default_rng(9).integers(-300, 300, (3, 500)).astype(np.float64)
    if "float" in dtype:
        values[:, 5], values[:, 7], values[:, 9], values[:, 11:20] = np.nan, np.inf, -np.inf, -0.0
    x = ts.asarray(values if "float" in dtype else np.abs(values)).astype(getattr(ts, dtype))
    for descending in (False, True):
        same(lambda a: ts.argsort(a, 1, descending), x)  # noqa: B023
        same(lambda a: ts.argsort(a.reshape(-1), 0, descending), x)  # noqa: B023
