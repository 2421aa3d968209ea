# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Python's collector and the library: cycles through hooks and custom functions, long chains, threads at exit."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tessera as ts
from tessera import autograd, nn, optim


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


MAKERS = [
    hook_that_steps, hook_of_a_parameter_that_left, hook_on_itself, hook_on_a_result, hook_deep_in_the_graph,
    function_that_keeps_its_result,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_cycle_through_the_library_is_collected(make: Callable[[Thing], None]) -> None:
    found = watched(make)
    gc.collect()
    assert found() is None


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
    x = ts.ones(2, requires_grad=True)
    assert not gc.is_tracked(x) and not gc.is_tracked(x * 2)
    x.register_hook(lambda g: None)
    assert gc.is_tracked(x)


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
    program = """
import threading
import tessera as ts
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
