# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions and derivatives in PyTorch's names: cases that tests/tools/compare_pytorch_transforms.py found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
import tessera.torch as torch

func = torch.func


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got.detach().numpy(), wanted.detach().numpy(), 1e-6, 1e-6)


def each(function: Any, *batches: Any) -> Any:
    """The results of a loop over the samples, stacked."""
    rows = [function(*samples) for samples in zip(*batches)]
    return torch.stack(rows) if isinstance(rows[0], torch.Tensor) else tuple(torch.stack(list(c)) for c in zip(*rows))


# ---- several elements in one place ----

INDEX = [1, 1, 2]
WRITES = {
    "scatter": lambda x, i, a: x.scatter(0, i, a),
    "index_put": lambda x, i, a: x.index_put((i,), a),
    "index_copy": lambda x, i, a: x.index_copy(0, i, a),
    "put": lambda x, i, a: x.put(i, a),
    "setitem": lambda x, i, a: _set(x.clone(), i, a),
    "scatter_": lambda x, i, a: x.clone().scatter_(0, i, a),
}


def _set(x: Any, i: Any, a: Any) -> Any:
    x[i] = a
    return x


@pytest.mark.parametrize("name", WRITES)
def test_the_tangent_of_the_element_that_stays_is_that_of_the_result(name: str) -> None:
    x, source = torch.arange(4.0), torch.tensor([5.0, 6.0, 7.0])
    tangent, own = torch.tensor([1.0, 10.0, 100.0]), torch.tensor([0.5, 0.25, 0.125, 2.0])
    index = torch.tensor(INDEX)
    value, pushed = func.jvp(lambda b, a: WRITES[name](b, index, a), (x, source), (own, tangent))
    stayed = [int(np.flatnonzero(source.numpy() == value[place].item())[0]) for place in (1, 2)]
    assert pushed.tolist() == [0.5, tangent[stayed[0]].item(), tangent[stayed[1]].item(), 2.0]


def test_tangents_of_elements_that_are_added_are_added() -> None:
    x, source, tangent = torch.arange(4.0), torch.tensor([5.0, 6.0, 7.0]), torch.tensor([1.0, 10.0, 100.0])
    index = torch.tensor(INDEX)
    for add in (lambda a: x.scatter_add(0, index, a), lambda a: x.index_put((index,), a, True), lambda a: x.put(index, a, True)):
        assert func.jvp(add, (source,), (tangent,))[1].tolist() == [0, 11, 100, 0]


def test_the_tangent_of_a_number_that_is_scattered_is_zero() -> None:
    x, index = torch.arange(4.0), torch.tensor(INDEX)
    assert func.jvp(lambda b: b.scatter(0, index, 3.0), (x,), (x + 1,))[1].tolist() == [1, 0, 0, 4]


def test_max_unpool_pushes_the_tangent_of_the_element_that_stays() -> None:
    places = torch.tensor([[1, 1, 4]])
    value, pushed = func.jvp(
        lambda a: torch.nn.functional.max_unpool1d(a, places, 2), (torch.tensor([[5.0, 6, 7]]),), (torch.tensor([[1.0, 10, 100]]),)
    )
    assert pushed[value == 6].tolist() == [10] or pushed[value == 5].tolist() == [1]
    assert pushed.sum().item() in (110, 101)


# ---- vmap ----


def test_new_tensors_of_a_sample_can_be_written_to() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    same(torch.vmap(lambda a: a.new_zeros(3).add_(a))(x), x)
    same(torch.vmap(lambda a: a.new_full((3,), 2.0).mul_(a))(x), x * 2)
    same(torch.vmap(lambda a: a.new_ones(size=(3,)).copy_(a))(x), x)
    same(torch.vmap(lambda a: a.new_empty((3,)).copy_(a))(x), x)
    assert torch.vmap(torch.vmap(lambda a: a.new_zeros(2, dtype=torch.int64).fill_(3)))(x).shape == (2, 3, 2)


def test_factorizations_with_info_look_at_each_sample() -> None:
    matrices = torch.stack([torch.eye(2), -torch.eye(2), torch.eye(2) * 4])
    found = torch.vmap(torch.linalg.cholesky_ex)(matrices)
    assert found.info.tolist() == [0, 1, 0]
    same(found.L[2], torch.eye(2) * 2)
    singular = matrices * torch.tensor([1.0, 0, 1])[:, None, None]
    solved = torch.vmap(torch.linalg.solve_ex, (0, None))(singular, torch.ones(2))
    assert solved.info.tolist() == [0, 1, 0] and solved.result[2].tolist() == [0.25, 0.25]


def test_the_parts_of_an_lu_factorization_are_those_of_each_sample() -> None:
    packed, pivots = torch.linalg.lu_factor(torch.randn(3, 4, 4))
    for got, wanted in zip(torch.vmap(torch.lu_unpack)(packed, pivots), torch.lu_unpack(packed, pivots)):
        same(got, wanted)
    for got, wanted in zip(torch.vmap(torch.lu_unpack, (None, 0))(packed[0], pivots), torch.lu_unpack(packed[:1].expand(3, 4, 4), pivots)):
        same(got, wanted)


def test_the_ends_of_a_range_may_vary() -> None:
    low, high = torch.tensor([0.0, 1]), torch.tensor([3.0, 9])
    same(torch.vmap(lambda a, b: torch.linspace(a, b, 4))(low, high), each(lambda a, b: torch.linspace(a, b, 4), low, high))
    same(torch.vmap(lambda a: torch.logspace(a, 2, 3))(low), each(lambda a: torch.logspace(a, 2, 3), low))


def test_a_number_is_scattered_into_a_sample_without_axes() -> None:
    assert torch.vmap(lambda a: torch.scatter(a, 0, torch.tensor(0), 2.5))(torch.ones(2)).tolist() == [2.5, 2.5]


def test_a_mask_of_fewer_axes_masks_all_elements_of_a_sample() -> None:
    x, mask = torch.randn(3, 2, 1, 2), torch.tensor([True, False])
    run = lambda a: torch.masked.argmax(a, mask=mask)  # noqa: E731
    same(torch.vmap(run)(x), each(run, x))


def test_the_memory_format_of_a_conversion_is_that_of_no_sample() -> None:
    x = torch.ones(3, 2, 2, 2, 2)
    assert torch.vmap(lambda a: a.to(torch.float64, memory_format=torch.channels_last))(x).shape == x.shape


class Part(torch.autograd.Function):
    @staticmethod
    def forward(x: Any, index: Any = (2,)) -> Any:
        return x[index]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.index = inputs
        ctx.shape = x.shape

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        whole = grad.new_zeros(ctx.shape)
        whole[ctx.index] = grad
        return whole, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, index: Any) -> Any:
        return Part.apply(x.movedim(in_dims[0], 1), index), 0


def test_a_custom_function_counts_its_defaults() -> None:
    x = torch.arange(15.0).reshape(3, 5).requires_grad_()
    out = Part.apply(x)
    assert out.tolist() == [10, 11, 12, 13, 14]
    out.sum().backward()
    assert x.grad.sum(1).tolist() == [0, 0, 5]
    assert Part.apply(x, index=(0,)).tolist() == [0, 1, 2, 3, 4]
    same(torch.vmap(Part.apply, in_dims=1)(x.detach()), x.detach()[2])


# ---- torch.autograd's modules ----


def test_the_modules_of_autograd_can_be_imported() -> None:
    from tessera.torch.autograd.function import Function, FunctionCtx, once_differentiable
    from tessera.torch.autograd.grad_mode import inference_mode, no_grad
    from tessera.torch.autograd.variable import Variable

    assert (Function, FunctionCtx) == (torch.autograd.Function, torch.autograd.FunctionCtx)
    assert torch.autograd.function.once_differentiable is once_differentiable
    assert (no_grad, inference_mode) == (torch.no_grad, torch.inference_mode) and Variable is torch.autograd.Variable


# ---- detach ----


def test_detach_drops_tangents_as_it_drops_history() -> None:
    x = torch.tensor([1.0, 2.0])
    cut = lambda a: a.detach() * a + torch.detach(a)  # noqa: E731
    same(func.jacfwd(cut)(x), func.jacrev(cut)(x))
    same(func.jvp(cut, (x,), (torch.ones(2),))[1], x)
    same(func.hessian(lambda a: (a.detach() * a).sum())(x), torch.zeros(2, 2))
    same(func.hessian(lambda a: (a**3).sum())(x), torch.diag(6 * x))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(2))
        bare = dual.detach()
        assert torch.autograd.forward_ad.unpack_dual(bare).tangent is None
        assert torch.autograd.forward_ad.unpack_dual(dual).tangent is not None
        assert bare.data_ptr() == x.data_ptr()


def test_detach_in_place_drops_tangents_and_takes_samples() -> None:
    def cut(a: torch.Tensor) -> torch.Tensor:
        factor = a * a
        factor.detach_()
        return (factor * a).sum()

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for found in (func.jacfwd(cut)(x), func.vmap(func.grad(cut))(x), func.vmap(func.jacfwd(cut))(x)):
        same(found, x * x)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(2, 2)) * 2
        assert torch.autograd.forward_ad.unpack_dual(dual.detach_()).tangent is None


def test_a_computed_sample_changes_its_shape_in_place() -> None:
    def longer(a: torch.Tensor) -> torch.Tensor:
        product = a * a
        product.unsqueeze_(0)
        return (product * a).sum()

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    same(func.vmap(func.grad(longer))(x), 3 * x * x)


def test_derivatives_of_higher_order_keep_the_tangents_of_their_inputs() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64).requires_grad_()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.ones(2, dtype=torch.float64))
        found = torch.autograd.functional.jacobian(lambda a: a**3, dual)
        same(torch.autograd.forward_ad.unpack_dual(found).tangent, torch.diag(6 * x))
    assert torch.autograd.gradgradcheck(lambda a: a**3, (x,), check_fwd_over_rev=True)


# ---- names and arguments ----


def test_the_hooks_of_a_graph_are_in_torch() -> None:
    graph = torch.autograd.graph
    x = torch.arange(3.0).requires_grad_()
    kinds: list[type] = []
    with graph.saved_tensors_hooks(lambda t: kinds.append(type(t)) or t, lambda t: t):
        x.exp().sum().backward()
    assert kinds == [torch.Tensor]
    with graph.save_on_cpu():
        (x**2).sum().backward()
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.mul_(5)
        z.backward()
    same(x.grad, x.exp() + 4 * x)
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(ts.AutogradError, match="not here"):
        graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
    graph.set_warn_on_accumulate_grad_stream_mismatch(False)


def test_nodes_and_tensors_tell_their_numbers() -> None:
    x = torch.arange(4.0).requires_grad_()
    first, second = x.split(2)
    assert (x.output_nr, first.output_nr, second.output_nr, torch.ones(1).output_nr) == (0, 0, 1, 0)
    y = (x * 2).exp()
    node = y.grad_fn
    assert node._sequence_nr() > node.next_functions[0][0]._sequence_nr()
    assert node._input_metadata[0].shape == (4,)
    assert type(node._saved_result) is torch.Tensor
    with pytest.raises(AttributeError, match="no attribute"):
        _ = node.nothing
    edge = torch.autograd.graph.get_gradient_edge(y)
    for backward in (lambda: torch.autograd.backward(edge), lambda: torch.autograd.grad(edge, x)):
        with pytest.raises(TypeError, match="got a GradientEdge"):
            backward()


def test_materialized_gradients_need_allow_unused() -> None:
    x, other = torch.ones(2).requires_grad_(), torch.ones(3).requires_grad_()
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(x.sum(), (x, other), allow_unused=False, materialize_grads=True)
    assert torch.autograd.grad(x.sum(), (x, other), materialize_grads=True)[1].tolist() == [0, 0, 0]


def test_a_call_of_a_module_ignores_names_that_it_lacks() -> None:
    layer, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    given = {"none": x, "weight": torch.eye(2), "bias": torch.zeros(2)}
    assert func.functional_call(layer, given, (x,)).tolist() == [[1, 1]]
    assert func.functional_call(layer, (given, {"other": x}), (x,)).tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="none"):
        func.functional_call(layer, given, (x,), strict=True)


def test_batch_normalization_without_statistics_takes_those_of_the_batch() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    assert func.replace_all_batch_norm_modules_(model) is model
    assert model[1].running_mean is None and not model[1].track_running_stats
    assert not dict(model.named_buffers())
    model.eval()
    assert torch.vmap(model, randomness="same")(torch.randn(3, 4, 2)).shape == (3, 4, 2)


def test_functionalize_gives_the_function() -> None:
    same(func.functionalize(lambda a: a.clone().add_(1))(torch.ones(2)), torch.ones(2) * 2)


def test_gradcheck_compares_batches_of_tangents() -> None:
    x = torch.arange(3.0, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda a: (a.sin(), a.sum()), (x,), check_forward_ad=True, check_batched_forward_grad=True)
    with pytest.raises(ValueError, match="check_forward_ad"):
        torch.autograd.gradcheck(torch.sin, (x,), check_batched_forward_grad=True)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

        @staticmethod
        def vmap(info: Any, in_dims: Any, a: Any) -> Any:
            return a * 3, 0

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t * 2

    options: dict[str, Any] = {"check_forward_ad": True, "raise_exception": False}
    assert torch.autograd.gradcheck(Wrong.apply, (x,), **options)
    assert not torch.autograd.gradcheck(Wrong.apply, (x,), check_batched_forward_grad=True, **options)


# ---- derivatives of special forms ----


def test_jacobians_of_nothing_have_the_class_and_shape_of_others() -> None:
    nothing = torch.zeros(0, 3)
    for jacobian in (func.jacrev, func.jacfwd):
        found = jacobian(torch.sin)(nothing)
        assert type(found) is torch.Tensor and found.shape == (0, 3, 0, 3)
        pair, aux = jacobian(lambda a: ((a.sum(), a), a.sum()), has_aux=True)(nothing)
        assert [t.shape for t in pair] == [(0, 3), (0, 3, 0, 3)] and aux.item() == 0
    assert func.hessian(torch.sin)(nothing).shape == (0, 3) * 3
    assert func.jacfwd(lambda a: torch.nn.functional.adaptive_avg_pool1d(a, 5))(torch.zeros(0, 8, 8)).shape == (0, 8, 5, 0, 8, 8)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (2, 2)])
def test_a_batch_of_gradients_of_slogdet_has_its_axis(shape: tuple[int, ...]) -> None:
    matrices = torch.eye(shape[-1]).expand(shape)
    for found in func.jacrev(torch.linalg.slogdet)(matrices):
        assert found.shape == (*shape[:-2], *shape)
    gradients = torch.zeros(4, *shape[:-2])
    given = matrices.clone().requires_grad_()
    sign = torch.linalg.slogdet(given)[0]
    assert torch.autograd.grad(sign, given, gradients, is_grads_batched=True)[0].shape == (4, *shape)


def test_logcumsumexp_pushes_tangents_along_its_scan() -> None:
    x = torch.tensor([1.0, -3, 900, 2, 901], dtype=torch.float64)
    tangent = torch.tensor([1.0, -2, 3, 0, -1], dtype=torch.float64)
    run = lambda a: torch.logcumsumexp(a, 0)  # noqa: E731
    found = func.jvp(run, (x,), (tangent,))[1]
    assert not found.requires_grad
    same(found, func.jacrev(run)(x) @ tangent)
    least = torch.tensor([float("-inf"), float("-inf"), 1, 2], dtype=torch.float64)
    same(func.jacfwd(run)(least), func.jacrev(run)(least))
    same(func.jvp(run, (x[0],), (tangent[2],))[1], tangent[2])
    given = torch.randn(3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradgradcheck(run, (given,), check_fwd_over_rev=True)
    same(func.jacfwd(func.jacfwd(run))(given.detach()), func.jacrev(func.jacrev(run))(given.detach()))


def test_a_dropout_of_everything_draws_no_numbers() -> None:
    x = torch.ones(2, 3)
    drop = torch.nn.functional.dropout
    assert torch.vmap(lambda a: drop(a, 1.0))(x).sum().item() == 0
    assert torch.vmap(lambda a: drop(torch.ones(3), 1.0) + a)(x).sum().item() == 6
    assert torch.vmap(lambda a: torch.nn.functional.dropout2d(a, 1.0))(torch.ones(2, 2, 3, 3)).sum().item() == 0
    assert func.hessian(lambda a: drop(a, 1.0).sum())(x[0]).shape == (3, 3)
    with pytest.raises(ts.NotSupportedError, match="randomness"):
        torch.vmap(lambda a: drop(a, 0.5))(x)


@pytest.mark.parametrize("order", [1, 2, float("inf")])
def test_the_norm_of_a_matrix_without_elements_is_0(order: float) -> None:
    for shape in ((5, 0), (0, 5), (2, 0, 3)):
        found = torch.linalg.norm(torch.ones(shape), order, dim=(-2, -1))
        assert found.shape == shape[:-2] and not found.any()
    assert torch.linalg.matrix_norm(torch.ones(2, 0, 3), order, keepdim=True).shape == (2, 1, 1)


# ---- mixed precision ----


def test_autocast_casts_sums_of_products_alone() -> None:
    m, v = torch.eye(3) + 1, torch.ones(3)
    short, full = torch.bfloat16, torch.float32
    with torch.autocast("cpu"):
        for equation, operands, dtype in [
            ("i->", (v,), full), ("ij->ji", (m,), full), ("i,i->i", (v, v), full), ("i,j->ij", (v, v), full), ("i,i", (v, v), short),
            ("ij,jk->ik", (m, m), short), ("ij,jk", (m, m), short), ("...i,i...->...", (v, v), short),
        ]:  # fmt: skip
            assert torch.einsum(equation, *operands).dtype is dtype, equation
        assert torch.tensordot(m, m, dims=1).dtype is short
        assert torch.tensordot(m, m, dims=2).dtype is torch.tensordot(v, v, dims=1).dtype is full
        assert torch.tensordot(m, m, dims=([0, 1], [0, 1])).dtype is full
        assert torch.tensordot(m, m, dims=([-1], [0])).dtype is short
        assert torch.tensordot(torch.ones(2, 2, 1), torch.ones(2, 1, 2), dims=[[0, 1], [2, 0]]).dtype is full


def test_autocast_leaves_inverses_and_factorizations_in_float32() -> None:
    m = torch.eye(3) + 1
    packed, tau = torch.geqrf(m)
    root, power = m.clone().requires_grad_(), m.clone().requires_grad_()
    with torch.autocast("cpu"):
        dtypes = [torch.linalg.matrix_power(m, n).dtype for n in (0, 1, -1, 2, -2)]
        assert dtypes == [torch.float32] * 3 + [torch.bfloat16] * 2
        assert torch.matrix_power(m, -1).dtype is m.matrix_power(0).dtype is torch.float32
        product = torch.ormqr(packed, tau, m)
        found = torch.linalg.matrix_sqrth(root)
        parts = torch.linalg.polar(power)
        fitted = torch.linalg.lstsq(m[:, :2], m, driver="gelsd")
        assert torch.ormqr(packed.to(torch.bfloat16), tau, m).dtype is torch.float32
    same(product, torch.ormqr(packed, tau, m))
    same(fitted.residuals, torch.linalg.lstsq(m[:, :2], m, driver="gelsd").residuals)
    assert found.dtype is parts.U.dtype is torch.float32
    found.sum().backward()
    (parts.U.sum() + parts.H.sum()).backward()
    assert root.grad.isfinite().all() and power.grad.isfinite().all()


# ---- batching rules ----


def attention(a: torch.Tensor, b: torch.Tensor, mask: torch.Tensor | None = None, zero: bool = True) -> torch.Tensor:
    """An attention of three heads with keys and values of its own, of which every tensor varies."""
    into, own = torch.cat([a, b, a + b]), (b[:1, None], a[1:2, None])
    found = torch.nn.functional.multi_head_attention_forward(
        a, b, a * b, 3, 3, into, None, *own, zero, 0.0, b, a[0], training=False, attn_mask=mask, average_attn_weights=False
    )
    return torch.cat([found[0].flatten(), found[1].flatten()])


VARYING = {
    "block_diag": (lambda a, b: torch.block_diag(a, b[0], b), "ff"),
    "cartesian_prod": (lambda a, b: torch.cartesian_prod(a[0], b[1]), "ff"),
    "combinations": (lambda a: torch.combinations(a[0], 2, True), "f"),
    "cov": (lambda a: torch.cov(a, correction=0), "f"),
    "cov of one": (lambda a: torch.cov(a[0]), "f"),
    "cov of weights": (lambda a, i, b: torch.cov(a, fweights=i + 1, aweights=b[0].abs()), "fif"),
    "cov of counts": (lambda a, i: torch.cov(a, correction=0, fweights=i), "fi"),
    "cov of shares": (lambda a, b: torch.cov(a[0], aweights=b[0].abs()), "ff"),
    "cov of integers": (lambda a, i: a[0, 0] * torch.cov(torch.stack([i, i.flip(0)])), "fi"),
    "cov of short floats": (lambda a: torch.cov(a.to(torch.bfloat16)).double(), "f"),
    "corrcoef": (torch.corrcoef, "f"),
    "corrcoef of complex numbers": (lambda a, b: torch.view_as_real(torch.corrcoef(torch.complex(a, b))), "ff"),
    "index_add": (lambda a, i, b: a.index_add(1, i, b, alpha=2), "fif"),
    "index_copy": (lambda a, i, b: a.index_copy(1, i, b), "fif"),
    "index_fill": (lambda a, i: a.index_fill(-1, i, 3.0), "fi"),
    "index_fill of a tensor": (lambda a, i, b: a.index_fill(1, i, b[0, 0]), "fif"),
    "index_reduce": (lambda a, i, b: a.index_reduce(1, i, b, "prod"), "fif"),
    "index_put, a slice before": (lambda a, i, b: ts.index_put(a, (None, i), b, True), "fif"),
    "index_put, one index": (lambda a, b: ts.index_put(a, (torch.tensor([1, 1]),), b[:2], True), "ff"),
    "index_put, a mask": (lambda a, b: ts.index_put(a, (torch.tensor([True, False, True]),), b[:2], True), "ff"),
    "bucketize": (lambda a, b: torch.bucketize(a, b[0].sort()[0], right=True), "ff"),
    "bucketize to int32": (lambda a, b: torch.bucketize(a, b[0].sort()[0], out_int32=True), "ff"),
    "searchsorted": (lambda a, b: torch.searchsorted(b[0].sort()[0], a), "ff"),
    "embedding": (lambda a, i: torch.nn.functional.embedding(i, a, padding_idx=-1), "fi"),
    "cross_entropy": (lambda a, i, b: torch.nn.functional.cross_entropy(a, i, b[0].abs()), "fif"),
    "cross_entropy, smoothed": (
        lambda a, i, b: torch.nn.functional.cross_entropy(a, i, b[0].abs(), ignore_index=1, label_smoothing=0.2), "fif",
    ),
    "cross_entropy, chances": (lambda a, b: torch.nn.functional.cross_entropy(a, b.softmax(1), b[0].abs(), label_smoothing=0.1), "ff"),
    "cross_entropy, one": (lambda a, i, b: torch.nn.functional.cross_entropy(a[0], i[0], b[0], reduction="none"), "fif"),
    "nll_loss": (lambda a, i, b: torch.nn.functional.nll_loss(a, i, b[0], reduction="sum"), "fif"),
    "masked_select": (lambda a: a.masked_select(torch.tensor([True, False, True])), "f"),
    "masked_select of one": (lambda a: a[0, 0].masked_select(torch.tensor(True)), "f"),
    "repeat": (lambda a, i: a.repeat_interleave(i.argsort(), 1), "fi"),
    "repeat of all": (lambda a, i: a.repeat_interleave(i.argsort().repeat(3)), "fi"),
    "multilabel_soft_margin_loss": (
        lambda a, b: torch.nn.functional.multilabel_soft_margin_loss(a, (b > 0).double(), b.abs()), "ff",
    ),
    "multilabel_soft_margin_loss of classes": (
        lambda a, b: torch.nn.functional.multilabel_soft_margin_loss(a[1], (b[1] > 0).double(), b[0].abs(), reduction="none"), "ff",
    ),
    "multi_head_attention": (attention, "ff"),
    "multi_head_attention, a mask for each head": (
        lambda a, b: attention(a, b, torch.stack([a > 0, b > 0, a > b]).logical_not(), False), "ff",
    ),
    "lstsq": (lambda a, b: torch.linalg.lstsq(a[:, :2], b).solution, "ff"),
    "lstsq of wide matrices": (lambda a, b: torch.linalg.lstsq(a[:2], b[:2]).solution, "ff"),
    "lstsq of a vector": (lambda a, b: ts.linalg.lstsq(a[:, :2], b[0]).solution, "ff"),
    "lstsq of several": (lambda a, b: torch.linalg.lstsq(torch.stack([a, b])[:, :, :2], b).solution, "ff"),
    "lstsq, residuals": (lambda a, b: torch.linalg.lstsq(a[:, :2], b, driver="gelsd").residuals, "ff"),
    "lstsq, residuals of gels": (lambda a, b: torch.linalg.lstsq(a[:, :2], b, driver="gels").residuals, "ff"),
    "lstsq, no residuals": (lambda a, b: ts.linalg.lstsq(a, b[0]).residuals, "ff"),
    "lstsq, rank": (lambda a, b: torch.linalg.lstsq(a[:, :2], b, driver="gelsd").rank, "ff"),
    "householder_product": (lambda a, b: torch.linalg.householder_product(a, b[0]), "ff"),
    "matrix_rank": (lambda a, b: torch.linalg.matrix_rank(a, rtol=b[0, 0].abs() / 9), "ff"),
    "pinv": (lambda a, b: torch.linalg.pinv(torch.stack([a, b]), rtol=b[0, 0].abs() / 9), "ff"),
    "addr_ without its input": (lambda a, b: (a + b).fill_(float("nan")).addr_(a[0], b[0], beta=0), "ff"),
}  # fmt: skip


@pytest.mark.filterwarnings("error:vmap")
@pytest.mark.parametrize("name", VARYING)
def test_a_rule_runs_on_the_batch_what_a_loop_gives(name: str) -> None:
    run, kinds = VARYING[name]
    torch.manual_seed(len(name))
    floats = [torch.randn(2, 3, 3, dtype=torch.float64), torch.randn(2, 3, 3, dtype=torch.float64)]
    indices = torch.tensor([[2, 0, 2], [1, 0, 0]])
    given = [indices if kind == "i" else floats[place > 0] for place, kind in enumerate(kinds)]
    same(torch.vmap(run)(*given), each(run, *given))
    for alone in range(len(given)):
        shared = [t if place == alone else t[0] for place, t in enumerate(given)]
        dims = tuple(0 if place == alone else None for place in range(len(given)))
        wanted = torch.stack([run(*[t[i] if place == alone else t[0] for place, t in enumerate(given)]) for i in range(2)])
        same(torch.vmap(run, in_dims=dims)(*shared), wanted)
    if "searchsorted" in name or "bucketize" in name or "rank" in name:
        return
    total = lambda *t: (run(*t) ** 2).sum()  # noqa: E731
    gradient = func.grad(total, argnums=0)
    same(torch.vmap(gradient)(*given), each(gradient, *given))


def test_the_jvp_of_a_function_in_a_batch_gets_zeros_too() -> None:
    class Product(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return x @ w

        @staticmethod
        def setup_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):  # type: ignore[no-untyped-def]
            x, w = ctx.saved_tensors
            return grad @ w.mT, x.mT @ grad

        @staticmethod
        def jvp(ctx, x_tangent, w_tangent):  # type: ignore[no-untyped-def]
            x, w = ctx.saved_tensors
            return x_tangent @ w + x @ w_tangent

    x, w = torch.randn(3, 2, 2, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    bare = lambda a, b: (a @ b).sin().sum()  # noqa: E731
    own = lambda a, b: Product.apply(a, b).sin().sum()  # noqa: E731
    same(func.jacfwd(lambda b: Product.apply(x[0], b))(w), func.jacfwd(lambda b: x[0] @ b)(w))
    for place in (0, 1):
        second = [torch.vmap(func.hessian(f, argnums=place), in_dims=(0, None))(x, w) for f in (own, bare)]
        same(*second)


def test_arguments_by_name_are_the_same_for_all_samples() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.vmap(lambda a, b=None: a + b)(x, b=x).shape == (3, 3, 2)
    assert torch.func.vmap(lambda a, scale=1: a * scale)(x, scale=3).tolist() == (x * 3).tolist()
    assert ts.func.vmap(lambda a, b=None: a + b)(x, b=x).shape == (3, 2)


def test_a_sample_without_axes_is_a_weak_operand() -> None:
    wide, narrow = torch.ones(3, 2, dtype=torch.float64), torch.ones(3, 2)
    two = torch.tensor(2.0, dtype=torch.float64)
    for run, given in [
        (lambda a: torch.zeros(2) + a[0], (wide,)), (lambda a: a[0] * torch.zeros(2), (wide,)), (lambda a: a + two, (narrow,)),
        (lambda a: a[0] + two, (narrow,)), (lambda a: two - a[0], (narrow,)), (lambda a, b: a[0] / b, (wide, narrow)),
        (lambda a, b: a[0] * b[0], (wide, narrow)), (lambda a, b: b.clone().mul_(a[0]), (wide, narrow)),
        (lambda a: a[0] * (1 + 2j) * torch.ones(2), (wide,)), (lambda a: torch.ones(2, dtype=torch.int32) * a[0], (wide,)),
        (lambda a, b: torch.eq(a[0], b), (wide * 0.1, narrow * 0.1)), (lambda a: torch.maximum(a, two), (narrow,)),
    ]:  # fmt: skip
        got, wanted = torch.vmap(run)(*given), each(run, *given)
        assert got.dtype is wanted.dtype
        same(got, wanted)


def test_gradcheck_of_a_function_that_is_constant() -> None:
    x = torch.ones(2, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda a: torch.ones(2, dtype=torch.float64), (x,))
    assert torch.autograd.gradcheck(lambda a: a.to(torch.int64), (x,))
    assert not torch.autograd.gradcheck(lambda a: a.detach() * 2, (x,), raise_exception=False)


# ---- custom functions ----


class Product(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad * y, grad * x

    @staticmethod
    def jvp(ctx: Any, first: Any, second: Any) -> Any:
        x, y = ctx.saved_tensors
        return first * y + x * second


@pytest.mark.parametrize("shapes", [((4,), (3, 4)), ((1, 4), (3, 4)), ((), (3,))])
def test_a_generated_rule_sums_what_broadcasting_repeated(shapes: Any) -> None:
    x, y = torch.randn(3, *shapes[0]), torch.randn(3, *shapes[1])
    gradient = func.grad(lambda a, b: (Product.apply(a, b) ** 2).sum(), argnums=(0, 1))
    for got, wanted in zip(torch.vmap(gradient)(x, y), each(gradient, x, y)):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), 1e-5, 1e-5)


def test_a_tensor_without_tangent_has_zeros_in_jvp() -> None:
    x, y = torch.tensor([1.0, 2]), torch.tensor([3.0, 4])
    assert func.jvp(lambda a: Product.apply(a, y), (x,), (torch.ones(2),))[1].tolist() == [3, 4]
    assert func.jvp(lambda b: Product.apply(x, b), (y,), (torch.ones(2),))[1].tolist() == [1, 2]
    assert func.hessian(lambda a: Product.apply(a, a).sum())(x).tolist() == [[2, 0], [0, 2]]


def test_an_index_of_a_sample_without_axes() -> None:
    x, source, index = torch.tensor([1.0, 2]), torch.tensor([3.0, 4]), torch.tensor([0])
    for run in (
        lambda a, b: a.index_add(0, index, b), lambda a, b: a.index_copy(0, index, b), lambda a, b: a.index_fill(0, index, 5.0),
        lambda a, b: a.index_reduce(0, index, b, "prod"),
    ):  # fmt: skip
        same(torch.vmap(run)(x, source), each(run, x, source))
