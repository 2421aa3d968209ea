# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels on random shapes and memory orders, against NumPy and PyTorch in float64.

The op table has chosen cases; these are random ones: sizes of 1 with any stride, permuted rows, windows past the
padding. A failure names its seed: `one_case(family, seed)` repeats it. TSR_TEST_LONG asks for more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera.nn import functional as F

ROUNDS = 20_000 if os.environ.get("TSR_TEST_LONG") else 1000
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-11}
Array = np.ndarray[Any, Any]


class Draw:
    """Random choices of one case."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def of(self, *choices: Any) -> Any:
        return choices[self.integer(0, len(choices) - 1)]

    def integers(self, count: int, low: int, high: int) -> list[int]:
        return [self.integer(low, high) for _ in range(count)]

    def size(self) -> int:
        """A size, mostly small; 1 and sizes that do not fill registers are frequent."""
        return int(self.of(1, 2, 3, 5, 8, 17, self.integer(1, 40)))

    def shape(self, ndim: int) -> list[int]:
        return [self.size() for _ in range(ndim)]

    def floating(self) -> Any:
        return self.of(np.float32, np.float64)

    def numbers(self, shape: list[int], dtype: Any, scale: float = 1.0) -> Array:
        return (self.rng.standard_normal(shape) * scale).astype(dtype)

    def laid_out(self, x: Array) -> Array:
        """The same elements in another memory order, or with gaps between them."""
        way = self.integer(0, 3)
        if way == 0 or x.ndim < 2:
            return x
        if way == 1:
            gaps = np.zeros([2 * n for n in x.shape], x.dtype)[tuple([slice(None, None, 2)] * x.ndim)]
            gaps[...] = x
            return gaps
        order = list(self.rng.permutation(x.ndim)) if way == 2 else [0, *range(2, x.ndim), 1]
        return np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))

    def tensor(self, x: Array) -> ts.Tensor:
        return ts.from_numpy(self.laid_out(x))

    def leaf(self, x: Array) -> ts.Tensor:
        return self.tensor(x).detach().requires_grad_()


def double(x: Array) -> torch.Tensor:
    return torch.from_numpy(x.astype(np.float64)).requires_grad_()


def expect(what: str, got: ts.Tensor, wanted: Any, tolerance: float) -> None:
    mine = got.detach().numpy()
    theirs = wanted.detach().numpy() if isinstance(wanted, torch.Tensor) else np.asarray(wanted)
    assert mine.shape == theirs.shape, what
    if mine.size == 0:
        return
    difference = np.abs(mine.astype(np.float64) - theirs.astype(np.float64)).max()
    assert difference <= tolerance * (1 + np.abs(theirs).max()), f"{what}: off by {difference}"


def expect_gradients(draw: Draw, result: ts.Tensor, wanted: torch.Tensor, pairs: dict[str, tuple[Any, Any]], tolerance: float) -> None:
    """Compares the gradients after one random upstream gradient in both graphs."""
    gradient = draw.numbers(list(wanted.shape), result.detach().numpy().dtype.type)
    result.backward(draw.tensor(gradient))
    wanted.backward(torch.from_numpy(gradient.astype(np.float64)))
    for name, (mine, theirs) in pairs.items():
        expect(f"gradient of {name}", mine.grad, theirs.grad, tolerance)


def convolution(draw: Draw) -> None:
    spatial, dtype = draw.of(1, 2, 2, 3), draw.floating()
    groups = draw.of(1, 1, 2, 3)
    per_group, out_per_group = draw.integer(1, 6), draw.integer(1, 6)
    if draw.of(True, False, False):  # depthwise
        groups, per_group, out_per_group = draw.integer(1, 8), 1, draw.of(1, 1, 2)
    kernel, stride = draw.integers(spatial, 1, 4), draw.integers(spatial, 1, 3)
    padding, dilation = draw.integers(spatial, 0, 3), draw.integers(spatial, 1, 2)
    most = 40 if spatial < 3 and draw.of(True, False, False) else 9
    reach = [(k - 1) * d + 1 - 2 * p for k, d, p in zip(kernel, dilation, padding)]
    size = [max(draw.integer(1, most), least) for least in reach]
    x = draw.numbers([draw.integer(1, 3), per_group * groups, *size], dtype)
    w = draw.numbers([out_per_group * groups, per_group, *kernel], dtype)
    b = draw.numbers([out_per_group * groups], dtype)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    mine = [draw.leaf(x), draw.leaf(w), draw.leaf(b) if draw.of(True, False) else None]
    theirs = [double(x), double(w), double(b) if mine[2] is not None else None]
    result = getattr(F, f"conv{spatial}d")(*mine, **options)
    wanted = getattr(torch.nn.functional, f"conv{spatial}d")(*theirs, **options)
    tolerance = 10 * TOLERANCE[dtype]
    expect("result", result, wanted, tolerance)
    names = ["input", "weight", "bias"][: 3 if mine[2] is not None else 2]
    expect_gradients(draw, result, wanted, {n: (m, t) for n, m, t in zip(names, mine, theirs)}, tolerance)


def pooling(draw: Draw) -> None:
    dtype, name = draw.floating(), draw.of("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d")
    kernel, stride = draw.integers(2, 1, 4), draw.integers(2, 1, 3)
    size = [draw.integer(k, 30) for k in kernel]
    x = draw.numbers([draw.integer(1, 3), draw.integer(1, 20), *size], dtype)
    mine, theirs = draw.leaf(x), double(x)
    options: dict[str, Any] = {}
    if name != "adaptive_avg_pool2d":
        options = {"stride": stride, "padding": [draw.integer(0, k // 2) for k in kernel], "ceil_mode": draw.of(True, False)}
    target = [draw.integer(1, n) for n in size] if name == "adaptive_avg_pool2d" else kernel
    result, wanted = (getattr(f, name)(t, target, **options) for f, t in ((F, mine), (torch.nn.functional, theirs)))
    expect(name, result, wanted, TOLERANCE[dtype])
    expect_gradients(draw, result, wanted, {"input": (mine, theirs)}, TOLERANCE[dtype])


def product(draw: Draw) -> None:
    dtype = draw.floating()
    m, k, n = (draw.of(1, 2, 3, 7, 16, 33, draw.integer(1, 200)) for _ in range(3))
    if draw.integer(0, 19) == 0:  # a large matrix and a few rows
        m, k, n = draw.of((8, 1100, 1000), (1100, 4, 1000), (1040, 1030, 3))
    batch = draw.of([], [], [draw.integer(1, 4)])
    a, b = draw.numbers([*batch, m, k], dtype), draw.numbers([*draw.of(batch, []), k, n], dtype)
    mine, theirs = (draw.leaf(a), draw.leaf(b)), (double(a), double(b))
    result, wanted = mine[0] @ mine[1], theirs[0] @ theirs[1]
    expect("result", result, wanted, TOLERANCE[dtype])
    expect_gradients(draw, result, wanted, {"a": (mine[0], theirs[0]), "b": (mine[1], theirs[1])}, 5 * TOLERANCE[dtype])


def reduction(draw: Draw) -> None:
    ndim = draw.integer(1, 5)
    shape = draw.shape(ndim)
    dtype = draw.of(np.float32, np.float64, np.int32, np.int64, np.uint8)
    x = draw.numbers(shape, np.float64, 10).astype(np.int64).astype(dtype) if np.dtype(dtype).kind in "iu" else draw.numbers(shape, dtype)
    axes = tuple(int(a) for a in draw.rng.permutation(ndim)[: draw.integer(1, ndim)])
    keepdims, exact = draw.of(True, False), x.astype(np.float64)
    signs = np.where(x > 0, 1, -1).astype(np.int64 if dtype is np.uint8 else dtype)
    results = {
        "sum": (ts.sum(draw.tensor(x), axis=axes, keepdims=keepdims), exact.sum(axes, keepdims=keepdims)),
        "amax": (ts.amax(draw.tensor(x), axis=axes, keepdims=keepdims), x.max(axes, keepdims=keepdims)),
        "argmin": (ts.argmin(draw.tensor(x), axis=axes[0], keepdims=keepdims), x.argmin(axes[0], keepdims=keepdims)),
        "any": (ts.any(draw.tensor(x), axis=axes, keepdims=keepdims), x.any(axes, keepdims=keepdims)),
        "prod": (ts.prod(draw.tensor(signs), axis=axes[0], keepdims=keepdims), signs.prod(axes[0], keepdims=keepdims)),
        "cumulative_sum": (ts.cumulative_sum(draw.tensor(x), axis=axes[0]), x.astype(np.float64).cumsum(axes[0])),
    }
    if dtype in TOLERANCE:
        results["mean"] = (ts.mean(draw.tensor(x), axis=axes, keepdims=keepdims), exact.mean(axes, keepdims=keepdims))
        results["var"] = (ts.var(draw.tensor(x), axis=axes, keepdims=keepdims), exact.var(axes, keepdims=keepdims))
        wanted = torch.logsumexp(double(x), axes, keepdims)
        results["logsumexp"] = (ts.logsumexp(draw.tensor(x), axis=axes, keepdims=keepdims), wanted)
        results["softmax"] = (ts.softmax(draw.tensor(x), axis=axes[0]), torch.softmax(double(x), axes[0]))
    for name, (got, expected) in results.items():
        expect(f"{name} {axes}", got, expected, TOLERANCE.get(dtype, 0))


def broadcast(draw: Draw) -> None:
    ndim, dtype = draw.integer(1, 4), draw.of(np.float32, np.float64, np.int32)
    full = [draw.of(1, 2, 3, 8, 17, draw.integer(1, 70)) for _ in range(ndim)]
    one, two = ([draw.of(1, n, n) for n in full] for _ in range(2))
    x, y = (draw.numbers(shape, np.float64, 9).astype(dtype) for shape in (one, two[draw.integer(0, ndim - 1) :]))
    condition = draw.rng.random(one) < 0.5
    a, b = draw.tensor(x), draw.tensor(y)
    expect("add", a + b, x + y, 0)
    expect("multiply", a * b, x * y, 0)
    expect("less", a < b, x < y, 0)
    expect("where", ts.where(draw.tensor(condition), a, b), np.where(condition, x, y), 0)
    other = draw.of(np.float32, np.float64, np.int64, np.int16)
    expect("astype", a.astype(getattr(ts, np.dtype(other).name)), x.astype(other), 0)
    target = np.zeros(np.broadcast_shapes(x.shape, y.shape), dtype)
    out = draw.tensor(target)
    ts.maximum(a, b, out=out)
    expect("maximum", out, np.maximum(x, y), 0)


def index(draw: Draw) -> None:
    ndim = draw.integer(1, 4)
    shape = draw.integers(ndim, 1, 9)
    axis = draw.integer(0, ndim - 1)
    x = draw.numbers(shape, np.float32)
    taken = [*shape[:axis], draw.integer(1, 12), *shape[axis + 1 :]]
    positions = draw.rng.integers(-shape[axis], shape[axis], taken)
    mine = draw.leaf(x)
    result = ts.take_along_axis(mine, draw.tensor(positions), axis=axis)
    expect("take_along_axis", result, np.take_along_axis(x, positions, axis), 0)
    theirs = double(x)
    wanted = torch.gather(theirs, axis, torch.from_numpy(positions % shape[axis]))
    expect_gradients(draw, result, wanted, {"input": (mine, theirs)}, 1e-5)
    rows, width = draw.integer(1, 30), draw.of(1, 3, 8, 16, 17, 64)
    table, ids = draw.numbers([rows, width], np.float32), draw.rng.integers(0, rows, draw.integers(draw.integer(1, 2), 1, 9))
    mine, theirs = draw.leaf(table), double(table)
    result, wanted = F.embedding(draw.tensor(ids), mine), torch.nn.functional.embedding(torch.from_numpy(ids), theirs)
    expect("embedding", result, wanted, 0)
    expect_gradients(draw, result, wanted, {"table": (mine, theirs)}, 1e-5)


def arrangement(draw: Draw) -> None:
    ndim = draw.integer(1, 4)
    shape = draw.shape(ndim)
    axis = draw.integer(0, ndim - 1)
    x = draw.numbers(shape, draw.of(np.float32, np.float64, np.int64), 9)
    order = [int(d) for d in draw.rng.permutation(ndim)]
    shift = draw.integer(-5, 5)
    a = draw.tensor(x)
    expect("flip", ts.flip(a, axis=axis), np.flip(x, axis), 0)
    expect("roll", ts.roll(a, shift, axis=axis), np.roll(x, shift, axis), 0)
    expect("permuted copy", ts.permute_dims(a, order).contiguous(), x.transpose(order), 0)
    expect("reshape", ts.reshape(a, (-1,)), x.reshape(-1), 0)
    expect("concat", ts.concat([a, draw.tensor(x), a], axis=axis), np.concatenate([x, x, x], axis), 0)
    expect("stack", ts.stack([a, draw.tensor(x)], axis=axis), np.stack([x, x], axis), 0)
    expect("tile", ts.tile(a, (2,) * ndim), np.tile(x, (2,) * ndim), 0)
    expect("sort", ts.sort(a, axis=axis), np.sort(x, axis), 0)
    expect("tril", ts.tril(draw.tensor(x[None] if ndim == 1 else x)), np.tril(x[None] if ndim == 1 else x), 0)


FAMILIES: dict[str, Callable[[Draw], None]] = {
    f.__name__: f for f in (convolution, pooling, product, reduction, broadcast, index, arrangement)
}


def one_case(family: str, seed: int) -> None:
    FAMILIES[family](Draw(seed))


@pytest.mark.parametrize("family", FAMILIES)
def test_random_cases_agree_with_the_reference(family: str) -> None:
    for seed in range(ROUNDS):
        try:
            one_case(family, seed)
        except Exception as error:
            raise AssertionError(f"{family}, seed {seed}: {error}") from error
