#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the programs that every language loads: programs/mlp.program, a network for any batch, and programs/step.program,
a training step; beside each a file with inputs and expected outputs. Never write the programs again: later versions must read
them. The losses of step.safetensors are those that the program gives in this version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tessera as ts
from tessera import nn, optim, program

FOLDER = Path(__file__).parent / "programs"


def model() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    ts.manual_seed(0)
    network = model()
    program.record(network, ts.randn(3, 4), dynamic={0: [0]}).save(FOLDER / "mlp.program")
    x = ts.randn(5, 4)
    ts.save_file({"x": x, "y": network(x).detach()}, FOLDER / "mlp.safetensors")

    trained = model()
    optimizer = optim.Adam(trained.parameters(), lr=0.05)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(trained(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    x, y = ts.randn(6, 4), ts.randn(6, 3)
    recorded = program.record(step, (x, y), parameters=trained)
    recorded.save(FOLDER / "step.program")
    losses = ts.stack([step(x, y) for _ in range(5)])
    ts.save_file({"x": x, "y": y, "losses": losses}, FOLDER / "step.safetensors")


if __name__ == "__main__":
    main()
