# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""[A18] Forward mode of pointwise operators: the CPU computes the tangent in the pass that computes the value. Compared
with the derivative out of operators, which runs where something requires grad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd import forward_ad
from tessera.nn import functional as F

Function = Callable[..., ts.Tensor]
TOLERANCE = {ts.float64: 1e-13, ts.float32: 2e-6, ts.float16: 4e-3, ts.bfloat16: 3e-2}
SIZES = (1, 7, 1000, 1024, 1025, 4096, 40_001, 70_000)

UNARY: dict[str, Function] = {
    name: getattr(ts, name)
    for name in (
        "abs", "negative", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal", "square", "sin", "cos", "tan", "tanh", "sigmoid",
    )
} | {"relu": F.relu, "silu": F.silu, "gelu": F.gelu, "leaky_relu": lambda x: F.leaky_relu(x, 0.1)}
BINARY: dict[str, Function] = {"add": ts.add, "subtract": ts.subtract, "multiply": ts.multiply, "divide": ts.divide}
NUMBERS: dict[str, Function] = {
    "x * 3": lambda x: x * 3, "0.3 * x": lambda x: 0.3 * x, "x / 0.3": lambda x: x / 0.3, "2 / x": lambda x: 2 / x,
}  # fmt: skip


def numbers(x: ts.Tensor | None) -> Any:
    if x is None:
        return None
    x = x.detach()
    return (x if x.dtype.is_complex else x.astype(ts.float64)).numpy().copy()


def positive(*shape: int, seed: int, dtype: Any) -> ts.Tensor:
    """Numbers between 0.25 and 2."""
    generator = np.random.default_rng(seed)
    real = generator.random(shape) * 1.75 + 0.25
    return ts.asarray(real + 1j * generator.random(shape) if dtype.is_complex else real).astype(dtype)


def push(function: Function, given: list[Any], tangents: list[Any], recorded: bool = False) -> tuple[Any, Any, list[str]]:
    """Value, tangent and the families of the kernels that the function launches."""
    with forward_ad.dual_level():
        made = [
            x if t is None else forward_ad.make_dual(x.detach().requires_grad_(recorded), t) for x, t in zip(given, tangents)
        ]
        with ts.tracing.record(kinds=["launch"]) as records:
            y = function(*made)
        value, tangent = (numbers(part) for part in forward_ad.unpack_dual(y))
        return value, tangent, [record.family for record in records]


def check(function: Function, given: list[Any], tangents: list[Any], family: str | None, error: float) -> None:
    value, tangent, families = push(function, given, tangents)
    if family is not None:
        assert families == [family]
    np.testing.assert_array_equal(value, numbers(function(*given)))  # to the last bit
    _, wanted, others = push(function, given, tangents, recorded=True)
    assert family not in others
    np.testing.assert_allclose(tangent, wanted, rtol=error, atol=error * np.abs(wanted).max(initial=1))


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("name", UNARY)
def test_a18_functions_and_their_tangents_are_one_kernel(name: str, dtype: Any) -> None:
    for size in SIZES:
        x, t = positive(size, seed=1, dtype=dtype), positive(size, seed=2, dtype=dtype) - 1
        family = None if name == "leaky_relu" else "dual_unary"
        check(UNARY[name], [x], [t], family, 8 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [*TOLERANCE, ts.complex64])
@pytest.mark.parametrize("name", BINARY)
def test_a18_arithmetic_and_its_tangents_are_one_kernel(name: str, dtype: Any) -> None:
    error = TOLERANCE.get(dtype, 1e-5)
    short = name == "divide" and dtype in (ts.float16, ts.bfloat16)
    for size in SIZES:
        a, b = positive(size, seed=1, dtype=dtype), positive(size, seed=2, dtype=dtype)
        t, u = positive(size, seed=3, dtype=dtype) - 1, positive(size, seed=4, dtype=dtype) - 1
        family = None if short else "dual_binary"
        check(BINARY[name], [a, b], [t, u], family, 4 * error)
        if name in ("multiply", "divide"):
            check(BINARY[name], [a, b], [t, None], family, 4 * error)
            check(BINARY[name], [a, b], [None, u], family, 4 * error)
        check(lambda x, op=BINARY[name]: op(x, x), [a], [t], family, 4 * error)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("name", NUMBERS)
def test_a18_arithmetic_with_a_number_and_its_tangent_is_one_kernel(name: str, dtype: Any) -> None:
    for size in SIZES:
        x, t = positive(size, seed=1, dtype=dtype), positive(size, seed=2, dtype=dtype) - 1
        check(NUMBERS[name], [x], [t], "dual_binary", 4 * TOLERANCE[dtype])


def laid_out(kind: str, dtype: Any, seed: int) -> ts.Tensor:
    x = positive(6, 10, seed=seed, dtype=dtype)
    match kind:
        case "transposed":
            return positive(10, 6, seed=seed, dtype=dtype).T
        case "sliced":
            return positive(6, 20, seed=seed, dtype=dtype)[:, ::2]
        case "row":
            return positive(10, seed=seed, dtype=dtype)
        case "0-dim":
            return positive(seed=seed, dtype=dtype)
        case "empty":
            return positive(0, 10, seed=seed, dtype=dtype)
        case _:
            return x


@pytest.mark.parametrize("dtype", [ts.float32, ts.float16, ts.int64])
@pytest.mark.parametrize("name", [*BINARY, "exp", "relu"])
def test_a18_other_layouts_and_dtypes_keep_the_tangent(name: str, dtype: Any) -> None:
    function = (BINARY | UNARY)[name]
    kinds = ("dense", "transposed", "sliced", "row", "0-dim")
    if name not in BINARY:
        for kind in (*kinds, "empty"):
            x = laid_out(kind, ts.float16 if dtype is ts.int64 else dtype, 1)
            check(function, [x], [x * 0.5], None, 4e-3)
        return
    for kind in kinds:
        for other in kinds:
            a, b = laid_out(kind, ts.float32, 1), laid_out(other, dtype, 2) + 1
            for tangents in ([a * 0.5, None], *([] if dtype is ts.int64 else [[None, b * 0.25], [a * 0.5, b * 0.25]])):
                check(function, [a, b], tangents, None, 4e-3)
    empty = laid_out("empty", ts.float32, 1)
    check(function, [empty, empty], [empty, empty], None, 0)
    tangent = positive(10, 6, seed=5, dtype=ts.float32).T  # of another layout than its primal
    dense = laid_out("dense", ts.float32, 1)
    check(function, [dense, dense + 1], [tangent, tangent], None, 1e-6)


def test_a18_a_0_dim_product_is_one_kernel() -> None:
    x = ts.asarray(3.0)
    value, tangent, families = push(ts.multiply, [x, x], [ts.asarray(0.5), ts.asarray(2.0)])
    assert (float(value), float(tangent), families) == (9.0, 7.5, ["dual_binary"])


def test_a18_numbers_that_are_not_finite_go_through() -> None:
    special = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, 1e38]
    pairs = ts.asarray(np.array([(a, b) for a in special for b in special], np.float32))
    a, b = pairs[:, 0].contiguous(), pairs[:, 1].contiguous()
    one = ts.ones_like(a)
    for op, derivative in ((ts.multiply, lambda x, y: y + x), (ts.add, lambda x, y: 0 * x + 2)):
        value, tangent, families = push(op, [a, b], [one, one])
        assert families == ["dual_binary"]
        np.testing.assert_array_equal(value, numbers(op(a, b)))
        wanted = numbers(derivative(a, b)) if op is ts.multiply else np.full(a.shape, 2.0)
        np.testing.assert_array_equal(tangent, wanted)
    for op in (ts.multiply, ts.divide):
        for tangents in ([one, None], [None, one]):
            value, tangent, _ = push(op, [a, b], tangents)
            _, wanted, _ = push(op, [a, b], tangents, recorded=True)
            np.testing.assert_array_equal(value, numbers(op(a, b)))
            np.testing.assert_array_equal(tangent, wanted)
    for function in (*NUMBERS.values(), ts.negative):
        value, tangent, families = push(function, [a], [b])
        _, wanted, _ = push(function, [a], [b], recorded=True)
        assert families in (["dual_binary"], ["dual_unary"])
        np.testing.assert_array_equal(value, numbers(function(a)))
        np.testing.assert_array_equal(tangent, wanted)


def test_a18_sums_of_views_and_constants() -> None:
    x, t = positive(64, seed=1, dtype=ts.float32), positive(64, seed=2, dtype=ts.float32)
    halves = numbers(t)[:32], numbers(t)[32:]
    for function, wanted in (
        (lambda v: v[:32] + v[32:], halves[0] + halves[1]),
        (lambda v: v[:32] - v[32:], halves[0] - halves[1]),
        (lambda v: v[:32] + x[32:], halves[0]),
        (lambda v: x[32:] - v[:32], -halves[0]),
        (lambda v: v - x, numbers(t)),
        (lambda v: x - v, -numbers(t)),
    ):
        value, tangent, _ = push(function, [x], [t])
        np.testing.assert_array_equal(value, numbers(function(x)))
        np.testing.assert_allclose(tangent, wanted, rtol=1e-6)


def test_a18_large_arrays_and_threads_give_the_same_numbers() -> None:
    x, c = ts.rand((9_000_001,)) + 0.5, ts.rand((9_000_001,)) + 0.5  # written past the caches
    t, u = ts.rand(x.shape), ts.rand(x.shape)
    before = ts.get_num_threads()
    try:
        for function, given, tangents in ((ts.multiply, [x, c], [t, u]), (ts.divide, [x, c], [t, u]), (ts.exp, [x], [t])):
            ts.set_num_threads(1)
            value, tangent, _ = push(function, given, tangents)
            np.testing.assert_array_equal(value, numbers(function(*given)))
            for first in (0, 8_999_501):  # the same numbers in arrays of a thousand
                part = slice(first, first + 1000)
                alone = push(function, [g[part].clone() for g in given], [g[part].clone() for g in tangents])
                np.testing.assert_array_equal(tangent[part], alone[1])
            ts.set_num_threads(2)
            again = push(function, given, tangents)
            np.testing.assert_array_equal(again[0], value)
            np.testing.assert_array_equal(again[1], tangent)
    finally:
        ts.set_num_threads(before)


def test_a18_other_cases_take_the_rule_of_the_operator() -> None:
    x, t = positive(64, seed=1, dtype=ts.float32), positive(64, seed=2, dtype=ts.float32)
    with forward_ad.dual_level():
        outer = forward_ad.make_dual(x, t)
        with forward_ad.dual_level():
            both = forward_ad.make_dual(outer, t)
            inner = forward_ad.unpack_dual(both * both).tangent
        np.testing.assert_allclose(numbers(forward_ad.unpack_dual(inner).tangent), numbers(2 * t * t), rtol=1e-6)
        place = forward_ad.make_dual(x.clone(), t)
        with ts.tracing.record(kinds=["launch"]) as records:
            place *= x
        assert "dual_binary" not in [record.family for record in records]
        np.testing.assert_array_equal(numbers(forward_ad.unpack_dual(place).tangent), numbers(t * x))
        leaf = x.detach().requires_grad_()
        y = forward_ad.make_dual(leaf, t) * x
        forward_ad.unpack_dual(y).tangent.sum()
        y.sum().backward()
        np.testing.assert_array_equal(numbers(leaf.grad), numbers(x))


@pytest.mark.parametrize("function", [ts.sum, ts.mean])
def test_a18_the_tangent_of_a_sum_is_the_sum_of_the_tangents(function: Function) -> None:
    for dtype in (ts.float32, ts.float16, ts.float64):
        x, t = positive(5, 300, seed=1, dtype=dtype), positive(300, 5, seed=2, dtype=dtype).T
        for axes in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}):
            value, tangent, families = push(lambda v, a=axes: function(v, **a), [x], [t])
            assert set(families) == {"reduce"}
            np.testing.assert_array_equal(value, numbers(function(x, **axes)))
            np.testing.assert_array_equal(tangent, numbers(function(t, **axes)))


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("function, slope", [(ts.sin, ts.cos), (ts.cos, lambda x: -ts.sin(x))])
def test_sine_and_cosine_in_one_loop_have_the_bits_of_two(function: Function, slope: Function, dtype: Any) -> None:
    for size in SIZES:
        x, t = positive(size, seed=1, dtype=dtype) * 40 - 45, positive(size, seed=2, dtype=dtype)
        if size > 7:
            x[1:7] = ts.tensor([0.0, -0.0, np.inf, np.nan, 1e9, -3e20], dtype=dtype)
        value, tangent, families = push(function, [x], [t])
        assert families == ["dual_unary"]
        np.testing.assert_array_equal(value, numbers(function(x)))
        np.testing.assert_array_equal(np.signbit(value), np.signbit(numbers(function(x))))
        np.testing.assert_array_equal(tangent, numbers(t * slope(x)))
