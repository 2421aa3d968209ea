# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.autograd."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

from .. import autograd as _autograd
from .._core import TensorBase
from .._errors import InvalidValueError
from ..autograd import (
    detect_anomaly,
    enable_grad,
    functional,
    gradcheck,
    gradgradcheck,
    inference_mode,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from ..autograd._function import FunctionCtx, once_differentiable
from . import _autograd_profiler as profiler
from . import _forward_ad as forward_ad
from . import _graph as graph
from ._namespace import lookup
from ._tensor import Tensor, retyped, with_tensors

__all__ = [
    "Function", "FunctionCtx", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad", "gradcheck",
    "gradgradcheck", "graph", "inference_mode", "no_grad", "once_differentiable", "profiler", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip



class _VariableMeta(type):
    """isinstance() knows every tensor; a call makes one that shares the memory of its argument."""

    def __instancecheck__(cls, given: Any) -> bool:
        return isinstance(given, TensorBase)

    def __subclasscheck__(cls, given: type) -> bool:
        return issubclass(given, TensorBase)

    def __call__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warnings.warn("volatile has no effect: use torch.no_grad()", UserWarning, stacklevel=2)
        if data is None:
            return Tensor().requires_grad_(requires_grad)
        if not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return Tensor.detach(data).requires_grad_(requires_grad)


class Variable(metaclass=_VariableMeta):
    """A tensor, as programs for the first versions of PyTorch make one."""

    _execution_engine = types.SimpleNamespace(queue_callback=graph.queue_callback)


for _name, _module in (("forward_ad", forward_ad), ("functional", functional), ("graph", graph), ("profiler", profiler)):
    sys.modules[f"{__name__}.{_name}"] = _module  # this module is no package, and programs import those


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:
    _autograd.backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: Any = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: Any = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> Any:
    if materialize_grads and allow_unused is False:
        raise InvalidValueError(
            "grad(): expected allow_unused=True, or none, with materialize_grads=True, which gives zeros for unused inputs, got False"
        )
    unused = bool(allow_unused or materialize_grads)
    inputs = list(inputs) if isinstance(inputs, Iterator) else inputs
    found = _autograd.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, unused, is_grads_batched)
    if materialize_grads:
        wanted = [inputs] if isinstance(inputs, TensorBase) else inputs
        front = _rows_of(grad_outputs) if is_grads_batched else ()
        found = tuple(given.new_zeros((*front, *given.shape)) if made is None else made for given, made in zip(wanted, found))
    return retyped(found)


def _rows_of(grad_outputs: Any) -> tuple[int, ...]:
    first = grad_outputs if isinstance(grad_outputs, Tensor) else next(g for g in grad_outputs if g is not None)
    return (int(first.shape[0]),)


class _Ctx:
    """The context of a custom function, whose saved tensors are PyTorch's."""

    def __init__(self, plain: FunctionCtx) -> None:
        object.__setattr__(self, "_plain", plain)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._plain, name)
        return retyped(found) if isinstance(found, TensorBase) or name == "saved_tensors" else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._plain, name, value)


class Function(_autograd.Function):
    """PyTorch's base of custom functions: static methods forward(ctx, ...) and backward(ctx, *grads)."""

    _zero_tangents = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        if "setup_context" in own:
            cls.setup_context = _wrapped(own["setup_context"], _with_ctx)  # type: ignore[assignment]
        if "forward" in own:
            bare = cls.setup_context is not _autograd.Function.setup_context
            cls.forward = _wrapped(own["forward"], with_tensors if bare else _with_ctx)  # type: ignore[assignment]
        if "jvp" in own:
            cls.jvp = _wrapped(own["jvp"], _with_ctx)  # type: ignore[assignment]
        if "backward" in own:
            cls.backward = _wrapped(own["backward"], _with_ctx)  # type: ignore[assignment]

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        return retyped(super().apply(*args, **kwargs))


def _with_ctx(function: Any) -> Any:
    def call(ctx: FunctionCtx, *args: Any, **kwargs: Any) -> Any:
        return function(_Ctx(ctx), *retyped(args), **kwargs)

    call._once_differentiable = getattr(function, "_once_differentiable", False)  # type: ignore[attr-defined]
    return call


def _wrapped(method: Any, wrap: Any) -> Any:
    """A method of a custom function around what PyTorch's program wrote; a class method gets the class whose apply() runs."""
    if not isinstance(method, classmethod):
        return staticmethod(wrap(method.__func__ if isinstance(method, staticmethod) else method))
    function: Any = method.__func__

    def call(owner: type, *args: Any, **kwargs: Any) -> Any:
        return wrap(function.__get__(owner))(*args, **kwargs)

    call._once_differentiable = getattr(function, "_once_differentiable", False)  # type: ignore[attr-defined]
    return classmethod(call)


def _part(name: str, **names: Any) -> types.ModuleType:
    """A module of PyTorch's package, with some of its names."""
    part = types.ModuleType(f"{__name__}.{name}")
    vars(part).update(names)
    sys.modules[part.__name__] = part
    return part


function = _part("function", Function=Function, FunctionCtx=FunctionCtx, once_differentiable=once_differentiable)
grad_mode = _part(
    "grad_mode", enable_grad=enable_grad, inference_mode=inference_mode, no_grad=no_grad, set_grad_enabled=set_grad_enabled
)
anomaly_mode = _part("anomaly_mode", detect_anomaly=detect_anomaly, set_detect_anomaly=set_detect_anomaly)
variable = _part("variable", Variable=Variable)

__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
