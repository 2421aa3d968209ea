# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.utils.checkpoint: the same gradients from less memory [P1 checkpoint, E17]."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest

import tessera as ts
from tessera import autograd, nn
from tessera.utils.checkpoint import checkpoint, checkpoint_sequential, set_checkpoint_early_stop


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


def test_an_argument_that_gets_the_result_added_does_not_own_itself() -> None:
    """[A15] The checkpoint keeps its argument without the argument's history."""
    x = leaf(3)
    gc.collect()
    gc.disable()
    nodes = ts.memory.live_nodes()
    h = x * 1
    h.add_(checkpoint(lambda t: t.exp(), h))
    del h
    gc.enable()
    assert ts.memory.live_nodes() == nodes


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

    with pytest.raises(RuntimeError, match="the first run saved 3 tensors for the backward, the second 0"):
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


# ---- Early stop ----


def stages(seen: list[str]) -> Any:
    def function(t: ts.Tensor) -> ts.Tensor:
        seen.append("begin")
        t = t.exp()
        seen.append("middle")
        t = t.sin() * 2
        seen.append("end")
        return t

    return function


def test_the_second_run_ends_with_the_last_tensor_that_is_needed() -> None:
    x = leaf(2)
    seen: list[str] = []
    y = checkpoint(stages(seen), x)
    seen.clear()
    y.sum().backward()
    assert seen == ["begin", "middle"]
    seen.clear()
    checkpoint(stages(seen), x, early_stop=False).sum().backward()
    assert seen == ["begin", "middle", "end"] * 2
    with set_checkpoint_early_stop(False):
        seen.clear()
        checkpoint(stages(seen), x).sum().backward()
    assert seen == ["begin", "middle", "end"] * 2
    seen.clear()
    checkpoint(stages(seen), x).sum().backward()
    assert seen == ["begin", "middle", "end", "begin", "middle"]


def test_a_function_may_swallow_the_early_stop() -> None:
    x, swallowed = leaf(2), []

    def stubborn(t: ts.Tensor) -> ts.Tensor:
        t = t.exp()
        try:
            return t.sin()
        except ts.CancelledError as error:
            swallowed.append(error)
            return t.cos()

    checkpoint(stubborn, x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == autograd.grad(x.exp().sin().sum(), x)[0].tolist()
    assert len(swallowed) == 1


# ---- What the two runs must have in common ----


def changing(first: Any, second: Any) -> Any:
    runs: list[int] = []

    def function(t: ts.Tensor) -> ts.Tensor:
        runs.append(1)
        return (first if len(runs) == 1 else second)(t)

    return function


def test_other_metadata_in_the_second_run_is_an_error_that_names_both() -> None:
    x = leaf(2)
    wider = changing(lambda t: t.exp().sum(), lambda t: ts.concat([t, t]).exp().sum())
    with pytest.raises(RuntimeError, match=r"tensor 0 .* float64 \[2\] on cpu, by the second float64 \[4\] on cpu"):
        checkpoint(wider, x).backward()
    narrower = changing(lambda t: t.exp().sum(), lambda t: t.astype(ts.float32).exp().sum())
    with pytest.raises(RuntimeError, match=r"float64 \[2\] on cpu, by the second float32 \[2\] on cpu"):
        checkpoint(narrower, x).backward()


def test_more_tensors_in_the_second_run_are_an_error_if_it_runs_to_its_end() -> None:
    more = lambda: changing(lambda t: t.exp(), lambda t: t.exp().sin())  # noqa: E731
    with pytest.raises(RuntimeError, match="first run saved 1 tensors for the backward, the second 2"):
        checkpoint(more(), leaf(2), early_stop=False).sum().backward()
    checkpoint(more(), leaf(2), early_stop=False, determinism_check="none").sum().backward()
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(more(), leaf(2), determinism_check="all")


def test_a_function_that_modifies_what_it_has_saved_is_an_error() -> None:
    def careless(t: ts.Tensor) -> ts.Tensor:
        t = t.exp()
        u = t.sin()
        with ts.no_grad():
            t.mul_(2)
        return u * 1

    with pytest.raises(RuntimeError, match="modified by an in-place operation after it was saved"):
        checkpoint(careless, leaf(2), early_stop=False).sum().backward()


# ---- State of the thread ----


def test_the_second_run_takes_place_in_its_contexts_and_with_recording() -> None:
    seen: list[str] = []

    class Context:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            seen.append(f"enter {self.name}")

        def __exit__(self, *error: object) -> None:
            seen.append(f"leave {self.name}")

    x = leaf(2)
    y = checkpoint(lambda t: t.exp(), x, context_fn=lambda: (Context("first"), Context("second"))).sum()
    assert seen == ["enter first", "leave first"]
    with ts.no_grad():
        y.backward()
    assert seen == ["enter first", "leave first", "enter second", "leave second"]


def test_the_generator_is_that_of_the_first_run() -> None:
    own = ts.Generator(5)
    x = leaf(8)

    def noisy(t: ts.Tensor) -> ts.Tensor:
        return t.exp() * ts.rand((8,), dtype=ts.float64)

    ts.manual_seed(3)
    before = own.get_state()
    y = checkpoint(noisy, x)
    ratio = (y / x.exp()).tolist()
    ts.rand((100,))
    state = ts.get_rng_state()
    (g,) = autograd.grad(y.sum(), x)
    np_ratio = (g / x.exp()).tolist()
    assert np_ratio == pytest.approx(ratio)
    assert ts.get_rng_state() == state and own.get_state() == before


def test_a_backward_on_another_thread_runs_the_function_there() -> None:
    x, threads = leaf(2), []

    def function(t: ts.Tensor) -> ts.Tensor:
        threads.append(threading.get_ident())
        return t.exp() * ts.rand((2,), dtype=ts.float64)

    y = checkpoint(function, x).sum()
    worker = threading.Thread(target=y.backward)
    worker.start()
    worker.join()
    assert len(threads) == 2 and threads[0] != threads[1]
    assert x.grad is not None and x.grad.sum().item() == pytest.approx(y.item())


# ---- Reentrant ----


@pytest.mark.parametrize("reentrant", [False, True])
def test_both_forms_give_the_same_gradients(reentrant: bool) -> None:
    x, w = leaf(4), leaf(4)

    def block(t: ts.Tensor, factor: float, *, names: str = "") -> Any:
        return nn.functional.dropout(t * w, 0.5).exp() * factor, names

    def run(call: Any) -> list[Any]:
        ts.manual_seed(1)
        x.grad = w.grad = None
        value, names = call(x * 1, 2.0)
        value.sum().backward()
        return [value.tolist(), names, x.grad.tolist(), w.grad.tolist(), ts.get_rng_state()]

    plain = run(block)
    assert run(lambda *args: checkpoint(block, *args, use_reentrant=reentrant)) == plain

    def inner(t: ts.Tensor, factor: float) -> Any:
        return checkpoint(block, t, factor, use_reentrant=reentrant)

    assert run(lambda *args: checkpoint(inner, *args, use_reentrant=reentrant)) == plain


def test_a_reentrant_checkpoint_refuses_grad() -> None:
    x = leaf(2)
    text = r"Checkpointing is not compatible with \.grad\(\)"
    with pytest.raises(RuntimeError, match=text):
        autograd.grad(checkpoint(lambda t: t.exp(), x, use_reentrant=True).sum(), x)
    with pytest.raises(RuntimeError, match=text):
        checkpoint(lambda t: t.exp(), x, use_reentrant=True).sum().backward(inputs=[x])
    (found,) = autograd.grad(checkpoint(lambda t: t.exp(), x).sum(), x)
    assert found.tolist() == x.exp().tolist()


@pytest.mark.parametrize("reentrant", [False, True])
def test_deep_nesting(reentrant: bool) -> None:
    """[E17] From Python to a depth of 100."""
    x = leaf(1)

    def nest(t: ts.Tensor, depth: int) -> ts.Tensor:
        return t * 1.01 if depth == 0 else checkpoint(nest, t, depth - 1, use_reentrant=reentrant) * 1.0

    nest(x, 100).sum().backward()
    assert x.grad is not None and x.grad.tolist() == pytest.approx([1.01])


def test_segments_in_both_forms_and_from_a_sequential() -> None:
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))
    x = ts.randn(2, 3, requires_grad=True)
    model(x).sum().backward()
    plain = [p.grad.tolist() for p in model.parameters()]
    for reentrant in (False, True):
        for p in model.parameters():
            p.grad = None
        checkpoint_sequential(list(model), 2, x, use_reentrant=reentrant).sum().backward()
        assert [p.grad.tolist() for p in model.parameters()] == plain


def test_the_peak_is_that_of_one_segment() -> None:
    """Of 64 layers in segments of 8: the inputs of the segments and the layers of one segment, 2 sqrt(64)."""
    size = 1 << 20

    def layer(t: ts.Tensor) -> ts.Tensor:
        return t.sin()

    def peak(segments: int) -> float:
        x = ts.ones(size // 4, requires_grad=True)
        gc.collect()
        before = ts.memory.memory_allocated()
        ts.memory.reset_peak_memory_stats()
        checkpoint_sequential([layer] * 64, segments, x).sum().backward()
        return (ts.memory.max_memory_allocated() - before) / size

    whole, parts = peak(1), peak(8)
    assert whole >= 64
    assert parts <= 2 * 8 + 5
