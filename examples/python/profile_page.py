# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small residual network for two steps, and writes the profiler's page of them.

profile_page.py [PAGE]; docs/guide/profiler.md shows pictures of the page.
"""

from __future__ import annotations

import sys

import tessera as ts
from tessera import Tensor, nn, optim
from tessera.profiler import profile, record_function


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, 1), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.body(x) + x)


def main(page: str = "profile.html") -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, 2, 1), Block(32), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
    )
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, classes = ts.randn((8, 3, 64, 64)), ts.randint(0, 10, (8,))

    def step() -> None:
        with record_function("forward"):
            loss = nn.functional.cross_entropy(model(x), classes)
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
            optimizer.zero_grad()

    for _ in range(3):
        step()
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        for number in range(2):
            with record_function(f"step {number}"):
                step()
    prof.export_html(page)
    print(prof.key_averages().table(row_limit=10))


if __name__ == "__main__":
    main(*sys.argv[1:2])
