#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Large kernels beside PyTorch's, case by case in turns: a JSON line each, then a table."""

from __future__ import annotations

import os

# Idle workers of one library must not spin while the other one is measured.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import argparse
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as TF

import tessera as ts
import tessera.nn.functional as F

Case = tuple[str, Callable[[], object], Callable[[], object]]
ROUND_SECONDS = 0.02
SHORT_ROUND_SECONDS = 0.001  # likely to pass without another process in between
RNG = np.random.default_rng(0)
COLUMNS = 1024


def pair(*shape: int, dtype: type = np.float32) -> tuple[ts.Tensor, torch.Tensor]:
    """The same numbers on both sides."""
    data = RNG.standard_normal(shape).astype(dtype)
    return ts.from_numpy(data.copy()), torch.from_numpy(data.copy())


def indices(high: int, *shape: int) -> tuple[ts.Tensor, torch.Tensor]:
    data = RNG.integers(0, high, shape)
    return ts.from_numpy(data.copy()), torch.from_numpy(data.copy())


def pointwise_cases(rows: int) -> Iterator[Case]:
    (a, p), (b, q) = pair(rows, COLUMNS), pair(rows, COLUMNS)
    side = min(rows, COLUMNS)
    yield "add, fresh", lambda: a + b, lambda: p + q
    yield "multiply by a number, in place", lambda: a.mul_(1.0), lambda: p.mul_(1.0)
    yield "pow 2.5", lambda: ts.pow(ts.abs(a), 2.5), lambda: torch.pow(torch.abs(p), 2.5)
    c, r = a[:side, :side], p[:side, :side]
    yield "add, one transposed", lambda: c + c.T, lambda: r + r.T
    for name in ("exp", "log", "sqrt", "sin", "tanh", "erf", "atan", "tan", "expm1", "log1p"):
        ours, theirs = getattr(ts, name), getattr(torch, name)
        yield name, lambda f=ours: f(a), lambda f=theirs: f(p)
    d, r = pair(rows // 4, COLUMNS, dtype=np.float64)
    for name in ("exp", "log", "sin", "tanh", "erf"):
        ours, theirs = getattr(ts, name), getattr(torch, name)
        yield f"{name}, float64", lambda f=ours: f(d), lambda f=theirs: f(r)
    h, s = a.astype(ts.bfloat16), p.bfloat16()
    yield "add, bfloat16", lambda: h + h, lambda: s + s
    yield "to float64", lambda: a.astype(ts.float64), lambda: p.double()
    yield "to float16", lambda: a.astype(ts.float16), lambda: p.half()
    m, t = a > 0, p > 0
    yield "where", lambda: ts.where(m, a, b), lambda: torch.where(t, p, q)
    yield "masked select", lambda: a[m], lambda: p[t]


def reduction_cases(rows: int) -> Iterator[Case]:
    a, p = pair(rows, COLUMNS)
    yield "sum", lambda: a.sum(), lambda: p.sum()
    for axis in (0, 1):
        yield f"sum, axis {axis}", lambda d=axis: a.sum(d), lambda d=axis: p.sum(d)
        yield f"mean, axis {axis}", lambda d=axis: a.mean(d), lambda d=axis: p.mean(d)
        yield f"amax, axis {axis}", lambda d=axis: ts.amax(a, d), lambda d=axis: torch.amax(p, d)
        yield f"argmax, axis {axis}", lambda d=axis: a.argmax(d), lambda d=axis: p.argmax(d)
        yield f"var, axis {axis}", lambda d=axis: a.var(d), lambda d=axis: p.var(d)
        yield f"logsumexp, axis {axis}", lambda d=axis: ts.logsumexp(a, d), lambda d=axis: torch.logsumexp(p, d)
        yield f"cumsum, axis {axis}", lambda d=axis: a.cumsum(axis=d), lambda d=axis: p.cumsum(d)
        yield f"softmax, axis {axis}", lambda d=axis: F.softmax(a, d), lambda d=axis: TF.softmax(p, d)
    yield "log_softmax, axis 1", lambda: F.log_softmax(a, 1), lambda: TF.log_softmax(p, 1)
    w, u = pair(COLUMNS)
    yield "layer_norm", lambda: F.layer_norm(a, [COLUMNS], w, w), lambda: TF.layer_norm(p, [COLUMNS], u, u)


def moving_cases(rows: int) -> Iterator[Case]:
    (a, p), (b, q) = pair(rows, COLUMNS), pair(rows, COLUMNS)
    yield "flip, axis 1", lambda: ts.flip(a, axis=1), lambda: torch.flip(p, [1])
    yield "contiguous of a transposed", lambda: a.T.contiguous(), lambda: p.T.contiguous()
    yield "cat, axis 1", lambda: ts.cat([a, b], axis=1), lambda: torch.cat([p, q], 1)
    chosen, lines = indices(rows, rows)
    yield "index_select", lambda: ts.index_select(a, 0, chosen), lambda: torch.index_select(p, 0, lines)
    yield "a[rows]", lambda: a[chosen], lambda: p[lines]
    i, j = indices(COLUMNS, rows, COLUMNS)
    yield "gather", lambda: ts.gather(a, 1, i), lambda: torch.gather(p, 1, j)
    yield "scatter_add", lambda: ts.scatter_add(a, 1, i, b), lambda: torch.scatter_add(p, 1, j, q)
    table, weights = pair(10000, 256)
    yield "embedding", lambda: F.embedding(chosen, table), lambda: TF.embedding(lines, weights)
    yield "sort, axis 1", lambda: ts.sort(a, axis=1), lambda: torch.sort(p, 1)
    yield "topk 10", lambda: ts.topk(a, 10), lambda: torch.topk(p, 10)
    yield "topk 512", lambda: ts.topk(a, 512), lambda: torch.topk(p, 512)


def random_cases(rows: int) -> Iterator[Case]:
    a, p = pair(rows, COLUMNS)
    shape = (rows, COLUMNS)
    yield "rand", lambda: ts.rand(shape), lambda: torch.rand(shape)
    yield "randn", lambda: ts.randn(shape), lambda: torch.randn(shape)
    yield "dropout", lambda: F.dropout(a, 0.5, True), lambda: TF.dropout(p, 0.5, True)


def network_cases(rows: int) -> Iterator[Case]:
    (x, p), (y, q) = pair(512, 512), pair(512, 512)
    yield "matmul 512", lambda: x @ y, lambda: p @ q
    yield "matmul 512, second transposed", lambda: x @ y.T, lambda: p @ q.T
    c, r = pair(64, 64, 64)
    yield "matmul, 64 of 64", lambda: c @ c, lambda: r @ r
    image, photo = pair(max(1, rows // 128), 64, 56, 56)
    yield "max_pool2d", lambda: F.max_pool2d(image, 2), lambda: TF.max_pool2d(photo, 2)
    yield "avg_pool2d", lambda: F.avg_pool2d(image, 2), lambda: TF.avg_pool2d(photo, 2)
    w, u = pair(64)
    mean, var = ts.zeros(64), ts.ones(64)
    mu, squares = torch.zeros(64), torch.ones(64)
    yield (
        "batch_norm, training",
        lambda: F.batch_norm(image, mean, var, w, w, True),
        lambda: TF.batch_norm(photo, mu, squares, u, u, True),
    )
    logits, scores = pair(rows, 1000)
    classes, labels = indices(1000, rows)
    yield "cross_entropy", lambda: F.cross_entropy(logits, classes), lambda: TF.cross_entropy(scores, labels)


def convolution_cases(rows: int) -> Iterator[Case]:
    batch = max(1, rows // 128)
    shapes = [(64, 56, 64, 3, 1, 1), (3, 224, 64, 7, 2, 3), (256, 14, 256, 3, 1, 1), (64, 56, 256, 1, 1, 0)]
    for channels, size, filters, kernel, stride, padding in shapes:
        (x, p), (w, q) = pair(batch, channels, size, size), pair(filters, channels, kernel, kernel)
        name = f"conv2d {batch}x{channels}x{size}x{size}, {filters} of {kernel}x{kernel}, stride {stride}"
        rest = (None, stride, padding)
        yield name, lambda: F.conv2d(x, w, *rest), lambda: TF.conv2d(p, q, *rest)
        for tensor in (x, p, w, q):
            tensor.requires_grad_()
        yield (
            f"{name}, forward and backward",
            lambda: passes(F.conv2d, x, w, *rest),
            lambda: passes(TF.conv2d, p, q, *rest),
        )


def passes(conv: Callable[..., object], image: object, weight: object, *rest: object) -> None:
    conv(image, weight, *rest).sum().backward()  # type: ignore[attr-defined]
    image.grad = weight.grad = None  # type: ignore[attr-defined]


FAMILIES = {
    "pointwise": pointwise_cases,
    "reduction": reduction_cases,
    "moving": moving_cases,
    "random": random_cases,
    "network": network_cases,
    "convolution": convolution_cases,
}


def microseconds(function: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=4096, help="of 1024 float32: 4096 are 16 MiB, 256 stay in cache")
    parser.add_argument("--best", action="store_true", help="best rounds instead of medians: for loaded machines")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--match", default="", help="a regular expression that a case's name holds")
    options = parser.parse_args()
    ts.set_num_threads(options.threads)
    torch.set_num_threads(options.threads)
    statistic, length = (min, SHORT_ROUND_SECONDS) if options.best else (statistics.median, ROUND_SECONDS)
    table = ["| case | tessera us | PyTorch us | ratio |", "|---|---|---|---|"]
    for family in options.families:
        for name, ours, theirs in FAMILIES[family](options.rows):
            if not re.search(options.match, name):
                continue
            for function in (ours, theirs):
                microseconds(function, 2)  # memory is taken, pages are touched
            calls = max(1, int(length * 1e6 / max(microseconds(ours, 1), microseconds(theirs, 1))))
            rounds = [(microseconds(ours, calls), microseconds(theirs, calls)) for _ in range(options.rounds)]
            one, two = (statistic(r[i] for r in rounds) for i in (0, 1))
            line = {"name": name, "threads": options.threads, "time": one, "peer": two, "ratio": one / two}
            print(json.dumps(line), flush=True)
            table.append(f"| {name} | {one:.0f} | {two:.0f} | {one / two:.2f} |")
    print("\n".join(table))
    print(f"\nPyTorch {torch.__version__}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
