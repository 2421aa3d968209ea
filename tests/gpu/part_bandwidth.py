# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Bandwidth of elementwise kernels over dtypes and layouts, as a share of a measured copy and of the 4.8 TB/s of an
H200; then reductions and similar kernels, which are figures without a goal."""

from __future__ import annotations

import ctypes
import statistics
from collections.abc import Callable, Iterator

import numpy as np

import tessera as ts

from figures import DEVICE, Stream, cuda_runtime, figure, time_queued, wait
from machine import PRETEND

PEAK = 4.8e12
ROWS, COLUMNS = (64, 64) if PRETEND else (65536, 1024)  # 256 MiB of float32: far more than the cache
Case = tuple[str, Callable[[], object], int]  # name, call, bytes read and written


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
        yield f"add {kind}", lambda a=a, b=b: a + b, 3 * size(a)
    for kind in ("float32", "bfloat16"):
        a = tensor(kind)
        for name in ("exp", "gelu", "relu"):
            call = getattr(ts.nn.functional, name, None) or getattr(ts, name)
            yield f"{name} {kind}", lambda a=a, call=call: call(a), 2 * size(a)
        yield f"times a number, {kind}", lambda a=a: a * 1.5, 2 * size(a)
    a, b, mask = tensor(), tensor(seed=1), tensor(seed=2) > 1.0
    half = tensor("bfloat16")
    row, column = tensor(rows=1)[0], a[:, :1].contiguous()
    turned = tensor(rows=COLUMNS, columns=ROWS).T
    yield "where", lambda: ts.where(mask, a, b), 3 * size(a) + size(mask)
    yield "compare", lambda: a < b, 2 * size(a) + size(mask)
    yield "float32 to bfloat16", lambda: a.astype(ts.bfloat16), size(a, half)
    yield "bfloat16 to float32", lambda: half.astype(ts.float32), size(a, half)
    yield "add a row", lambda: a + row, 2 * size(a)
    yield "add a column", lambda: a + column, 2 * size(a)
    yield "add in place", lambda: a.add_(b), 3 * size(a)
    yield "every second column", lambda: a[:, ::2] + b[:, ::2], 2 * size(a) + size(a) // 2
    yield "rows reversed", lambda: a[::-1] + b, 3 * size(a)
    yield "a slice that is not aligned", lambda: a[:, 1:] + b[:, 1:], 3 * size(a)
    yield "add transposed", lambda: turned + b, 3 * size(a)
    yield "copy of a transposed one", lambda: turned.contiguous(), 2 * size(a)
    yield "zeros", lambda: ts.zeros_like(a), size(a)


def others() -> Iterator[Case]:
    a, narrow = tensor(), tensor(rows=ROWS * 8, columns=COLUMNS // 8)
    F = ts.nn.functional
    index = ts.arange(ROWS, device=DEVICE)[::-1].contiguous()
    classes = ts.arange(ROWS, device=DEVICE) % COLUMNS
    weight = ts.ones((COLUMNS,), device=DEVICE)
    yield "sum", lambda: a.sum(), size(a)
    yield "sum of 60000", lambda: a[0].sum() if PRETEND else a.reshape(-1)[:60000].sum(), 240000
    yield "sum over columns", lambda: a.sum(axis=0), size(a)
    yield "sum over rows", lambda: a.sum(axis=1), size(a)
    yield "var", lambda: ts.var(a), size(a)
    yield "max over short rows", lambda: ts.max(narrow, axis=1), size(narrow)
    yield "softmax", lambda: ts.softmax(a, -1), 2 * size(a)
    yield "layer_norm", lambda: F.layer_norm(a, [COLUMNS], weight, weight), 2 * size(a)
    yield "cross_entropy", lambda: F.cross_entropy(a, classes), size(a)
    yield "cumulative_sum of a row", lambda: ts.cumulative_sum(a.reshape(-1), 0), 2 * size(a)
    yield "cumulative_sum over rows", lambda: ts.cumulative_sum(a, 1), 2 * size(a)
    yield "index_select", lambda: ts.index_select(a, 0, index), 2 * size(a)
    yield "rand", lambda: ts.rand((ROWS, COLUMNS), device=DEVICE), size(a)
    yield "sort of 1e6", lambda: ts.sort(a.reshape(-1)[: 1 << 20]), 2 << 22


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
    for name, call, nbytes in cases:
        try:
            rate = nbytes / time_queued(call, wait)
        except (NotImplementedError, ts.TesseraError, TypeError) as error:
            print(f"{name}: {error}")
            continue
        shares.append(100 * rate / copy)
        figure(
            f"bandwidth.{group}.{name}",
            shares[-1],
            "% of a copy",
            f"{rate / 1e9:.0f} GB/s, {100 * rate / PEAK:.0f} % of 4.8 TB/s",
        )
    return shares


def main() -> None:
    copy = measured_copy()
    figure("bandwidth.copy", copy / 1e9, "GB/s", f"{100 * copy / PEAK:.0f} % of 4.8 TB/s")
    shares = run(elementwise(), copy, "elementwise")
    if len(shares) < 20:
        raise SystemExit(f"expected at least 20 cases, got {len(shares)}")
    figure("bandwidth.median", statistics.median(shares), "%", f"of {len(shares)} cases")
    figure("bandwidth.worst", min(shares), "%")
    run(others(), copy, "other")
    print(
        f"{len(shares)} elementwise cases: median {statistics.median(shares):.0f} %, worst {min(shares):.0f} % of a copy"
    )


if __name__ == "__main__":
    main()
