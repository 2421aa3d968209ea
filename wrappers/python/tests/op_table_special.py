# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of special functions, parts of numbers and the rarer pointwise arithmetic; references are NumPy's and SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
import special
from op_engine import ALL_FLOATS, BOOL, COMPLEX, FLOATS, INTEGERS, REAL, SIGNED, Make, Row, binary, elementwise, sample
from op_table_pointwise import LOOSE, PREDICATE, full_range, magnitude, real_only

import tessera as ts

DENSE = ("contiguous", "transposed", "sliced")


def predicate(name: str, reference: Any, dtypes: Any = (*ALL_FLOATS, *INTEGERS, *BOOL)) -> Row:
    return elementwise(name, reference, dtypes=dtypes, result="bool", grad=False, why_no_grad=PREDICATE,
                       errors=[(TypeError, lambda: getattr(ts, name)(ts.ones(2, dtype=ts.complex64)))])  # fmt: skip


def angle_dtype(dtype: str) -> str:
    return "float32" if dtype in (*INTEGERS, *BOOL) else magnitude(dtype)


def logit(x: Any, eps: float | None = None) -> Any:
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def log_added(a: Any, b: Any) -> Any:
    if not np.iscomplexobj(np.asarray(a)) and not np.iscomplexobj(np.asarray(b)):
        return np.logaddexp(a, b)
    larger = np.where(np.real(a) < np.real(b), b, a)  # its branch of the logarithm, not the principal one of the sum
    return larger + np.log1p(np.exp(a + b - 2 * larger))


def decimals(make: Make) -> list[Any]:
    return [sample(make(3, 4), 1), sample(make(5, low=-200, high=200), -1), sample(make(), 0), sample(make(0, 2), 2)]


UNARY = [
    full_range("acosh", np.arccosh, 1.25, 4, dtypes=(*ALL_FLOATS, "int32", *COMPLEX)),
    full_range("asinh", np.arcsinh),
    full_range("atanh", np.arctanh, -0.75, 0.75, dtypes=(*ALL_FLOATS, *COMPLEX)),
    full_range("exp2", np.exp2),
    full_range("sinc", np.sinc, dtypes=(*ALL_FLOATS, "int64", "bool", *COMPLEX), tolerance={**LOOSE, "float64": (1e-12, 1e-12)}),
    real_only("lgamma", special.gammaln, 0.25, 4),
    full_range("digamma", special.digamma, 0.25, 4, dtypes=(*ALL_FLOATS, "int64")),
    full_range("erfinv", special.erfinv, -0.75, 0.75, dtypes=ALL_FLOATS),
    Row("polygamma", lambda x, n: special.polygamma(n, x),
        lambda make: [sample(make(3, 4, low=0.5, high=3), n) for n in (0, 1, 2, 5)] + [sample(make(low=0.5), 1), sample(make(0, 3), 1)],
        dtypes=(*ALL_FLOATS, "int64"), result="float", tolerance={**LOOSE, "bfloat16": (1.6e-2, 1e-4)},
        grad_samples=lambda make: [sample(make(3, low=0.75, high=3), n) for n in (0, 1, 3)],
        errors=[(ValueError, lambda: ts.polygamma(ts.ones(2), -1))]),
    Row("logit", logit, lambda make: [sample(make(3, 4, low=0.1, high=0.9)), sample(make(low=0.1, high=0.9)), sample(make(0, 2)),
                                      sample(make(7, low=-0.5, high=1.5), 0.125)], tolerance=LOOSE),
    elementwise("frac", lambda x: x - np.trunc(x), low=-1.9, high=1.9, errors=[(TypeError, lambda: ts.frac(ts.arange(3)))]),
    predicate("signbit", lambda x: x < 0),
    predicate("isposinf", lambda x: np.isinf(x) & (x > 0)),
    predicate("isneginf", lambda x: np.isinf(x) & (x < 0)),
    elementwise("angle", lambda x: np.angle(x), dtypes=(*ALL_FLOATS, "int32", *BOOL, *COMPLEX), result=angle_dtype, low=0.25,
                tolerance=LOOSE, reference_dtype=None),
    real_only("deg2rad", np.deg2rad, -200, 200),
    real_only("rad2deg", np.rad2deg, tolerance={**LOOSE, "float16": (2e-3, 1e-2), "bfloat16": (1.6e-2, 1e-2)}),
    elementwise("positive", np.positive, dtypes=(*ALL_FLOATS, *INTEGERS, *COMPLEX)),
    Row("round_decimals", np.round, decimals, dtypes=FLOATS, tolerance={"float32": (2e-6, 1e-5)}, grad=True,
        errors=[(ValueError, lambda: ts.round_decimals(ts.arange(3), -1))]),
    Row("nan_to_num", np.nan_to_num,
        lambda make: [sample(make(3, 4)), sample(make(), 1.0), sample(make(0, 2)), sample(make(5), 1.0, 2.0, 3.0)],
        dtypes=(*ALL_FLOATS, "int32", *BOOL, *COMPLEX)),
    Row("complex", lambda a, b: a + 1j * b,
        lambda make: [sample(make(3, 4), make(4)), sample(make(), make(2, 1)), sample(make(0, 3), make(3))], dtypes=FLOATS,
        result={"float32": "complex64", "float64": "complex128"}.get, layouts=DENSE,
        errors=[(TypeError, lambda: ts.complex(ts.ones(2), ts.ones(2, dtype=ts.float64)))]),
    Row("polar", lambda m, a: m * np.exp(1j * a),
        lambda make: [sample(make(3, 4), make(4)), sample(make(), make(2, 1)), sample(make(0, 3), make(3))], dtypes=FLOATS,
        result={"float32": "complex64", "float64": "complex128"}.get, layouts=DENSE),
]  # fmt: skip


def integers(name: str, reference: Any, dtypes: Any = INTEGERS, low: int = 0, high: int = 6, **more: Any) -> Row:
    return binary(name, reference, dtypes=dtypes, grad=False, why_no_grad="takes integers only", low=low, high=high,
                  errors=[(TypeError, lambda: getattr(ts, name)(ts.ones(3), ts.ones(3)))], **more)  # fmt: skip


def rounded_quotient(a: Any, b: Any, rounding_mode: str = "none") -> Any:
    if rounding_mode == "none":
        return a / b
    return np.floor_divide(a, b) if rounding_mode == "floor" else np.trunc(np.true_divide(a, b)).astype(np.result_type(a, b))


def quotients(make: Make) -> list[Any]:
    modes = ("floor", "trunc") if make.dtype in SIGNED else ("none", "floor", "trunc")
    return [sample(make(3, 4, low=1.1, high=1.9), make(4, low=3, high=4), rounding_mode=m) for m in modes] + [
        sample(make(5, low=-7.9, high=-7.1), make(low=3, high=4), rounding_mode="trunc"),
        sample(make(0, 3), make(3, low=1), rounding_mode="trunc"),
    ]  # fmt: skip


def with_nan(make: Make) -> list[Any]:
    first, second = make(3, 4), make(3, 4)
    if make.dtype in FLOATS:
        first[0, 1] = second[1, 2] = first[2, 3] = second[2, 3] = np.nan
    return [sample(first, second), sample(make(2, 1), make(3)), sample(make(), make()), sample(make(0, 3), make(3))]


def smooth(make: Make) -> list[Any]:
    return [sample(make(3, 4), make(4)), sample(make(), make(2, 1)), sample(make(5), 0.77)]


BINARY = [
    binary("copysign", np.copysign, dtypes=(*ALL_FLOATS, "int32"), result="float", low=0.5),
    binary("nextafter", np.nextafter, dtypes=FLOATS, grad=False, why_no_grad="steps are flat", reference_dtype=None,
           errors=[(TypeError, lambda: ts.nextafter(ts.ones(3), 1j))]),
    binary("logaddexp", log_added, dtypes=(*ALL_FLOATS, "int32", *COMPLEX), result="float", tolerance=LOOSE),
    binary("logaddexp2", np.logaddexp2, dtypes=(*ALL_FLOATS, "int32"), result="float", tolerance=LOOSE),
    binary("xlogy", special.xlogy, dtypes=(*ALL_FLOATS, "int32"), result="float", low=0.5, high=2, low2=1, high2=3, tolerance=LOOSE),
    binary("heaviside", np.heaviside, dtypes=ALL_FLOATS, grad=False, why_no_grad="steps are flat"),
    binary("ldexp", lambda a, b: a * 2.0**b, dtypes=(*ALL_FLOATS, "int32", *COMPLEX), result="float", tolerance=LOOSE),
    binary("fmod", np.fmod, dtypes=(*FLOATS, *SIGNED), low=1.1, high=1.9, low2=3, high2=4),
    Row("fmax", np.fmax, with_nan, dtypes=(*FLOATS, *INTEGERS, *BOOL), grad_samples=smooth),
    Row("fmin", np.fmin, with_nan, dtypes=(*FLOATS, *INTEGERS, *BOOL), grad_samples=smooth),
    integers("gcd", np.gcd),
    integers("lcm", np.lcm),
    integers("bitwise_left_shift", np.left_shift, high=3),
    integers("bitwise_right_shift", np.right_shift, high=3),
    binary("float_power", np.float_power, dtypes=(*FLOATS, "int32"), result=lambda dtype: "float64", low=1, high=2, low2=1, high2=3,
           tolerance={"float64": (1e-12, 1e-12)}),
    Row("divide_rounded", rounded_quotient, quotients, dtypes=(*FLOATS, *SIGNED), tolerance=LOOSE,
        errors=[(ValueError, lambda: ts.divide_rounded(ts.ones(2), 2.0, rounding_mode="up")),
                (ValueError, lambda: ts.divide_rounded(ts.arange(2), 0, rounding_mode="trunc"))]),
    binary("isclose", np.isclose, dtypes=REAL, result="bool", grad=False, why_no_grad=PREDICATE,
           errors=[(ValueError, lambda: ts.isclose(ts.ones(2), ts.ones(2), rtol=-1.0))]),
    binary("allclose", lambda a, b: np.asarray(np.allclose(a, b)), dtypes=REAL, result="bool", grad=False, why_no_grad=PREDICATE),
    Row("array_equal", lambda a, b: np.asarray(np.array_equal(a, b)),
        lambda make: [sample(make(3), make(3)), sample(make(3), make(1, 3)), sample(make(0), make(0))], dtypes=REAL, result="bool",
        grad=False, why_no_grad=PREDICATE),
    Row("isin", lambda a, b, invert=False: np.isin(a, b, invert=invert),
        lambda make: [sample(make(3, 4), make(5)), sample(make(40), make(9, 7), invert=True), sample(make(), make(2)),
                      sample(make(0, 2), make(3)), sample(make(4), make(0))],
        dtypes=(*FLOATS, *INTEGERS, *BOOL), result="bool", grad=False, why_no_grad=PREDICATE),
]  # fmt: skip


def multigammaln(x: Any, p: int) -> Any:
    return special.multigammaln(x, p)


def window(name: str, reference: Any, *more: dict[str, Any]) -> Row:
    """Counts are no arrays, so that dtype and layouts say nothing: float32 comes out."""
    settings = [{}, {"periodic": False}, *more]
    return Row(name, reference, lambda make: [sample(n, **options) for n in (0, 1, 2, 7, 12) for options in settings],
               dtypes=("float32",), grad=False, why_no_grad="makes numbers of a count",
               errors=[(ValueError, lambda: getattr(ts, name)(-1)), (TypeError, lambda: getattr(ts, name)(3, dtype=ts.int64))])  # fmt: skip


def cut(function: Any) -> Any:
    """A periodic window is NumPy's with one more number, without the last."""

    def reference(n: int, periodic: bool = True, **options: Any) -> Any:
        return function(n + 1, **options)[:-1] if periodic and n > 1 else function(n, **options)

    return reference


def generalised_hamming(n: int, alpha: float = 0.54, beta: float = 0.46) -> Any:
    return np.ones(n) if n == 1 else alpha - beta * np.cos(2 * np.pi * np.arange(n) / max(n - 1, 1))


NORMAL = [
    real_only("ndtr", special.ndtr),
    full_range("ndtri", special.ndtri, 0.1, 0.9, dtypes=ALL_FLOATS),
    real_only("log_ndtr", special.log_ndtr, -6, 3),
    real_only("erfcx", special.erfcx, tolerance={**LOOSE, "bfloat16": (1.6e-2, 1e-3)}),
    full_range("entr", special.entr, 0.25, 3, dtypes=(*ALL_FLOATS, "int64")),
    real_only("i0", special.i0, -4, 4),
    full_range("i0e", special.i0e, 0.25, 4, dtypes=(*ALL_FLOATS, "int64")),
    real_only("i1", special.i1, -4, 4),
    full_range("i1e", special.i1e, 0.25, 4, dtypes=(*ALL_FLOATS, "int64")),
    *(real_only(f"bessel_{name}", getattr(special, name), 0.5 if name[0] == "y" else -6, 6) for name in ("j0", "j1", "y0", "y1")),
    *(full_range(f"modified_bessel_{name}", getattr(special, name), 0.5, 4, dtypes=ALL_FLOATS) for name in ("k0", "k1")),
    *(full_range(f"scaled_modified_bessel_{name}", getattr(special, f"{name}e"), 0.5, 4, dtypes=ALL_FLOATS) for name in ("k0", "k1")),
    real_only("spherical_bessel_j0", lambda x: np.sinc(x / np.pi), -3, 3),
    real_only("airy_ai", lambda x: scipy.special.airy(x)[0], -6, 4),
    Row("multigammaln", multigammaln, lambda make: [sample(make(3, 4, low=1.5, high=4), p) for p in (1, 2, 3)] + [sample(make(low=1), 2)],
        dtypes=FLOATS, tolerance=LOOSE, errors=[(ValueError, lambda: ts.multigammaln(ts.ones(2), 0))]),
    binary("zeta", special.zeta, dtypes=ALL_FLOATS, low=1.5, high=5, low2=0.5, high2=4, tolerance={**LOOSE, "bfloat16": (2e-2, 1e-3)},
           grad_args=(1,)),
    binary("igamma", special.gammainc, dtypes=(*ALL_FLOATS, "int32"), result="float", low=0.5, high=4, low2=0.5, high2=6, tolerance=LOOSE,
           grad_args=(1,)),
    binary("igammac", special.gammaincc, dtypes=(*ALL_FLOATS, "int32"), result="float", low=0.5, high=4, low2=0.5, high2=6,
           tolerance=LOOSE, grad_args=(1,)),
    binary("xlog1py", special.xlog1py, dtypes=(*ALL_FLOATS, "int32"), result="float", low=0.5, high=2, low2=0, high2=3, tolerance=LOOSE),
    window("bartlett_window", cut(np.bartlett)),
    window("blackman_window", cut(np.blackman)),
    window("hamming_window", cut(generalised_hamming), {"alpha": 0.6, "beta": 0.4}),
    window("hann_window", cut(np.hanning)),
    window("kaiser_window", cut(lambda n, beta=12.0: np.kaiser(n, beta)), {"beta": 3.5}),
]  # fmt: skip



def polynomial(name: str, reference: Any, shifted: bool = False) -> Row:
    """A row of an orthogonal polynomial reference(n, x), whose degrees lose their fraction."""

    def value(x: Any, n: Any) -> Any:
        whole = np.trunc(n).astype(int)
        return np.where(whole < 0, 0.0, reference(whole, 2 * x - 1 if shifted else x))

    return binary(
        name, value, dtypes=(*ALL_FLOATS, "int32"), result="float", low=-1.5, high=1.5, low2=-0.9, high2=5.5, tolerance=LOOSE,
        grad_args=(0,), errors=[(ValueError, lambda: getattr(ts, name)(ts.ones(2), 16385)),
                                (TypeError, lambda: getattr(ts, name)(ts.ones(2, dtype=ts.complex64), 1)),
                                (NotImplementedError, lambda: getattr(ts, name)(ts.ones(2), ts.ones(2).requires_grad_()))],
    )  # fmt: skip


def neighbours(sign: float) -> Any:
    """The polynomials of the third and of the fourth kind, by those of the second."""
    return lambda n, x: scipy.special.eval_chebyu(n, x) + sign * np.where(n > 0, scipy.special.eval_chebyu(n - 1, x), 0)


KINDS = {"t": scipy.special.eval_chebyt, "u": scipy.special.eval_chebyu, "v": neighbours(-1), "w": neighbours(1)}
POLYNOMIALS = [
    *(polynomial(f"chebyshev_polynomial_{kind}", reference) for kind, reference in KINDS.items()),
    *(polynomial(f"shifted_chebyshev_polynomial_{kind}", reference, True) for kind, reference in KINDS.items()),
    polynomial("hermite_polynomial_h", scipy.special.eval_hermite),
    polynomial("hermite_polynomial_he", scipy.special.eval_hermitenorm),
    polynomial("laguerre_polynomial_l", scipy.special.eval_laguerre),
    polynomial("legendre_polynomial_p", scipy.special.eval_legendre),
]
ROWS = UNARY + BINARY + NORMAL + POLYNOMIALS
