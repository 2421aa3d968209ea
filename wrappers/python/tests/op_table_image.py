# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of ops on images: shuffles, windows as columns, other sizes, grids. The reference is PyTorch."""

from __future__ import annotations

from typing import Any

from op_engine import ALL, ALL_FLOATS, Make, Row, Sample, find, sample
from op_table_nn import ONE, ROUNDED, STRIDED, by_torch

KNOWN = tuple(d for d in ALL if d not in ("uint16", "uint32", "uint64"))  # to PyTorch 1.13

# ---- shuffles, columns ----


def pair(value: Any) -> Any:
    """A list of one number as the number, which PyTorch wants."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def columns(name: str) -> Any:
    return by_torch(lambda F, x, *sizes, **options: getattr(F, name)(
        x, *map(pair, sizes), **{k: pair(v) for k, v in options.items()}))  # fmt: skip


def unfolded(make: Make) -> list[Sample]:
    return [
        sample(make(2, 2, 4, 5), [2, 3]),
        sample(make(1, 1, 5, 4), [2], dilation=[2], padding=[1, 0], stride=[2, 1]),
        sample(make(3, 3, 3), [3]),
    ]


def folded(make: Make) -> list[Sample]:
    return [
        sample(make(2, 4, 6), [3, 4], [2]),
        sample(make(1, 4, 4), [4, 3], [2], padding=[0, 1], stride=[2]),
        sample(make(9, 1), [3], [3]),
    ]


SHUFFLED: dict[str, Any] = {"dtypes": KNOWN, "layouts": STRIDED}
ROWS = [
    Row("pixel_shuffle", by_torch("pixel_shuffle"), lambda m: [sample(m(2, 8, 2, 3), 2), sample(m(9, 1, 2), 3), sample(m(0, 4, 1, 1), 2)],
        errors=[(ValueError, lambda: find("pixel_shuffle")(ONE(3, 2, 2), 2))], **SHUFFLED),
    Row("pixel_unshuffle", by_torch("pixel_unshuffle"), lambda m: [sample(m(2, 1, 4, 6), 2), sample(m(2, 3, 3), 3)],
        errors=[(ValueError, lambda: find("pixel_unshuffle")(ONE(1, 3, 4), 2))], **SHUFFLED),
    Row("channel_shuffle", by_torch("channel_shuffle"), lambda m: [sample(m(2, 6, 2, 2), 3), sample(m(1, 4, 3), 2), sample(m(1, 4, 3), 1)],
        errors=[(ValueError, lambda: find("channel_shuffle")(ONE(1, 3, 4), 2))],
        **{**SHUFFLED, "dtypes": tuple(d for d in KNOWN if d not in ("float16", "bfloat16"))}),
    Row("im2col", columns("unfold"), unfolded, dtypes=ALL_FLOATS, layouts=STRIDED,
        errors=[(ValueError, lambda: find("im2col")(ONE(1, 2, 2), [3]))]),
    Row("col2im", columns("fold"), folded, dtypes=ALL_FLOATS, layouts=STRIDED, tolerance=ROUNDED,
        errors=[(ValueError, lambda: find("col2im")(ONE(4, 3), [2], [2]))]),
]  # fmt: skip


# ---- other sizes ----


def interpolated(F: Any, x: Any, factors: Any, size: Any = None, **options: Any) -> Any:
    recompute = options.pop("recompute_scale_factor", None)
    size = None if size is None else size[0] if len(size) == 1 else tuple(size)
    factors = None if len(factors) == 0 else factors[0] if len(factors) == 1 else tuple(factors)
    return F.interpolate(x, size, factors, recompute_scale_factor=recompute, **options)


def sizes(make: Make) -> list[Sample]:
    line, image, block = make(2, 2, 5), make(1, 2, 4, 5), make(1, 1, 2, 3, 4)
    found = [
        sample(line, [2.0]),
        sample(line, [0.5], mode="nearest-exact"),
        sample(line, [], size=[8], mode="nearest"),
        sample(line, [], size=[3], mode="area"),
        sample(line, [1.7], mode="linear"),
        sample(line, [1.7], mode="linear", recompute_scale_factor=True),
        sample(line, [], size=[1], mode="linear", align_corners=True),
        sample(image, [2.0, 0.5], mode="nearest"),
        sample(image, [], size=[3, 9], mode="nearest-exact"),
        sample(image, [], size=[7, 2], mode="area"),
        sample(image, [2.0], mode="bilinear"),
        sample(image, [], size=[3, 8], mode="bilinear", align_corners=True),
        sample(image, [0.6, 2.3], mode="bicubic"),
        sample(image, [], size=[8, 3], mode="bicubic", align_corners=True),
        sample(image, [], size=[4, 5], mode="bilinear"),
        sample(make(1, 1, 3, 2), [2.0], mode="bicubic"),
        sample(block, [2.0], mode="trilinear"),
        sample(block, [], size=[3, 2, 6], mode="trilinear", align_corners=True),
        sample(block, [], size=[1, 2, 3], mode="area"),
        sample(block, [1.5], mode="nearest"),
    ]
    if make.dtype not in ("float16", "bfloat16"):  # also the layout's rows and planes
        found += [sample(make(2, 3, 70, 40), [], size=[35, 90], mode="bilinear"), sample(make(40, 3, 1, 1), [3.0], mode="bilinear")]
    return found


def antialiased(make: Make) -> list[Sample]:
    image = make(1, 2, 9, 7)
    return [
        sample(image, [], size=[4, 3], mode="bilinear", antialias=True),
        sample(image, [], size=[2, 10], mode="bicubic", antialias=True),
        sample(image, [0.3], mode="bilinear", antialias=True),
        sample(image, [], size=[4, 3], mode="bilinear", antialias=True, align_corners=True),
    ]


def few_sizes(make: Make) -> list[Sample]:
    return [s for s in sizes(make) if s.args[0].size < 100] + antialiased(make)[:2]


RESIZED: dict[str, Any] = {"tolerance": {"float32": (1e-5, 1e-5), "float16": (2e-3, 2e-3), "bfloat16": (1.6e-2, 1e-2)}}
ROWS += [
    Row("interpolate", by_torch(interpolated), lambda m: sizes(m) + antialiased(m), dtypes=ALL_FLOATS, grad_samples=few_sizes,
        errors=[(ValueError, lambda: find("interpolate")(ONE(1, 1, 2), [2.0], mode="bilinear")),
                (ValueError, lambda: find("interpolate")(ONE(1, 1, 2), []))], layouts=STRIDED, **RESIZED),
]  # fmt: skip


# ---- grids ----


def sampled(make: Make) -> list[Sample]:
    image, block = make(2, 2, 4, 3), make(1, 2, 3, 2, 4)
    grid, far, space = (make(*s, low=-w, high=w) for s, w in (((2, 3, 2, 2), 0.9), ((2, 3, 2, 2), 2.9), ((1, 2, 2, 2, 3), 1.6)))
    found = []
    for corners in (False, True):
        for padding in ("zeros", "border", "reflection"):
            o = {"padding_mode": padding, "align_corners": corners}
            found += [sample(image, far, mode=mode, **o) for mode in ("bilinear", "bicubic", "nearest")]
            found += [sample(block, space, mode=mode, **o) for mode in ("bilinear", "nearest")]
    return [*found, sample(image, grid), sample(make(1, 0, 2, 2), make(1, 1, 1, 2)), sample(make(1, 1, 2, 2), make(1, 0, 1, 2))]


def smooth(make: Make) -> list[Sample]:
    """Where the derivatives exist: inside of the elements' cells."""
    image, block = make(1, 2, 4, 3), make(1, 1, 3, 2, 4)
    grid = make(1, 2, 2, 2, low=-0.2, high=0.2) * 0.3 + 0.4
    space = make(1, 1, 2, 1, 3, low=-0.2, high=0.2) * 0.3 + 0.4
    return [
        *(sample(image, grid, mode=mode, padding_mode=padding) for mode in ("bilinear", "bicubic") for padding in ("zeros", "border")),
        sample(image, grid + 1, padding_mode="reflection", align_corners=True),
        sample(block, space),
    ]


EXACT = {"float32": (1e-5, 2e-5)}
ROWS += [
    Row("grid_sample", by_torch("grid_sample"), sampled, dtypes=("float32", "float64"), grad_samples=smooth, layouts=STRIDED,
        tolerance=EXACT, errors=[(TypeError, lambda: find("grid_sample")(ONE(1, 1, 2, 2), ONE(1, 1, 1, 2).astype("float64")))]),
    Row("affine_grid", by_torch("affine_grid"), lambda m: [
            sample(m(2, 2, 3), [2, 1, 3, 4]), sample(m(1, 2, 3), [1, 2, 1, 2], align_corners=True),
            sample(m(1, 3, 4), [1, 1, 2, 3, 1]), sample(m(1, 3, 4), [1, 1, 2, 3, 2], align_corners=True)],
        dtypes=ALL_FLOATS, layouts=STRIDED, tolerance=ROUNDED,
        errors=[(ValueError, lambda: find("affine_grid")(ONE(1, 2, 3), [1, 1, 0, 2]))]),
]  # fmt: skip
