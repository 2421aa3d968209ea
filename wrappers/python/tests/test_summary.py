# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.utils.summary: layers, shapes, parameters, multiply-adds and memory of a module."""

import pytest

import tessera as ts
from tessera import nn
from tessera.utils import summary


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.dense = nn.Linear(4 * 8 * 8, 10)

    def forward(self, x):
        return self.dense(nn.functional.relu(self.norm(self.conv(x))).flatten(1))


def by_name(found):
    return {layer.name: layer for layer in found.layers}


def test_A21_each_layer_has_shapes_parameters_and_multiply_adds():
    found = summary(Block(), input_size=(2, 1, 8, 8))
    layers = by_name(found)
    assert [layer.kind for layer in found.layers] == ["Block", "Conv2d", "BatchNorm2d", "Linear"]
    assert layers["conv"].inputs == ((2, 1, 8, 8),) and layers["conv"].outputs == ((2, 4, 8, 8),)
    assert layers["conv"].parameters == 4 * 9 + 4
    assert layers["conv"].multiply_adds == 2 * 4 * 64 * 9
    assert layers["dense"].multiply_adds == 2 * 10 * 256
    assert layers[""].multiply_adds == found.multiply_adds == 2 * 4 * 64 * 9 + 2 * 10 * 256
    assert found.parameters == 40 + 8 + 2570 and found.trainable == found.parameters


def test_A21_memory_is_that_of_inputs_outputs_and_parameters():
    found = summary(Block(), input_size=(2, 1, 8, 8))
    outputs = 4 * (2 * 4 * 64 + 2 * 4 * 64 + 2 * 10)
    assert found.input_bytes == 2 * 64 * 4 and found.output_bytes == outputs
    assert found.parameter_bytes == 4 * found.parameters
    assert found.total_bytes == found.input_bytes + 2 * outputs + found.parameter_bytes


def test_A21_frozen_parameters_and_repeated_layers_are_told():
    shared = nn.Linear(3, 3)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    shared.bias.requires_grad_(False)
    found = summary(model, ts.ones((5, 3)))
    assert found.parameters == 12 and found.trainable == 9
    assert [layer.again for layer in found.layers] == [False, False, False, True]
    assert found.multiply_adds == 2 * 5 * 9
    assert "(again)" in str(found)


@pytest.mark.parametrize(
    ("layer", "size", "wanted"),
    [
        (nn.ConvTranspose1d(2, 3, 4), (5, 2, 6), 5 * 2 * 6 * 3 * 4),
        (nn.Conv2d(4, 6, 3, groups=2, bias=False), (1, 4, 5, 5), 6 * 9 * 2 * 9),
        (nn.LSTM(3, 4), (7, 2, 3), 7 * 2 * (16 * 3 + 16 * 4)),
        (nn.GRUCell(3, 4), (2, 3), 2 * (12 * 3 + 12 * 4)),
        (nn.MaxPool2d(2), (1, 1, 4, 4), 0),
    ],
)
def test_A21_multiply_adds_of_other_layers(layer, size, wanted):
    assert summary(layer, input_size=size).multiply_adds == wanted


def test_A21_attention_counts_projections_and_products():
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    x = ts.ones((3, 5, 8))
    projections = 4 * 15 * 64
    assert summary(attention, x, x, x).multiply_adds == projections + 2 * 3 * 25 * 8


def test_A21_the_table_is_aligned_and_cut_at_a_depth():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.ReLU())
    text = summary(model, input_size=[(4, 2)]).table(depth=1).splitlines()
    assert text[1].split() == ["Layer", "Input", "Output", "Parameters", "Multiply-adds"]
    assert text[3].startswith("Sequential") and text[4].startswith("  Sequential (0)") and text[5].startswith("  ReLU (1)")
    assert not any("Linear" in line for line in text)
    assert "Parameters: 6 (6 trainable)" in text


def test_A21_hooks_are_removed_and_the_call_is_not_recorded():
    model = nn.Linear(2, 2)
    with pytest.raises(ts.ShapeError):
        summary(model, input_size=(3, 5))
    assert not model._hooks and not model._pre_hooks
    before = ts.capi.lib.tsr_live_nodes()
    summary(model, input_size=(3, 2))
    assert ts.capi.lib.tsr_live_nodes() == before


def test_A21_inputs_or_a_size_must_be_given():
    with pytest.raises(ValueError, match="neither"):
        summary(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="both"):
        summary(nn.Linear(2, 2), ts.ones(2), input_size=(2,))
