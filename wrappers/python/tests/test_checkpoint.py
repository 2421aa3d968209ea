# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.utils.checkpoint: the same gradients from less memory."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import tessera as ts
from tessera import autograd, nn
from tessera.utils.checkpoint import checkpoint, checkpoint_sequential


def leaf(*shape: int) -> ts.Tensor:
    return ts.randn(shape, dtype=ts.float64, requires_grad=True)


def gradients(function: Any, *leaves: ts.Tensor, seed: int = 7) -> list[Any]:
    """The value, the gradients and the generator's state after a forward and a backward."""
    ts.manual_seed(seed)
    value = function().sum()
    found = autograd.grad(value, leaves)
    return [value.item(), *(g.tolist() for g in found), ts.get_rng_state()]


def test_gradients_and_random_numbers_are_those_without() -> None:
    x, w = leaf(4, 4), leaf(4, 4)

    def block(t: ts.Tensor) -> ts.Tensor:
        return nn.functional.dropout((t @ w).exp().sin(), 0.5) * t

    plain = gradients(lambda: block(block(x)), x, w)
    assert gradients(lambda: checkpoint(block, checkpoint(block, x)), x, w) == plain
    assert gradients(lambda: checkpoint(lambda t: block(block(t)), x), x, w) == plain
    nested = gradients(lambda: checkpoint(lambda t: checkpoint(block, checkpoint(block, t)), x), x, w)
    assert nested == plain
    assert gradients(lambda: checkpoint(block, block(x), preserve_rng_state=False), x, w)[0] == plain[0]


def test_arguments_of_all_kinds_and_several_results() -> None:
    x, y = leaf(3), leaf(3)

    def function(a: ts.Tensor, power: int, *, b: ts.Tensor, names: list[str]) -> Any:
        return (a**power * b).sin(), len(names)

    first, count = checkpoint(function, x, 3, b=y, names=["p", "q"])
    expected, _ = function(x, 3, b=y, names=[])
    assert count == 2
    found = autograd.grad(first.sum(), [x, y])
    for ours, theirs in zip(found, autograd.grad(expected.sum(), [x, y])):
        assert ours.tolist() == theirs.tolist()


def test_second_derivatives_and_retained_graphs() -> None:
    x = leaf(2)
    runs: list[int] = []

    def cube(t: ts.Tensor) -> ts.Tensor:
        runs.append(1)
        return t * t * t

    assert autograd.gradgradcheck(lambda t: checkpoint(cube, t), (x,))
    y = checkpoint(cube, x).sum()
    runs.clear()
    for _ in range(2):
        (found,) = autograd.grad(y, x, retain_graph=True)
        assert found.tolist() == autograd.grad(cube(x).sum(), x)[0].tolist()
    y.backward()
    assert len(runs) >= 1
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_memory_holds_one_segment_at_a_time() -> None:
    layers, size = 16, 1 << 20

    def segment(t: ts.Tensor) -> ts.Tensor:
        for _ in range(4):
            t = t.exp().log()
        return t

    def peak(call: Any) -> int:
        x = ts.ones(size // 4, requires_grad=True)
        gc.collect()
        ts.memory.reset_peak_memory_stats()
        before = ts.memory.memory_allocated()
        y = x
        for _ in range(layers):
            y = call(segment, y)
        y.sum().backward()
        return (ts.memory.max_memory_allocated() - before) // size

    assert peak(lambda f, t: f(t)) >= 4 * layers
    assert peak(checkpoint) <= layers + 12


def test_nothing_is_left_behind() -> None:
    x = leaf(3)
    gc.collect()
    gc.disable()  # and without the help of the collector
    handles, nodes = ts.memory.live_handles(), ts.memory.live_nodes()
    for _ in range(3):
        checkpoint(lambda t: checkpoint(lambda u: u.exp(), t).sin(), x).sum().backward()
        checkpoint(lambda t: t.exp(), x)
        x.grad = None
    gc.enable()
    assert (ts.memory.live_handles(), ts.memory.live_nodes()) == (handles, nodes)


def test_writes_to_an_argument_are_noticed() -> None:
    x = leaf(2)
    y = x * 1
    z = checkpoint(lambda t: t.exp(), y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        z.sum().backward()


def test_a_function_that_changes_is_an_error() -> None:
    x, first = leaf(2), [True]

    def fickle(t: ts.Tensor) -> ts.Tensor:
        if first.pop():
            first.append(False)
            return (t * t).exp()
        first.append(False)
        return t + 1

    with pytest.raises(RuntimeError, match="saved fewer tensors"):
        checkpoint(fickle, x).sum().backward()


def test_exceptions_of_the_second_run_come_out() -> None:
    x, runs = leaf(2), [0]

    def failing(t: ts.Tensor) -> ts.Tensor:
        runs[0] += 1
        if runs[0] == 2:
            raise KeyError("second run")
        return t.exp()

    y = checkpoint(failing, x).sum()
    state = ts.get_rng_state()
    with pytest.raises(KeyError, match="second run"):
        y.backward(retain_graph=True)
    assert ts.get_rng_state() == state
    y.backward()
    assert x.grad is not None


def test_nothing_happens_where_nothing_is_recorded() -> None:
    with ts.no_grad():
        assert not checkpoint(lambda t: t.exp(), leaf(2)).requires_grad


def test_layers_in_segments() -> None:
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(5)))
    x = ts.randn(2, 3, requires_grad=True)
    plain = gradients(lambda: model(x), x, *model.parameters())
    for segments in (1, 2, 5):
        assert gradients(lambda: checkpoint_sequential(list(model), segments, x), x, *model.parameters()) == plain
    with pytest.raises(ValueError, match="1 to 5 segments, got 6"):
        checkpoint_sequential(list(model), 6, x)
