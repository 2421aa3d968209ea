# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules that go up and down: cosines, triangles and one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..._errors import InvalidArgumentError, InvalidValueError
from ..optimizer import Group, Optimizer
from .base import LRScheduler, for_groups, is_function


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to eta_min in T_max steps, and back (Loshchilov and Hutter, "SGDR", 2017)."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if T_max <= 0:
            raise InvalidValueError(f"T_max: expected a number above 0, got {T_max}")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if self._begins:
            return self._rates
        before = 1 + math.cos(math.pi * (step - 1) / self.T_max)
        if (step - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the bottom the quotient below is 0 / 0
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - self.eta_min) * rise for base, rate in zip(self.base_lrs, self._rates)]
        factor = (1 + math.cos(math.pi * step / self.T_max)) / before
        return [factor * (rate - self.eta_min) + self.eta_min for rate in self._rates]

    def _closed_form(self, base: float) -> float:
        wave = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (base - self.eta_min) * wave


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine in T_0 steps, then again in T_mult times as many, and so on. step() may name a fraction of a step."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise InvalidValueError(f"T_0: expected a whole number above 0, got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise InvalidValueError(f"T_mult: expected a whole number of at least 1, got {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i, self.T_cur = T_0, last_epoch
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> list[float]:
        wave = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * wave for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        if epoch is not None and epoch < 0:
            raise InvalidValueError(f"epoch: expected a number of at least 0, got {epoch}")
        self._step_count += 1
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._jump(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())

    def _jump(self, epoch: float) -> None:
        """The place of a step in its period, and the length of that."""
        begin, self.T_i = 0, self.T_0
        if self.T_mult == 1:
            begin = int(epoch // self.T_0) * self.T_0
        else:
            while epoch >= begin + self.T_i:
                begin += self.T_i
                self.T_i *= self.T_mult
        self.T_cur = epoch - begin  # type: ignore[assignment]


class _Momentum(LRScheduler):
    """A schedule that also moves the momentum, or the first of two betas."""

    cycle_momentum: bool

    def _check_momentum(self) -> None:
        defaults = self.optimizer.defaults
        if self.cycle_momentum and "momentum" not in defaults and "betas" not in defaults:
            raise InvalidValueError("cycle_momentum: expected an optimizer with momentum or betas, got neither")

    @staticmethod
    def _set_momentum(group: Group, momentum: float) -> None:
        if "betas" in group:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_Momentum):
    """Triangles between base_lr and max_lr, with falling tops if wanted; the momentum goes the other way (Smith,
    "Cyclical learning rates for training neural networks", 2017)."""

    def __init__(
        self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float],
        step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8, max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.optimizer = optimizer
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise InvalidValueError(f"mode: expected 'triangular', 'triangular2' or 'exp_range', got {mode!r}")
        if last_epoch == -1:
            for rate, group in zip(for_groups(optimizer, base_lr, "base_lr"), optimizer.param_groups):
                group["lr"] = rate
        self.max_lrs = for_groups(optimizer, max_lr, "max_lr")
        if step_size_up <= 0:
            raise InvalidValueError(f"step_size_up: expected a number above 0, got {step_size_up}")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self.cycle_momentum = mode, gamma, cycle_momentum
        self._scale_fn = scale_fn
        self.scale_mode = ("iterations" if mode == "exp_range" else "cycle") if scale_fn is None else scale_mode
        self._check_momentum()
        self.base_momentums = for_groups(optimizer, base_momentum, "base_momentum")
        self.max_momentums = for_groups(optimizer, max_momentum, "max_momentum")
        if cycle_momentum and last_epoch == -1:
            for momentum, group in zip(self.max_momentums, optimizer.param_groups):
                self._set_momentum(group, momentum)
        super().__init__(optimizer, last_epoch, verbose)
        self.base_lrs = for_groups(optimizer, base_lr, "base_lr")

    def scale_fn(self, x: float) -> float:
        """What the height of a triangle is multiplied by: of its number, or of the step."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular2":
            return float(1 / 2.0 ** (x - 1))
        return float(self.gamma**x) if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        height = place / self.step_ratio if place <= self.step_ratio else (place - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                self._set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        kept = super().state_dict()
        scale = kept.pop("_scale_fn")  # as PyTorch saves it: the attributes of an object, nothing of a function
        kept["_scale_fn_custom"] = None if scale is None or is_function(scale) else dict(scale.__dict__)
        return kept

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        kept = dict(state_dict)
        attributes = kept.pop("_scale_fn_custom", None)
        super().load_state_dict(kept)
        if attributes is not None and self._scale_fn is not None:
            self._scale_fn.__dict__.update(attributes)


class OneCycleLR(_Momentum):
    """One rise from max_lr / div_factor to max_lr and a fall to 1 / final_div_factor of the start (Smith and Topin,
    "Super-convergence", 2018); the momentum goes the other way."""

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1, verbose: bool = False,
    ) -> None:
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1:
            raise InvalidValueError(f"pct_start: expected a number in [0, 1], got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise InvalidValueError(f"anneal_strategy: expected 'cos' or 'linear', got {anneal_strategy!r}")
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._check_momentum()
        if cycle_momentum:
            self.use_beta1 = "betas" in optimizer.defaults
        if last_epoch == -1:
            low = for_groups(optimizer, base_momentum, "base_momentum")
            high = for_groups(optimizer, max_momentum, "max_momentum")
            for index, (rate, group) in enumerate(zip(for_groups(optimizer, max_lr, "max_lr"), optimizer.param_groups)):
                start = rate / div_factor
                group.update(initial_lr=start, max_lr=rate, min_lr=start / final_div_factor)
                if cycle_momentum:
                    self._set_momentum(group, high[index])
                    group.update(max_momentum=high[index], base_momentum=low[index])
        super().__init__(optimizer, last_epoch, verbose)

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise InvalidValueError(f"OneCycleLR: expected at most {self.total_steps} steps, got {step}")
        begin = 0.0
        for number, phase in enumerate(self._schedule_phases):  # noqa: B007
            end = phase["end_step"]
            if step <= end or number + 1 == len(self._schedule_phases):
                break
            begin = end
        share = (step - begin) / (end - begin) if end > begin else 1.0  # a phase without length is at its end
        found = []
        for group in self.optimizer.param_groups:
            found.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                between = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*between, share))
        return found


# The last step, and the options between which rate and momentum go: with PyTorch's names, because they are saved.
Phase = dict[str, Any]


def _phase(end: float, lr: tuple[str, str], momentum: tuple[str, str]) -> Phase:
    names = {"start_lr": lr[0], "end_lr": lr[1], "start_momentum": momentum[0], "end_momentum": momentum[1]}
    return {"end_step": end, **names}


def _phases(total: int, pct_start: float, three: bool) -> list[Phase]:
    top = float(pct_start * total) - 1
    rise = _phase(top, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
    if not three:
        return [rise, _phase(total - 1, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))]
    fall = _phase(2 * top, ("max_lr", "initial_lr"), ("base_momentum", "max_momentum"))
    return [rise, fall, _phase(total - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))]


def _total_steps(total: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total is None:
        if epochs is None or steps_per_epoch is None:
            raise InvalidArgumentError("OneCycleLR: expected total_steps, or epochs and steps_per_epoch")
        total = epochs * steps_per_epoch
    if not isinstance(total, int) or total <= 0:
        raise InvalidValueError(f"OneCycleLR: expected a whole number of steps above 0, got {total}")
    return total
