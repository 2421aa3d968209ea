# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Views, in-place writes and modes: requires_grad is right, and writes that cannot be differentiated are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import autograd
from tessera.autograd import Function
from tessera.nn.functional import batch_norm
from tessera.utils.checkpoint import checkpoint


def leaf(*values: float) -> ts.Tensor:
    return ts.tensor(list(values), dtype=ts.float64, requires_grad=True)


class Mul(Function):
    @staticmethod
    def forward(ctx: Any, a: ts.Tensor, b: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> tuple[ts.Tensor, ts.Tensor]:
        a, b = ctx.saved_tensors
        return g * b, g * a


def view_made_differentiable() -> tuple[ts.Tensor, ts.Tensor]:
    """A leaf w and a view of a constant that w was added to after the view was made."""
    w, c = leaf(1, 2), ts.zeros(2, dtype=ts.float64)
    v = c[0:2]
    assert not v.requires_grad
    c.add_(w)
    return w, v


def test_view_of_a_constant_that_becomes_differentiable_says_so() -> None:
    _, v = view_made_differentiable()
    assert v.requires_grad and not v.is_leaf
    assert "grad_fn" in repr(v)
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        memoryview(v)


def test_custom_function_differentiates_such_a_view() -> None:
    w, v = view_made_differentiable()
    Mul.apply(w, v).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [2, 4]
    w, v = view_made_differentiable()
    Mul.apply(v, v).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [2, 4]


def test_checkpoint_differentiates_such_a_view() -> None:
    w, v = view_made_differentiable()
    checkpoint(lambda x: x * x, v).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [2, 4]


WRITES: list[Callable[[ts.Tensor], Any]] = [
    lambda v: v.mul_(2),
    lambda v: v.fill_(2),
    lambda v: v.add_(ts.ones(1, dtype=ts.float64)),
    lambda v: v.__setitem__(0, 2.0),
    lambda v: ts.multiply(v.detach(), 2.0, out=v),
]


@pytest.mark.parametrize("write", WRITES)
def test_view_made_without_recording_cannot_be_written_with_it(write: Callable[[ts.Tensor], Any]) -> None:
    x = leaf(1, 2)
    y = x * 1
    for base in (x, y):
        with ts.no_grad():
            v = base[0:1]
        with pytest.raises(RuntimeError):
            write(v)
        assert base.tolist() == [1, 2]
        with ts.no_grad():
            v.mul_(2)
        assert base.tolist() == [2, 2]
        with ts.no_grad():
            v.mul_(0.5)
    c = ts.ones(2, dtype=ts.float64)
    with ts.no_grad():
        v = c[0:1]
    write(v)  # nothing here requires grad
    assert c.tolist() == [2, 1]


def test_view_of_a_constant_is_written_again_and_again() -> None:
    w, buffer = leaf(1, 2, 3), ts.zeros((2, 3), dtype=ts.float64)
    v = buffer[0]
    v.add_(w)
    v.mul_(2.0)
    v.mul_(w)
    buffer.sum().backward()
    assert w.grad is not None and w.grad.tolist() == [4, 8, 12]


def test_leaf_frozen_after_the_forward_receives_nothing() -> None:
    w, x, seen = leaf(1, 2), leaf(3, 4), list[ts.Tensor]()
    w.register_hook(seen.append)
    y = (w * x).sum()
    w.requires_grad_(False)
    y.backward()
    assert w.grad is None and not seen
    assert x.grad is not None and x.grad.tolist() == [1, 2]


def test_view_of_a_frozen_leaf_is_not_written() -> None:
    nodes = ts.memory.live_nodes()
    x = leaf(1.5)
    v = ts.expand_dims(x, 0)
    x.requires_grad_(False)
    with pytest.raises(RuntimeError, match="view of a leaf"):
        v.floor_()
    with pytest.raises(RuntimeError, match="a graph that still exists"):
        x.mul_(v[0])
    assert x.is_leaf and not x.requires_grad
    x.mul_(2)
    assert x.tolist() == [3]
    del x, v
    assert ts.memory.live_nodes() == nodes


@pytest.mark.parametrize("wrong", [lambda g: g.float(), lambda g: g.astype(ts.int64), lambda g: g.astype(ts.complex128)])
def test_hook_may_not_change_the_dtype(wrong: Callable[[ts.Tensor], ts.Tensor]) -> None:
    x = leaf(1, 2)
    y = x * 2
    for where in (x, y):
        handle = where.register_hook(wrong)
        with pytest.raises(RuntimeError, match="of dtype float64, got "):
            y.sum().backward(retain_graph=True)
        assert x.grad is None
        handle.remove()


class Answer(Function):
    """Returns ctx.answer(gradient) from backward."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, answer: Callable[[ts.Tensor], ts.Tensor]) -> ts.Tensor:
        ctx.answer = answer
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> tuple[ts.Tensor, None]:
        return ctx.answer(g), None


def test_real_gradient_of_a_custom_function_is_cast_and_a_complex_one_refused() -> None:
    x = leaf(1, 2)
    Answer.apply(x, lambda g: g.float()).sum().backward()
    assert x.grad is not None and x.grad.dtype == ts.float64 and x.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="expected AnswerBackward to return a real gradient"):
        Answer.apply(x, lambda g: g.astype(ts.complex128)).sum().backward()


class Forgetful(Function):
    """Uses its saved tensor only if it exists."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        return sum((2 * g for _ in ctx.saved_tensors), g * 0)


def test_saved_tensors_of_a_used_graph_raise_with_the_remedy() -> None:
    x = leaf(1)
    y = Forgetful.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()
    assert x.grad is not None and x.grad.tolist() == [2]
    z = x * x
    node = z.grad_fn
    assert node is not None and len(node.saved_tensors) == 2
    z.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        _ = node.saved_tensors
    sum_node = x.sum().grad_fn
    assert sum_node is not None and sum_node.saved_tensors == ()


def test_inference_tensors_do_not_leave_their_mode() -> None:
    x = leaf(1, 2)
    with ts.inference_mode():
        made = [ts.ones(2), ts.tensor([1.0, 2.0]), ts.rand((2,)), ts.linspace(0, 1, 2), ts.zeros_like(x)]
        made += [ts.from_numpy(np.ones(2)), ts.from_dlpack(np.ones(2)), ts.tensor(np.ones(2))]
        y = x * 2
    for t in (*made, y):
        assert t._inference
        with pytest.raises(RuntimeError, match="inference mode"):
            t.mul_(2)
        with pytest.raises(RuntimeError, match="inference mode"):
            ts.multiply(ts.ones(2, dtype=t.dtype), 1.0, out=t)
        with pytest.raises(RuntimeError, match="inference mode"):
            (x * t).sum().backward()
        with pytest.raises(RuntimeError, match="inference mode"):
            t.requires_grad_()


def test_what_cannot_be_saved_is_refused_before_statistics_and_elements_are_written() -> None:
    x = ts.tensor(np.arange(6.0).reshape(3, 2), requires_grad=True)
    with ts.inference_mode():
        weight, rows, mask = ts.ones(2, dtype=ts.float64), ts.tensor([0, 2]), ts.tensor([True, False, True])
    mean, var = ts.zeros(2, dtype=ts.float64), ts.ones(2, dtype=ts.float64)
    with pytest.raises(ts.AutogradError, match="inference mode"):
        batch_norm(x, mean, var, weight, training=True)
    assert mean.tolist() == [0, 0] and var.tolist() == [1, 1] and mean._version == 0
    y = x * 1
    for index in (rows, mask):
        with pytest.raises(ts.AutogradError, match="inference mode"):
            y[index] = 5.0
    with pytest.raises(ts.AutogradError, match="inference mode"):
        y[rows] = ts.ones((2, 2), dtype=ts.float64)
    assert y.tolist() == x.tolist() and y._version == 0


def test_backward_in_inference_mode_gives_ordinary_gradients() -> None:
    x = leaf(1, 2)
    y = (x * x).sum()
    with ts.inference_mode():
        (gradient,) = autograd.grad(y, x)
    assert not gradient._inference and gradient.tolist() == [2, 4]
