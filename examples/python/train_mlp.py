# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network to draw a sine, with modules and an optimizer."""

from __future__ import annotations

import math

import tessera as ts
from tessera import nn, optim


def main() -> float:
    ts.manual_seed(0)
    x = ts.linspace(-math.pi, math.pi, 200).reshape(200, 1)
    target = x.sin()
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.MSELoss()
    print(model)
    for step in range(1, 801):
        optimizer.zero_grad()
        loss = criterion(model(x), target)
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.6f}")
    return float(loss.item())


if __name__ == "__main__":
    assert main() < 1e-3
