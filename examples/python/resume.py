# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Resumes a training run that any language began: reads the files in FROM, makes five steps, and writes to TO.

FROM contains model.safetensors and, unless the run is new, state.safetensors. Ranks that mpirun has started divide the
optimizer's state; the files are those of one process.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import tessera as ts
from tessera import distributed as dist
from tessera import nn, optim


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, metavar="FROM")
    parser.add_argument("target", type=Path, metavar="TO")
    options = parser.parse_args()
    model = ts.load_file(options.source / "model.safetensors")
    weight, bias = model["weight"].requires_grad_(), model["bias"].requires_grad_()
    groups = [{"params": weight}, {"params": bias, "lr": 0.2, "weight_decay": 0.0}]
    parallel = "OMPI_COMM_WORLD_SIZE" in os.environ
    if parallel:
        dist.init_process_group("mpi", timeout=300)
        optimizer = optim.ZeroRedundancyOptimizer(groups, optim.AdamW, lr=0.1, amsgrad=True)
    else:
        optimizer = optim.AdamW(groups, lr=0.1, amsgrad=True)
    if (options.source / "state.safetensors").exists():
        optimizer.load(options.source / "state.safetensors")
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.mse_loss(nn.functional.linear(model["x"], weight, bias), model["y"]).backward()
        optimizer.step()
    if parallel:
        optimizer.consolidate_state_dict(to=0)
        if dist.get_rank() != 0:
            return
    ts.save_file(model, options.target / "model.safetensors")
    optimizer.save(options.target / "state.safetensors")


if __name__ == "__main__":
    main()
