# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of Fourier transforms; references are NumPy's, and sums of windows for the short-time ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, BOOL, COMPLEX, Make, Row, sample

import tessera as ts

REAL_INPUTS = (*ALL_FLOATS, "int32", "uint8", *BOOL)
SUMS = {d: (2e-5, 2e-4) for d in ("float16", "bfloat16", "float32", "complex64", "int32", "uint8", "bool")}
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed", "expanded")


def to_complex(dtype: str) -> str:
    return "complex128" if dtype in ("float64", "complex128") else "complex64"


def to_real(dtype: str) -> str:
    return "float64" if dtype in ("float64", "complex128") else "float32"


def one_axis(make: Make) -> list[Any]:
    return [sample(make(3, 8)), sample(make(2, 3, 5), axis=0), sample(make(4, 5), 7), sample(make(4, 6), 3, 0, "ortho"),
            sample(make(7), norm="forward"), sample(make(0, 4)), sample(make(2, 37)), sample(make(9, 12), axis=-2)]  # fmt: skip


def halves(make: Make) -> list[Any]:
    return [sample(make(3, 5)), sample(make(2, 3, 4), 5, axis=0), sample(make(4, 5), 7), sample(make(4, 6), 3, 0, "ortho"),
            sample(make(7), norm="forward"), sample(make(0, 4)), sample(make(2, 9), 1)]  # fmt: skip


def many_axes(make: Make) -> list[Any]:
    return [sample(make(3, 4)), sample(make(2, 3, 5), axes=(0, 2)), sample(make(2, 4, 3), (3, 5)),
            sample(make(2, 4, 3), (2, 6), (2, 0), "ortho"), sample(make(3, 2), norm="forward"), sample(make(0, 4), axes=(1,))]  # fmt: skip


def two_axes(make: Make) -> list[Any]:
    return [sample(make(3, 4)), sample(make(2, 3, 5)), sample(make(2, 4, 3), (3, 5), norm="ortho"),
            sample(make(2, 4, 3), axes=(2, 0), norm="forward")]  # fmt: skip


def small(samples: Callable[[Make], list[Any]]) -> Callable[[Make], list[Any]]:
    return lambda make: [s for s in samples(make) if 0 < s.args[0].size <= 30]


HALF_WITHOUT_NUMBERS = [(ValueError, lambda: ts.fft.irfft(ts.ones(1))), (ValueError, lambda: ts.fft.hfft(ts.ones(2), 0))]
REFUSALS = [
    (ValueError, lambda: ts.fft.fft(ts.ones(2), 0)), (ValueError, lambda: ts.fft.fft(ts.ones(0))),
    (ValueError, lambda: ts.fft.fft(ts.ones(2), norm="both")), (ValueError, lambda: ts.fft.fft(ts.asarray(1.0))),
    (IndexError, lambda: ts.fft.fft(ts.ones(2), axis=1)),
]  # fmt: skip
LISTS = [
    (ValueError, lambda: ts.fft.fftn(ts.ones(2, 2), (2,), (0, 1))), (ValueError, lambda: ts.fft.fftn(ts.ones(2, 2), axes=(0, 0))),
    (ValueError, lambda: ts.fft.rfftn(ts.ones(2, 2), axes=())), (ValueError, lambda: ts.fft.fft2(ts.ones(2, 2), axes=(0,))),
    (ValueError, lambda: ts.fft.fftn(ts.ones(2), (1, 1))),
]  # fmt: skip


def rows(name: str, samples: Callable[[Make], list[Any]], **options: Any) -> list[Row]:
    """A row of derivatives towards real inputs, and one towards complex inputs where the op takes them."""
    real_input = name.lstrip("i").startswith("r") and not name.startswith("ir") or name == "ihfft"
    real_result = name.startswith("ir") or name == "hfft"
    common: dict[str, Any] = {
        "call": getattr(ts.fft, name), "schema": f"fft_{name}", "tolerance": SUMS, "layouts": LAYOUTS,
        "result": to_real if real_result else to_complex, "grad_samples": small(samples),
    }  # fmt: skip
    reference = getattr(np.fft, name)
    first = Row(name, reference, samples, dtypes=REAL_INPUTS if real_input else (*REAL_INPUTS, *COMPLEX), **{**common, **options})
    if real_input:
        return [first]
    second = Row(f"{name}_complex", reference, samples, dtypes=COMPLEX, grad_dtype="complex128", **common)
    return [first, second]


# ---- Short-time transforms ----


def np_stft(x: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, *, window: Any = None,
            center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None) -> Any:  # fmt: skip
    hop, length = hop_length or n_fft // 4, win_length or n_fft
    before = (n_fft - length) // 2
    full = np.zeros(n_fft)
    full[before : before + length] = 1 if window is None else window
    rows = np.atleast_2d(x)
    if center:
        rows = np.pad(rows, ((0, 0), (n_fft // 2, n_fft // 2)), pad_mode)  # type: ignore[call-overload]
    starts = range(0, rows.shape[1] - n_fft + 1, hop)
    parts = np.stack([rows[:, s : s + n_fft] * full for s in starts], axis=1)
    half = not np.iscomplexobj(x) if onesided is None else onesided
    spectrum = (np.fft.rfft if half else np.fft.fft)(parts, norm="ortho" if normalized else None)
    turned = np.swapaxes(spectrum, 1, 2)
    return turned[0] if x.ndim == 1 else turned


def signals(make: Make) -> list[Any]:
    window = np.hanning(6) + 0.125 if make.dtype in COMPLEX else make(6, low=0.5, high=1)
    return [sample(make(16), 8), sample(make(2, 13), 6, 2, window=window), sample(make(12), 8, 3, 6, window=window, center=False),
            sample(make(2, 9), 4, 2, pad_mode="constant", normalized=True), sample(make(9), 4, 1, onesided=False)]  # fmt: skip


def there_and_back(x: Any, n_fft: int, hop_length: int, window: Any = None, **options: Any) -> Any:
    spectrum = ts.stft(x, n_fft, hop_length, window=window, **options)
    return ts.istft(spectrum * 2, n_fft, hop_length, window=window, length=x.shape[-1], **options)


def returning(make: Make) -> list[Any]:
    return [sample(make(16), 8, 2), sample(make(2, 12), 6, 3, make(6, low=0.5, high=1)), sample(make(9), 4, 2, normalized=True),
            sample(make(2, 11), 5, 2, onesided=False)]  # fmt: skip


STFT = [
    Row("stft", np_stft, signals, dtypes=("float32", "float64"), result=to_complex, tolerance=SUMS,
        errors=[(ValueError, lambda: ts.stft(ts.ones(8), 0)), (ValueError, lambda: ts.stft(ts.ones(2, 2, 8), 4)),
                (ValueError, lambda: ts.stft(ts.ones(8), 4, win_length=5)), (ValueError, lambda: ts.stft(ts.ones(8), 4, 0)),
                (ValueError, lambda: ts.stft(ts.ones(8), 4, window=ts.ones(3))), (TypeError, lambda: ts.stft(ts.arange(8), 4)),
                (ValueError, lambda: ts.stft(ts.ones(8, dtype=ts.complex64), 4, onesided=True))]),
    Row("stft_complex", np_stft, lambda m: [sample(m(16), 8), sample(m(2, 9), 4, 2, pad_mode="constant")], call=ts.stft,
        schema="none", dtypes=COMPLEX, result=to_complex, tolerance=SUMS, grad_dtype="complex128"),
    Row("istft", lambda x, *rest, **options: 2 * x, returning, call=there_and_back, schema="none",
        dtypes=("float32", "float64"), tolerance=SUMS,
        errors=[(ValueError, lambda: ts.istft(ts.ones((5, 2), dtype=ts.complex64), 4)), (TypeError, lambda: ts.istft(ts.ones(3, 2), 4)),
                (ValueError, lambda: ts.istft(ts.ones((3, 2), dtype=ts.complex64), 4, window=ts.zeros(4))),
                (ValueError, lambda: ts.istft(ts.ones((3, 2), dtype=ts.complex64), 4, return_complex=True))]),
]  # fmt: skip

ROWS = [
    *rows("fft", one_axis, errors=REFUSALS),
    *rows("ifft", one_axis),
    *rows("rfft", one_axis, errors=[(TypeError, lambda: ts.fft.rfft(ts.ones(2, dtype=ts.complex64)))]),
    *rows("irfft", halves, errors=HALF_WITHOUT_NUMBERS),
    *rows("hfft", halves),
    *rows("ihfft", one_axis),
    *rows("fftn", many_axes, errors=LISTS),
    *rows("ifftn", many_axes),
    *rows("rfftn", many_axes),
    *rows("irfftn", many_axes),
    *rows("fft2", two_axes),
    *rows("ifft2", two_axes),
    *rows("rfft2", two_axes),
    *rows("irfft2", two_axes),
    Row("fftshift", np.fft.fftshift, lambda m: [sample(m(5)), sample(m(3, 4)), sample(m(3, 4), 0), sample(m(2, 0, 3))],
        call=ts.fft.fftshift, schema="fft_fftshift", dtypes=(*REAL_INPUTS, *COMPLEX)),
    Row("ifftshift", np.fft.ifftshift, lambda m: [sample(m(5)), sample(m(3, 4)), sample(m(3, 5), (1,)), sample(m(2, 0, 3))],
        call=ts.fft.ifftshift, schema="fft_ifftshift", dtypes=(*REAL_INPUTS, *COMPLEX)),
    *STFT,
]  # fmt: skip
