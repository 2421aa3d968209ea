# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules that multiply the learning rate: by functions, in steps, along lines and powers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

from ..._errors import InvalidValueError, as_list
from ..optimizer import Optimizer
from .base import LRScheduler, is_function

Factor = Callable[[int], float]
Factors = Union[Factor, Sequence[Factor]]


class _Functions(LRScheduler):
    """A function of the step for each group. Functions are not part of the state; the attributes of objects are."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factors, last_epoch: int = -1, verbose: bool = False) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas: list[Any] = [lr_lambda] * count if callable(lr_lambda) else as_list(lr_lambda, "lr_lambda")
        if len(self.lr_lambdas) != count:
            raise InvalidValueError(f"lr_lambda: expected {count} functions, one for each group, got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch, verbose)

    def state_dict(self) -> dict[str, Any]:
        kept = {key: value for key, value in super().state_dict().items() if key != "lr_lambdas"}
        kept["lr_lambdas"] = [None if is_function(f) else dict(f.__dict__) for f in self.lr_lambdas]
        return kept

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(_Functions):
    """The initial rate times a function of the step."""

    def get_lr(self) -> list[float]:
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_Functions):
    """The rate before times a function of the step."""

    def get_lr(self) -> list[float]:
        if self._begins:
            return self._rates
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self._rates)]


class StepLR(LRScheduler):
    """Times gamma every step_size steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if step_size <= 0:
            raise InvalidValueError(f"step_size: expected a number above 0, got {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> list[float]:
        falls = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if falls else rate for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        return float(base * self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(LRScheduler):
    """Times gamma at each of the milestones."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> list[float]:
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return float(base * self.gamma**passed)


class ConstantLR(LRScheduler):
    """Times factor until step total_iters."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if not 0 <= factor <= 1:
            raise InvalidValueError(f"factor: expected a number in [0, 1], got {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> list[float]:
        factor = self.factor if self.last_epoch == 0 else 1.0
        if self.last_epoch == self.total_iters != 0:
            factor = 1.0 / self.factor
        return [rate * factor for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        return base * (1.0 if self.last_epoch >= self.total_iters else self.factor)


class LinearLR(LRScheduler):
    """Times a factor that goes from start_factor to end_factor in total_iters steps."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise InvalidValueError(f"start_factor: expected a number in (0, 1], got {start_factor}")
        if not 0 <= end_factor <= 1:
            raise InvalidValueError(f"end_factor: expected a number in [0, 1], got {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self, step: int) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, step) / self.total_iters

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates]
        if self._begins or self.last_epoch > self.total_iters:
            return self._rates
        factor = self._factor(self.last_epoch) / self._factor(self.last_epoch - 1)
        return [rate * factor for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        return base * self._factor(self.last_epoch)


class ExponentialLR(LRScheduler):
    """Times gamma at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> list[float]:
        return self._rates if self._begins else [rate * self.gamma for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        return float(base * self.gamma**self.last_epoch)


class PolynomialLR(LRScheduler):
    """Falls as (1 - step / total_iters)^power to 0."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self, step: int) -> float:
        return float((1.0 - min(self.total_iters, step) / self.total_iters) ** self.power)

    def get_lr(self) -> list[float]:
        if self._begins or self.last_epoch > self.total_iters:
            return self._rates
        factor = self._factor(self.last_epoch) / self._factor(self.last_epoch - 1)
        return [rate * factor for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        return base * self._factor(self.last_epoch)
