# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention, its layers, bags of embeddings and bilinear forms: against PyTorch, and what no table of values shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn
from tessera.autograd import forward_ad
from tessera.nn import functional as F

sdpa = F.scaled_dot_product_attention


def normal(*shape: int, seed: int = 0, dtype: Any = ts.float64) -> ts.Tensor:
    return ts.asarray(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def three(*shape: int, dtype: Any = ts.float32) -> list[ts.Tensor]:
    return [normal(*shape, seed=k, dtype=dtype).requires_grad_(True) for k in range(3)]


# ---- scaled_dot_product_attention ----


@pytest.mark.parametrize("length", [1, 127, 128, 129, 300, 600])
def test_blocks_of_queries_and_keys_join_without_a_seam(length: int) -> None:
    q, k, v = normal(2, 70, 5), normal(2, length, 5, seed=1), normal(2, length, 3, seed=2)
    scores = ts.matmul(q, ts.matrix_transpose(k)) * 5**-0.5
    np.testing.assert_allclose(sdpa(q, k, v).numpy(), ts.matmul(ts.softmax(scores, -1), v).numpy(), rtol=1e-12)


def test_scores_of_any_size_do_not_overflow() -> None:
    q, k = ts.asarray([[300.0]]), ts.asarray([[300.0], [-300.0], [299.0]])
    np.testing.assert_array_equal(sdpa(q, k, ts.asarray([[1.0], [2.0], [3.0]])).numpy(), [[1.0]])


@pytest.mark.parametrize("dtype, least", [(ts.float32, -103.9), (ts.float64, -745.1)])
def test_probabilities_that_vanish_are_zero_in_rows_of_any_length(dtype: Any, least: float) -> None:
    for columns in range(1, 70):
        scores = np.random.default_rng(columns).standard_normal((4, columns)) * 3
        scores[0, columns // 2 :], scores[1, ::3], scores[2, 1::2] = -np.inf, 2 * least, least / 1.1
        scores[:, 0] = 0
        table = ts.asarray(scores).astype(dtype)
        powers = np.exp(table.numpy().astype(np.longdouble))
        wanted, found = powers / powers.sum(1, keepdims=True), ts.softmax(table, -1).numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == ts.float32 else 1e-12, atol=1e-44)
        assert (found[0, max(1, columns // 2) :] == 0).all()
        np.testing.assert_allclose(ts.logsumexp(table, -1).numpy(), np.log(powers.sum(1)), rtol=1e-5, atol=1e-6)


def test_heads_without_width_have_the_scores_of_the_mask() -> None:
    wanted = ts.softmax(ts.asarray([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]), -1).numpy()
    mask = ts.asarray([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]).requires_grad_()
    q, k = ts.zeros((1, 2, 0)), ts.zeros((1, 3, 0))
    found = sdpa(q, k, ts.eye(3)[None], mask)
    np.testing.assert_allclose(found.detach().numpy()[0], wanted, rtol=1e-6)
    (slope,) = ts.autograd.grad([found[0, 0, 0]], [mask], create_graph=True)
    np.testing.assert_allclose(slope.detach().numpy()[0], wanted[0, 0] * (np.eye(3)[0] - wanted[0]), rtol=1e-5)
    none = ts.zeros((0, 0))
    weights = ts._ops.multi_head_attention(
        q, k, ts.zeros((1, 3, 0)), 1, none, in_proj_weight=none, attn_mask=mask.detach(), batch_first=True
    )[1]
    np.testing.assert_allclose(weights.numpy()[0], wanted, rtol=1e-6)


@pytest.mark.parametrize("queries, keys", [(64, 64), (70, 70), (130, 300)])
def test_causal_rows_are_those_of_a_mask(queries: int, keys: int) -> None:
    q, k, v = normal(2, queries, 8), normal(2, keys, 8, seed=1), normal(2, keys, 4, seed=2)
    mask = ts.asarray(np.tri(queries, keys, dtype=bool))
    found, wanted = sdpa(q, k, v, is_causal=True), sdpa(q, k, v, attn_mask=mask)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-12, atol=1e-14)


def test_a_nan_stays_in_its_row_and_a_hidden_query_gives_zero() -> None:
    q, k, v = normal(3, 2), normal(4, 2, seed=1), normal(4, 2, seed=2)
    q[1] = float("nan")
    found = sdpa(q, k, v, attn_mask=ts.asarray([[True], [True], [False]])).numpy()
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all() and (found[2] == 0).all()


@pytest.mark.parametrize("queries, keys", [(3, 40), (130, 300)])
@pytest.mark.parametrize("which", [1, 2])
def test_keys_that_no_query_sees_do_not_matter(queries: int, keys: int, which: int) -> None:
    operands = [normal(queries, 5), normal(keys, 5, seed=1), normal(keys, 5, seed=2)]

    def run(number: float) -> list[np.ndarray[Any, Any]]:
        operands[which][queries:] = number
        leaves = [t.clone().requires_grad_() for t in operands]
        y = sdpa(*leaves, is_causal=True)
        return [t.detach().numpy() for t in (y, *ts.autograd.grad((y * y).sum(), leaves))]

    for wanted, found in zip(run(0.0), run(float("nan"))):
        np.testing.assert_array_equal(found, wanted)


def test_hidden_queries_have_gradient_zero() -> None:
    q, k, v = three(2, 3)
    sdpa(q, k, v, attn_mask=ts.asarray([[True, True], [False, False]])).sum().backward()
    assert (q.grad.numpy()[1] == 0).all() and np.isfinite(k.grad.numpy()).all() and (v.grad.numpy() != 0).all()


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16])
@pytest.mark.parametrize("queries, keys, width", [(300, 300, 8), (45, 270, 64), (130, 31, 33), (1, 1, 1)])
def test_short_floats_round_once(dtype: Any, queries: int, keys: int, width: int) -> None:
    q, k, v = (normal(2, n, width, seed=s, dtype=dtype) for s, n in enumerate((queries, keys, keys)))
    mask = ts.asarray(np.random.default_rng(9).random((queries, keys)) < 0.8) | (ts.arange(keys) == 0)
    for options in ({"is_causal": True}, {"attn_mask": mask}, {}):
        exact = sdpa(*(x.astype(ts.float64) for x in (q, k, v)), **options).numpy()
        found = sdpa(q, k, v, **options)
        assert found.dtype is dtype
        # A unit of bfloat16 is 2**-7 of its power of two, one of float16 2**-10: half of it, and a little for the sums.
        unit = 2.0 ** (np.floor(np.log2(np.abs(exact) + 1e-30)) - (7 if dtype is ts.bfloat16 else 10))
        assert (np.abs(found.astype(ts.float64).numpy() - exact) <= 0.505 * unit + 2e-6).all()


@pytest.mark.parametrize("dtype", [ts.bfloat16, ts.float32])
def test_an_infinite_value_gives_infinity(dtype: Any) -> None:
    q, k, v = (normal(2, 70, 40, seed=s, dtype=dtype) for s in range(3))
    v[0, 3, 5], v[1, 69, 39] = float("inf"), -float("inf")
    found = sdpa(q, k, v).astype(ts.float32).numpy()
    assert (found[0, :, 5] == np.inf).all() and (found[1, :, 39] == -np.inf).all()
    assert np.isfinite(found).sum() == found.size - 140


def test_heads_of_a_wider_tensor_are_read_in_place_and_the_result_joins_again() -> None:
    wide = normal(2, 5, 3, 4)  # batch, length, heads, features
    q = ts.swapaxes(wide, 1, 2)
    joined = ts.swapaxes(sdpa(q, q, q), 1, 2)
    assert joined.is_contiguous()
    dense = q.contiguous()
    np.testing.assert_array_equal(ts.swapaxes(joined, 1, 2).numpy(), sdpa(dense, dense, dense).numpy())


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_query_without_heads_shares_no_keys(create_graph: bool) -> None:
    q, k, v = (ts.ones(2, heads, 3, 4, requires_grad=True) for heads in (0, 2, 2))
    output = sdpa(q, k, v, enable_gqa=True)
    assert output.shape == (2, 0, 3, 4)
    gradients = ts.autograd.grad(output.sum(), (q, k, v), create_graph=create_graph)
    assert [g.shape for g in gradients] == [q.shape, k.shape, v.shape]
    assert not any(g.any() for g in gradients)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, ts.ones_like(x)) for x in (q, k, v)]
        assert forward_ad.unpack_dual(sdpa(*duals, enable_gqa=True)).primal.shape == (2, 0, 3, 4)


LONG: list[dict[str, Any]] = [
    {}, {"is_causal": True}, {"attn_mask": "bool"}, {"attn_mask": "numbers"}, {"enable_gqa": True, "is_causal": True},
]  # fmt: skip


@pytest.mark.parametrize("options", LONG, ids=["plain", "causal", "bool", "numbers", "grouped"])
def test_blocks_of_the_gradients_join_as_the_ones_made_of_ops(options: dict[str, Any]) -> None:
    masks = {"bool": normal(300, 530, seed=5) > 0, "numbers": normal(300, 530, seed=5)}
    options = {name: masks[value] if value in masks else value for name, value in options.items()}
    heads = 2 if options.get("enable_gqa") else 1
    inputs = [normal(heads, 300, 4), normal(1, 530, 4, seed=1), normal(1, 530, 3, seed=2)]
    for x in inputs:
        x.requires_grad_()
    loss = (sdpa(*inputs, **options) * normal(heads, 300, 3, seed=9)).sum()
    fused = ts.autograd.grad(loss, inputs, retain_graph=True)
    composed = ts.autograd.grad(loss, inputs, create_graph=True)
    for a, b in zip(fused, composed):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)


def factors_of(p: float, seed: int, length: int) -> Any:
    """The weights after dropout, as the result for values that are a unit matrix."""
    ts.manual_seed(seed)
    q = ts.zeros(length, 2, dtype=ts.float64)
    return sdpa(q, q, ts.eye(length, dtype=ts.float64), dropout_p=p).numpy() * length


def test_dropout_keeps_its_share_and_scales_it() -> None:
    factors = factors_of(0.25, 3, 300)
    assert set(np.unique(factors.round(9))) == {0.0, round(4 / 3, 9)}
    assert abs((factors == 0).mean() - 0.25) < 4 * (0.25 * 0.75 / 300**2) ** 0.5
    np.testing.assert_array_equal(factors, factors_of(0.25, 3, 300))
    assert (factors != factors_of(0.25, 4, 300)).any()


def test_dropout_is_the_same_in_both_backwards() -> None:
    q, k, v = three(2, 150, 4, dtype=ts.float64)
    ts.manual_seed(11)
    loss = (sdpa(q, k, v, dropout_p=0.3) * normal(2, 150, 4, seed=9)).sum()
    fused = ts.autograd.grad(loss, [q, k, v], retain_graph=True)
    composed = ts.autograd.grad(loss, [q, k, v], create_graph=True)
    for a, b in zip(fused, composed):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


def test_dropout_agrees_with_finite_differences() -> None:
    def attend(*args: ts.Tensor) -> ts.Tensor:
        ts.manual_seed(5)
        return sdpa(*args, dropout_p=0.4, is_causal=True)

    assert ts.autograd.gradcheck(attend, tuple(three(2, 4, 3, dtype=ts.float64)))


@pytest.mark.parametrize(("dtype", "tolerance"), [(ts.float64, 1e-10), (ts.float32, 1e-4), (ts.bfloat16, 5e-2)])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"dropout_p": 0.3}, {"attn_mask": "hides"}])
@pytest.mark.parametrize("duals", ["q", "k", "v", "qv", "qkv"])
def test_a18_tangent_of_the_forward_pass_is_that_of_the_rule(
    duals: str, options: dict[str, Any], dtype: Any, tolerance: float
) -> None:
    """Where something requires grad, operators compute the tangent, and not the pass that computes the value."""
    shapes = {"q": (4, 130, 5), "k": (2, 300, 5), "v": (2, 300, 3)}
    primals = {name: normal(*shape, seed=k, dtype=dtype) for k, (name, shape) in enumerate(shapes.items())}
    directions = {name: normal(*shape, seed=k + 3, dtype=dtype) for k, (name, shape) in enumerate(shapes.items())}
    if "attn_mask" in options:
        hidden = np.random.default_rng(9).random((130, 300)) < 0.5
        hidden[7] = True
        options = {"attn_mask": ts.asarray(~hidden)}

    def value_and_tangent(recorded: bool) -> list[Any]:
        ts.manual_seed(7)
        with forward_ad.dual_level():
            given = [
                forward_ad.make_dual(x.detach().requires_grad_(recorded), directions[name]) if name in duals else x
                for name, x in primals.items()
            ]
            parts = forward_ad.unpack_dual(sdpa(*given, enable_gqa=True, **options))
            return [None if x is None else x.detach().astype(ts.float64).numpy().copy() for x in parts]

    value, tangent = value_and_tangent(recorded=False)
    wanted_value, wanted = value_and_tangent(recorded=True)
    # Only the pass without tangents makes the products of bfloat16 by the processor's tiles.
    near = {"rtol": 2.0**-7, "atol": 1e-4} if dtype is ts.bfloat16 else {"rtol": 0.0}
    np.testing.assert_allclose(value, wanted_value, **near)
    np.testing.assert_allclose(tangent, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    before = ts.get_num_threads()
    found = []
    try:
        for count in (1, 2):
            ts.set_num_threads(count)
            q, k, v = three(3, 300, 8)
            out = sdpa(q, k, v, is_causal=True)
            out.sum().backward()
            found.append([x.detach().numpy() for x in (out, q.grad, k.grad, v.grad)])
    finally:
        ts.set_num_threads(before)
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


def peak_of(length: int) -> int:
    """The memory that attention and its gradients take beyond their operands, in bytes."""
    q, k, v = (normal(1, length, 16, seed=s, dtype=ts.float32).requires_grad_(True) for s in range(3))
    ts.memory.reset_peak_memory_stats()
    before = ts.memory.memory_allocated()
    sdpa(q, k, v).sum().backward()
    return ts.memory.max_memory_allocated() - before


def test_memory_grows_with_the_length_and_not_with_its_square() -> None:
    small, large = peak_of(1024), peak_of(4096)
    assert large < 5 * small
    assert large < 4096 * 4096 * 4 / 8  # an eighth of one matrix of scores


# ---- layers ----


def state_to(module: Any, other: Any) -> None:
    """Gives our layer the state of PyTorch's."""
    module.load_state_dict({name: ts.asarray(t.detach().numpy()) for name, t in other.state_dict().items()})


def pair_of(name: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    theirs = getattr(torch.nn, name)(*args, **options, dtype=torch.float64)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    ours = getattr(nn, name)(*args, **options, dtype=ts.float64)
    state_to(ours, theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    return ours, theirs


def tensor_of(torch: Any, value: Any) -> Any:
    return torch.from_numpy(value.numpy()) if isinstance(value, ts.Tensor) else value


def compare(ours: Any, theirs: Any, *args: Any, **options: Any) -> None:
    """Results, and gradients of all parameters."""
    torch = pytest.importorskip("torch")
    found = ours(*args, **options)
    wanted = theirs(*(tensor_of(torch, a) for a in args), **{k: tensor_of(torch, v) for k, v in options.items()})
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    for a, b in zip(found, wanted):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-11)
    weight = normal(*found[0].shape, seed=77)
    (found[0] * weight).sum().backward()
    (wanted[0] * tensor_of(torch, weight)).sum().backward()
    for (name, a), b in zip(ours.named_parameters(), theirs.parameters()):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-8, atol=1e-10, err_msg=name)


PADDING = ts.asarray([[False, False, True, False, True]] * 4)
HEADS: list[dict[str, Any]] = [
    {}, {"bias": False}, {"batch_first": True}, {"add_bias_kv": True, "add_zero_attn": True}, {"kdim": 5, "vdim": 3},
]  # fmt: skip


@pytest.mark.parametrize("options", HEADS, ids=[",".join(o) or "plain" for o in HEADS])
@pytest.mark.parametrize("call", ["weights", "heads", "none", "masked"])
def test_multihead_attention_is_pytorchs(options: dict[str, Any], call: str) -> None:
    ours, theirs = pair_of("MultiheadAttention", 6, 2, **options)
    shape = (lambda length, width: (4, length, width)) if options.get("batch_first") else (lambda length, width: (length, 4, width))
    q, k, v = normal(*shape(3, 6)), normal(*shape(5, options.get("kdim", 6)), seed=1), normal(*shape(5, options.get("vdim", 6)), seed=2)
    extra: dict[str, Any] = {
        "weights": {}, "heads": {"average_attn_weights": False}, "none": {"need_weights": False},
        "masked": {"attn_mask": normal(8, 3, 5, seed=3), "key_padding_mask": PADDING, "need_weights": False},
    }[call]  # fmt: skip
    compare(ours, theirs, q, k, v, **extra)


def test_parameters_have_pytorchs_names() -> None:
    layer = nn.MultiheadAttention(6, 2, kdim=3, bias=False, add_bias_kv=True)
    wanted = ["q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"]
    assert [name for name, _ in layer.named_parameters()] == wanted


def test_self_attention_is_one_projection_with_the_same_result() -> None:
    ours, theirs = pair_of("MultiheadAttention", 8, 4)
    x = normal(5, 2, 8)
    compare(ours, theirs, x, x, x, attn_mask=nn.Transformer.generate_square_subsequent_mask(5, dtype=ts.float64))
    compare(*pair_of("MultiheadAttention", 8, 4), x[:, 0], x[:, 0], x[:, 0])


def test_multihead_attention_hides_later_keys() -> None:
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=ts.float64)
    x = normal(2, 6, 4)
    hidden = ts.triu(ts.ones(6, 6, dtype=ts.bool), 1)
    padding = ts.zeros(2, 6, dtype=ts.bool)
    wanted = layer(x, x, x, attn_mask=hidden)
    assert (wanted[1].detach().numpy()[:, hidden.numpy()] == 0).all()
    for found in (
        layer(x, x, x, is_causal=True),
        layer(x, x, x, is_causal=True, need_weights=False),
        layer(x, x, x, attn_mask=hidden, is_causal=True, need_weights=False),
        layer(x, x, x, padding, is_causal=True, need_weights=False),
    ):
        np.testing.assert_allclose(found[0].detach().numpy(), wanted[0].detach().numpy(), rtol=1e-12)
    assert found[1] is None


def test_masks_of_both_kinds_join() -> None:
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=ts.float64)
    x = normal(4, 5, 4)
    added = ts.where(PADDING, float("-inf"), 0.0).astype(ts.float64)
    wanted = layer(x, x, x, PADDING, attn_mask=normal(5, 5, seed=1))[0].detach().numpy()
    found = layer(x, x, x, added, attn_mask=normal(5, 5, seed=1), need_weights=False)[0]
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12)
    with pytest.raises(TypeError, match="key_padding_mask"):
        layer(x, x, x, ts.zeros(4, 5, dtype=ts.int64))
    with pytest.raises(ValueError, match="attn_mask"):
        layer(x, x, x, attn_mask=ts.zeros(4, 5))


def test_dropout_of_multihead_attention_ends_with_training() -> None:
    layer = nn.MultiheadAttention(4, 2, dropout=0.5, dtype=ts.float64)
    x = normal(6, 2, 4)
    first, second = layer(x, x, x)[0], layer(x, x, x)[0]
    assert (first.detach().numpy() != second.detach().numpy()).any()
    layer.eval()
    np.testing.assert_array_equal(layer(x, x, x)[0].detach().numpy(), layer(x, x, x)[0].detach().numpy())


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_transformer_layers_are_pytorchs(norm_first: bool, activation: str) -> None:
    options = {"dropout": 0.0, "activation": activation, "norm_first": norm_first, "batch_first": True}
    x, memory = normal(2, 4, 6), normal(2, 3, 6, seed=1)
    hidden = nn.Transformer.generate_square_subsequent_mask(4, dtype=ts.float64)
    padding = ts.asarray([[False, False, False, True], [False, False, True, True]])
    compare(*pair_of("TransformerEncoderLayer", 6, 2, 10, **options), x)
    compare(*pair_of("TransformerEncoderLayer", 6, 2, 10, **options), x, src_mask=hidden)
    compare(*pair_of("TransformerEncoderLayer", 6, 2, 10, **options), x, src_key_padding_mask=padding)
    compare(*pair_of("TransformerDecoderLayer", 6, 2, 10, **options), x, memory, tgt_mask=hidden)


def test_a_transformer_is_pytorchs() -> None:
    ours, theirs = pair_of("Transformer", 6, 2, 2, 2, 8, dropout=0.0)
    hidden = nn.Transformer.generate_square_subsequent_mask(3, dtype=ts.float64)
    compare(ours, theirs, normal(4, 2, 6), normal(3, 2, 6, seed=1), tgt_mask=hidden)


def test_layers_of_an_encoder_are_copies_with_parameters_of_their_own() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2, nn.LayerNorm(4))
    first, second = (layer.linear1.weight for layer in encoder.layers)
    np.testing.assert_array_equal(first.detach().numpy(), second.detach().numpy())
    first.detach().fill_(1)
    assert (second.detach().numpy() != 1).any()
    assert len(list(encoder.parameters())) == 2 * 12 + 2


def test_a_subsequent_mask_hides_what_comes_later() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    np.testing.assert_array_equal(mask.numpy(), [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]])


@pytest.mark.parametrize("wrong", [{"num_heads": 4}, {"num_heads": 0}, {"num_heads": 2, "dropout": 1.5}])
def test_impossible_heads_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="num_heads|dropout"):
        nn.MultiheadAttention(6, **wrong)


def test_an_unknown_activation_is_refused() -> None:
    with pytest.raises(ValueError, match="activation"):
        nn.TransformerEncoderLayer(4, 2, activation="tanhh")


# ---- bags and bilinear forms ----


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_are_pytorchs(mode: str) -> None:
    options = {"mode": mode, "padding_idx": 2, "include_last_offset": True}
    ours, theirs = pair_of("EmbeddingBag", 7, 3, **options)
    compare(ours, theirs, ts.asarray([1, 2, 6, 0, 0, 2]), ts.asarray([0, 2, 2, 6]))
    if mode == "sum":
        compare(*pair_of("EmbeddingBag", 7, 3, mode=mode), ts.asarray([[1, 2], [0, 0]]), per_sample_weights=normal(2, 2))


def test_offsets_may_be_a_part_of_a_tensor() -> None:
    table, line = normal(5, 2), ts.asarray([1, 2, 3, 4])
    found = F.embedding_bag(line, table, ts.asarray([9, 9, 0, 3])[2:], mode="sum")
    np.testing.assert_allclose(found.numpy(), F.embedding_bag(line, table, ts.asarray([0, 3]), mode="sum").numpy())
    np.testing.assert_allclose(found[1].numpy(), table[4].numpy())


@pytest.mark.parametrize("dtype", [ts.float64, ts.float32, ts.bfloat16], ids=str)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_large_bags_do_not_depend_on_the_number_of_threads(mode: str, dtype: ts.DType) -> None:
    """Several registers of features and a rest, several threads, bags of all lengths."""
    rng = np.random.default_rng(3)
    rows, features, count = 3000, 77, 9000
    table = ts.asarray(rng.standard_normal((rows, features))).astype(dtype)
    index = rng.integers(0, rows, count)
    starts = np.concatenate([[0, 0], np.sort(rng.integers(0, count, 400))])
    weights = ts.asarray(rng.standard_normal(count)).astype(dtype) if mode == "sum" else None
    before, found = ts.get_num_threads(), []
    try:
        for threads in (1, 3):
            ts.set_num_threads(threads)
            leaf = table.detach().clone().requires_grad_()
            bags = F.embedding_bag(ts.asarray(index), leaf, ts.asarray(starts), mode=mode, per_sample_weights=weights, padding_idx=5)
            bags.backward(ts.asarray(np.ones((len(starts), features))).astype(dtype))
            found.append([x.astype(ts.float64).numpy() for x in (bags.detach(), leaf.grad)])
    finally:
        ts.set_num_threads(before)
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)
    wide = table.astype(ts.float64).numpy()
    factors = np.ones(count) if weights is None else weights.astype(ts.float64).numpy()
    for bag in (0, 1, 2, 57, len(starts) - 1):
        end = count if bag + 1 == len(starts) else starts[bag + 1]
        inside = [i for i in range(starts[bag], end) if index[i] != 5]
        picked = wide[index[inside]] * factors[inside, None]
        if not inside:
            wanted = np.zeros(features)
        else:
            wanted = picked.max(0) if mode == "max" else picked.sum(0) / (len(inside) if mode == "mean" else 1)
        rtol = {ts.float64: 1e-12, ts.float32: 1e-4, ts.bfloat16: 1e-2}[dtype]
        np.testing.assert_allclose(found[0][0][bag], wanted, rtol, rtol)
    assert (found[0][1][5] == 0).all()


def test_the_maximum_of_a_bag_is_none_of_the_padding() -> None:
    table = ts.asarray([[1.0, 2.0], [-np.inf, np.nan], [np.nan, -np.inf]])
    bags = F.embedding_bag(ts.asarray([[1, 0], [0, 2], [0, 0]]), table, mode="max", padding_idx=0)
    np.testing.assert_array_equal(bags.numpy(), [[-np.inf, np.nan], [np.nan, -np.inf], [0, 0]])


def test_offsets_that_fall_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fall"):
        F.embedding_bag(ts.asarray([0, 1, 1]), normal(2, 2), ts.asarray([0, 2, 1]))


@pytest.mark.parametrize("starts", [[-5, -3], [1], [2, 2]], ids=str)
def test_the_first_offset_is_0_also_without_indices(starts: list[int]) -> None:
    with pytest.raises(IndexError, match=f"expected 0 as the first offset, got {starts[0]}"):
        F.embedding_bag(ts.zeros(0, dtype=ts.int64), normal(2, 2), ts.asarray(starts))


def test_a_bag_divides_the_gradient_by_the_frequency() -> None:
    bag = nn.EmbeddingBag(4, 2, scale_grad_by_freq=True, mode="sum")
    bag(ts.asarray([[1, 1, 1], [1, 2, 3]])).sum().backward()
    np.testing.assert_allclose(bag.weight.grad.numpy(), [[0, 0], [1, 1], [1, 1], [1, 1]], rtol=1e-6)


def test_the_row_of_the_padding_begins_at_zero() -> None:
    bag = nn.EmbeddingBag(4, 2, padding_idx=-1)
    assert bag.padding_idx == 3 and (bag.weight.detach().numpy()[3] == 0).all()
    with pytest.raises(ValueError, match="out of range"):
        nn.EmbeddingBag(4, 2, padding_idx=4)
    with pytest.raises(ValueError, match="mode"):
        nn.EmbeddingBag(4, 2, mode="product")


@pytest.mark.parametrize("bias", [True, False])
def test_bilinear_forms_are_pytorchs(bias: bool) -> None:
    ours, theirs = pair_of("Bilinear", 3, 4, 5, bias=bias)
    compare(ours, theirs, normal(2, 6, 3), normal(2, 6, 4, seed=1))


def test_initial_values_have_pytorchs_bounds() -> None:
    layer = nn.MultiheadAttention(64, 4)
    bound = (6 / (64 + 192)) ** 0.5
    most = float(np.abs(layer.in_proj_weight.detach().numpy()).max())
    assert 0.98 * bound < most <= bound
    assert (layer.in_proj_bias.detach().numpy() == 0).all() and (layer.out_proj.bias.detach().numpy() == 0).all()
    form = nn.Bilinear(25, 4, 30)
    assert 0.19 < float(np.abs(form.weight.detach().numpy()).max()) <= 0.2
