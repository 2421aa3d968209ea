# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Deep copies, pickles and modules of device tensors. The plugin is found as in test_op_table.py."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tessera as ts
from tessera import nn, optim


@pytest.mark.parametrize("copied", [
    copy.deepcopy, copy.copy, *(lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(2, 6))
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex64", "bool"])
def test_a_tensor_is_copied_on_its_device(copied: Callable[[Any], Any], dtype: str) -> None:
    x = ts.arange(6).reshape(2, 3).to(dtype).T.to("cuda")
    made = copied(x)
    assert made.device == x.device and made.dtype is x.dtype and made.tolist() == x.tolist()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_model_there_goes_on_training_as_its_copy(copied: Callable[[Any], Any]) -> None:
    net, x = nn.Linear(3, 2), ts.rand((4, 3))
    optimizer = optim.Adam(net.parameters(), lr=0.1)

    def step(net: nn.Module, optimizer: optim.Optimizer, x: ts.Tensor) -> None:
        optimizer.zero_grad()
        (net(x) ** 2).mean().backward()
        optimizer.step()

    step(net, optimizer, x)
    before = list(net.parameters())
    assert net.cuda() is net and all(p is q and p.is_cuda and p.grad.is_cuda for p, q in zip(before, net.parameters()))
    step(net, optimizer, x.to("cuda"))
    assert all(v.is_cuda for state in optimizer.state.values() for v in state.values() if isinstance(v, ts.Tensor))
    twin, its_optimizer = copied((net, optimizer))
    step(net, optimizer, x.to("cuda"))
    step(twin, its_optimizer, x.to("cuda"))
    for p, q in zip(net.parameters(), twin.parameters()):
        assert q.is_cuda and p.tolist() == q.tolist()
    net.cpu()
    step(net, optimizer, x)
    assert not net.weight.is_cuda
