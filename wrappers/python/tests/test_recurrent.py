# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, cells, packed sequences and the loss of alignments against PyTorch with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils import rnn as torch_rnn

import tessera as ts
from tessera import nn
from tessera.nn.utils import rnn

LENGTHS = [2, 4, 1, 4]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2, "bidirectional": True}),
    ("GRU", {"bias": False}),
    ("GRU", {"num_layers": 2, "batch_first": True}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True}),
]


def normal(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def pair_of(kind: str, *sizes: int, **options: Any) -> tuple[nn.Module, Any]:
    """Our layer and PyTorch's with equal weights."""
    theirs = getattr(torch.nn, kind)(*sizes, **options)
    ours = getattr(nn, kind)(*sizes, **options)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    ours.load_state_dict({k: ts.from_numpy(np.array(v.numpy())) for k, v in theirs.state_dict().items()})
    return ours, theirs


def flat(value: Any) -> list[Any]:
    """The tensors in nested tuples, without indices of packed sequences."""
    if isinstance(value, (rnn.PackedSequence, torch_rnn.PackedSequence)):
        return [value.data]
    if isinstance(value, (ts.Tensor, torch.Tensor)):
        return [value]
    return [tensor for part in value for tensor in flat(part)]


def agree(ours: Any, theirs: Any) -> None:
    for mine, other in zip(flat(ours), flat(theirs), strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), 1e-4, 1e-5)


def agree_with_gradients(ours: nn.Module, theirs: Any, mine: Any, other: Any) -> None:
    """Compares results, and the gradients of a weighted sum of all of them."""
    agree(mine, other)
    for tensors in (flat(mine), flat(other)):
        total: Any = 0
        for i, tensor in enumerate(tensors):
            weight = normal(*tensor.shape, seed=i)
            total = total + (tensor * (ts.from_numpy(weight) if isinstance(tensor, ts.Tensor) else torch.tensor(weight))).sum()
        total.backward()
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters()):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), 1e-3, 1e-4, err_msg=name)


@pytest.mark.parametrize("kind, options", OPTIONS)
def test_network_agrees_with_pytorch(kind: str, options: dict[str, Any]) -> None:
    ours, theirs = pair_of(kind, 3, 5, **options)
    x = normal(4, 6, 3)
    agree_with_gradients(ours, theirs, ours(ts.tensor(x)), theirs(torch.tensor(x)))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_long_sequences_agree_with_pytorch(kind: str) -> None:
    """From 128 rows on, weights are packed; sizes here fill neither a register nor a tile."""
    ours, theirs = pair_of(kind, 5, 35, bidirectional=True)
    x = normal(50, 7, 5)
    agree_with_gradients(ours, theirs, ours(ts.tensor(x)), theirs(torch.tensor(x)))
    lengths = [50, 31, 30, 30, 8, 2, 1]
    mine, other = ts.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    ours(rnn.pack_padded_sequence(mine, lengths))[0].data.sum().backward()
    theirs(torch_rnn.pack_padded_sequence(other, torch.tensor(lengths)))[0].data.sum().backward()
    np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), 1e-3, 1e-5)


def test_weights_gradient_of_many_rows_agrees_with_pytorch() -> None:
    """More rows than one product of the backward takes."""
    ours, theirs = pair_of("LSTM", 3, 33)
    x = normal(70, 60, 3)
    ours(ts.tensor(x))[0].mean().backward()
    theirs(torch.tensor(x))[0].mean().backward()
    for p, q in zip(ours.parameters(), theirs.parameters()):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), 1e-3, 1e-6)


@pytest.mark.parametrize("kind, options", OPTIONS)
def test_network_takes_one_sequence_and_a_first_state(kind: str, options: dict[str, Any]) -> None:
    ours, theirs = pair_of(kind, 3, 5, **options)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    x, h, c = normal(4, 3), normal(rows, options.get("proj_size", 5)), normal(rows, 5)
    mine = ours(ts.tensor(x), (ts.tensor(h), ts.tensor(c)) if kind == "LSTM" else ts.tensor(h))
    other = theirs(torch.tensor(x), (torch.tensor(h), torch.tensor(c)) if kind == "LSTM" else torch.tensor(h))
    agree_with_gradients(ours, theirs, mine, other)


@pytest.mark.parametrize("kind, options", OPTIONS)
@pytest.mark.parametrize("given_state", [False, True])
def test_network_takes_packed_sequences(kind: str, options: dict[str, Any], given_state: bool) -> None:
    ours, theirs = pair_of(kind, 3, 5, **options)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    x, h, c = normal(4, 4, 3), normal(rows, 4, options.get("proj_size", 5)), normal(rows, 4, 5)
    mine_x = rnn.pack_padded_sequence(ts.tensor(x), LENGTHS, enforce_sorted=False)
    other_x = torch_rnn.pack_padded_sequence(torch.tensor(x), torch.tensor(LENGTHS), enforce_sorted=False)
    args: list[Any] = [[], []]
    if given_state:
        for made, tensor in zip(args, (ts.tensor, torch.tensor)):
            made.append((tensor(h), tensor(c)) if kind == "LSTM" else tensor(h))
    mine, other = ours(mine_x, *args[0]), theirs(other_x, *args[1])
    np.testing.assert_array_equal(mine[0].batch_sizes.numpy(), other[0].batch_sizes.numpy())
    # Equal lengths may be sorted in another order, so compare what is unpacked.
    padded, lengths = rnn.pad_packed_sequence(mine[0])
    expected, _ = torch_rnn.pad_packed_sequence(other[0])
    assert lengths.tolist() == LENGTHS
    agree_with_gradients(ours, theirs, (padded, mine[1]), (expected, other[1]))


def test_dropout_between_layers_acts_in_training_only() -> None:
    layer = nn.LSTM(3, 4, num_layers=2, dropout=0.5)
    x = ts.tensor(normal(3, 2, 3))
    with ts.no_grad():
        first, second = layer(x)[0], layer(x)[0]
        assert not np.array_equal(first.numpy(), second.numpy())
        layer.eval()
        np.testing.assert_array_equal(layer(x)[0].numpy(), layer(x)[0].numpy())
        dropped = nn.GRU(3, 4, num_layers=2, dropout=1.0)
        assert float(dropped(x)[1][0].abs().sum()) > 0


@pytest.mark.parametrize("kind, options", [("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu"}), ("GRUCell", {}), ("LSTMCell", {"bias": False})])
@pytest.mark.parametrize("shape", [(4, 3), (3,)])
def test_cell_agrees_with_pytorch(kind: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    ours, theirs = pair_of(kind, 3, 5, **options)
    x = normal(*shape)
    mine, other = ours(ts.tensor(x)), theirs(torch.tensor(x))
    agree_with_gradients(ours, theirs, ours(ts.tensor(x), mine), theirs(torch.tensor(x), other))


@pytest.mark.parametrize("kind, options", [("RNN", {}), ("GRU", {}), ("LSTM", {}), ("LSTM", {"proj_size": 2})])
def test_gradients_of_states_may_be_permuted_views(kind: str, options: dict[str, Any]) -> None:
    ours, theirs = pair_of(kind, 3, 5, **options)
    x, factor = normal(4, 2, 3), normal(5, 2, 1, seed=2)
    _, mine = ours(ts.tensor(x))
    _, other = theirs(torch.tensor(x))
    for states, transposed, weight in ((mine, ts.permute_dims, ts.tensor(factor)), (other, torch.permute, torch.tensor(factor))):
        total: Any = 0
        for state in states if isinstance(states, tuple) else (states,):
            total = total + (transposed(state, (2, 1, 0)) * weight[: state.shape[2]]).sum()
        total.backward()
    for name, parameter in ours.named_parameters():
        wanted = theirs.get_parameter(name).grad.numpy()
        np.testing.assert_allclose(parameter.grad.numpy(), wanted, 1e-4, 1e-5, err_msg=name)


def test_gradient_of_a_cells_state_may_be_a_permuted_view() -> None:
    zeros, b = ts.zeros((2, 3)), ts.zeros((3,), requires_grad=True)
    h = nn.functional.rnn_tanh_cell(zeros, zeros, ts.zeros((3, 3)), ts.eye(3), b, ts.zeros((3,)))
    (ts.permute_dims(h, (1, 0)) * ts.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])).sum().backward()
    assert b.grad.tolist() == [1.0, 5.0, 9.0]


def test_layers_keep_16_bit_weights_and_states() -> None:
    layer = nn.LSTM(3, 4, dtype=ts.bfloat16)
    output, (h, c) = layer(ts.tensor(normal(3, 2, 3)).bfloat16())
    assert {output.dtype, h.dtype, c.dtype} == {ts.bfloat16}
    output.sum().backward()
    assert layer.weight_hh_l0.grad.dtype is ts.bfloat16


def test_layers_refuse_wrong_options_and_inputs() -> None:
    for make in (
        lambda: nn.RNN(3, 4, nonlinearity="sigmoid"), lambda: nn.LSTM(3, 4, proj_size=4), lambda: nn.GRU(3, 0),
        lambda: nn.GRU(3, 4, num_layers=0), lambda: nn.LSTM(3, 4, dropout=1.5), lambda: nn.RNNCell(3, 4, nonlinearity="x"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            make()
    with pytest.raises(ValueError, match="features|shape"):
        nn.LSTM(3, 4)(ts.zeros((2, 2, 5)))
    with pytest.raises(ValueError):
        nn.GRUCell(3, 4)(ts.zeros((2, 2, 3)))


def test_parameters_have_pytorchs_initial_range_and_names() -> None:
    layer = nn.LSTM(3, 16, bidirectional=True)
    assert [*layer.state_dict()][:5] == ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l0_reverse"]
    assert all(float(p.abs().max()) <= 0.25 for p in layer.parameters())
    assert repr(layer) == "LSTM(3, 16, bidirectional=True)"
    assert [len(group) for group in layer.all_weights] == [4, 4]


# ---- packed sequences ----


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_and_padding_undo_each_other(batch_first: bool) -> None:
    x = normal(4, 5, 2)
    given = ts.tensor(x.swapaxes(0, 1) if not batch_first else x, requires_grad=True)
    packed = rnn.pack_padded_sequence(given, ts.tensor(LENGTHS), batch_first, enforce_sorted=False)
    other = torch_rnn.pack_padded_sequence(
        torch.tensor(given.detach().numpy()), torch.tensor(LENGTHS), batch_first, enforce_sorted=False
    )
    assert packed.batch_sizes.tolist() == other.batch_sizes.tolist()
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first, padding_value=-1.0, total_length=6)
    expected, _ = torch_rnn.pad_packed_sequence(other, batch_first, padding_value=-1.0, total_length=6)
    np.testing.assert_array_equal(padded.detach().numpy(), expected.numpy())
    assert lengths.tolist() == LENGTHS
    padded.sum().backward()
    assert float(given.grad.sum()) == 2 * sum(LENGTHS)


def test_sequences_are_padded_packed_and_unpacked() -> None:
    parts = [ts.tensor(normal(n, 2)) for n in (4, 2, 1)]
    batch = rnn.pad_sequence(parts, batch_first=True, padding_value=9.0)
    theirs = [torch.tensor(part.numpy()) for part in parts]
    np.testing.assert_array_equal(batch.numpy(), torch_rnn.pad_sequence(theirs, True, 9.0).numpy())
    left = rnn.pad_sequence(parts, padding_side="left")
    np.testing.assert_array_equal(left[3].numpy(), np.stack([part[-1].numpy() for part in parts]))
    packed = rnn.pack_sequence(parts)
    agree(packed, torch_rnn.pack_sequence(theirs))
    for mine, part in zip(rnn.unpack_sequence(packed), parts, strict=True):
        np.testing.assert_array_equal(mine.numpy(), part.numpy())
    assert packed.to(ts.float64).data.dtype is ts.float64


def test_packing_refuses_lengths_that_do_not_fit() -> None:
    x = ts.zeros((3, 2, 1))
    for lengths in ([1, 2], [4, 1], [1, 0], [3], []):
        with pytest.raises(ValueError, match="lengths"):
            rnn.pack_padded_sequence(x, lengths)
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [3, 1]), total_length=2)
    with pytest.raises(ValueError, match="sequences"):
        rnn.pad_sequence([])


# ---- ctc_loss ----


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_ctc_loss_and_its_gradient_agree_with_pytorch(reduction: str) -> None:
    x, targets = normal(12, 3, 5), np.array([[1, 2, 2, 4], [3, 1, 4, 4], [1, 1, 1, 1]])
    lengths = ([12, 9, 5], [4, 3, 4])  # the last one is too short for its labels
    mine, other = ts.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    loss = nn.CTCLoss(reduction=reduction, zero_infinity=True)(mine.log_softmax(2), ts.tensor(targets), *lengths)
    expected = torch.nn.CTCLoss(reduction=reduction, zero_infinity=True)(
        other.log_softmax(2), torch.tensor(targets), *lengths
    )
    np.testing.assert_allclose(loss.detach().numpy(), expected.detach().numpy(), 1e-5)
    loss.sum().backward()
    expected.sum().backward()
    np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), 1e-4, 1e-6)


def test_ctc_loss_of_no_labels_and_of_no_time() -> None:
    x = ts.tensor(np.log(np.full((2, 2, 2), 0.5)), requires_grad=True)
    none = ts.zeros((2, 0), dtype=ts.int64)
    loss = nn.functional.ctc_loss(x, none, ts.tensor([2, 0]), ts.tensor([0, 0]), reduction="none")
    np.testing.assert_allclose(loss.detach().numpy(), [np.log(4), 0])
    loss.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy()[:, 0], [[-1, 0], [-1, 0]])
    impossible = nn.functional.ctc_loss(x, ts.tensor([1]), ts.tensor([2, 0]), ts.tensor([0, 1]), reduction="none")
    assert impossible.tolist()[1] == np.inf


# ---- adaptive softmax ----


@pytest.mark.parametrize("head_bias", [False, True])
def test_adaptive_softmax_agrees_with_pytorch(head_bias: bool) -> None:
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, head_bias=head_bias)
    ours = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, head_bias=head_bias)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    ours.load_state_dict({k: ts.from_numpy(np.array(v.numpy())) for k, v in theirs.state_dict().items()})
    x, classes = normal(6, 8), np.array([0, 3, 4, 9, 19, 12])
    mine, other = ours(ts.tensor(x), ts.tensor(classes)), theirs(torch.tensor(x), torch.tensor(classes))
    agree((mine.output, mine.loss), (other.output, other.loss))
    mine.loss.backward()
    other.loss.backward()
    for p, q in zip(ours.parameters(), theirs.parameters()):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), 1e-3, 1e-5)
    agree(ours.log_prob(ts.tensor(x)), theirs.log_prob(torch.tensor(x)))
    np.testing.assert_array_equal(ours.predict(ts.tensor(x)).numpy(), theirs.predict(torch.tensor(x)).numpy())
    single = ours(ts.tensor(x[0]), ts.tensor(15))
    assert single.output.shape == () and float(single.output) == pytest.approx(float(ours.log_prob(ts.tensor(x))[0, 15]), rel=1e-4)


def test_inner_sizes_of_the_adaptive_softmax_are_not_rounded_up() -> None:
    layer = nn.AdaptiveLogSoftmaxWithLoss(11, 20, [4, 10], div_value=1.1)
    assert [cluster[0].weight.shape[0] for cluster in layer.tail] == [9, 9]  # 1.1 goes 9 times into 11, as in PyTorch


def test_adaptive_softmax_refuses_wrong_cutoffs_and_targets() -> None:
    for cutoffs in ([], [4, 4], [5, 3], [0, 2], [4, 20]):
        with pytest.raises(ValueError, match="cutoffs"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10])
    with pytest.raises(IndexError, match="got numbers from 3 to 20"):
        layer(ts.zeros((2, 8)), ts.tensor([3, 20]))
    with pytest.raises(ValueError):
        layer(ts.zeros((2, 8)), ts.tensor([1]))
    with pytest.raises(ValueError):
        layer.log_prob(ts.zeros((2, 7)))
