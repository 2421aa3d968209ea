# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""[A18] Forward mode in Python: levels, dual tensors, and custom functions. The ops are in test_forward_ops.py."""

from __future__ import annotations

import gc
import importlib
import weakref
from typing import Any

import pytest

import tessera as ts
from tessera.autograd import Function, forward_ad, grad
from tessera.autograd.forward_ad import dual_level, make_dual, unpack_dual


def vector(*values: float) -> ts.Tensor:
    return ts.tensor(list(values), dtype=ts.float64)


def test_tangent_is_computed_beside_the_value() -> None:
    with dual_level():
        primal, tangent = unpack_dual(make_dual(vector(1, 2), vector(1, 10)) ** 2)
        assert primal.tolist() == [1, 4]
        assert tangent is not None and tangent.tolist() == [2, 40]
        assert unpack_dual(primal).tangent is None
        assert not primal.requires_grad


def test_dual_tensor_is_not_read_only() -> None:
    with dual_level():
        assert make_dual(vector(1), vector(1)).numpy().flags.writeable


def test_levels_nest_and_end() -> None:
    with dual_level() as outer:
        x = make_dual(vector(2), vector(1), level=outer)
        with dual_level() as inner:
            slope = unpack_dual(make_dual(x, vector(1)) ** 3, level=inner).tangent
            with pytest.raises(ts.AutogradError, match="innermost"):
                forward_ad.exit_dual_level(level=outer)
        assert slope is not None
        second = unpack_dual(slope).tangent
        assert second is not None and second.tolist() == [12]
    with pytest.raises(ts.AutogradError, match="open level"):
        unpack_dual(x)


@dual_level()
def slope_of_exp(x: ts.Tensor) -> Any:
    return unpack_dual(ts.exp(make_dual(x, ts.ones_like(x)))).tangent


def test_level_as_a_decorator() -> None:
    assert slope_of_exp(vector(0)).tolist() == [1]
    assert slope_of_exp(vector(0)).tolist() == [1]


def test_misuse_is_a_typed_error() -> None:
    x = vector(1, 2)
    with dual_level():
        with pytest.raises(ts.ShapeError, match="primal's shape"):
            make_dual(x, vector(1))
        with pytest.raises(ts.DTypeError):
            make_dual(x, x.astype(ts.float32))
        with pytest.raises(ts.AutogradError, match="tangent there already"):
            make_dual(make_dual(x, x), x)


def test_hessian_vector_product_forward_over_reverse() -> None:
    x = vector(1, 2, 3).requires_grad_()
    with dual_level():
        p = make_dual(x, vector(1, 0, 2))
        (gradient,) = grad((p**3).sum(), [p])
        primal, tangent = unpack_dual(gradient)
        assert primal.tolist() == [3, 12, 27]
        assert tangent is not None and tangent.tolist() == [6, 0, 36]
        assert not tangent.requires_grad


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, factor: float) -> ts.Tensor:
        ctx.factor = factor
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3 * factor

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return g * x**2 * (3 * ctx.factor), None

    @staticmethod
    def jvp(ctx: Any, t: ts.Tensor, factor: None) -> Any:
        assert factor is None
        (x,) = ctx.saved_tensors
        return t * x**2 * (3 * ctx.factor)


def test_custom_function_uses_its_jvp() -> None:
    with dual_level():
        tangent = unpack_dual(Cube.apply(make_dual(vector(2), vector(1)), 2.0)).tangent
        assert tangent is not None and tangent.tolist() == [24]
    x = vector(2).requires_grad_()
    with dual_level():
        p = make_dual(x, vector(1))
        (gradient,) = grad(Cube.apply(p, 1.0), [p])
        tangent = unpack_dual(gradient).tangent
        assert tangent is not None and tangent.tolist() == [12]


class NoRule(Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        return g * 2


def test_custom_function_without_jvp_names_itself() -> None:
    with dual_level():
        with pytest.raises(ts.AutogradError, match="NoRule"):
            NoRule.apply(make_dual(vector(2), vector(1)))
        assert NoRule.apply(vector(2)).tolist() == [4]


class WrongCount(Cube):
    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return tangents


def test_jvp_with_a_wrong_number_of_tangents_is_an_error() -> None:
    with dual_level(), pytest.raises(ts.AutogradError, match="expected 1 tangents"):
        WrongCount.apply(make_dual(vector(2), vector(1)), 1.0)


def test_duals_leave_nothing_behind() -> None:
    with dual_level():
        y = ts.exp(make_dual(vector(1).requires_grad_(), vector(1)))
        tangent = unpack_dual(y).tangent
        seen = weakref.ref(tangent)
        del tangent
    del y
    gc.collect()
    assert seen() is None


def test_torch_has_the_same_functions() -> None:
    forward = importlib.import_module("tessera.torch.autograd.forward_ad")
    torch = importlib.import_module("tessera.torch")
    x = torch.tensor([1.0, 2.0])
    assert forward.unpack_dual(x).tangent is None
    with forward.dual_level():
        primal, tangent = forward.unpack_dual(torch.sin(forward.make_dual(x, torch.ones(2))))
        assert isinstance(tangent, torch.Tensor)
        assert torch.allclose(tangent, torch.cos(x))
        assert torch.allclose(primal, torch.sin(x))
