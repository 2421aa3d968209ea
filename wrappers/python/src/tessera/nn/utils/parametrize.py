# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that are functions of others: a layer reads `weight`, and gets parametrization(original)."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from ..._core import TensorBase
from ..._errors import ArgumentTypeError, InvalidValueError, ShapeError
from ..._modes import no_grad
from ..._tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip


class _Cache(threading.local):
    """The computed tensors of a thread inside cached() blocks, by the id of their list."""

    depth = 0

    def __init__(self) -> None:
        self.found: dict[int, tuple[Any, Any]] = {}


_cache = _Cache()


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Parametrized tensors are computed once in the block, not at each use. Parameters must not change inside."""
    _cache.depth += 1
    try:
        yield
    finally:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.found.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied in order, and its original: `original`, or `original0`, `original1`, ...
    where the first one is a function of several tensors."""

    def __init__(self, modules: list[Module], original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        trained = original.requires_grad
        with no_grad():
            value: Any = original.detach()
            for module in reversed(modules):
                value = _inverse(module, value)
        self.is_tensor = isinstance(value, TensorBase)
        if self.is_tensor:
            if value.dtype is not original.dtype and not unsafe:
                raise InvalidValueError(
                    f"right_inverse: expected a tensor of the dtype {original.dtype}, got {value.dtype}; unsafe=True allows it"
                )
            original.data = value.detach()
            _register(self, "original", original)
            return
        self.ntensors = len(value)
        for number, part in enumerate(value):
            if not isinstance(part, Tensor):
                raise ArgumentTypeError(f"right_inverse: expected tensors, got {type(part).__name__} at position {number}")
            _register(self, f"original{number}", Parameter(part, trained) if isinstance(original, Parameter) else part)

    @property
    def originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{number}") for number in range(self.ntensors)]

    def forward(self) -> Tensor:
        modules = iter(self)
        value: Tensor = next(modules)(*self.originals)
        for module in modules:
            value = module(value)
        return value

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the tensor has this value."""
        with no_grad():
            found: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise InvalidValueError(f"{type(module).__name__} has no right_inverse, so the tensor cannot be set")
                found = module.right_inverse(found)
            for own, new in zip(self.originals, [found] if self.is_tensor else found):
                if own.shape == new.shape:
                    own.copy_(new)
                else:
                    own.data = new.detach()

    def value(self) -> Tensor:
        """The tensor, from the cache inside of cached()."""
        if not _cache.depth:
            found: Tensor = self()
            return found
        if id(self) not in _cache.found:
            _cache.found[id(self)] = (self, self())  # the list too, so that its id stays its own
        return _cache.found[id(self)][1]  # type: ignore[no-any-return]


def _inverse(module: Module, value: Any) -> Any:
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _reader(name: str) -> property:
    def read(self: Any) -> Any:
        return self.parametrizations[name].value()

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


@functools.lru_cache(maxsize=None)
def _class_with(base: Any, names: frozenset[str]) -> Any:
    """The class of a layer with these parametrized tensors; layers share it, so that it is never changed."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name in names:
            self.parametrizations[name].right_inverse(value)
        else:
            base.__setattr__(self, name, value)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return _rebuilt, (base, names), self.__dict__

    body: dict[str, Any] = {name: _reader(name) for name in names}
    body.update(__setattr__=__setattr__, __reduce_ex__=__reduce_ex__, __module__=base.__module__, __doc__=base.__doc__)
    body["_before"] = base
    return type(f"Parametrized{base.__name__}", (base,), body)


def _rebuilt(base: Any, names: frozenset[str]) -> Any:
    """A layer for copy and pickle, which fill its dictionary."""
    cls = _class_with(base, names)
    return cls.__new__(cls)


def type_before_parametrizations(module: Module) -> type:
    """The class of a module as it was without parametrizations."""
    return getattr(type(module), "_before", type(module))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of its tensors does."""
    lists = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(lists, ModuleDict):
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Makes a parameter or buffer of a module a function of what it was; more of them follow one another.

    `parametrization` is a module. If it has a method right_inverse, the original is right_inverse(tensor), and the tensor
    may be assigned. With `unsafe` it may change shape and dtype.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        lists = module.parametrizations[tensor_name]
        if not unsafe:
            _check(parametrization, getattr(module, tensor_name), tensor_name)
        lists.append(parametrization)
        lists.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise InvalidValueError(f"tensor_name: expected a parameter or buffer of {type(module).__name__}, got {tensor_name!r}")
    original = getattr(module, tensor_name)
    shape, dtype = tuple(original.shape), original.dtype
    held = original.data
    made = ParametrizationList([parametrization], original, unsafe)
    if not unsafe:
        try:
            with no_grad():
                value = made()
            if not isinstance(value, TensorBase) or tuple(value.shape) != shape or value.dtype is not dtype:
                raise ShapeError(
                    f"{tensor_name}: expected a parametrization that keeps shape {shape} and dtype {dtype.name}, got "
                    + (f"{tuple(value.shape)} and {value.dtype.name}" if isinstance(value, TensorBase) else type(value).__name__)
                )
        except BaseException:
            original.data = held
            raise
    delattr(module, tensor_name)
    if "parametrizations" not in module._modules:
        module.add_module("parametrizations", ModuleDict())
    module.parametrizations[tensor_name] = made
    _retype(module)
    return module


def _check(parametrization: Module, value: Tensor, name: str) -> None:
    with no_grad():
        found = parametrization(_inverse(parametrization, value.detach()))
    if not isinstance(found, TensorBase) or found.shape != value.shape or found.dtype is not value.dtype:
        raise ShapeError(f"{name}: expected a parametrization that keeps shape {value.shape} and dtype {value.dtype.name}")


def _retype(module: Any) -> None:
    base, lists = type_before_parametrizations(module), module._modules.get("parametrizations")
    if lists is not None and not len(lists):
        del module._modules["parametrizations"]
        lists = None
    module.__class__ = base if lists is None else _class_with(base, frozenset(lists.keys()))


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Makes a tensor a parameter or buffer again: its value, or, without `leave_parametrized`, the original."""
    if not is_parametrized(module, tensor_name):
        raise InvalidValueError(f"tensor_name: expected a parametrized tensor of {type(module).__name__}, got {tensor_name!r}")
    lists = module.parametrizations[tensor_name]
    original = lists.originals[0]
    if not leave_parametrized and not lists.is_tensor:
        raise InvalidValueError("leave_parametrized: expected True for a parametrization of several tensors")
    if leave_parametrized:
        with no_grad():
            value = lists().detach().clone()
        trained = any(each.requires_grad for each in lists.originals)
        if lists.is_tensor:
            original.data = value
        else:
            original = Parameter(value, trained) if isinstance(original, Parameter) else value
    del module.parametrizations[tensor_name]
    _retype(module)
    _register(module, tensor_name, original)
    return module


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Gives a module the parametrizations of another one, and copies of their originals."""
    names = list(from_module.parametrizations.keys()) if tensor_name is None else [tensor_name]
    for name in names:
        source = from_module.parametrizations[name]
        if not is_parametrized(to_module, name):
            for parametrization in source:
                register_parametrization(to_module, name, parametrization, unsafe=True)
        with no_grad():
            for own, given in zip(to_module.parametrizations[name].originals, source.originals):
                own.copy_(given)
    return to_module
