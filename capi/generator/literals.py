# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of cases and defaults as text of a language."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .schema.model import DType
from .text import c_string

ABSENT = -(2**63)  # tsr_none()


@dataclass(frozen=True)
class Words:
    """How a language writes plain values."""

    none: str
    dtype: Callable[[DType], str]
    booleans: tuple[str, str] = ("false", "true")
    nan: str = "kNan"
    infinities: tuple[str, str] = ("-kInf", "kInf")
    pair: str = ""  # a complex number of two parts; none: as Python writes it
    absent: str = str(ABSENT)
    cpu: str = ""
    fence: tuple[str, str] = ("[", "]")  # of lists
    one: str = ""  # behind the one entry of a list
    escaped: str = ""  # a character that text cannot have bare
    wide: str = "{}"  # an integer beyond 32 bits

    def text(self, value: str) -> str:
        quoted = c_string(value)
        return quoted.replace(self.escaped, "\\" + self.escaped) if self.escaped else quoted

    def literal(self, value: Any) -> str:
        if value is None:
            return self.none
        if isinstance(value, tuple):
            if value == ("cpu", 0) and self.cpu:
                return self.cpu
            inside = ", ".join(map(self.literal, value)) + (self.one if len(value) == 1 else "")
            return self.fence[0] + inside + self.fence[1]
        if isinstance(value, DType):
            return self.dtype(value)
        if isinstance(value, bool):
            return self.booleans[value]
        return self.text(value) if isinstance(value, str) else self.number(value)

    def number(self, value: int | float | complex) -> str:
        if isinstance(value, complex):
            parts = map(self.number, (value.real, value.imag))
            return self.pair.format(*parts) if self.pair else repr(value).strip("()")
        if isinstance(value, float) and not math.isfinite(value):
            return self.nan if math.isnan(value) else self.infinities[value > 0]
        if value == ABSENT:
            return self.absent
        return (self.wide if isinstance(value, int) and abs(value) >= 2**31 else "{}").format(repr(value))


C = Words("nullptr", dtype=lambda d: d.constant, booleans=("0", "1"), wide="INT64_C({})")
