# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A 0-dim tensor where an op takes an axis: 0 and -1 name the axis that it counts as having."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import _ops
from tessera.autograd import gradcheck, gradgradcheck

X = 1.5
INDEX = 0  # the only position

# What each op gives for X along an axis, as PyTorch does or, where that refuses, NumPy.
VALUES: dict[str, Callable[[Any, int], Any]] = {
    **{name: (lambda name: lambda x, a: getattr(_ops, name)(x, axis=a))(name) for name in (
        "sum", "nansum", "prod", "mean", "nanmean", "max", "min", "amax", "amin", "logsumexp", "vector_norm", "norm", "median",
        "nanmedian", "cumulative_sum", "cumsum", "cumulative_prod", "cumprod", "logcumsumexp", "sort", "flip",
    )},
    "var": lambda x, a: ts.var(x, axis=a), "std": lambda x, a: ts.std(x * 1, axis=a) + x,
    **{f"masked_{name}": (lambda name: lambda x, a: getattr(ts.masked, name)(x, axis=a))(name) for name in (
        "sum", "prod", "mean", "amax", "amin", "norm", "logsumexp", "median", "cumsum", "cumprod",
    )},
    "masked_softmax": lambda x, a: ts.masked.softmax(x, a) * x, "masked_softmin": lambda x, a: ts.masked.softmin(x, a) * x,
    "masked_log_softmax": lambda x, a: ts.masked.log_softmax(x, a) + x, "masked_var": lambda x, a: ts.masked.var(x, axis=a) + x,
    "masked_std": lambda x, a: ts.masked.std(x, axis=a) + x,
    "masked_normalize": lambda x, a: ts.masked.normalize(x, 2, a) * x,
    "softmax": lambda x, a: ts.nn.functional.softmax(x, a) * x, "log_softmax": lambda x, a: ts.nn.functional.log_softmax(x, a) + x,
    "quantile": lambda x, a: ts.quantile(x, 0.5, axis=a), "nanquantile": lambda x, a: ts.nanquantile(x, 0.5, axis=a),
    "aminmax": lambda x, a: ts.aminmax(x, axis=a)[0], "var_mean": lambda x, a: ts.var_mean(x, axis=a)[1],
    "std_mean": lambda x, a: ts.std_mean(x, axis=a)[1],
    **{name: (lambda name: lambda x, a: getattr(_ops, name)(x, axis=a)[0])(name) for name in (
        "cummax", "cummin", "max_with_indices", "min_with_indices", "median_with_indices", "nanmedian_with_indices", "mode",
        "sort_with_indices",
    )},
    "topk": lambda x, a: ts.topk(x, 1, axis=a)[0], "kthvalue": lambda x, a: ts.kthvalue(x, 1, axis=a)[0],
    "gather": lambda x, a: ts.gather(x, a, ts.asarray(0)), "index_select": lambda x, a: ts.index_select(x, a, ts.asarray([0])),
    "roll": lambda x, a: ts.roll(x, 1, a), "take": lambda x, a: ts.take(x, ts.asarray(0), axis=a),
    "scatter_add": lambda x, a: ts.scatter_add(ts.zeros((), dtype=x.dtype), a, ts.asarray(0), x),
    "scatter": lambda x, a: ts.scatter(x * 0, a, ts.asarray(0), x),
    "scatter_reduce": lambda x, a: ts.scatter_reduce(x * 0, a, ts.asarray(0), x, "sum"),
    "index_add": lambda x, a: ts.index_add(x * 0, a, ts.asarray(0), x),
    "index_copy": lambda x, a: ts.index_copy(x * 0, a, ts.asarray(0), x),
    "index_fill": lambda x, a: ts.index_fill(x * 0, a, ts.asarray(0), 0.0) + x,
    "index_reduce": lambda x, a: ts.index_reduce(x * 0 + 1, a, ts.asarray(0), x, "prod"),
}  # fmt: skip
WANTED = {"var": 0.0, "log_softmax": X, "std": X}
POSITIONS: dict[str, Callable[[Any, int], Any]] = {
    "argmax": lambda x, a: ts.argmax(x, axis=a), "argmin": lambda x, a: ts.argmin(x, axis=a),
    "masked_argmax": lambda x, a: ts.masked.argmax(x, axis=a), "masked_argmin": lambda x, a: ts.masked.argmin(x, axis=a),
    "argsort": lambda x, a: ts.argsort(x, axis=a), "count_nonzero": lambda x, a: ts.count_nonzero(x, axis=a) - 1,
    "any": lambda x, a: ts.any(x, axis=a).astype(ts.int64) - 1, "all": lambda x, a: ts.all(x, axis=a).astype(ts.int64) - 1,
}  # fmt: skip
# Ops that neither PyTorch nor NumPy gives a meaning on a 0-dim tensor. Other kinds of axes (of a result with one more dim, of
# a list of tensors, of matrices) are no axes of the input.
REFUSED = {
    "diff", "trapezoid", "cumulative_trapezoid", "renorm", "unique_axis", "select", "slice", "narrow", "split",
    "split_with_sizes", "chunk", "unstack", "cross", "vecdot", "unflatten", "select_scatter", "slice_scatter",
    "tensor_split_at", "tensor_split_sections",
}  # fmt: skip


@pytest.mark.parametrize("axis", (0, -1))
@pytest.mark.parametrize("name", VALUES)
def test_value_and_derivatives(name: str, axis: int) -> None:
    x = ts.asarray(X, dtype=ts.float64).requires_grad_()
    result = VALUES[name](x, axis)
    assert result.shape == () and result.item() == pytest.approx(WANTED.get(name, X))
    result.backward()
    assert x.grad is not None and x.grad.shape == ()
    if name != "std":  # has a kink where all elements are equal
        gradcheck(lambda t: VALUES[name](t, axis), (x,))
        gradgradcheck(lambda t: VALUES[name](t, axis), (x,))


@pytest.mark.parametrize("axis", (0, -1))
@pytest.mark.parametrize("name", POSITIONS)
def test_position(name: str, axis: int) -> None:
    result = POSITIONS[name](ts.asarray(X), axis)
    assert result.shape == () and result.item() == INDEX


@pytest.mark.parametrize("name", [*VALUES, *POSITIONS])
def test_other_axes_are_out_of_range(name: str) -> None:
    for axis in (1, -2):
        with pytest.raises(IndexError):
            {**VALUES, **POSITIONS}[name](ts.asarray(X), axis)


@pytest.mark.parametrize("name", ("sum", "mean", "max", "logsumexp", "vector_norm", "median", "quantile", "argmax"))
def test_keepdims_adds_no_axis(name: str) -> None:
    more = {"q": 0.5} if name == "quantile" else {}
    assert getattr(_ops, name)(ts.asarray(X), axis=0, keepdims=True, **more).shape == ()


def test_an_index_of_another_rank_gives_its_shape() -> None:
    x = ts.asarray(X).requires_grad_()
    assert ts.gather(x, 0, ts.asarray([0, 0])).tolist() == [X, X]
    assert ts.take(x, ts.asarray([[0, -1]])).tolist() == [[X, X]]
    assert ts.gather(ts.asarray([2.0, 3.0]), 0, ts.asarray(1)).item() == 3
    assert ts.index_select(ts.asarray([2.0, 3.0]), 0, ts.asarray(1)).tolist() == [3]
    ts.sum(ts.gather(x, 0, ts.asarray([0, 0]))).backward()
    assert x.grad is not None and x.grad.item() == 2
    out = ts.empty(3)
    ts.gather(x.detach(), 0, ts.asarray([0, 0]), out=out)
    assert out.tolist() == [X, X]
    with pytest.raises(ValueError):
        ts.index_select(x, 0, ts.asarray([0, 0]))
    with pytest.raises(IndexError):
        ts.gather(x, 0, ts.asarray([1]))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_ops_without_a_meaning_refuse(name: str) -> None:
    arguments = {
        "renorm": (2, 0, 1), "unique_axis": (0,), "select": (0, 0), "slice": (0, 0, 1), "narrow": (0, 0, 1),
        "split": (1,), "split_with_sizes": ([1],), "chunk": (1,), "cross": (ts.asarray(X),), "vecdot": (ts.asarray(X),),
        "unflatten": (0, (1, 1)), "select_scatter": (ts.asarray(X), 0, 0), "slice_scatter": (ts.asarray(X),),
        "tensor_split_at": ([0],), "tensor_split_sections": (1,),
    }  # fmt: skip
    with pytest.raises((ValueError, IndexError)):
        getattr(_ops, name)(ts.asarray(X), *arguments.get(name, ()))


def test_every_op_of_one_tensor_with_an_axis_is_listed() -> None:
    """A new op takes a line above, or below when its axis is none of the input's own or its family tests it."""
    elsewhere = {
        "concat", "cat", "concatenate", "stack", "expand_dims", "unsqueeze", "squeeze", "unbind", "unique_consecutive",
        "unique_consecutive_counts", "unique_consecutive_values",
        "glu", "softmin", "gumbel_softmax", "normalize", "rot90", "unfold", "repeat", "repeat_interleave",
    }  # fmt: skip
    found = set()
    for name in _ops.__all__:
        parameters = inspect.signature(getattr(_ops, name)).parameters
        required = [p for p in parameters.values() if p.default is p.empty and p.name != "axis"]
        if "axis" in parameters and len(required) == 1:
            found.add(name)
    assert len(found) > 40
    assert not found - set(VALUES) - set(POSITIONS) - REFUSED - elsewhere


def test_the_references_themselves() -> None:
    """What NumPy does where it takes an axis of a 0-dim array."""
    x = np.array(X)
    assert np.sum(x, 0) == np.prod(x, 0) == np.max(x, 0) == np.take(x, 0, 0) == X
    assert np.argmax(x, 0) == 0
