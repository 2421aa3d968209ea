# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of statistics: means, norms, pairs of reductions, order statistics, covariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from op_engine import ALL_FLOATS, BOOL, COMPLEX, FLOATS, INTEGERS, REAL, Fixed, Make, Row, Sample, real_of, sample

import tessera as ts

SUMS = {"float32": (1e-5, 1e-5), "float16": (2e-3, 1e-2), "bfloat16": (1.6e-2, 5e-2), "complex64": (1e-5, 1e-5)}
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed")  # "expanded" would make ties


def numbers(make: Make) -> Any:
    """What makes arrays without ties; complex ones have none anyway."""
    return make if make.dtype in COMPLEX else make.distinct


def with_nan(make: Make) -> Any:
    array = numbers(make)(4, 5)
    if make.dtype in ALL_FLOATS + COMPLEX:
        array[1, [0, 3]] = np.nan
        array[2] = np.nan
    return array


def pairs(first: Any, second: Any) -> Any:
    return lambda x, axis=None, keepdims=False, **more: (
        first(x, axis=axis, keepdims=keepdims, **{{"correction": "ddof"}[k]: v for k, v in more.items()}),
        second(x, axis=axis, keepdims=keepdims),
    )


def axis_samples(make: Make) -> list[Sample]:
    array = numbers(make)
    return [
        sample(array(3, 4)), sample(array(3, 4), axis=0), sample(array(2, 3, 2), axis=(0, 2), keepdims=True),
        sample(array(5), axis=-1), sample(array(), axis=0), sample(array(1)),
    ]  # fmt: skip


def spread_samples(make: Make) -> list[Sample]:
    array = numbers(make)
    return [
        sample(array(3, 4)), sample(array(3, 4), axis=0, correction=1),
        sample(array(2, 3, 2), axis=(0, 2), keepdims=True),
    ]  # fmt: skip


def placed(values: Any, places: Any) -> Any:
    return lambda x, axis, keepdims=False: (values(x, axis=axis, keepdims=keepdims), places(x, axis=axis, keepdims=keepdims))


def one_axis(make: Make) -> list[Sample]:
    return [
        sample(make.distinct(5), axis=0), sample(make.distinct(3, 4), axis=-1), sample(make.distinct(3, 4), axis=0, keepdims=True),
        sample(make.distinct(), axis=-1), sample(make.distinct(2, 3, 2), axis=1), sample(make.distinct(0, 3), axis=1),
    ]  # fmt: skip


def norm(x: Any, p: float = 2, axis: Any = None, keepdims: bool = False) -> Any:
    size = np.abs(x)
    if p == 0:
        return np.sum(size != 0, axis, keepdims=keepdims).astype(np.float64)
    if np.isinf(p):
        return (np.max if p > 0 else np.min)(size, axis, keepdims=keepdims)
    return np.sum(size**p, axis, keepdims=keepdims) ** (1 / p)


def renormed(x: Any, p: float, axis: int, max_norm: float) -> Any:
    norms = norm(x, p, tuple(d for d in range(x.ndim) if d != axis % x.ndim), True)
    return np.where(norms > max_norm, x * (max_norm / (norms + 1e-7)), x)


def selected(x: Any, axis: int, keepdims: bool, ranks: Any) -> tuple[Any, Any]:
    """What a stable sort has at one rank of each line."""
    lines = x.reshape(1) if x.ndim == 0 else x
    order = np.argsort(lines, axis, kind="stable")
    places = np.take_along_axis(order, ranks(lines).astype(np.int64), axis)
    found = np.take_along_axis(lines, places, axis), places
    if x.ndim == 0:
        return found[0].reshape(()), found[1].reshape(())
    return found if keepdims else (found[0].squeeze(axis), found[1].squeeze(axis))


def kth(x: Any, k: int, axis: int = -1, keepdims: bool = False) -> Any:
    return selected(x, axis, keepdims, lambda lines: np.full(np.take(lines, [0], axis).shape, k - 1))


def median_ranks(axis: int, skip: bool) -> Any:
    def ranks(lines: Any) -> Any:
        count = lines.shape[axis]
        numbers = count - np.isnan(lines).sum(axis, keepdims=True)
        return np.maximum((numbers - 1) // 2, 0) if skip else np.where(numbers < count, numbers, (count - 1) // 2)

    return ranks


def median_pair(skip: bool) -> Any:
    return lambda x, axis=-1, keepdims=False: selected(x, axis, keepdims, median_ranks(axis, skip))


def median(skip: bool) -> Any:
    def reference(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is not None:
            return median_pair(skip)(x, axis, keepdims)[0]
        value = median_pair(skip)(x.reshape(-1), 0)[0]
        return value.reshape((1,) * x.ndim) if keepdims else value

    return reference


def median_samples(make: Make) -> list[Sample]:
    nan = with_nan(make)
    return [*one_axis(make), sample(make.distinct(4, 6), axis=0), sample(nan, axis=1), sample(nan, axis=0, keepdims=True)]


def all_median_samples(make: Make) -> list[Sample]:
    whole = [sample(make.distinct(3, 4)), sample(make.distinct(), keepdims=True), sample(with_nan(make), keepdims=True)]
    return [*median_samples(make), *whole]


def modes(x: Any, axis: int = -1, keepdims: bool = False) -> Any:
    values, places = torch.mode(torch.from_numpy(np.array(x, order="C")), axis, keepdims)
    # Which of its places PyTorch gives is not specified: here it is the last one.
    kept = values if keepdims else values.unsqueeze(axis)
    at = np.arange(x.shape[axis]).reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)])
    return values.numpy(), np.max(np.where(x == kept.numpy(), at, -1), axis, keepdims=keepdims)


def mode_samples(make: Make) -> list[Sample]:
    shapes: list[tuple[tuple[int, ...], dict[str, Any]]] = [((4, 5), {"axis": 0}), ((3, 2), {"keepdims": True}), ((1,), {})]
    return [sample(make(9, low=0, high=3)), *(sample(make.distinct(*s), **more) for s, more in shapes)]


def repeated_samples(make: Make) -> list[Sample]:
    array = np.array([[1, 2, 2, 3, 1, 1], [3, 3, 1, 2, 2, 0], [0, 1, 2, 3, 0, 1]])
    found = np.asarray(array, bool if make.dtype == "bool" else make.dtype if make.dtype in INTEGERS else np.float64)
    return [*mode_samples(make), sample(found), sample(found, axis=0, keepdims=True)]


def quantiles(skip: bool) -> Any:
    def reference(x: Any, q: Any, axis: int | None = None, keepdims: bool = False, interpolation: str = "linear") -> Any:
        function = np.nanquantile if skip else np.quantile
        if x.ndim == 0:
            return np.broadcast_to(x, np.shape(q)).copy()
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(RuntimeWarning)
            parts = np.asarray(q, np.float64)
            found, low, high = (
                function(x, parts, axis=axis, keepdims=keepdims, method=m) for m in (interpolation, "lower", "higher")
            )
            return np.where(low == high, low, found)  # NumPy subtracts equal infinities

    return reference


def quantile_samples(make: Make) -> list[Sample]:
    q = make.distinct(3)
    q[:] = [0.75, 0, 0.5]
    kinds = [sample(make.distinct(4, 6), 0.375, axis=1, interpolation=k) for k in ("linear", "lower", "higher", "midpoint", "nearest")]
    infinite = make.distinct(6)
    infinite[[0, 1, 2]], infinite[5] = np.inf, -np.inf
    ends = make.distinct(3)
    ends[:] = [0.75, 0, 1]
    many = make.distinct(25)
    many[:] = np.arange(25) / 32
    return [
        *kinds, sample(make.distinct(5, 4), q), sample(make.distinct(5, 4), q, axis=0),
        sample(make.distinct(5, 4), q, axis=0, keepdims=True),
        sample(make.distinct(3, 3), 1, keepdims=True), sample(make.distinct(), 0.5, axis=0), sample(infinite, ends),
        sample(with_nan(make), q, axis=1), sample(make.distinct(40), many),
    ]  # fmt: skip


def quantile_gradients(make: Make) -> list[Sample]:
    q = make.distinct(2)
    q[:] = [0.4, 0.65]
    return [sample(make.distinct(3, 4), q, axis=1), sample(make.distinct(7), q), sample(make.distinct(5), 0.3, interpolation="midpoint")]


def covariance(x: Any, correction: float = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def covariance_samples(make: Make) -> list[Sample]:
    counts = Fixed(np.array([1, 2, 0, 3, 1]))
    found = [sample(make(3, 5)), sample(make(6)), sample(make(1, 4)), sample(make(2, 4), correction=0), sample(make(2, 5), fweights=counts)]
    if make.dtype in FLOATS:
        found += [sample(make(2, 5), aweights=make(5, low=0.5)), sample(make(2, 5), fweights=counts, aweights=make(5, low=0.5))]
    return found


ROWS = [
    Row("nanmean", lambda x, axis=None, keepdims=False: np.nanmean(x, axis=axis, keepdims=keepdims),
        lambda m: [*axis_samples(m), sample(with_nan(m)), sample(with_nan(m), axis=1), sample(with_nan(m), axis=0, keepdims=True)],
        dtypes=(*ALL_FLOATS, *COMPLEX), tolerance=SUMS, grad_samples=axis_samples,
        errors=[(TypeError, lambda: ts.nanmean(ts.ones(3, dtype=ts.int32)))]),
    Row("aminmax", pairs(np.min, np.max), axis_samples, dtypes=(*REAL, *BOOL), layouts=LAYOUTS,
        errors=[(ValueError, lambda: ts.aminmax(ts.ones(0)))]),
    Row("var_mean", pairs(np.var, np.mean), spread_samples, dtypes=(*ALL_FLOATS, *COMPLEX), result=real_of, tolerance=SUMS),
    Row("std_mean", pairs(np.std, np.mean), spread_samples, dtypes=(*ALL_FLOATS, *COMPLEX), result=real_of, tolerance=SUMS,
        layouts=LAYOUTS),
    Row("max_with_indices", placed(np.max, np.argmax), one_axis, dtypes=REAL, layouts=LAYOUTS,
        errors=[(ValueError, lambda: ts.max_with_indices(ts.ones(0), 0)), (IndexError, lambda: ts.max_with_indices(ts.ones(2), 1))]),
    Row("min_with_indices", placed(np.min, np.argmin), one_axis, dtypes=REAL, layouts=LAYOUTS),
    Row("norm", norm, lambda m: [sample(numbers(m)(3, 4), p, a) for p in (0, 1, 2, 3, float("inf"), -float("inf")) for a in (None, 1)],
        dtypes=(*FLOATS, *COMPLEX), result=real_of, tolerance=SUMS, layouts=LAYOUTS,
        grad_samples=lambda m: [sample(m(3, 4, low=0.5), 3, 0), sample(m(5, low=0.5))],
        errors=[(TypeError, lambda: ts.norm(ts.ones(3, dtype=ts.int32)))]),
    Row("dist", lambda x, y, p=2: norm(x - y, p),
        lambda m: [sample(m(3, 4), m(4)), sample(m(5), m(5), 1), sample(m(), m(3, 2), float("inf"))],
        dtypes=(*ALL_FLOATS, *COMPLEX), result=real_of, tolerance={**SUMS, "bfloat16": (1.6e-2, 5e-2)},
        errors=[(TypeError, lambda: ts.dist(ts.ones(3, dtype=ts.int32), ts.ones(3, dtype=ts.int32)))]),
    Row("renorm", renormed,
        lambda m: [sample(m(3, 4), 2, 0, 1.0), sample(m(3, 4), 1, 1, 2.0), sample(m(5), 2, -1, 0.5), sample(m(2, 3, 2), 3, 1, 0.5)],
        dtypes=(*ALL_FLOATS, *COMPLEX), tolerance={**SUMS, "float16": (3e-3, 1e-3), "bfloat16": (2e-2, 1e-2)},
        grad_samples=lambda m: [sample(m(3, 4, low=0.5), 2, 0, 1.0), sample(m(3, 2, low=0.5), 3, 1, 0.5)],
        errors=[(ValueError, lambda: ts.renorm(ts.ones(2), 0, 0, 1)), (ValueError, lambda: ts.renorm(ts.ones(2), 1, 0, -1))]),
    Row("kthvalue", kth,
        lambda m: [sample(m.distinct(7), 3), sample(m.distinct(3, 4), 1, axis=0), sample(m.distinct(3, 4), 4, keepdims=True),
                   sample(m.distinct(), 1), sample(with_nan(m), 4, axis=1)],
        dtypes=REAL, layouts=LAYOUTS, grad_samples=lambda m: [sample(m.distinct(3, 4), 2), sample(m.distinct(5), 5)],
        errors=[(ValueError, lambda: ts.kthvalue(ts.ones(3), 4)), (ValueError, lambda: ts.kthvalue(ts.ones(3), 0))]),
    Row("median", median(False), all_median_samples, dtypes=REAL, layouts=LAYOUTS,
        grad_samples=lambda m: [sample(m.distinct(3, 4)), sample(m.distinct(3, 4), axis=0)],
        errors=[(ValueError, lambda: ts.median(ts.ones(0))), (TypeError, lambda: ts.median(ts.ones(2) * 1j))]),
    Row("nanmedian", median(True), all_median_samples, dtypes=REAL, layouts=LAYOUTS,
        grad_samples=lambda m: [sample(m.distinct(3, 4)), sample(m.distinct(3, 4), axis=0)]),
    Row("median_with_indices", median_pair(False), median_samples, dtypes=REAL, layouts=LAYOUTS, grad_samples=one_axis),
    Row("nanmedian_with_indices", median_pair(True), median_samples, dtypes=REAL, layouts=LAYOUTS, grad_samples=one_axis),
    Row("mode", modes, repeated_samples, dtypes=(*FLOATS, "int32", "uint8", "bool"), layouts=LAYOUTS,
        grad_samples=lambda m: [sample(m.distinct(3, 4)), sample(m.distinct(3, 4), axis=0)],
        errors=[(ValueError, lambda: ts.mode(ts.ones(0)))]),
    Row("quantile", quantiles(False), quantile_samples, dtypes=ALL_FLOATS, layouts=LAYOUTS, grad_samples=quantile_gradients,
        errors=[(ValueError, lambda: ts.quantile(ts.ones(3), 1.5)), (TypeError, lambda: ts.quantile(ts.arange(3), 0.5)),
                (ValueError, lambda: ts.quantile(ts.ones(3), 0.5, interpolation="cubic")),
                (ValueError, lambda: ts.quantile(ts.ones(0), 0.5)),
                (ValueError, lambda: ts.quantile(ts.ones(3), ts.tensor([0.5, float("nan")])))]),
    Row("nanquantile", quantiles(True), quantile_samples, dtypes=ALL_FLOATS, layouts=LAYOUTS, grad_samples=quantile_gradients),
    Row("cov", covariance, covariance_samples, dtypes=(*FLOATS, *COMPLEX, "int32"), result="float", tolerance=SUMS, layouts=LAYOUTS,
        errors=[(ValueError, lambda: ts.cov(ts.ones((2, 2, 2)))), (TypeError, lambda: ts.cov(ts.ones(2), fweights=ts.ones(2)))]),
    Row("corrcoef", np.corrcoef, lambda m: [sample(m(3, 5)), sample(m(6)), sample(m(1, 4))], dtypes=(*FLOATS, "complex128", "int64"),
        result="float", tolerance=SUMS, layouts=LAYOUTS, grad_samples=lambda m: [sample(m(3, 5))]),
]  # fmt: skip
