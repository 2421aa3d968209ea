# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of unary, binary and ternary pointwise ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import special
from op_engine import (
    ALL,
    ALL_FLOATS,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    REAL,
    SIGNED,
    Make,
    Row,
    binary,
    elementwise,
    sample,
)

import tessera as ts

LOOSE = {"float32": (2e-6, 1e-5), "complex64": (1e-5, 1e-5), "float16": (2e-3, 1e-4)}
PREDICATE = "the result is bool"


def magnitude(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)



def full_range(name: str, reference: Any, low: float = -2.0, high: float = 2.0, **options: Any) -> Row:
    """A unary op that makes floats of integers and takes complex numbers."""
    options = {"dtypes": (*ALL_FLOATS, "int32", "uint8", "bool", *COMPLEX), "result": "float", "tolerance": LOOSE, **options}
    return elementwise(name, reference, low=low, high=high, **options)


def real_only(name: str, reference: Any, low: float = -2.0, high: float = 2.0, **options: Any) -> Row:
    return full_range(name, reference, low, high, dtypes=(*ALL_FLOATS, "int64", "bool"), **options)


UNARY = [
    elementwise("abs", np.abs, dtypes=(*REAL, *COMPLEX), result=magnitude, low=0.25),
    elementwise("negative", np.negative, dtypes=(*ALL_FLOATS, *INTEGERS, *COMPLEX)),
    elementwise("sign", np.sign, dtypes=(*ALL_FLOATS, *SIGNED), low=0.25),
    elementwise("square", np.square, dtypes=(*REAL, *COMPLEX)),
    full_range("reciprocal", np.reciprocal, 0.5),
    full_range("sqrt", np.sqrt, 0.25, 4),
    full_range("rsqrt", lambda x: 1 / np.sqrt(x), 0.25, 4),
    full_range("exp", np.exp),
    full_range("expm1", np.expm1),
    full_range("log", np.log, 0.25, 4),
    full_range("log1p", np.log1p, -0.5),
    full_range("log2", np.log2, 0.25, 4),
    full_range("log10", np.log10, 0.25, 4),
    full_range("sin", np.sin),
    full_range("cos", np.cos),
    full_range("tan", np.tan, -1, 1),
    full_range("asin", np.arcsin, -0.75, 0.75),
    full_range("acos", np.arccos, -0.75, 0.75),
    full_range("atan", np.arctan, -0.75, 0.75),
    full_range("sinh", np.sinh),
    full_range("cosh", np.cosh),
    full_range("tanh", np.tanh),
    full_range("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    real_only("erf", special.erf),
    real_only("erfc", special.erfc),
    elementwise("floor", np.floor, dtypes=REAL, low=-1.9, high=1.9),
    elementwise("ceil", np.ceil, dtypes=REAL, low=-1.9, high=1.9),
    elementwise("round", np.round, dtypes=REAL + COMPLEX, low=-1.9, high=1.9),
    elementwise("trunc", np.trunc, dtypes=REAL, low=-1.9, high=1.9),
    elementwise("isnan", np.isnan, dtypes=ALL, result="bool", grad=False, why_no_grad=PREDICATE),
    elementwise("isinf", np.isinf, dtypes=ALL, result="bool", grad=False, why_no_grad=PREDICATE),
    elementwise("isfinite", np.isfinite, dtypes=ALL, result="bool", grad=False, why_no_grad=PREDICATE),
    elementwise("logical_not", np.logical_not, dtypes=ALL, result="bool", grad=False, why_no_grad=PREDICATE),
    elementwise(
        "bitwise_invert", np.invert, dtypes=(*INTEGERS, *BOOL), grad=False, why_no_grad="takes integers only",
        errors=[(TypeError, lambda: ts.bitwise_invert(ts.ones(3)))],
    ),
    elementwise("relu", lambda x: np.maximum(x, 0), dtypes=ALL_FLOATS, low=0.25),
    elementwise("silu", lambda x: x / (1 + np.exp(-x)), dtypes=(*ALL_FLOATS, *COMPLEX), tolerance=LOOSE),
    Row(
        "leaky_relu",
        lambda x, slope: np.where(x > 0, x, x * slope),
        lambda make: [sample(make(*s, low=0.25) - 0.125, 0.25) for s in [(), (0,), (3, 4)]]
        + [sample(make(2, 3, low=-2, high=-0.5), 0.25)],
    ),
    Row(
        "gelu",
        lambda x, approximate="none": x * special.ndtr(x)
        if approximate == "none"
        else 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        lambda make: [sample(make(*s)) for s in [(), (0,), (3, 4)]] + [sample(make(2, 3), approximate="tanh")],
        tolerance={**LOOSE, "bfloat16": (2e-2, 1e-4)},
    ),
]  # fmt: skip


def clip_samples(make: Make) -> list[Any]:
    return [
        sample(make(3, 4), -1, 1),
        sample(make(5), -1, None),
        sample(make(5), None, 1),
        sample(make(), 0, 1),
        sample(make(0, 2), 0, 1),
    ]


def pow_samples(make: Make) -> list[Any]:
    return [
        sample(make(3, 4, low=0.5, high=2), make(4, low=0, high=2)),
        sample(make(3, 4, low=0.5, high=2), 2),
        sample(make(0, 3, low=1), make(3, low=1)),
        sample(make(low=0.5), make(2, 3, low=0, high=2)),
    ]


def not_zero(low: float = 0.5, high: float = 4.0) -> dict[str, float]:
    return {"low": -4, "high": 4, "low2": max(low, 1), "high2": high}


def compare(name: str, reference: Any, dtypes: Any = (*BOOL, *REAL)) -> Row:
    return binary(name, reference, dtypes=dtypes, result="bool", grad=False, why_no_grad=PREDICATE, low=-2, high=2)


def bits(name: str, reference: Any) -> Row:
    return binary(
        name, reference, dtypes=(*INTEGERS, *BOOL), grad=False, why_no_grad="takes integers only", high=4,
        errors=[(TypeError, lambda: getattr(ts, name)(ts.ones(3), ts.ones(3)))],
    )  # fmt: skip


def wrong_shapes(name: str) -> Any:
    return (ValueError, lambda: getattr(ts, name)(ts.ones(2), ts.ones(3)))


BINARY = [
    binary("add", np.add, dtypes=ALL, errors=[wrong_shapes("add"), (TypeError, lambda: ts.add(ts.ones(2), "x"))]),
    binary("subtract", np.subtract, dtypes=(*ALL_FLOATS, *SIGNED, *COMPLEX),
           errors=[(TypeError, lambda: ts.ones(2, dtype=ts.bool) - ts.ones(2, dtype=ts.bool)), wrong_shapes("subtract")]),
    binary("multiply", np.multiply, dtypes=ALL, tolerance=LOOSE, errors=[wrong_shapes("multiply")]),
    binary("divide", np.divide, dtypes=(*ALL_FLOATS, "int32", *COMPLEX), result="float", tolerance=LOOSE, **not_zero()),
    binary("floor_divide", np.floor_divide, dtypes=(*FLOATS, *SIGNED), low=1.1, high=1.9, low2=3, high2=4),
    binary("remainder", np.remainder, dtypes=(*FLOATS, *SIGNED), low=1.1, high=1.9, low2=3, high2=4),
    Row("pow", np.power, pow_samples, dtypes=(*FLOATS, "int32", "int64", *COMPLEX), tolerance=LOOSE),
    binary("maximum", np.maximum, dtypes=REAL),
    binary("minimum", np.minimum, dtypes=REAL),
    binary("atan2", np.arctan2, dtypes=(*ALL_FLOATS, "int32"), result="float", low=0.5, tolerance=LOOSE),
    binary("hypot", np.hypot, dtypes=ALL_FLOATS, low=0.5, tolerance=LOOSE),
    compare("equal", np.equal, ALL),
    compare("not_equal", np.not_equal, ALL),
    compare("less", np.less),
    compare("less_equal", np.less_equal),
    compare("greater", np.greater),
    compare("greater_equal", np.greater_equal),
    compare("logical_and", np.logical_and, ALL),
    compare("logical_or", np.logical_or, ALL),
    compare("logical_xor", np.logical_xor, ALL),
    bits("bitwise_and", np.bitwise_and),
    bits("bitwise_or", np.bitwise_or),
    bits("bitwise_xor", np.bitwise_xor),
]  # fmt: skip

TERNARY = [
    Row("clip", lambda x, low, high: np.clip(x, low, high), clip_samples, dtypes=(*FLOATS, *SIGNED),
        grad_samples=lambda make: [sample(make(7, low=-2, high=2), -0.77, 0.81)]),
    Row("where", np.where,
        lambda make: [sample(make.mask(3, 4), make(3, 4), make(4)), sample(make.mask(2, 1), make(1, 3), make()),
                      sample(make.mask(0, 3), make(3), make(3))], dtypes=ALL, layouts=("contiguous", "transposed", "sliced")),
    Row("lerp", lambda a, b, t: a + t * (b - a),
        lambda make: [sample(make(3, 4), make(4), make(3, 1)), sample(make(3), make(3), 0.25)],
        dtypes=(*FLOATS, *COMPLEX), tolerance=LOOSE),
    Row("addcmul", lambda x, a, b, value=1: x + value * a * b,
        lambda make: [sample(make(3, 4), make(4), make(3, 1)), sample(make(3), make(3), make(3), value=2)],
        dtypes=(*FLOATS, *SIGNED), tolerance=LOOSE),
    Row("addcdiv", lambda x, a, b, value=1: x + value * a / b,
        lambda make: [sample(make(3, 4), make(4), make(3, 1, low=1)), sample(make(3), make(3), make(3, low=1), value=0.5)],
        dtypes=FLOATS, tolerance=LOOSE),
]  # fmt: skip

ROWS = UNARY + BINARY + TERNARY
