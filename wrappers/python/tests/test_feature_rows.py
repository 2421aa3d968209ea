# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of docs/features.md (autograd, engine, views) that no other file covers whole, from Python.

The name of a test begins with the id of its row.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import json
import re
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from op_engine import Row
from op_table import ROWS
from test_ops import gradient_calls

import tessera as ts
from tessera import autograd, memory
from tessera.autograd import Function, gradcheck, gradgradcheck

ROOT = Path(__file__).resolve().parents[3]
F = ts.nn.functional


def leaf(*values: float, dtype: Any = ts.float64) -> ts.Tensor:
    return ts.tensor(list(values), dtype=dtype, requires_grad=True)


def matrix(*shape: int, seed: int = 0) -> ts.Tensor:
    values = np.random.default_rng(seed).uniform(0.2, 1.5, shape)
    return ts.asarray(values).requires_grad_()


# ---- A: the front end ----


@pytest.mark.parametrize("mode", [True, False])
@pytest.mark.parametrize("first, second", itertools.product([True, False], repeat=2))
def test_a1_result_requires_grad_when_an_input_does(first: bool, second: bool, mode: bool) -> None:
    x, y = ts.ones(2), ts.ones(2)
    assert not x.requires_grad  # the default
    x.requires_grad, y.requires_grad = first, second
    with ts.set_grad_enabled(mode):
        assert (x * y).requires_grad is (mode and (first or second))
        assert (x * y).is_leaf is not (mode and (first or second))


@pytest.mark.parametrize("dtype", [
    ts.bool_, ts.int8, ts.int16, ts.int32, ts.int64, ts.uint8, ts.uint16, ts.uint32, ts.uint64,
    ts.float16, ts.bfloat16, ts.float32, ts.float64, ts.complex64, ts.complex128,
])  # fmt: skip
def test_a1_only_floating_and_complex_dtypes_may_require_grad(dtype: Any) -> None:
    x = ts.zeros(2, dtype=dtype)
    if dtype.is_floating_point or dtype.is_complex:
        assert x.requires_grad_().requires_grad
    else:
        with pytest.raises(TypeError, match="floating or complex"):
            x.requires_grad_()


def test_a2_modes_nest_belong_to_their_thread_and_end_with_exceptions() -> None:
    x = leaf(1)
    seen: list[bool] = []

    @ts.no_grad()
    def decorated() -> bool:
        with ts.enable_grad():
            assert (x * 2).requires_grad
        thread = threading.Thread(target=lambda: seen.append((x * 2).requires_grad))
        thread.start()
        thread.join()
        return (x * 2).requires_grad

    assert decorated() is False and seen == [True] and (x * 2).requires_grad
    for mode in (ts.no_grad, ts.inference_mode):
        with pytest.raises(KeyError), mode():
            raise KeyError
        assert (x * 2).requires_grad


def kernels_of(call: Callable[[], Any]) -> list[str]:
    """The families of the kernels that a call launches."""
    with ts.tracing.record(kinds=["launch"]) as records:
        call()
    return [str(r.family) for r in records]


def test_a3_frozen_weight_and_needs_input_grad_skip_work() -> None:
    x, weight = matrix(3, 4), matrix(4, 5)
    for frozen in (False, True):
        y = (x @ weight.detach().requires_grad_(not frozen)).sum()
        assert kernels_of(y.backward).count("gemm") == (1 if frozen else 2)
    constant, asked = matrix(3, 4).detach(), []

    class Product(Function):
        @staticmethod
        def forward(ctx: Any, a: ts.Tensor, b: ts.Tensor) -> ts.Tensor:
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        def backward(ctx: Any, grad: ts.Tensor) -> Any:
            a, b = ctx.saved_tensors
            asked.append(ctx.needs_input_grad)
            return grad @ b.T if ctx.needs_input_grad[0] else None, a.T @ grad if ctx.needs_input_grad[1] else None

    z = Product.apply(constant, weight).sum()
    assert kernels_of(z.backward).count("gemm") == 1 and asked == [(False, True)]


def test_a4_backward_is_a_product_with_the_jacobian_and_adds_up() -> None:
    names = list(inspect.signature(ts.Tensor.backward).parameters)
    assert names[1:5] == ["gradient", "retain_graph", "create_graph", "inputs"]
    x = leaf(1, 2)
    jacobian = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = ts.asarray(jacobian) @ x
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        y.backward()
    vector = np.array([1.0, 10.0, 100.0])
    y.backward(ts.asarray(vector), retain_graph=True)
    np.testing.assert_array_equal(x.grad.numpy(), vector @ jacobian)
    y.backward(ts.asarray(vector))
    np.testing.assert_array_equal(x.grad.numpy(), 2 * vector @ jacobian)


def test_a4_several_roots_have_a_gradient_each() -> None:
    x = leaf(3)
    roots = [x * 2, (x * x).sum(), x * 5]
    autograd.backward(roots, [ts.tensor([10.0], dtype=ts.float64), None, ts.tensor([100.0], dtype=ts.float64)])
    assert x.grad.tolist() == [20 + 6 + 500]


def test_a5_graph_is_retained_by_default_when_the_backward_is_recorded() -> None:
    x = leaf(2)
    y = (x**3).sum()
    autograd.grad(y, x, create_graph=True)
    autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="retain_graph"):
        autograd.grad(y, x)
    z = (x + 1).sum()
    z.backward()
    z.backward()  # an addition saves nothing
    assert x.grad.tolist() == [2]


def test_a6_grad_changes_no_grad_and_tells_unused_inputs() -> None:
    x, y, unused = leaf(2), leaf(3), leaf(4)
    out = (x * y).sum()
    found = autograd.grad(out, (x, unused), retain_graph=True, allow_unused=True)
    assert isinstance(found, tuple) and found[0].tolist() == [3] and found[1] is None
    with pytest.raises(RuntimeError, match="allow_unused"):
        autograd.grad(out, (x, unused))
    assert x.grad is y.grad is unused.grad is None
    a, b, c = matrix(3, 4), matrix(4, 5), matrix(5, 6)
    out = (a @ b @ c).sum()
    # Of the four products of a whole backward, the gradient of a needs two and no other runs.
    assert kernels_of(lambda: autograd.grad(out, a)).count("gemm") == 2


def test_a7_grad_of_a_non_leaf_warns_unless_it_is_retained() -> None:
    x = leaf(1, 2)
    y = x * 2
    (y * y).sum().backward()
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None
    z = x * 2
    z.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad.tolist() == [8, 16] and z.grad is None and x.detach().grad is None
        assert ts.ones(2).grad is None and leaf(1).grad is None
        (z * z).sum().backward()
        assert z.grad.tolist() == [4, 8]


def test_a8_hooks_run_in_order_and_replace_the_gradient() -> None:
    x = leaf(1)
    seen: list[Any] = []

    def times(factor: float) -> Callable[[ts.Tensor], ts.Tensor]:
        return lambda g: seen.append((factor, g.item())) or g * factor  # type: ignore[func-returns-value]

    handles = [x.register_hook(times(2)), x.register_hook(times(3)), x.register_hook(lambda g: None)]
    (x * 5).sum().backward()
    assert seen == [(2, 5), (3, 10)] and x.grad.tolist() == [30]
    handles[0].remove()
    x.grad = None
    (x * 5).sum().backward()
    assert seen[2:] == [(3, 5)] and x.grad.tolist() == [15]


class NumpyFourier(Function):
    """The real Fourier transform by NumPy, on the memory of our tensors."""

    addresses: list[Any] = []

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        array = x.detach().numpy()
        ctx.count = array.shape[-1]
        made = np.fft.rfft(array)
        result = ts.from_numpy(made)
        NumpyFourier.addresses.append((array.ctypes.data, x.data_ptr(), made.ctypes.data, result.data_ptr()))
        return result

    @staticmethod
    @autograd.once_differentiable
    def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
        whole = np.zeros(ctx.count, np.complex128)
        whole[: grad.shape[0]] = grad.detach().numpy()
        return ts.from_numpy(np.ascontiguousarray((np.fft.ifft(whole) * ctx.count).real))


def test_a11_function_over_numpy_shares_memory_and_passes_gradcheck() -> None:
    x = leaf(0.5, -1.0, 2.0, 0.25)
    NumpyFourier.addresses.clear()
    assert gradcheck(NumpyFourier.apply, (x,))
    for taken, ours, made, given in NumpyFourier.addresses:
        assert taken == ours and made == given


def perceptron(x: ts.Tensor, w1: ts.Tensor, w2: ts.Tensor) -> ts.Tensor:
    return ts.tanh(x @ w1) @ w2


def test_a12_hessian_of_a_perceptron_is_that_of_differences() -> None:
    x = matrix(4, 3).detach()
    sizes = [(3, 2), (2, 1)]

    def split(flat: ts.Tensor) -> list[ts.Tensor]:
        return [flat[:6].reshape(sizes[0]), flat[6:].reshape(sizes[1])]

    def loss(flat: ts.Tensor) -> ts.Tensor:
        return (perceptron(x, *split(flat)) ** 2).mean()

    flat = matrix(8, seed=1)
    (first,) = autograd.grad(loss(flat), flat, create_graph=True)
    hessian = np.stack([autograd.grad(g, flat, retain_graph=True)[0].numpy() for g in first])

    def gradient(point: Any) -> Any:
        at = ts.asarray(point).requires_grad_()
        return autograd.grad(loss(at), at)[0].numpy()

    here, step = flat.detach().numpy(), 1e-5
    expected = [(gradient(here + step * e) - gradient(here - step * e)) / (2 * step) for e in np.eye(8)]
    np.testing.assert_allclose(hessian, np.stack(expected), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-10, atol=1e-12)


def test_a12_gradient_penalty_of_a_critic_is_differentiated() -> None:
    x = matrix(4, 3, seed=2)

    def penalty(w1: ts.Tensor, w2: ts.Tensor) -> ts.Tensor:
        with ts.enable_grad():  # the differences are taken without
            (slope,) = autograd.grad(perceptron(x, w1, w2).sum(), x, create_graph=True)
        return (((slope**2).sum(axis=1) ** 0.5 - 1) ** 2).mean()

    assert gradcheck(penalty, (matrix(3, 2, seed=3), matrix(2, 1, seed=4)))


def test_a13_an_old_graph_stays_valid_for_others() -> None:
    x = leaf(1, 2)
    y = x * 5
    z = y * 2
    node = y.grad_fn
    y.mul_(3)
    assert z.grad_fn.next_functions[0][0] == node and y.grad_fn != node
    assert y.grad_fn.next_functions[0][0] == node
    (z.sum() + y.sum()).backward()
    assert x.grad.tolist() == [25, 25]


LIFETIMES: dict[str, Callable[[ts.Tensor], Any]] = {
    "saved_output": lambda x: x.exp(),
    "saved_input": lambda x: x.sin(),
    "in_place": lambda x: (x * 2).exp_(),
    "view": lambda x: (x * 2)[1:].exp_(),
    "several_outputs": lambda x: (x * 2).unstack(),
    "hook": lambda x: (x * 2).register_hook(lambda g: g),
    "custom_function": lambda x: NumpyFourier.apply(x),
    "gradient": lambda x: autograd.grad((x**3).sum(), x, create_graph=True),
}


@pytest.mark.parametrize("name", LIFETIMES)
def test_a14_graph_dies_with_its_outputs_without_the_collector(name: str) -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(1, 2, 3)
        before = memory.live_nodes(), memory.live_handles(), memory.memory_allocated()
        out = LIFETIMES[name](x)
        del out
        assert (memory.live_nodes(), memory.live_handles(), memory.memory_allocated()) == before
    finally:
        gc.enable()


def test_a15_tensor_whose_node_saved_it_dies_at_once() -> None:
    gc.disable()
    try:
        x = leaf(1)
        e = x.exp()
        gone = weakref.ref(e)
        assert e.grad_fn.saved_tensors[0].grad_fn == e.grad_fn
        del e
        assert gone() is None
    finally:
        gc.enable()


def layers_of(kind: str) -> Callable[[ts.Tensor], ts.Tensor]:
    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
            return grad * 2 * ctx.saved_tensors[0]

    return {
        "plain": lambda x: x.sin(),
        "in_place": lambda x: (x * 0.5).sigmoid_(),
        "views": lambda x: x.sin().T[:, None].squeeze(1),
        "custom_function": Square.apply,
    }[kind]


@pytest.mark.parametrize("retain", [False, True])
@pytest.mark.parametrize("kind", ["plain", "in_place", "views", "custom_function"])
def test_a17_peak_of_backward_is_the_forwards_and_a_constant(kind: str, retain: bool) -> None:
    layer, side = layers_of(kind), 128
    nbytes = side * side * 8
    gc.collect()
    start = memory.memory_allocated()
    x = matrix(side, side)
    excess = []
    for count in (5, 40):
        y = x
        for _ in range(count):
            y = layer(y)
        y = y.sum()
        forward = memory.memory_allocated() - start
        assert forward >= (count - 1) * nbytes
        memory.reset_peak_memory_stats()
        y.backward(retain_graph=retain)
        excess.append(memory.max_memory_allocated() - start - forward)
        del y
        x.grad = None
        assert memory.memory_allocated() - start <= nbytes + 4096
    assert excess[1] <= excess[0] + 4096 and excess[1] <= 5 * nbytes


def test_a19_mutation_is_differentiated() -> None:
    def program(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
        state = x * 1
        for i in range(3):
            state[i].mul_(y[i]).add_(1)
            state += x.sin()
        state[1:] = state[:-1] * 2
        return state.sigmoid_()

    assert gradcheck(program, (matrix(3, 2, seed=5), matrix(3, seed=6)))
    assert gradgradcheck(program, (matrix(3, 2, seed=5), matrix(3, seed=6)))


def test_a20_other_python_threads_run_during_one_backward() -> None:
    stop, counts = threading.Event(), [0]

    def count() -> None:
        while not stop.is_set():
            counts[0] += 1

    y = x = ts.rand((500, 500)).requires_grad_()
    for _ in range(10):
        y = (y @ x).tanh()
    y = y.sum()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counts[0]
        y.backward()  # one call: without releasing the lock, the other thread cannot count at all
        after = counts[0]
    finally:
        stop.set()
        thread.join()
    assert after > before


# ---- E: the engine ----


def nest(x: ts.Tensor, depth: int) -> ts.Tensor:
    """A function whose backward runs a backward, nested to `depth`."""

    class Nested(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
            if depth > 1:
                with ts.enable_grad():
                    inner = leaf(1)
                    nest(inner, depth - 1).sum().backward()
                    assert inner.grad.tolist() == [1]
            return grad

    out: ts.Tensor = Nested.apply(x)
    return out


def test_e17_backward_nests_a_hundred_deep_and_too_deep_is_an_error() -> None:
    x = leaf(1)
    nest(x, 100).sum().backward()
    assert x.grad.tolist() == [1]
    with pytest.raises((RuntimeError, RecursionError)):
        nest(x, 5000).sum().backward()
    x.grad = None
    nest(x, 3).sum().backward()
    assert x.grad.tolist() == [1]


class Refused(Exception):
    pass


def test_e19_first_exception_comes_out_as_it_was_raised() -> None:
    class Raises(Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
            def deeper() -> None:
                raise Refused("deep in the graph")

            deeper()
            return grad

    x, later = leaf(1), []
    x.register_hook(lambda g: later.append(g))
    for _ in range(3):
        y = Raises.apply(x * 2)
        for _ in range(50):
            y = y.sin()
        with pytest.raises(Refused, match="deep in the graph") as info:
            y.sum().backward()
        assert [f.name for f in traceback.extract_tb(info.tb)][-2:] == ["backward", "deeper"]
        assert not later and x.grad is None  # what lies behind the error has not run
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2]


# ---- E25: every differentiable op has a node, and every node a check of its second derivative ----

SCHEMA = json.loads((ROOT / "capi" / "generated" / "schema.json").read_text())
# Nodes of graphs that the rows of the op table do not build.
OTHER_NODES = {
    "LdlSolveBackward": "of factors that another function makes; test_linalg.py",
    "PinMemoryBackward": "needs a device; tests/capi/test_stream.cpp",
    "RandomFillBackward": "the gradient is zero; checked below",
    "StandardGammaBackward": "random; the slope is compared in op_table_random.py",
    "StandardGammaGradBackward": "not implemented; checked below",
    "ToBackward": "needs a device; tests/capi/test_stream.cpp",
}
# Operators that have no row of the table under the schema's name.
WRITES_LISTS = "writes to the gradients or parameters that it gets"
BY_LISTS = "the operator for each tensor of a list: test_foreach.py"
OTHER_OPS = {
    **dict.fromkeys(["amp_unscale", "amp_update_scale", "clip_grad_value", "clip_norm"], WRITES_LISTS),
    **dict.fromkeys([f"foreach_{kind}" for kind in (
        "binary", "binary_inplace", "copy", "lerp", "lerp_inplace", "lerp_tensors", "lerp_tensors_inplace", "norm", "scalar",
        "scalar_inplace", "scalars", "scalars_inplace", "ternary", "ternary_inplace", "unary", "unary_inplace", "zero",
    )], BY_LISTS),
    **dict.fromkeys(["fft_fftfreq", "fft_rfftfreq"], "has no input tensor"),
    **dict.fromkeys(["ldl_factor", "ldl_factor_ex", "ldl_solve"], "one makes what the other takes; test_linalg.py"),
    **dict.fromkeys(["getitem", "getitem_boolean", "getitem_integer", "setitem"], "indexing: rows of op_table_index.py"),
    **dict.fromkeys(["cholesky_inverse", "cholesky_solve", "lu_solve", "lstsq", "lstsq_solution", "istft"], "a row that calls it after another"),
    "conj": "row conjugate",
    "eigvals": "part of eig",
    "gumbel_softmax": "random; a softmax of the input and noise",
    "sort_with_indices": "row sort",
}


def nodes_of(tensors: Any) -> set[str]:
    """Names of all nodes behind the tensors."""
    pending = [t.grad_fn for t in tensors if isinstance(t, ts.Tensor) and t.grad_fn is not None]
    known, names = set(pending), set()
    while pending:
        node = pending.pop()
        names.add(node.name())
        for after, _ in node.next_functions:
            if after is not None and after not in known:
                known.add(after)
                pending.append(after)
    return names


def checked_nodes(row: Row) -> set[str]:
    """Names of the nodes that the row's check of the second derivative runs through."""
    names: set[str] = set()
    for function, leaves in gradient_calls(row):
        made = function(*leaves)
        results = [r for r in (made if isinstance(made, (tuple, list)) else (made,)) if isinstance(r, ts.Tensor)]
        results = [r for r in results if r.requires_grad]
        names |= nodes_of(results)
        if row.gradgrad:
            factors = [ts.ones(r.shape, dtype=r.dtype).requires_grad_() for r in results]
            found = autograd.grad(results, leaves, factors, create_graph=True, allow_unused=True)
            names |= nodes_of(found)
    return names


def test_e25_every_node_of_an_operator_is_in_a_checked_graph() -> None:
    declared: set[str] = set()
    for path in (ROOT / "src" / "ops").rglob("*.cpp"):
        declared |= set(re.findall(r'"(\w+Backward\w*)"', path.read_text()))
    seen: set[str] = set()
    for row in ROWS:
        if row.grad:
            seen |= checked_nodes(row)
    assert declared - seen == set(OTHER_NODES)


def test_e25_nodes_outside_the_table_are_differentiated_or_refuse() -> None:
    table, places, offsets = matrix(4, 2), ts.asarray([0, 2, 2, 3]), ts.asarray([0, 1])

    def bag(t: ts.Tensor, **options: Any) -> ts.Tensor:
        return F.embedding_bag(places, t, offsets, mode="sum", **options)

    assert gradcheck(bag, (table,)) and gradgradcheck(bag, (table,))
    scaled = bag(table, scale_grad_by_freq=True)  # no derivative, so gradcheck cannot compare it
    (plain,), (divided,) = autograd.grad(bag(table).sum(), table), autograd.grad(scaled.sum(), table)
    np.testing.assert_array_equal(divided.numpy(), plain.numpy() / [[1], [1], [2], [1]])
    x = leaf(1, 2)
    (x * 1).uniform_().sum().backward()
    assert x.grad.tolist() == [0, 0]
    slope = ts.standard_gamma_grad(leaf(1.5), leaf(0.5))
    with pytest.raises(RuntimeError, match="derivative"):
        slope.sum().backward()


def test_e25_every_operator_has_a_row_with_its_derivative_or_a_reason() -> None:
    rows = {row.schema or row.name.rstrip("_"): row for row in ROWS}
    missing = {name for name in SCHEMA["ops"] if name not in rows}
    assert missing == set(OTHER_OPS)
    for row in ROWS:
        assert row.grad or row.why_no_grad, row.name


# ---- I: in-place writes and views ----


def test_i1_version_is_that_of_the_memory() -> None:
    x = ts.ones(4)
    view, alias = x[1:], x.detach()
    assert x._version == view._version == alias._version == 0
    x.add_(1)
    view.mul_(2)
    alias.zero_()
    assert x._version == view._version == alias._version == 3
    x.data.add_(1)  # goes unnoticed
    assert x._version == 3 and x.tolist() == [1, 1, 1, 1]


def test_i2_message_names_tensor_node_and_both_versions() -> None:
    for write in (lambda y: y.add_(1), lambda y: y[0].add_(1), lambda y: y.detach().zero_()):
        x = leaf(1, 2, 3, dtype=ts.float32)
        y = x.exp()
        with ts.no_grad():
            write(y)
        with pytest.raises(RuntimeError) as info:
            y.sum().backward()
        text = str(info.value)
        for fact in ("float32 [3]", "output 0 of ExpBackward", "is at version 1; expected version 0", "in-place operation"):
            assert fact in text, text


def test_i5_in_place_result_has_the_old_node_as_input() -> None:
    x = leaf(1, 2)
    y = x * 1
    old = y.grad_fn
    y.mul_(2)
    assert y.grad_fn != old and y.grad_fn.next_functions[0][0] == old
    assert y.grad_fn.sequence_nr > old.sequence_nr
    assert gradcheck(lambda t: (t * 1).mul_(2), (x,)) and gradgradcheck(lambda t: (t * 1).exp_() * t, (x,))


# Views of a tensor of shape (4, 3) that may be written, by the schema's name.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "as_strided": lambda b: b.as_strided((2, 3), (6, 1), 3),
    "atleast_3d": lambda b: ts.atleast_3d(b),
    "diagonal": lambda b: b.diagonal(1),
    "expand_dims": lambda b: ts.expand_dims(b, axis=0),
    "flatten": lambda b: ts.flatten(b),
    "getitem": lambda b: b[1:, None, ::2],
    "matrix_transpose": lambda b: ts.matrix_transpose(b),
    "moveaxis": lambda b: ts.moveaxis(b, 0, 1),
    "narrow": lambda b: ts.narrow(b, 0, 1, 2),
    "permute_dims": lambda b: ts.permute_dims(b, (1, 0)),
    "reshape": lambda b: b.reshape(2, 6),
    "select": lambda b: b[2],
    "slice": lambda b: b[::2],
    "squeeze": lambda b: ts.squeeze(b[:1], axis=0),
    "transpose": lambda b: ts.transpose(b, 0, 1),
    "unflatten": lambda b: ts.unflatten(b, 0, (2, 2)),
    "unfold": lambda b: b.unfold(0, 2, 2),
    "unsqueeze": lambda b: ts.unsqueeze(b, 1),
    "view": lambda b: b.view(3, 4),
}
NO_VIEW_TO_WRITE = {
    **dict.fromkeys(["chunk", "split", "split_with_sizes", "tensor_split", "tensor_split_at", "unstack"], "several views: I8"),
    **dict.fromkeys(["broadcast_to", "expand"], "elements overlap: I11"),
    **dict.fromkeys(["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"],
                    "the input itself when not training"),
    **dict.fromkeys(["asarray", "astype", "contiguous", "to"], "the input itself when nothing changes"),
    **dict.fromkeys(["atleast_1d", "atleast_2d"], "the input itself, or as expand_dims"),
    **dict.fromkeys(["imag", "real", "view_as_complex", "view_as_real", "view_dtype"], "another dtype: I9"),
    "detach": "no history: I9",
    "getitem_basic": "getitem",
}
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "add_": lambda v, w: v.add_(w),
    "mul_": lambda v, w: v.mul_(w),
    "copy_": lambda v, w: v.copy_(ts.broadcast_to(w, v.shape)),
    "fill_": lambda v, w: v.fill_(0.5),
    "zero_": lambda v, w: v.zero_(),
    "masked_fill_": lambda v, w: v.masked_fill_(v.detach() > 1.0, 0.25),
}


def test_i6_every_view_of_the_schema_is_written() -> None:
    aliases = {name for name, op in SCHEMA["ops"].items() if op["alias"]}
    assert aliases == set(VIEWS) | set(NO_VIEW_TO_WRITE)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_i6_write_through_a_view_has_both_derivatives(view: str, write: str) -> None:
    def program(x: ts.Tensor, w: ts.Tensor) -> Any:
        base = x * 1.5
        shown, other = VIEWS[view](base), VIEWS[view](base)
        WRITES[write](shown, w)
        assert base.grad_fn is None or "CopySlices" in base.grad_fn.name()  # None where differences are taken
        return base * base, shown.sin(), other.exp()

    x, w = matrix(4, 3, seed=7), leaf(0.75)
    assert gradcheck(program, (x, w)) and gradgradcheck(program, (x, w))


def test_i7_write_to_the_base_gives_views_a_new_history() -> None:
    x = matrix(2, 2)
    y = x * 1
    v = y[0]
    old = v.grad_fn
    y.mul_(2)
    assert v.grad_fn != old
    v.sum().backward()
    assert x.grad.tolist() == [[2, 2], [0, 0]]


class Reversed(Function):
    """A custom function that returns a view."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        return x[:2]

    @staticmethod
    def backward(ctx: Any, grad: ts.Tensor) -> ts.Tensor:
        return ts.cat([grad, ts.zeros(1, dtype=ts.float64)])


def without_recording(y: ts.Tensor) -> ts.Tensor:
    with ts.no_grad():
        return y[:2]


@pytest.mark.parametrize("view, fact", [
    (lambda y: y.unstack()[0], "output 0 of UnstackBackward is a view"),
    (lambda y: y.chunk(2)[1], "output 1 of \\w+Backward is a view"),
    (lambda y: y.split(2)[0], "output 0 of \\w+Backward is a view"),
    (without_recording, "no_grad mode"),
    (Reversed.apply, "custom function"),
    (lambda y: y.broadcast_to((2, 3)), "overlapping elements"),
])  # fmt: skip
def test_i8_ambiguous_views_are_not_written(view: Callable[[Any], Any], fact: str) -> None:
    y = leaf(1, 2, 3) * 1
    shown = view(y)
    with pytest.raises((RuntimeError, ValueError), match=f"(?i){fact}"):
        shown.mul_(2)
    assert y.tolist() == [1, 2, 3] and y._version == 0


def test_i8_inference_tensors_are_not_written_outside() -> None:
    with ts.inference_mode():
        x = ts.ones(2)
        x.add_(1)
    with pytest.raises(RuntimeError, match="inference"):
        x.add_(1)
    assert x.tolist() == [2, 2]


def test_i9_views_without_derivative_are_not_tracked() -> None:
    x = leaf(1, 2)
    cut = (x * 1).detach()
    assert not cut.requires_grad and cut.is_leaf and not cut._view
    whole = ts.arange(4)
    assert not whole[1:]._view and whole[1:].add_(1).grad_fn is None


def test_i9_views_of_another_dtype_are_not_written_where_it_would_be_recorded() -> None:
    z = ts.tensor([1 + 2j, 3j], requires_grad=True)
    y = z * 1
    pairs = ts.view_as_real(y)
    with pytest.raises(RuntimeError, match="dtype"):
        pairs.mul_(2)
    assert y.tolist() == [1 + 2j, 3j]
    (pairs**2).sum().backward()
    assert z.grad.tolist() == [2 + 4j, 6j]
    with ts.no_grad():
        ts.view_as_real(z).mul_(2)
    assert z.tolist() == [2 + 4j, 6j]


def test_i11_writes_that_overlap_are_refused_or_read_first() -> None:
    for wide in (ts.ones(1).broadcast_to((3,)), ts.ones(3).as_strided((2, 2), (1, 1))):
        with pytest.raises(ValueError, match="overlapping elements"):
            wide.add_(1)
    # Inputs that overlap the destination in part are read before it is written.
    x = ts.arange(5, dtype=ts.float32)
    x[1:].add_(x[:-1])
    assert x.tolist() == [0, 1, 3, 5, 7]
    y = ts.arange(5, dtype=ts.float32)
    ts.multiply(y[:-1], 2, out=y[1:])
    assert y.tolist() == [0, 0, 2, 4, 6]
