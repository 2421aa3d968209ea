# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of torch.nn where they once differed from PyTorch: names, refusals, lazy ones; what is expected is PyTorch 2.15's."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest

import tessera.torch as torch
import tessera.torch.nn.functional as F
from tessera.torch import nn


def test_a_lazy_layer_becomes_the_layer_that_it_stands_for() -> None:
    model = nn.Sequential(nn.LazyConv2d(5, 3, padding="same"), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2, bias=False))
    weight = model[0].weight
    assert model[0].cls_to_become is nn.Conv2d and repr(model[0]).startswith("LazyConv2d(0, 5,")
    model(torch.ones(2, 4, 3, 3))
    assert [type(layer) for layer in model] == [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear]
    assert repr(model[0]) == "Conv2d(4, 5, kernel_size=(3, 3), stride=(1, 1), padding=same)"
    assert model[0].weight is weight and model[0].padding_mode == "zeros" and not model[0].transposed
    again = pickle.loads(pickle.dumps(model))
    assert type(again[3]) is nn.Linear and copy.deepcopy(model)(torch.ones(1, 4, 3, 3)).shape == (1, 2)
    transposed = nn.LazyConvTranspose1d(5, 3, stride=2)
    transposed(torch.ones(2, 4, 6))
    assert (type(transposed), transposed.output_padding, transposed.padding_mode) == (nn.ConvTranspose1d, (0,), "zeros")


def test_a_lazy_layer_of_a_programs_own_class_keeps_its_class() -> None:
    class Own(nn.LazyLinear):
        pass

    layer = Own(3)
    assert layer(torch.ones(2, 4)).shape == (2, 3) and type(layer) is Own


def test_lazy_layers_name_their_arguments() -> None:
    names = [*inspect.signature(nn.LazyConv2d).parameters]
    assert names[:4] == ["out_channels", "kernel_size", "stride", "padding"] and "in_channels" not in names
    assert [*inspect.signature(nn.LazyConv2d).parameters] == [n for n in inspect.signature(nn.Conv2d).parameters if n != "in_channels"]


def test_normalizations_save_the_version_of_their_states() -> None:
    for layer in (nn.BatchNorm1d(2), nn.InstanceNorm2d(2), nn.LazyBatchNorm3d()):
        assert layer.state_dict()._metadata[""] == {"version": 2}
    assert nn.LayerNorm(2).state_dict()._metadata[""] == {"version": 1}


def test_fractional_pooling_saves_its_random_samples() -> None:
    samples = torch.full((1, 3, 2), 0.5)
    layer = nn.FractionalMaxPool2d(2, output_ratio=0.5, _random_samples=samples)
    assert list(layer.state_dict()) == ["_random_samples"] and [name for name, _ in layer.named_buffers()] == ["_random_samples"]
    assert (layer.kernel_size, layer.output_ratio, layer.output_size) == ((2, 2), (0.5, 0.5), None)
    other = nn.FractionalMaxPool2d(2, output_ratio=0.5, _random_samples=torch.zeros(1, 3, 2))
    other.load_state_dict(layer.state_dict())
    image = torch.arange(108.0).reshape(1, 3, 6, 6)
    assert torch.equal(other(image), layer(image))
    assert list(nn.FractionalMaxPool3d(2, output_size=3).state_dict()) == []


def test_layers_have_pytorchs_attributes() -> None:
    assert (nn.ReLU6().min_val, nn.ReLU6().max_val, nn.ZeroPad2d(1).value) == (0.0, 6.0, 0.0)
    assert nn.RMSNorm(3).elementwise_affine and not nn.RMSNorm(3, elementwise_affine=False).elementwise_affine
    assert nn.PairwiseDistance(1.5).norm == 1.5
    kinds = [nn.TransformerEncoderLayer(4, 2, 8, activation=a).activation_relu_or_gelu for a in ("relu", "gelu", torch.tanh)]
    assert kinds == [1, 2, 0]


def test_an_embedding_takes_its_rows() -> None:
    rows = torch.arange(6.0).reshape(3, 2)
    layer = nn.Embedding(3, 2, _weight=rows, _freeze=True)
    assert layer(torch.tensor([2])).tolist() == [[4.0, 5.0]] and not layer.weight.requires_grad
    assert nn.Embedding(3, 2, _weight=rows).weight.requires_grad and isinstance(layer.weight, nn.Parameter)
    with pytest.raises(ValueError, match="_weight"):
        nn.Embedding(4, 2, _weight=rows)


def test_texts_are_pytorchs() -> None:
    assert repr(nn.EmbeddingBag(6, 3, padding_idx=2)) == "EmbeddingBag(6, 3, mode='mean', padding_idx=2)"
    text = "EmbeddingBag(6, 3, max_norm=1.0, norm_type=1.0, mode='sum')"
    assert repr(nn.EmbeddingBag(6, 3, max_norm=1.0, norm_type=1.0, mode="sum")) == text
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2.0, mode='nearest')"
    assert repr(nn.Upsample(scale_factor=(2, 3), mode="bilinear")) == "Upsample(scale_factor=(2.0, 3.0), mode='bilinear')"
    assert nn.UpsamplingNearest2d(scale_factor=2).name == "UpsamplingNearest2d"


@pytest.mark.parametrize("call", [
    lambda: nn.Softmax(dim=True), lambda: nn.LogSoftmax(dim=1.0), lambda: nn.LogSoftmax(dim=True),
    lambda: nn.RNN(3, 5, bias=0), lambda: nn.GRU(3, 5, batch_first="False"), lambda: nn.LSTM(3, 5, bias="True"),
])  # fmt: skip
def test_arguments_of_a_wrong_type_are_refused(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize("call", [
    lambda: nn.BatchNorm1d(3, eps=0.0)(torch.ones(2, 3)), lambda: nn.BatchNorm2d(3, eps=-1.0)(torch.ones(2, 3, 4, 4)),
    lambda: nn.CircularPad1d(3)(torch.ones(2, 3, 4, 5)), lambda: nn.CircularPad2d(1)(torch.ones(2, 3)),
    lambda: nn.LSTM(0, 5), lambda: nn.RNN(0, 5),
])  # fmt: skip
def test_inputs_that_hide_a_mistake_are_refused(call: Any) -> None:
    with pytest.raises(ValueError):
        call()


def test_the_checks_of_inputs_leave_others_alone() -> None:
    assert nn.BatchNorm1d(3, eps=0.0).eval()(torch.ones(2, 3)).tolist() == [[1.0] * 3] * 2
    assert nn.CircularPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]])).tolist() == [[3.0, 1.0, 2.0, 3.0, 1.0]]
    assert nn.Softmax(dim=None)(torch.zeros(2)).tolist() == [0.5, 0.5]
    shares = torch.tensor([[0.25, 0.75]])
    with pytest.raises(RuntimeError, match="ignore_index"):
        nn.CrossEntropyLoss(ignore_index=1)(torch.zeros(1, 2), shares)
    assert nn.CrossEntropyLoss()(torch.zeros(1, 2), target=shares).item() == pytest.approx(0.6931472)
    assert nn.CrossEntropyLoss(ignore_index=1)(torch.zeros(2, 2), torch.tensor([0, 1])).item() == pytest.approx(0.6931472)


PARENTS = [
    ("ReLU6", "Hardtanh"), ("ZeroPad1d", "ConstantPad1d"), ("ZeroPad2d", "ConstantPad2d"), ("ZeroPad3d", "ConstantPad3d"),
    ("UpsamplingNearest2d", "Upsample"), ("UpsamplingBilinear2d", "Upsample"), ("LazyLinear", "Linear"), ("LazyConv1d", "Conv1d"),
    ("LazyConv2d", "Conv2d"), ("LazyConv3d", "Conv3d"), ("LazyConvTranspose1d", "ConvTranspose1d"),
    ("LazyConvTranspose2d", "ConvTranspose2d"), ("LazyConvTranspose3d", "ConvTranspose3d"),
]  # fmt: skip


def test_layers_derive_from_the_layers_that_they_do_in_pytorch() -> None:
    assert all(issubclass(getattr(nn, name), getattr(nn, parent)) for name, parent in PARENTS)
    assert not issubclass(nn.Hardtanh, nn.ReLU6) and not issubclass(nn.LazyBatchNorm1d, nn.BatchNorm1d)


def test_layers_that_derive_from_others_compute_what_they_did() -> None:
    x = torch.tensor([[-2.0, 1.0, 7.0]])
    assert nn.ReLU6()(x).tolist() == [[0.0, 1.0, 6.0]] and repr(nn.ReLU6()) == "ReLU6()"
    assert nn.ZeroPad1d(1)(x).tolist() == [[0.0, -2.0, 1.0, 7.0, 0.0]] and repr(nn.ZeroPad1d(1)) == "ZeroPad1d((1, 1))"
    assert nn.UpsamplingNearest2d(scale_factor=2)(x[None, None]).tolist() == [[[[-2.0, -2.0, 1.0, 1.0, 7.0, 7.0]] * 2]]
    for layer, input in ((nn.LazyLinear(4), x), (nn.LazyConv2d(4, 1), torch.ones(1, 3, 2, 2)), (nn.LazyConvTranspose1d(4, 1), x.T[None])):
        plain = getattr(nn, type(layer).__name__.removeprefix("Lazy"))
        assert isinstance(layer, plain) and type(layer) is not plain
        assert layer(input).shape[-1 if plain is nn.Linear else 1] == 4 and type(layer) is plain


BASES = [
    ("dropout", "_DropoutNd", nn.Dropout2d()), ("pooling", "_MaxPoolNd", nn.MaxPool1d(2)), ("pooling", "_AvgPoolNd", nn.AvgPool2d(2)),
    ("pooling", "_AdaptiveAvgPoolNd", nn.AdaptiveAvgPool2d(1)), ("conv", "_ConvTransposeNd", nn.ConvTranspose1d(1, 1, 1)),
    ("padding", "_ConstantPadNd", nn.ZeroPad2d(1)), ("padding", "_ReflectionPadNd", nn.ReflectionPad1d(1)),
    ("loss", "_WeightedLoss", nn.NLLLoss()), ("loss", "_Loss", nn.CrossEntropyLoss()),
]  # fmt: skip


@pytest.mark.parametrize(("file", "name", "layer"), BASES)
def test_bases_of_pytorchs_files_know_their_layers(file: str, name: str, layer: Any) -> None:
    kind = getattr(getattr(nn.modules, file), name)
    derived = type("Own", (type(layer),), {})
    assert isinstance(layer, kind) and issubclass(derived, kind) and kind.__name__ == name
    assert not isinstance(nn.Linear(1, 1), kind) and not isinstance(nn.MSELoss(), nn.modules.loss._WeightedLoss)
    own = type("Mine", (kind,), {})
    assert issubclass(own, kind) and not issubclass(type(layer), own)


def test_dropouts_of_ones_own_check_their_probability() -> None:
    class Mine(nn.modules.dropout._DropoutNd):
        pass

    assert repr(Mine(0.25)) == "Mine(p=0.25, inplace=False)"
    with pytest.raises(ValueError, match="probability"):
        Mine(1.5)
    assert not issubclass(nn.AdaptiveLogSoftmaxWithLoss, nn.modules.loss._Loss)


SINGLE, DOUBLE = torch.tensor([[0.5, 0.25]]), torch.tensor([[1.0, 0.0]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (lambda: F.binary_cross_entropy_with_logits(SINGLE, DOUBLE), 0.6500082),
        (lambda: nn.BCEWithLogitsLoss()(SINGLE, DOUBLE), 0.6500082),
        (lambda: F.cross_entropy(SINGLE, DOUBLE), 0.5759394),
        (lambda: nn.CrossEntropyLoss()(SINGLE, DOUBLE), 0.5759394),
        (lambda: F.kl_div(SINGLE, DOUBLE, reduction="sum"), -0.5),
        (lambda: nn.KLDivLoss(reduction="sum")(SINGLE, DOUBLE), -0.5),
        (lambda: F.poisson_nll_loss(SINGLE, DOUBLE), 1.2163733),
        (lambda: F.gaussian_nll_loss(SINGLE, DOUBLE, SINGLE), -0.3323604),
        (lambda: F.margin_ranking_loss(SINGLE, DOUBLE, SINGLE), 0.125),
        (lambda: F.multilabel_soft_margin_loss(SINGLE, DOUBLE), 0.6500082),
        (lambda: F.triplet_margin_loss(SINGLE, DOUBLE, SINGLE), 1.5590160),
    ],
)
def test_losses_of_two_float_dtypes_have_their_common_one(loss: Any, expected: float) -> None:
    assert loss().dtype is torch.float64 and loss().item() == pytest.approx(expected, rel=1e-5)


def test_gradients_of_losses_of_two_dtypes_have_the_dtype_of_the_input() -> None:
    x = SINGLE.clone().requires_grad_()
    F.binary_cross_entropy_with_logits(x, DOUBLE).backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist()[0] == pytest.approx([-0.1887703, 0.2810883], rel=1e-5)
