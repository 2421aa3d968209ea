# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers with differentiable=True: a step that is part of a graph, so that what is computed afterwards has gradients
towards gradients, states and options such as the learning rate. The parameters are computed tensors, which the step writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tessera.optim import optimizer as _plain

from ... import _ops
from ..._core import TensorBase
from ..._dtypes import float32
from ..._errors import DTypeError
from ..._modes import set_grad_enabled
from .._tensor import made

Group = dict[str, Any]
State = dict[str, Any]
Update = Callable[[Any, Any, State, Group], Any]  # the parameter, its gradient, its state, the options; gives the new parameter


def _number(value: Any) -> Any:
    return made(_ops.full((), float(value), dtype=float32))


def _begin(state: State, p: Any, *names: str, **values: Any) -> float:
    """The number of this step; the first one makes the states: zeros of the parameter's form, or what is given."""
    if "step" not in state:
        state["step"] = _number(0)
        state.update({name: _ops.zeros_like(p.detach()) for name in names})
        state.update(values)
    state["step"] = state["step"] + 1
    return float(state["step"])


def _decayed(p: Any, d: Any, g: Group) -> tuple[Any, Any]:
    """The parameter and its gradient with the decay of weights in one of them."""
    decay = g["weight_decay"]
    if g.get("decoupled_weight_decay"):
        return p * (1 - g["lr"] * decay), d
    return p, (d + p * decay if isinstance(decay, TensorBase) or decay else d)


def _moments(d: Any, s: State, g: Group) -> tuple[Any, Any]:
    first, second = g["betas"]
    s["exp_avg"] = s["exp_avg"] + (d - s["exp_avg"]) * (1 - first)
    s["exp_avg_sq"] = s["exp_avg_sq"] * second + d * d * (1 - second)
    return s["exp_avg"], s["exp_avg_sq"]


def _sgd(p: Any, d: Any, s: State, g: Group) -> Any:
    p, d = _decayed(p, d, g)
    if g["momentum"]:
        known = s.get("momentum_buffer")
        # The first gradient is a constant there, as in PyTorch.
        buffer = d.detach().clone() if known is None else known * g["momentum"] + d * (1 - g["dampening"])
        s["momentum_buffer"] = buffer
        d = d + buffer * g["momentum"] if g["nesterov"] else buffer
    return p - d * g["lr"]


def _adam(p: Any, d: Any, s: State, g: Group) -> Any:
    t = _begin(s, p, "exp_avg", "exp_avg_sq", *["max_exp_avg_sq"] * bool(g["amsgrad"]))
    p, d = _decayed(p, d, g)
    mean, square = _moments(d, s, g)
    if g["amsgrad"]:
        square = s["max_exp_avg_sq"] = _ops.maximum(s["max_exp_avg_sq"], square)
    first, second = g["betas"]
    size = _ops.sqrt(square) / (1 - second**t) ** 0.5 + g["eps"]
    return p - mean / size * (g["lr"] / (1 - first**t))


def _rmsprop(p: Any, d: Any, s: State, g: Group) -> Any:
    _begin(s, p, "square_avg", *["momentum_buffer"] * (g["momentum"] > 0), *["grad_avg"] * bool(g["centered"]))
    p, d = _decayed(p, d, g)
    square = s["square_avg"] = s["square_avg"] * g["alpha"] + d * d * (1 - g["alpha"])
    if g["centered"]:
        mean = s["grad_avg"] = s["grad_avg"] + (d - s["grad_avg"]) * (1 - g["alpha"])
        square = square - mean * mean
    step = d / (_ops.sqrt(square) + g["eps"])
    if g["momentum"] > 0:
        step = s["momentum_buffer"] = s["momentum_buffer"] * g["momentum"] + step
    return p - step * g["lr"]


def _adagrad(p: Any, d: Any, s: State, g: Group) -> Any:
    t = _begin(s, p, sum=_ops.full_like(p.detach(), g["initial_accumulator_value"]))
    p, d = _decayed(p, d, g)
    s["sum"] = s["sum"] + d * d
    return p - d / (_ops.sqrt(s["sum"]) + g["eps"]) * (g["lr"] / (1 + (t - 1) * g["lr_decay"]))


def _adadelta(p: Any, d: Any, s: State, g: Group) -> Any:
    _begin(s, p, "square_avg", "acc_delta")
    p, d = _decayed(p, d, g)
    s["square_avg"] = s["square_avg"] * g["rho"] + d * d * (1 - g["rho"])
    delta = _ops.sqrt(s["acc_delta"] + g["eps"]) / _ops.sqrt(s["square_avg"] + g["eps"]) * d
    s["acc_delta"] = s["acc_delta"] * g["rho"] + delta * delta * (1 - g["rho"])
    return p - delta * g["lr"]


def _adamax(p: Any, d: Any, s: State, g: Group) -> Any:
    t = _begin(s, p, "exp_avg", "exp_inf")
    p, d = _decayed(p, d, g)
    first, second = g["betas"]
    s["exp_avg"] = s["exp_avg"] + (d - s["exp_avg"]) * (1 - first)
    s["exp_inf"] = _ops.amax(_ops.stack([s["exp_inf"] * second, _ops.abs(d) + g["eps"]], 0), 0)  # equal ones share the gradient
    return p - s["exp_avg"] / s["exp_inf"] * (g["lr"] / (1 - first**t))


def _nadam(p: Any, d: Any, s: State, g: Group) -> Any:
    t = _begin(s, p, "exp_avg", "exp_avg_sq", mu_product=_number(1))
    p, d = _decayed(p, d, g)
    first, second = g["betas"]
    now, later = (first * (1 - 0.5 * 0.96 ** (n * g["momentum_decay"])) for n in (t, t + 1))
    product = s["mu_product"] = s["mu_product"] * now
    mean, square = _moments(d, s, g)
    size = _ops.sqrt(square / (1 - second**t)) + g["eps"]
    p = p - d * (g["lr"] * (1 - now) / (1 - product)) / size
    return p - mean * (g["lr"] * later / (1 - product * later)) / size


def _radam(p: Any, d: Any, s: State, g: Group) -> Any:
    t = _begin(s, p, "exp_avg", "exp_avg_sq")
    p, d = _decayed(p, d, g)
    mean, square = _moments(d, s, g)
    first, second = g["betas"]
    step = mean / (1 - first**t) * g["lr"]
    most = 2 / (1 - second) - 1
    length = most - 2 * t * second**t / (1 - second**t)
    if length > 5:
        share = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
        step = step * ((1 - second**t) ** 0.5 / (_ops.sqrt(square) + g["eps"])) * share**0.5
    return p - step


def _asgd(p: Any, d: Any, s: State, g: Group) -> Any:
    t = _begin(s, p, "ax", eta=_number(g["lr"]), mu=_number(1))
    p, d = _decayed(p, d, g)
    eta, mu = float(s["eta"]), float(s["mu"])
    p = p * (1 - g["lambd"] * eta) - d * eta
    s["ax"] = p if mu == 1 else s["ax"] + (p - s["ax"]) * mu
    s["eta"] = _number(g["lr"] / (1 + g["lambd"] * g["lr"] * t) ** g["alpha"])
    s["mu"] = _number(1 / max(1.0, t - g["t0"]))
    return p


def _rprop(p: Any, d: Any, s: State, g: Group) -> Any:
    _begin(s, p, "prev", step_size=_ops.full_like(p.detach(), float(g["lr"])))
    (less, more), sign = g["etas"], _ops.sign(d * s["prev"]).detach()
    turned = _ops.less(sign, 0)
    factor = _ops.where(_ops.greater(sign, 0), more, _ops.where(turned, less, 1.0))
    s["step_size"] = _ops.hardtanh(s["step_size"] * factor, *map(float, g["step_sizes"]))
    d = s["prev"] = _ops.where(turned, 0.0, d)
    return p - _ops.sign(d) * s["step_size"]


UPDATES: dict[str, Update] = {
    "SGD": _sgd, "Adam": _adam, "AdamW": _adam, "RMSprop": _rmsprop, "Adagrad": _adagrad, "Adadelta": _adadelta,
    "Adamax": _adamax, "NAdam": _nadam, "RAdam": _radam, "ASGD": _asgd, "Rprop": _rprop,
}  # fmt: skip


class Differentiable:
    """What a class of torch.optim has instead of the library's optimizer where it is differentiable."""

    _own_step = True  # the state is here
    _takes_computed = True  # also tensors that are no leaves
    _update: Update
    param_groups: list[Group]
    state: Any

    def _add(self, group: Group) -> None:
        """Nothing: the library need not know the parameters."""

    def _tell(self) -> None:
        """Nothing, either."""

    def _core_entries(self) -> list[Any]:
        return []

    def zero_grad(self, set_to_none: bool = True) -> None:
        _plain.Optimizer.zero_grad(self, set_to_none)  # type: ignore[arg-type]

    def step(self, closure: Any = None) -> Any:
        """Writes the new parameters into the given ones, as an operation that can be differentiated."""
        loss = _plain.Optimizer._loss(closure)
        with set_grad_enabled(True):
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._write(parameter, group)
        return loss

    def _write(self, parameter: Any, group: Group) -> None:
        if not parameter.dtype.is_floating_point:
            raise DTypeError(f"{type(self).__name__}: differentiable: expected real parameters, got {parameter.dtype}")
        before = parameter.clone()  # the step reads it after it is written
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        parameter.copy_(type(self)._update(before, gradient, self.state[parameter], group))

    def _load(self, groups: Any, entries: Any) -> None:
        own: Any = defaultdict(dict)
        own.update({parameter: _plain.copied(entry) for parameter, entry in entries.items()})
        self._own_state = own


def number_or_tensor(value: Any) -> Any:
    """An option as the library checks it."""
    if isinstance(value, tuple):
        return tuple(map(number_or_tensor, value))
    return float(value.detach()) if isinstance(value, TensorBase) else value


def has_tensors(value: Any) -> bool:
    return isinstance(value, TensorBase) or (isinstance(value, tuple) and any(map(has_tensors, value)))


__all__ = ["UPDATES", "Differentiable", "has_tensors", "number_or_tensor"]
