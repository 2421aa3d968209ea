# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that change their dtype in place, 16-bit floats with normalisation, and tensors that get other data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn, optim

HALVES = [ts.float16, ts.bfloat16]


def network(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), *layers, nn.Tanh(), nn.Linear(4, 1))


def step(net: nn.Module, optimizer: optim.Optimizer, x: ts.Tensor) -> float:
    optimizer.zero_grad()
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return float(loss)


# ---- The same parameters ----


@pytest.mark.parametrize("convert", [
    lambda net: net.to(ts.float64), lambda net: net.double(), lambda net: net.half(), lambda net: net.bfloat16(),
    lambda net: net.to(ts.ones(1, dtype=ts.float64)), lambda net: net.to("cpu", "float64"),
])  # fmt: skip
def test_parameters_stay_the_same_objects_and_keep_their_gradients(convert: Callable[[nn.Module], nn.Module]) -> None:
    net = network()
    net(ts.ones((2, 3))).sum().backward()
    before = list(net.parameters())
    values = [p.detach().clone() for p in before]
    grads = [p.grad.clone() for p in before if p.grad is not None]
    assert convert(net) is net
    after = list(net.parameters())
    assert len(grads) == len(after) and all(p is q for p, q in zip(before, after))
    for p, value, grad in zip(after, values, grads):
        assert p.requires_grad and p.is_leaf and p.dtype is not ts.float32
        assert p.grad is not None and p.grad.dtype is p.dtype
        assert p.tolist() == value.to(p.dtype).tolist() and p.grad.tolist() == grad.to(p.dtype).tolist()


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1), lambda p: optim.SGD(p, lr=0.02, momentum=0.9), lambda p: optim.Adam(p, lr=0.01),
    lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
])  # fmt: skip
@pytest.mark.parametrize("steps_before", [0, 2])
def test_an_optimizer_made_before_the_conversion_trains_on(make: Callable[[Any], optim.Optimizer], steps_before: int) -> None:
    ts.manual_seed(0)
    net, x = network(), ts.rand((8, 3))
    optimizer = make(net.parameters())
    for _ in range(steps_before):
        step(net, optimizer, x)
    net.double()
    losses = [step(net, optimizer, x.double()) for _ in range(5)]
    assert losses[-1] < losses[0]
    for state in optimizer.state.values():
        assert all(v.dtype is ts.float64 for v in state.values() if isinstance(v, ts.Tensor))


def test_parameters_that_two_modules_share_stay_one() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    net.register_buffer("first", ts.ones(2))
    net[0].register_buffer("second", net.first)
    net.double()
    assert net[0].weight is net[1].weight and net[0].weight.dtype is ts.float64
    assert net[0].second is net.first and net.first.dtype is ts.float64


@pytest.mark.parametrize("wrong, kind", [(ts.int32, TypeError), ("gpu", ValueError), (3, TypeError), ("cuda:x", ValueError)])
def test_a_module_says_what_it_can_be_converted_to(wrong: Any, kind: type[Exception]) -> None:
    with pytest.raises(ts.TesseraError) as caught:
        network().to(wrong)
    assert isinstance(caught.value, kind)


# ---- Half precision ----


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_running_statistics_stay_float32_in_half_modules(dtype: ts.DType) -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    for half in (net.to(dtype), nn.Sequential(nn.Conv2d(1, 2, 3, dtype=dtype), nn.BatchNorm2d(2, dtype=dtype))):
        norm = half[1]
        assert {p.dtype for p in half.parameters()} == {dtype}
        assert norm.running_mean.dtype is norm.running_var.dtype is ts.float32
        assert norm.num_batches_tracked.dtype is ts.int64
    net.double()
    assert {b.dtype for b in net.buffers()} == {ts.float64, ts.int64}
    net.to(dtype)
    assert {b.dtype for b in net.buffers()} == {ts.float32, ts.int64}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("make", [
    lambda: nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 9, 2)
    ),
    lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)),
], ids=["batch", "layer"])  # fmt: skip
@pytest.mark.parametrize("mixed", [False, True])
def test_networks_with_normalisation_train_in_half_precision(
    dtype: ts.DType, make: Callable[[], nn.Module], mixed: bool
) -> None:
    ts.manual_seed(0)
    net, x, classes = make().to(dtype), ts.randn((6, 1, 8, 8)), ts.tensor([0, 1, 0, 1, 0, 1])
    if mixed:  # normalisation layers keep float32 weights
        for module in net.modules():
            if isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
                module.float()
    optimizer = optim.SGD(net.parameters(), lr=0.05)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x.to(dtype)), classes)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert loss.dtype is dtype and losses[-1] < losses[0]
    assert all(p.grad is not None and p.grad.dtype is p.dtype for p in net.parameters())
    exact = make()
    exact.load_state_dict(net.state_dict())
    net.eval(), exact.eval()
    difference = (net(x.to(dtype)).float() - exact(x)).abs().max()
    assert float(difference) < (0.02 if dtype is ts.float16 else 0.1)
    for name, tensor in exact.state_dict().items():
        assert tensor.dtype is (ts.int64 if "num_batches" in name else ts.float32)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_state_goes_between_dtypes(dtype: ts.DType) -> None:
    wide, narrow = nn.BatchNorm2d(3), nn.BatchNorm2d(3, dtype=dtype)
    wide(ts.randn((4, 3, 2, 2)))
    narrow.load_state_dict(wide.state_dict())
    assert narrow.running_mean.tolist() == wide.running_mean.tolist()
    assert narrow.weight.dtype is dtype and narrow.running_var.dtype is ts.float32


# ---- Other data for a tensor ----


def test_a_tensor_takes_over_memory_shape_and_dtype() -> None:
    x, other = ts.tensor([1.0, 2.0], requires_grad=True), ts.ones((2, 2), dtype=ts.float64)
    held = [x]
    x.data = other
    assert held[0].shape == (2, 2) and x.dtype is ts.float64 and x.requires_grad and x.is_leaf
    other[0] = 5
    assert x.tolist() == [[5, 5], [1, 1]]
    x.sum().backward()
    assert x.grad is not None and x.grad.dtype is ts.float64
    x.data = x.data
    assert x.tolist() == [[5, 5], [1, 1]]


def test_what_was_saved_before_is_noticed() -> None:
    for same_dtype in (True, False):
        x = ts.tensor([1.0, 2.0], requires_grad=True)
        y = (x * x).sum()
        x.data = ts.ones(2) if same_dtype else ts.ones(2, dtype=ts.float64)
        with pytest.raises(ts.AutogradError, match="modified by an in-place operation"):
            y.backward()


def test_a_graph_from_before_gives_a_gradient_that_fits() -> None:
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3).sum()
    x.data = x.data.double()
    (x * 2).sum().backward()
    y.backward()
    assert x.grad is not None and x.grad.dtype is ts.float64 and x.grad.tolist() == [5, 5]
    z = (x * 3).sum()
    x.grad = None
    x.data = ts.ones(3)
    with pytest.raises(ts.AutogradError, match="given other data"):
        z.backward()


def test_what_cannot_take_other_data_says_so() -> None:
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ts.AutogradError, match="leaf"):
        (x * 2).data = ts.ones(2)
    with pytest.raises(ts.AutogradError, match="view"):
        ts.ones(4)[:2].data = ts.ones(2)
    with pytest.raises(ts.DTypeError):
        x.data = ts.tensor([1, 2])
    x.grad = ts.ones(2)
    with pytest.raises(ts.AutogradError, match="gradient"):
        x.data = ts.ones(3)
    x.data = ts.zeros(2)
    assert x.tolist() == [0, 0]
    with ts.inference_mode():
        made_inside = ts.ones(2) * 1
    with pytest.raises(ts.AutogradError, match="inference"):
        ts.ones(2).data = made_inside
    with pytest.raises(TypeError):
        x.data = [1, 2]  # type: ignore[assignment]


def test_numbers_beside_arrays_and_tensors_keep_their_dtype() -> None:
    def dtype(data: object) -> ts.DType:
        return ts.tensor(data).dtype

    assert dtype([ts.tensor(1.0), 2.0]) is dtype([np.float32(1.5), 2]) is ts.float32
    assert dtype([ts.tensor(1.0, dtype=ts.float64), 2.0]) is dtype([np.float64(1), 2]) is ts.float64
    assert dtype([np.float16(1), 2.0]) is ts.float16
    assert dtype([np.int8(1), 2.5]) is dtype([ts.tensor(1), 2.5]) is ts.float32
    assert dtype([ts.tensor(1.0), 1j]) is ts.complex64
    assert dtype([np.float64(1), 1j]) is ts.complex128
    assert dtype([np.uint8(3)]) is ts.uint8
    assert ts.tensor([np.int8(1), 300]).tolist() == [1, 300]


def test_fields_of_structured_arrays_are_copied_where_a_copy_is_allowed() -> None:
    records = np.zeros(3, dtype=[("tag", "u1"), ("value", "f4")])
    records["value"] = [1, 2, 3]
    field = records["value"]
    assert ts.tensor(field).tolist() == ts.asarray(field).tolist() == [1, 2, 3]
    assert ts.asarray(field, dtype=ts.float64).dtype is ts.float64
    for refused in (lambda: ts.from_numpy(field), lambda: ts.asarray(field, copy=False)):
        with pytest.raises(ValueError, match="strides"):
            refused()


def test_the_text_of_a_tensor_larger_than_the_memory() -> None:
    row = ts.zeros(1).expand(2**40)
    assert repr(row) == repr(ts.zeros(5000)) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"
    assert repr(ts.zeros(1, 1, dtype=ts.bfloat16).expand(7, 2**40)) == repr(ts.zeros(7, 2000, dtype=ts.bfloat16))
    x = ts.arange(10 * 2 * 100).reshape(10, 2, 100)
    assert "..." in repr(x) and repr(x.permute(2, 0, 1).contiguous()) == repr(x.permute(2, 0, 1))
    assert repr(ts.finfo(ts.float16)).startswith("finfo(eps=0.0009765625, min=-65504.0")
    assert repr(ts.iinfo(ts.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
