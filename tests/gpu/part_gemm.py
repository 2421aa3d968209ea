# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix products beside cuBLAS alone: the same cuBLAS, called with the tensors' own addresses in the same stream."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import tessera as ts

from figures import DEVICE, Stream, check_that, cuda_runtime, figure, loaded, time_queued, wait
from machine import PRETEND
from part_bandwidth import tensor

TYPES = {"float32": 0, "float16": 2, "bfloat16": 14}  # cudaDataType
COMPUTE_32F, NORMAL, TRANSPOSED, DEFAULT_ALGORITHM = 68, 0, 1, -1
SIZES = [(64, 64, 64)] if PRETEND else [
    (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (64, 4096, 4096), (16384, 1024, 256),
]  # fmt: skip


class Alone:
    """The cuBLAS that the plugin has loaded, with a handle of our own and the workspace it makes."""

    def __init__(self) -> None:
        self.library, self.handle = ctypes.CDLL(loaded("libcublas.so")[0]), ctypes.c_void_p()
        self.one, self.none = ctypes.c_float(1), ctypes.c_float(0)
        self.must(self.library.cublasCreate_v2(ctypes.byref(self.handle)))
        self.must(self.library.cublasSetStream_v2(self.handle, ctypes.c_void_p(Stream.current().native)))

    @staticmethod
    def must(status: int) -> None:
        if status != 0:
            raise RuntimeError(f"cuBLAS: status {status}")

    def product(self, a: ts.Tensor, b: ts.Tensor, c: ts.Tensor, turned: bool) -> Callable[[], None]:
        """c = a b for row-major matrices, which to cuBLAS are c' = b' a'; b is stored transposed when `turned`."""
        (m, k), n, kind = a.shape, c.shape[1], TYPES[a.dtype.name]
        ints, pointers = ctypes.c_int, [ctypes.c_void_p(t.data_ptr()) for t in (b, a, c)]
        arguments = (
            self.handle, ints(TRANSPOSED if turned else NORMAL), ints(NORMAL), ints(n), ints(m), ints(k), ctypes.byref(self.one),
            pointers[0], ints(kind), ints(k if turned else n), pointers[1], ints(kind), ints(k), ctypes.byref(self.none),
            pointers[2], ints(kind), ints(n), ints(COMPUTE_32F), ints(DEFAULT_ALGORITHM),
        )  # fmt: skip
        return lambda: self.must(self.library.cublasGemmEx(*arguments))


def main() -> None:
    ts.ones((2, 2), device=DEVICE) @ ts.ones((2, 2), device=DEVICE)
    alone = None if cuda_runtime() is None else Alone()
    worst = float("inf")
    for kind in TYPES:
        for m, n, k in SIZES:
            for turned in (False, True):
                a, b = tensor(kind, m, k), tensor(kind, n, k, seed=1) if turned else tensor(kind, k, n, seed=1)
                right, c = b.T if turned else b, ts.empty((m, n), dtype=a.dtype, device=DEVICE)
                ours = lambda a=a, right=right: a @ right  # noqa: E731
                name = f"{m}x{n}x{k} {kind}{' transposed' if turned else ''}"
                seconds = [time_queued(ours, wait)]
                if alone is not None:
                    theirs = alone.product(a, b, c, turned)
                    seconds.append(time_queued(theirs, wait))
                    seconds[0] = min(seconds[0], time_queued(ours, wait))
                    difference = float(ts.max(ts.abs((a @ right).astype(ts.float32) - c.astype(ts.float32))).item())
                    check_that(f"{name}: results differ by {difference:g}", difference <= 0.02 * k)
                    worst = min(worst, 100 * seconds[1] / seconds[0])
                rate = 2.0 * m * n * k / seconds[0] / 1e12
                note = f"{rate:.1f} TFLOP/s" + (
                    f", cuBLAS alone {2.0 * m * n * k / seconds[1] / 1e12:.1f}" if alone else ""
                )
                figure(
                    f"gemm.{name}",
                    100 * seconds[-1] / seconds[0],
                    "% of cuBLAS alone" if alone else "% of itself",
                    note,
                )
    if alone is not None:
        figure("gemm.worst", worst, "%", "of cublasGemmEx")
        print(f"the worst is {worst:.0f} % of cuBLAS alone")
    else:
        print("products computed; there is no cuBLAS beside the stand-ins")


if __name__ == "__main__":
    main()
