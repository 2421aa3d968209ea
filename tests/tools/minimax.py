#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Derives the polynomial coefficients of src/backend/common/math_*.h (Remez exchange).

Each row of CASES names a function, the interval, the powers of the polynomial and the weight of
the error. Coefficients are rounded to float32 (or float64) one at a time, the most
significant first; after each rounding the others are fitted again, so that the later ones
compensate for the rounding of the earlier ones. Run it to print C++ literals and the error reached.
"""
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 50


def remez(target, weight, powers, lo, hi, grid=4000, rounds=60):
    """Coefficients c minimising max |weight(x) * (target(x) - sum c_k x**powers[k])|."""
    n = len(powers)
    nodes = [mp.mpf(lo) + (mp.mpf(hi) - lo) * (1 - mp.cos(mp.pi * (i + mp.mpf(1) / 2) / grid)) / 2
             for i in range(grid)]
    values = [target(x) for x in nodes]
    weights = [weight(x) for x in nodes]
    xs = np.array(nodes, dtype=np.longdouble)
    fs = np.array([np.longdouble(mp.nstr(v, 25)) for v in values])
    ws = np.array([np.longdouble(mp.nstr(w, 25)) for w in weights])
    xs = np.array([np.longdouble(mp.nstr(x, 25)) for x in nodes])
    picks = [round(i * (grid - 1) / n) for i in range(n + 1)]  # the nodes are spaced by cosines
    best = None
    for _ in range(rounds):
        system = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for row, i in enumerate(picks):
            for col, power in enumerate(powers):
                system[row, col] = nodes[i] ** power
            system[row, n] = (-1) ** row / weights[i]
            right[row] = values[i]
        try:
            solution = mp.lu_solve(system, right)
        except ZeroDivisionError:  # the exchange has reached rounding noise: keep the best so far
            break
        coefficients = [solution[k] for k in range(n)]
        fit = sum(np.longdouble(mp.nstr(c, 25)) * xs ** p for c, p in zip(coefficients, powers))
        error = ws * (fs - fit)
        worst = float(np.max(np.abs(error)))
        if best is None or worst < best[0]:
            best = (worst, coefficients)
        extrema = alternating_extrema(error, n + 1)
        if extrema is None or extrema == picks:
            break
        picks = extrema
    return best[1], best[0]


def alternating_extrema(error, count):
    """Indices of `count` alternating extrema of the error with the largest one among them."""
    signs = np.sign(error)
    starts = [0] + [i for i in range(1, len(error)) if signs[i] != signs[i - 1]] + [len(error)]
    peaks = [s + int(np.argmax(np.abs(error[s:e]))) for s, e in zip(starts, starts[1:]) if e > s]
    if len(peaks) < count:
        return None
    while len(peaks) > count:
        drop_front = abs(error[peaks[0]]) < abs(error[peaks[-1]])
        peaks.pop(0 if drop_front else -1)
    return peaks


def rounded_fit(target, weight, powers, lo, hi, dtype):
    """Like remez, with the coefficients representable in dtype."""
    best, error = remez(target, weight, powers, lo, hi, grid=1200)
    together = [mp.mpf(float(dtype(float(c)))) for c in best]
    if lo < 0 and len(powers) > 9:
        # Powers without the constant are no Chebyshev system around zero: fitting them again works while
        # there is much to gain, and diverges otherwise.
        return [float(c) for c in together], error_of(together, target, weight, powers, lo, hi)
    fixed, remaining = {}, list(powers)
    while remaining:
        def rest(x):
            return target(x) - sum(c * x ** p for p, c in fixed.items())
        coefficients, error = remez(rest, weight, remaining, lo, hi, grid=1200)
        fixed[remaining[0]] = mp.mpf(float(dtype(float(coefficients[0]))))
        remaining.pop(0)
    again = [fixed[p] for p in powers]
    # Fitting again diverges where the fit is as good as the coefficients' last places.
    kept = min((again, together), key=lambda found: error_of(found, target, weight, powers, lo, hi))
    return [float(c) for c in kept], error_of(kept, target, weight, powers, lo, hi)


def error_of(coefficients, target, weight, powers, lo, hi, count=1500):
    """The largest weighted error at evenly spaced points."""
    worst = 0
    for i in range(count + 1):
        x = mp.mpf(lo) + (mp.mpf(hi) - lo) * i / count
        worst = max(worst, abs(weight(x) * (target(x) - sum(c * x ** p for c, p in zip(coefficients, powers)))))
    return float(worst)


LN2 = mp.log(2)
ONE = lambda x: mp.mpf(1)  # noqa: E731


def even_ratio(f, first, x2):
    """(f(x) - x) / x**first as a function of x**2, by series near zero."""
    x = mp.sqrt(x2) if x2 > 0 else mp.mpf(10) ** -9
    return (f(x) - x) / x ** first


def scaled_erfc(x):
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


TINY = mp.mpf(10) ** -10


def near(x):
    return x if abs(x) > TINY else TINY


SMALL_SQUARE = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * 1.001


def atanh_rest(z):
    s = mp.sqrt(near(abs(z)))
    return (2 * mp.atanh(s) - 2 * s) / s ** 3


def atanh_weight(z):
    s = mp.sqrt(near(abs(z)))
    return s ** 3 / (2 * mp.atanh(s))


def odd_weight(f):
    """Makes the error of P in f(x) = x + x**3 * P(x**2) relative to f."""
    return lambda z: near(abs(z)) ** mp.mpf(1.5) / f(mp.sqrt(near(abs(z))))


def erfcx_target(t):
    x = 4 * (1 + t) / (1 - t)
    return scaled_erfc(x) - mp.mpf(5) / 4


def erfcx_weight(t):
    return 1 / (erfcx_target(t) + mp.mpf(5) / 4)


def bessel_near(order):
    """e**-a I(a), of order 1 over a, for a = 4 (1 + t)."""
    def target(t):
        a = 4 * (1 + t)
        ratio = mp.besseli(order, a) / a ** order if a > TINY else mp.mpf(1) / (1 + order)
        return ratio * mp.exp(-a)
    return target


def bessel_far(order):
    """sqrt(a) e**-a I(a) for a = 16 / (1 + u)."""
    def target(u):
        if 1 + u < mp.mpf(10) ** -6:
            return 1 / mp.sqrt(2 * mp.pi) * (1 - (4 * order * order - 1) * (1 + u) / 128)
        a = 16 / (1 + u)
        return mp.besseli(order, a) * mp.exp(-a) * mp.sqrt(a)
    return target


def bessel_case(target, count, dtype=np.float64):
    return target, lambda x: 1 / target(x), list(range(count)), mp.mpf(-1), mp.mpf(1), dtype


def oscillating_near(order, second):
    """J(x) over x**2 - (its first zero)**2, or what Y(x) has beside 2 log(x) J(x) / pi (and -2 / (pi x)), both of order 1
    over x, for x**2 = 12.5 (1 + t)."""
    zero = mp.besseljzero(order, 1)

    def target(t):
        x = mp.sqrt(12.5 * max(1 + t, TINY ** 3))
        if not second and abs(x - zero) < TINY:
            x = zero + TINY
        value = mp.besselj(order, x)
        if second:
            pole = 1 / x if order == 1 else 0
            value = mp.bessely(order, x) - 2 / mp.pi * (mp.log(x) * value - pole)
        else:
            value /= x * x - zero * zero
        return value / x ** order
    return target


def oscillating_far(order, second):
    """P or x Q of Hankel's expansions (9.2.5 and 9.2.6), for x**2 = 50 / (1 + t)."""
    def target(t):
        if 1 + t < mp.mpf(10) ** -6:
            mu, rest = 4 * order * order, (1 + t) / 50
            first = 1 - (mu - 1) * (mu - 9) * rest / 128
            return (mu - 1) / 8 * (1 - (mu - 9) * (mu - 25) * rest / 384) if second else first
        x = mp.sqrt(50 / (1 + t))
        angle = x - (2 * order + 1) * mp.pi / 4
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        scale = mp.sqrt(mp.pi * x / 2)
        if second:
            return scale * x * (y * mp.cos(angle) - j * mp.sin(angle))
        return scale * (j * mp.cos(angle) + y * mp.sin(angle))
    return target


def gamma_middle(z):
    """log Γ(z) = (z - 1) (z - 2) P(z - 3/2)."""
    z = z + mp.mpf(3) / 2
    if abs(z - 1) < TINY:
        return mp.euler
    if abs(z - 2) < TINY:
        return 1 - mp.euler
    return mp.loggamma(z) / ((z - 1) * (z - 2))


DIGAMMA_ZERO = mp.findroot(mp.digamma, mp.mpf('1.4616'))


def digamma_middle(z):
    """ψ(z) = (z - its zero) P(z - 3/2)."""
    z = z + mp.mpf(3) / 2
    if abs(z - DIGAMMA_ZERO) < TINY:
        return mp.polygamma(1, DIGAMMA_ZERO)
    return mp.digamma(z) / (z - DIGAMMA_ZERO)


def erfinv_of(w):
    """erfinv(x) / x for w = -log(1 - x**2)."""
    if w < mp.mpf(10) ** -12:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def normal_tail_case(k, each, degree):
    """Φ(-a) e**(a**2 / 2) = P(a - center) on interval k of b = a + 1 in [1, 16), so many for each power of two."""
    low, high = (mp.mpf(2) ** (k // each) * (1 + mp.mpf(k % each + i) / each) - 1 for i in (0, 1))
    center = (low + high) / 2

    def target(d):
        a = center + d
        return mp.erfc(a / mp.sqrt(2)) * mp.exp(a * a / 2) / 2
    return target, lambda d: 1 / target(d), list(range(degree + 1)), low - center, high - center, np.float32


def erf_case(k):
    """erf(a) / a = P(a - 25 k / 64), so far from the center as the next one allows."""
    center, half = mp.mpf(25 * k) / 64, mp.mpf(25) / 128

    def target(d):
        a = center + d
        return mp.erf(a) / a if abs(a) > TINY else 2 / mp.sqrt(mp.pi)
    return target, lambda d: 1 / target(d), list(range(13)), -half, half, np.float64


def eighth(k):
    """Center, low and high end of interval k of a + 1 in [1, 16), eight for each power of two."""
    low, high = (mp.mpf(2) ** (k // 8) * (1 + mp.mpf(k % 8 + i) / 8) - 1 for i in (0, 1))
    return (low + high) / 2, low, high


def erfcx_case(k):
    """e**(a**2) erfc(a) = P(a - center) on interval k of eighth()."""
    center, low, high = eighth(k)

    def target(d):
        a = center + d
        return mp.erfc(a) * mp.exp(a * a)
    return target, lambda d: 1 / target(d), list(range(7)), low - center, high - center, np.float64


def erfcx_case_f64(k):
    """e**(a**2) erfc(a) = P(a - center) on interval k of a + 2 in [2, 32), four for each power of two; in the first one
    1 + a P(a), which is 1 at zero."""
    low, high = (mp.mpf(2) ** (k // 4 + 1) * (1 + mp.mpf(k % 4 + i) / 4) - 2 for i in (0, 1))
    center = (low + high) / 2

    def function(a):
        return mp.erfc(a) * mp.exp(a * a)
    if k == 0:
        return (lambda a: (function(near(a)) - 1) / near(a), lambda a: near(a) / function(near(a)), list(range(14)), low, high,
                np.float64)
    return (lambda d: function(center + d), lambda d: 1 / function(center + d), list(range(15)), low - center, high - center,
            np.float64)


def tanh_case(k):
    """tanh(a) = P(a - center) on interval k of eighth(); in the first one, which keeps the digits of small a, a P(a)."""
    center, low, high = eighth(k)
    if k == 0:
        return (lambda a: mp.tanh(near(a)) / near(a), lambda a: near(a) / mp.tanh(near(a)), list(range(5)), low, high, np.float32)
    return (lambda d: mp.tanh(center + d), lambda d: 1 / mp.tanh(center + d), list(range(6)), low - center, high - center,
            np.float32)


def log_table(log):
    """Reciprocals of numbers near the middles of intervals of [3/4, 3/2), sixteen for each power of two, and minus their
    logarithms, which are nearly float32: of the float32 near that of the middle the one for which that is closest.
    The two intervals beside 1 have the reciprocal 1."""
    rows = []
    for k in range(16):
        low, high = ((1 + mp.mpf(k + i) / 16) / (1 if k < 8 else 2) for i in (0, 1))
        if k in (0, 15):
            rows.append((np.float32(1), np.float32(0)))
            continue
        middle = np.float32(2 / (low + high))
        near_middle = (np.arange(-2000, 2001) + int(middle.view(np.int32))).astype(np.int32).view(np.float32)

        def lost(number):
            exact = -log(mp.mpf(float(number)))
            return abs(exact - mp.mpf(float(np.float32(exact)))) / abs(exact)
        best = min(near_middle, key=lost)
        rows.append((best, np.float32(-log(mp.mpf(float(best))))))
    return rows


def log_table_f64(power):
    """The same in float64, where the logarithm is a multiple of 2**-42 and power() of it minus the reciprocal is below
    2**-63 of it."""
    rows = []
    for k in range(16):
        low, high = ((1 + mp.mpf(k + i) / 16) / (1 if k < 8 else 2) for i in (0, 1))
        if k in (0, 15):
            rows.append((1.0, 0.0))
            continue
        unit = mp.mpf(2) ** -42
        multiple = mp.nint(mp.log((low + high) / 2) / mp.log(power(1)) / unit) * unit
        while True:
            exact = power(-multiple)
            if abs(mp.mpf(float(exact)) - exact) < exact * mp.mpf(2) ** -63:
                break
            multiple += unit
        rows.append((float(exact), float(multiple)))
    return rows


CASES = {
    # name: (target, weight, powers, low, high, dtype)
    # e**r = 1 + r + r**2 * P(r)
    'exp': (lambda r: (mp.exp(near(r)) - 1 - near(r)) / near(r) ** 2,
            lambda r: r * r / mp.exp(r), [0, 1, 2, 3, 4], -LN2 / 2 * 1.002, LN2 / 2 * 1.002, np.float32),
    # expm1(r) = r + r**2 * P(r), relative to expm1
    'expm1': (lambda r: (mp.exp(near(r)) - 1 - near(r)) / near(r) ** 2,
              lambda r: near(r) ** 2 / mp.expm1(near(r)), [0, 1, 2, 3, 4, 5],
              -LN2 / 2 * 1.002, LN2 / 2 * 1.002, np.float32),
    # 2**r = 1 + r * P(r)
    'exp2': (lambda r: (mp.mpf(2) ** near(r) - 1) / near(r), lambda r: r, [0, 1, 2, 3, 4, 5],
             mp.mpf(-0.5), mp.mpf(0.5), np.float32),
    # log(1 + f) = f - f**2 / 2 + f**3 * P(f)
    'log': (lambda f: (mp.log1p(near(f)) - near(f) + near(f) ** 2 / 2) / near(f) ** 3,
            lambda f: near(f) ** 3 / mp.log1p(near(f)), [0, 1, 2, 3, 4, 5, 6, 7, 8],
            mp.sqrt(mp.mpf(0.5)) - 1, mp.sqrt(2) - 1, np.float32),
    # log(1 + r) = r + r**2 P(r), where tables (log_table()) leave so little
    'log_near': (lambda r: (mp.log1p(near(r)) - near(r)) / near(r) ** 2, lambda r: near(r) ** 2 / mp.log1p(near(r)),
                 [0, 1, 2, 3, 4], mp.mpf(-1) / 32, mp.mpf(1) / 16, np.float32),
    # erf(x) = x + x * P(x**2), |x| < 0.9375
    'erf_small': (lambda z: mp.erf(mp.sqrt(near(abs(z)))) / mp.sqrt(near(abs(z))) - 1,
                  lambda z: mp.sqrt(near(abs(z))) / mp.erf(mp.sqrt(near(abs(z)))),
                  [0, 1, 2, 3, 4, 5, 6], mp.mpf(0), mp.mpf(0.9375) ** 2, np.float32),
    # log(erfc(x)) = x * P(x) for 0.9375 <= x <= 4: erf = 1 - exp(..)
    'erf_large': (lambda x: mp.log(mp.erfc(x)) / x, lambda x: x * mp.erfc(x) / mp.erf(x),
                  [0, 1, 2, 3, 4, 5, 6], mp.mpf(0.92), mp.mpf(4), np.float32),
    # (1 + 2 x) * exp(x**2) * erfc(x) = P(q), q = (x - 2) / (x + 2), 0 <= x <= 10.25; double
    'erfc_wide': (lambda q: scaled_erfc(2 * (1 + q) / (1 - q)),
                  lambda q: 1 / scaled_erfc(2 * (1 + q) / (1 - q)), list(range(12)), mp.mpf(-1),
                 mp.mpf('0.675'), np.float64),
    # sin(x) = x + x**3 * P(x**2)
    'sin': (lambda z: even_ratio(mp.sin, 3, near(abs(z))),
            lambda z: near(abs(z)) ** mp.mpf(1.5) / mp.sin(mp.sqrt(near(abs(z)))),
            [0, 1, 2, 3], mp.mpf(0), (mp.pi / 4 * 1.01) ** 2, np.float32),
    # cos(x) = 1 - x**2 / 2 + x**4 * P(x**2)
    'cos': (lambda z: (mp.cos(mp.sqrt(near(abs(z)))) - 1 + near(abs(z)) / 2) / near(abs(z)) ** 2,
            lambda z: z * z, [0, 1, 2, 3], mp.mpf(0), (mp.pi / 4 * 1.01) ** 2, np.float32),
    # tan(x) = x / P(x**2), |x| <= pi / 4; double
    'tan': (lambda z: mp.sqrt(near(abs(z))) / mp.tan(mp.sqrt(near(abs(z)))),
            lambda z: mp.tan(mp.sqrt(near(abs(z)))) / mp.sqrt(near(abs(z))), list(range(6)),
            mp.mpf(0), (mp.pi / 4 * 1.002) ** 2, np.float64),
    # the same for float32 as 1 + x**2 P(x**2)
    'tan_f32': (lambda z: (mp.sqrt(near(abs(z))) / mp.tan(mp.sqrt(near(abs(z)))) - 1) / near(abs(z)),
                lambda z: z * mp.tan(mp.sqrt(near(abs(z)))) / mp.sqrt(near(abs(z))), list(range(4)),
                mp.mpf(0), (mp.pi / 4 * 1.002) ** 2, np.float32),
    # asin(x) = x + x**3 * P(x**2), |x| <= 0.5
    'asin': (lambda z: even_ratio(mp.asin, 3, near(abs(z))),
             lambda z: near(abs(z)) ** mp.mpf(1.5) / mp.asin(mp.sqrt(near(abs(z)))),
             [0, 1, 2, 3, 4], mp.mpf(0), mp.mpf(0.25), np.float32),
    # atan(x) = x + x**3 * P(x**2), |x| <= 1
    'atan': (lambda z: even_ratio(mp.atan, 3, near(abs(z))),
             lambda z: near(abs(z)) ** mp.mpf(1.5) / mp.atan(mp.sqrt(near(abs(z)))),
             list(range(9)), mp.mpf(0), mp.mpf(1), np.float32),
    # sinh(x) = x + x**3 * P(x**2), |x| <= 1
    'sinh': (lambda z: even_ratio(mp.sinh, 3, near(abs(z))),
             lambda z: near(abs(z)) ** mp.mpf(1.5) / mp.sinh(mp.sqrt(near(abs(z)))),
             [0, 1, 2, 3], mp.mpf(0), mp.mpf(1.01), np.float32),
    # tanh(x) = x + x**3 * P(x**2), |x| <= 0.625
    'atanh': (lambda z: even_ratio(mp.atanh, 3, near(abs(z))), odd_weight(mp.atanh), [0, 1, 2, 3, 4, 5],
              mp.mpf(0), mp.mpf(0.25), np.float32),
    'tanh': (lambda z: even_ratio(mp.tanh, 3, near(abs(z))),
             lambda z: near(abs(z)) ** mp.mpf(1.5) / mp.tanh(mp.sqrt(near(abs(z)))),
             [0, 1, 2, 3, 4], mp.mpf(0), mp.mpf(0.625) ** 2, np.float32),
    # log2(m) = s * P(s**2) with s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)]; double
    'log2_f64': (lambda z: 2 * mp.atanh(mp.sqrt(near(abs(z)))) / mp.sqrt(near(abs(z))) / LN2,
                 ONE, [0, 1, 2, 3, 4, 5], mp.mpf(0), ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * 1.001,
                 np.float64),
    # ---- float64 ----
    # expm1(r) = r + r**2 * P(r), relative to expm1; e**r = 1 + expm1(r) takes it too
    'expm1_f64': (lambda r: (mp.exp(near(r)) - 1 - near(r)) / near(r) ** 2,
                  lambda r: abs(near(r) ** 2 / mp.expm1(near(r))), list(range(11)),
                  -LN2 / 2 * 1.002, LN2 / 2 * 1.002, np.float64),
    # the same for |r| <= ln 2 / 32
    'expm1_short_f64': (lambda r: (mp.exp(near(r)) - 1 - near(r)) / near(r) ** 2,
                        lambda r: near(r) ** 2 / mp.exp(near(r)), list(range(5)),
                        -LN2 / 32 * 1.002, LN2 / 32 * 1.002, np.float64),
    # 2 atanh(s) = 2 s + s**3 * P(s**2), (1 + s) / (1 - s) in [sqrt(1/2), sqrt(2)]
    'log_f64': (atanh_rest, atanh_weight, [0, 1, 2, 3, 4, 5, 6], mp.mpf(0), SMALL_SQUARE, np.float64),
    # as 'log_near'
    'log_near_f64': (lambda r: (mp.log1p(near(r)) - near(r)) / near(r) ** 2, lambda r: near(r) ** 2 / mp.log1p(near(r)),
                     list(range(10)), mp.mpf(-1) / 32, mp.mpf(1) / 16, np.float64),
    # the same after two terms: 2 atanh(s) = 2 s + 2/3 s**3 + 2/5 s**5 + s**7 * P(s**2)
    'log_wide_f64': (lambda z: ((atanh_rest(z) - mp.mpf(2) / 3) / near(abs(z)) - mp.mpf(2) / 5) / near(abs(z)),
                     lambda z: near(abs(z)) ** 2 * atanh_weight(z), [0, 1, 2, 3, 4, 5, 6],
                     mp.mpf(0), SMALL_SQUARE, np.float64),
    # as 'sin', 'cos', 'asin', 'sinh' and 'tanh'
    'sin_f64': (lambda z: even_ratio(mp.sin, 3, near(abs(z))), odd_weight(mp.sin), list(range(6)),
                mp.mpf(0), (mp.pi / 4 * 1.002) ** 2, np.float64),
    'cos_f64': (lambda z: (mp.cos(mp.sqrt(near(abs(z)))) - 1 + near(abs(z)) / 2) / near(abs(z)) ** 2,
                lambda z: z * z, list(range(6)), mp.mpf(0), (mp.pi / 4 * 1.002) ** 2, np.float64),
    'tan_f64': (lambda z: even_ratio(mp.tan, 3, near(abs(z))), odd_weight(mp.tan), list(range(14)),
                mp.mpf(0), (mp.pi / 4 * 1.002) ** 2, np.float64),
    'asin_f64': (lambda z: even_ratio(mp.asin, 3, near(abs(z))), odd_weight(mp.asin), list(range(13)),
                 mp.mpf(0), mp.mpf(0.25), np.float64),
    'sinh_f64': (lambda z: even_ratio(mp.sinh, 3, near(abs(z))), odd_weight(mp.sinh), list(range(7)),
                 mp.mpf(0), mp.mpf(1.002), np.float64),
    'tanh_f64': (lambda z: even_ratio(mp.tanh, 3, near(abs(z))), odd_weight(mp.tanh), list(range(12)),
                 mp.mpf(0), mp.mpf(0.625) ** 2, np.float64),
    # atan(x) = x + x**3 * P(x**2), |x| <= 1
    'atan_f64': (lambda z: even_ratio(mp.atan, 3, near(abs(z))), odd_weight(mp.atan), list(range(20)),
                 mp.mpf(0), mp.mpf(1), np.float64),
    # erf(x) = x + x * P(x**2), |x| <= 1
    'erf_f64': (lambda z: mp.erf(mp.sqrt(near(abs(z)))) / mp.sqrt(near(abs(z))) - 1,
                lambda z: mp.sqrt(near(abs(z))) / mp.erf(mp.sqrt(near(abs(z)))), list(range(13)),
                mp.mpf(0), mp.mpf(1), np.float64),
    # e**(x**2) erfc(x) (1 + 2 x) = 5/4 + P((x - 4) / (x + 4)), as far as erfc is not zero
    'erfcx_f64': (erfcx_target, erfcx_weight, list(range(25)), mp.mpf(-1), 1 - 8 / mp.mpf(31.4), np.float64),
    # ---- for float32, computed in float64 ----
    'i0_near': bessel_case(bessel_near(0), 19),
    'i0_far': bessel_case(bessel_far(0), 11),
    'i1_near': bessel_case(bessel_near(1), 19),
    'i1_far': bessel_case(bessel_far(1), 11),
    'digamma': (digamma_middle, lambda z: 1 / digamma_middle(z), list(range(24)), mp.mpf(-0.5), mp.mpf(0.5), np.float64),
    # e**r, and 2 atanh(s) = 2 s P(s**2) for s up to 1/3, to nine digits (softplus_short)
    'exp_short': (mp.exp, lambda r: mp.exp(-r), list(range(8)), -LN2 / 2 * 1.002, LN2 / 2 * 1.002, np.float64),
    'atanh_short': (lambda z: mp.atanh(mp.sqrt(near(abs(z)))) / mp.sqrt(near(abs(z))), ONE, list(range(6)),
                    mp.mpf(0), mp.mpf(1) / 9, np.float64),
    # erfinv(x) = x P(w - 5/2) for w = -log(1 - x**2) < 5, else x P(sqrt(w) - 3)
    'erfinv_center': (lambda w: erfinv_of(w + mp.mpf(2.5)), lambda w: 1 / erfinv_of(w + mp.mpf(2.5)), list(range(12)),
                      mp.mpf(-2.5), mp.mpf(2.5), np.float64),
    'erfinv_tail': (lambda s: erfinv_of((s + 3) ** 2), lambda s: 1 / erfinv_of((s + 3) ** 2), list(range(11)),
                    mp.mpf(-0.77), mp.mpf(1), np.float64),
    # the same for float32 alone, the first as x P(w)
    'erfinv_center_f32': (erfinv_of, lambda w: 1 / erfinv_of(w), list(range(11)), mp.mpf(0), mp.mpf(5), np.float32),
    'erfinv_tail_f32': (lambda s: erfinv_of((s + 3) ** 2), lambda s: 1 / erfinv_of((s + 3) ** 2), list(range(10)),
                        mp.mpf(-0.77), mp.mpf(1.1), np.float32),
    **{f'normal_tail_{k}': normal_tail_case(k, 8, 4) for k in range(32)},
    **{f'normal_tail_wide_{k}': normal_tail_case(k, 2, 7) for k in range(8)},
    **{f'erfcx_{k}': erfcx_case(k) for k in range(32)},
    **{f'tanh_{k}': tanh_case(k) for k in range(27)},
    # ---- float64 ----
    **{f'{name}{order}_{part}': (of(order, second), ONE, list(range(count)), mp.mpf(-1), mp.mpf(1), np.float64)
       for order in (0, 1)
       for name, part, of, second, count in (('y', 'near', oscillating_near, True, 14),
                                             ('p', 'far', oscillating_far, False, 17), ('q', 'far', oscillating_far, True, 17))},
    'j0_near': bessel_case(oscillating_near(0, False), 14),
    'j1_near': bessel_case(oscillating_near(1, False), 12),
    'lgamma': (gamma_middle, lambda z: 1 / gamma_middle(z), list(range(20)), mp.mpf(-0.5), mp.mpf(0.5), np.float64),
    # erfinv(x) = x + x P(w) for w = -log(1 - x**2) < 5.5
    'erfinv_center_f64': (lambda w: erfinv_of(w) - 1, lambda w: 1 / erfinv_of(w), list(range(23)), mp.mpf(0), mp.mpf(5.5), np.float64),
    'i0_far_f64': bessel_case(bessel_far(0), 25),
    'i1_far_f64': bessel_case(bessel_far(1), 25),
    **{f'erf_{k}_f64': erf_case(k) for k in range(16)},
    **{f'erfcx_{k}_f64': erfcx_case_f64(k) for k in range(16)},
}


TABLES = {
    'log_table': lambda: log_table(mp.log),
    'log2_table': lambda: log_table(lambda x: mp.log(x, 2)),
    'log10_table': lambda: log_table(mp.log10),
    'log_table_f64': lambda: log_table_f64(mp.exp),
    'log2_table_f64': lambda: log_table_f64(lambda x: mp.mpf(2) ** x),
    'log10_table_f64': lambda: log_table_f64(lambda x: mp.mpf(10) ** x),
}


def main():
    names = sys.argv[1:] or [*CASES, *TABLES]
    for name in names:
        if name in TABLES:
            print(name)
            for column in zip(*TABLES[name]()):
                wide = name.endswith('_f64')
                print('  ' + ', '.join(f'{number:.17g}' if wide else f'{number:.9g}f' for number in column))
            continue
        target, weight, powers, lo, hi, dtype = CASES[name]
        coefficients, error = rounded_fit(target, weight, powers, lo, hi, dtype)
        digits = 9 if dtype is np.float32 else 17
        print(f'{name}: error {error:.3g} = 2**{np.log2(error):.2f}')
        for power, c in zip(powers, coefficients):
            print(f'  x**{power}: {c:.{digits}g}{"f" if digits == 9 else ""}')


if __name__ == '__main__':
    main()
