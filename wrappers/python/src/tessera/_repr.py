# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of tensors in PyTorch's layout: all numbers have the same width, long tensors are summarised by their edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import bfloat16, bool_, complex64, complex128, float32, float64, get_default_dtype, int64
from ._errors import ArgumentTypeError, as_int

if TYPE_CHECKING:
    from ._tensor import Tensor

OPTIONS: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def set_printoptions(**options: Any) -> None:
    """Sets precision, threshold, edgeitems, linewidth or sci_mode for all tensors. sci_mode writes all floats with an
    exponent (True), none (False), or those of wide ranges (None)."""
    if unknown := options.keys() - OPTIONS.keys():
        raise ArgumentTypeError(f"set_printoptions(): unknown option {', '.join(sorted(unknown))}")
    for name, value in options.items():
        if name != "sci_mode":
            OPTIONS[name] = as_int(value, f"set_printoptions(): {name}")
        elif value in (None, True, False):
            OPTIONS[name] = value
        else:
            raise ArgumentTypeError(f"set_printoptions(): sci_mode: expected True, False or None, got {value!r}")


def values(tensor: Tensor) -> Any:
    """The values as a NumPy array on the host, bfloat16 widened."""
    plain = tensor.detach().to("cpu")
    return (plain.astype(float32) if plain.dtype is bfloat16 else plain).numpy()


# ---- Numbers ----


def _formatter(shown: Any) -> Callable[[Any], str]:
    """A function that formats any of these numbers with the width of the longest."""
    if shown.dtype.kind == "c":
        real, imag = _formatter(shown.real), _formatter(shown.imag)

        def pair(number: Any) -> str:
            second = imag(number.imag).lstrip()
            return f"{real(number.real)}{'' if second[0] == '-' else '+'}{second}j"

        return pair
    floats = shown.dtype.kind == "f"
    write: Callable[[Any], str] = _float_style(shown) if floats else lambda number: str(number)
    counted = shown[np.isfinite(shown) & (shown != 0)] if floats else shown.ravel()  # -0 and NaN stand out of their column
    width = max((len(write(number)) for number in counted.tolist()), default=0)
    return lambda number: write(number).rjust(width)


def _float_style(shown: Any) -> Callable[[float], str]:
    precision = OPTIONS["precision"]
    sizes = np.abs(shown[np.isfinite(shown) & (shown != 0)].astype(np.float64))
    whole = bool((sizes == np.ceil(sizes)).all())
    least, most = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)  # NumPy warns of an infinite ratio
    wide = most / least > 1000 or most > 1e8 or (not whole and least < 1e-4)
    if wide if OPTIONS["sci_mode"] is None else OPTIONS["sci_mode"]:
        return lambda number: f"{number:.{precision}e}"
    if whole:
        return lambda number: f"{number:.0f}." if np.isfinite(number) else f"{number:.0f}"
    return lambda number: f"{number:.{precision}f}"


# ---- Layout ----


def _edges(tensor: Tensor, axis: int = 0) -> Any:
    """The values that a summary shows. Nothing else is copied: an expanded tensor may have more elements than there is
    memory."""
    if axis == tensor.ndim:
        return values(tensor)
    edge, size = OPTIONS["edgeitems"], tensor.shape[axis]
    if size <= 2 * edge:
        return _edges(tensor, axis + 1)
    before = (slice(None),) * axis
    ends = (slice(0, edge), slice(size - edge, size))
    return np.concatenate([_edges(tensor[(*before, end)], axis + 1) for end in ends], axis)


def _lines(array: Any, shape: tuple[int, ...], write: Callable[[Any], str], indent: int) -> str:
    """Nested brackets around the numbers; `indent` is the column of the first bracket. Where `shape` is larger than the
    array, dots stand for what is left out."""
    if array.ndim == 0:
        return write(array.item())
    if array.ndim == 1:
        parts = [write(number.item()) for number in array]
        per_line = max(1, (OPTIONS["linewidth"] - indent) // (len(parts[0]) + 2 if parts else 1))
        gap, dots = ", ", " ..."
    else:
        parts = [_lines(inner, shape[1:], write, indent + 1) for inner in array]
        per_line, gap, dots = 1, ",", "..."
    if len(array) < shape[0]:
        parts.insert(OPTIONS["edgeitems"], dots)
    rows = [gap.join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
    between = "," + "\n" * max(1, int(array.ndim) - 1) + " " * (indent + 1)
    return f"[{between.join(rows)}]"


def text(tensor: Tensor, indent: int = 0) -> str:
    """The text of the values, without remarks."""
    if tensor.numel() == 0:
        return "[]"
    shown = _edges(tensor.detach()) if tensor.numel() > OPTIONS["threshold"] else values(tensor)
    return _lines(shown, tuple(tensor.shape), _formatter(shown), indent)


def _remarks(tensor: Tensor) -> list[str]:
    """The attributes that the numbers do not show."""
    parts, empty = [], tensor.numel() == 0
    if empty and tensor.shape != (0,):
        parts.append(f"size={tuple(tensor.shape)}")
    real = get_default_dtype()
    if tensor.dtype not in ((real,) if empty else (real, int64, bool_, complex128 if real is float64 else complex64)):
        parts.append(f"dtype={tensor.dtype!r}")
    if tensor.device.type != "cpu":
        parts.append(f"device='{tensor.device}'")
    if (node := tensor.grad_fn) is not None:
        parts.append(f"grad_fn=<{node.name()}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return parts


def representation(tensor: Tensor, head: str = "tensor") -> str:
    indent = len(head) + 1
    result = f"{head}({text(tensor, indent)}"
    for remark in _remarks(tensor):
        last = len(result) - (result.rfind("\n") + 1)
        fits = last + len(remark) + 3 <= OPTIONS["linewidth"]
        result += (", " if fits else ",\n" + " " * indent) + remark
    return result + ")"
