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
