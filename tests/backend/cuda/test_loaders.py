# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Loaders with pinned memory on the host's stand-in for CUDA, where queued copies run as late as possible: a pinned block
that were used again before its copy is done would give wrong numbers every time."""

from __future__ import annotations

import pytest

import tessera as ts
from tessera.utils.data import DataLoader, TensorDataset

CUDA = "cuda:0"


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("device", ["", "cuda:0"])
def test_D5_pinned_blocks_are_used_again_only_after_their_copies(workers: int, device: str) -> None:
    x = ts.arange(64 * 1000.0).reshape(64, 1000)
    loader = DataLoader(TensorDataset(x), 8, num_workers=workers, pin_memory=True, pin_memory_device=device)
    copies = []
    for (batch,) in loader:
        assert batch.is_pinned()
        copies.append(batch.to(CUDA, non_blocking=True))
        del batch  # the copy has not run
    assert ts.cat([c.to("cpu") for c in copies]).tolist() == x.tolist()


def test_D5_pinned_memory_is_cached() -> None:
    x = ts.ones((64, 1000))
    addresses = set()
    for _ in range(3):
        for (batch,) in DataLoader(TensorDataset(x), 8, pin_memory=True):
            addresses.add(batch.data_ptr())
            del batch
            ts.synchronize(CUDA)
    assert len(addresses) <= 3
