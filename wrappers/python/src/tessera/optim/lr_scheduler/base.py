# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The base of schedulers of learning rates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..._errors import ArgumentTypeError, InvalidArgumentError, InvalidValueError
from ..optimizer import Optimizer


class LRScheduler:
    """The base: counts steps in `last_epoch` and writes what `get_lr` gives.

    get_lr computes the rates from those of the step before, so that several schedulers can act on one optimizer; a class
    with `_closed_form` knows them from the number of the step alone, which step(epoch) uses.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1, verbose: bool = False) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(f"optimizer: expected an Optimizer, got {type(optimizer).__name__}")
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise InvalidArgumentError(f"last_epoch: expected groups with an initial_lr to resume, got none in group {index}")
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch: Any = last_epoch
        self.verbose = verbose
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        # Classes of programs look at these, and states have them: whether this is the constructor's step, and whether
        # step() calls get_lr().
        self._is_initial, self._get_lr_called_within_step = True, False
        self.step()
        self._is_initial = False

    @property
    def _begins(self) -> bool:
        """Whether this is the step of the constructor, which leaves the rates of a schedule that goes on as they are."""
        return self._step_count == 1

    @property
    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The rates that the last step set."""
        return self._last_lr

    def get_lr(self) -> list[float]:
        """The rates of this step, from those of the step before."""
        raise NotImplementedError(f"{type(self).__name__}.get_lr()")

    def _warn_of_order(self) -> None:
        """Warns at the first step of the schedule if the optimizer, where it counts, has not made one."""
        if not getattr(self.optimizer, "_stepped", True):
            text = "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first rate of the schedule is skipped"
            warnings.warn(f"{text}. Call `optimizer.step()` first.", UserWarning, stacklevel=3)

    def step(self, epoch: int | None = None) -> None:
        """Goes to the next step, or to the step with this number."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_closed_form", None)
                rates = self.get_lr() if closed is None else [closed(base) for base in self.base_lrs]
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[float]) -> None:
        for index, (group, rate) in enumerate(zip(self.optimizer.param_groups, rates)):
            group["lr"] = rate
            self.print_lr(self.verbose, index, rate)
        self._last_lr = self._rates

    def print_lr(self, is_verbose: bool, group: int, lr: float, epoch: int | None = None) -> None:
        if is_verbose:
            print(f"{type(self).__name__}: step {self.last_epoch if epoch is None else epoch}: group {group}: lr {lr:.4e}")

    def state_dict(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "verbose")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)


def for_groups(optimizer: Optimizer, value: float | Sequence[float], name: str) -> list[float]:
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count  # type: ignore[list-item]
    if len(value) != count:
        raise InvalidValueError(f"{name}: expected {count} numbers, one for each group, got {len(value)}")
    return list(value)


def is_function(value: Any) -> bool:
    """Whether a callable is a function, which is no part of a state, and no object with attributes."""
    return isinstance(value, (type(is_function), type(len))) or not hasattr(value, "__dict__")
