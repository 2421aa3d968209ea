# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers with few or no parameters: activations, reshaping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .._modes import no_grad
from .._errors import InvalidValueError, as_list, as_number
from .._ops import empty
from .._tensor import Tensor
from . import functional as F
from .module import Module
from .parameter import Parameter


class ReLU(Module):
    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return input.relu_() if self.inplace else F.relu(input)


class LeakyReLU(Module):
    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}"


class GELU(Module):
    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class SiLU(Module):
    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input)


class _Settings(Module):
    """An activation with settings, which are attributes of their names; `inplace` writes into the input."""

    _function: ClassVar[str]  # classes that programs derive from one of these have its function

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if _Settings in cls.__bases__:
            cls._function = cls.__name__.lower()

    def __init__(self, inplace: bool = False, **settings: Any) -> None:
        super().__init__()
        self.inplace = inplace
        self._settings = tuple(settings)
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, input: Tensor) -> Tensor:
        settings = {name: getattr(self, name) for name in self._settings}
        result: Tensor = getattr(F, self._function + "_" * self.inplace)(input, **settings)
        return result

    def extra_repr(self) -> str:
        words = [f"{name}={getattr(self, name)}" for name in self._settings]
        return ", ".join(words + ["inplace=True"] * self.inplace)


class ELU(_Settings):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace, alpha=alpha)


class CELU(_Settings):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace, alpha=alpha)


class SELU(_Settings):
    """ELU with the scales that keep mean 0 and variance 1."""


class Mish(_Settings):
    """x tanh(softplus(x))."""


class Hardswish(_Settings):
    """x relu6(x + 3) / 6."""


class Hardsigmoid(_Settings):
    """relu6(x + 3) / 6."""


class ReLU6(_Settings):
    """The input limited to [0, 6]."""


class Hardtanh(_Settings):
    """The input limited to [min_val, max_val]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        min_val, max_val = as_number(min_val, "min_val"), as_number(max_val, "max_val")
        if min_val >= max_val:
            raise InvalidValueError(f"max_val: expected more than min_val = {min_val}, got {max_val}")
        super().__init__(inplace, min_val=min_val, max_val=max_val)


class Threshold(_Settings):
    """x above the threshold, else the value."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace, threshold=threshold, value=value)


class RReLU(Module):
    """x, and left of 0 x times a slope: random in [lower, upper] in training, else their mean."""

    def __init__(self, lower: float = 0.125, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + ", inplace=True" * self.inplace


class Softplus(_Settings):
    """log(1 + exp(beta x)) / beta, and x where beta x is above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class Softshrink(_Settings):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Hardshrink(_Settings):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Softsign(Module):
    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class LogSigmoid(Module):
    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class PReLU(Module):
    """x right of 0, weight x elsewhere; the weight is one number, or one per channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, as_number(init, "init")
        self.weight = Parameter(empty((num_parameters,), device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to its first value."""
        with no_grad():
            self.weight.fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class GLU(Module):
    """a sigmoid(b) for the halves a and b of the input along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"


class Softmin(Module):
    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"


class Sigmoid(Module):
    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class Tanh(Module):
    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class Softmax(Module):
    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.axis)


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise InvalidValueError(f"Softmax2d: expected (N, C, H, W) or (C, H, W), got shape {input.shape}")
        return F.softmax(input, -3)


class LogSoftmax(Module):
    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.axis)


class Flatten(Module):
    """Joins the axes from start to end into one."""

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_axis, self.end_axis)


class Unflatten(Module):
    """Divides an axis into axes of these sizes, of which one may be -1."""

    def __init__(self, axis: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.axis, self.unflattened_size = axis, tuple(as_list(unflattened_size, "unflattened_size"))

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.axis, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"axis={self.axis}, unflattened_size={self.unflattened_size}"


class Identity(Module):
    def forward(self, input: Tensor) -> Tensor:
        return input
