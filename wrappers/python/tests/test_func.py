# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""func.grad, vjp, jvp, Jacobians and Hessians, alone, inside one another and inside vmap; custom functions [A10]; batched
gradients."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn
from tessera.autograd import Function
from tessera.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    value_and_grad,
    vjp,
    vmap,
)


def close(a: Any, b: Any, rtol: float = 1e-6) -> None:
    assert tuple(a.shape) == tuple(b.shape)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol, 1e-8)


def normal(*shape: int) -> Any:
    return ts.randn(shape, dtype=ts.float64)


def f(x: Any) -> Any:
    return (x.sin() * x.roll(1)).cumsum(0)


def g(x: Any) -> Any:
    return (f(x) ** 2).sum()


# ---- grad ----


def test_grad_is_the_gradient() -> None:
    x = normal(4)
    leaf = x.clone().requires_grad_()
    (want,) = ts.autograd.grad(g(leaf), leaf)
    close(grad(g)(x), want)
    value, got = value_and_grad(g)(x)
    close(value, g(x))
    close(got, want)
    assert not got.requires_grad and not value.requires_grad
    got, value = grad_and_value(g)(x)
    close(got, want)


def test_grad_by_several_arguments_and_with_aux() -> None:
    x, y = normal(3), {"w": normal(3), "b": [normal()]}
    h = lambda x, y: ((x * y["w"]).sum() + y["b"][0], (x + 1, "kept"))  # noqa: E731
    (gx, gy), (aux, word) = grad(h, argnums=(0, 1), has_aux=True)(x, y)
    close(gx, y["w"])
    close(gy["w"], x)
    close(gy["b"][0], ts.ones((), dtype=ts.float64))
    assert word == "kept" and not aux.requires_grad
    ((value, _), gy) = value_and_grad(h, argnums=-1, has_aux=True)(x, y)
    close(gy["w"], x)
    close(value, h(x, y)[0])


def test_grads_inside_one_another() -> None:
    x = normal()
    cube = lambda x: x**3  # noqa: E731
    close(grad(grad(cube))(x), 6 * x)
    close(grad(grad(grad(cube)))(x), ts.full((), 6.0, dtype=ts.float64))
    y = normal()
    close(grad(lambda x: x * grad(lambda y: x * y * y)(y))(x), 4 * x * y)


def test_the_gradient_is_recorded_where_the_caller_differentiates() -> None:
    x = normal(3).requires_grad_()
    got = grad(lambda v: (v**3).sum())(x)
    assert got.requires_grad
    got.sum().backward()
    close(x.grad, 6 * x)
    w = normal(3).requires_grad_()
    got = grad(lambda v, w: (w * v**2).sum())(normal(3), w)
    got.sum().backward()
    assert w.grad is not None
    with ts.no_grad():
        assert not grad(lambda v: (v**3).sum())(x).requires_grad


def test_parameters_of_a_model_around_grad_get_their_gradients() -> None:
    model = nn.Linear(3, 1).double()
    x = normal(3)
    penalty = (grad(lambda v: model(v).sin().sum())(x) ** 2).sum()
    penalty.backward()
    leaf = x.clone().requires_grad_()
    (inner,) = ts.autograd.grad(model(leaf).sin().sum(), leaf, create_graph=True)
    want = ts.autograd.grad((inner**2).sum(), list(model.parameters()))
    for p, w in zip(model.parameters(), want):
        close(p.grad, w)


def test_an_input_that_does_not_matter_has_gradient_zero() -> None:
    close(grad(lambda x, y: y.sum())(normal(3), normal(2)), ts.zeros((3,), dtype=ts.float64))
    close(grad(lambda x: ts.ones((), dtype=ts.float64))(normal(3)), ts.zeros((3,), dtype=ts.float64))


def test_no_grad_inside_is_respected() -> None:
    def h(x: Any) -> Any:
        with ts.no_grad():
            fixed = x**2
        return (x * fixed).sum()

    x = normal(3)
    close(grad(h)(x), x**2)


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: grad(lambda x: x)(normal(3)), ts.ShapeError, "a single number"),
        (lambda: grad(lambda x: 3.0)(normal(3)), ts.ArgumentTypeError, "return a Tensor, got float"),
        (lambda: grad(lambda x: x.sum())(ts.arange(3)), ts.DTypeError, "floating or complex"),
        (lambda: grad(lambda x: x.sum() > 0)(normal(3)), ts.DTypeError, "floating or complex"),
        (lambda: grad(lambda x: x.sum())(3.0), ts.ArgumentTypeError, "expected Tensors, got float"),
        (lambda: grad(lambda x: x.sum(), argnums=1)(normal(3)), ts.OutOfRangeError, "argnums: 1"),
        (lambda: grad(lambda x: x.sum(), argnums="0")(normal(3)), ts.ArgumentTypeError, "argnums"),
        (lambda: grad(lambda x: x.sum(), argnums=(0, 0))(normal(3)), ts.InvalidValueError, "different numbers"),
        (lambda: grad(lambda x: x.sum(), has_aux=True)(normal(3)), ts.ArgumentTypeError, "has_aux"),
        (lambda: vjp(f, normal(3))[1](normal(4)), ts.ShapeError, r"expected shape \(3,\), got \(4,\)"),
        (lambda: vjp(f, normal(3))[1]([normal(3)]), ts.ArgumentTypeError, "structure"),
        (lambda: vjp(lambda x: 1, normal(3)), ts.ArgumentTypeError, "return Tensors, got int"),
        (lambda: jvp(f, normal(3), (normal(3),)), ts.ArgumentTypeError, "primals: expected a tuple"),
        (lambda: jvp(f, (normal(3),), (normal(2),)), ts.ShapeError, "expected shape"),
        (lambda: jvp(f, (normal(3),), (normal(3), normal(3))), ts.ArgumentTypeError, "structure"),
        (lambda: jacrev(f, chunk_size=0), ts.InvalidValueError, "chunk_size"),
        (lambda: jacfwd(f)(ts.arange(3)), ts.DTypeError, "floating or complex"),
    ],
)
def test_errors_say_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


# ---- products and Jacobians ----


def test_vjp_and_jvp_are_transposes() -> None:
    x, u, v = normal(5), normal(5), normal(5)
    out, pull = vjp(f, x)
    close(out, f(x))
    (back,) = pull(u)
    out, pushed = jvp(f, (x,), (v,))
    close(out, f(x))
    np.testing.assert_allclose(float((u * pushed).sum()), float((back * v).sum()), 1e-10)
    close(pull(2 * u)[0], 2 * back)  # any number of times
    _, push = linearize(f, x)
    close(push(v), pushed)
    close(push(3 * v), 3 * pushed)


def test_the_function_of_linearize_runs_inside_vmap() -> None:
    x, w, basis = normal(3), normal(3), ts.eye(3, dtype=ts.float64)
    h = lambda a, b: (a.sin() * b.sum(), a**3)  # noqa: E731
    _, push = linearize(h, x, w)
    for got, wanted in zip(vmap(push, in_dims=(0, None))(basis, w), vmap(lambda v: jvp(h, (x, w), (v, w))[1])(basis)):
        close(got, wanted)
    twice = vmap(vmap(push, in_dims=(0, None)), in_dims=(None, 0))(basis, ts.stack([w, 2 * w]))
    for got, wanted in zip(twice, vmap(lambda b: vmap(lambda v: jvp(h, (x, w), (v, b))[1])(basis))(ts.stack([w, 2 * w]))):
        close(got, wanted)
    rows = vmap(lambda a: vmap(linearize(lambda b: b**3, a)[1])(basis))(ts.stack([x, 2 * x]))
    close(rows, ts.stack([ts.diag(3 * x**2), ts.diag(12 * x**2)]))
    close(grad(lambda a: vmap(linearize(lambda b: b**3, a)[1])(basis).sum())(x), 6 * x)


def test_inference_mode_around_a_transform_changes_no_derivative() -> None:
    h = lambda a: (a * a.exp()).sum()  # noqa: E731
    ready = normal(3)
    with ts.inference_mode():
        made_here, v = ready * 1, ts.ones(3, dtype=ts.float64)
        assert made_here.is_inference()
        for x in (ready, made_here):
            expected = x.exp() * (1 + x)
            found = grad(h)(x)
            close(found, expected)
            assert not found.is_inference() and not found.requires_grad
            close(jvp(h, (x,), (v,))[1], expected.sum())
            close(linearize(h, x)[1](v), expected.sum())
            close(vjp(h, x)[1](ts.tensor(1.0, dtype=ts.float64))[0], expected)
            for jacobian in (jacrev, jacfwd, grad):
                close(jacobian(h)(x), expected)
            close(vmap(grad(h))(ts.stack([x, x]))[1], expected)
            close(ts.func.hessian(h)(x), ts.diag(x.exp() * (2 + x)))
        close(grad(lambda a, b: (a * b).sum())(ready, made_here), made_here)  # which the backward reads
        inside: list[tuple[bool, bool]] = []
        grad(lambda a: (inside.append((ts.is_inference_mode_enabled(), ts.is_grad_enabled())), a.sum())[1])(ready)
        assert inside == [(False, True)] and ts.is_inference_mode_enabled()
    close(grad(h)(made_here), made_here.exp() * (1 + made_here))


def test_jvp_is_the_directional_derivative() -> None:
    x, v = normal(5), normal(5)
    step = 1e-6
    close(jvp(f, (x,), (v,))[1], (f(x + step * v) - f(x - step * v)) / (2 * step), 1e-5)


def test_products_of_nested_functions() -> None:
    x, y = normal(3), normal(2)
    h = lambda x, d: {"a": x * d["y"].sum(), "b": (d["y"].exp(),)}  # noqa: E731
    out, pull, aux = vjp(lambda *a: (h(*a), x + 1), x, {"y": y}, has_aux=True)
    gx, gd = pull({"a": ts.ones_like(x), "b": (ts.zeros_like(y),)})
    close(gx, y.sum().expand((3,)))
    close(gd["y"], x.sum().expand((2,)))
    _, pushed, _ = jvp(lambda *a: (h(*a), x), (x, {"y": y}), (ts.zeros_like(x), {"y": ts.ones_like(y)}), has_aux=True)
    close(pushed["a"], 2 * x)
    close(pushed["b"][0], y.exp())


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians(jacobian: Any) -> None:
    x = normal(4)
    want = ts.autograd.functional.jacobian(f, x)
    close(jacobian(f)(x), want)
    m = normal(2, 3)
    got = jacobian(lambda m, y: (m @ y, m.sum()), argnums=(0, 1))(m, normal(3))
    assert [t.shape for t in got[0]] == [(2, 2, 3), (2, 3)]
    assert [t.shape for t in got[1]] == [(2, 3), (3,)]
    close(got[0][1], m)
    result, aux = jacobian(lambda x: (f(x), x + 1), has_aux=True)(x)
    close(result, want)
    close(aux, x + 1)
    assert jacobian(lambda x: x * 2)(ts.zeros((0,), dtype=ts.float64)).shape == (0, 0)


def test_hessians() -> None:
    x = normal(4)
    want = ts.autograd.functional.hessian(g, x)
    close(hessian(g)(x), want, 1e-5)
    close(jacrev(jacrev(g))(x), want, 1e-5)
    close(jacfwd(jacfwd(g))(x), want, 1e-5)
    close(jacrev(jacfwd(g))(x), want, 1e-5)


def test_derivatives_inside_vmap_are_those_of_each_sample() -> None:
    x, w = normal(3, 4), normal(4, 4)
    for transform in (grad(g), jacrev(f), jacfwd(f), hessian(g), lambda s: vjp(f, s)[1](s)[0], lambda s: jvp(f, (s,), (s,))[1]):
        close(vmap(transform)(x), ts.stack([transform(s) for s in x]), 1e-5)
    h = lambda w, s: ((w @ s).tanh() ** 2).sum()  # noqa: E731
    for argnums in (0, 1, (0, 1)):
        by = grad(h, argnums)
        got, want = vmap(by, (None, 0))(w, x), [by(w, s) for s in x]
        if isinstance(argnums, int):
            close(got, ts.stack(want))
        else:
            for place in range(2):
                close(got[place], ts.stack([t[place] for t in want]))
    close(vmap(vmap(grad(lambda s: s.sin())))(x), x.cos())


def test_grad_around_vmap() -> None:
    x, w = normal(3, 4), normal(4)
    h = lambda w: vmap(lambda s: (w * s).sum().sin())(x).sum()  # noqa: E731
    leaf = w.clone().requires_grad_()
    (want,) = ts.autograd.grad((x @ leaf).sin().sum(), leaf)
    close(grad(h)(w), want)
    close(vmap(grad(lambda w, x: vmap(lambda s: (w * s).sum().sin())(x).sum()), (0, None))(ts.stack([w, 2 * w]), x)[0], want)


def test_vjp_of_a_batch_of_vectors() -> None:
    x = normal(4)
    _, pull = vjp(f, x)
    close(vmap(pull)(ts.eye(4, dtype=ts.float64))[0], jacrev(f)(x))


def test_threads_have_batches_of_their_own() -> None:
    x = normal(3, 4)
    found: list[Any] = [None] * 8

    def run(i: int) -> None:
        found[i] = vmap(grad(g))(x * i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in range(8):
        close(found[i], vmap(grad(g))(x * i))


# ---- batched gradients ----


@pytest.mark.parametrize("name", ["tessera", "torch"])
def test_is_grads_batched_is_a_call_for_each_row(name: str) -> None:
    import tessera.torch as torch

    module = ts.autograd if name == "tessera" else torch.autograd
    x = normal(4).requires_grad_() if name == "tessera" else torch.Tensor(normal(4)).requires_grad_()
    y, rows = f(x), normal(5, 4) if name == "tessera" else torch.Tensor(normal(5, 4))
    (got,) = module.grad(y, x, rows, is_grads_batched=True, retain_graph=True)
    assert isinstance(got, type(rows))
    close(got, ts.stack([ts.autograd.grad(y, x, r, retain_graph=True)[0] for r in rows]))
    (again,) = module.grad(y, x, rows, is_grads_batched=True)
    close(again, got)
    with pytest.raises(ts.AutogradError):  # the graph is gone with the last row
        module.grad(y, x, rows, is_grads_batched=True)


def test_is_grads_batched_refuses_gradients_without_rows() -> None:
    x = normal(3).requires_grad_()
    for bad in (None, normal(), normal(0, 3)):
        with pytest.raises(ts.InvalidValueError, match="is_grads_batched"):
            ts.autograd.grad(x * 2, x, bad, is_grads_batched=True)


# ---- custom functions [A10] ----


class Cube(Function):
    """With setup_context: forward only computes."""

    @staticmethod
    def forward(x: Any, scale: float) -> Any:
        return x**3 * scale, 3 * x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.scale = inputs[1]
        ctx.save_for_backward(inputs[0])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, grad: Any, unused: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2 * ctx.scale, None


class GeneratedCube(Cube):
    generate_vmap_rule = True


class RuledCube(Cube):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, scale: float) -> Any:
        assert info.batch_size == 3 and in_dims == (0, None) and info.randomness == "error"
        return RuledCube.apply(x, scale), (0, 0)


def test_a10_setup_context() -> None:
    x = normal(4).requires_grad_()
    y, slope = Cube.apply(x, 2.0)
    y.sum().backward()
    close(x.grad, 6 * x**2)
    assert not slope.requires_grad
    assert ts.autograd.gradcheck(lambda x: Cube.apply(x, 2.0)[0], (x,))


def test_a10_setup_context_in_torch() -> None:
    import tessera.torch as torch

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):  # type: ignore[no-untyped-def]
            assert isinstance(x, torch.Tensor)
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):  # type: ignore[no-untyped-def]
            assert isinstance(inputs[0], torch.Tensor)
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):  # type: ignore[no-untyped-def]
            assert isinstance(ctx.saved_tensors[0], torch.Tensor)
            return grad * 2

    x = torch.ones(3, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("kind", [Cube, GeneratedCube, RuledCube])
def test_a10_custom_functions_inside_vmap(kind: Any) -> None:
    x = normal(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(vmap(lambda s: kind.apply(s, 2.0)[0])(x), 2 * x**3)
        close(vmap(grad(lambda s: kind.apply(s, 2.0)[0].sum()))(x), 6 * x**2)
        close(grad(lambda x: vmap(lambda s: kind.apply(s, 2.0)[0])(x).sum())(x), 6 * x**2)
        close(grad(lambda x: grad(lambda y: kind.apply(y, 2.0)[0].sum())(x).sum())(x), 12 * x)


def test_a10_a_generated_rule_sums_the_gradient_of_a_shared_input() -> None:
    class Scale(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, w = ctx.saved_tensors
            return grad * w, grad * x

    x, w = normal(3, 4), normal(4)
    close(grad(lambda w: vmap(lambda s: Scale.apply(s, w))(x).sum())(w), x.sum(0))
    close(vmap(grad(lambda w, s: Scale.apply(s, w).sum()), (None, 0))(w, x), x)
    close(vmap(vmap(lambda s: Scale.apply(s, s)))(x), x * x)


def test_a10_jvp_of_custom_functions_inside_vmap() -> None:
    class Square(Function):
        generate_vmap_rule = True
        pushed = 0

        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            Square.pushed += 1
            assert tangent.shape == (4,)
            (x,) = ctx.saved_tensors
            return 2 * x * tangent

    x, v = normal(3, 4), normal(3, 4)
    value, pushed = vmap(lambda s, t: jvp(Square.apply, (s,), (t,)))(x, v)
    close(value, x * x)
    close(pushed, 2 * x * v)
    assert Square.pushed == 1
    close(jvp(vmap(Square.apply), (x,), (v,))[1], 2 * x * v)


def test_a10_a_function_without_a_rule_says_so_once() -> None:
    class Plain(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = normal(3, 4)
    with pytest.warns(UserWarning, match="Plain has neither vmap"):
        close(vmap(Plain.apply)(x), 2 * x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(vmap(Plain.apply)(x), 2 * x)


# ---- modules as functions ----


def test_functional_call_leaves_the_module_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).double()
    before = dict([*model.named_parameters(), *model.named_buffers()])
    x = normal(4, 3)
    given = {n: p.detach() * 0 for n, p in model.named_parameters()}
    close(functional_call(model, given, (x,)), ts.zeros((4, 2), dtype=ts.float64))
    assert all(a is b for a, b in zip(before.values(), [t for _, t in [*model.named_parameters(), *model.named_buffers()]]))
    with pytest.raises(ts.InvalidValueError, match="no parameter or buffer 'x'"):
        functional_call(model, {"x": x}, (x,))
    with pytest.raises(ts.InvalidValueError, match="is in two"):
        functional_call(model, (given, given), (x,))
    with pytest.raises(ts.InvalidValueError, match="strict"):
        functional_call(model, given, (x,), strict=True)


def test_a_strict_functional_call_does_not_ask_for_what_a_module_lacks() -> None:
    model = nn.Sequential(nn.Linear(3, 2, bias=False), nn.BatchNorm1d(2, track_running_stats=False)).double()
    model[0].register_buffer("absent", None)
    x = normal(4, 3)
    close(functional_call(model, dict(model.named_parameters()), (x,), strict=True), model(x))


def test_functional_call_follows_shared_weights() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False).double()
            self.b = nn.Linear(2, 2, bias=False).double()
            self.b.weight = self.a.weight

        def forward(self, x: Any, times: int = 1) -> Any:
            return self.b(self.a(x)) * times

    x, eye = normal(2), ts.eye(2, dtype=ts.float64)
    close(functional_call(Tied(), {"a.weight": 3 * eye}, x, {"times": 2}), 18 * x)


def test_stack_module_state_refuses_models_that_differ() -> None:
    with pytest.raises(ts.InvalidValueError, match="at least one"):
        stack_module_state([])
    with pytest.raises(ts.InvalidValueError, match="one class"):
        stack_module_state([nn.Linear(2, 2), nn.ReLU()])
    with pytest.raises(ts.InvalidValueError, match="train"):
        stack_module_state([nn.Linear(2, 2), nn.Linear(2, 2).eval()])
    parameters, buffers = stack_module_state([nn.Linear(2, 3) for _ in range(4)])
    assert parameters["weight"].shape == (4, 3, 2) and parameters["weight"].requires_grad and buffers == {}


def test_torch_func_has_the_same_functions() -> None:
    import tessera.torch as torch

    x = torch.randn(3, 4)
    got = torch.func.vmap(torch.func.grad(lambda s: (s**2).sum()))(x)
    assert isinstance(got, torch.Tensor)
    close(got, 2 * x)
    assert torch.vmap is torch.func.vmap
    jacobian = torch.func.jacrev(lambda s: s.max(0).values * s)(x[0])
    assert isinstance(jacobian, torch.Tensor) and jacobian.shape == (4, 4)
    assert isinstance(torch.func.jacfwd(lambda s: s * 2)(x[0]), torch.Tensor)
    close(torch.vmap(lambda s: s.max(0)[0] + s.size(0) + s.view(2, 2).sum())(x), x.max(1)[0] + 4 + x.sum(1))
