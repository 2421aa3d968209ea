# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of cases as C++ text."""

from __future__ import annotations

import math
from typing import Any

from .model import Literal, Schema


def number(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and not math.isfinite(value):
        return "kNan" if math.isnan(value) else ("kInf" if value > 0 else "-kInf")
    return f"INT64_C({value})" if isinstance(value, int) and abs(value) >= 2**31 else repr(value)


def literal(schema: Schema, value: Literal) -> str:
    dtype = next(t for t in schema.dtypes if t.short == value.dtype)
    shape = "{" + ", ".join(map(str, value.shape)) + "}"
    if value.data is None:
        return f"shaped({dtype.constant}, {shape})"
    if dtype.category == "complex":
        flat = [x for v in value.data for x in (complex(v).real, complex(v).imag)]
        return f"complexes({dtype.constant}, {shape}, {{{', '.join(map(number, flat))}}})"
    maker = "reals" if dtype.category == "floating" else "ints"
    return f"{maker}({dtype.constant}, {shape}, {{{', '.join(map(number, value.data))}}})"
