# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Special cases of the Array API standard: infinities, NaN and signed zeros in, as array_api_special_cases.py lists them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import array_api_special_cases as standard
import numpy as np
import pytest

import tessera as ts

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
NAMES = {k: getattr(math, k) for k in ("pi", "inf", "nan", "cos", "sin")} | {
    "abs": abs, "max": max, "min": min, "float": float, "even": np.rint,
}  # fmt: skip


def combinations(words: tuple[str, ...]) -> list[tuple[float, ...]]:
    return list(itertools.product(*(standard.SAMPLES[w] for w in words)))


def expected(result: str, operands: tuple[float, ...]) -> tuple[float, bool]:
    """The number, and whether its sign counts."""
    signed = not result.startswith("~")
    with np.errstate(all="ignore"):
        a, b = (np.float64(x) for x in (*operands, 0.0)[:2])
        return float(eval(result.lstrip("~"), {"__builtins__": {}}, {**NAMES, "a": a, "b": b})), signed


def same(got: float, wanted: float, signed: bool, dtype: str) -> bool:
    if math.isnan(wanted):
        return math.isnan(got)
    if not signed:
        got, wanted = abs(got), abs(wanted)
    if wanted == 0 or math.isinf(wanted):
        return got == wanted and (not signed or math.copysign(1, got) == math.copysign(1, wanted))
    return math.isclose(got, wanted, rel_tol=1e-6 if dtype in ("float32", "complex64") else 1e-14)


def check(name: str, words: tuple[str, ...], operands: tuple[float, ...], got: float, result: str, dtype: str) -> None:
    wanted, signed = expected(result, operands)
    assert same(got, wanted, signed, dtype), f"{name}{operands}: {got}, the standard says {result} for {words}"


def tensor_of(values: list[float], dtype: str) -> Any:
    return ts.asarray(np.array(values, dtype))


def cases(table: str) -> list[Any]:
    return [pytest.param(*row, id=f"{row[0]}({', '.join(row[1])})") for row in standard.rows(table)]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("name", "words", "result"), cases(standard.UNARY))
def test_functions_of_one_number(name: str, words: tuple[str, ...], result: str, dtype: str) -> None:
    operands = combinations(words)
    got = getattr(ts, name)(tensor_of([x for (x,) in operands] * 3, dtype))  # a vector and a rest
    for operand, value in zip(operands * 3, got.astype(ts.float64).tolist()):
        check(name, words, operand, value, result, dtype)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("name", "words", "result"), cases(standard.BINARY))
def test_functions_of_two_numbers(name: str, words: tuple[str, ...], result: str, dtype: str) -> None:
    operands = combinations(words)
    left, right = (tensor_of(list(side), dtype) for side in zip(*operands))
    got = getattr(ts, name)(left, right)
    for operand, value in zip(operands, got.astype(ts.float64).tolist()):
        check(name, words, operand, value, result, dtype)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("name", "words", "result"), cases(standard.BINARY))
def test_functions_of_a_tensor_and_a_number(name: str, words: tuple[str, ...], result: str, dtype: str) -> None:
    function = getattr(ts, name)
    for a, b in combinations(words):
        for got in (function(tensor_of([a], dtype), b), function(a, tensor_of([b], dtype))):
            check(name, words, (a, b), float(got.astype(ts.float64)), result, dtype)


@pytest.mark.parametrize("dtype", REAL)
def test_floor_divide_by_and_of_infinity_is_one_of_the_two_that_are_allowed(dtype: str) -> None:
    found = []
    for allowed in (standard.FLOOR_OF_QUOTIENT, standard.FLOOR_OF_PYTHON):
        good = True
        for _, words, result in standard.rows("floor_divide " + allowed):
            for a, b in combinations(words):
                got = float(ts.floor_divide(tensor_of([a], dtype), tensor_of([b], dtype)))
                good = good and same(got, *expected(result, (a, b)), dtype)
        found.append(good)
    assert found.count(True) == 1


# ---- complex numbers ----


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(("name", "words", "result"), cases(standard.COMPLEX))
def test_functions_of_a_complex_number(name: str, words: tuple[str, ...], result: str, dtype: str) -> None:
    operands = combinations(words)
    got = getattr(ts, name)(ts.asarray(joined(operands, dtype))).astype(ts.complex128).numpy()
    real, imaginary = result.split(", ")
    for operand, value in zip(operands, got):
        check(name, words, operand, value.real, real, dtype)
        check(name, words, operand, value.imag, imaginary, dtype)


def joined(operands: list[tuple[float, ...]], dtype: str) -> Any:
    parts = np.array(operands, "float64")
    made = np.empty(len(parts), dtype)
    made.real, made.imag = parts[:, 0], parts[:, 1]
    return made


def every_number(dtype: str) -> Any:
    return ts.asarray(joined(combinations(("any", "any")), dtype))


def equal_numbers(left: Any, right: Any, dtype: str) -> None:
    tolerance = 2e-6 if dtype == "complex64" else 1e-13
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(left.numpy(), part), getattr(right.numpy(), part), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", standard.CONJUGATE)
def test_a_function_of_the_conjugate_is_the_conjugate(name: str, dtype: str) -> None:
    function, x = getattr(ts, name), every_number(dtype)
    x = x[ts.isfinite(x)]
    equal_numbers(function(ts.conj(x)), ts.conj(function(x)), dtype)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", standard.ODD + standard.EVEN)
def test_a_function_of_the_opposite(name: str, dtype: str) -> None:
    function, x = getattr(ts, name), every_number(dtype)
    x = x[ts.isfinite(x)]
    equal_numbers(function(-x), function(x) if name in standard.EVEN else -function(x), dtype)


def turned(x: Any, sign: int) -> Any:
    """The product of 1j or -1j and each number, by parts: a product of complex numbers loses the signs of zeros."""
    made = np.empty(x.shape, str(x.dtype)[8:])
    made.real, made.imag = (-x.imag.numpy(), x.real.numpy()) if sign > 0 else (x.imag.numpy(), -x.real.numpy())
    return ts.asarray(made)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(("name", "other"), standard.BY_OTHERS)
def test_a_function_that_is_defined_by_another(name: str, other: str, dtype: str) -> None:
    x = every_number(dtype)
    x = x[ts.isfinite(x.real) | ts.isfinite(x.imag)]  # signs of the others are not specified
    wanted = getattr(ts, other)(turned(x, 1))
    equal_numbers(getattr(ts, name)(x), wanted if name == "cos" else turned(wanted, -1), dtype)


@pytest.mark.parametrize("name", ["add", "subtract"])
def test_sums_of_complex_numbers_go_by_parts(name: str) -> None:
    x = ts.asarray(joined(combinations(("number", "0")), "complex128"))
    got, parts = getattr(ts, name)(x, x), getattr(ts, name)(x.real, x.real)
    np.testing.assert_array_equal(got.real.numpy(), parts.numpy())
    assert ts.all(ts.signbit(got.imag) == ts.signbit(getattr(ts, name)(x.imag, x.imag)))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_zero_to_a_complex_power_has_the_size_that_the_real_part_says(dtype: str) -> None:
    exponents = np.array([2 - 1j, 0.5 + 3j, -1 + 1j, -1, 1j, 0], dtype)
    got = (ts.zeros(6, dtype=getattr(ts, dtype)) ** ts.asarray(exponents)).numpy()
    np.testing.assert_array_equal(got[:2], 0)
    assert np.isinf(np.abs(got[2:4])).all() and np.isnan(got[4]) and got[5] == 1
