# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""cuBLAS alone, by ctypes: the library that the plugin has loaded, called with the tensors' own addresses in the
current stream. `Gemm` is its first interface, `Light` is cublasLt with the best algorithm of its own heuristic."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p

import tessera as ts

from figures import DEVICE, Stream, loaded

TYPES = {"float32": 0, "float16": 2, "bfloat16": 14}  # cudaDataType
FLOAT32, COMPUTE_32F, NORMAL, TRANSPOSED, DEFAULT_ALGORITHM = 0, 68, 0, 1, -1
DESCRIPTION_TRANSA, DESCRIPTION_TRANSB, PREFERENCE_WORKSPACE = 3, 4, 1
WORKSPACE = 32 << 20  # the workspace of cuBLAS on Hopper

Product = Callable[[], None]


def must(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"cuBLAS: status {status}")


def address(tensor: ts.Tensor) -> c_void_p:
    return c_void_p(tensor.data_ptr())


class Gemm:
    """c = a b for row-major matrices, which cuBLAS sees as c' = b' a'; with `turned`, b is stored transposed."""

    def __init__(self) -> None:
        self.library, self.handle = ctypes.CDLL(loaded("libcublas.so")[0]), c_void_p()
        self.one, self.none = c_float(1), c_float(0)
        must(self.library.cublasCreate_v2(byref(self.handle)))
        must(self.library.cublasSetStream_v2(self.handle, c_void_p(Stream.current().native)))

    def product(self, a: ts.Tensor, b: ts.Tensor, c: ts.Tensor, turned: bool) -> Product:
        (m, k), n, kind = a.shape, c.shape[1], c_int(TYPES[a.dtype.name])
        arguments = (
            self.handle, c_int(TRANSPOSED if turned else NORMAL), c_int(NORMAL), c_int(n), c_int(m), c_int(k), byref(self.one),
            address(b), kind, c_int(k if turned else n), address(a), kind, c_int(k), byref(self.none),
            address(c), kind, c_int(n), c_int(COMPUTE_32F), c_int(DEFAULT_ALGORITHM),
        )  # fmt: skip
        return lambda: must(self.library.cublasGemmEx(*arguments))


class Chosen(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t"""

    _fields_ = [
        ("algorithm", c_uint64 * 8), ("workspace", c_size_t), ("state", c_int), ("waves", c_float), ("reserved", c_int * 4)
    ]  # fmt: skip


class Light:
    """The same product by cublasLtMatmul. Descriptors live as long as the process."""

    def __init__(self) -> None:
        self.library, self.handle = ctypes.CDLL(loaded("libcublasLt.so")[0]), c_void_p()
        self.one, self.none = c_float(1), c_float(0)
        must(self.library.cublasLtCreate(byref(self.handle)))
        self.workspace = ts.empty((WORKSPACE,), dtype=ts.uint8, device=DEVICE)

    def layout(self, kind: int, rows: int, columns: int) -> c_void_p:
        made = c_void_p()
        must(self.library.cublasLtMatrixLayoutCreate(
            byref(made), c_int(kind), c_uint64(rows), c_uint64(columns), c_int64(rows)
        ))  # fmt: skip
        return made

    def description(self, turned: bool) -> c_void_p:
        made = c_void_p()
        must(self.library.cublasLtMatmulDescCreate(byref(made), c_int(COMPUTE_32F), c_int(FLOAT32)))
        for attribute, value in ((DESCRIPTION_TRANSA, TRANSPOSED if turned else NORMAL), (DESCRIPTION_TRANSB, NORMAL)):
            must(self.library.cublasLtMatmulDescSetAttribute(made, c_int(attribute), byref(c_int(value)), c_size_t(4)))
        return made

    def preference(self) -> c_void_p:
        made, limit = c_void_p(), c_uint64(WORKSPACE)
        must(self.library.cublasLtMatmulPreferenceCreate(byref(made)))
        must(self.library.cublasLtMatmulPreferenceSetAttribute(
            made, c_int(PREFERENCE_WORKSPACE), byref(limit), c_size_t(8)
        ))  # fmt: skip
        return made

    def product(self, a: ts.Tensor, b: ts.Tensor, c: ts.Tensor, turned: bool) -> Product:
        (m, k), n, kind = a.shape, c.shape[1], TYPES[a.dtype.name]
        what = self.description(turned)
        of_b = self.layout(kind, k, n) if turned else self.layout(kind, n, k)
        of_a, of_c = self.layout(kind, k, m), self.layout(kind, n, m)
        best, count = Chosen(), c_int()
        must(self.library.cublasLtMatmulAlgoGetHeuristic(
            self.handle, what, of_b, of_a, of_c, of_c, self.preference(), c_int(1), byref(best), byref(count)
        ))  # fmt: skip
        if count.value == 0:
            raise RuntimeError("cublasLt: no algorithm")
        must(best.state)
        arguments = (
            self.handle, what, byref(self.one), address(b), of_b, address(a), of_a, byref(self.none), address(c), of_c,
            address(c), of_c, byref(best), address(self.workspace), c_size_t(WORKSPACE), c_void_p(Stream.current().native),
        )  # fmt: skip
        return lambda: must(self.library.cublasLtMatmul(*arguments))
