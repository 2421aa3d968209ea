# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights that are computed from other parameters before each call: weight and spectral normalisation."""

from __future__ import annotations

from typing import Any, TypeVar

from .. import _ops
from .._errors import ArgumentTypeError, InvalidArgumentError, InvalidValueError
from .._tensor import Tensor
from .._modes import no_grad
from .conv import ConvTranspose2d
from .module import Module, RemovableHandle
from .parameter import Parameter

M = TypeVar("M", bound=Module)


class _Computed:
    """A hook that sets an attribute of a module before each call."""

    handle: RemovableHandle

    def __init__(self, name: str) -> None:
        self.name = name

    def compute(self, module: Module) -> Tensor:
        raise NotImplementedError

    def attach(self, module: Module) -> None:
        self.handle = module.register_forward_pre_hook(self)
        object.__setattr__(module, self.name, self.compute(module))

    def __call__(self, module: Module, _: Any) -> None:
        object.__setattr__(module, self.name, self.compute(module))

    def detach(self, module: Module, parts: tuple[str, ...]) -> None:
        """Ends the computation: the attribute is a parameter of its last value again."""
        with no_grad():
            value = self.compute(module).detach()
        self.handle.remove()
        object.__delattr__(module, self.name)
        for part in parts:
            delattr(module, f"{self.name}_{part}")
        module.register_parameter(self.name, Parameter(value))


def _taken(module: Module, name: str) -> Parameter:
    """The parameter that is to be computed, which the module loses."""
    if not isinstance(module, Module):
        raise ArgumentTypeError(f"module: expected a Module, got {type(module).__name__}")
    if not isinstance(name, str) or not isinstance(module._parameters.get(name), Parameter):
        raise InvalidValueError(f"name: expected a parameter of {type(module).__name__}, got {name!r}")
    parameter: Parameter = module._parameters[name]
    del module._parameters[name]
    return parameter


def _hook(module: Module, name: str, kind: type[_Computed]) -> Any:
    for hook in getattr(module, "_pre_hooks", {}).values():
        if isinstance(hook, kind) and hook.name == name:
            return hook
    raise InvalidArgumentError(f"name: expected a parameter that {kind.__name__.strip('_')} computes, got {name!r}")


# ---- weight normalisation ----


class _WeightNorm(_Computed):
    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = dim

    def length(self, direction: Tensor) -> Tensor:
        """The norm over all axes but one; without one over all."""
        if self.dim is None:
            return _ops.vector_norm(direction)
        kept = self.dim % direction.ndim
        return _ops.vector_norm(direction, tuple(a for a in range(direction.ndim) if a != kept), keepdims=True)

    def compute(self, module: Module) -> Tensor:
        size: Tensor = getattr(module, f"{self.name}_g")
        direction: Tensor = getattr(module, f"{self.name}_v")
        return direction * (size / self.length(direction))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Splits a weight into its size `<name>_g`, one number along an axis, and its direction `<name>_v` (Salimans and
    Kingma, "Weight normalization", 2016)."""
    weight = _taken(module, name)
    hook = _WeightNorm(name, dim)
    module.register_parameter(f"{name}_g", Parameter(hook.length(weight.detach())))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    hook.attach(module)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes a weight of weight_norm a parameter again."""
    _hook(module, name, _WeightNorm).detach(module, ("g", "v"))
    return module


# ---- spectral normalisation ----


class _SpectralNorm(_Computed):
    def __init__(self, name: str, iterations: int, eps: float, dim: int) -> None:
        super().__init__(name)
        self.iterations, self.eps, self.dim = iterations, eps, dim

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight with one axis as rows and all others as columns."""
        return _ops.reshape(_ops.moveaxis(weight, self.dim, 0), (weight.shape[self.dim], -1))

    def unit(self, vector: Tensor) -> Tensor:
        return vector / _ops.clip(_ops.vector_norm(vector), self.eps)

    def iterate(self, matrix: Tensor, u: Tensor, v: Tensor, count: int) -> None:
        """Power iteration towards the first pair of singular vectors, in place."""
        with no_grad():
            for _ in range(count):
                v.copy_(self.unit(_ops.matmul(u, matrix)))
                u.copy_(self.unit(_ops.matmul(matrix, v)))

    def compute(self, module: Module) -> Tensor:
        weight: Tensor = getattr(module, f"{self.name}_orig")
        u, v = (getattr(module, f"{self.name}_{side}") for side in "uv")
        matrix = self.matrix(weight)
        if module.training:
            self.iterate(matrix.detach(), u, v, self.iterations)
            u, v = u.clone(), v.clone()  # the next call changes them before the backward of this one
        return weight / _ops.sum(u * _ops.matmul(matrix, v))


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divides a weight by its largest singular value, which each call in training approximates further (Miyato and
    others, "Spectral normalization for generative adversarial networks", 2018)."""
    if not isinstance(n_power_iterations, int) or n_power_iterations < 1:
        raise InvalidValueError(f"n_power_iterations: expected a whole number above 0, got {n_power_iterations}")
    weight = _taken(module, name)
    rows = (1 if isinstance(module, ConvTranspose2d) else 0) if dim is None else dim
    hook = _SpectralNorm(name, n_power_iterations, eps, rows)
    matrix = hook.matrix(weight.detach())
    sides = [hook.unit(_ops.randn((n,), dtype=weight.dtype, device=weight.device)) for n in matrix.shape]
    hook.iterate(matrix, sides[0], sides[1], 15)
    module.register_parameter(f"{name}_orig", weight)
    for side, vector in zip("uv", sides):
        module.register_buffer(f"{name}_{side}", vector)
    hook.attach(module)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Makes a weight of spectral_norm a parameter again."""
    hook = _hook(module, name, _SpectralNorm)
    training, module.training = module.training, False
    try:
        hook.detach(module, ("orig", "u", "v"))
    finally:
        module.training = training
    return module
