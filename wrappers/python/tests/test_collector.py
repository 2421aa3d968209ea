# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Python's collector and the library: cycles through hooks and custom functions, long chains, threads at exit."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tessera as ts
from tessera import autograd, nn, optim
from tessera.autograd import graph


@pytest.fixture(autouse=True)
def leaves_nothing_behind() -> Iterator[None]:
    gc.collect()
    handles, nodes = ts.memory.live_handles(), ts.memory.live_nodes()
    yield
    gc.collect()
    assert (ts.memory.live_handles(), ts.memory.live_nodes()) == (handles, nodes)


class Logged(nn.Module):
    """A cycle: its hooks refer to the module, the module to its parameters, and the parameters to the hooks."""

    def __init__(self, accumulate: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.log: list[int] = []
        for p in self.parameters():
            if accumulate:
                p.register_post_accumulate_grad_hook(lambda p: self.log.append(1))
            else:
                p.register_hook(lambda g: self.log.append(1))

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return self.linear(x)  # type: ignore[no-any-return]


@pytest.mark.parametrize("accumulate", [False, True])
def test_module_whose_hooks_reach_it_is_collected(accumulate: bool) -> None:
    made = [Logged(accumulate) for _ in range(5)]
    for module in made:
        module(ts.ones((2, 3))).sum().backward()
        assert module.log == [1, 1]
    alive = [weakref.ref(module) for module in made]
    del made, module
    gc.collect()
    assert [r() for r in alive] == [None] * 5


class Thing:
    """An object that can be watched by a weak reference."""


def watched(make: Callable[[Thing], Any]) -> Any:
    thing = Thing()
    make(thing)
    return weakref.ref(thing)


def hook_on_itself(thing: Thing) -> None:
    x = ts.ones(2, requires_grad=True)
    x.register_hook(lambda g: (thing, x) and None)


def hook_on_a_result(thing: Thing) -> None:
    y = ts.ones(2, requires_grad=True) * 2
    y.register_hook(lambda g: (thing, y) and None)


def hook_deep_in_the_graph(thing: Thing) -> None:
    y = ts.ones(2, requires_grad=True) * 2
    held: list[Any] = [thing]
    y.register_hook(lambda g: held and None)
    for _ in range(3):
        y = y * 2
    y.register_hook(lambda g: None)
    held.append(y)


class Keeps(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, thing: Thing) -> ts.Tensor:
        ctx.thing = thing
        ctx.result = x * 2
        return ctx.result

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> Any:
        return g * 2, None


def function_that_keeps_its_result(thing: Thing) -> None:
    Keeps.apply(ts.ones(2, requires_grad=True), thing)


def hook_that_steps(thing: Thing) -> None:
    """The optimizer's step as part of the backward."""
    p, q = nn.Parameter(ts.ones(2)), nn.Parameter(ts.ones(2))
    optimizers = [optim.Adam([p]), optim.SGD([{"params": [q]}, {"params": [p]}], momentum=0.9)]
    p.register_post_accumulate_grad_hook(lambda p: thing and [o.step() for o in optimizers] and None)
    (p * p).sum().backward()


def hook_of_a_parameter_that_left(thing: Thing) -> None:
    p, q = nn.Parameter(ts.ones(2)), nn.Parameter(ts.ones(2))
    optimizer = optim.Adam([p, q])
    for parameter in (p, q):
        parameter.register_hook(lambda g: thing and optimizer and None)
    optimizer.param_groups[0]["params"] = [p]
    optimizer.step()


def keep(*things: Any) -> None:
    """What a hook calls that needs these objects."""


def later_result_of_a_hooked_tensor(thing: Thing) -> None:
    held: list[Any] = [thing]
    y = ts.ones(2, requires_grad=True) * 2
    y.register_hook(lambda g: keep(held))
    z = y * 3  # has no hook of its own, and is all that keeps the graph
    held.append(z)


class Holds(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, held: Any) -> ts.Tensor:
        ctx.held = held
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> Any:
        return g * 2, None


def later_result_of_a_function(thing: Thing) -> None:
    held: list[Any] = [thing]
    held.append(Holds.apply(ts.ones(2, requires_grad=True), held).exp())


def function_that_keeps_its_node(thing: Thing) -> None:
    held: list[Any] = [thing]
    held.append(Holds.apply(ts.ones(2, requires_grad=True), held).grad_fn)


def node_hooks_of_a_result(thing: Thing) -> None:
    y = ts.ones(2, requires_grad=True) * 2
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: keep(thing, y))
    y.grad_fn.register_hook(lambda results, grads: keep(thing, y))


def hooks_of_a_node_that_hold_it(thing: Thing) -> None:
    node = (ts.ones(2, requires_grad=True) * 2).exp().grad_fn
    assert node is not None and node.next_functions[0][0] is not None
    node.next_functions[0][0].register_prehook(lambda grads: keep(thing, node))


def hook_of_an_accumulator(thing: Thing) -> None:
    x = ts.ones(2, requires_grad=True)
    edge = graph.get_gradient_edge(x)
    edge.node.register_prehook(lambda grads: keep(thing, edge, x))


def hook_on_several_tensors(thing: Thing) -> None:
    tensors = [ts.ones(2, requires_grad=True) for _ in range(3)]
    graph.register_multi_grad_hook(tensors, lambda grads: keep(thing, tensors))
    graph.register_multi_grad_hook(tensors, lambda grad: keep(thing, tensors), mode="any")
    sum(tensors, start=ts.zeros(2)).sum().backward()


def hook_on_several_parameters(thing: Thing) -> None:
    module = nn.Linear(3, 3)
    handle = graph.register_multi_grad_hook(list(module.parameters()), lambda grads: keep(thing, module, handle))


class Packed:
    def __init__(self, tensor: ts.Tensor, held: Any) -> None:
        self.tensor, self.held = tensor, held


def packed_tensors_that_hold_the_result(thing: Thing) -> None:
    held: list[Any] = [thing]
    x = ts.ones(2, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: Packed(t, held), lambda p: p.tensor):
        held.append((x * x).exp())


def saved_tensor_hooks_that_hold_the_result(thing: Thing) -> None:
    held: list[Any] = [thing]
    x = ts.ones(2, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.numpy().copy(), lambda p: held and ts.from_numpy(p)):
        held.append((x * x).exp())  # three saved tensors


class Overwrites(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, thing: Any) -> ts.Tensor:
        ctx.thing = thing
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> Any:
        return g * 2, None


def function_that_wrote_a_view(thing: Thing) -> None:
    held: list[Any] = [thing]
    x = ts.ones(4, requires_grad=True)
    x.register_hook(lambda g: None)  # from now on the collector looks at results
    base = x * 1
    Overwrites.apply(base[:2], held)
    held.append(base)


def in_place_result_of_a_function(thing: Thing) -> None:
    held: list[Any] = [thing]
    total = ts.zeros(2)
    y = Holds.apply(ts.ones(2, requires_grad=True), held)
    total += y
    held.append(total)


def attribute_of_a_subclass(thing: Thing) -> None:
    class Own(ts.Tensor):
        pass

    own: Any = Own(ts.ones(2))
    own.parts = (thing, own)


MAKERS = [
    hook_that_steps, hook_of_a_parameter_that_left, hook_on_itself, hook_on_a_result, hook_deep_in_the_graph,
    function_that_keeps_its_result, later_result_of_a_hooked_tensor, later_result_of_a_function, function_that_keeps_its_node,
    node_hooks_of_a_result, hooks_of_a_node_that_hold_it, hook_of_an_accumulator, hook_on_several_tensors,
    hook_on_several_parameters, packed_tensors_that_hold_the_result, saved_tensor_hooks_that_hold_the_result,
    function_that_wrote_a_view, in_place_result_of_a_function, attribute_of_a_subclass,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_cycle_through_the_library_is_collected(make: Callable[[Thing], None]) -> None:
    found = watched(make)
    gc.collect()
    assert found() is None


def test_hooks_of_several_tensors_stay_for_those_that_can_be_reached() -> None:
    """[A9] the first of the tensors is garbage, the hook is not."""
    seen: list[Any] = []
    kept = ts.ones(1, requires_grad=True)

    def make() -> None:
        lost = ts.ones(1, requires_grad=True)
        graph.register_multi_grad_hook([lost, kept], lambda grads: seen.append((lost is None, len(grads))))

    make()
    gc.collect()
    (kept * 2).backward()
    assert seen == [(False, 2)]


def test_packed_tensors_stay_while_the_graph_can_be_reached() -> None:
    """[A9]"""
    x = ts.tensor([2.0, 3.0]).requires_grad_()
    with graph.saved_tensors_hooks(lambda t: [t], lambda p: p[0]):
        y = (x * x).exp().log()
    gc.collect()
    y.sum().backward()
    assert x.grad is not None and x.grad.numpy().tolist() == pytest.approx([4.0, 6.0])


def test_collection_while_other_threads_run_backwards_takes_nothing_away() -> None:
    """[A9] [A20] the threads release the interpreter's lock inside the library, where they hold references of their own."""
    done, errors = threading.Event(), []

    def work() -> None:
        try:
            while not done.is_set():
                log: list[int] = []
                x = ts.ones(64, requires_grad=True)
                x.register_hook(lambda g, log=log, x=x: log.append(1))  # a cycle, too
                y = Holds.apply(x * 2, log)
                y.grad_fn.register_prehook(lambda grads, log=log: log.append(2))
                graph.register_multi_grad_hook([x, y], lambda grads, log=log: log.append(3))
                with graph.saved_tensors_hooks(lambda t, log=log: (t, log), lambda p: p[0]):
                    z = (y * y).exp().sum()
                z.backward()
                if log != [2, 1, 3] and log != [2, 3, 1]:
                    errors.append(log)
        except BaseException as error:  # of any kind
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(150):
        gc.collect()
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_hook_stays_while_anybody_can_reach_the_tensor() -> None:
    seen: list[float] = []
    x = ts.ones(2, requires_grad=True)
    x.register_hook(lambda g: seen.append(g.sum().item()))
    y = x * 2
    total = y.sum()
    y.register_hook(lambda g: seen.append(-g.sum().item()))
    del y  # the graph has the hook now
    gc.collect()
    total.backward()
    assert seen == [-2, 4]
    z, same = x * 1, autograd.grad  # once its object is gone, only the graph of z holds x
    x.register_hook(lambda g: seen.append(7))
    del x, same
    gc.collect()
    z.sum().backward()
    assert seen == [-2, 4, 2, 7]


VIEWS: list[Callable[[ts.Tensor], ts.Tensor]] = [
    lambda x: x.reshape((-1,)),
    lambda x: x.T,
    lambda x: ts.expand_dims(x, 0),
    lambda x: x[0],
    lambda x: x[::2],
    lambda x: x.detach(),
    lambda x: ts.diagonal(x),
]
USES: list[Callable[[ts.Tensor], Any]] = [
    lambda v: v.floor_(),
    lambda v: v.mul_(2),
    lambda v: v.copy_(v * 2),
    lambda v: v.add_(v),
    lambda v: ts.floor(v),
    lambda v: v.sum().backward(),
    lambda v: autograd.grad(v.sum(), v, retain_graph=True),
]


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize("leaf", [False, True])
def test_nothing_stays_of_views_however_they_are_used(leaf: bool, freeze: bool) -> None:
    nodes, handles = ts.memory.live_nodes(), ts.memory.live_handles()
    for view in VIEWS:
        for first in USES:
            for second in USES:
                x = ts.ones((2, 2), requires_grad=True)
                v = view(x if leaf else x * 1)
                x.requires_grad_(not freeze)
                for use in (first, second):
                    with contextlib.suppress(RuntimeError):
                        use(v)
                del x, v
                assert (ts.memory.live_nodes(), ts.memory.live_handles()) == (nodes, handles)


def test_ordinary_tensors_are_none_of_the_collectors_business() -> None:
    program = """
import gc
import tessera as ts
x = ts.ones(2, requires_grad=True)
assert not gc.is_tracked(x) and not gc.is_tracked(x * 2)
hooked = ts.ones(2, requires_grad=True)
handle = hooked.register_hook(lambda g: None)
assert gc.is_tracked(hooked)
assert gc.is_tracked(x * 2) and not gc.is_tracked(ts.ones(2) * 2)  # results with a graph, while there is a callable
handle.remove()
assert not gc.is_tracked(x * 2)
print("end")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_gradients_of_gradients_are_freed_without_recursion() -> None:
    t = ts.zeros(1)
    for _ in range(200_000):
        n = ts.zeros(1)
        n.grad = t
        t = n
    del t, n


AT_EXIT = """
import threading, time
import tessera as ts

def backwards():
    a = ts.rand((40, 40), requires_grad=True)
    {setup}
    while True:
        (a @ a).sum().backward()
        a.grad = None

for _ in range(3):
    threading.Thread(target=backwards, daemon=True).start()
time.sleep(0.3)
print("end")
"""
SETUPS = {
    "hook": "a.register_hook(lambda g: g * 1)",
    "busy hook": "a.register_hook(lambda g: sum(range(1000)) and None)",
    "saved": "ts.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 1).__enter__()",
}


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_daemon_threads_inside_a_backward_let_the_process_end(setup: str) -> None:
    program = AT_EXIT.format(setup=setup)
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_gradient_may_be_cleared_while_another_thread_accumulates() -> None:
    # A short switch interval: each call that releases the interpreter's lock may wait so long for it.
    program = """
import sys
import threading
import tessera as ts
sys.setswitchinterval(1e-5)
x = ts.ones(2, requires_grad=True)
def clear():
    while not done.is_set():
        x.grad = None
done = threading.Event()
thread = threading.Thread(target=clear)
thread.start()
for _ in range(5000):
    (x * 2).sum().backward()
done.set()
thread.join()
print("end")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
