# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""vmap: arguments and results of every form, what a sample is, indexing, random numbers, errors. The operators themselves are
compared with a loop in test_vmap_ops.py."""

from __future__ import annotations

import copy
import gc
import warnings
import weakref
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera import nn
from tessera.func import functional_call, grad, stack_module_state, vmap

Pair = namedtuple("Pair", ["first", "second"])


def same(a: Any, b: Any) -> None:
    assert tuple(a.shape) == tuple(b.shape)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-5, 1e-6)


def rows(function: Any, *batches: Any) -> Any:
    return ts.stack([function(*sample) for sample in zip(*batches)])


# ---- arguments and results ----


def test_a_function_of_one_sample_runs_on_the_batch() -> None:
    x = ts.randn((5, 3))
    same(vmap(lambda row: (row * 2).sum())(x), (x * 2).sum(1))


@pytest.mark.parametrize("in_dims", [0, 1, -1, 2])
@pytest.mark.parametrize("out_dims", [0, 1, -1])
def test_the_batch_may_be_along_any_axis(in_dims: int, out_dims: int) -> None:
    x = ts.randn((2, 3, 4))
    moved = x.moveaxis(in_dims, 0)
    wanted = rows(lambda s: s.exp() + 1, moved).moveaxis(0, out_dims)
    same(vmap(lambda s: s.exp() + 1, in_dims, out_dims)(x), wanted)


def test_arguments_and_results_may_be_nested() -> None:
    given = {"a": ts.randn((3, 2)), "b": [ts.randn((2, 3)), (ts.randn(4),)]}

    def f(d: Any, p: Any) -> Any:
        return {"sum": d["a"] + d["b"][0], "pair": Pair(d["b"][1][0] * 2, [p.first.sum(), p.second])}

    got = vmap(f, ({"a": 0, "b": [1, None]}, 0), {"sum": 1, "pair": 0})(given, Pair(ts.ones((3, 2)), ts.arange(3)))
    assert isinstance(got["pair"], Pair)
    same(got["sum"], (given["a"] + given["b"][0].T).T)
    same(got["pair"].first, (given["b"][1][0] * 2).expand((3, 4)))
    same(got["pair"].second[1], ts.arange(3))


def test_keyword_arguments_have_their_batch_in_front() -> None:
    x, y = ts.randn((3, 2)), ts.randn((3, 2))
    same(vmap(lambda a, *, b: a * b)(x, b=y), x * y)


def test_results_that_do_not_vary_are_repeated() -> None:
    got, fixed = vmap(lambda a: (ts.ones(2), ts.zeros(())), out_dims=(1, None))(ts.randn((3,)))
    assert got.shape == (2, 3)
    assert fixed.shape == ()


def test_in_vmap_the_outer_argument_stays_one_sample() -> None:
    a, b = ts.randn((3, 4)), ts.randn((5, 4))
    table = vmap(lambda x: vmap(lambda y: x @ y)(b))(a)
    same(table, a @ b.T)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_chunks_give_the_same(chunk: int) -> None:
    x = ts.randn((7, 3))
    f = lambda row: {"s": row.sum(), "t": row * 2}  # noqa: E731
    got = vmap(f, out_dims={"s": 0, "t": 1}, chunk_size=chunk)(x)
    same(got["s"], x.sum(1))
    same(got["t"], (x * 2).T)


def test_a_batch_of_no_samples_gives_no_results() -> None:
    assert vmap(lambda a: (a @ a.T).sum(1))(ts.zeros((0, 2, 3))).shape == (0, 2)


# ---- what a sample is ----


@pytest.mark.parametrize("kind", ["tessera", "torch"])
def test_a_sample_looks_like_a_tensor(kind: str) -> None:
    import tessera.torch as torch

    given = ts.randn((3, 2, 4)) if kind == "tessera" else torch.randn(3, 2, 4)
    seen = []

    def f(x: Any) -> Any:
        seen.append(x)
        assert isinstance(x, ts.Tensor)
        assert ts.is_tensor(x)
        assert isinstance(x, torch.Tensor) is (kind == "torch")
        assert x.shape == (2, 4)
        assert type(x.shape) is type(given.shape)
        assert (x.ndim, len(x), x.dim(), x.numel()) == (2, 2, 2, 8)
        assert x.dtype is ts.float32
        assert x.is_floating_point()
        assert x.device == given.device
        assert x.stride() == (4, 1)
        assert x.is_contiguous()
        assert not x.mT.is_contiguous() and x.mT.contiguous().is_contiguous()
        assert "Sample" in repr(x)
        assert x.double().dtype is ts.float64 and x.to(ts.float16).dtype is ts.float16
        assert x.detach().requires_grad is False
        assert [row.shape for row in x] == [(4,), (4,)]
        return x.mT @ x + x.new_ones(()) - copy.copy(x).sum()

    got = vmap(f)(given)
    assert isinstance(got, type(given))
    same(got, given.mT @ given + 1 - given.sum((1, 2))[:, None, None])


def test_operators_work_with_numbers_arrays_and_tensors_on_both_sides() -> None:
    x, t, n = ts.randn((3, 4)) + 3, ts.randn((4,)), np.arange(4, dtype=np.float32)
    f = lambda a: ((1 - a) / t + t * a - n + (n - a) ** 2 + 2**a, -a, abs(a) // 2, a % 2, a > t, t <= a, a == a, a > 2)  # noqa: E731
    for got, want in zip(vmap(f)(x), f(x)):
        np.testing.assert_allclose(got.numpy(), want.numpy(), 1e-5)


def test_a_leak_says_what_it_is() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x) or x)(ts.ones((2, 3)))
    with pytest.raises(ts.AutogradError, match="a tensor of a call that has ended"):
        kept[0] + 1


def test_samples_die_with_their_call() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(weakref.ref(x))
        return x * 2

    vmap(f)(ts.ones((2, 3)))
    gc.collect()
    assert seen[0]() is None


# ---- indexing ----

INDEXES = [
    0, -1, slice(1, None), (slice(None), 1), (..., 0), None, (None, ..., None), [0, 1], ([0, 1], [1, 0]), (0, [1, 2]),
    (slice(None), [0, 2], 1), ([0, 1], slice(None), [1, 0]), (slice(None), slice(None), [1]), ([[0], [1]], [0, 1]),
    (slice(None), [0, 2], ..., [1, 0]), (slice(None), 1, ..., [1, 0]), (None, [0, 1], ..., 1, [0, 2]), (slice(None), ..., [0, 2], 1),
]  # fmt: skip


@pytest.mark.parametrize("key", INDEXES, ids=str)
def test_an_index_picks_from_each_sample(key: Any) -> None:
    x = ts.randn((3, 2, 3, 4))
    same(vmap(lambda s: s[key])(x), rows(lambda s: s[key], x))


@pytest.mark.parametrize("key", INDEXES, ids=str)
def test_an_index_stores_in_each_sample(key: Any) -> None:
    x = ts.randn((3, 2, 3, 4))
    v = ts.randn((3, *x[0][key].shape))

    def f(s: Any, v: Any) -> Any:
        s = s.clone()
        s[key] = v
        return s

    same(vmap(f)(x, v), rows(f, x, v))
    same(vmap(lambda s: f(s, 7.0))(x), rows(lambda s: f(s, 7.0), x))
    same(vmap(lambda s: f(s, v[0]))(x), rows(lambda s: f(s, v[0]), x))


@pytest.mark.parametrize("own", [True, False])
def test_an_index_may_vary_with_the_samples(own: bool) -> None:
    x = ts.randn((3, 4, 5)) if own else ts.randn((4, 5))
    i = ts.asarray([0, 3, 1])
    j = ts.asarray([[0, 1], [4, 2], [3, 3]])
    each = list(x) if own else [x] * 3
    for f in (
        lambda s, i, j: s[i],
        lambda s, i, j: s[:, i],
        lambda s, i, j: s[:, j],
        lambda s, i, j: s[i, j],
        lambda s, i, j: s[j % 4, :],
        lambda s, i, j: s[[0, 1], j],
        lambda s, i, j: s[j % 4, None, j],
        lambda s, i, j: s[None, j % 4, ..., j],
        lambda s, i, j: s[None, i, ..., 1],
        lambda s, i, j: s[i].sum() + s.take(j, 1).sum(),
    ):
        got = vmap(f, (0 if own else None, 0, 0))(x, i, j)
        same(got, ts.stack([f(s, a, b) for s, a, b in zip(each, i, j)]))


def test_a_store_may_go_where_the_sample_says() -> None:
    x, i, v = ts.zeros((3, 4)), ts.asarray([0, 3, 1]), ts.randn((3,))

    def f(s: Any, i: Any, v: Any) -> Any:
        s = s.clone()
        s[i] = v
        return s

    same(vmap(f)(x, i, v), rows(f, x, i, v))


# ---- in place ----


def test_a_write_in_place_changes_the_batch() -> None:
    x = ts.ones((3, 2))

    def f(s: Any) -> Any:
        s += 1
        s.mul_(3)
        s[0] = 0
        return s

    same(vmap(f)(x), ts.asarray([[0.0, 6.0]] * 3))
    same(x, ts.asarray([[0.0, 6.0]] * 3))


@pytest.mark.parametrize(
    "write",
    [lambda t, s: t.add_(s), lambda t, s: t.__iadd__(s), lambda t, s: t.__setitem__(0, s), lambda t, s: t.copy_(s),
     lambda t, s: ts.add(t, s, out=t)],
)  # fmt: skip
def test_a_write_of_samples_into_one_tensor_is_refused(write: Any) -> None:
    target = ts.zeros((2,))
    with pytest.raises(ts.InvalidValueError, match="the same for all samples"):
        vmap(lambda s: write(target, s))(ts.ones((3,)))
    same(target, ts.zeros((2,)))


def test_new_tensors_of_a_sample_can_be_written() -> None:
    def f(s: Any) -> Any:
        out = s.new_zeros((2,))
        out[1] = s.sum()
        return out

    x = ts.randn((3, 4))
    same(vmap(f)(x), ts.stack([ts.zeros((3,)), x.sum(1)], 1))


# ---- errors ----


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda x: vmap(lambda a, b: a)(x, x[:2]), ts.ShapeError, "inputs of one batch size, got 3 and 2"),
        (lambda x: vmap(lambda a: a, in_dims=2)(x), ts.InvalidValueError, "in_dims: axis 2 is out of range"),
        (lambda x: vmap(lambda a: a, in_dims=(0, 0))(x), ts.InvalidValueError, "in_dims: expected 1 entries"),
        (lambda x: vmap(lambda a: a, in_dims="0")(x), ts.ArgumentTypeError, "in_dims: expected an int"),
        (lambda x: vmap(lambda a: a, in_dims=((0, 1),))(x), ts.InvalidValueError, "in_dims: expected the structure"),
        (lambda x: vmap(lambda a: a, in_dims=None)(x), ts.InvalidValueError, "no input has a batch"),
        (lambda x: vmap(lambda a: a)(), ts.InvalidValueError, "no input has a batch"),
        (lambda x: vmap(lambda a, b: a)(x, 3), ts.ArgumentTypeError, "in_dims is 0 for an input of type int"),
        (lambda x: vmap(lambda a: 3)(x), ts.ArgumentTypeError, "to return Tensors, got int"),
        (lambda x: vmap(lambda a: a, out_dims=2)(x), ts.OutOfRangeError, "out_dims: axis 2"),
        (lambda x: vmap(lambda a: a, out_dims=None)(x), ts.InvalidValueError, "out_dims is None"),
        (lambda x: vmap(lambda a: a, out_dims=(0, 0))(x), ts.InvalidValueError, "out_dims: expected the structure"),
        (lambda x: vmap(lambda a: a, randomness="any")(x), ts.InvalidValueError, "randomness"),
        (lambda x: vmap(lambda a: a, chunk_size=0)(x), ts.InvalidValueError, "chunk_size"),
        (lambda x: vmap(lambda a: a.sum().item())(x), ts.NotSupportedError, "no single one"),
        (lambda x: vmap(lambda a: a if a.sum() > 0 else -a)(x), ts.NotSupportedError, "where"),
        (lambda x: vmap(lambda a: float(a.sum()))(x), ts.NotSupportedError, "number"),
        (lambda x: vmap(lambda a: a.tolist())(x), ts.NotSupportedError, "tolist"),
        (lambda x: vmap(lambda a: a.numpy())(x), ts.NotSupportedError, "numpy"),
        (lambda x: vmap(lambda a: np.asarray(a))(x), ts.NotSupportedError, "NumPy"),
        (lambda x: vmap(lambda a: a.requires_grad_())(x), ts.NotSupportedError, "func.grad"),
        (lambda x: vmap(lambda a: a.sum().backward())(x), ts.NotSupportedError, "func.grad"),
        (lambda x: vmap(lambda a: a[a > 0])(x), ts.NotSupportedError, "where"),
        (lambda x: vmap(lambda a: a.nonzero())(x), ts.TesseraError, "depends on the data"),
        (lambda x: vmap(lambda a: a.sum(2))(x), ts.OutOfRangeError, "axis 2"),
        (lambda x: vmap(lambda a: a.reshape(3))(x), ts.TesseraError, "reshape"),
        (lambda x: vmap(lambda a: a.sum(a.argmax()))(x), ts.TesseraError, "same for all samples"),
        (lambda x: vmap(lambda a: ts.autograd.grad(a.sum(), a))(x), ts.NotSupportedError, "func.grad"),
        (lambda x: vmap(lambda a: ts.autograd.backward(a.sum()))(x), ts.NotSupportedError, "func.grad"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:vmap")
def test_errors_say_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call(ts.asarray([[1.0, -1.0], [2.0, 3.0], [-1.0, 0.0]]))


def test_after_an_error_nothing_is_left() -> None:
    from tessera.func import _levels

    with pytest.raises(ZeroDivisionError):
        vmap(lambda a: 1 / 0)(ts.ones((2,)))
    assert _levels.active() == ()
    ts.rand((2,))


# ---- random numbers ----

DRAWS = [
    lambda s: ts.rand((4,)),
    lambda s: ts.randn((64,)) + s * 0,
    lambda s: ts.randint(0, 1000, (4,)).astype(ts.float32),
    lambda s: ts.randperm(50).astype(ts.float32),
    lambda s: ts.rand_like(s),
    lambda s: ts.bernoulli(s * 0 + 0.5),
    lambda s: ts.bernoulli(ts.full((64,), 0.5)),
    lambda s: F.dropout(s * 0 + 1, 0.5),
    lambda s: F.dropout(ts.ones(64), 0.5),
    lambda s: s.clone().uniform_(),
    lambda s: F.dropout2d(ts.ones((32, 2, 2)) + s.sum() * 0, 0.5),
    lambda s: ts.normal(s * 0, ts.ones(64)),
    lambda s: ts.distributions.Normal(s * 0, 1.0, validate_args=False).sample(),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_random_numbers_follow_the_policy(draw: Any) -> None:
    x = ts.ones((3, 64))
    with pytest.raises(ts.NotSupportedError, match="randomness"):
        vmap(draw)(x)
    different = vmap(draw, randomness="different")(x)
    assert not bool((different[0] == different[1]).all())
    same_ = vmap(draw, randomness="same")(x)
    assert bool((same_ == same_[:1]).all())
    one = draw(x[0])
    assert one.shape == different.shape[1:] == same_.shape[1:]


def test_without_vmap_random_numbers_are_as_before() -> None:
    ts.manual_seed(3)
    first = ts.rand((4,))
    ts.manual_seed(3)
    vmap(lambda s: s + 1)(ts.ones((2,)))
    same(ts.rand((4,)), first)


def test_nested_policies_are_each_of_their_own_level() -> None:
    x = ts.ones((3, 2))
    both = vmap(vmap(lambda s: ts.rand((8,)) + s, randomness="different"), randomness="different")(x)
    assert len({tuple(r.tolist()) for row in both for r in row}) == 6
    outer = vmap(vmap(lambda s: ts.rand((8,)) + s, randomness="same"), randomness="different")(x)
    assert len({tuple(r.tolist()) for row in outer for r in row}) == 3
    inner = vmap(vmap(lambda s: ts.rand((8,)) + s, randomness="different"), randomness="same")(x)
    assert len({tuple(r.tolist()) for row in inner for r in row}) == 2


def test_a_layer_that_is_not_training_draws_nothing() -> None:
    same(vmap(lambda s: F.dropout(s, 0.5, training=False))(ts.ones((2, 3))), ts.ones((2, 3)))


# ---- layers ----


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(0), nn.Linear(16, 5), nn.LayerNorm(5)
    )


def test_an_ensemble_of_models_is_a_loop_over_the_models() -> None:
    models = [network() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    x = ts.randn((2, 4, 4))

    def call(p: Any, b: Any, x: Any) -> Any:
        return functional_call(models[0], (p, b), (x,))

    same(vmap(call, (0, 0, None))(parameters, buffers, x), ts.stack([m(x) for m in models]))
    each = ts.randn((3, 2, 4, 4))
    same(vmap(call)(parameters, buffers, each), ts.stack([m(s) for m, s in zip(models, each)]))


def test_per_sample_gradients_of_a_network() -> None:
    model = network()
    parameters = {n: p.detach() for n, p in model.named_parameters()}
    x, y = ts.randn((6, 2, 4, 4)), ts.asarray([0, 1, 2, 3, 4, 0])

    def loss(p: Any, x: Any, y: Any) -> Any:
        return F.cross_entropy(functional_call(model, p, (x,)), y)

    got = vmap(grad(loss), (None, 0, 0))(parameters, x, y)
    for i in range(6):
        one = grad(loss)(parameters, x[i], y[i])
        for name in parameters:
            np.testing.assert_allclose(got[name][i].numpy(), one[name].numpy(), 1e-4, 1e-5, err_msg=name)


def test_per_sample_gradients_of_a_transformer() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    parameters = {n: p.detach() for n, p in model.named_parameters()}
    x = ts.randn((3, 2, 5, 8))
    by = grad(lambda p, x: functional_call(model, p, (x,)).square().sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no loop
        got = vmap(by, (None, 0))(parameters, x)
        same(vmap(model)(x), ts.stack([model(s) for s in x]))
    for i in range(3):
        one = by(parameters, x[i])
        for name in parameters:
            np.testing.assert_allclose(got[name][i].numpy(), one[name].numpy(), 1e-3, 1e-4, err_msg=name)


def test_batch_norm_keeps_statistics_for_each_model_of_an_ensemble() -> None:
    models = [nn.BatchNorm1d(3) for _ in range(2)]
    x = ts.randn((2, 5, 3))
    parameters, buffers = stack_module_state(models)
    buffers = {k: v.clone() for k, v in buffers.items()}
    names = list(buffers)

    def call(p: Any, b: Any, x: Any) -> Any:
        return functional_call(models[0].train(), (p, b), (x,))

    same(vmap(call)(parameters, buffers, x), ts.stack([m.train()(s) for m, s in zip(models, x)]))
    for name in names:
        if name.startswith("running"):
            same(buffers[name], ts.stack([dict(m.named_buffers())[name] for m in models]))
    with pytest.raises(ts.InvalidValueError, match="running_mean"):
        vmap(lambda s: models[0](s))(x)


def test_recurrent_cells_and_losses_join_their_batch() -> None:
    cell = nn.LSTMCell(3, 4)
    x, h, c = ts.randn((5, 2, 3)), ts.randn((5, 2, 4)), ts.randn((5, 2, 4))
    got = vmap(lambda x, h, c: cell(x, (h, c))[0])(x, h, c)
    same(got, rows(lambda x, h, c: cell(x, (h, c))[0], x, h, c))
    target = ts.asarray([[0, 2], [1, -100], [2, 2], [0, 0], [1, 1]])
    weight = ts.asarray([1.0, 2.0, 3.0])
    f = lambda x, t: F.cross_entropy(x, t, weight, label_smoothing=0.1)  # noqa: E731
    same(vmap(f)(x, target), rows(f, x, target))


def test_the_same_random_numbers_are_those_of_every_chunk() -> None:
    def run(chunk: int | None) -> Any:
        ts.manual_seed(3)
        return vmap(lambda s: ts.rand((4,)) + s, randomness="same", chunk_size=chunk)(ts.zeros((5,))), ts.rand((2,))

    for got, expected in zip(run(2), run(None)):
        same(got, expected)
    apart = vmap(lambda s: ts.rand((4,)) + s, randomness="different", chunk_size=1)(ts.zeros((2,)))
    assert (apart[0] != apart[1]).any()


@pytest.mark.filterwarnings("ignore:vmap")
def test_losses_take_a_weight_for_each_element() -> None:
    x, target, weight = ts.randn((3, 2, 4)), ts.ones((3, 2, 4)), ts.rand((2, 4))
    f = lambda x, t: F.multilabel_soft_margin_loss(x, t, weight)  # noqa: E731
    same(vmap(f)(x, target), rows(f, x, target))


def test_what_is_gathered_from_a_number_has_the_axes_of_the_index() -> None:
    x, index = ts.asarray([1.0, 2.0]), ts.asarray([0])
    for f in (lambda x: ts.gather(x, 0, index), lambda x: ts.gather(x, 0, ts.asarray(0))):
        same(vmap(f)(x), rows(f, x))
    assert vmap(lambda x: ts.gather(x, 0, index))(x).shape == (2, 1)
