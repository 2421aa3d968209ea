# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of activations; references are formulas in NumPy, and PyTorch's where there are shapes to get right."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, COMPLEX, FLOATS, INTEGERS, Make, Row, find, sample
from op_table_nn import by_torch
from op_table_pointwise import LOOSE

import tessera as ts

SHAPES = [(), (0,), (3, 4), (2, 0, 3), (17, 5)]
WIDE = {**LOOSE, "bfloat16": (2e-2, 1e-3), "float16": (3e-3, 1e-3)}


def apart(make: Make, *shape: int) -> Any:
    """Values on both sides of 0, none next to a kink: finite differences cannot see those."""
    values = make(*shape, low=-4.9, high=4.9)
    if make.dtype in INTEGERS:
        return values
    return np.where(np.abs(values * 2 - np.round(values * 2)) < 0.05, values + 0.125, values)


def activation(name: str, reference: Any, *settings: dict[str, Any], **more: Any) -> Row:
    """Samples of all shapes with the defaults, and one more for each of the settings."""

    def samples(make: Make) -> list[Any]:
        return [sample(apart(make, *shape)) for shape in SHAPES] + [sample(apart(make, 4, 3), **s) for s in settings]

    dtypes = more.pop("dtypes", ALL_FLOATS)
    refused = [] if set(INTEGERS) <= set(dtypes) else [(TypeError, lambda: find(name)(ts.arange(3)))]
    return Row(name, reference, samples, dtypes=dtypes, tolerance=WIDE, errors=[*refused, *more.pop("errors", ())], **more)


def limited(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    if x.dtype.kind in "iu":  # the limits lose their fractions
        min_val, max_val = int(min_val), int(max_val)
    return np.clip(x, min_val, max_val)


def refused(name: str, *args: Any, **options: Any) -> Any:
    return (ValueError, lambda: find(name)(ts.ones(2), *args, **options))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


def celu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def relu6(x: Any) -> Any:
    return np.clip(x, 0, 6)


ROWS = [
    activation("elu", elu, {"alpha": 0.5}),
    activation("celu", celu, {"alpha": 2.0}, errors=[refused("celu", 0.0)]),
    activation("selu", lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772)),
    activation("mish", lambda x: x * np.tanh(softplus(x))),
    activation("hardswish", lambda x: x * relu6(x + 3) / 6),
    activation("hardsigmoid", lambda x: relu6(x + 3) / 6),
    activation("hardtanh", limited, {"min_val": -2.5, "max_val": 3.0}, dtypes=(*ALL_FLOATS, *INTEGERS),
               errors=[refused("hardtanh", 1.0, 0.0), (TypeError, lambda: find("hardtanh")(ts.ones(2) > 0))]),
    activation("relu6", relu6, dtypes=(*ALL_FLOATS, *INTEGERS)),
    activation("softplus", softplus, {"beta": 2.0, "threshold": 3.0}, {"beta": -0.5}, errors=[refused("softplus", 0.0)]),
    activation("softsign", lambda x: x / (1 + np.abs(x)), dtypes=(*ALL_FLOATS, *INTEGERS, *COMPLEX), result="float"),
    activation("tanhshrink", lambda x: x - np.tanh(x), dtypes=(*ALL_FLOATS, *INTEGERS, *COMPLEX), result="float"),
    activation("softshrink", lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0), {"lambd": 1.5},
               errors=[refused("softshrink", -1.0)]),
    activation("hardshrink", lambda x, lambd=0.5: np.where(np.abs(x) <= lambd, 0, x), {"lambd": 1.5},
               errors=[refused("hardshrink", -1.0)]),
    activation("logsigmoid", lambda x: -np.logaddexp(0, -x)),
    Row("threshold", lambda x, threshold, value: np.where(x > threshold, x, value),
        lambda make: [sample(apart(make, *shape), 0.5, -2.0) for shape in SHAPES], dtypes=ALL_FLOATS),
    Row("prelu", by_torch("prelu"),
        lambda make: [sample(apart(make, 3, 4), make(1)), sample(apart(make, 2, 3, 2), make(3)), sample(apart(make, 5), make(1)),
                      sample(apart(make, 0, 3), make(3))], dtypes=ALL_FLOATS, tolerance=WIDE,
        layouts=("contiguous", "transposed", "sliced"),
        errors=[(ValueError, lambda: find("prelu")(ts.ones((2, 3)), ts.ones(2))),
                (TypeError, lambda: find("prelu")(ts.ones((2, 3)), ts.ones(3, dtype=ts.float64)))]),
    Row("glu", by_torch(lambda F, x, axis=-1: F.glu(x, axis)),
        lambda make: [sample(make(3, 4)), sample(make(4, 3), axis=0), sample(make(2, 6, 2), axis=1), sample(make(0, 2)),
                      sample(make(2, 0))],
        dtypes=ALL_FLOATS, tolerance=WIDE,
        errors=[(ValueError, lambda: find("glu")(ts.ones((2, 3)))), (ValueError, lambda: find("glu")(ts.ones(())))]),
    Row("softmin", by_torch(lambda F, x, axis=-1: F.softmin(x, axis)),
        lambda make: [sample(make(3, 4)), sample(make(3, 4), axis=0), sample(make()), sample(make(0, 3))], dtypes=FLOATS, tolerance=WIDE),
]  # fmt: skip
