# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Paths of the CPU's kernels that only some sizes, layouts or numbers take."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tessera as t
import tessera.nn.functional as F

LENGTHS = (1, 7, 16, 31, 64, 65, 257, 1000)
SHORT = (t.float16, t.bfloat16)


def normal(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def wide(x: t.Tensor) -> NDArray[Any]:
    return x.astype(t.float64).numpy()


def exact(x: t.Tensor) -> NDArray[Any]:
    return wide(x) if x.dtype in SHORT else x.numpy()


# ---- One operand is an element for each row ----


@pytest.mark.parametrize("dtype", [t.float16, t.bfloat16, t.float32, t.float64, t.int64, t.int32, t.complex64])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum", "pow"])
@pytest.mark.parametrize("width", [16, 33, 128, 131, 3001])
def test_a_column_beside_a_matrix_gives_what_the_expanded_column_gives(name: str, dtype: t.dtype, width: int) -> None:
    if (name in ("maximum", "minimum") and dtype == t.complex64) or (name == "pow" and dtype in (t.int64, t.int32)):
        return
    call = getattr(t, name)
    a, b = (t.from_numpy(np.abs(normal(*shape)) * 4 + 1).astype(dtype) for shape in ((5, width), (5, 1)))
    whole = b.expand(5, width).contiguous()
    row = a[0].contiguous()
    pairs = [(call(a, b), call(a, whole)), (call(b, a), call(whole, a)), (call(row, b), call(row.expand(5, width).contiguous(), whole))]
    pairs.append((call(a, b[0]), call(a, b[0].expand(5, width).contiguous())))
    strided = t.zeros((5, 2 * width), dtype=dtype)[:, ::2]
    strided.copy_(a)
    pairs.append((call(strided, b), call(a, whole)))
    for found, expected in pairs:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(exact(found), exact(expected))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_powers_of_integers_wrap_like_products(dtype: str) -> None:
    bits = np.dtype(dtype).itemsize * 8
    for count in (1, 7, 64, 131):
        bases = (np.arange(count) % 23 - (11 if dtype.startswith("int") else 0)).astype(dtype)
        exponents = (np.arange(count) * 7 % 65).astype(dtype)
        expected = np.array([pow(int(b), int(e), 2**bits) for b, e in zip(bases, exponents, strict=True)], dtype=f"uint{bits}")
        np.testing.assert_array_equal(t.pow(t.from_numpy(bases), t.from_numpy(exponents)).numpy(), expected.view(dtype))
    refused = t.from_numpy(np.array([1] * 40 + [-1], dtype="int64"))
    with pytest.raises(ValueError, match="negative"):
        t.pow(refused, refused)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("shape", [(64, 64, 64), (33, 50, 81), (16, 3, 130), (100, 17, 2)])
def test_axes_in_any_order_are_copied(size: int, shape: tuple[int, ...]) -> None:
    dtype = {1: "uint8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}[size]
    a = np.random.default_rng(0).integers(0, 2 ** min(8 * size - 1, 40), shape).astype(dtype)
    for order in itertools.permutations(range(3)):
        wanted = a.transpose(order)
        np.testing.assert_array_equal(t.permute_dims(t.from_numpy(a), order).contiguous().numpy(), wanted)
        target = t.zeros((*wanted.shape[:2], wanted.shape[2] + 5), dtype=getattr(t, dtype))
        target[:, :, 3:-2] = t.permute_dims(t.from_numpy(a), order)
        np.testing.assert_array_equal(target.numpy(), np.pad(wanted, ((0, 0), (0, 0), (3, 2))))


@pytest.mark.parametrize("dtype", [t.float32, t.float64, t.int64, t.int32, t.bfloat16])
@pytest.mark.parametrize("shape", [(3, 5, 4, 16), (2, 3, 700, 17), (2, 40, 3, 33), (9, 1, 2, 130)])
def test_blocks_of_short_rows_give_what_expanded_operands_give(shape: tuple[int, ...], dtype: t.dtype) -> None:
    i, p, j, q = shape
    a, b = (t.from_numpy(normal(*part) * 8).astype(dtype) for part in ((i, 1, j, 1), (1, p, 1, q)))
    c, d = a.expand(*shape).contiguous(), b.expand(*shape).contiguous()
    pairs = [(a * b, c * d), (b - a, d - c), (t.kron(a[:, 0, :, 0], b[0, :, 0]), (c * d).reshape(i * p, j * q))]
    here = d.clone()
    here -= a
    for found, expected in [*pairs, (here, d - c)]:
        np.testing.assert_array_equal(exact(found), exact(expected))


@pytest.mark.parametrize("dtype", [t.float32, t.float64, t.int64, t.int32, t.complex64, t.bfloat16])
@pytest.mark.parametrize("width", [1, 20, 128, 333, 9000])
def test_a_product_with_one_number_for_each_row_is_added_as_an_expanded_one(width: int, dtype: t.dtype) -> None:
    a, b, c = (t.from_numpy(normal(*shape) * 8).astype(dtype) for shape in ((5, width), (5, 1), (1, width)))
    whole = [x.expand(5, width).contiguous() for x in (a, b, c)]
    expected = exact(t.addcmul(*whole, value=3))
    np.testing.assert_array_equal(exact(t.addcmul(a, b, c, value=3)), expected)
    np.testing.assert_array_equal(exact(t.addcmul(a, b, whole[2], value=3)), expected)
    np.testing.assert_array_equal(exact(t.addr(a, b[:, 0], c[0], alpha=3)), expected)
    one = exact(t.addcmul(a, b[0], whole[2], value=3))
    np.testing.assert_array_equal(one, exact(t.addcmul(a, b[0].expand(5, width).contiguous(), whole[2], value=3)))


# ---- Complex numbers ----


@pytest.mark.parametrize("dtype", [t.float32, t.float64])
@pytest.mark.parametrize("length", LENGTHS)
def test_complex_numbers_of_any_length_keep_their_parts_apart(length: int, dtype: t.dtype) -> None:
    a, b = (t.from_numpy(part).astype(dtype) for part in normal(2, length))
    x, y = a.numpy(), b.numpy()
    z = t.complex(a, b)
    np.testing.assert_array_equal(z.numpy(), x + 1j * y)
    np.testing.assert_array_equal(t.complex(a.flip(0), b[:1]).numpy(), x[::-1] + 1j * y[:1])
    np.testing.assert_array_equal((z + t.complex(b, a)).numpy(), (x + y) + 1j * (y + x))
    np.testing.assert_array_equal((z - t.complex(b, a)).numpy(), (x - y) + 1j * (y - x))
    np.testing.assert_array_equal((-z).numpy(), -x - 1j * y)
    np.testing.assert_array_equal((z * z).real.numpy(), x * x - y * y)
    np.testing.assert_array_equal((z * z).imag.numpy(), x * y + y * x)


def test_parts_in_the_memory_of_the_complex_result_are_read_first() -> None:
    z = t.asarray([1 + 2j, 3 + 4j, 5 + 6j])
    t.complex(z.imag, z.real, out=z)
    np.testing.assert_array_equal(z.numpy(), [2 + 1j, 4 + 3j, 6 + 5j])


# ---- Integers ----


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint32, np.int16, np.uint8])
@pytest.mark.parametrize("length", [3, 17, 400])
def test_divisors_and_multiples_of_numbers_of_any_size(length: int, dtype: Any) -> None:
    kind, draw = np.iinfo(dtype), np.random.default_rng(length)
    ends = np.array([0, 1, kind.min, kind.max, kind.max - 1, 12, 18, 64], dtype)
    for sets in ((ends, ends), (np.arange(1000).astype(dtype), ends), (draw.integers(kind.min, kind.max, 99, dtype),) * 2):
        a, b = (draw.choice(numbers, length) for numbers in sets)
        divisors = [math.gcd(int(x), int(y)) for x, y in zip(a, b)]
        multiples = [abs(int(x)) // max(d, 1) * abs(int(y)) for x, y, d in zip(a, b, divisors)]
        wrapped = np.array([number % 2**kind.bits for number in multiples], np.uint64).astype(dtype)
        found = t.gcd(t.from_numpy(a), t.from_numpy(b)).numpy()
        np.testing.assert_array_equal(found, np.array(divisors, np.uint64).astype(dtype))
        least = t.lcm(t.from_numpy(a), t.from_numpy(b)).numpy()
        np.testing.assert_array_equal(least, np.where(wrapped.astype(np.int64) < 0, -wrapped, wrapped) if kind.min else wrapped)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 1.0, 0.5, -0.5, -1.0, 2.5, 0.0])
@pytest.mark.parametrize("dtype", [t.float32, t.float64])
def test_a_power_by_one_number_is_that_by_as_many_equal_numbers(exponent: float, dtype: t.dtype) -> None:
    for length in (1, 65, 1000):
        x = t.from_numpy(normal(length)).astype(dtype)
        np.testing.assert_array_equal(t.pow(x, exponent).numpy(), t.pow(x, t.full((length,), exponent, dtype=dtype)).numpy())
        base = t.pow(t.full((length,), 1.5, dtype=dtype), x)
        np.testing.assert_array_equal(t.pow(1.5, x).numpy(), base.numpy())


# ---- 16-bit floats ----


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("length", LENGTHS)
def test_arithmetic_of_16_bits_is_that_of_float32_rounded_once(dtype: t.dtype, length: int) -> None:
    a, b = (t.from_numpy(part).astype(dtype) for part in normal(2, length))
    a[0] = float("nan")
    x, y = a.astype(t.float32), b.astype(t.float32)
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum"):
        found = getattr(t, name)(a, b)
        np.testing.assert_array_equal(wide(found), wide(getattr(t, name)(x, y).astype(dtype)))
        to = t.zeros((length,), dtype=t.float64)
        np.testing.assert_array_equal(getattr(t, name)(a, b, out=to).numpy(), wide(found))
    for function in (t.negative, t.square, t.exp, t.reciprocal, F.hardsigmoid, F.hardswish):
        np.testing.assert_array_equal(wide(function(a)), wide(function(x).astype(dtype)))
    for two, three in ((b, a), (b[:1], a), (a, b[-1:])):
        found = t.addcdiv(b, two, three, value=0.3)
        wanted = t.addcdiv(y, two.astype(t.float32), three.astype(t.float32), value=0.3)
        np.testing.assert_array_equal(wide(found), wide(wanted.astype(dtype)))


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("width", [17, 30, 31, 33, 47, 50])
def test_ends_of_rows_of_16_bits_leave_their_neighbours_alone(dtype: t.dtype, width: int) -> None:
    a, b = (t.from_numpy(part).astype(dtype) for part in normal(2, 20, width + 9))
    to = t.full((20, width + 9), 7.0, dtype=dtype)
    x, y = a[:, 3 : width + 3], b[:, 5 : width + 5]
    for function, operands in ((t.add, (x, y)), (t.exp, (x,)), (t.multiply, (x, y[:, :1])), (t.abs, (x,))):
        function(*operands, out=to[:, 2 : width + 2])
        wanted = function(*(part.astype(t.float32) for part in operands)).astype(dtype)
        np.testing.assert_array_equal(wide(to[:, 2 : width + 2]), wide(wanted))
        assert (wide(to[:, :2]) == 7).all() and (wide(to[:, width + 2 :]) == 7).all()


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_sum_of_16_bits_is_right_where_float32_would_overflow(dtype: t.dtype, axis: int) -> None:
    top = 3e38 if dtype == t.bfloat16 else 65504.0
    values = np.zeros((64, 300), np.float32)
    values[:32], values[32:] = top, -top
    values[0, 0] = 1.0
    x = t.from_numpy(values if axis == 0 else values.T.copy()).astype(dtype)
    np.testing.assert_array_equal(wide(x.sum(axis)), wide(t.from_numpy(wide(x).sum(axis)).astype(dtype)))
    same = t.full((300, 300), top, dtype=dtype)
    np.testing.assert_array_equal(wide(same.mean(axis)), wide(same[0]))


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_16_bits_are_those_of_float64(dtype: t.dtype, length: int, axis: int) -> None:
    x = t.from_numpy(np.abs(normal(length, 37))).astype(dtype)
    for view in (x, x.T, x[::2], x[:, ::3]):
        total = wide(view).sum(axis)
        half_unit = 2.0**-11 if dtype == t.float16 else 2.0**-8
        np.testing.assert_allclose(wide(view.sum(axis)), total, rtol=half_unit)
        np.testing.assert_allclose(wide(view.mean(axis)), total / view.shape[axis], rtol=half_unit)


# ---- Extrema ----


@pytest.mark.parametrize("dtype", [t.float16, t.bfloat16, t.float32, t.float64])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("axis", [0, 1])
def test_an_extremum_sees_a_nan_at_every_place(dtype: t.dtype, length: int, axis: int) -> None:
    values = normal(length, 70)
    values[np.arange(0, length, 9), np.arange(0, length, 9) % 70] = np.nan
    values[-1, -1] = np.nan
    values[:, 3] = -np.inf
    values[:, 5] = np.inf
    x = t.from_numpy(values).astype(dtype)
    for view in (x, x.T.contiguous().T, x[::2]):
        for name in ("amax", "amin"):
            found = wide(getattr(t, name)(view, axis))
            np.testing.assert_array_equal(found, getattr(np, name)(wide(view), axis))
    for name in ("amax", "amin"):
        np.testing.assert_array_equal(wide(getattr(t, name)(x[:, :5])), getattr(np, name)(wide(x[:, :5])))


# ---- Random numbers ----


def test_standard_normal_numbers_are_the_scaled_ones() -> None:
    for length in LENGTHS:
        t.manual_seed(5)
        standard = t.randn((length,))
        t.manual_seed(5)
        scaled = t.empty((length,)).normal_(0.0, 2.0)
        np.testing.assert_array_equal(standard.numpy(), scaled.numpy() / 2)


# ---- Special functions ----


@pytest.mark.parametrize("name", [f"bessel_{k}" for k in ("j0", "j1", "y0", "y1")] + ["spherical_bessel_j0"] + [
    f"{scaled}modified_bessel_{k}" for k in ("k0", "k1") for scaled in ("", "scaled_")])  # fmt: skip
def test_bessel_functions_of_float32_have_its_digits(name: str) -> None:
    some = np.random.default_rng(1)
    points = [some.uniform(-30, 30, 5000), some.uniform(0, 9, 5000), 10.0 ** some.uniform(-38, 30, 2000)]
    x = np.concatenate([*points, [0.0, -0.0, np.inf, -np.inf, np.nan, 8.0, 1.0]]).astype(np.float32)
    call = getattr(t, name)
    found, double = call(t.from_numpy(x)).numpy(), call(t.from_numpy(x).astype(t.float64)).numpy()
    with np.errstate(over="ignore"):
        rounded = double.astype(np.float32)
    finite = np.isfinite(rounded) & np.isfinite(found)
    np.testing.assert_array_equal(found[~finite], rounded[~finite])
    unit = np.spacing(np.maximum(np.abs(rounded[finite]), np.finfo(np.float32).tiny)).astype(np.float64)
    assert np.max(np.abs(found[finite].astype(np.float64) - double[finite]) / unit) < 0.6
