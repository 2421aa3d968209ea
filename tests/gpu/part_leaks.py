# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Leaks: after 1000 training steps no more memory, objects or nodes are alive than after 100, and the device's
memory has not grown."""

from __future__ import annotations

import resource

import tessera as ts
from tessera import nn, optim

from figures import DEVICE, check_equal, check_that, figure, memory, wait
from machine import PRETEND

STEPS, WARM = (60, 20) if PRETEND else (1000, 100)


def state() -> dict[str, int]:
    wait()
    return {
        "allocated": memory("allocated_bytes.all.current"), "reserved": memory("reserved_bytes.all.current"),
        "handles": ts.memory.live_handles(), "nodes": ts.memory.live_nodes(),
    }  # fmt: skip


def resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the peak so far in KiB


def main() -> None:
    ts.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)
    ).to(device=DEVICE)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    images, classes = ts.rand((64, 1, 8, 8)), ts.arange(64) % 10

    def step() -> float:
        optimizer.zero_grad()
        x, y = images.to(DEVICE), classes.to(DEVICE)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    first = step()
    for _ in range(WARM - 1):
        step()
    before, held, asked = state(), resident(), memory("num_device_alloc")
    for _ in range(STEPS - WARM):
        last = step()
    after = state()
    grown = resident() - held
    figure("leaks.device_allocations", memory("num_device_alloc") - asked, "", f"in steps {WARM} to {STEPS}")
    figure("leaks.host_growth", grown / 1024, "MiB", "of the process, at most")
    check_equal(f"state after {STEPS} steps is that after {WARM}", after, before)
    check_that("the host's memory does not grow", grown < 16 * 1024)
    check_that(f"the loss went from {first:.3f} to {last:.3f}", last < first)
    print(f"{STEPS} steps: no byte, object or node more; {memory('num_device_alloc') - asked} device allocations")


if __name__ == "__main__":
    main()
