# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products compared with cuBLAS alone: the faster one of its first interface and cublasLt."""

from __future__ import annotations

import sys

import tessera as ts

from cublas_alone import TYPES, Gemm, Light
from figures import DEVICE, check_that, cuda_runtime, figure, time_queued, wait
from machine import PRETEND
from part_bandwidth import tensor

SIZES = [(64, 64, 64)] if PRETEND else [
    (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (64, 4096, 4096), (16384, 1024, 256),
]  # fmt: skip


def measure(alone: list[Gemm | Light], kind: str, size: tuple[int, int, int], turned: bool) -> float | None:
    """Our speed in per cent of the faster peer; peers compute into our tensor. None without peers."""
    m, n, k = size
    a, b = tensor(kind, m, k), tensor(kind, n, k, seed=1) if turned else tensor(kind, k, n, seed=1)
    right, c = b.T if turned else b, ts.empty((m, n), dtype=a.dtype, device=DEVICE)
    wanted = (a @ right).astype(ts.float32)
    name = f"{m}x{n}x{k} {kind}{' transposed' if turned else ''}"
    first, times = time_queued(lambda: a @ right, wait), {}
    for other in alone:
        c.fill_(float("nan"))
        times[type(other).__name__] = time_queued(other.product(a, b, c, turned), wait)
        difference = float(ts.max(ts.abs(wanted - c.astype(ts.float32))).item())
        check_that(f"{name}, {type(other).__name__}: results differ by {difference:g}", difference <= 0.02 * k)
    ours = min(first, time_queued(lambda: a @ right, wait))
    rate = 2.0 * m * n * k / 1e12
    told = ", ".join(f"{other} alone {rate / seconds:.1f}" for other, seconds in times.items())
    share = 100 * min(times.values()) / ours if times else None
    figure(
        f"gemm.{name}",
        share or 100,
        "% of cuBLAS alone" if times else "% of itself",
        f"{rate / ours:.1f} TFLOP/s {told}",
    )
    return share


def main() -> int:
    ts.ones((2, 2), device=DEVICE) @ ts.ones((2, 2), device=DEVICE)
    alone = [] if cuda_runtime() is None else [Gemm(), Light()]
    shares = [measure(alone, kind, size, turned) for kind in TYPES for size in SIZES for turned in (False, True)]
    if not alone:
        print("products computed; there is no cuBLAS beside the stand-ins")
        return 0
    worst = min(share for share in shares if share is not None)
    figure("gemm.worst", worst, "%", "of the faster of cublasGemmEx and cublasLtMatmul")
    print(f"the worst is {worst:.0f} % of cuBLAS alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
