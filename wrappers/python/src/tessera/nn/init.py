# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Initial values of parameters, in place."""

from __future__ import annotations

import math
from collections.abc import Callable

from .._errors import ArgumentTypeError, InvalidValueError, as_number
from .._random import Generator
from .._tensor import Tensor
from .._modes import no_grad

_PLAIN = ("linear", "sigmoid", *(f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)))
_GAINS = {**dict.fromkeys(_PLAIN, 1.0), "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0) / math.hypot(1.0, 0.01 if param is None else as_number(param, "param"))
    if not isinstance(nonlinearity, str) or nonlinearity not in _GAINS:
        raise InvalidValueError(f"unknown nonlinearity {nonlinearity!r}; one of {', '.join(_GAINS)}, leaky_relu")
    return _GAINS[nonlinearity]


def _checked(tensor: Tensor) -> Tensor:
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(f"tensor: expected a tensor, got {type(tensor).__name__}")
    return tensor


def fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The number of inputs of one output of a weight, and of outputs of one input."""
    if _checked(tensor).ndim < 2:
        raise InvalidValueError(f"fan in and out need at least 2 axes, got shape {tensor.shape}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _counted(fan: int) -> int:
    """A fan as a divisor: 1 for 0, because a weight without elements needs no value."""
    return max(fan, 1)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    with no_grad():
        return _checked(tensor).uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    with no_grad():
        return _checked(tensor).normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Generator | None = None
) -> Tensor:
    with no_grad():
        return _checked(tensor).trunc_normal_(mean, std, a, b, generator=generator)


def constant_(tensor: Tensor, value: float) -> Tensor:
    with no_grad():
        return _checked(tensor).fill_(value)


def zeros_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity, of two axes."""
    with no_grad():
        return _checked(tensor).eye_()


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution (3 to 5 axes) that gives back its input channels, in each group."""
    with no_grad():
        return _checked(tensor).dirac_(groups)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Random orthonormal rows or columns, whichever are fewer, times gain (Saxe and others, "Exact solutions to the
    nonlinear dynamics of learning in deep linear neural networks", 2014)."""
    with no_grad():
        return _checked(tensor).orthogonal_(gain, generator=generator)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal numbers of which a share in each column is 0 (Martens, "Deep learning via Hessian-free optimization",
    2010)."""
    with no_grad():
        return _checked(tensor).sparse_(sparsity, std, generator=generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    bound = as_number(gain, "gain") * math.sqrt(6.0 / _counted(sum(fan_in_and_fan_out(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    return normal_(tensor, 0.0, as_number(gain, "gain") * math.sqrt(2.0 / _counted(sum(fan_in_and_fan_out(tensor)))), generator)


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if not isinstance(mode, str) or mode not in ("fan_in", "fan_out"):
        raise InvalidValueError(f"mode: expected 'fan_in' or 'fan_out', got {mode!r}")
    return calculate_gain(nonlinearity, a) / math.sqrt(_counted(fan_in_and_fan_out(tensor)[mode == "fan_out"]))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


Initializer = Callable[[Tensor], Tensor]
