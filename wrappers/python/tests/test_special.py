# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Special functions over their whole range, at their special values, and the derivatives that only one operand has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
import special

import tessera as ts
from tessera.autograd import gradcheck, gradgradcheck

INF, NAN = float("inf"), float("nan")


def wide(low: float, high: float, signs: bool) -> Any:
    """Numbers from 10**low to 10**high, and their negatives."""
    sizes = 10 ** np.random.default_rng(5).uniform(low, high, 4000)
    return np.concatenate([sizes, -sizes]) if signs else sizes


@pytest.mark.parametrize(
    "name, reference, low, high, signs, limit",
    [
        ("lgamma", special.gammaln, -8, 8, False, 1e-13), ("digamma", special.digamma, -8, 8, False, 1e-12),
        ("erfcx", special.erfcx, -8, 1.4, True, 1e-13), ("log_ndtr", special.log_ndtr, -8, 6, True, 1e-12),
        ("ndtri", special.ndtri, -300, 0, False, 1e-14), ("erfinv", special.erfinv, -300, 0, True, 1e-14),
        ("i0", special.i0, -8, 2.8, True, 1e-14), ("i0e", special.i0e, -8, 8, True, 1e-14), ("i1", special.i1, -8, 2.8, True, 1e-14),
        ("i1e", special.i1e, -8, 8, True, 1e-14), ("entr", special.entr, -300, 300, False, 1e-14),
        ("modified_bessel_k0", special.k0, -300, 2.84, False, 5e-14), ("modified_bessel_k1", special.k1, -300, 2.84, False, 5e-14),
        ("scaled_modified_bessel_k0", special.k0e, -300, 300, False, 1e-14),
        ("scaled_modified_bessel_k1", special.k1e, -300, 300, False, 1e-14),
    ],
)  # fmt: skip
def test_values_over_the_whole_range(name: str, reference: Any, low: float, high: float, signs: bool, limit: float) -> None:
    x = wide(low, high, signs)
    found = getattr(ts, name)(ts.tensor(x)).numpy()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, reference(x), limit, 1e-300 if name != "digamma" else 1e-13)


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"])
def test_oscillating_bessel_functions_keep_their_digits_beside_their_size(name: str) -> None:
    x = wide(-8, 6, name[-2] == "j")
    found = getattr(ts, name)(ts.tensor(x)).numpy()
    size = np.minimum(1, 1 / np.sqrt(abs(x))) + (abs(1 / x) if name == "bessel_y1" else 0)
    assert (abs(found - getattr(special, name[-2:])(x)) <= 1e-12 * size * np.maximum(1, abs(x) * 1e-3)).all()


@pytest.mark.parametrize("dtype", [ts.float64, ts.float32], ids=["float64", "float32"])
def test_the_airy_function_keeps_its_digits_beside_its_size(dtype: Any) -> None:
    x = np.concatenate([wide(-8, 4, True), np.random.default_rng(6).uniform(-12, 12, 4000)])
    x = ts.tensor(x, dtype=dtype).numpy().astype(float)
    wanted = scipy.special.airy(x)[0]
    size = np.where(x > -1, wanted, np.maximum(abs(x), 1) ** -0.25)
    lost = 2e-16 * np.maximum(1, abs(x)) ** 1.5  # of the phase, or of the exponent
    digits = 3e-14 if dtype is ts.float64 else 6e-8  # SciPy loses 2e-14 near 2
    found = ts.airy_ai(ts.tensor(x, dtype=dtype)).numpy()
    assert (abs(found - wanted) <= (digits * (abs(wanted) if dtype is ts.float32 else size)) + 4 * lost * size + 1e-45).all()


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"])
def test_oscillating_bessel_functions_of_float64_have_all_digits(name: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    order = int(name[-1])
    zero = float(mpmath.besseljzero(order, 1))
    x = np.array([1e-300, 1e-8, 0.5, 1.75, zero, np.nextafter(zero, 9), 4.5, 4.99999, 5.00001, 6.25, 12.5, 33.0, 1000.5, 1e7])
    function = mpmath.besselj if name[-2] == "j" else mpmath.bessely
    with mpmath.workdps(40):
        wanted = np.array([float(function(order, mpmath.mpf(float(v)))) for v in x])
    found = getattr(ts, name)(ts.tensor(x)).numpy()
    assert (abs(found - wanted) <= 1.5e-15 * np.maximum(abs(wanted), np.minimum(1, 1 / np.sqrt(x)))).all()
    if name[-2] == "j":
        np.testing.assert_allclose(found[4:6], wanted[4:6], 1e-15)


@pytest.mark.parametrize("function", ["igamma", "igammac"])
def test_incomplete_gamma_functions_keep_their_digits_for_small_and_large_orders(function: str) -> None:
    reference = special.gammainc if function == "igamma" else special.gammaincc
    rng = np.random.default_rng(7)
    a = 10 ** rng.uniform(-8, 4, 3000)
    x = a * rng.uniform(0.5, 2, 3000)
    found = getattr(ts, function)(ts.tensor(a), ts.tensor(x)).numpy()
    np.testing.assert_allclose(found, reference(a, x), 1e-11, 1e-280)


@pytest.mark.parametrize("function", ["igamma", "igammac"])
def test_incomplete_gamma_functions_choose_a_formula_for_each_element(function: str) -> None:
    reference = special.gammainc if function == "igamma" else special.gammaincc
    rng = np.random.default_rng(8)
    orders = [10 ** rng.uniform(-30, -0.3, 999), rng.uniform(0, 1.2, 999), rng.uniform(0, 40, 999), rng.uniform(15, 25, 999),
              10 ** rng.uniform(1, 4, 999)]  # fmt: skip
    a = np.concatenate(orders)
    widths = np.where(a < 1, 2, np.where(a < 100, 0.7, 8 / np.sqrt(np.maximum(a, 100))))
    x = np.maximum(a, 0.3) * np.maximum(1 + widths * rng.uniform(-1, 1, a.size), 1e-3)
    order = rng.permutation(a.size)
    a, x = a[order], x[order]
    found = getattr(ts, function)(ts.tensor(a), ts.tensor(x)).numpy()
    np.testing.assert_allclose(found, reference(a, x), 1e-11, 1e-280)
    a, x = a.astype(np.float32), x.astype(np.float32)
    found = getattr(ts, function)(ts.tensor(a), ts.tensor(x)).numpy()
    np.testing.assert_allclose(found, reference(a.astype(float), x.astype(float)), 1.2e-7, 1e-38)
    # From the series and the fraction in 60 digits, because SciPy has 7 digits here.
    large = ts.tensor([[1e5, 99000], [1e6, 998000], [1e6, 1003000], [1e7, 9990000]], dtype=ts.float64)
    lower = [7.574199211747679e-4, 0.022696114006736802, 0.9986382593537824, 7.801532152520487e-4]
    upper = [0.9992425800788253, 0.9773038859932632, 1.3617406462175915e-3, 0.999219846784748]
    found = getattr(ts, function)(large[:, 0], large[:, 1])
    np.testing.assert_allclose(found, lower if function == "igamma" else upper, 1e-12)
    middle = ts.tensor([1e20, 1e300], dtype=ts.float64)
    np.testing.assert_allclose(getattr(ts, function)(middle, middle), 0.5, 1e-9)


@pytest.mark.parametrize("function", ["igamma", "igammac"])
def test_incomplete_gamma_functions_do_not_depend_on_the_elements_beside(function: str) -> None:
    rng = np.random.default_rng(10)
    a, x = ts.tensor(rng.uniform(0.1, 12, 256)), ts.tensor(rng.uniform(0, 30, 256))
    together = getattr(ts, function)(a, x).tolist()
    assert together == [getattr(ts, function)(a[i], x[i]).item() for i in range(256)]


POLYNOMIALS = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt, "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "hermite_polynomial_h": scipy.special.eval_hermite, "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre, "legendre_polynomial_p": scipy.special.eval_legendre,
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_take_a_degree_for_each_element(name: str) -> None:
    rng = np.random.default_rng(9)
    n = rng.integers(-2, 41, 1003)
    x = rng.uniform(-1, 1, n.size).astype(np.float32)
    wide = x.astype(float)
    wanted = np.where(n < 0, 0, POLYNOMIALS[name](np.maximum(n, 0), wide))
    size = np.where(n < 0, 1, np.abs(POLYNOMIALS[name](np.maximum(n, 0), np.sign(wide)))) + abs(wanted)
    function = getattr(ts, name)
    for degrees in (ts.tensor(n), ts.tensor(n, dtype=ts.int16), ts.tensor(n + 0.5 * (n >= 0))):
        found = function(ts.tensor(wide), degrees).numpy()
        assert (abs(found - wanted) <= 1e-11 * size).all()
    assert (abs(function(ts.tensor(x), ts.tensor(n)).numpy() - wanted) <= 6e-8 * abs(wanted) + 1e-11 * size).all()
    for degree in (0, 1, 2, 17):
        assert np.array_equal(function(ts.tensor(wide), degree), function(ts.tensor(wide), ts.full((n.size,), degree)))
    assert np.array_equal(function(0.25, ts.tensor(n)), function(ts.tensor(0.25), ts.tensor(n)))


@pytest.mark.parametrize("name", [*POLYNOMIALS, "chebyshev_polynomial_v", "chebyshev_polynomial_w", "shifted_chebyshev_polynomial_v"])
def test_polynomials_have_derivatives_of_all_orders(name: str) -> None:
    x = ts.tensor([-0.75, -0.25, 0.125, 0.5, 0.875, 1.0, 0.3], dtype=ts.float64, requires_grad=True)
    n = ts.tensor([0, 1, 2, 3, 4, 5, 6], dtype=ts.uint8)
    assert gradcheck(lambda x: getattr(ts, name)(x, n), (x,))
    assert gradgradcheck(lambda x: getattr(ts, name)(x, n), (x,))


SPECIAL_VALUES: dict[str, list[tuple[Any, ...]]] = {
    "acosh": [(1.0, 0.0), (0.5, NAN), (INF, INF), (-INF, NAN)], "asinh": [(INF, INF), (-INF, -INF), (1e300, 691.4686750787736)],
    "atanh": [(1.0, INF), (-1.0, -INF), (1.5, NAN)], "exp2": [(-INF, 0.0), (INF, INF), (1024.0, INF), (-1074.0, 5e-324), (-1080.0, 0.0)],
    "sinc": [(0.0, 1.0), (3.0, -0.0), (2.0, 0.0), (INF, NAN)], "lgamma": [(0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF)],
    "digamma": [(0.0, -INF), (-0.0, INF), (-2.0, NAN), (INF, INF), (-INF, NAN)], "erfinv": [(1.0, INF), (-1.0, -INF), (1.1, NAN)],
    "logit": [(0.0, -INF), (1.0, INF), (-0.1, NAN), (1.1, NAN)], "ndtri": [(0.0, -INF), (1.0, INF), (-0.1, NAN)],
    "log_ndtr": [(-INF, -INF), (INF, -0.0)], "erfcx": [(INF, 0.0), (-INF, INF), (1e10, 5.641895835477563e-11)],
    "entr": [(0.0, 0.0), (-1.0, -INF), (INF, -INF)], "i0": [(INF, INF), (-INF, INF), (0.0, 1.0)], "i1": [(-INF, -INF), (0.0, 0.0)],
    "i0e": [(INF, 0.0)], "bessel_j0": [(INF, 0.0), (-INF, 0.0), (0.0, 1.0)], "bessel_j1": [(INF, 0.0), (0.0, 0.0)],
    "bessel_y0": [(0.0, -INF), (-1.0, NAN), (INF, 0.0)], "bessel_y1": [(0.0, -INF), (-1.0, NAN), (INF, 0.0)],
    "modified_bessel_k0": [(0.0, INF), (-1.0, NAN), (INF, 0.0)], "modified_bessel_k1": [(0.0, INF), (-1.0, NAN), (INF, 0.0)],
    "scaled_modified_bessel_k0": [(0.0, INF), (INF, 0.0)], "scaled_modified_bessel_k1": [(-1.0, NAN), (INF, 0.0)],
    "spherical_bessel_j0": [(0.0, 1.0), (INF, 0.0), (-INF, 0.0)], "angle": [(-2.0, np.pi), (0.0, 0.0)],
    "airy_ai": [(INF, 0.0), (-INF, NAN), (-1e250, 0.0), (0.0, 0.3550280538878172), (200.0, 0.0)],
    "copysign": [(1.0, -0.0, -1.0), (-INF, 2.0, INF)], "logaddexp": [(-INF, -INF, -INF), (INF, INF, INF), (INF, -INF, INF)],
    "logaddexp2": [(-INF, -INF, -INF), (1e4, 1e4, 10001.0)],
    "xlogy": [(0.0, 0.0, 0.0), (0.0, INF, 0.0), (1.0, 0.0, -INF), (1.0, -1.0, NAN)],
    "heaviside": [(-0.0, 3.0, 3.0), (INF, 3.0, 1.0)],
    "ldexp": [(1.0, -1074.0, 5e-324), (5e-324, 1074.0, 1.0), (0.0, 5000.0, 0.0), (2.0, INF, INF)],
    "fmod": [(5.0, INF, 5.0), (INF, 5.0, NAN), (5.0, 0.0, NAN), (-0.0, 5.0, -0.0)], "fmax": [(1.0, -INF, 1.0)], "fmin": [(-INF, 1.0, -INF)],
    "nextafter": [(0.0, -1.0, -5e-324), (INF, 0.0, 1.7976931348623157e308), (1.0, 1.0, 1.0)],
    "zeta": [(1.0, 2.0, INF), (0.5, 2.0, NAN), (2.0, 0.0, INF), (2.0, -1.0, INF), (2.5, -1.5, NAN), (2.0, INF, 0.0)],
    "igamma": [(0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, INF, 1.0), (0.0, 0.0, NAN), (-1.0, 1.0, NAN), (1.0, -1.0, NAN)],
    "igammac": [(0.0, 1.0, 0.0), (1.0, 0.0, 1.0), (1.0, INF, 0.0)], "xlog1py": [(0.0, -1.0, 0.0), (1.0, -1.0, -INF)],
}  # fmt: skip


@pytest.mark.parametrize("dtype", [ts.float64, ts.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", SPECIAL_VALUES)
def test_special_values(name: str, dtype: Any) -> None:
    narrow = dtype is ts.float32
    for *arguments, wanted in SPECIAL_VALUES[name]:
        given = (*arguments, wanted)
        if narrow and any(0 < abs(v) < 1e-38 or 1e38 < abs(v) < INF or abs(v) in (1024.0, 1074.0, 1080.0) for v in given):
            continue  # numbers of float64
        found = getattr(ts, name)(*(ts.tensor([v], dtype=dtype) for v in arguments)).item()
        np.testing.assert_allclose(found, wanted, 2e-7 if narrow else 4e-16, err_msg=f"{name}{tuple(arguments)}")
        assert np.isnan(wanted) or np.signbit(found) == np.signbit(wanted), (name, arguments, found)
        nans = [ts.tensor([NAN], dtype=dtype), *(ts.tensor([v], dtype=dtype) for v in arguments[1:])]
        assert name in ("fmax", "fmin", "copysign") or np.isnan(getattr(ts, name)(*nans).item()), name


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_every_number_of_16_bits(dtype: ts.DType) -> None:
    infinity = 0x7C00 if dtype is ts.float16 else 0x7F80
    bits = np.arange(2**16, dtype=np.uint16)
    x = ts.from_numpy(bits).view_dtype(dtype)
    signs, sizes = bits & 0x8000, bits & 0x7FFF
    numbers = sizes <= infinity

    def bits_of(result: ts.Tensor) -> Any:
        return result.contiguous().view_dtype(ts.uint16).numpy()

    np.testing.assert_array_equal(bits_of(ts.abs(x)), sizes)
    np.testing.assert_array_equal(bits_of(-x), bits ^ 0x8000)
    np.testing.assert_array_equal(ts.signbit(x).numpy(), signs != 0)
    others = np.roll(bits[::-1], 77).copy()
    y = ts.from_numpy(others).view_dtype(dtype)
    np.testing.assert_array_equal(bits_of(ts.copysign(x, y)), sizes | (others & 0x8000))
    np.testing.assert_array_equal(bits_of(ts.copysign(x[1::3], -0.0)), sizes[1::3] | 0x8000)
    # Numbers in their order, with one zero: neighbours are neighbours of integers.
    order = np.where(signs != 0, -sizes.astype(np.int32), sizes.astype(np.int32))
    towards = np.where(others & 0x8000, -(others & 0x7FFF).astype(np.int32), (others & 0x7FFF).astype(np.int32))
    moved = order + np.sign(towards - order)
    wanted = np.abs(moved) | np.where((moved < 0) | ((moved == 0) & (signs != 0)), 0x8000, 0)
    wanted = np.where(order == towards, others, wanted)
    both = numbers & ((others & 0x7FFF) <= infinity)
    found = ts.nextafter(x, y)
    np.testing.assert_array_equal(bits_of(found)[both], wanted[both])
    assert ts.isnan(found).numpy()[~both].all()
    np.testing.assert_array_equal(bits_of(ts.reciprocal(x))[numbers], bits_of((1 / x.astype(ts.float32)).astype(dtype))[numbers])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_polygamma_on_both_sides_of_zero(n: int) -> None:
    mpmath = pytest.importorskip("mpmath")
    x = np.array([-0.25, -1.5, -7.75, -100.125, -1e-10, 1e-10, -0.001, 0.3, 1.0, 2.5, 7.9, 12.1, 1e3, 1e8, -3.0, 1e-45, 1e40])
    wanted = [float(mpmath.polygamma(n, float(v))) for v in x[:-3]]
    found = ts.polygamma(ts.tensor(x), n).tolist()
    np.testing.assert_allclose(found[:-3], wanted, 3e-15 if n % 2 else 1e-13)  # even orders have zeros
    assert abs(found[-3]) == INF
    np.testing.assert_allclose(np.abs(found[-2:]), [1e45 ** (n + 1) * scipy.special.gamma(n + 1), 1e-40**n * scipy.special.gamma(n)], 1e-13)


def test_neighbours_of_every_half_number() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = bits[np.isfinite(bits)]
    with np.errstate(all="ignore"):
        for towards in (INF, -INF, 0.0):
            found = ts.nextafter(ts.from_numpy(finite), towards).numpy()
            np.testing.assert_array_equal(found, np.nextafter(finite, np.float16(towards)))


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_neighbours_and_powers_of_random_numbers(kind: Any) -> None:
    rng = np.random.default_rng(11)
    bits = np.iinfo(kind)
    a, b = (rng.integers(0, bits.max, 5000, dtype=kind).view(np.float32 if kind is np.uint32 else np.float64) for _ in range(2))
    a[:6], b[:6] = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], [1.0, -1.0, 1.0, 2.0, 0.0, 0.0]
    steps = rng.integers(-1100, 1100, 5000).astype(np.int32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ts.nextafter(ts.from_numpy(a), ts.from_numpy(b)).numpy(), np.nextafter(a, b))
        np.testing.assert_array_equal(ts.ldexp(ts.from_numpy(a), ts.from_numpy(steps)).numpy(), np.ldexp(a, steps))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_ldexp_by_one_power_gives_the_bits_of_ldexp_by_many(name: str) -> None:
    """One whole power is multiplied with, where the dtype holds it; fractions and powers beyond it are not."""
    dtype = getattr(ts, name)
    rng = np.random.default_rng(4)
    sizes = np.exp2(rng.uniform(-1074, 1000, 400) if name == "float64" else rng.uniform(-149, 120, 400))
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2.0**-126, 3.0]
    x = ts.from_numpy(np.concatenate([sizes * rng.choice([-1, 1], 400), edges])).astype(dtype)
    rows = x[:400].reshape((20, 20)).T
    for power in (0.0, 3.0, -2.0, 0.5, 126.0, 127.0, -126.0, -127.0, 1022.0, 1023.0, -1030.0, np.inf, -np.inf, np.nan):
        one = ts.full((), power, dtype=dtype)
        for given in (x, rows):
            wanted = ts.ldexp(given, ts.full(given.shape, power, dtype=dtype))
            for found in (ts.ldexp(given, one), ts.ldexp(given, ts.expand_dims(one, 0)), ts.ldexp(given, power)):
                np.testing.assert_array_equal(found.astype(ts.float64).numpy(), wanted.astype(ts.float64).numpy())



def test_neighbours_of_bfloat16_are_one_bit_apart() -> None:
    x = ts.tensor([1.0, -1.0, 0.0, 3e38], dtype=ts.bfloat16)
    found = ts.nextafter(x, 1e39).astype(ts.float32).tolist()
    assert found[:2] == [1.0078125, -0.99609375] and found[2] == 2.0**-133 and found[3] > 3e38


@pytest.mark.parametrize("name", ["zeta", "igamma", "igammac"])
def test_the_second_operand_has_a_derivative_and_the_first_says_that_it_has_none(name: str) -> None:
    first = ts.tensor([1.5, 2.0, 3.25], dtype=ts.float64)
    second = ts.tensor([0.5, 2.5, 4.0], dtype=ts.float64, requires_grad=True)
    gradcheck(lambda q: getattr(ts, name)(first, q), (second,))
    gradgradcheck(lambda q: getattr(ts, name)(first, q), (second,))
    gradcheck(lambda q: getattr(ts, name)(2.5, q), (second,))
    with pytest.raises(NotImplementedError):
        getattr(ts, name)(first.requires_grad_(), second).sum().backward()


@pytest.mark.parametrize("name", ["sinc", "i1", "i0"])
def test_derivatives_of_every_order_at_zero(name: str) -> None:
    x = ts.tensor([0.0], dtype=ts.float64, requires_grad=True)
    found = [getattr(ts, name)(x)]
    for _ in range(2):
        found.append(ts.autograd.grad([found[-1].sum()], [x], create_graph=True)[0])
    wanted = {"sinc": [1, 0, -np.pi**2 / 3], "i0": [1, 0, 0.5], "i1": [0, 0.5, 0]}[name]
    np.testing.assert_allclose([f.item() for f in found], wanted, 1e-12, 1e-15)


def test_membership_among_few_and_many_numbers() -> None:
    rng = np.random.default_rng(3)
    x, few, many = rng.integers(0, 500, (40, 9)), rng.integers(0, 500, 7), rng.integers(0, 500, 150)
    for numbers in (few, many):
        np.testing.assert_array_equal(ts.isin(ts.tensor(x), ts.tensor(numbers)).numpy(), np.isin(x, numbers))
    sparse = np.append(rng.normal(size=60), NAN)
    assert ts.isin(ts.tensor([NAN, sparse[3], 1e9]), ts.tensor(sparse)).tolist() == [False, True, False]


def test_operators_shift_bits() -> None:
    x = ts.tensor([1, -8], dtype=ts.int32)
    assert (x << 3).tolist() == [8, -64] and (x >> 1).tolist() == [0, -4]
    assert (1 << ts.tensor([0, 4])).tolist() == [1, 16] and (256 >> ts.tensor([0, 4])).tolist() == [256, 16]
    x <<= 2
    assert x.tolist() == [4, -32]
    x >>= 1
    assert x.tolist() == [2, -16]


def test_operands_of_complex_numbers_and_their_angles() -> None:
    z = ts.complex(ts.tensor([3.0, 0.0, -1.0]), ts.tensor([4.0, 0.0, 0.0]))
    np.testing.assert_allclose(ts.polar(ts.abs(z), ts.angle(z)).numpy(), z.numpy(), 1e-6, 1e-6)
    z.requires_grad_()
    ts.angle(z).sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), [(-4 + 3j) / 25, 0, -1j], 1e-6, 1e-7)


def test_rounding_to_more_places_than_there_are() -> None:
    x = ts.tensor([1.2345678, -3e30, 0.0])
    for decimals in (400, 2**63 - 1):
        assert ts.array_equal(ts.round_decimals(x, decimals), x)
    for decimals in (-400, -(2**63)):
        assert ts.round_decimals(x, decimals).tolist() == [0.0, 0.0, 0.0]
    assert ts.round_decimals(ts.tensor([2.5, 0.125], dtype=ts.float16), 2).tolist() == pytest.approx([2.5, 0.12], abs=1e-4)


def test_a_tensor_equals_itself_unless_it_holds_nan() -> None:
    for whole in (ts.arange(4).reshape(2, 2), ts.tensor([True, False]), ts.zeros(0, dtype=ts.int32)):
        assert ts.array_equal(whole, whole)
    square = ts.arange(4).reshape(2, 2)
    assert not ts.array_equal(square, square.T) and not ts.array_equal(square, square[:1])
    assert not ts.array_equal(ts.tensor([1.0, float("nan")]), ts.tensor([1.0, float("nan")]))
    x = ts.tensor([1.0, float("nan")])
    assert not ts.array_equal(x, x) and ts.array_equal(x[:1], x[:1])


@pytest.mark.parametrize("function", ("fmod", "remainder"))
def test_remainders_of_float32_are_exact(function: str) -> None:
    rng = np.random.default_rng(0)
    special = np.array([0.0, -0.0, 1.0, -3.0, 1e-45, -1e-45, 3e38, np.inf, -np.inf, np.nan], np.float32)
    a, b = (g.ravel() for g in np.meshgrid(special, special))
    for reach in (2.0, 12.0, 40.0):  # near quotients alone, then some that are far apart, then many
        numbers = (rng.normal(size=(2, 4096)) * 2.0 ** rng.uniform(-reach, reach, (2, 4096))).astype(np.float32)
        a, b = np.append(a, numbers[0]), np.append(b, numbers[1])
    b[1000:2000] = a[1000:2000] / np.arange(1, 1001, dtype=np.float32)  # quotients next to whole numbers
    with np.errstate(all="ignore"):
        wanted = getattr(np, function)(a, b)
    found = getattr(ts, function)(ts.from_numpy(a), ts.from_numpy(b)).numpy()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize("eps", (None, 0.0, 0.25))
def test_the_gradient_of_logit_at_and_outside_its_limits(eps: float | None) -> None:
    x = ts.tensor([0.5, 0.25, 0.75, 0.1, -1.0, 2.0, NAN], requires_grad=True)
    outside = NAN if eps is None else 0.0
    want = [4.0, 16 / 3, 16 / 3, 0.0 if eps else 100 / 9, outside, outside, outside]
    for create_graph in (False, True):  # one kernel, and a composition that can be differentiated
        (grad,) = ts.autograd.grad([ts.logit(x, eps).sum()], [x], create_graph=create_graph)
        assert grad.tolist() == pytest.approx(want, rel=1e-6, nan_ok=True)


def gradients(name: str, *numbers: list[float], dtype: Any = ts.float32) -> list[list[float]]:
    given = [ts.tensor(each, dtype=dtype).requires_grad_() for each in numbers]
    getattr(ts, name)(*given).sum().backward()
    return [x.grad.astype(ts.float64).tolist() for x in given]


def test_equal_operands_of_an_extremum_share_its_gradient() -> None:
    a, b = [1.0, NAN, 2.0, NAN, 3.0], [1.0, 2.0, NAN, NAN, 2.0]
    assert gradients("fmax", a, b) == [[0.5, 0, 1, 1, 1], [0.5, 1, 0, 0, 0]]
    assert gradients("fmin", a, b) == [[0.5, 0, 1, 1, 0], [0.5, 1, 0, 0, 1]]
    assert gradients("maximum", a[:1], b[:1]) == gradients("minimum", a[:1], b[:1]) == [[0.5], [0.5]]


@pytest.mark.parametrize("dtype", [ts.bfloat16, ts.float32, ts.float64], ids=str)
def test_the_derivatives_of_an_angle_at_the_origin_are_zero(dtype: Any) -> None:
    assert gradients("atan2", [0.0, -0.0, 1.0, 0.0], [0.0, -0.0, 0.0, -1.0], dtype=dtype) == [[0, 0, 0, -1], [0, 0, -1, 0]]
    tiny = 2.0**-120
    np.testing.assert_allclose(gradients("atan2", [tiny], [tiny], dtype=dtype), [[0.5 / tiny], [-0.5 / tiny]], 1e-6)
    bad = gradients("atan2", [NAN], [1.0], dtype=dtype)
    assert np.isnan(bad).all()
