#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares large kernels with PyTorch's, case by case in turns: one JSON line for each, then a table."""

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

import kernel_cases
import torch_cases

Case = tuple[str, Callable[[], object], Callable[[], object]]
clock = time.perf_counter  # or time.process_time
ROUND_SECONDS = 0.02
SHORT_ROUND_SECONDS = 0.001  # short enough that another process seldom interrupts it
RNG = np.random.default_rng(0)
COLUMNS = 1024


def pair(*shape: int, dtype: type = np.float32) -> tuple[ts.Tensor, torch.Tensor]:
    """Tensors with the same numbers in both libraries."""
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


def layout_cases(rows: int) -> Iterator[Case]:
    """Operands that are broadcast, transposed, sliced or have channels last."""
    (a, p), (row, r), (column, c) = pair(rows, COLUMNS), pair(COLUMNS), pair(rows, 1)
    side = min(rows, COLUMNS)
    s, t = (tensor.T for tensor in pair(side, side))
    yield "add a row", lambda: a + row, lambda: p + r
    yield "add a column", lambda: a + column, lambda: p + c
    yield "row plus column", lambda: row + column, lambda: r + c
    yield "exp of a transposed", lambda: ts.exp(s), lambda: torch.exp(t)
    yield "add of two transposed", lambda: s + s, lambda: t + t
    yield "sum, axis 1, of a transposed", lambda: s.sum(1), lambda: t.sum(1)
    yield "sum, axis 0, of a transposed", lambda: s.sum(0), lambda: t.sum(0)
    yield "softmax, axis 1, of a transposed", lambda: F.softmax(s, 1), lambda: TF.softmax(t, 1)
    yield "add of every second column", lambda: a[:, ::2] + 1.0, lambda: p[:, ::2] + 1.0
    yield "add of every second row", lambda: a[::2] + 1.0, lambda: p[::2] + 1.0
    yield "copy of every second column", lambda: a[:, ::2].contiguous(), lambda: p[:, ::2].contiguous()
    yield "to float64, transposed", lambda: s.astype(ts.float64), lambda: t.double()
    image, photo = pair(max(1, rows // 128), 56, 56, 64)
    x, y = image.permute((0, 3, 1, 2)), photo.permute(0, 3, 1, 2)
    bias, b = pair(64, 1, 1)
    yield "relu, channels last", lambda: F.relu(x), lambda: TF.relu(y)
    yield "add a bias, channels last", lambda: x + bias, lambda: y + b
    yield "mean over space, channels last", lambda: x.mean((2, 3)), lambda: y.mean((2, 3))
    yield "max_pool2d, channels last", lambda: F.max_pool2d(x, 2), lambda: TF.max_pool2d(y, 2)
    yield "avg_pool2d, channels last", lambda: F.avg_pool2d(x, 2), lambda: TF.avg_pool2d(y, 2)
    yield "contiguous of channels last", lambda: x.contiguous(), lambda: y.contiguous()
    image, photo = x.contiguous(), y.contiguous()
    yield "add a bias", lambda: image + bias, lambda: photo + b
    yield "mean over space", lambda: image.mean((2, 3)), lambda: photo.mean((2, 3))
    yield "sum over all but the channels", lambda: image.sum((0, 2, 3)), lambda: photo.sum((0, 2, 3))
    yield "to channels last", lambda: image.permute((0, 2, 3, 1)).contiguous(), lambda: move_channels(photo)


def move_channels(photo: torch.Tensor) -> torch.Tensor:
    return photo.contiguous(memory_format=torch.channels_last)


def integer_cases(rows: int) -> Iterator[Case]:
    """Integers, bools, comparisons and 16-bit floats."""
    (i, j), (k, l) = indices(1000, rows, COLUMNS), indices(1000, rows, COLUMNS)
    n, m = i.astype(ts.int32), j.int()
    (a, p), (b, q) = pair(rows, COLUMNS), pair(rows, COLUMNS)
    yield "add, int64", lambda: i + k, lambda: j + l
    yield "add, int32", lambda: n + n, lambda: m + m
    yield "multiply, int64", lambda: i * k, lambda: j * l
    yield "floor divide, int64", lambda: i // 7, lambda: torch.div(j, 7, rounding_mode="floor")
    yield "sum, int64", lambda: i.sum(), lambda: j.sum()
    yield "greater", lambda: a > b, lambda: p > q
    yield "equal, int64", lambda: i == k, lambda: j == l
    yield "isnan", lambda: ts.isnan(a), lambda: torch.isnan(p)
    yield "any", lambda: (a > 9.0).any(), lambda: (p > 9.0).any()
    yield "to int64", lambda: a.astype(ts.int64), lambda: p.long()
    yield "int64 to float32", lambda: i.astype(ts.float32), lambda: j.float()
    for name in ("bfloat16", "float16"):
        h, s = a.astype(getattr(ts, name)), p.to(getattr(torch, name))
        yield f"{name} to float32", lambda h=h: h.astype(ts.float32), lambda s=s: s.float()
        yield f"sum, {name}", lambda h=h: h.sum(), lambda s=s: s.sum()
        yield f"multiply, {name}", lambda h=h: h * h, lambda s=s: s * s
    h, s = a.astype(ts.bfloat16), p.bfloat16()
    yield "softmax, bfloat16", lambda: F.softmax(h, 1), lambda: TF.softmax(s, 1)
    yield "gelu, bfloat16", lambda: F.gelu(h), lambda: TF.gelu(s)


def backward_cases(rows: int) -> Iterator[Case]:
    """Forward and backward of one layer, from an existing gradient."""
    a, p = pair(rows, COLUMNS)
    w, u = pair(COLUMNS)
    image, photo = pair(max(1, rows // 128), 64, 56, 56)
    v, t = pair(64)
    (i, j), (table, weights) = indices(10000, rows), pair(10000, 256)
    x, y = indices(COLUMNS, rows, COLUMNS)
    label, target = indices(COLUMNS, rows)
    layers: list[tuple[str, Callable[..., object], Callable[..., object], list[ts.Tensor], list[torch.Tensor]]] = [
        ("relu", F.relu, TF.relu, [a], [p]),
        ("gelu", F.gelu, TF.gelu, [a], [p]),
        ("silu", F.silu, TF.silu, [a], [p]),
        ("sigmoid", ts.sigmoid, torch.sigmoid, [a], [p]),
        ("tanh", ts.tanh, torch.tanh, [a], [p]),
        ("multiply by a row", lambda b, c: b * c, lambda b, c: b * c, [a, w], [p, u]),
        ("sum, axis 1", lambda b: b.sum(1), lambda b: b.sum(1), [a], [p]),
        ("amax, axis 1", lambda b: ts.amax(b, 1), lambda b: torch.amax(b, 1), [a], [p]),
        ("softmax", lambda b: F.softmax(b, 1), lambda b: TF.softmax(b, 1), [a], [p]),
        ("log_softmax", lambda b: F.log_softmax(b, 1), lambda b: TF.log_softmax(b, 1), [a], [p]),
        ("layer_norm", lambda b, c: F.layer_norm(b, [COLUMNS], c, c), lambda b, c: TF.layer_norm(b, [COLUMNS], c, c),
         [a, w], [p, u]),
        ("batch_norm", lambda b, c: F.batch_norm(b, None, None, c, c, True),
         lambda b, c: TF.batch_norm(b, None, None, c, c, True), [image, v], [photo, t]),
        ("max_pool2d", lambda b: F.max_pool2d(b, 2), lambda b: TF.max_pool2d(b, 2), [image], [photo]),
        ("max_pool2d 3, stride 2", lambda b: F.max_pool2d(b, 3, 2, 1), lambda b: TF.max_pool2d(b, 3, 2, 1),
         [image], [photo]),
        ("avg_pool2d", lambda b: F.avg_pool2d(b, 2), lambda b: TF.avg_pool2d(b, 2), [image], [photo]),
        ("adaptive_avg_pool2d", lambda b: F.adaptive_avg_pool2d(b, 1), lambda b: TF.adaptive_avg_pool2d(b, 1),
         [image], [photo]),
        ("embedding", lambda b: F.embedding(i, b), lambda b: TF.embedding(j, b), [table], [weights]),
        ("index_select", lambda b: ts.index_select(b, 0, i), lambda b: torch.index_select(b, 0, j),
         [table], [weights]),
        ("gather", lambda b: ts.gather(b, 1, x), lambda b: torch.gather(b, 1, y), [a], [p]),
        ("cat", lambda b: ts.cat([b, b], axis=1), lambda b: torch.cat([b, b], 1), [a], [p]),
        ("slice", lambda b: b[:, 3:900], lambda b: b[:, 3:900], [a], [p]),
        ("cross_entropy", lambda b: F.cross_entropy(b, label), lambda b: TF.cross_entropy(b, target), [a], [p]),
        ("matmul, 8 rows", lambda b, c: c @ b.T, lambda b, c: c @ b.T, [a, a[:8]], [p, p[:8]]),
    ]  # fmt: skip
    for name, one, two, ours, theirs in layers:
        yield f"{name}, forward and backward", Passes(ts, one, ours), Passes(torch, two, theirs)


def recurrent_cases(rows: int) -> Iterator[Case]:
    """Forward and backward of one layer over 25 time steps, and of a loss of alignments; `rows` does not matter."""
    for batch, hidden in ((16, 64), (32, 1024), (128, 1024)):
        for name, blocks in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1)):
            shapes = [(25, batch, hidden), *[(blocks * hidden, hidden)] * 2, *[(blocks * hidden,)] * 2]
            pairs = [pair(*shape) for shape in shapes]
            for one, two in pairs[1:]:
                one *= hidden**-0.5
                two *= hidden**-0.5
            hx, states = ts.zeros((1, batch, hidden)), torch.zeros(1, batch, hidden)
            if name == "lstm":
                hx, states = [hx, hx], [states, states]

            def ours(x: object, *w: object, name: str = name, hx: object = hx) -> object:
                return getattr(F, name)(x, hx, w, True, 1, 0.0, True)[0]

            def theirs(x: object, *w: object, name: str = name, hx: object = states) -> object:
                return getattr(torch, name)(x, hx, w, True, 1, 0.0, True, False, False)[0]

            yield (
                f"{name}, batch {batch}, hidden {hidden}, forward and backward",
                Passes(ts, ours, [one for one, _ in pairs]),
                Passes(torch, theirs, [two for _, two in pairs]),
            )
    (x, p), (labels, targets) = pair(100, 16, 40), indices(39, 16, 20)
    lengths = [ts.full((16,), n, dtype=ts.int64) for n in (100, 20)]
    sizes = [torch.full((16,), n, dtype=torch.int64) for n in (100, 20)]
    yield (
        "ctc_loss, 100 steps, batch 16, forward and backward",
        Passes(ts, lambda a: F.ctc_loss(F.log_softmax(a, 2), labels + 1, *lengths), [x]),
        Passes(torch, lambda a: TF.ctc_loss(TF.log_softmax(a, 2), targets + 1, *sizes), [p]),
    )


def attention_cases(rows: int) -> Iterator[Case]:
    """8 heads of 64 features; PyTorch's function is there from 2.0 on."""
    length = max(1, rows // 4)
    ours, theirs = zip(*(pair(1, 8, length, 64) for _ in range(3)))
    attend, peer = F.scaled_dot_product_attention, getattr(TF, "scaled_dot_product_attention", None)
    if peer is not None:
        half, short = [x.astype(ts.bfloat16) for x in ours], [x.bfloat16() for x in theirs]
        yield "attention", lambda: attend(*ours), lambda: peer(*theirs)
        yield "attention, causal", lambda: attend(*ours, is_causal=True), lambda: peer(*theirs, is_causal=True)
        yield "attention, bfloat16", lambda: attend(*half), lambda: peer(*short)
        yield "attention, forward and backward", Passes(ts, attend, list(ours)), Passes(torch, peer, list(theirs))
    (i, j), (table, weights) = indices(10000, rows, 16), pair(10000, 64)
    yield "embedding_bag", lambda: F.embedding_bag(i, table), lambda: TF.embedding_bag(j, weights)
    (a, p), (b, q), (w, u) = pair(rows, 32), pair(rows, 32), pair(64, 32, 32)
    yield "bilinear", lambda: F.bilinear(a, b, w), lambda: TF.bilinear(p, q, u)


class Passes:
    """One call and its gradients."""

    def __init__(self, library: object, function: Callable[..., object], tensors: list) -> None:
        self.library, self.function = library, function
        self.tensors = [tensor.detach().requires_grad_() for tensor in tensors]
        self.grad = library.ones_like(function(*self.tensors).detach())  # type: ignore[attr-defined]

    def __call__(self) -> None:
        result = self.function(*self.tensors)
        self.library.autograd.grad([result], self.tensors, [self.grad])  # type: ignore[attr-defined]


# A row is a statement, whose tensors can have another dtype (--dtype).
STATEMENTS = {**kernel_cases.FAMILIES, **torch_cases.FAMILIES}
FAMILIES = {
    "layout": layout_cases,
    "integer": integer_cases,
    "backward": backward_cases,
    "attention": attention_cases,
    "pointwise": pointwise_cases,
    "reduction": reduction_cases,
    "moving": moving_cases,
    "random": random_cases,
    "network": network_cases,
    "convolution": convolution_cases,
    **kernel_cases.FAMILIES,
    "recurrent": recurrent_cases,
    **torch_cases.FAMILIES,
}


def microseconds(function: Callable[[], object], calls: int) -> float:
    start = clock()
    for _ in range(calls):
        function()
    return (clock() - start) / calls * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=4096, help="of 1024 float32: 4096 are 16 MiB, 256 stay in cache")
    parser.add_argument("--best", action="store_true", help="best rounds instead of medians: for loaded machines")
    parser.add_argument("--cpu", action="store_true", help="the process's own time: for loaded machines")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--families", nargs="*", choices=FAMILIES, help="all of them if this is missing")
    dtypes = ("float32", "float64", "bfloat16", "float16", "complex64", "complex128", "int32", "int64", "int16", "uint8")
    parser.add_argument("--dtype", choices=dtypes, default="float32", help="of the families whose cases are statements")
    parser.add_argument("--match", default="", help="a regular expression that a case's name holds")
    options = parser.parse_args()
    kernel_cases.dtype = options.dtype
    global clock
    clock = time.process_time if options.cpu else time.perf_counter
    ts.set_num_threads(options.threads)
    torch.set_num_threads(options.threads)
    statistic, length = (min, SHORT_ROUND_SECONDS) if options.best else (statistics.median, ROUND_SECONDS)
    table = ["| case | tessera us | PyTorch us | ratio |", "|---|---|---|---|"]
    for family in options.families or (FAMILIES if options.dtype == "float32" else STATEMENTS):
        for name, ours, theirs in FAMILIES[family](options.rows):
            if not re.search(options.match, name):
                continue
            refused = {}
            for library, function in (("Tessera", ours), ("PyTorch", theirs)):
                try:
                    microseconds(function, 2)  # allocates memory and touches its pages
                except (TypeError, RuntimeError) as error:
                    if options.dtype == "float32":
                        raise
                    refused[library] = str(error)
            if refused:
                print(json.dumps({"family": family, "name": name, "refused": refused}), flush=True)
                continue
            calls = max(1, int(length * 1e6 / max(microseconds(ours, 1), microseconds(theirs, 1))))
            rounds = [(microseconds(ours, calls), microseconds(theirs, calls)) for _ in range(options.rounds)]
            one, two = (statistic(r[i] for r in rounds) for i in (0, 1))
            line = {"family": family, "name": name, "threads": options.threads, "time": one, "peer": two, "ratio": one / two}
            print(json.dumps(line), flush=True)
            table.append(f"| {name} | {one:.0f} | {two:.0f} | {one / two:.2f} |")
    print("\n".join(table))
    print(f"\nPyTorch {torch.__version__}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
