# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Backwards on several streams with the CUDA backend's own sources. Work runs as late as possible, so that a missing wait
between two streams gives a wrong number every time; tests/autograd/test_streams.cpp has a test for each wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import autograd, nn, optim
from tessera.streams import Event, Stream, current_stream

CUDA = "cuda:0"


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class Branches(nn.Module):
    """Two branches of layers, each on a stream of its own if there are two, that are added."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.left, self.right, self.last = (nn.Linear(8, 8) for _ in range(4))
        for seed, parameter in enumerate(self.parameters()):
            with ts.no_grad():
                parameter.copy_(ts.asarray(numbers(*parameter.shape, seed=seed) * 0.3))
        self.streams: list[Stream] = []

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        x = self.first(x)
        main = current_stream(CUDA)
        parts = []
        for place, layer in enumerate((self.left, self.right)):
            side = self.streams[place] if self.streams else main
            side.wait_stream(main)
            with side:
                parts.append(ts.sin(layer(x)) * (place + 1))
        for side, part in zip(self.streams, parts):
            main.wait_stream(side)
            part.record_stream(main)
            x.record_stream(side)
        return self.last(parts[0] + parts[1])


def train(streams: int, outside: bool = False) -> list[Any]:
    """The losses and parameters of five steps."""
    model = Branches().to(CUDA)
    model.streams = [Stream(CUDA) for _ in range(streams)]
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = ts.asarray(numbers(16, 8, seed=9)).to(CUDA), ts.asarray(numbers(16, 8, seed=10)).to(CUDA)
    caller = Stream(CUDA) if outside else current_stream(CUDA)
    caller.wait_stream(current_stream(CUDA))
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        if outside:
            caller.wait_stream(current_stream(CUDA))
            with caller:
                loss.backward()
            current_stream(CUDA).wait_stream(caller)
        else:
            loss.backward()
        optimizer.step()
        losses.append(loss)
    return [t.detach().to("cpu").numpy() for t in (*losses, *model.parameters())]


@pytest.mark.parametrize("outside", [False, True])
def test_training_on_several_streams_equals_training_on_one(outside: bool) -> None:
    """[E21]"""
    for found, wanted in zip(train(2, outside), train(0)):
        np.testing.assert_array_equal(found, wanted)


def test_node_runs_on_the_stream_of_its_forward_and_the_caller_keeps_its_own() -> None:
    """[E15] [E21]"""
    side, seen = Stream(CUDA), []
    x = ts.ones(4, device=CUDA).requires_grad_()
    with side:
        y = x * 2
    y.register_hook(lambda grad: seen.append(current_stream(CUDA)))
    x.register_hook(lambda grad: seen.append(current_stream(CUDA)))
    before = current_stream(CUDA)
    y.sum().backward()
    assert seen == [side, before] and current_stream(CUDA) == before
    assert x.grad is not None and x.grad.to("cpu").tolist() == [2] * 4


def test_a_graph_over_cpu_and_two_devices_gives_each_leaf_its_gradient() -> None:
    """[E8] [E15]"""
    a = ts.tensor([1.0, 2.0], requires_grad=True)
    b = ts.tensor([3.0, 4.0], device=CUDA, requires_grad=True)
    c = ts.tensor([5.0, 6.0], device="cuda:1", requires_grad=True)
    with Stream(CUDA), Stream("cuda:1"):
        ts.synchronize(CUDA)
        ts.synchronize("cuda:1")
        product = (a.to(CUDA) * b).to("cuda:1") * c
        loss = product.to("cpu").sum()
    loss.backward()
    for leaf, wanted in ((a, [15, 24]), (b, [5, 12]), (c, [3, 8])):
        assert leaf.grad is not None and leaf.grad.device == leaf.device
        assert leaf.grad.to("cpu").tolist() == wanted


def test_gradient_of_copy_lands_on_the_device_of_the_source() -> None:
    """[E8]"""
    source = ts.ones(1, dtype=ts.float64, requires_grad=True)
    place = ts.zeros(3, device=CUDA) * 1
    place.copy_(source)
    (place * 2).sum().backward()
    assert source.grad is not None and source.grad.device == source.device and source.grad.tolist() == [6]
    assert source.grad.dtype is ts.float64


def test_scatter_and_gather_over_devices_have_gradients() -> None:
    """[E8]"""
    x = ts.tensor(numbers(5, 3), requires_grad=True)
    devices = [CUDA, "cuda:1"]
    parts = nn.parallel.scatter(x, devices)
    assert [str(part.device) for part in parts] == devices and [len(part) for part in parts] == [3, 2]
    joined = nn.parallel.gather([part * (place + 2) for place, part in enumerate(parts)], "cuda:1")
    assert str(joined.device) == "cuda:1"
    joined.sum().backward()
    assert x.grad is not None and x.grad.device == x.device
    assert x.grad.tolist() == [[2] * 3] * 3 + [[3] * 3] * 2


def test_join_of_devices_is_refused() -> None:
    """[E8]"""
    with pytest.raises(ts.DeviceError):
        ts.concat([ts.ones(2), ts.ones(2, device=CUDA)])


def test_gradient_without_dimensions_moves_to_its_device() -> None:
    """[E20]"""

    class Scaled(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: ts.Tensor, factor: ts.Tensor) -> ts.Tensor:
            return x * factor.item()

        @staticmethod
        def backward(ctx: Any, grad: ts.Tensor) -> Any:
            return grad, grad.sum()

    factor = ts.tensor(2.0, requires_grad=True)
    Scaled.apply(ts.ones(3, device=CUDA), factor).sum().backward()
    assert factor.grad is not None and factor.grad.device == factor.device and factor.grad.item() == 3


def test_event_orders_two_streams_and_reports_its_end() -> None:
    """[R3]"""
    first, second = Stream(CUDA), Stream(CUDA)
    first.wait_stream(current_stream(CUDA))
    with first:
        x = ts.ones(1000, device=CUDA) * 3
        event = first.record_event()
    assert not event.query() and first != second and first.native != 0
    event.wait(second)
    with second:
        y = x + 1
    x.record_stream(second)
    second.synchronize()
    assert event.query() and y.to("cpu").tolist() == [4] * 1000
    Event(CUDA).synchronize()


@pytest.mark.parametrize("triangle", [ts.triu, ts.tril])
def test_triangle_is_taken_on_the_current_stream(triangle: Any) -> None:
    side = Stream(CUDA)
    side.wait_stream(current_stream(CUDA))
    with side:
        x = ts.ones(8, 8, device=CUDA) * 3
        found = (triangle(x) + x).to("cpu")
    np.testing.assert_array_equal(found.numpy(), triangle(ts.ones(8, 8) * 3).numpy() + 3)
