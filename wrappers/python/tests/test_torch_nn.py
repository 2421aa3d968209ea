# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch.nn and optim: layers and optimizers with PyTorch's arguments, names of states, and results."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import tessera.torch as ours
from tessera.torch import _rows
from tessera.torch._table_nn import LAYERS

theirs = pytest.importorskip("torch")

IMAGE, ROWS, TOKENS = (2, 4, 6, 6), (3, 4), (5,)

# Constructor, then the shape of the input.
MODULES = [
    ("nn.Linear(4, 3)", ROWS), ("nn.Linear(4, 3, bias=False)", ROWS), ("nn.Linear(4, 3, dtype=torch.float32)", ROWS),
    ("nn.Conv2d(4, 6, 3)", IMAGE), ("nn.Conv2d(4, 6, 3, 2, 1, 1, 2, False)", IMAGE),
    ("nn.Conv2d(4, 6, kernel_size=3, padding='same')", IMAGE), ("nn.ConvTranspose2d(4, 3, 4, 2, 1, bias=False)", IMAGE),
    ("nn.BatchNorm2d(4)", IMAGE), ("nn.BatchNorm2d(4, 1e-3, 0.3, affine=False)", IMAGE), ("nn.LayerNorm(4)", ROWS),
    ("nn.LayerNorm([6, 6], eps=1e-3)", IMAGE), ("nn.MaxPool2d(2)", IMAGE), ("nn.MaxPool2d(3, 2, 1)", IMAGE),
    ("nn.AvgPool2d(2)", IMAGE), ("nn.AdaptiveAvgPool2d(1)", IMAGE), ("nn.AdaptiveAvgPool2d((2, 3))", IMAGE),
    ("nn.Dropout(0.0)", ROWS), ("nn.Dropout(p=0.0, inplace=True)", ROWS), ("nn.Flatten()", IMAGE),
    ("nn.Flatten(start_dim=2, end_dim=-1)", IMAGE), ("nn.Identity(3, unused=4)", ROWS), ("nn.ReLU()", ROWS),
    ("nn.ReLU(inplace=True)", ROWS), ("nn.ReLU6(True)", ROWS), ("nn.LeakyReLU(0.2, inplace=True)", ROWS),
    ("nn.LeakyReLU(negative_slope=0.3)", ROWS), ("nn.ELU(0.5)", ROWS), ("nn.GELU()", ROWS), ("nn.SiLU(inplace=True)", ROWS),
    ("nn.GELU(approximate='tanh')", ROWS), ("nn.Sigmoid()", ROWS), ("nn.Tanh()", ROWS), ("nn.Softmax(dim=1)", ROWS),
    ("nn.Softmax(-1)", ROWS), ("nn.LogSoftmax(dim=0)", ROWS), ("nn.Softplus()", ROWS), ("nn.PReLU()", ROWS),
    ("nn.Hardtanh(-0.5, 0.5)", ROWS), ("nn.Threshold(0.1, 20)", ROWS), ("nn.GLU(dim=1)", ROWS), ("nn.Mish()", ROWS),
    ("nn.Conv1d(4, 2, 3, padding=1)", (2, 4, 6)), ("nn.Conv3d(4, 2, 2)", (1, 4, 3, 3, 3)),
    ("nn.BatchNorm1d(4)", ROWS), ("nn.BatchNorm3d(4)", (2, 4, 2, 2, 2)), ("nn.GroupNorm(2, 4)", IMAGE),
    ("nn.InstanceNorm2d(4, affine=True)", IMAGE), ("nn.LocalResponseNorm(2)", IMAGE), ("nn.MaxPool1d(2)", (2, 4, 6)),
    ("nn.MaxPool2d(2, return_indices=False, ceil_mode=True)", IMAGE), ("nn.AvgPool2d(3, 2, ceil_mode=True)", IMAGE),
    ("nn.AdaptiveMaxPool2d(2)", IMAGE), ("nn.ZeroPad2d(1)", IMAGE), ("nn.ReflectionPad2d((1, 2, 1, 1))", IMAGE),
    ("nn.ConstantPad1d(1, 2.5)", ROWS), ("nn.Upsample(scale_factor=2, mode='nearest')", IMAGE),
    ("nn.PixelShuffle(2)", IMAGE), ("nn.Unfold(2)", IMAGE), ("nn.Unflatten(1, (2, 2))", ROWS), ("nn.Dropout2d(0.0)", IMAGE),
    ("nn.LSTM(4, 3)", (5, 2, 4)), ("nn.GRU(4, 3, 2, batch_first=True)", (5, 2, 4)), ("nn.RNN(4, 3)", (5, 2, 4)),
    ("nn.GRUCell(4, 3)", ROWS), ("nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)", (5, 2, 4)), ("nn.SELU()", ROWS),
    ("nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))", ROWS),
    ("nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(True), nn.Flatten(), nn.Linear(144, 2))", IMAGE),
]  # fmt: skip

LOSSES = [
    "nn.MSELoss()", "nn.MSELoss(reduction='sum')", "nn.MSELoss(size_average=False)", "nn.L1Loss(reduce=False)",
    "nn.SmoothL1Loss(beta=0.5)", "nn.HuberLoss(delta=0.5)", "nn.BCEWithLogitsLoss()", "nn.BCEWithLogitsLoss(reduction='none')",
    "nn.KLDivLoss(reduction='batchmean')", "nn.PoissonNLLLoss(full=False)", "nn.SoftMarginLoss()", "nn.HingeEmbeddingLoss(2.0)",
]  # fmt: skip

OPTIMIZERS = [
    "SGD(p, lr=0.1)", "SGD(p, 0.1, 0.9, weight_decay=0.01, nesterov=True)", "Adam(p)", "Adam(p, 1e-2, (0.5, 0.9), foreach=False)",
    "Adam(p, lr=0.01, amsgrad=True, fused=None)", "AdamW(p, lr=0.01)", "RMSprop(p, lr=0.01, alpha=0.9, centered=True)",
    "Adagrad(p, lr=0.1)", "Adadelta(p)", "Adamax(p)", "RAdam(p)",  # NAdam of PyTorch 1.13 differs from today's
]  # fmt: skip


def built(library: Any, text: str, **names: Any) -> Any:
    return eval(text, {"torch": library, "nn": library.nn, **names})


def data(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("text", "shape"), MODULES)
def test_a_layer_has_pytorchs_state_and_results(text: str, shape: tuple[int, ...]) -> None:
    mine, its = built(ours, text), built(theirs, text)
    assert type(mine).__name__ == type(its).__name__
    assert list(mine.state_dict()) == list(its.state_dict())
    # Newer versions of PyTorch print two layers otherwise, the private class of a projection in a third one, and whether a
    # normalisation has a bias.
    if not text.startswith(("nn.Softplus", "nn.Upsample", "nn.Transformer")):
        assert re.sub(r"(Norm.*affine=\w+), bias=\w+", r"\1", repr(mine)) == repr(its)
    state = {name: ours.from_numpy(np.array(value.detach().numpy())) for name, value in its.state_dict().items()}
    mine.load_state_dict(state)
    assert {type(p) for p in mine.parameters()} <= {ours.nn.Parameter}
    for training in (True, False):
        mine.train(training)
        its.train(training)
        got, expected = mine(ours.from_numpy(data(shape))), its(theirs.from_numpy(data(shape)))
        if isinstance(expected, tuple):
            got, expected = got[0], expected[0]
        assert type(got) is ours.Tensor
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), 1e-4, 1e-5)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", LOSSES)
def test_a_loss_has_pytorchs_results(text: str) -> None:
    assert repr(built(ours, text)) == repr(built(theirs, text))
    values = [built(lib, text)(lib.from_numpy(data(ROWS)), lib.sigmoid(lib.from_numpy(data(ROWS, 1)))) for lib in (ours, theirs)]
    np.testing.assert_allclose(values[0].numpy(), values[1].numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize("text", OPTIMIZERS)
def test_an_optimizer_makes_pytorchs_steps(text: str) -> None:
    found = []
    for library in (ours, theirs):
        parameter = library.nn.Parameter(library.from_numpy(data(ROWS)))
        optimizer = eval("optim." + text, {"optim": library.optim, "p": iter([parameter])})
        for step in range(3):
            optimizer.zero_grad(set_to_none=True)
            (parameter * library.from_numpy(data(ROWS, step))).pow(2).sum().backward()
            optimizer.step()
            optimizer.param_groups[0]["lr"] *= 0.5
        found.append(parameter.detach().numpy())
    np.testing.assert_allclose(found[0], found[1], 1e-5, 1e-6)


@pytest.mark.parametrize("row", [row for row in _rows.lines(LAYERS) if not row.startswith("LPPool3d")])  # that is newer
def test_the_table_of_layers_has_pytorchs_signatures(row: str) -> None:
    """The row lists PyTorch's parameters in their order, with their defaults; newer ones may follow."""
    name = row.partition("(")[0]
    if not hasattr(theirs.nn, name):
        pytest.fail(f"PyTorch has no layer {name}")
    space: dict[str, Any] = {}
    exec(f"def {row}: pass", space)
    mine = list(inspect.signature(space[name]).parameters.values())
    expected = [p for p in inspect.signature(getattr(theirs.nn, name)).parameters.values() if p.name not in ("device", "dtype")]
    expected, mine = ([p for p in found if p.name not in ("_weight", "_freeze")] for found in (expected, mine))  # newer
    if name == "Identity":
        return
    if "Norm" in name and expected[-1].name != "bias":
        assert (mine[-1].name, mine.pop().default) == ("bias", True)
    assert [(p.name, p.default) for p in mine] == [(p.name, p.default) for p in expected]


def test_lbfgs_takes_closures() -> None:
    found = []
    for library in (ours, theirs):
        parameter = library.nn.Parameter(library.from_numpy(data(ROWS)))
        optimizer = library.optim.LBFGS([parameter], lr=0.5, max_iter=4, line_search_fn="strong_wolfe")

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (parameter - 1).pow(4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        found.append(parameter.detach().numpy())
    np.testing.assert_allclose(found[0], found[1], 1e-4, 1e-5)


def test_layers_inside_of_layers_are_pytorchs() -> None:
    layer = ours.nn.TransformerEncoder(ours.nn.TransformerEncoderLayer(4, 2, 8), num_layers=2)
    seen: list[type] = []
    layer.apply(lambda module: seen.append(type(module)))
    assert all(issubclass(kind, ours.nn.Module) for kind in seen)
    assert {ours.nn.Linear, ours.nn.Dropout, ours.nn.LayerNorm, ours.nn.MultiheadAttention} <= set(seen)
    assert {type(p) for p in layer.parameters()} == {ours.nn.Parameter}


def test_modules_are_walked_and_converted_as_pytorchs() -> None:
    class Net(ours.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = ours.nn.ModuleList([ours.nn.Linear(2, 2), ours.nn.Linear(2, 2)])
            self.scale = ours.nn.Parameter(ours.ones(1))
            self.register_buffer("steps", ours.zeros(1))
            self.last = ours.nn.ModuleDict({"head": ours.nn.Linear(2, 1)})

    net = Net()
    assert [name for name, _ in net.named_parameters()][:3] == ["scale", "layers.0.weight", "layers.0.bias"]
    assert all(isinstance(m, ours.nn.Module) for m in net.modules())
    assert isinstance(net.layers[0], ours.nn.Linear)
    assert net.get_parameter("last.head.bias").shape == (1,)
    assert sum(p.numel() for p in net.parameters() if p.requires_grad) == 16
    assert next(net.to(ours.float64).parameters()).dtype is ours.float64
    assert list(net.state_dict(prefix="x."))[0] == "x.scale"
    keep = dict(net.named_buffers())["steps"]
    assert type(keep) is ours.Tensor
    seen: list[str] = []
    net.apply(lambda m: seen.append(m.__class__.__name__))
    assert seen[-1] == "Net"
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        net(1)


def test_hooks_of_modules() -> None:
    layer, seen = ours.nn.Linear(2, 2), []
    layer.register_forward_hook(lambda module, args, result: seen.append(result.size(0)))
    layer.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append(grad_out[0].size()))
    layer(ours.ones(3, 2)).sum().backward()
    assert seen == [3, (3, 2)]


def test_initialisers_and_clipping() -> None:
    w = ours.nn.Parameter(ours.empty(4, 3))
    ours.nn.init.kaiming_uniform_(w, nonlinearity="relu")
    ours.nn.init.xavier_normal_(w)
    ours.nn.init.constant_(w, 2.0)
    assert w.sum().item() == 24
    (w * 10).sum().backward()
    norm = ours.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    assert type(norm) is ours.Tensor
    assert norm.item() == pytest.approx(10 * 12**0.5)
    assert w.grad.norm().item() == pytest.approx(1.0, rel=1e-4)


def test_recurrent_layers_and_packed_sequences() -> None:
    found = []
    for library in (ours, theirs):
        layer = library.nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)
        for seed, parameter in enumerate(layer.parameters()):
            parameter.data.copy_(library.from_numpy(data(tuple(parameter.shape), seed) / 2))
        rnn = library.nn.utils.rnn
        lines = [library.from_numpy(data((length, 3), length)) for length in (5, 2, 4)]
        padded = rnn.pad_sequence(lines, batch_first=True)
        packed = rnn.pack_padded_sequence(padded, library.tensor([5, 2, 4]), batch_first=True, enforce_sorted=False)
        output, (hidden, cell) = layer(packed)
        unpacked, lengths = rnn.pad_packed_sequence(output, batch_first=True)
        assert type(unpacked) is type(hidden) is library.Tensor
        found.append([t.detach().numpy() for t in (padded, unpacked, lengths, hidden, cell)])
    for mine, its in zip(*found):
        np.testing.assert_allclose(mine, its, 1e-4, 1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", ["StepLR(o, 2, gamma=0.5)", "CosineAnnealingLR(o, T_max=5)", "LambdaLR(o, lambda e: 0.9**e)"])
def test_schedules_are_pytorchs(text: str) -> None:
    rates = []
    for library in (ours, theirs):
        optimizer = library.optim.SGD([library.nn.Parameter(library.ones(2))], lr=0.1)
        schedule = eval("schedules." + text, {"schedules": library.optim.lr_scheduler, "o": optimizer})
        found = []
        for _ in range(6):
            found.append(schedule.get_last_lr()[0])
            optimizer.step()
            schedule.step()
        rates.append(found)
    assert rates[0] == pytest.approx(rates[1])
