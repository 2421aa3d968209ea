# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.forward_ad."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..autograd import forward_ad as _plain
from ..autograd.forward_ad import enter_dual_level, exit_dual_level
from ..capi import lib
from ._tensor import Tensor, retyped

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    primal: Tensor
    tangent: Tensor | None


class dual_level(_plain.dual_level):  # noqa: N801 (PyTorch's name)
    """PyTorch's levels cannot be nested; these can."""

    __slots__ = ()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    return retyped(_plain.make_dual(tensor, tangent, level=level))


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    if level is None and lib.tsr_forward_level() < 0:
        return UnpackedDualTensor(tensor, None)
    primal, tangent = _plain.unpack_dual(tensor, level=level)
    return UnpackedDualTensor(retyped(primal), None if tangent is None else retyped(tangent))
