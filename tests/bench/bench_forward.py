#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of forward mode: an op with one dual input beside the op alone, one JSON line for each case.

Usage: bench_forward.py [word...]    # only the cases whose names contain one of the words

One thread, processor time, the best of 20 rounds. Grad mode is on and nothing requires grad, as in a program that only
asks for tangents. tests/bench/instructions.cpp counts the instructions of small cases from C.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import tessera as ts
import tessera.nn.functional as F
from tessera.autograd import forward_ad

ROUND = 3e-3  # seconds, at least
ROUNDS = 20
Function = Callable[[ts.Tensor], ts.Tensor]


def seconds_of(function: Function, x: ts.Tensor, calls: int) -> float:
    begin = time.process_time()
    for _ in range(calls):
        function(x)
    return time.process_time() - begin


def best(function: Function, x: ts.Tensor) -> float:
    """The seconds of a call."""
    calls = 1
    while seconds_of(function, x, calls) < ROUND:
        calls *= 2
    return min(seconds_of(function, x, calls) for _ in range(ROUNDS)) / calls


def compare(name: str, x: ts.Tensor, function: Function) -> None:
    if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
        return
    alone = best(function, x)
    with forward_ad.dual_level():
        both = best(function, forward_ad.make_dual(x, ts.ones_like(x)))
    row = {"name": name, "us": round(alone * 1e6, 2), "us_with_tangent": round(both * 1e6, 2), "ratio": round(both / alone, 2)}
    print(json.dumps(row), flush=True)


def elementwise(count: int) -> None:
    x, c = ts.rand((count,)), ts.rand((count,))
    cases: dict[str, Function] = {
        "exp": ts.exp, "sin": ts.sin, "tanh": ts.tanh, "sum": ts.sum,
        "multiply by constant": lambda v: v * c, "multiply two": lambda v: v * v, "divide by constant": lambda v: v / c,
        "multiply by number": lambda v: v * 2.0, "divide two": lambda v: v / v, "add two": lambda v: v + v,
    }  # fmt: skip
    for name, function in cases.items():
        compare(f"{name} {count}", x, function)


def layers() -> None:
    for rows, width in ((64, 256), (2048, 1024)):
        w = ts.rand((width,))
        compare(f"layer_norm {rows}x{width}", ts.rand((rows, width)), lambda v, n=width, w=w: F.layer_norm(v, (n,), w, w))
    for shape, groups in (((8, 8, 16, 16), 2), ((16, 64, 32, 32), 8)):
        w = ts.rand((shape[1],))
        compare(f"group_norm {shape}", ts.rand(shape), lambda v, n=groups, w=w: F.group_norm(v, n, w, w))
    q = ts.rand((4, 4, 64, 32))
    compare("attention, dual query", q, lambda v: F.scaled_dot_product_attention(v, q, q))
    compare("attention, all dual", q, lambda v: F.scaled_dot_product_attention(v, v, v))
    classes = ts.zeros((64,), dtype=ts.int64)
    compare("cross_entropy 64x100", ts.rand((64, 100)), lambda v: F.cross_entropy(v, classes))
    square, kernel = ts.rand((256, 256)), ts.rand((16, 8, 3, 3))
    compare("matmul 256", square, lambda v: v @ square)
    compare("conv2d 4x8x32x32", ts.rand((4, 8, 32, 32)), lambda v: F.conv2d(v, kernel))


if __name__ == "__main__":
    ts.set_num_threads(1)
    for size in (4, 1000, 100_000, 1_000_000):
        elementwise(size)
    layers()
