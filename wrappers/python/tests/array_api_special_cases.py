# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The special cases of elementwise functions in the Python Array API standard 2025.12, as data.

A line is `function  operand: result | operand: result | ...`; two operands, or the real and the imaginary part of one,
stand in parentheses. SAMPLES says which numbers the words for operands mean. A result is an expression of a and b, the
operands, in which even() rounds to the nearest even integer; `~` before it leaves its sign open.
"""

from __future__ import annotations

from math import inf, nan

_FINITE = (-2.5, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0)
_NUMBERS = (-inf, *_FINITE, inf)
_EVERY = (*_NUMBERS, nan)

SAMPLES: dict[str, tuple[float, ...]] = {
    "nan": (nan,), "+inf": (inf,), "-inf": (-inf,), "inf": (inf, -inf), "+0": (0.0,), "-0": (-0.0,), "0": (0.0, -0.0),
    "1": (1.0,), "-1": (-1.0,), "any": _EVERY, "number": _NUMBERS, "finite": _FINITE,
    "nonzero": tuple(x for x in _FINITE if x), "nonzero or inf": tuple(x for x in _NUMBERS if x),
    "pos": tuple(x for x in _FINITE if x > 0), "neg": tuple(x for x in _FINITE if x < 0),
    ">0": tuple(x for x in _NUMBERS if x > 0), "<0": tuple(x for x in _NUMBERS if x < 0),
    ">1": (1.5, 2.0, inf), "<1": (-inf, -1.0, -0.0, 0.0, 0.5), "<-1": (-inf, -2.0, -1.5),
    "not 0": tuple(x for x in _EVERY if x), "not 1": tuple(x for x in _EVERY if x != 1),
    "abs > 1": (-inf, -2.0, -1.5, 1.5, 2.0, inf), "abs 1": (-1.0, 1.0), "abs < 1": (-0.5, -0.0, 0.0, 0.5),
    "whole": (-3.0, -2.0, 1.0, 4.0, 1e6), "half": (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5),
    "odd > 0": (1.0, 3.0, 5.0), "not odd > 0": (0.5, 1.5, 2.0, 4.0, inf),
    "odd < 0": (-1.0, -3.0, -5.0), "not odd < 0": (-0.5, -1.5, -2.0, -4.0, -inf),
    "fraction": (-2.5, -0.5, 0.5, 1.5), "-nan": (-nan,),
}  # fmt: skip

UNARY = """
abs        nan: nan | -0: 0.0 | -inf: inf
acos       nan: nan | >1: nan | <-1: nan | 1: 0.0
acosh      nan: nan | <1: nan | 1: 0.0 | +inf: inf
asin       nan: nan | >1: nan | <-1: nan | +0: 0.0 | -0: -0.0
asinh      nan: nan | +0: 0.0 | -0: -0.0 | +inf: inf | -inf: -inf
atan       nan: nan | +0: 0.0 | -0: -0.0 | +inf: pi / 2 | -inf: -pi / 2
atanh      nan: nan | <-1: nan | >1: nan | -1: -inf | 1: inf | +0: 0.0 | -0: -0.0
ceil       whole: a | +inf: inf | -inf: -inf | +0: 0.0 | -0: -0.0 | nan: nan
cos        nan: nan | 0: 1.0 | inf: nan
cosh       nan: nan | 0: 1.0 | inf: inf
exp        nan: nan | 0: 1.0 | +inf: inf | -inf: 0.0
expm1      nan: nan | +0: 0.0 | -0: -0.0 | +inf: inf | -inf: -1.0
floor      whole: a | +inf: inf | -inf: -inf | +0: 0.0 | -0: -0.0 | nan: nan
isfinite   inf: 0.0 | nan: 0.0 | finite: 1.0
isinf      inf: 1.0 | nan: 0.0 | finite: 0.0
isnan      inf: 0.0 | nan: 1.0 | finite: 0.0
log        nan: nan | <0: nan | 0: -inf | 1: 0.0 | +inf: inf
log1p      nan: nan | <-1: nan | -1: -inf | -0: -0.0 | +0: 0.0 | +inf: inf
log2       nan: nan | <0: nan | 0: -inf | 1: 0.0 | +inf: inf
log10      nan: nan | <0: nan | 0: -inf | 1: 0.0 | +inf: inf
negative   nan: nan | +0: -0.0 | -0: 0.0 | +inf: -inf | -inf: inf
positive   any: a
reciprocal nan: nan | +0: inf | -0: -inf | +inf: 0.0 | -inf: -0.0
round      whole: a | +inf: inf | -inf: -inf | +0: 0.0 | -0: -0.0 | nan: nan | half: even(a)
sign       <0: -1.0 | 0: ~0.0 | >0: 1.0 | nan: nan
signbit    +0: 0.0 | -0: 1.0 | +inf: 0.0 | -inf: 1.0 | pos: 0.0 | neg: 1.0 | nan: 0.0 | -nan: 1.0
sin        nan: nan | +0: 0.0 | -0: -0.0 | inf: nan
sinh       nan: nan | +0: 0.0 | -0: -0.0 | +inf: inf | -inf: -inf
square     any: a * a
sqrt       nan: nan | <0: nan | +0: 0.0 | -0: -0.0 | +inf: inf
tan        nan: nan | +0: 0.0 | -0: -0.0 | inf: nan
tanh       nan: nan | +0: 0.0 | -0: -0.0 | +inf: 1.0 | -inf: -1.0
trunc      whole: a | +inf: inf | -inf: -inf | +0: 0.0 | -0: -0.0 | nan: nan
"""

BINARY = """
add          (nan, any): nan | (any, nan): nan | (+inf, -inf): nan | (-inf, +inf): nan | (+inf, +inf): inf
add          (-inf, -inf): -inf | (+inf, finite): inf | (-inf, finite): -inf | (finite, +inf): inf | (finite, -inf): -inf
add          (-0, -0): -0.0 | (-0, +0): 0.0 | (+0, -0): 0.0 | (+0, +0): 0.0 | (0, nonzero): b | (nonzero, 0): a
atan2        (nan, any): nan | (any, nan): nan | (>0, 0): pi / 2 | (+0, >0): 0.0 | (+0, +0): 0.0 | (+0, -0): pi | (+0, <0): pi
atan2        (-0, >0): -0.0 | (-0, +0): -0.0 | (-0, -0): -pi | (-0, <0): -pi | (<0, 0): -pi / 2 | (pos, +inf): 0.0
atan2        (pos, -inf): pi | (neg, +inf): -0.0 | (neg, -inf): -pi | (+inf, finite): pi / 2 | (-inf, finite): -pi / 2
atan2        (+inf, +inf): pi / 4 | (+inf, -inf): 3 * pi / 4 | (-inf, +inf): -pi / 4 | (-inf, -inf): -3 * pi / 4
copysign     (number, <0): -abs(a) | (number, -0): -abs(a) | (number, +0): abs(a) | (number, >0): abs(a)
copysign     (number, nan): abs(a) | (number, -nan): -abs(a) | (nan, any): nan
divide       (nan, any): nan | (any, nan): nan | (inf, inf): nan | (0, 0): nan | (+0, >0): 0.0 | (-0, >0): -0.0 | (+0, <0): -0.0
divide       (-0, <0): 0.0 | (>0, +0): inf | (>0, -0): -inf | (<0, +0): -inf | (<0, -0): inf | (+inf, pos): inf
divide       (+inf, neg): -inf | (-inf, pos): -inf | (-inf, neg): inf | (pos, +inf): 0.0 | (pos, -inf): -0.0
divide       (neg, +inf): -0.0 | (neg, -inf): 0.0 | (nonzero, nonzero): a / b
equal        (nan, any): 0.0 | (any, nan): 0.0 | (+inf, +inf): 1.0 | (-inf, -inf): 1.0 | (0, 0): 1.0 | (number, number): float(a == b)
floor_divide (nan, any): nan | (any, nan): nan | (inf, inf): nan | (0, 0): nan | (+0, >0): 0.0 | (-0, >0): -0.0 | (+0, <0): -0.0
floor_divide (-0, <0): 0.0 | (>0, +0): inf | (>0, -0): -inf | (<0, +0): -inf | (<0, -0): inf | (pos, +inf): 0.0
floor_divide (neg, -inf): 0.0 | (nonzero, nonzero): a // b + 0.0
hypot        (inf, any): inf | (any, inf): inf | (0, number): abs(b) | (number, 0): abs(a) | (finite, nan): nan | (nan, nan): nan
hypot        (nan, finite): nan
logaddexp    (nan, any): nan | (any, nan): nan | (+inf, number): inf | (number, +inf): inf
maximum      (nan, any): nan | (any, nan): nan | (nonzero or inf, number): max(a, b)
minimum      (nan, any): nan | (any, nan): nan | (nonzero or inf, number): min(a, b)
multiply     (nan, any): nan | (any, nan): nan | (inf, 0): nan | (0, inf): nan | (inf, inf): a * b | (inf, nonzero): a * b
multiply     (nonzero, inf): a * b | (finite, finite): a * b
nextafter    (nan, any): nan | (any, nan): nan | (-0, +0): 0.0 | (+0, -0): -0.0
not_equal    (nan, any): 1.0 | (any, nan): 1.0 | (+inf, -inf): 1.0 | (-inf, +inf): 1.0 | (number, number): float(a != b)
pow          (not 1, nan): nan | (any, 0): 1.0 | (nan, not 0): nan | (abs > 1, +inf): inf | (abs > 1, -inf): 0.0
pow          (abs 1, inf): 1.0 | (1, number): 1.0 | (abs < 1, +inf): 0.0 | (abs < 1, -inf): inf | (+inf, >0): inf | (+inf, <0): 0.0
pow          (-inf, odd > 0): -inf | (-inf, not odd > 0): inf | (-inf, odd < 0): -0.0 | (-inf, not odd < 0): 0.0
pow          (+0, >0): 0.0 | (+0, <0): inf | (-0, odd > 0): -0.0 | (-0, not odd > 0): 0.0 | (-0, odd < 0): -inf
pow          (-0, not odd < 0): inf | (neg, fraction): nan
remainder    (nan, any): nan | (any, nan): nan | (inf, inf): nan | (0, 0): nan | (0, >0): 0.0 | (0, <0): -0.0 | (nonzero or inf, 0): nan
remainder    (inf, nonzero): nan | (pos, +inf): a | (pos, -inf): b | (neg, +inf): b | (neg, -inf): a | (nonzero, nonzero): a % b
subtract     (nan, any): nan | (any, nan): nan | (+inf, +inf): nan | (-inf, -inf): nan | (+inf, -inf): inf | (-inf, +inf): -inf
subtract     (+0, +0): 0.0 | (-0, -0): 0.0 | (-0, +0): -0.0 | (+0, -0): 0.0 | (finite, inf): -b | (inf, finite): a
"""

# What NumPy and IEEE 754 say, one of the results that the standard allows: the floor of the quotient.
FLOOR_OF_QUOTIENT = "(+inf, pos): inf | (+inf, neg): -inf | (-inf, pos): -inf | (-inf, neg): inf | (pos, -inf): -0.0 | (neg, +inf): -0.0"
FLOOR_OF_PYTHON = "(inf, nonzero): nan | (pos, -inf): -1.0 | (neg, +inf): -1.0"

# The real and the imaginary part of one operand.
COMPLEX = """
abs    (inf, any): inf, 0 | (any, inf): inf, 0 | (0, finite): abs(b), 0 | (finite, 0): abs(a), 0 | (nan, finite): nan, 0
abs    (finite, nan): nan, 0 | (nan, nan): nan, 0
acos   (0, +0): pi / 2, -0.0 | (0, nan): pi / 2, nan | (finite, +inf): pi / 2, -inf | (nonzero, nan): nan, nan | (-inf, pos): pi, -inf
acos   (+inf, pos): 0.0, -inf | (-inf, +inf): 3 * pi / 4, -inf | (+inf, +inf): pi / 4, -inf | (inf, nan): nan, ~inf
acos   (nan, finite): nan, nan | (nan, +inf): nan, -inf | (nan, nan): nan, nan
acosh  (0, +0): 0.0, pi / 2 | (finite, +inf): inf, pi / 2 | (nonzero, nan): nan, nan | (+0, nan): nan, ~pi / 2 | (-inf, pos): inf, pi
acosh  (+inf, pos): inf, 0.0 | (-inf, +inf): inf, 3 * pi / 4 | (+inf, +inf): inf, pi / 4 | (inf, nan): inf, nan
acosh  (nan, finite): nan, nan | (nan, +inf): inf, nan | (nan, nan): nan, nan
asinh  (+0, +0): 0.0, 0.0 | (pos, +inf): inf, pi / 2 | (finite, nan): nan, nan | (+inf, pos): inf, 0.0 | (+inf, +inf): inf, pi / 4
asinh  (nan, +0): nan, 0.0 | (nan, nonzero): nan, nan | (nan, +inf): ~inf, nan | (nan, nan): nan, nan
atanh  (+0, +0): 0.0, 0.0 | (+0, nan): 0.0, nan | (1, +0): inf, 0.0 | (pos, +inf): 0.0, pi / 2 | (nonzero, nan): nan, nan
atanh  (+inf, pos): 0.0, pi / 2 | (+inf, +inf): 0.0, pi / 2 | (+inf, nan): 0.0, nan | (nan, finite): nan, nan
atanh  (nan, +inf): ~0.0, pi / 2 | (nan, nan): nan, nan
cosh   (+0, +0): 1.0, 0.0 | (+0, +inf): nan, ~0.0 | (+0, nan): nan, ~0.0 | (nonzero, +inf): nan, nan | (nonzero, nan): nan, nan
cosh   (+inf, +0): inf, 0.0 | (+inf, nonzero): inf * cos(b), inf * sin(b) | (+inf, +inf): ~inf, nan | (+inf, nan): inf, nan
cosh   (nan, 0): nan, ~0.0 | (nan, nonzero): nan, nan | (nan, nan): nan, nan
exp    (0, +0): 1.0, 0.0 | (finite, +inf): nan, nan | (finite, nan): nan, nan | (+inf, +0): inf, 0.0
exp    (-inf, finite): 0.0 * cos(b), 0.0 * sin(b) | (+inf, nonzero): inf * cos(b), inf * sin(b) | (-inf, +inf): ~0.0, ~0.0
exp    (+inf, +inf): ~inf, nan | (-inf, nan): ~0.0, ~0.0 | (+inf, nan): ~inf, nan | (nan, +0): nan, 0.0 | (nan, nonzero): nan, nan
exp    (nan, nan): nan, nan
expm1  (0, +0): ~0.0, 0.0 | (finite, +inf): nan, nan | (finite, nan): nan, nan | (+inf, +0): inf, 0.0
expm1  (-inf, finite): -1.0, 0.0 * sin(b) | (+inf, nonzero): inf * cos(b), inf * sin(b) | (-inf, +inf): -1.0, ~0.0
expm1  (+inf, +inf): ~inf, nan | (-inf, nan): -1.0, ~0.0 | (+inf, nan): ~inf, nan | (nan, +0): nan, 0.0 | (nan, nonzero): nan, nan
expm1  (nan, nan): nan, nan
isfinite (nan, any): 0, 0 | (any, nan): 0, 0 | (inf, any): 0, 0 | (any, inf): 0, 0 | (finite, finite): 1, 0
isinf  (inf, any): 1, 0 | (any, inf): 1, 0 | (finite, finite): 0, 0 | (nan, finite): 0, 0 | (finite, nan): 0, 0 | (nan, nan): 0, 0
isnan  (nan, any): 1, 0 | (any, nan): 1, 0 | (number, number): 0, 0
log    (-0, +0): -inf, pi | (+0, +0): -inf, 0.0 | (finite, +inf): inf, pi / 2 | (finite, nan): nan, nan | (-inf, pos): inf, pi
log    (+inf, pos): inf, 0.0 | (-inf, +inf): inf, 3 * pi / 4 | (+inf, +inf): inf, pi / 4 | (inf, nan): inf, nan
log    (nan, finite): nan, nan | (nan, +inf): inf, nan | (nan, nan): nan, nan
log1p  (-1, +0): -inf, 0.0 | (finite, +inf): inf, pi / 2 | (finite, nan): nan, nan | (-inf, pos): inf, pi | (+inf, pos): inf, 0.0
log1p  (-inf, +inf): inf, 3 * pi / 4 | (+inf, +inf): inf, pi / 4 | (inf, nan): inf, nan | (nan, finite): nan, nan
log1p  (nan, +inf): inf, nan | (nan, nan): nan, nan
negative (any, any): -a, -b
round  (half, half): even(a), even(b) | (inf, 0): a, b | (0, nan): a, nan | (nan, inf): nan, b
sign   (0, 0): ~0.0, ~0.0 | (nan, any): nan, nan | (any, nan): nan, nan | (nonzero, 0): a / abs(a), ~0.0
sinh   (+0, +0): 0.0, 0.0 | (+0, +inf): ~0.0, nan | (+0, nan): ~0.0, nan | (pos, +inf): nan, nan | (pos, nan): nan, nan
sinh   (+inf, +0): inf, 0.0 | (+inf, pos): inf * cos(b), inf * sin(b) | (+inf, +inf): ~inf, nan | (+inf, nan): ~inf, nan
sinh   (nan, +0): nan, 0.0 | (nan, nonzero): nan, nan | (nan, nan): nan, nan
sqrt   (0, +0): 0.0, 0.0 | (any, +inf): inf, inf | (finite, nan): nan, nan | (-inf, pos): 0.0, inf | (+inf, pos): inf, 0.0
sqrt   (-inf, nan): nan, ~inf | (+inf, nan): inf, nan | (nan, finite): nan, nan | (nan, nan): nan, nan
tanh   (+0, +0): 0.0, 0.0 | (nonzero, +inf): nan, nan | (nonzero, nan): nan, nan | (+inf, pos): 1.0, ~0.0 | (+inf, +inf): 1.0, ~0.0
tanh   (+inf, nan): 1.0, ~0.0 | (nan, +0): nan, 0.0 | (nan, nonzero): nan, nan | (nan, nan): nan, nan
"""

# f(conj(x)) = conj(f(x)) for all, and where the standard says so f(-x) = -f(x) or f(x).
CONJUGATE = "acos acosh asinh atanh cosh exp expm1 log log1p log2 log10 sinh sqrt tanh asin atan cos sin tan".split()
ODD = "asinh atanh sinh tanh".split()
EVEN = ["cosh"]
# Defined as f(x) = -1j * g(1j * x), cos without the first factor.
BY_OTHERS = [("asin", "asinh"), ("atan", "atanh"), ("cos", "cosh"), ("sin", "sinh"), ("tan", "tanh")]


def rows(table: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Each case as function, words for the operands, and result."""
    found = []
    for line in table.strip().splitlines():
        name, cases = line.split(None, 1)
        for case in cases.split(" | "):
            operands, result = case.strip().split(": ", 1)
            words = tuple(w.strip() for w in operands.strip("()").split(", "))
            found.append((name, words, result))
    return found
