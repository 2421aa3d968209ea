# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.parameter: parameters and buffers, also those whose shape the first input tells, and the base of modules that
have such."""

from __future__ import annotations

from typing import Any, NoReturn

from ... import _ops
from ..._core import TensorBase
from ...nn.lazy import _Lazy
from .._tensor import Tensor
from ._module import Buffer, Parameter


class UninitializedTensorMixin:
    """A tensor without a shape until `materialize()` gives it one; then it is of the class `cls_to_become`."""

    __slots__ = ()
    _keeps_class = False
    cls_to_become: Any

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives the tensor memory of this shape. The values mean nothing."""
        self.data = _ops.empty(tuple(shape), dtype=dtype or self.dtype, device=device or self.device)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> NoReturn:
        raise RuntimeError("the shape of an uninitialized parameter or buffer is not known yet: call materialize(), or the module")

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("an uninitialized parameter has no elements yet: call the module with an input first")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __format__(self, spec: str) -> str:
        return repr(self)


for _name in ("numel", "size", "dim", "__len__", "__iter__", "__getitem__", "share_memory_"):
    setattr(UninitializedTensorMixin, _name, UninitializedTensorMixin._refuse)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        made = TensorBase.__new__(cls, _ops.empty((0,), dtype=dtype, device=device))
        made.requires_grad = requires_grad
        return made

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        made = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (type(self), (self.requires_grad, str(self.device), self.dtype))


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet."""

    persistent: bool

    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        made = TensorBase.__new__(cls, _ops.empty((0,), dtype=dtype, device=device))
        made.requires_grad = requires_grad
        made.persistent = persistent
        return made

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        made = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype, self.persistent)
        return made


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


# ---- modules ----


def has_uninitialized(module: Any) -> bool:
    return any(map(is_lazy, (*module._parameters.values(), *module._buffers.values())))


class LazyModuleMixin:
    """A base, before Module, of modules that `initialize_parameters()` completes with the arguments of the first call."""

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)
        self._load_hook = self.register_load_state_dict_pre_hook(self._lazy_load_hook)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the uninitialized parameters their shapes."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        return has_uninitialized(self)

    def _lazy_load_hook(self: Any, module: Any, state_dict: Any, prefix: str, *_: Any) -> None:
        for table in (self._parameters, self._buffers):
            for name, value in table.items():
                given = state_dict.get(prefix + name)
                if is_lazy(value) and given is not None and not is_lazy(given):
                    value.materialize(given.shape)

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any) -> None:
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"{type(self).__name__}: initialize_parameters() left parameters uninitialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


def begin(layer: Any) -> None:
    """Makes the parameters and running statistics of a new lazy layer of the library uninitialized."""
    for parameter in layer._parameters.values():
        if parameter is not None:
            parameter.__class__ = UninitializedParameter
    for name in layer._statistics_of_features:
        old = layer._buffers.get(name)
        if old is not None:
            layer._buffers[name] = UninitializedBuffer(device=old.device, dtype=old.dtype)


def finish(layer: Any) -> None:
    """Makes what has a shape now of its ordinary class again."""
    for value in (*layer._parameters.values(), *layer._buffers.values()):
        if is_lazy(value):
            value.__class__ = value.cls_to_become


def load_begins(module: Any, state_dict: Any) -> None:
    """Completes the lazy layers of which the state has the tensors."""
    for path, part in module._paths(""):
        if isinstance(part, _Lazy):
            head = f"{path}." if path else ""
            own = {name: state_dict[head + name] for name in ("weight", "running_mean") if head + name in state_dict}
            if part._complete_for({name: tuple(value.shape) for name, value in own.items() if not is_lazy(value)}):
                finish(part)


__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
