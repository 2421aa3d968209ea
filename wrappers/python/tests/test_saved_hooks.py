# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks on saved tensors: offloading, recomputation, and failures [P1 saved_tensors_hooks, A15]."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    save_to_disk,
    saved_tensors_hooks,
)
from tessera.utils.checkpoint import checkpoint


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


# ---- Rules of pack ----


def test_a_pack_hook_must_not_modify_its_tensor() -> None:
    def spoil(tensor: ts.Tensor) -> ts.Tensor:
        return tensor.mul_(2)

    x = ts.tensor([3.0, 4.0]).requires_grad_()
    for function in (lambda t: t.exp(), lambda t: t * t, lambda t: t.sum() * t):
        with saved_tensors_hooks(spoil, lambda t: t), pytest.raises(RuntimeError, match="leave the tensor .* unchanged"):
            function(x * 1)
    with saved_tensors_hooks(lambda t: t.clone().mul_(2), lambda t: t.clone().mul_(0.5)):
        y = x.exp()
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.exp([3.0, 4.0]), rtol=1e-6)


# ---- Hooks of the library ----


def network(x: ts.Tensor, w: ts.Tensor) -> ts.Tensor:
    return (((x @ w).exp() @ w).sin() * x.conj()).sum().abs()


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.complex64, ts.complex128, ts.bfloat16])
def test_files_hold_what_is_saved_and_go_with_it(tmp_path: Path, dtype: Any) -> None:
    x = ts.randn(4, 4).astype(dtype).requires_grad_()
    w = ts.randn(4, 4).astype(dtype).requires_grad_()
    plain = ts.autograd.grad(network(x, w), (x, w))
    with save_to_disk(tmp_path, min_bytes=0):
        y = network(x, w)
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names and all(n.startswith("saved-") and n.endswith(".safetensors") for n in names)
    for _ in range(2):  # a retained graph reads its files again
        for ours, theirs in zip(ts.autograd.grad(y, (x, w), retain_graph=True), plain):
            assert ours.tolist() == theirs.tolist()
    y.backward()
    assert list(tmp_path.iterdir()) == []
    with save_to_disk(tmp_path, min_bytes=0):
        y = network(x, w)
    assert list(tmp_path.iterdir())
    del y
    assert list(tmp_path.iterdir()) == []


def test_small_tensors_and_leaves_stay_in_memory(tmp_path: Path) -> None:
    x = ts.ones(100).requires_grad_()
    with save_to_disk(tmp_path, min_bytes=101 * 4):
        y = (x * 2).exp()
    assert list(tmp_path.iterdir()) == []
    with save_to_disk(tmp_path, min_bytes=400):
        z = (x * x).exp()  # x is a leaf
    assert len(list(tmp_path.iterdir())) == 1
    del y, z


def test_a_folder_that_is_not_there_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot create"), save_to_disk(tmp_path / "absent"):
        raise AssertionError("not reached")


def test_memory_holds_little_while_the_rest_is_on_disk(tmp_path: Path) -> None:
    size, layers = 1 << 20, 12

    def kept(block: Any) -> float:
        x = ts.ones(size // 4).requires_grad_()
        gc.collect()
        before = ts.memory.memory_allocated()
        with block:
            y = x * 1
            for _ in range(layers):
                y = y.exp().log()
        found = (ts.memory.memory_allocated() - before) / size
        y.sum().backward()
        return found

    assert kept(save_on_cpu()) >= layers  # what is on the CPU already stays as it is
    assert kept(save_to_disk(tmp_path)) <= 3


def test_what_is_on_the_device_already_is_still_checked() -> None:
    x = ts.ones(3).requires_grad_()
    with save_on_cpu(pin_memory=True):
        y = x.exp()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        y.sum().backward()


def test_disabled_hooks_raise_with_their_message() -> None:
    def push() -> Any:
        return saved_tensors_hooks(lambda t: t, lambda t: t)

    x = ts.ones(2).requires_grad_()
    with disable_saved_tensors_hooks("no hooks in this part"):
        with pytest.raises(RuntimeError, match="no hooks in this part"), push():
            raise AssertionError("not reached")
        with pytest.raises(RuntimeError, match="no hooks in this part"):
            checkpoint(lambda t: t.exp(), x)
        with disable_saved_tensors_hooks("inner"), pytest.raises(RuntimeError, match="inner"), push():
            raise AssertionError("not reached")
        x.exp().sum().backward()
    with push(), pytest.raises(RuntimeError, match="too late"), disable_saved_tensors_hooks("too late"):
        raise AssertionError("not reached")
    with push():
        x.exp().sum().backward()


def test_saved_tensors_may_be_written_to_in_a_block_that_allows_it() -> None:
    x = ts.tensor([1.0, 2.0]).requires_grad_()
    with allow_mutation_on_saved_tensors():
        y = x.exp()
        z = y * 3
        y.detach().zero_()
        t = x * 1
        u = t * t
        t.mul_(5)
    (z.sum() + u.sum()).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp([1.0, 2.0]) + 2 * np.array([1.0, 2.0]), rtol=1e-6)
    y = x.exp()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        y.sum().backward()
