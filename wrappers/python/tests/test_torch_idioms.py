# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: what programs override, write to and hold on to, as they do with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tessera.torch as torch
from tessera.torch import nn

# ---- modules that override a method ----


def test_train_of_a_child_is_called() -> None:
    class Frozen(nn.BatchNorm1d):
        def train(self, mode: bool = True) -> Any:
            return super().train(False)

    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(Frozen(2)), nn.Dropout()).train()
    assert [module.training for module in model.modules()] == [True, True, True, False, True]
    with pytest.raises(ValueError, match="bool"):
        model.train(1)  # type: ignore[arg-type]


# ---- objects that go through the library ----


class _Pair(tuple[Any, ...]):
    """A class of tuples that is none with names."""


def test_what_a_context_holds_is_the_object_itself() -> None:
    seen: list[Any] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, calls: Any) -> Any:
            ctx.cache, ctx.size, ctx.kept = [], x.shape, {"x": [x]}
            ctx.cache.append(3)
            calls.append("forward")
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.extend([ctx.cache, type(ctx.size), type(ctx.kept["x"][0])])
            return grad * 2, None

    calls: list[str] = []
    x = torch.ones(2, requires_grad=True)
    Double.apply(x, calls).sum().backward()
    assert seen == [[3], torch.Size, torch.Tensor] and calls == ["forward"]


def test_arguments_of_a_checkpoint_are_the_objects_themselves() -> None:
    calls: list[str] = []

    def part(x: Any, given: Any) -> Any:
        given.append("called")
        return x.exp()

    torch.utils.checkpoint.checkpoint(part, torch.ones(2, requires_grad=True), calls, use_reentrant=False).sum().backward()
    assert calls == ["called", "called"]


def test_a_batch_keeps_its_class() -> None:
    loader = torch.utils.data.DataLoader([1, 2], batch_size=2, collate_fn=lambda items: _Pair(items))
    assert type(next(iter(loader))) is _Pair
