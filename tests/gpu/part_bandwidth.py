# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Bandwidth of elementwise kernels over dtypes and layouts, as a share of a measured copy and of the device's peak; then
kernels by family, which are figures without a goal. Beside each of those stands what the kernel should reach: the bytes
that an op must move over those that the kernel moves by its design (a scan in three passes reads its input twice)."""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Callable, Iterator

import numpy as np

import tessera as ts

from figures import DEVICE, Stream, cuda_runtime, figure, time_queued, wait
from machine import PRETEND, facts

PEAKS = {"H200": 4.8e12, "H100": 3.35e12, "A100": 2.0e12}  # bytes per second, by a word of the device's name
PEAK = next((peak for word, peak in PEAKS.items() if word in facts().get("name", "")), 4.8e12)
ROWS, COLUMNS = (64, 64) if PRETEND else (65536, 1024)  # 256 MiB of float32: far more than the cache
# Name, call, bytes that must be read and written, and those that the kernel moves (0: the same).
Case = tuple[str, Callable[[], object], int, int]


def tensor(kind: str = "float32", rows: int = ROWS, columns: int = COLUMNS, seed: int = 0) -> ts.Tensor:
    """Random numbers: a block made on the host and repeated on the device."""
    block = np.random.default_rng(seed).uniform(0.5, 2.0, (min(rows, 64), columns)).astype(np.float32)
    some = ts.from_numpy(block).astype(getattr(ts, kind)).to(DEVICE)
    return ts.concat([some] * (rows // len(some)), axis=0) if rows > len(some) else some


def size(*tensors: ts.Tensor) -> int:
    return sum(t.numel() * t.dtype.itemsize for t in tensors)


def elementwise() -> Iterator[Case]:
    for kind in ("float32", "float16", "bfloat16", "float64", "int32", "uint8", "complex64"):
        a, b = tensor(kind), tensor(kind, seed=1)
        yield f"add {kind}", lambda a=a, b=b: a + b, 3 * size(a), 0
    for kind in ("float32", "bfloat16"):
        a = tensor(kind)
        for name in ("exp", "gelu", "relu"):
            call = getattr(ts.nn.functional, name, None) or getattr(ts, name)
            yield f"{name} {kind}", lambda a=a, call=call: call(a), 2 * size(a), 0
        yield f"times a number, {kind}", lambda a=a: a * 1.5, 2 * size(a), 0
    a, b, mask = tensor(), tensor(seed=1), tensor(seed=2) > 1.0
    half = tensor("bfloat16")
    row, column = tensor(rows=1)[0], a[:, :1].contiguous()
    turned = tensor(rows=COLUMNS, columns=ROWS).T
    yield "where", lambda: ts.where(mask, a, b), 3 * size(a) + size(mask), 0
    yield "compare", lambda: a < b, 2 * size(a) + size(mask), 0
    yield "float32 to bfloat16", lambda: a.astype(ts.bfloat16), size(a, half), 0
    yield "bfloat16 to float32", lambda: half.astype(ts.float32), size(a, half), 0
    yield "add a row", lambda: a + row, 2 * size(a), 0
    yield "add a column", lambda: a + column, 2 * size(a), 0
    yield "add in place", lambda: a.add_(b), 3 * size(a), 0
    yield "every second column", lambda: a[:, ::2] + b[:, ::2], 2 * size(a) + size(a) // 2, 0
    yield "rows reversed", lambda: a[::-1] + b, 3 * size(a), 0
    yield "a slice that is not aligned", lambda: a[:, 1:] + b[:, 1:], 3 * size(a), 0
    yield "add transposed", lambda: turned + b, 3 * size(a), 0
    yield "copy of a transposed one", lambda: turned.contiguous(), 2 * size(a), 0
    yield "zeros", lambda: ts.zeros_like(a), size(a), 0


def with_gradient(function: Callable[[ts.Tensor], ts.Tensor], x: ts.Tensor) -> Callable[[], object]:
    """The backward pass alone: the graph is made once and kept."""
    x = x.detach().requires_grad_()
    y = function(x)
    slope = ts.ones_like(y)
    return lambda: ts.autograd.grad([y], [x], [slope], retain_graph=True)


def rows_and_classes() -> Iterator[Case]:
    """Rows by layout: a warp with registers, a block that reads again, threads across positions."""
    F = ts.nn.functional
    many = tensor(rows=ROWS * 2) if not PRETEND else tensor()
    yield "softmax of 131072 rows of 1024", lambda: ts.softmax(many, -1), 2 * size(many), 0
    yield "softmax, backward", with_gradient(lambda x: ts.softmax(x, -1), tensor()), 3 * size(tensor()), 0
    half = tensor("bfloat16")
    yield "softmax, bfloat16", lambda: ts.softmax(half, -1), 2 * size(half), 0
    long = tensor(rows=64 if PRETEND else 4096, columns=64 if PRETEND else 16384)
    yield "softmax of rows of 16384", lambda: ts.softmax(long, -1), 2 * size(long), 4 * size(long)
    middle = tensor().reshape(8, -1, COLUMNS)
    yield "softmax along a middle axis", lambda: ts.softmax(middle, 1), 2 * size(middle), 4 * size(middle)
    tokens, weight = tensor(rows=64 if PRETEND else 16384), ts.ones((COLUMNS,), device=DEVICE)
    yield "layer_norm of 16384 tokens", lambda: F.layer_norm(tokens, [COLUMNS], weight, weight), 2 * size(tokens), 0
    back = with_gradient(lambda x: F.layer_norm(x, [COLUMNS], weight, weight), tokens)
    yield "layer_norm, backward", back, 3 * size(tokens), 0
    learned = ts.ones((COLUMNS,), device=DEVICE).requires_grad_()
    normed = F.layer_norm(tokens, [COLUMNS], learned, learned)
    yield "layer_norm, gradient of its parameters", (
        lambda: ts.autograd.grad([normed], [learned], [tokens], retain_graph=True)
    ), 2 * size(tokens), 0  # fmt: skip
    words = tensor(rows=64 if PRETEND else 16384, columns=64 if PRETEND else 50257)
    classes = ts.arange(len(words), device=DEVICE) % 64
    yield "cross_entropy of 50257 classes", lambda: F.cross_entropy(words, classes), size(words), 2 * size(words)
    images = tensor(columns=49).reshape(-1, 64, 7, 7)
    yield "batch_norm of small images", lambda: F.batch_norm(images, None, None, training=True), (
        2 * size(images)
    ), 3 * size(images)  # fmt: skip
    table = tensor().reshape(-1, 64)
    yield "batch_norm of 64 features", lambda: F.batch_norm(table, None, None, training=True), (
        2 * size(table)
    ), 3 * size(table)  # fmt: skip


def reductions() -> Iterator[Case]:
    a, half, narrow = tensor(), tensor("bfloat16"), tensor(rows=ROWS * 8, columns=COLUMNS // 8)
    tall = tensor(rows=64 if PRETEND else 8192)
    yield "sum", lambda: a.sum(), size(a), 0
    yield "sum, bfloat16", lambda: half.sum(), size(half), 0
    yield "sum of 60000", lambda: a[0].sum() if PRETEND else a.reshape(-1)[:60000].sum(), 240000, 0
    yield "sum over columns", lambda: a.sum(axis=0), size(a), 0
    yield "gradient of a bias, 8192 rows", lambda: tall.sum(axis=0), size(tall), 0
    yield "sum over rows", lambda: a.sum(axis=1), size(a), 0
    yield "sum over rows, bfloat16", lambda: half.sum(axis=1), size(half), 0
    yield "var", lambda: ts.var(a), size(a), 0
    yield "logsumexp", lambda: ts.logsumexp(a, axis=1), size(a), 0
    yield "argmax", lambda: ts.argmax(a), size(a), 0
    yield "any of a mask", lambda: ts.any(a > 5.0), size(a), 0
    yield "max over short rows", lambda: ts.max(narrow, axis=1), size(narrow), 0


def scans_and_indices() -> Iterator[Case]:
    a = tensor()
    line, padding = a.reshape(-1), ts.zeros((64 if PRETEND else 1 << 20,), dtype=ts.int64, device=DEVICE)
    yield "cumulative_sum of a row", lambda: ts.cumulative_sum(line, 0), 2 * size(a), 3 * size(a)
    yield "cumulative_sum over rows", lambda: ts.cumulative_sum(a, 1), 2 * size(a), 0
    yield "cumulative_sum over columns", lambda: ts.cumulative_sum(a, 0), 2 * size(a), 3 * size(a)
    index = ts.arange(ROWS, device=DEVICE)[::-1].contiguous()
    yield "index_select", lambda: ts.index_select(a, 0, index), 2 * size(a), 0
    table, slopes = tensor(rows=1, columns=64), tensor(rows=len(padding), columns=64)
    yield "gradient of padding, one row 2^20 times", (
        lambda: ts.index_put(table, [padding], slopes, True)
    ), size(slopes), 0  # fmt: skip
    spread = (ts.arange(len(padding), device=DEVICE) * 7919) % 50257
    words = ts.zeros((50257, 64), device=DEVICE)
    yield "gradient of an embedding", lambda: ts.index_put(words, [spread], slopes, True), size(slopes), 0
    yield "rand", lambda: ts.rand((ROWS, COLUMNS), device=DEVICE), size(a), 0
    yield "randn", lambda: ts.randn((ROWS, COLUMNS), device=DEVICE), size(a), 0
    for kind in ("float32", "bfloat16", "uint8"):
        few = line[: 1 << 20].astype(getattr(ts, kind))
        yield f"sort of 2^20, {kind}", lambda few=few: ts.sort(few), 2 * size(few), 0


def measured_copy() -> float:
    """Bytes read and written per second by the copy function of CUDA's run time."""
    source = tensor()
    target, runtime = ts.empty_like(source), cuda_runtime()
    if runtime is None:
        return 2 * size(source) / time_queued(lambda: target.copy_(source), wait)
    stream = ctypes.c_void_p(Stream.current().native)
    addresses = ctypes.c_void_p(target.data_ptr()), ctypes.c_void_p(source.data_ptr())
    return (
        2
        * size(source)
        / time_queued(lambda: runtime.cudaMemcpyAsync(*addresses, ctypes.c_size_t(size(source)), 3, stream), wait)
    )


def run(cases: Iterator[Case], copy: float, group: str) -> list[float]:
    shares = []
    for name, call, nbytes, moved in cases:
        try:
            rate = nbytes / time_queued(call, wait)
        except (NotImplementedError, ts.TesseraError, TypeError) as error:
            print(f"{name}: {error}")
            continue
        shares.append(100 * rate / copy)
        told = f"{rate / 1e9:.0f} GB/s, {100 * rate / PEAK:.0f} % of {PEAK / 1e12:g} TB/s"
        if group != "elementwise":
            told += f"; {nbytes / 1e6:.1f} MB, at most {100 * nbytes / (moved or nbytes):.0f} % by design"
        figure(f"bandwidth.{group}.{name}", shares[-1], "% of a copy", told)
    return shares


def main() -> None:
    copy = measured_copy()
    figure("bandwidth.copy", copy / 1e9, "GB/s", f"{100 * copy / PEAK:.0f} % of {PEAK / 1e12:g} TB/s")
    shares = run(elementwise(), copy, "elementwise")
    if len(shares) < 20:
        raise SystemExit(f"expected at least 20 cases, got {len(shares)}")
    figure("bandwidth.median", statistics.median(shares), "%", f"of {len(shares)} cases")
    figure("bandwidth.worst", min(shares), "%")
    run(rows_and_classes(), copy, "rows")
    run(reductions(), copy, "reductions")
    run(scans_and_indices(), copy, "scans and indices")
    print(
        f"{len(shares)} elementwise cases: median {statistics.median(shares):.0f} %, worst {min(shares):.0f} % of a copy"
    )


if __name__ == "__main__":
    main()
