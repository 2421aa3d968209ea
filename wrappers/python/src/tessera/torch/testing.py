# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.testing: comparison of tensors with the tolerances of their dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._dtypes import ALL, DType, promote_types
from .._interop import asarray
from ._limits import finfo
from ._tensor import like_format, retyped

_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
Message = Any  # a text, a function of the text, or None


def _tolerances(one: DType, two: DType, rtol: float | None, atol: float | None) -> tuple[float, float]:
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol: expected both or none, got rtol={rtol} and atol={atol}")
    if rtol is not None and atol is not None:
        return rtol, atol
    found = [_TOLERANCES.get(dtype.name, (0.0, 0.0)) for dtype in (one, two)]
    return max(r for r, _ in found), max(a for _, a in found)


def _fail(text: str, where: str, msg: Message, kind: type[Exception] = AssertionError) -> None:
    full = text + (f"\n\nThe failure occurred for item {where}" if where else "")
    raise kind(full if msg is None else msg(full) if callable(msg) else msg)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere; tolerances are by dtype.

    Tensors, numbers, arrays, and sequences and mappings of them.
    """

    def compare(one: Any, two: Any, where: str) -> None:
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            if one.keys() != two.keys():
                _fail(f"The keys of the mappings do not match: {sorted(one)} and {sorted(two)}", where, msg)
            for key in one:
                compare(one[key], two[key], f"{where}[{key!r}]")
            return
        if isinstance(one, Sequence) and isinstance(two, Sequence) and not isinstance(one, str):
            if len(one) != len(two):
                _fail(f"The length of the sequences mismatch: {len(one)} != {len(two)}", where, msg)
            for number, (a, b) in enumerate(zip(one, two)):
                compare(a, b, f"{where}[{number}]")
            return
        leaf(one, two, where)

    def leaf(one: Any, two: Any, where: str) -> None:
        numbers = isinstance(one, (int, float, complex)) and isinstance(two, (int, float, complex))
        if isinstance(one, TensorBase) is not isinstance(two, TensorBase) or not (numbers or hasattr(one, "shape")):
            names = f"{type(one).__name__} and {type(two).__name__}"
            _fail(f"No comparison pair was able to handle inputs of type {names}.", where, None, TypeError)
        a, b = (v.detach() if isinstance(v, TensorBase) else asarray(v) for v in (one, two))
        if tuple(a.shape) != tuple(b.shape):
            _fail(f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.", where, msg)
        if check_device and a.device != b.device:
            _fail(f"The values for attribute 'device' do not match: {a.device} != {b.device}.", where, msg)
        if isinstance(one, TensorBase) and isinstance(two, TensorBase):
            if check_dtype and a.dtype is not b.dtype:
                _fail(f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.", where, msg)
            if check_stride and TensorBase.stride(a) != TensorBase.stride(b):
                _fail("The values for attribute 'stride()' do not match.", where, msg)
        relative, absolute = _tolerances(a.dtype, b.dtype, rtol, atol)
        common = promote_types(a.dtype, b.dtype)
        a, b = _ops.astype(a, common), _ops.astype(b.to(device=a.device), common)
        good = _ops.isclose(a, b, relative, absolute, equal_nan) if relative or absolute else a == b
        if equal_nan and not (relative or absolute):
            good = _ops.logical_or(good, _ops.logical_and(a != a, b != b))  # noqa: PLR0124
        bad = int(_ops.count_nonzero(_ops.logical_not(good)).item())
        if not bad:
            return
        count = TensorBase.numel(a)
        name = "Tensor-likes" if a.ndim else "Scalars"
        text = f"{name} are not close!\n\n" if relative or absolute else f"{name} are not equal!\n\n"
        apart = _ops.abs(a - b) if common.name != "bool" else _ops.astype(a != b, asarray(0.0).dtype)
        worst = float(_ops.amax(_ops.where(good, _ops.zeros_like(apart), apart)).item())
        if a.ndim:
            text += f"Mismatched elements: {bad} / {count} ({bad / count:.1%})\n"
            text += f"Greatest absolute difference: {worst} (up to {absolute} allowed)"
        else:
            text += f"Expected {b.item()} but got {a.item()}.\nAbsolute difference: {worst} (up to {absolute} allowed)"
        _fail(text + f"\nRelative tolerance: {relative}", where, msg)

    compare(actual, expected, "")


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """The deprecated form of assert_close, which checks neither dtype nor device."""
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=False, check_dtype=False, msg=msg or None
    )


def make_tensor(
    *shape: Any, dtype: DType, device: Any, low: float | None = None, high: float | None = None, requires_grad: bool = False,
    noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Any:
    """A tensor of random numbers from [low, high), by default [-9, 9), of integers [-9, 10) or [0, 10).

    `exclude_zero` puts the smallest number above 0, or True, in the place of 0; `noncontiguous` leaves gaps between elements.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"make_tensor(): requires_grad: expected a floating or complex dtype, got {dtype!r}")
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor(): expected noncontiguous or a memory_format, got both")
    gaps = noncontiguous and 0 not in sizes and bool(sizes)
    drawn = _drawn((*sizes[:-1], 2 * sizes[-1]) if gaps else sizes, dtype, device, *_ends(dtype, low, high))
    made = drawn[..., ::2] if gaps else drawn
    if exclude_zero:
        least = finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
        made[made == 0] = least
    made = made if memory_format is None else like_format(made, memory_format)
    return retyped(made).requires_grad_(requires_grad)


def _ends(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    kind = dtype.name.rstrip("0123456789")
    least, most = {"bool": (0, 2), "uint": (0, 10), "int": (-9, 10)}.get(kind, (-9, 9))
    first, last = least if low is None else low, most if high is None else high
    if not first < last:
        raise ValueError(f"make_tensor(): expected low < high, got {first} and {last}")
    return first, last


def _drawn(sizes: tuple[int, ...], dtype: DType, device: Any, low: float, high: float) -> Any:
    if dtype.is_complex:
        part = ALL["float32" if dtype.name == "complex64" else "float64"]
        return _ops.complex(_drawn(sizes, part, device, low, high), _drawn(sizes, part, device, low, high))
    if dtype.is_floating_point:
        return _ops.rand(sizes, dtype=dtype, device=device) * (high - low) + low
    return _ops.astype(_ops.randint(math.ceil(low), math.ceil(high), sizes, device=device), dtype)


__all__ = ["assert_allclose", "assert_close", "make_tensor"]
