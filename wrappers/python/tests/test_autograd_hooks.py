# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks on tensors, nodes and several tensors; edges of the graph (rows A8 and A9)."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import autograd
from tessera.autograd import graph


def leaf(*values: float) -> ts.Tensor:
    return ts.tensor(list(values), dtype=ts.float64).requires_grad_()


def values(t: Any) -> Any:
    return t.detach().numpy().tolist()


class Noted(autograd.Function):
    log: list[str] = []  # noqa: RUF012 (each test clears it)

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        Noted.log.append("node")
        return g * 1


# ---- A8: tensor hooks ----


def test_tensor_hooks_print_replace_and_keep_in_order_of_registration() -> None:
    """[A8] print, replace, None; the handle removes."""
    x, seen = leaf(1.0), []
    y = x * 1
    handles = [
        y.register_hook(lambda g: seen.append(values(g))),
        y.register_hook(lambda g: g * 2),
        y.register_hook(lambda g: seen.append(values(g))),
        y.register_hook(lambda g: g + 1),
    ]
    y.sum().backward(retain_graph=True)
    assert (seen, values(x.grad)) == ([[1.0], [2.0]], [3.0])
    handles[1].remove()
    handles[1].remove()
    x.grad = None
    y.sum().backward()
    assert (seen[2:], values(x.grad)) == ([[1.0], [1.0]], [2.0])


# ---- A9: hooks on nodes ----


def test_order_is_tensor_hook_prehook_node_posthook() -> None:
    """[A9] the order of PyTorch 1.13, at a node and at the accumulator of a leaf."""
    x, log = leaf(1.0), Noted.log
    log.clear()
    y = Noted.apply(x)
    y.grad_fn.register_hook(lambda results, grads: log.append("post"))
    y.grad_fn.register_prehook(lambda grads: log.append("pre"))
    y.register_hook(lambda g: log.append("tensor"))
    at_leaf = graph.get_gradient_edge(x).node
    at_leaf.register_hook(lambda results, grads: log.append(f"leaf post {results}"))
    at_leaf.register_prehook(lambda grads: log.append("leaf pre"))
    x.register_post_accumulate_grad_hook(lambda t: log.append(f"accumulated {values(t.grad)}"))
    x.register_hook(lambda g: log.append("leaf tensor"))
    y.backward()
    assert log == ["tensor", "pre", "node", "post", "leaf tensor", "leaf pre", "accumulated [1.0]", "leaf post ()"]


def test_hooks_of_a_node_run_in_order_of_registration_and_may_be_removed() -> None:
    """[A9]"""
    y = leaf(1.0) * 2
    node, log = y.grad_fn, []
    assert node is not None
    handles = [node.register_prehook(lambda grads, k=k: log.append(k)) for k in range(3)]
    handles += [node.register_hook(lambda results, grads, k=k: log.append(k)) for k in range(3, 6)]
    y.backward(retain_graph=True)
    assert log == [0, 1, 2, 3, 4, 5]
    handles[1].remove()
    with handles[4]:
        pass
    handles[4].remove()
    log.clear()
    y.backward()
    assert log == [0, 2, 3, 5]


def test_prehook_replaces_gradients() -> None:
    """[A9]"""
    x = leaf(1.0, 2.0)
    y = x * 3
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_prehook(lambda grads: grads[0] + 1)  # a node of one output: no tuple needed
    y.sum().backward()
    assert values(x.grad) == [33.0, 33.0]


def test_node_does_not_run_when_a_prehook_takes_its_only_gradient_away() -> None:
    """[A9]"""
    x, posts = leaf(2.0), []
    y = x * x
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (None,))
    y.grad_fn.register_hook(lambda results, grads: posts.append(results))
    y.backward()
    assert x.grad is None and not posts


def test_posthook_sees_results_and_gradients_and_replaces_results() -> None:
    """[A9]"""
    a, b, seen = leaf(2.0), leaf(5.0), []
    y = a * b
    assert y.grad_fn is not None

    def hook(results: Any, grads: Any) -> Any:
        seen.append(([values(r) for r in results], [values(g) for g in grads]))
        return results[0] * 10, None

    y.grad_fn.register_hook(hook)
    y.backward()
    assert seen == [([[5.0], [2.0]], [[1.0]])]
    assert (values(a.grad), b.grad) == ([50.0], None)


def test_unneeded_and_undefined_gradients_are_none() -> None:
    """[A9]"""
    x, seen = leaf(2.0, 3.0), []
    first, second = ts.split(x * 1, [1, 1])
    node = first.grad_fn
    assert node is not None and node == second.grad_fn
    node.register_prehook(lambda grads: seen.append([g is None for g in grads]))
    (first * ts.tensor([4.0], dtype=ts.float64)).backward()
    assert seen == [[False, True]]
    product, results = x * ts.tensor([1.0, 1.0], dtype=ts.float64), []
    assert product.grad_fn is not None
    product.grad_fn.register_hook(lambda made, grads: results.append([r is None for r in made]))
    product.sum().backward()
    assert results == [[False, True]]


def test_wrong_replacements_are_refused_and_the_engine_stays_usable() -> None:
    """[A9]"""
    x = leaf(1.0, 2.0)
    y = x * 3
    total = y.sum()
    node = y.grad_fn
    assert node is not None
    for wrong, text in [
        (lambda grads: (grads[0].sum(),), "of shape"),
        (lambda grads: (grads[0].to(ts.float32),), "of dtype float64, got float32"),
        (lambda grads: (1,), "expected a Tensor or None, got int"),
        (lambda grads: (grads[0], grads[0]), "a tuple of 1 gradients"),
    ]:
        with node.register_prehook(wrong), pytest.raises((RuntimeError, TypeError), match=text):
            total.backward(retain_graph=True)
    assert x.grad is None
    total.backward()
    assert values(x.grad) == [3.0, 3.0]


class Mine(Exception):
    pass


def failing(*given: Any) -> None:
    raise Mine(len(given))


@pytest.mark.parametrize("kind", ["tensor", "pre", "post", "accumulate", "all", "any", "leaf pre"])
def test_exceptions_of_hooks_come_back_as_they_were(kind: str) -> None:
    """[A8] [A9] [E19]"""
    x = leaf(1.0)
    edge = graph.get_gradient_edge(x)
    y = x * 2
    assert y.grad_fn is not None
    handle = {
        "tensor": lambda: y.register_hook(failing),
        "pre": lambda: y.grad_fn.register_prehook(failing),
        "post": lambda: y.grad_fn.register_hook(failing),
        "accumulate": lambda: x.register_post_accumulate_grad_hook(failing),
        "all": lambda: graph.register_multi_grad_hook([x, y], failing),
        "any": lambda: graph.register_multi_grad_hook([x, y], failing, mode="any"),
        "leaf pre": lambda: edge.node.register_prehook(failing),
    }[kind]()
    for _ in range(2):
        with pytest.raises(Mine) as caught:
            y.backward(retain_graph=True)
        assert caught.value.args == (2 if kind == "post" else 1,)
    handle.remove()
    x.grad = None
    y.backward()
    assert values(x.grad) == [2.0]


def test_hook_may_remove_itself_and_others_while_it_runs() -> None:
    """[A9]"""
    y = leaf(1.0) * 2
    assert y.grad_fn is not None
    log: list[str] = []
    handles: dict[str, Any] = {}

    def once(grads: Any) -> None:
        log.append("once")
        handles["once"].remove()
        handles["later"].remove()

    handles["once"] = y.grad_fn.register_prehook(once)
    handles["later"] = y.grad_fn.register_prehook(lambda grads: log.append("later"))
    y.backward(retain_graph=True)
    y.backward()
    assert log == ["once"]


def test_hooks_see_recorded_gradients_with_create_graph_and_run_under_retain_graph() -> None:
    """[A9]"""
    x, seen = leaf(3.0), []
    y = x * x
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: seen.append(grads[0].requires_grad) or (grads[0] * x,))
    (first,) = autograd.grad(y, x, create_graph=True)
    assert values(first) == [18.0]  # d(x^2) * x = 2 x^2
    (second,) = autograd.grad(first, x)
    assert values(second) == [12.0]
    assert seen == [False]
    (again,) = autograd.grad(y, x)
    assert values(again) == [18.0] and len(seen) == 2


def test_nodes_that_do_not_run_call_no_node_hooks() -> None:
    """[A9] a captured tensor's own hooks run, those of its node do not."""
    x, log = leaf(1.0), []
    y = x * 2
    assert y.grad_fn is not None
    y.register_hook(lambda g: log.append("tensor"))
    y.grad_fn.register_prehook(lambda grads: log.append("pre"))
    autograd.grad((y * 3).sum(), y)
    assert log == ["tensor"]


def test_accumulator_keeps_its_hooks_while_somebody_holds_it() -> None:
    """[A9] hooks on an accumulator node."""
    x, log = leaf(1.0), []
    node = graph.get_gradient_edge(x).node
    assert node.name() == "AccumulateGrad" and node.variable is not None and node.next_functions == ()
    node.register_prehook(lambda grads: (log.append(values(grads[0])), (grads[0] * 10,))[1])
    for _ in range(2):
        (x * 2).backward()
    assert (log, values(x.grad)) == ([[2.0], [2.0]], [40.0])
    del node
    (x * 2).backward()
    assert len(log) == 2 and values(x.grad) == [42.0]


# ---- A9: hooks on several tensors ----


def test_all_mode_runs_once_with_all_gradients() -> None:
    """[A9] undefined ones are absent."""
    x, y, z = leaf(1.0), leaf(2.0), leaf(3.0)
    seen: list[Any] = []
    handle = graph.register_multi_grad_hook(
        (x, y, z), lambda grads: seen.append([None if g is None else values(g) for g in grads])
    )
    for _ in range(2):
        (x * y * z).backward()
    (x * z).backward()
    assert seen == [[[6.0], [3.0], [2.0]]] * 2 + [[[3.0], None, [1.0]]]
    (leaf(1.0) * 2).backward()
    assert len(seen) == 3  # a backward that reaches none of them
    handle.remove()
    handle.remove()
    (x * y * z).backward()
    assert len(seen) == 3


def test_all_mode_does_not_wait_for_the_end_when_every_gradient_is_there() -> None:
    """[A9]"""
    x, log = leaf(1.0), []
    y = x * 2
    z = y * 3
    graph.register_multi_grad_hook([y, z], lambda grads: log.append("both"))
    x.register_hook(lambda g: log.append("leaf"))
    z.backward()
    assert log == ["both", "leaf"]


def test_any_mode_runs_at_the_first_gradient() -> None:
    """[A9]"""
    x, log = leaf(1.0), []
    y = x * 2
    z = y * 3
    graph.register_multi_grad_hook([x, y, z], lambda grad: log.append(values(grad)), mode="any")
    x.register_hook(lambda g: log.append("leaf"))
    z.backward(retain_graph=True)
    assert log == [[1.0], "leaf"]
    autograd.grad(y * 5, x)
    assert log == [[1.0], "leaf", [5.0], "leaf"]


def test_backward_inside_a_multi_hook_counts_by_itself() -> None:
    """[A9]"""
    x, y, log = leaf(1.0), leaf(2.0), []

    def hook(grads: Any) -> None:
        log.append([values(g) for g in grads])
        if len(log) == 1:
            with ts.enable_grad():  # hooks run without recording
                (x * y * 10).backward()

    graph.register_multi_grad_hook([x, y], hook)
    (x * y).backward()
    assert log == [[[2.0], [1.0]], [[20.0], [10.0]]]


def test_a_failed_backward_leaves_nothing_of_its_run() -> None:
    """[A9]"""
    x, seen = leaf(1.0), []
    y = x * 2
    bad = x.register_hook(failing)
    graph.register_multi_grad_hook([y, x], lambda grads: seen.append(len(grads)))
    for _ in range(3):
        with pytest.raises(Mine):
            y.backward(retain_graph=True)
    assert seen == []
    bad.remove()
    y.backward()
    assert seen == [2]


def test_multi_hook_says_what_is_wrong() -> None:
    """[A9]"""
    with pytest.raises(ValueError, match="mode 'all' or 'any', got 'none'"):
        graph.register_multi_grad_hook([leaf(1.0)], print, mode="none")
    with pytest.raises(RuntimeError, match="one at 1 that does not"):
        graph.register_multi_grad_hook([leaf(1.0), ts.ones(2)], print)
    with pytest.raises(ValueError, match="at least one tensor"):
        graph.register_multi_grad_hook([], print)
    with pytest.raises(TypeError):
        graph.register_multi_grad_hook([leaf(1.0)], 3)  # type: ignore[arg-type]


# ---- A9: edges ----


def test_edges_are_inputs_of_grad_and_backward() -> None:
    """[A9] get_gradient_edge"""
    x = leaf(2.0)
    y = x * x
    z = (y * 5).sum()
    at_y, at_x = graph.get_gradient_edge(y), graph.get_gradient_edge(x)
    assert at_y.node == y.grad_fn and at_y.output_nr == 0
    assert isinstance(at_y, graph.GradientEdge)
    grads = autograd.grad(z, [at_x, y, at_y], retain_graph=True)
    assert [values(g) for g in grads] == [[20.0], [5.0], [5.0]]
    (alone,) = autograd.grad(z, at_y, retain_graph=True)
    assert values(alone) == [5.0]
    z.backward(inputs=[at_x], retain_graph=True)
    assert values(x.grad) == [20.0]
    x.grad = None
    log: list[str] = []
    y.register_hook(lambda g: log.append("at y"))
    z.backward(inputs=[at_y], retain_graph=True)
    assert log == ["at y"] and x.grad is None and y.grad is None
    autograd.backward(z, inputs=[y, at_x])
    assert (values(y.grad), values(x.grad)) == ([5.0], [20.0])


def test_edge_of_an_overwritten_tensor_leads_to_its_old_value() -> None:
    """[A9]"""
    x = leaf(2.0)
    y = x * 3
    before = graph.get_gradient_edge(y)
    y.mul_(7)
    assert graph.get_gradient_edge(y).node != before.node
    grads = autograd.grad(y, [before, y])
    assert [values(g) for g in grads] == [[7.0], [1.0]]


def test_edges_say_what_is_wrong() -> None:
    """[A9]"""
    x, other = leaf(2.0), leaf(3.0)
    z = x * 2
    with pytest.raises(RuntimeError, match="requires grad"):
        graph.get_gradient_edge(ts.ones(2))
    with pytest.raises(IndexError, match="one of the 1 outputs"):
        autograd.grad(z, graph.GradientEdge(graph.get_gradient_edge(x).node, 1))
    with pytest.raises(RuntimeError, match="not have been used"):
        autograd.grad(z, [graph.get_gradient_edge(other)], retain_graph=True)
    assert autograd.grad(z, [graph.get_gradient_edge(other)], allow_unused=True) == (None,)


def test_increment_version_makes_a_later_backward_fail() -> None:
    """[A9] [I1]"""
    x = leaf(2.0)
    y = x.exp()
    version = y._version
    graph.increment_version(y)
    assert y._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        y.backward()
    graph.increment_version([x.detach(), y.detach()])
    with ts.inference_mode(), pytest.raises(RuntimeError, match="inference mode"):
        graph.increment_version(ts.ones(2))


# ---- threads ----


def test_hooks_added_and_removed_while_other_threads_run_backwards() -> None:
    """[A9] [E24] hooks on several threads"""
    x = leaf(1.0, 2.0)
    y = x * 3
    node = y.grad_fn
    assert node is not None
    total = y.sum()
    count, stop = [0], threading.Event()
    lock = threading.Lock()

    def hook(*given: Any) -> None:
        with lock:
            count[0] += 1

    def run() -> None:
        for _ in range(100):
            autograd.grad(total, x, retain_graph=True)

    def change() -> None:
        while not stop.is_set():
            handles = [
                node.register_prehook(hook), node.register_hook(hook), y.register_hook(hook),
                graph.register_multi_grad_hook([x, y], hook),
            ]  # fmt: skip
            for handle in handles:
                handle.remove()

    fixed = node.register_prehook(hook)
    changing = threading.Thread(target=change)
    running = [threading.Thread(target=run) for _ in range(3)]
    for thread in [changing, *running]:
        thread.start()
    for thread in running:
        thread.join()
    stop.set()
    changing.join()
    assert count[0] >= 300
    fixed.remove()
    count[0] = 0
    np.testing.assert_array_equal(autograd.grad(total, x)[0].numpy(), [3.0, 3.0])
    assert count[0] == 0


# ---- PyTorch's names ----


def test_torch_dialect_has_the_names_and_its_own_tensors() -> None:
    """[A9] tessera.torch"""
    from tessera import torch

    x = torch.ones(2, requires_grad=True)
    y = (x * 3).exp()
    seen: list[Any] = []
    y.grad_fn.register_prehook(lambda grads: seen.extend(grads))
    y.grad_fn.register_hook(lambda results, grads: seen.extend(results + grads))
    assert y.grad_fn.next_functions[0][0].register_hook(lambda *given: None) is not None
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda grads: seen.extend(grads))
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda grad: seen.append(grad), mode="any")
    edge = torch.autograd.graph.get_gradient_edge(x)
    assert edge.node.variable is not None and isinstance(edge.node.variable, torch.Tensor)
    (g,) = torch.autograd.grad(y.sum(), edge)
    assert isinstance(g, torch.Tensor)
    assert len(seen) == 6 and all(isinstance(t, torch.Tensor) for t in seen)
    torch.autograd.graph.increment_version(x.detach())
