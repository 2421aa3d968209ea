# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Module and Parameter of torch.nn: the library's, with PyTorch's tensors as parameters and buffers."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tessera.nn.containers import ModuleList
from tessera.nn.lazy import _Lazy
from tessera.nn.module import Module as _Module
from tessera.nn.module import RemovableHandle, give_data
from tessera.nn.parameter import Parameter as _Parameter

from ..._core import TensorBase
from ..._dtypes import bfloat16, float16, float32, float64
from .._tensor import Tensor, meant, retyped, with_tensors
from ._full_hooks import hooks_of
from . import _state_hooks
from ._state_hooks import _IncompatibleKeys, add_hook, load_own, load_state, overrides, save_own, save_tensors, state_of, wants_states


class Parameter(Tensor, _Parameter):
    """A tensor that a Module registers when it is assigned to an attribute."""

    _keeps_class = False

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        plain = Tensor(0).detach() if data is None else data
        parameter = TensorBase.__new__(cls, plain.detach())
        parameter.requires_grad = requires_grad
        return parameter

    def __copy__(self) -> Any:
        return type(self)(self, self.requires_grad)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        made = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_rebuilt, _Parameter.__reduce_ex__(self, protocol))

    def __repr__(self) -> str:
        return f"Parameter containing:\n{Tensor.__repr__(self)}"


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned to an attribute."""

    persistent: bool
    _keeps_class = False

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        plain = Tensor(0) if data is None else data
        buffer = TensorBase.__new__(cls, plain.detach().requires_grad_(plain.requires_grad))
        buffer.persistent = persistent
        return buffer


def _rebuilt(function: Any, args: Any) -> Any:
    """A parameter from its pickle."""
    return _parameter(function(*args))


def _parameter(given: Any) -> Any:
    """The parameter as one of this class, for the same tensor."""
    if given is None or not isinstance(given, _Parameter) or isinstance(given, Parameter):
        return given
    return TensorBase.__new__(Parameter, given)


def _adopted(module: Any) -> Any:
    """The module itself; if it is one of the library's layers, as those are inside its larger layers, it becomes one of
    torch.nn with all that is in it."""
    if module is None or isinstance(module, Module):
        return module
    import tessera.torch.nn as adapted

    if (cls := adapted.class_for(type(module))) is not None:
        module.__class__ = cls
        for table, convert in ((module._parameters, _parameter), (module._buffers, retyped)):
            table.update({name: convert(value) for name, value in table.items()})
    for child in module.children():
        _adopted(child)
    if cls is not None:
        module._settle()
    return module


REGISTRATIONS: dict[str, dict[int, Any]] = {"parameter": {}, "buffer": {}, "module": {}}  # hooks of _global_hooks.py


def _seen(kind: str, module: Any, name: str, value: Any) -> Any:
    """The value as the hooks of registrations leave it."""
    for hook in list(REGISTRATIONS[kind].values()):
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


class Module(_Module):
    """PyTorch's Module."""

    dump_patches = call_super_init = False
    _version = 1  # of the state, for classes that load those of their earlier versions
    T_destination = OrderedDict

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def register_parameter(self, name: str, param: Any) -> None:
        if param is not None:
            self._refuse_known(name, self._parameters)
        super().register_parameter(name, _seen("parameter", self, name, _parameter(param)))

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise TypeError(f"buffer {name!r}: expected a tensor or None, got {type(tensor).__name__}")
        self._refuse_known(name, self._buffers)
        super().register_buffer(name, _seen("buffer", self, name, retyped(tensor)), persistent)

    def _refuse_known(self, name: str, own: Any) -> None:
        """A name that belongs to an attribute of another kind is an error where PyTorch says so."""
        tables = (self.__dict__, self._parameters, self._buffers, self._modules)
        known = any(name in table for table in tables if table is not own) or callable(getattr(type(self), name, None))
        if name not in own and known:
            raise KeyError(f"attribute {name!r} exists already")

    def add_module(self, name: str, module: Any) -> None:
        if module is not None and not isinstance(module, _Module):
            raise TypeError(f"{name}: expected a Module, got {type(module).__name__}")
        self._refuse_known(name, self._modules)
        super().add_module(name, _seen("module", self, name, _adopted(module)))

    register_module = add_module

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Buffer):
            self.register_buffer(name, TensorBase.__new__(Tensor, value), value.persistent)
            return
        if isinstance(value, _Module):  # as a parameter, it replaces an attribute of any kind
            super().add_module(name, _seen("module", self, name, _adopted(value)))
            return
        if isinstance(value, _Parameter):
            super().register_parameter(name, _seen("parameter", self, name, _parameter(value)))
            return
        super().__setattr__(name, retyped(value) if isinstance(value, TensorBase) else value)

    # ---- walks ----

    def named_modules(self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[Any]:  # type: ignore[override]
        if isinstance(memo, str):  # the library's own code passes the prefix first
            memo, prefix = None, memo
        if not remove_duplicate:
            return self._paths(prefix)
        seen = None if memo is None else {id(module) for module in memo}
        return super().named_modules(prefix, seen)

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return super().named_parameters(prefix, recurse) if remove_duplicate else self._all_named("_parameters", prefix, recurse)

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return super().named_buffers(prefix, recurse) if remove_duplicate else self._all_named("_buffers", prefix, recurse)

    def _all_named(self, table: str, prefix: str, recurse: bool) -> Iterator[Any]:
        """The tensors of a table by each of their names."""
        for path, module in self._paths(prefix) if recurse else ((prefix, self),):
            for name, value in module.__dict__[table].items():
                if value is not None:
                    yield f"{path}.{name}" if path else name, value

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Puts a module in the place that a path names."""
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and name not in parent._modules:
            raise AttributeError(f"{type(parent).__name__} has no module {name!r}")
        parent.add_module(name, module)

    def get_parameter(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        return _part(self.get_submodule(path), "_parameters", name)

    def get_buffer(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        return _part(self.get_submodule(path), "_buffers", name)

    # ---- state ----

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        if args:
            destination, prefix = (*args, prefix)[:2] if not isinstance(args[0], str) else (None, args[0])
        parts = [*self._paths(prefix.rstrip("."))]
        if wants_states(self, [part for _, part in parts]):
            found = state_of(self, prefix, keep_vars)
        else:
            found = OrderedDict()
            for path, part in parts:
                save_tensors(part, found, path + "." if path else "", keep_vars)
        found._metadata = OrderedDict([(path, {"version": getattr(part, "_version", 1)}) for path, part in parts])
        if destination is None:
            return found
        destination.update(found)
        return destination

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        if isinstance(state_dict, Mapping) and any(isinstance(part, _Lazy) for part in self.modules()):
            from .parameter import load_begins

            load_begins(self, state_dict)
        if wants_states(self) and isinstance(state_dict, Mapping):
            return load_state(self, state_dict, strict, assign, super().load_state_dict)
        return _IncompatibleKeys(*super().load_state_dict(state_dict, strict, assign))

    _save_to_state_dict = save_own
    _load_from_state_dict = load_own

    def get_extra_state(self) -> Any:
        raise RuntimeError("get_extra_state(): a class that has extra state says what it is")

    def set_extra_state(self, state: Any) -> None:
        raise RuntimeError("set_extra_state(): a class that has extra state says what becomes of it")

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, prefix, keep_vars) before this module's part of a state_dict()."""
        return add_hook(self, "before_state", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, state_dict, prefix, local_metadata) after it; may change the dict."""
        return add_hook(self, "after_state", hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before this
        module's part of a dict is loaded; may change the dict."""
        return add_hook(self, "before_load", hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> RemovableHandle:
        """The same; the hook gets no module unless `with_module`."""
        without: Callable[..., Any] = lambda module, *given: hook(*given)  # noqa: E731
        return add_hook(self, "before_load", hook if with_module else without)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, incompatible_keys) after a load_state_dict(); may change the lists of keys."""
        return add_hook(self, "after_load", hook)

    # ---- modes and conversion ----

    def train(self, mode: bool = True) -> Any:
        if not isinstance(mode, bool):
            raise ValueError(f"train(): expected a bool as the mode of training, got {mode!r}")
        return super().train(mode)

    def to(self, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        return super().to(*[a for a in args if not isinstance(a, bool)], dtype=dtype, device=device)

    def cuda(self, device: Any = None) -> Any:
        return super().cuda(getattr(device, "index", device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """The module on a device, with tensors whose values mean nothing."""
        return self.to(device=device)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _convert(self, kind: Any, device: Any) -> Any:
        if not any(overrides(part, "_apply") for part in self.modules()):
            return super()._convert(kind, device)

        def converted(tensor: Any) -> Any:
            numbers = tensor.dtype.is_floating_point or tensor.dtype.is_complex
            return tensor.to(dtype=kind if numbers else None, device=device)

        return self._apply(converted)

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Gives each parameter, its gradient, and each buffer the tensor that fn makes of it. A class that overrides this
        converts tensors of its own, too."""
        children: Any = self.children() if recurse else ()
        for child in children:
            getattr(type(child), "_apply", Module._apply)(child, fn)  # one of the library's own base has none
        convert: Callable[[Any], Any] = lambda tensor: fn(tensor.detach())  # noqa: E731
        for parameter in self._parameters.values():
            if parameter is not None:
                give_data(parameter, convert)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: there is no compiler."""

    def type(self, dst_type: Any) -> Any:
        """Gives every parameter and buffer this dtype, those of integers, too."""
        return self._apply(lambda tensor: tensor.to(**meant(dst_type)))

    # ---- hooks ----

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """hook(module, grad_input, grad_output) when the gradients of the inputs are there; a result replaces them."""
        hooks = hooks_of(self)
        return hooks.add(hooks.after, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """hook(module, grad_output) when the gradients of the outputs are there; a result replaces them."""
        hooks = hooks_of(self)
        return hooks.add(hooks.before, hook, prepend)

    def register_output_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return super().register_output_grad_hook(with_tensors(hook))

    # ---- text ----

    # PyTorch's names of what the library keeps, which programs look into.
    _forward_hooks = property(lambda self: self._hooks)
    _forward_pre_hooks = property(lambda self: self._pre_hooks)
    _non_persistent_buffers_set = property(lambda self: self._transient)

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = [(name, repr(child).replace("\n", "\n  ")) for name, child in self._modules.items()]
        if len(lines) == 1 and not parts:
            return f"{self._get_name()}({extra})"
        lines += [f"({name}): {text}" for name, text in (_joined(parts) if isinstance(self, ModuleList) else parts)]
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"


def _cast(name: str, kind: Any) -> Callable[[Any], Any]:
    """Module.half() and its kin. A class with an _apply() of its own may look at the name of the function that it gets."""

    def cast(tensor: Any) -> Any:
        return tensor.to(kind) if tensor.dtype.is_floating_point else tensor

    cast.__qualname__ = f"Module.{name}.<locals>.cast"
    return lambda self: self._apply(cast) if any(overrides(part, "_apply") for part in self.modules()) else self.to(kind)


for _name, _kind in {"bfloat16": bfloat16, "double": float64, "float": float32, "half": float16}.items():
    setattr(Module, _name, _cast(_name, _kind))


_state_hooks.begin(Module)


def _part(module: Any, table: str, name: str) -> Any:
    found = getattr(module, table)
    if name not in found:
        raise AttributeError(f"{module._get_name()} has no attribute {name!r} among its {table[1:]}")
    return found[name]


def _joined(parts: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The children of a list, of which several of one text in a row are one line."""
    for text, run in itertools.groupby(parts, key=lambda part: part[1]):
        names = [name for name, _ in run]
        yield (names[0], text) if len(names) == 1 else (f"{names[0]}-{names[-1]}", f"{len(names)} x {text}")
