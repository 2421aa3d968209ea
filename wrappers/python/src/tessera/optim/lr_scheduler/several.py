# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules by results, and schedulers made of others."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from ..._errors import ArgumentTypeError, InvalidValueError, as_list
from ..optimizer import Optimizer
from .base import LRScheduler, for_groups


class ReduceLROnPlateau(LRScheduler):
    """Times factor when a measure has not become better for `patience` steps."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: float | Sequence[float] = 0.0, eps: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(f"optimizer: expected an Optimizer, got {type(optimizer).__name__}")
        if factor >= 1:
            raise InvalidValueError(f"factor: expected a number below 1, got {factor}")
        if mode not in ("min", "max"):
            raise InvalidValueError(f"mode: expected 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise InvalidValueError(f"threshold_mode: expected 'rel' or 'abs', got {threshold_mode!r}")
        self.optimizer = optimizer
        self.mode, self.factor, self.patience, self.threshold = mode, factor, patience, threshold
        self.threshold_mode, self.cooldown, self.eps, self.verbose = threshold_mode, cooldown, eps, verbose
        self.min_lrs = for_groups(optimizer, min_lr, "min_lr")
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = self._rates
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        margin = sign * self.threshold
        bound = best - margin if self.threshold_mode == "abs" else best * (1 - margin)
        return a < bound if self.mode == "min" else a > bound

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes the measure of a step: a number, or a tensor with one element."""
        measure = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(measure, self.best):
            self.best, self.num_bad_epochs = measure, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates

    def _reduce(self) -> None:
        for index, (least, group) in enumerate(zip(self.min_lrs, self.optimizer.param_groups)):
            rate = max(group["lr"] * self.factor, least)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate
                self.print_lr(self.verbose, index, rate)


class _Several(LRScheduler):
    """Schedulers of one optimizer."""

    _schedulers: list[Any]

    def _take(self, schedulers: Iterable[Any], optimizer: Optimizer | None) -> None:
        self._schedulers = as_list(schedulers, "schedulers")
        if not self._schedulers:
            raise InvalidValueError("schedulers: expected at least one, got none")
        self.optimizer = self._schedulers[0].optimizer if optimizer is None else optimizer
        if not all(s.optimizer is self.optimizer for s in self._schedulers):
            raise InvalidValueError("schedulers: expected schedulers of one optimizer, got those of others")

    def state_dict(self) -> dict[str, Any]:
        kept = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        return {**kept, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_Several):
    """One scheduler after the other: the next begins at each milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Iterable[Any], milestones: Sequence[int], last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self._take(schedulers, optimizer)
        if len(milestones) != len(self._schedulers) - 1:
            raise InvalidValueError(
                f"milestones: expected {len(self._schedulers) - 1}, one between two schedulers, got {len(milestones)}"
            )
        self._milestones = list(milestones)
        if self._milestones != sorted(self._milestones):
            raise InvalidValueError(f"milestones: expected numbers that do not fall, got {self._milestones}")
        self.last_epoch = last_epoch + 1
        # Every scheduler has taken a first step of its own: back to the rates of before, and only the first counts.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Several):
    """Several schedulers at once: each changes what the one before left."""

    def __init__(self, schedulers: Iterable[Any], optimizer: Any = None) -> None:
        self._take(schedulers, optimizer)
        self._last_lr = self._rates

    def step(self) -> None:  # type: ignore[override]
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates
