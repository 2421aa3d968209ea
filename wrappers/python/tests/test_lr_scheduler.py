# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Schedulers of learning rates, step by step beside PyTorch's."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

import tessera as ts
from tessera import nn, optim
from tessera.optim import lr_scheduler

STEPS = 40
CASES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 7}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [4, 9, 9, 20], "gamma": 0.3}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.25, "total_iters": 9}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.75, "total_iters": 11}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 30, "power": 1.7}),
    ("CosineAnnealingLR", {"T_max": 9}),
    ("CosineAnnealingLR", {"T_max": 30, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 7}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.02}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": [0.2, 0.4], "step_size_up": 5, "step_size_down": 8, "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9, "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 4, "scale_fn": lambda x: 1 / x, "base_momentum": 0.5}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": STEPS + 1}),
    ("OneCycleLR", {"max_lr": [0.5, 0.1], "epochs": 5, "steps_per_epoch": 9, "anneal_strategy": "linear", "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "pct_start": 0.1, "div_factor": 5, "final_div_factor": 10, "cycle_momentum": False}),
    ("LambdaLR", {"lr_lambda": lambda step: 0.95**step}),
    ("LambdaLR", {"lr_lambda": [lambda step: 1 / (1 + step), lambda step: 1.0]}),
    ("MultiplicativeLR", {"lr_lambda": lambda step: 0.9 if step % 3 else 1.05}),
]
IDS = [f"{name}-{i}" for i, (name, _) in enumerate(CASES)]


def optimizers(kind: str = "SGD", rate: float = 0.3) -> tuple[Any, Any]:
    """An optimizer of either library with two groups of their own rates."""
    options = {"momentum": 0.9} if kind == "SGD" else {}
    ours = [{"params": [nn.Parameter(ts.ones(2))]}, {"params": [nn.Parameter(ts.ones(3))], "lr": 2 * rate}]
    theirs = [{"params": [torch.ones(2, requires_grad=True)]}, {"params": [torch.ones(3, requires_grad=True)], "lr": 2 * rate}]
    return getattr(optim, kind)(ours, lr=rate, **options), getattr(torch.optim, kind)(theirs, lr=rate, **options)


def state(optimizer: Any) -> list[float]:
    """Rates and momenta of all groups."""
    found = []
    for group in optimizer.param_groups:
        found += [group["lr"], *group.get("betas", [group.get("momentum", 0)])]
    return found


def step_both(one: Any, two: Any, *arguments: Any) -> None:
    """A step of optimizer and scheduler."""
    two.optimizer.step()
    one.step(*arguments)
    two.step(*arguments)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name, options", CASES, ids=IDS)
def test_every_step_is_pytorchs(name: str, options: dict[str, Any], kind: str) -> None:
    if name == "CyclicLR" and kind == "Adam":
        options = {**options, "cycle_momentum": False}  # PyTorch 1.13 has it for momentum alone
    ours, theirs = optimizers(kind)
    one = getattr(lr_scheduler, name)(ours, **options)
    two = getattr(torch.optim.lr_scheduler, name)(theirs, **options)
    for _ in range(STEPS):
        assert state(ours) == pytest.approx(state(theirs), rel=1e-12, abs=1e-15)
        assert one.get_last_lr() == pytest.approx(two.get_last_lr(), rel=1e-12, abs=1e-15)
        step_both(one, two)
    ours.step()  # the core takes the rates and momenta that the schedule set


@pytest.mark.parametrize("name, options", [c for c in CASES if c[0] not in ("OneCycleLR", "CyclicLR", "MultiplicativeLR")])
@pytest.mark.filterwarnings("ignore")
def test_steps_can_be_named(name: str, options: dict[str, Any]) -> None:
    ours, theirs = optimizers()
    one = getattr(lr_scheduler, name)(ours, **options)
    two = getattr(torch.optim.lr_scheduler, name)(theirs, **options)
    for epoch in (3, 17, 4, 0, 25):
        step_both(one, two, epoch)
        assert state(ours) == pytest.approx(state(theirs), rel=1e-12, abs=1e-15)


def test_warm_restarts_take_fractions() -> None:
    for options in ({"T_0": 7}, {"T_0": 3, "T_mult": 2}):
        ours, theirs = optimizers()
        one = lr_scheduler.CosineAnnealingWarmRestarts(ours, **options)
        two = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(theirs, **options)
        for epoch in (0.5, 2.75, 6.9, 7.1, 30.25):
            step_both(one, two, epoch)
            assert state(ours) == pytest.approx(state(theirs), rel=1e-9)
    with pytest.raises(ValueError):
        one.step(-1)


@pytest.mark.parametrize("name, options", CASES, ids=IDS)
def test_a_saved_schedule_continues(name: str, options: dict[str, Any]) -> None:
    ours, _ = optimizers()
    first = getattr(lr_scheduler, name)(ours, **options)
    for _ in range(11):
        first.step()
    saved, saved_optimizer = copy.deepcopy(first.state_dict()), copy.deepcopy(ours.state_dict())
    other, _ = optimizers()
    second = getattr(lr_scheduler, name)(other, **options)
    second.load_state_dict(saved)
    other.load_state_dict(saved_optimizer)
    for _ in range(20):
        first.step()
        second.step()
        assert state(other) == state(ours)


# Those that PyTorch 1.13 moved by a step too many when it made them again; 2.15 goes on as if it had not, from the
# step after last_epoch.
GOES_ON = ("CosineAnnealingLR", "ExponentialLR", "LinearLR", "MultiplicativeLR", "PolynomialLR")


@pytest.mark.parametrize("name, options", [c for c in CASES if c[0] != "CyclicLR"])
def test_a_schedule_can_resume_from_a_step(name: str, options: dict[str, Any]) -> None:
    ours, theirs = optimizers()
    one = getattr(lr_scheduler, name)(ours, **options)
    two = getattr(torch.optim.lr_scheduler, name)(theirs, **options)
    for _ in range(5):
        step_both(one, two)
    one = getattr(lr_scheduler, name)(ours, **options, last_epoch=4 if name in GOES_ON else 5)
    if name not in GOES_ON:
        two = getattr(torch.optim.lr_scheduler, name)(theirs, **options, last_epoch=5)
    for _ in range(5):
        assert state(ours) == pytest.approx(state(theirs), rel=1e-12)
        step_both(one, two)


MEASURES = [1.0, 0.9, 0.9, 0.91, 0.92, 0.92, 0.93, 0.8, 0.8, 0.8, 0.8, 0.80001, 0.79999, 0.8, 0.8, 0.8, 0.7, 0.9, 0.9, 0.9, 0.9, 0.9]
PLATEAU = [
    {"patience": 2}, {"patience": 0, "factor": 0.5, "cooldown": 2}, {"mode": "max", "patience": 1, "threshold": 0.05},
    {"patience": 1, "threshold_mode": "abs", "threshold": 0.05}, {"mode": "max", "patience": 1, "threshold_mode": "abs", "min_lr": [0.1, 0.2]},
    {"patience": 0, "eps": 0.1},
]  # fmt: skip


@pytest.mark.parametrize("options", PLATEAU)
def test_plateaus_are_pytorchs(options: dict[str, Any]) -> None:
    ours, theirs = optimizers()
    one = lr_scheduler.ReduceLROnPlateau(ours, **options)
    two = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options)
    for number, measure in enumerate(MEASURES):
        one.step(ts.tensor(measure) if number % 2 else measure)
        two.step(torch.tensor(measure) if number % 2 else measure)
        assert state(ours) == pytest.approx(state(theirs), rel=1e-12)
        assert one.in_cooldown == two.in_cooldown
    again = lr_scheduler.ReduceLROnPlateau(ours)
    again.load_state_dict(one.state_dict())
    assert again.best == one.best and again.num_bad_epochs == one.num_bad_epochs


def test_every_schedule_is_a_scheduler() -> None:
    for name in lr_scheduler.__all__:
        assert issubclass(getattr(lr_scheduler, name), lr_scheduler.LRScheduler), name


@pytest.mark.filterwarnings("ignore")
def test_schedules_one_after_the_other_are_pytorchs() -> None:
    ours, theirs = optimizers()

    def build(kinds: Any, optimizer: Any) -> Any:
        parts = [kinds.LinearLR(optimizer, 0.1, total_iters=4), kinds.CosineAnnealingLR(optimizer, 10), kinds.ExponentialLR(optimizer, 0.8)]
        return kinds.SequentialLR(optimizer, parts, milestones=[4, 12])

    one, two = build(lr_scheduler, ours), build(torch.optim.lr_scheduler, theirs)
    for _ in range(25):
        assert state(ours) == pytest.approx(state(theirs), rel=1e-12)
        two.optimizer = theirs
        step_both(one, two)
    other, _ = optimizers()
    second = build(lr_scheduler, other)
    second.load_state_dict(copy.deepcopy(one.state_dict()))
    other.load_state_dict(ours.state_dict())
    one.step()
    second.step()
    assert state(other) == state(ours)


def test_schedules_at_once_are_pytorchs() -> None:
    ours, theirs = optimizers()

    def build(kinds: Any, optimizer: Any) -> Any:
        return kinds.ChainedScheduler([kinds.ConstantLR(optimizer, 0.1, 3), kinds.ExponentialLR(optimizer, 0.9), kinds.StepLR(optimizer, 5)])

    one, two = build(lr_scheduler, ours), build(torch.optim.lr_scheduler, theirs)
    for _ in range(20):
        assert state(ours) == pytest.approx(state(theirs), rel=1e-12)
        theirs.step()
        one.step()
        two.step()
    assert one.get_last_lr() == pytest.approx(two.get_last_lr(), rel=1e-12)


def test_triangles_move_the_first_beta_the_other_way() -> None:
    adam, _ = optimizers("Adam")
    cycle = lr_scheduler.CyclicLR(adam, 0.1, 0.5, step_size_up=4)
    for rate, beta in [(0.1, 0.9), (0.2, 0.875), (0.3, 0.85), (0.4, 0.825), (0.5, 0.8), (0.4, 0.825)]:
        assert [adam.param_groups[0]["lr"], *adam.param_groups[0]["betas"]] == pytest.approx([rate, beta, 0.999])
        cycle.step()


def test_objects_as_functions_keep_their_attributes() -> None:
    class Decay:
        def __init__(self, base: float) -> None:
            self.base = base

        def __call__(self, step: int) -> float:
            return self.base**step

    ours, _ = optimizers()
    first = lr_scheduler.LambdaLR(ours, Decay(0.5))
    second = lr_scheduler.LambdaLR(ours, Decay(0.75))
    second.load_state_dict(first.state_dict())
    assert second.lr_lambdas[0].base == 0.5


def test_schedules_that_cannot_be_are_refused() -> None:
    ours, _ = optimizers()
    plain = optim.Adagrad([nn.Parameter(ts.ones(1))])
    for make in (
        lambda: lr_scheduler.ConstantLR(ours, 1.5), lambda: lr_scheduler.LinearLR(ours, 0.0), lambda: lr_scheduler.LinearLR(ours, 0.5, 2.0),
        lambda: lr_scheduler.CosineAnnealingWarmRestarts(ours, 0), lambda: lr_scheduler.CosineAnnealingWarmRestarts(ours, 2, 0),
        lambda: lr_scheduler.CyclicLR(ours, 0.1, 0.2, mode="square"), lambda: lr_scheduler.CyclicLR(plain, 0.1, 0.2),
        lambda: lr_scheduler.CyclicLR(ours, [0.1], 0.2), lambda: lr_scheduler.OneCycleLR(ours, 0.1), lambda: lr_scheduler.OneCycleLR(ours, 0.1, 0),
        lambda: lr_scheduler.OneCycleLR(ours, 0.1, 5, pct_start=2), lambda: lr_scheduler.OneCycleLR(ours, 0.1, 5, anneal_strategy="exp"),
        lambda: lr_scheduler.OneCycleLR(plain, 0.1, 5), lambda: lr_scheduler.LambdaLR(ours, [abs]), lambda: lr_scheduler.ReduceLROnPlateau(ours, "mid"),
        lambda: lr_scheduler.ReduceLROnPlateau(ours, factor=1.0), lambda: lr_scheduler.ReduceLROnPlateau(ours, threshold_mode="both"),
        lambda: lr_scheduler.SequentialLR(ours, [lr_scheduler.StepLR(ours, 1)], [1]), lambda: lr_scheduler.ChainedScheduler([]),
        lambda: lr_scheduler.ChainedScheduler([lr_scheduler.StepLR(ours, 1), lr_scheduler.StepLR(plain, 1)]),
        lambda: lr_scheduler.StepLR(optim.SGD([nn.Parameter(ts.ones(1))]), 1, last_epoch=3),
        lambda: lr_scheduler.StepLR(ours, 0), lambda: lr_scheduler.CosineAnnealingLR(ours, 0),
        lambda: lr_scheduler.CyclicLR(ours, 0.1, 0.2, step_size_up=0),
        lambda: lr_scheduler.SequentialLR(ours, [lr_scheduler.StepLR(ours, 1) for _ in range(3)], [10, 5]),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            make()
    with pytest.raises(TypeError):
        lr_scheduler.StepLR(0.1, 1)  # type: ignore[arg-type]
    assert lr_scheduler.OneCycleLR(ours, 0.1, 10, pct_start=0.1).get_last_lr()[0] == 0.1  # a rise without length
    cycle = lr_scheduler.OneCycleLR(ours, 0.1, 2)
    cycle.step()
    cycle.step()
    with pytest.raises(ValueError, match="at most 2 steps"):
        cycle.step()


def test_the_state_of_one_cycle_is_pytorchs_and_decides_what_follows() -> None:
    ours, reference = optimizers()
    mine = lr_scheduler.OneCycleLR(ours, 0.1, total_steps=9, anneal_strategy="linear")
    theirs = torch.optim.lr_scheduler.OneCycleLR(reference, 0.1, total_steps=9, anneal_strategy="linear")
    assert mine.state_dict()["_schedule_phases"] == theirs.state_dict()["_schedule_phases"]
    for _ in range(3):
        reference.step()
        theirs.step()
    mine.load_state_dict(theirs.state_dict())
    assert mine.state_dict()["_anneal_func_type"] == "linear"
    for _ in range(4):
        reference.step()
        theirs.step()
        mine.step()
        assert mine.get_last_lr() == pytest.approx(theirs.get_last_lr())


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x: float) -> float:
        return self.factor**x


def test_the_state_of_a_cycle_has_the_attributes_of_its_scale() -> None:
    def made(factor: float, **options: Any) -> Any:
        return lr_scheduler.CyclicLR(optimizers()[0], 0.01, 0.1, 3, scale_fn=Scale(factor), cycle_momentum=False, **options)

    state = made(0.5).state_dict()
    assert state["_scale_fn_custom"] == {"factor": 0.5} and "_scale_fn" not in state
    other = made(0.9)
    other.load_state_dict(state)
    assert other.scale_fn(2) == 0.25
    plain = lr_scheduler.CyclicLR(optimizers()[0], 0.01, 0.1, 3, cycle_momentum=False)
    assert plain.state_dict()["_scale_fn_custom"] is None
    plain.load_state_dict(plain.state_dict())
    assert plain.scale_fn(2) == 1.0


def test_a_step_with_the_number_0_multiplies_after_the_first() -> None:
    optimizer = optimizers()[0]
    start = optimizer.param_groups[0]["lr"]
    schedule = lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    assert schedule.get_last_lr()[0] == start
    schedule.step(0)
    assert schedule.get_last_lr()[0] == 0.5 * start  # as PyTorch 2.15; 1.13 left it
