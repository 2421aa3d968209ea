# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes schedules.txt, the learning rates that every language's schedules must give: those of PyTorch.

    .venv/bin/python tests/conformance/make_schedules.py
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from torch.optim import lr_scheduler

BASE, STEPS = 0.3, 41
SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "step": ("StepLR", {"step_size": 7}),
    "multi_step": ("MultiStepLR", {"milestones": [4, 9, 9, 20], "gamma": 0.3}),
    "constant": ("ConstantLR", {"factor": 0.25, "total_iters": 9}),
    "linear": ("LinearLR", {"start_factor": 0.1, "end_factor": 0.75, "total_iters": 11}),
    "exponential": ("ExponentialLR", {"gamma": 0.9}),
    "polynomial": ("PolynomialLR", {"total_iters": 30, "power": 1.7}),
    "cosine": ("CosineAnnealingLR", {"T_max": 9, "eta_min": 0.01}),
    "warm_restarts": ("CosineAnnealingWarmRestarts", {"T_0": 7}),
    "longer_restarts": ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.02}),
    "triangular": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "step_size_down": 8}),
    "triangular2": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "mode": "triangular2"}),
    "exp_range": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9}),
    "one_cycle": ("OneCycleLR", {"max_lr": 0.5, "total_steps": 41}),
    "three_phases": ("OneCycleLR", {"max_lr": 0.5, "total_steps": 45, "anneal_strategy": "linear", "three_phase": True}),
}


def rates(make: Any) -> list[float]:
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=BASE)
    schedule = make(optimizer)
    found = []
    for _ in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return found


def sequence(optimizer: Any) -> Any:
    parts = [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4), lr_scheduler.CosineAnnealingLR(optimizer, 10)]
    return lr_scheduler.SequentialLR(optimizer, [*parts, lr_scheduler.ExponentialLR(optimizer, 0.8)], [4, 12])


def chained(optimizer: Any) -> Any:
    return lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer, 0.1, 3), lr_scheduler.ExponentialLR(optimizer, 0.9)])


def multiplicative(optimizer: Any) -> Any:
    return lr_scheduler.MultiplicativeLR(optimizer, lambda step: 1.0 if step % 3 else 0.8)


# Rates that follow a measure, which falls until step 10 and then stays; for the mode "max" it is negative.
PLATEAUS: dict[str, dict[str, Any]] = {
    "plateau": {"factor": 0.5, "patience": 3, "cooldown": 2},
    "plateau_max": {"mode": "max", "patience": 2, "threshold": 0.06, "threshold_mode": "abs", "min_lr": 1e-3},
}


def plateau_rates(options: dict[str, Any]) -> list[float]:
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=BASE)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    found = []
    for step in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        measure = 1 / (step + 1) if step < 10 else 0.1
        plateau.step(-measure if options.get("mode") == "max" else measure)
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    lines = ["# The rates of schedules at the steps 0 to 40, for the rate 0.3: see make_schedules.py."]
    table = {name: lambda o, row=row: getattr(lr_scheduler, row[0])(o, **row[1], **quiet(row[0])) for name, row in SCHEDULES.items()}
    table.update(sequence=sequence, chained=chained, multiplicative=multiplicative)
    found = {name: rates(make) for name, make in table.items()}
    found.update((name, plateau_rates(options)) for name, options in PLATEAUS.items())
    for name, row in found.items():
        lines.append(" ".join([name, *(f"{rate:.15g}" for rate in row)]))
    (Path(__file__).parent / "schedules.txt").write_text("\n".join(lines) + "\n")


def quiet(kind: str) -> dict[str, Any]:
    return {"cycle_momentum": False} if kind in ("CyclicLR", "OneCycleLR") else {}


if __name__ == "__main__":
    main()
