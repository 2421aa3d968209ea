# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with several dynamic sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn, program


class Encoder(nn.Module):
    """Views, creations and reshapes whose sizes are products of the batch and the length."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.last = nn.Linear(8, 3)

    def forward(self, tokens: Any, weights: Any) -> Any:
        batch, length = tokens.shape
        x = self.embed(tokens) + ts.arange(length, dtype=ts.float32).reshape(1, length, 1)

        def heads(y: Any) -> Any:
            return y.reshape(batch, length, 2, 4).permute(0, 2, 1, 3).reshape(batch * 2, length, 4)

        scores = heads(self.query(x)) @ heads(self.key(x)).swapaxes(1, 2)
        allowed = ts.tril(ts.ones((length, length)))
        scores = scores * allowed + ts.zeros((batch * 2, length, length))
        mixed = nn.functional.softmax(scores, -1) @ heads(self.value(x))
        mixed = mixed.reshape(batch, 2, length, 4).permute(0, 2, 1, 3).reshape(batch * length, 8)
        assert scores.reshape(-1).shape[0] == 2 * batch * length * length
        return self.last(mixed) * weights.reshape(batch * length, 1)


SIZES = {0: {0: "batch", 1: "length"}, 1: {0: "batch", -1: "length"}}


def recorded_encoder() -> tuple[Encoder, program.Program]:
    ts.manual_seed(5)
    model = Encoder().eval()
    examples = ts.randint(0, 11, (2, 5)), ts.rand(2, 5)
    return model, program.record(model, examples, dynamic=SIZES, input_names=["tokens", "weights"])


def test_p17_batch_and_length_change_independently() -> None:
    model, recorded = recorded_encoder()
    loaded = program.from_bytes(recorded.to_bytes())
    for shape in [(1, 1), (7, 3), (2, 9), (7, 3), (4, 4), (7, 3), (2, 9)]:
        inputs = ts.randint(0, 11, shape), ts.rand(*shape)
        expected = model(*inputs).detach().numpy()
        for each in (recorded, loaded):
            np.testing.assert_allclose(each(*inputs).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert [row["name"] for row in recorded.describe()["sizes"]] == ["batch", "length"]
    assert "for any batch, length" in str(recorded)
    assert "batch*length" in str(loaded)


def test_p17_a_size_that_differs_between_inputs_is_named() -> None:
    _, recorded = recorded_encoder()
    with pytest.raises(ts.ShapeError, match="input 'weights'.*length = 4 at axis 1.*got 3.*axis 1 of 'tokens'"):
        recorded(ts.zeros((2, 4), dtype=ts.int64), ts.zeros((2, 3)))
    with pytest.raises(ts.ShapeError, match="input 'weights'.*batch = 2 at axis 0.*got 5"):
        recorded(ts.zeros((2, 4), dtype=ts.int64), ts.zeros((5, 4)))
    with pytest.raises(ts.ShapeError, match="input 'tokens'.*2 axes"):
        recorded(ts.zeros((2,), dtype=ts.int64), ts.zeros((2, 3)))
    with pytest.raises(ts.DTypeError, match="input 'tokens'.*int64"):
        recorded(ts.zeros((2, 4)), ts.zeros((2, 4)))


def test_p17_a_training_step_takes_any_batch_and_length() -> None:
    def make() -> tuple[Encoder, Any]:
        ts.manual_seed(6)
        model = Encoder()
        optimizer = ts.optim.SGD(model.parameters(), lr=0.01)

        def step(tokens: Any, weights: Any) -> Any:
            optimizer.zero_grad()
            loss = (model(tokens, weights) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, step

    model, step = make()
    examples = ts.randint(0, 11, (2, 5)), ts.rand(2, 5)
    recorded = program.record(step, examples, parameters=model, dynamic=SIZES)
    eager_model, eager = make()
    eager_model.load_state_dict(model.state_dict())
    for shape in [(3, 4), (2, 6), (3, 4), (3, 4), (2, 6), (2, 6), (3, 4), (5, 7)]:
        inputs = ts.randint(0, 11, shape), ts.rand(*shape)
        assert recorded(*inputs).item() == eager(*inputs).item()
    for ours, theirs in zip(model.parameters(), eager_model.parameters()):
        np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())


def test_p17_axes_that_no_input_has_are_refused() -> None:
    with pytest.raises(ts.InvalidValueError, match="axis"):
        program.record(ts.exp, ts.ones((2, 2)), dynamic={0: [2]})
    with pytest.raises(ts.InvalidValueError, match="one of 1 inputs"):
        program.record(ts.exp, ts.ones((2, 2)), dynamic={1: [0]})


def test_p17_a_number_that_follows_no_rule_is_refused_by_name() -> None:
    def function(x: Any) -> Any:
        return x[: x.shape[0] // 2] * x.shape[1]

    with pytest.raises(ts.InvalidValueError, match="output0.*batch = 2"):
        program.record(function, ts.ones((2, 5)), dynamic={0: {0: "batch", 1: "length"}})
