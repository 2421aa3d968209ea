# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of reductions of segments and of masked elements; the reference is NumPy, one line of elements at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, COMPLEX, INTEGERS, REAL, Fixed, Make, Row, Sample, find, sample
from op_table_nn import ONE, STRIDED

INF = float("inf")
ROUNDED = {"float32": (1e-5, 1e-5), "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "complex64": (1e-5, 1e-5)}

# ---- masks ----


def lines(fold: Callable[..., Any], alike: bool = False) -> Callable[..., Any]:
    """A reference that gives `fold` the elements that the mask selects of one line after the other. `alike`: its results
    are lines of the same length, from (line, mask)."""

    def reference(x: Any, mask: Any = None, *more: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        mask = np.broadcast_to(True if mask is None else mask, x.shape)
        axes = tuple(range(x.ndim)) if axis is None else tuple(np.atleast_1d(axis) % max(x.ndim, 1))
        kept = [d for d in range(x.ndim) if d not in axes]
        order = kept + [d for d in range(x.ndim) if d in axes]
        shape = [x.shape[d] for d in kept]
        rows, masks = (a.transpose(order).reshape(int(np.prod(shape)), -1) for a in (x, mask))
        if alike:
            result = np.array([fold(r, m, *more, **options) for r, m in zip(rows, masks)]).reshape(np.array(x.shape)[order])
            return result.transpose(np.argsort(order))
        result = np.array([fold(r[m], *more, **options) for r, m in zip(rows, masks)]).reshape(shape)
        return np.expand_dims(result, axes) if keepdims else result

    return reference


def masks(make: Make, **options: Any) -> list[Sample]:
    return [
        sample(make(3, 4), make.mask(3, 4), **options),
        sample(make(3, 4), make.mask(4), axis=1, **options),
        sample(make(2, 3, 2), make.mask(3, 1), axis=[0, -1], keepdims=True, **options),
        sample(make(3, 2), Fixed(np.array([[True], [False], [True]])), axis=1, **options),
        sample(make(3, 2), None, axis=0, **options),
        sample(make(), Fixed(np.array(True)), **options),
    ]


def single(make: Make, **options: Any) -> list[Sample]:
    """Along one axis at most."""
    return [s for s in masks(make, **options) if not isinstance(s.kwargs.get("axis"), list)]


def filled(make: Make, **options: Any) -> list[Sample]:
    """At least two elements in every line; distinct ones, none of them 0."""
    mask = Fixed(np.array([[True, True, False, True], [True, False, True, True]]))
    return [sample(make.distinct(2, 4) + 0.07, mask, axis=1, **options), sample(make.distinct(2, 4) + 0.07, mask, **options)]


def extreme(largest: bool, dtype: str) -> Callable[[Any], Any]:
    def fold(x: Any) -> Any:
        if x.size:
            return x.max() if largest else x.min()
        info = np.iinfo(dtype) if dtype in INTEGERS else None
        return (-INF if largest else INF) if info is None else info.min if largest else info.max

    return fold


def variance(x: Any, correction: float = 0) -> Any:
    with np.errstate(all="ignore"):
        return np.float64(np.sum(np.abs(x - np.mean(x)) ** 2) if x.size else np.nan) / max(x.size - correction, 0)


def mean(x: Any) -> Any:
    return np.mean(x) if x.size else np.nan


def norm(x: Any, ord: float = 2) -> Any:
    return np.linalg.norm(x, ord) if x.size else INF if ord < 0 else 0.0


def position(choose: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def fold(x: Any, mask: Any) -> Any:
        return np.flatnonzero(mask)[choose(x[mask])] if mask.any() else 0

    return fold


def positions(choose: Callable[[Any], Any]) -> Callable[..., Any]:
    """Positions of a line, counted with the elements that the mask leaves out."""

    def reference(x: Any, mask: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        both = np.stack([x, np.broadcast_to(True if mask is None else mask, x.shape)], -1)
        fold = position(choose)
        if axis is None:
            found = np.array(fold(both[..., 0].ravel(), both[..., 1].ravel() != 0))
            return found.reshape((1,) * x.ndim) if keepdims else found
        rows = np.moveaxis(both, axis, -2).reshape(-1, x.shape[axis], 2)
        found = np.array([fold(r[:, 0], r[:, 1] != 0) for r in rows]).reshape(np.delete(x.shape, axis))
        return np.expand_dims(found, axis) if keepdims else found

    return reference


def spread(fold: Callable[..., Any], elsewhere: float) -> Callable[..., Any]:
    """What `fold` makes of the selected elements of a line, at their places."""

    def line(x: Any, mask: Any, *more: Any) -> Any:
        result = np.full(x.shape, elsewhere)
        result[mask] = fold(x[mask], *more)
        return result

    return line


def softmax(x: Any) -> Any:
    shares = np.exp(x - x.max(initial=-INF))
    return shares / shares.sum()


def along(make: Make) -> list[Sample]:
    return [sample(make(3, 4), 1, make.mask(3, 4)), sample(make(2, 3), -2, None), sample(make(2, 3), 0, make.mask(3))]


def in_order(reference: Callable[..., Any]) -> Callable[..., Any]:
    """With the arguments of the ops whose axis comes before the mask."""
    return lambda x, axis, mask=None: reference(x, mask, axis=axis)


def of_norm(x: Any, ord: float, axis: int, mask: Any = None) -> Any:
    return lines(spread(lambda r: r / max(norm(r, ord), 1e-12), 0.0), alike=True)(x, mask, axis=axis)


MASKED: dict[str, Any] = {"layouts": STRIDED, "tolerance": ROUNDED}
SMOOTH: dict[str, Any] = {"grad_samples": filled, **MASKED}
ROWS = [
    Row("masked_sum", lines(np.sum), masks, dtypes=REAL + COMPLEX, result="sum", **MASKED,
        errors=[(ValueError, lambda: find("masked_sum")(ONE(2), ONE(3) != 0))]),
    Row("masked_prod", lines(np.prod), masks, dtypes=REAL + COMPLEX, result="sum", **SMOOTH),
    Row("masked_mean", lines(mean), masks, dtypes=ALL_FLOATS + COMPLEX, **SMOOTH),
    Row("masked_var", lines(variance), lambda m: masks(m) + masks(m, correction=1), dtypes=ALL_FLOATS, **SMOOTH),
    Row("masked_std", lines(lambda x, **o: np.sqrt(variance(x, **o))), masks, dtypes=ALL_FLOATS, **SMOOTH),
    Row("masked_norm", lines(norm), lambda m: [s for p in (0.0, 1.0, 2.0, 3.0, INF, -INF, -1.0) for s in masks(m, ord=p)][:-1],
        dtypes=ALL_FLOATS, **{**SMOOTH, "grad_samples": lambda m: [s for p in (1.0, 2.0, 3.0) for s in filled(m, ord=p)]}),
    Row("masked_logsumexp", lines(lambda x: np.logaddexp.reduce(x) if x.size else -INF), masks, dtypes=ALL_FLOATS, **SMOOTH),
    Row("masked_median", lines(lambda x: np.sort(x)[(x.size - 1) // 2] if x.size else np.nan), single, dtypes=ALL_FLOATS, **SMOOTH),
    Row("masked_argmax", positions(np.argmax), single, dtypes=REAL, result="int64", grad=False, why_no_grad="positions", **MASKED),
    Row("masked_argmin", positions(np.argmin), single, dtypes=REAL, result="int64", grad=False, why_no_grad="positions", **MASKED),
    Row("masked_softmax", in_order(lines(spread(softmax, 0.0), alike=True)), along, dtypes=ALL_FLOATS, **MASKED),
    Row("masked_softmin", in_order(lines(spread(lambda x: softmax(-x), 0.0), alike=True)), along, dtypes=ALL_FLOATS, **MASKED),
    Row("masked_log_softmax", in_order(lines(spread(lambda x: np.log(softmax(x)), -INF), alike=True)), along, dtypes=ALL_FLOATS,
        grad_samples=lambda m: [sample(m(2, 3), 1, None)], **MASKED),
    Row("masked_normalize", of_norm, lambda m: [sample(m(3, 4), p, 1, m.mask(3, 4)) for p in (1.0, 2.0, INF)], dtypes=ALL_FLOATS,
        grad_samples=lambda m: [sample(m.distinct(2, 4) + 0.07, p, 1, Fixed(np.arange(4) != 1)) for p in (1.0, 2.0)], **MASKED),
    Row("masked_cumsum", in_order(lines(lambda x, m: np.cumsum(np.where(m, x, 0)), alike=True)), along, dtypes=REAL + COMPLEX,
        result="sum", **MASKED),
    Row("masked_cumprod", in_order(lines(lambda x, m: np.cumprod(np.where(m, x, 1)), alike=True)), along, dtypes=REAL + COMPLEX,
        result="sum", **MASKED),
]  # fmt: skip
ROWS += [
    Row(f"masked_{name}", lines(extreme(name == "amax", "float64")), masks, dtypes=ALL_FLOATS, **SMOOTH) for name in ("amax", "amin")
]


# ---- segments ----

FOLDS: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum, "prod": np.prod, "mean": mean, "max": extreme(True, "float64"), "min": extreme(False, "float64"),
}  # fmt: skip


def segments(x: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0, initial: Any = None) -> Any:
    x = np.moveaxis(x, axis, -1)  # the axes behind the axis come before it
    leading, inner = x.shape[:axis], x.shape[axis:-1]
    ends = np.cumsum(lengths, -1) if offsets is None else offsets[..., 1:]
    result = np.zeros((*leading, *inner, ends.shape[-1]))
    for at in np.ndindex(*leading, *inner):
        place = at[: len(leading)]
        for s, end in enumerate(ends[place]):
            begin = ends[place][s - 1] if s else 0
            result[(*at, s)] = folded(x[at][begin:end], reduce, initial)
    return np.moveaxis(result, -1, axis)


def folded(x: Any, reduce: str, initial: Any) -> Any:
    if initial is None:
        return FOLDS[reduce](x)
    if reduce == "mean":
        return (initial + x.sum()) / x.size if x.size else initial
    return FOLDS[reduce](np.append(x, initial))


def parts(make: Make) -> list[Sample]:
    lengths = Fixed(np.array([2, 0, 3, 1]))
    found = []
    for fold in FOLDS:
        found += [
            sample(make(6), fold, lengths=lengths),
            sample(make(6, 2), fold, offsets=Fixed(np.array([0, 1, 6])), initial=0.5),
            sample(make(2, 5, 2), fold, lengths=Fixed(np.array([[2, 3], [1, 4]])), axis=1),
            sample(make(2, 3), fold, offsets=Fixed(np.array([[0, 3], [0, 3]], np.int32)), axis=-1),
        ]
    return found


def smooth_parts(make: Make) -> list[Sample]:
    """Without ties, and without means of empty segments, which are NaN."""
    full, some = Fixed(np.array([2, 3])), Fixed(np.array([2, 0, 3]))
    return [sample(make.distinct(5) + 0.07, fold, lengths=full) for fold in FOLDS] + [
        sample(make.distinct(5) + 0.07, fold, lengths=some, initial=0.3) for fold in FOLDS
    ]


ROWS += [
    Row("segment_reduce", lambda x, *a, axis=0, **k: segments(x, *a, axis=axis % x.ndim, **k), parts, dtypes=ALL_FLOATS,
        grad_samples=smooth_parts, **MASKED,
        errors=[(ValueError, lambda: find("segment_reduce")(ONE(2), "sum")),
                (ValueError, lambda: find("segment_reduce")(ONE(2), "sum", lengths=ONE(1).astype("int64")))]),
]  # fmt: skip
