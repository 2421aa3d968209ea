# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks on saved tensors: offloading, recomputation, and failures."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd.graph import saved_tensors_hooks


def test_offload_to_numpy_and_back() -> None:
    packed: list[Any] = []

    def pack(tensor: ts.Tensor) -> Any:
        assert not tensor.requires_grad and not ts.is_grad_enabled()
        packed.append(tensor.numpy().copy())
        return packed[-1]

    x = ts.tensor([1.0, 2.0]).requires_grad_()
    with saved_tensors_hooks(pack, ts.from_numpy):
        y = (x * x).exp()
    assert len(packed) == 3
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy() * y.detach().numpy(), rtol=1e-6)


def test_second_derivative_goes_through_what_was_unpacked() -> None:
    x = ts.tensor(2.0).requires_grad_()
    with saved_tensors_hooks(lambda t: t.numpy().copy(), ts.from_numpy):
        y = x * x * x
    (first,) = ts.autograd.grad(y, x, create_graph=True)
    (second,) = ts.autograd.grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


def test_innermost_hooks_hold() -> None:
    seen: list[str] = []

    def pack_as(name: str) -> Any:
        return lambda tensor: (seen.append(name), tensor)[1]

    x = ts.tensor([3.0]).requires_grad_()
    with saved_tensors_hooks(pack_as("outer"), lambda t: t):
        with saved_tensors_hooks(pack_as("inner"), lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    assert seen == ["inner", "outer"]


def test_exceptions_come_back_as_they_were() -> None:
    class Full(Exception):
        pass

    def fail(value: Any) -> Any:
        raise Full("the disk is full")

    x = ts.tensor([3.0]).requires_grad_()
    with saved_tensors_hooks(fail, lambda t: t), pytest.raises(Full, match="disk"):
        x.exp()
    with saved_tensors_hooks(lambda t: t, fail):
        y = x.exp()
    with pytest.raises(Full, match="disk"):
        y.sum().backward()
    x.exp().sum().backward()  # the engine still works


def test_unpack_must_give_what_was_packed() -> None:
    x = ts.tensor([3.0, 4.0]).requires_grad_()
    for wrong, error in ((lambda t: ts.ones(3), "float32"), (lambda t: None, "none"), (lambda t: 5, "expected a Tensor")):
        with saved_tensors_hooks(lambda t: t, wrong):  # type: ignore[arg-type, return-value]
            y = x.exp()
        with pytest.raises(Exception, match=error):
            y.sum().backward()


def test_hooks_and_payloads_are_let_go() -> None:
    class Payload:
        def __init__(self, tensor: ts.Tensor) -> None:
            self.tensor = tensor

    class Hooks:
        def pack(self, tensor: ts.Tensor) -> Payload:
            return Payload(tensor)

        def unpack(self, payload: Payload) -> ts.Tensor:
            return payload.tensor

    hooks = Hooks()
    gone = weakref.ref(hooks)
    gc.collect()  # frees garbage of other tests
    before = ts.memory.live_handles()
    x = ts.tensor([3.0]).requires_grad_()
    with saved_tensors_hooks(hooks.pack, hooks.unpack):
        y = x.exp()
    del hooks
    assert gone() is not None
    y.sum().backward()
    gc.collect()
    assert gone() is None
    del x, y
    gc.collect()
    assert ts.memory.live_handles() == before
    with pytest.raises(TypeError):
        saved_tensors_hooks(1, 2).__enter__()  # type: ignore[arg-type]
