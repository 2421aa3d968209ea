# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients, modes, hooks and custom functions from Python."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import autograd
from tessera.autograd import Function, gradcheck, gradgradcheck, once_differentiable


def leaf(*values: float, dtype: Any = ts.float64) -> ts.Tensor:
    return ts.tensor(list(values), dtype=dtype, requires_grad=True)


def test_backward_accumulates_into_leaves() -> None:
    x = leaf(1, 2, 3)
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [4, 8, 12]
    x.grad = None
    assert x.grad is None
    with pytest.raises(ValueError):
        x.grad = ts.ones(2, dtype=ts.float64)
    with pytest.raises(TypeError):
        x.grad = 3


def test_grad_is_one_object_as_long_as_it_is_one_tensor() -> None:
    x = leaf(1, 2)
    (x * x).sum().backward()
    held = x.grad
    assert held is not None and x.grad is x.grad is held
    held.mul_(10.0)
    assert x.grad.tolist() == [20, 40]
    given = ts.ones(2, dtype=ts.float64)
    x.grad = given
    assert x.grad is given and held.tolist() == [20, 40]
    x.grad = ts.nn.Parameter(ts.zeros(2, dtype=ts.float64)).detach()
    assert x.grad is not given and x.grad is x.grad
    x.grad = None
    assert x.grad is None


def test_grad_of_a_later_backward_is_found() -> None:
    x = leaf(3.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 5).sum().backward()
    assert x.grad.tolist() == [7] and x.grad is x.grad
    assert first is not None and (first is x.grad) == (first.data_ptr() == x.grad.data_ptr())


def test_a_kept_grad_object_keeps_no_memory_alive() -> None:
    gc.collect()
    before, handles = ts.memory.memory_allocated(), ts.memory.live_handles()
    x = ts.ones(1 << 18).requires_grad_()
    (x * 2).sum().backward()
    assert x.grad is x.grad
    assert ts.memory.memory_allocated() - before == 2 << 20
    x.grad = None
    assert ts.memory.memory_allocated() - before == 1 << 20
    for _ in range(3):
        (x * 2).sum().backward()
        assert x.grad[0].item() == 2
        x.grad = None
    x.grad = x.detach()
    del x  # no garbage collection: there is no cycle
    assert (ts.memory.memory_allocated(), ts.memory.live_handles()) == (before, handles)


def test_a_tensor_is_not_its_own_grad() -> None:
    x = ts.ones(2)
    with pytest.raises(RuntimeError, match="itself"):
        x.grad = x
    assert x.grad is None


def test_grad_object_dies_before_its_tensor() -> None:
    x = leaf(1.0)
    x.grad = ts.ones(1, dtype=ts.float64)
    gone = weakref.ref(x.grad)
    assert gone() is None and x.grad.tolist() == [1]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: x.grad.tolist() == [1], range(2000)))


def test_backward_needs_a_scalar_or_a_gradient() -> None:
    x = leaf(1, 2)
    y = x * 2
    with pytest.raises(RuntimeError):
        y.backward()
    y.backward(ts.tensor([1.0, 10.0], dtype=ts.float64))
    assert x.grad.tolist() == [2, 20]
    with pytest.raises(RuntimeError):
        ts.ones(1).backward()


def test_a_graph_runs_once_unless_retained() -> None:
    x = leaf(1, 2)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError):
        y.backward()


def test_backward_with_inputs_touches_only_those() -> None:
    x, z = leaf(1.0), leaf(2.0)
    (x * z).backward(inputs=[x])
    assert x.grad.tolist() == [2] and z.grad is None
    with pytest.raises(ValueError):
        (x * z).backward(inputs=[])


def test_grad_returns_and_changes_nothing() -> None:
    x, unused = leaf(1.0, 2.0), leaf(1.0)
    y = (x**3).sum()
    (first,) = autograd.grad(y, x, create_graph=True)
    (second,) = autograd.grad(first.sum(), [x])
    assert first.tolist() == [3, 12] and second.tolist() == [6, 12] and x.grad is None
    with pytest.raises(RuntimeError):
        autograd.grad(x.sum(), [unused])
    assert autograd.grad(x.sum(), [unused], allow_unused=True) == (None,)
    with pytest.raises(TypeError):
        autograd.grad(y, [3])


def test_modes_nest_and_restore() -> None:
    x = leaf(1.0)
    assert ts.is_grad_enabled()
    with ts.no_grad():
        assert not (x * 2).requires_grad
        with ts.enable_grad():
            assert (x * 2).requires_grad
        assert not ts.is_grad_enabled()
    with pytest.raises(KeyError), ts.no_grad():
        raise KeyError
    assert ts.is_grad_enabled()
    with ts.set_grad_enabled(False):
        assert not ts.is_grad_enabled()
    assert ts.is_grad_enabled()


def test_a2_modes_decorate() -> None:
    x = leaf(1.0)

    @ts.no_grad()
    def quiet() -> ts.Tensor:
        return x * 2

    @ts.no_grad
    def bare() -> ts.Tensor:
        return x * 2

    assert not quiet().requires_grad and not bare().requires_grad and quiet.__name__ == "quiet"


def test_modes_decorate_generators() -> None:
    x = leaf(1.0)
    seen: list[Any] = []

    @ts.no_grad()
    def steps(first: Any) -> Any:
        """Keeps its name."""
        try:
            second = yield first, (x * 2).requires_grad
            seen.append((second, ts.is_grad_enabled()))
            yield ts.is_grad_enabled()
        except KeyError:
            yield "caught", ts.is_grad_enabled()
        finally:
            seen.append(ts.is_grad_enabled())
        return "end"

    assert list(steps(1)) == [(1, False), False] and steps.__doc__ == "Keeps its name."
    assert seen == [(None, False), False]
    seen.clear()
    running = steps(3)
    assert next(running) == (3, False) and (x * 2).requires_grad
    assert running.send(7) is False and seen == [(7, False)] and ts.is_grad_enabled()
    running.close()
    assert seen == [(7, False), False] and ts.is_grad_enabled()
    running = steps(3)
    next(running)
    assert running.throw(KeyError()) == ("caught", False) and ts.is_grad_enabled()
    with pytest.raises(StopIteration, match="end"):
        next(running)


def test_set_grad_enabled_decorates() -> None:
    x = leaf(1.0)

    @ts.set_grad_enabled(False)
    def quiet() -> Any:
        return (x * 2).requires_grad

    assert ts.is_grad_enabled() and not quiet() and ts.is_grad_enabled()
    mode = ts.set_grad_enabled(False)
    assert not ts.is_grad_enabled()
    for _ in range(2):
        with mode, mode:
            assert not ts.is_grad_enabled()
        assert ts.is_grad_enabled()


def test_inference_mode() -> None:
    x = leaf(1.0)
    with ts.inference_mode():
        y = x * 2
        assert ts.is_inference_mode_enabled() and not y.requires_grad and y._inference
    assert not ts.is_inference_mode_enabled()
    with pytest.raises(RuntimeError):
        (x * y).sum().backward()


def test_modes_belong_to_the_thread() -> None:
    seen = []
    with ts.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ts.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_requires_grad_rules() -> None:
    x = leaf(1.0)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.grad_fn is not None and x.grad_fn is None
    with pytest.raises(TypeError):
        ts.tensor([1]).requires_grad_()
    with pytest.raises(RuntimeError):
        y.requires_grad = False
    with pytest.raises(RuntimeError):
        x += 1
    with ts.no_grad():
        x += 1
    assert x.detach().tolist() == [2]


def test_a7_retain_grad() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad.tolist() == [6, 12]


def test_changed_saved_tensors_are_noticed() -> None:
    x = leaf(1.0)
    y = x.exp()
    z = y * y
    with ts.no_grad():
        y += 1
    with pytest.raises(RuntimeError, match="version|modified"):
        z.backward()


def test_a21_graph_can_be_walked() -> None:
    x = leaf(1.0)
    y = (x * x).exp()
    node = y.grad_fn
    assert node.name() == "ExpBackward" and "ExpBackward" in repr(node)
    inner = node.next_functions[0][0]
    assert inner.name() == "MultiplyBackward" and inner.sequence_nr < node.sequence_nr
    accumulate = inner.next_functions[0][0]
    assert accumulate.name() == "AccumulateGrad" and accumulate.variable is not None
    assert y.grad_fn == node and len({node, y.grad_fn}) == 1 and len(node.saved_tensors) == 1


def test_hooks_see_and_replace_gradients() -> None:
    x = leaf(1.0, 2.0)
    seen: list[Any] = []
    first = x.register_hook(lambda g: seen.append(g.tolist()))
    second = x.register_hook(lambda g: g * 10)
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [30, 30]
    first.remove()
    first.remove()
    with second:
        pass
    x.grad = None
    (x * 3).sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError):
        ts.ones(1).register_hook(lambda g: g)


def test_post_accumulate_hooks_see_the_leaf() -> None:
    x = leaf(1.0)
    seen: list[Any] = []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    (x * 5).backward()
    assert seen == [[5]]
    handle.remove()


class Stop(Exception):
    pass


def test_e19_exceptions_pass_through_as_themselves() -> None:
    x = leaf(1.0)
    raised = Stop("in a hook")

    def hook(grad: ts.Tensor) -> None:
        raise raised

    handle = x.register_hook(hook)
    with pytest.raises(Stop) as info:
        (x * 2).backward()
    assert info.value is raised and any(e.name == "hook" for e in info.traceback)
    handle.remove()
    (x * 2).backward()
    assert x.grad.tolist() == [2]


def test_exceptions_that_passed_through_keep_nothing_alive() -> None:
    x = leaf(1.0)
    x.register_hook(lambda g: 1 / 0)
    gc.collect()
    gc.disable()
    try:
        y = x.exp()
        gone = weakref.ref(y)
        with pytest.raises(ZeroDivisionError):
            y.backward()
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_hooks_must_return_tensors() -> None:
    x = leaf(1.0)
    x.register_hook(lambda g: "no")
    with pytest.raises(TypeError, match="hook"):
        (x * 2).backward()


def test_e18_callbacks_run_when_the_backward_ends() -> None:
    order: list[str] = []
    x = leaf(1.0)

    def hook(grad: ts.Tensor) -> None:
        order.append("hook")
        autograd.queue_callback(lambda: order.append("end"))

    x.register_hook(hook)
    (x * 2).backward()
    assert order == ["hook", "end"]
    with pytest.raises(RuntimeError):
        autograd.queue_callback(lambda: None)


def test_backward_inside_a_hook() -> None:
    x, y = leaf(2.0), leaf(3.0)

    def hook(grad: ts.Tensor) -> None:
        with ts.enable_grad():
            (y * y).sum().backward()

    x.register_hook(hook)
    (x * 2).backward()
    assert x.grad.tolist() == [2] and y.grad.tolist() == [6]


# ---- Custom functions ----


class NumpyCube(Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(x)
        return ts.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    def backward(ctx: Any, grad: ts.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def test_a11_function_over_numpy_passes_gradcheck() -> None:
    x = leaf(0.5, -1.0, 2.0)
    assert gradcheck(NumpyCube.apply, (x,)) and gradgradcheck(NumpyCube.apply, (x,))
    y = NumpyCube.apply(x)
    assert y.grad_fn.name() == "NumpyCubeBackward" and not NumpyCube.apply(ts.ones(1)).requires_grad


class Two(Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor, scale: float, y: ts.Tensor) -> Any:
        ctx.scale = scale
        ctx.save_for_backward(x, y)
        return x * y * scale, x + y

    @staticmethod
    def backward(ctx: Any, g1: ts.Tensor, g2: ts.Tensor) -> Any:
        x, y = ctx.saved_tensors
        left = g1 * y * ctx.scale + g2 if ctx.needs_input_grad[0] else None
        right = g1 * x * ctx.scale + g2 if ctx.needs_input_grad[2] else None
        return left, None, right


def test_a10_function_of_several_inputs_and_outputs() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    assert gradcheck(lambda a, b: Two.apply(a, 2.5, b), (x, y))
    assert gradgradcheck(lambda a, b: Two.apply(a, 2.5, b), (x, y))
    first, _ = Two.apply(x, 2.0, y.detach())
    first.sum().backward()
    assert x.grad.tolist() == [6, 8] and y.grad is None


class Dirty(Function):
    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        x *= 2
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
        return grad * 2


def test_i10_mark_dirty_returns_the_same_object() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    version = y._version
    z = Dirty.apply(y)
    assert z is y and y._version > version and y.grad_fn.name() == "DirtyBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def make_function(backward: Any, prepare: Any = None) -> Any:
    class Made(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> Any:
            if prepare is not None:
                return prepare(ctx, x)
            return x * 2

    Made.backward = staticmethod(backward)  # type: ignore[method-assign]
    return Made


def test_a10_mark_non_differentiable_and_materialize() -> None:
    def prepare(ctx: Any, x: ts.Tensor) -> Any:
        index = ts.argmax(x)
        ctx.mark_non_differentiable(index)
        return x * 2, index

    x = leaf(1.0, 5.0)
    y, index = make_function(lambda ctx, g, unused: g * 2, prepare).apply(x)
    assert y.requires_grad and not index.requires_grad and index.item() == 1
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]

    seen = []

    def no_zeros(ctx: Any, x: ts.Tensor) -> Any:
        ctx.set_materialize_grads(False)
        return x * 1, x * 1

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append((a is None, b is None))
        return b

    _, second = make_function(backward, no_zeros).apply(x)
    second.sum().backward()
    assert seen == [(True, False)]


@pytest.mark.parametrize("backward, kind, text", [
    (lambda ctx, g: (g, g), RuntimeError, "returned an incorrect number of gradients .expected 1, got 2."),
    (lambda ctx, g: ts.ones(5, dtype=ts.float64), RuntimeError, ""),
    (lambda ctx, g: "x", RuntimeError, "expected a Tensor"),
    (lambda ctx, g: 1 / 0, ZeroDivisionError, ""),
])  # fmt: skip
def test_a10_wrong_backwards_raise(backward: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        make_function(backward).apply(leaf(1.0, 2.0)).sum().backward()


def test_function_may_return_what_is_no_tensor() -> None:
    def prepare(ctx: Any, x: ts.Tensor) -> Any:
        return [x * 2, 5, None]

    x = leaf(1.0, 2.0)
    seen: list[Any] = []

    def backward(ctx: Any, *grads: Any) -> Any:
        seen.append(grads[1:])
        return [grads[0] * 2]

    found = make_function(backward, prepare).apply(x)
    assert type(found) is list and found[1:] == [5, None]
    found[0].sum().backward()
    assert x.grad.tolist() == [2, 2] and seen == [(None, None)]
    with pytest.raises(TypeError, match="expected a Tensor among the results"):
        make_function(backward, lambda ctx, x: 3).apply(x)


def test_function_may_say_vjp() -> None:
    class Twice(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 2

        @staticmethod
        def vjp(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
            return grad * 2

    assert gradcheck(Twice.apply, (leaf(1.0),))
    with pytest.raises(TypeError, match="backward and vjp"):
        type("Both", (Function,), {"backward": None, "vjp": None})


def test_function_takes_tensors_that_require_grad_by_position() -> None:
    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor, scale: Any = 1) -> ts.Tensor:
            return x * scale

        @staticmethod
        def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
            return grad

    assert Scaled.apply(leaf(1.0), scale=3).item() == 3
    with pytest.raises(TypeError, match="by position, got scale="):
        Scaled.apply(leaf(1.0), scale=leaf(2.0))


def test_a10_missing_backward_raises() -> None:
    class Half(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 1

    with pytest.raises(NotImplementedError, match="backward"):
        Half.apply(leaf(1.0)).backward()


def test_e7_once_differentiable_refuses_a_second_derivative() -> None:
    made = make_function(once_differentiable(lambda ctx, g: g * 2))
    x, weight = leaf(1.0), leaf(3.0)
    (first,) = autograd.grad(made.apply(x), x, weight, create_graph=True)
    assert first.tolist() == [6] and first.requires_grad
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.backward()
    (constant,) = autograd.grad(made.apply(x), x, create_graph=True)
    assert constant.tolist() == [2] and not constant.requires_grad


def test_e9_functions_and_hooks_leave_nothing_behind() -> None:
    gc.collect()
    handles, nodes = ts.memory.live_handles(), ts.memory.live_nodes()
    for _ in range(20):
        x = leaf(1.0, 2.0)
        x.register_hook(lambda g: g * 2)
        y = NumpyCube.apply(x)
        z, _ = Two.apply(y, 2.0, x)
        z.sum().backward()
        with pytest.raises(ZeroDivisionError):
            make_function(lambda ctx, g: 1 / 0).apply(x).sum().backward()
    del x, y, z, _
    gc.collect()
    assert ts.memory.live_handles() == handles and ts.memory.live_nodes() == nodes


def test_a14_nodes_die_with_the_last_output() -> None:
    gc.collect()
    nodes = ts.memory.live_nodes()
    x = leaf(1.0)
    y = x.exp().exp()
    assert ts.memory.live_nodes() > nodes
    del y
    assert ts.memory.live_nodes() <= nodes + 1  # the leaf may keep its accumulator


def test_e24_threads_run_backward_at_once() -> None:
    x = leaf(*range(1, 101))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(50):
                (x * x).sum().backward()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    np.testing.assert_allclose(x.grad.numpy(), 200 * 2 * np.arange(1, 101))


def test_python_runs_while_the_library_works() -> None:
    stop, counts = threading.Event(), [0]

    def count() -> None:
        while not stop.is_set():
            counts[0] += 1

    thread = threading.Thread(target=count)
    a = ts.rand((700, 700))
    thread.start()
    before = counts[0]
    for _ in range(3):
        a @ a
    after = counts[0]
    stop.set()
    thread.join()
    assert after > before


def test_gradcheck_finds_wrong_derivatives() -> None:
    wrong = make_function(lambda ctx, g: g * 3)
    with pytest.raises(autograd.GradcheckError):
        gradcheck(wrong.apply, (leaf(1.0),))
    assert gradcheck(wrong.apply, (leaf(1.0),), raise_exception=False) is False
    with pytest.raises(ValueError):
        gradcheck(wrong.apply, (leaf(1.0, dtype=ts.float32),))


def test_e3_diamonds_reuse_and_expansion_have_second_derivatives() -> None:
    x = leaf(0.5, 1.5)
    assert gradgradcheck(lambda t: t.exp() * t.sin() + t.exp(), (x,))
    assert gradgradcheck(lambda t: t * t * t, (x,))
    assert gradgradcheck(lambda t: (t.broadcast_to((3, 2)) ** 2).sum(), (x,))
