# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of tensors: NumPy's numbers, then what a reader cannot see in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import bfloat16, bool_, float32, int64

if TYPE_CHECKING:
    from ._tensor import Tensor

OPTIONS: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80}


def set_printoptions(**options: Any) -> None:
    """Sets precision, threshold, edgeitems or linewidth for all tensors."""
    if unknown := options.keys() - OPTIONS.keys():
        raise TypeError(f"set_printoptions(): unknown option {', '.join(sorted(unknown))}")
    OPTIONS.update(options)


def values(tensor: Tensor) -> Any:
    """The values as a NumPy array on the host, bfloat16 widened."""
    plain = tensor.detach().to("cpu")
    return (plain.astype(float32) if plain.dtype is bfloat16 else plain).numpy()


def text(tensor: Tensor) -> str:
    """The values alone."""
    if tensor.size == 0:
        return "[]"
    width, options = OPTIONS["linewidth"], {k: v for k, v in OPTIONS.items() if k != "linewidth"}
    return str(np.array2string(values(tensor), width, separator=", ", prefix="tensor(", **options))


def representation(tensor: Tensor, head: str = "tensor") -> str:
    parts = [text(tensor)]
    if tensor.size == 0 and tensor.shape != (0,):
        parts.append(f"size={tensor.shape}")
    if tensor.dtype not in (float32, int64, bool_):
        parts.append(f"dtype={tensor.dtype!r}")
    if tensor.device.type != "cpu":
        parts.append(f"device='{tensor.device}'")
    if (node := tensor.grad_fn) is not None:
        parts.append(f"grad_fn=<{node.name()}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return f"{head}({', '.join(parts)})"
