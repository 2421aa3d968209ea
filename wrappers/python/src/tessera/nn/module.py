# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Module: the base class of layers and models."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from .. import _dtypes
from .._core import TensorBase
from .._device import CPU, Device, device_of
from .._dtypes import DType, bfloat16, float16, float32
from .._errors import ArgumentTypeError, DTypeError, InvalidValueError, NotSupportedError
from .._tensor import Tensor
from .._modes import no_grad
from .parameter import Parameter

M = TypeVar("M", bound="Module")


class NameOfPartError(InvalidValueError, KeyError):
    """A name that no part of a Module can have."""

    __str__ = Exception.__str__  # KeyError's shows the quotes of a key


_keys = itertools.count(1)  # of hooks


class RemovableHandle:
    """Removes a hook of a Module, also at the end of a with block."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self._key = next(key for key in _keys if key not in hooks)  # hooks of a pickle have those of another process

    @property
    def id(self) -> int:
        """The key of the hook among the others."""
        return self._key

    def remove(self) -> None:
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class _Hook:
    """A hook of a forward with options: whether it gets the named arguments, and whether it runs after an error."""

    def __init__(self, function: Callable[..., Any], named: bool, always: bool = False) -> None:
        self.function, self.named, self.always = function, named, always

    def after(self, module: Any, args: Any, kwargs: Any, result: Any) -> Any:
        return self.function(module, args, kwargs, result) if self.named else self.function(module, args, result)


class StateDictKeys(NamedTuple):
    """The keys that load_state_dict could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"{type(self).__name__}(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module:
    """Base class of layers and models: define forward, assign parameters and modules to attributes."""

    training: bool

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        for name in ("_parameters", "_buffers", "_modules", "_pre_hooks", "_hooks", "_backward_hooks"):
            own[name] = {}
        own["_transient"] = set()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotSupportedError(f"{type(self).__name__} needs a method forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._pre_hooks:
            args, kwargs = self._changed(args, kwargs)
        left = list(self._hooks.values()) if self._hooks else None
        result = self.forward(*args, **kwargs) if left is None else self._with_hooks(args, kwargs, left)
        if self._backward_hooks and isinstance(result, TensorBase) and result.requires_grad:
            result.register_hook(self._run_backward_hooks)  # type: ignore[attr-defined]
        return result

    def _changed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the hooks before forward leave them."""
        for hook in list(self._pre_hooks.values()):
            if isinstance(hook, _Hook):
                changed = hook.function(self, args, kwargs)
                if changed is not None:
                    args, kwargs = changed
                continue
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any], left: list[Any]) -> Any:
        """forward and the hooks after it, of which those with `always` see an error, too."""
        try:
            result = self.forward(*args, **kwargs)
            while left:
                hook = left.pop(0)
                changed = hook.after(self, args, kwargs, result) if isinstance(hook, _Hook) else hook(self, args, result)
                if changed is not None:
                    result = changed
        except Exception:
            for hook in left:
                if isinstance(hook, _Hook) and hook.always:
                    hook.after(self, args, kwargs, None)
            raise
        return result

    def _run_backward_hooks(self, grad: Tensor) -> Tensor:
        for hook in list(self._backward_hooks.values()):
            changed = hook(self, grad)
            grad = grad if changed is None else changed
        return grad

    # ---- registration ----

    def _tables(self) -> dict[str, Any]:
        tables = self.__dict__.get("_parameters")
        if tables is None:
            raise AttributeError(
                f"cannot assign before Module.__init__() call: call super().__init__() first in {type(self).__name__}.__init__"
            )
        return self.__dict__

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self.add_module(name, value)
        elif name in self.__dict__.get("_parameters", ()):
            if value is not None:
                raise ArgumentTypeError(f"{name} is a parameter: expected a Parameter or None, got {type(value).__name__}")
            self._parameters[name] = None
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise ArgumentTypeError(f"{name} is a module: expected a Module or None, got {type(value).__name__}")
            self._modules[name] = None
        elif name in self.__dict__.get("_buffers", ()):
            if value is not None and not isinstance(value, TensorBase):
                raise ArgumentTypeError(f"{name} is a buffer: expected a Tensor or None, got {type(value).__name__}")
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_parameters" in own:
            if name in (table := own["_parameters"]):
                return table[name]
            if name in (table := own["_modules"]):
                return table[name]
            if name in (table := own["_buffers"]):
                return table[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._transient.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = [*self._parameters, *self._buffers, *self._modules]
        return sorted({*super().__dir__(), *own})

    def _claim(self, name: str, table: dict[str, Any]) -> None:
        if "." in name or not name:
            raise NameOfPartError(f"a name must not be empty or have a dot in it: {name!r}")
        for other in (self._parameters, self._buffers, self._modules):
            if other is not table:
                other.pop(name, None)
        if table is not self._buffers:
            self._transient.discard(name)
        self.__dict__.pop(name, None)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        self._tables()
        if parameter is not None and not isinstance(parameter, Parameter):
            raise ArgumentTypeError(f"{name}: expected a Parameter or None, got {type(parameter).__name__}")
        self._claim(name, self._parameters)
        self._parameters[name] = parameter

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that belongs to the state but is not trained; it is saved if persistent."""
        self._tables()
        self._claim(name, self._buffers)
        self._buffers[name] = tensor
        (self._transient.discard if persistent else self._transient.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        self._tables()
        if module is not None and not isinstance(module, Module):
            raise ArgumentTypeError(f"{name}: expected a Module or None, got {type(module).__name__}")
        self._claim(name, self._modules)
        self._modules[name] = module

    register_module = add_module

    # ---- walks ----

    def named_modules(self, prefix: str = "", _seen: set[int] | None = None) -> Iterator[tuple[str, Module]]:
        found: list[tuple[str, Module]] = []
        self._collect(prefix, set() if _seen is None else _seen, found)
        return iter(found)

    def _collect(self, prefix: str, seen: set[int], found: list[tuple[str, Module]]) -> None:
        """Collects this module and all modules inside, each once."""
        if id(self) in seen:
            return
        seen.add(id(self))
        found.append((prefix, self))
        head = prefix + "." if prefix else ""
        for name, module in self._modules.items():
            if module is None:
                continue
            if module._modules:
                module._collect(head + name, seen, found)
            elif id(module) not in seen:
                seen.add(id(module))
                found.append((head + name, module))

    def _paths(self, prefix: str = "", around: tuple[Module, ...] = ()) -> Iterator[tuple[str, Module]]:
        """This module and all modules inside by each of their paths: a shared one has several."""
        if not self._modules:
            return iter(((prefix, self),))
        found: list[tuple[str, Module]] = [(prefix, self)]
        head = prefix + "." if prefix else ""
        around = (*around, self)
        for name, module in self._modules.items():
            if module is None or any(module is other for other in around):
                continue
            if module._modules:
                found += module._paths(head + name, around)
            else:
                found.append((head + name, module))
        return iter(found)

    def modules(self) -> Iterator[Module]:
        return (m for _, m in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        found: dict[int, tuple[str, Module]] = {}
        for name, module in self._modules.items():
            if module is not None:
                found.setdefault(id(module), (name, module))
        return iter(found.values())

    def children(self) -> Iterator[Module]:
        return iter({id(module): module for module in self._modules.values() if module is not None}.values())

    def _named(self, table: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        found: dict[int, tuple[str, Any]] = {}
        for path, module in self.named_modules(prefix) if recurse else ((prefix, self),):
            values = module.__dict__[table]
            head = path + "." if path and values else ""
            for name, value in values.items():
                if value is not None and id(value) not in found:
                    found[id(value)] = (head + name, value)
        return iter(found.values())

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Parameter]]:
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        found: dict[int, Parameter] = {}
        for _, module in self.named_modules() if recurse else (("", self),):
            for value in module.__dict__["_parameters"].values():
                if value is not None:
                    found[id(value)] = value
        return iter(found.values())

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (b for _, b in self.named_buffers("", recurse))

    def get_submodule(self, target: str) -> Module:
        module = self
        for name in target.split(".") if target else ():
            found = module._modules.get(name)
            if found is None:
                raise AttributeError(f"{type(module).__name__} has no module {name!r}")
            module = found
        return module

    # ---- state ----

    def state_dict(self, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """All parameters and persistent buffers by name, those of a shared module by each of its names; the tensors share
        memory with the model, or, with `keep_vars`, are those of the model."""
        found: dict[str, Tensor] = {}
        for path, module in self._paths(prefix.rstrip(".")):
            head = f"{path}." if path else ""
            for name, value in [*module._parameters.items(), *module._buffers.items()]:
                if value is not None and name not in module._transient:
                    found[head + name] = value if keep_vars else value.detach()
        return found

    def load_state_dict(self, state: Mapping[str, Tensor], strict: bool = True, assign: bool = False) -> StateDictKeys:
        """Copies a state dict into this model. strict: the keys must match exactly, though one name of a shared module is
        enough. assign: its tensors become those of the model, with their dtypes and devices."""
        if not isinstance(state, Mapping):
            raise ArgumentTypeError(
                f"load_state_dict(): expected a dict of Tensors, got {type(state).__name__}; tessera.load_file(path) reads one"
            )
        own = self.state_dict()
        missing = self._missing(state, own) if any(k not in state for k in own) else []
        unexpected = [k for k in state if k not in own]
        problems = []
        if strict and missing:
            problems.append(f"Missing key(s) in state_dict: {quoted(missing)}. ")
        if strict and unexpected:
            problems.append(f"Unexpected key(s) in state_dict: {quoted(unexpected)}. ")
        for key in [k for k in own if k in state]:
            problems += misfits(key, own[key], state[key])
        if problems:
            text = "\n\t".join(problems)
            raise InvalidValueError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        if assign:
            self._assign(state)
            return StateDictKeys(missing, unexpected)
        with no_grad():
            for key, target in own.items():
                if key in state:
                    target.copy_(state[key].detach())
        return StateDictKeys(missing, unexpected)

    def _missing(self, state: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> list[str]:
        """The keys that a state lacks. Files of other versions and languages have one of a shared module's names."""
        places = {
            f"{path}.{name}" if path else name: (id(module), name)
            for path, module in self._paths()
            for name in (*module._parameters, *module._buffers)
        }
        given = {places.get(key) for key in state if key in own}
        return [key for key in own if key not in state and places.get(key) not in given]

    def _assign(self, state: Mapping[str, Tensor]) -> None:
        """Gives the model the tensors themselves; a parameter stays trained or not."""
        for path, module in self._paths():
            module._assign_own(state, f"{path}." if path else "")

    def _assign_own(self, state: Mapping[str, Tensor], head: str) -> None:
        for name, old in list(self._parameters.items()):
            if old is not None and head + name in state:
                given: Any = state[head + name]
                made = given if isinstance(given, Parameter) else type(old)(given.detach(), old.requires_grad)
                self._parameters[name] = made
        for name, old in list(self._buffers.items()):
            if old is not None and name not in self._transient and head + name in state:
                self._buffers[name] = state[head + name]

    # ---- modes and conversion ----

    def train(self: M, mode: bool = True) -> M:
        self.__dict__["training"] = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: M) -> M:
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Calls the function with every module, children first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    _statistics: frozenset[str] = frozenset()
    """Buffers that gather small contributions of many batches, which the half types would lose."""

    def _convert(self: M, kind: DType | None, device: Device | None) -> M:
        """Converts in place: parameters stay the same objects, so that an existing optimizer continues to train
        them."""
        done: dict[int, Tensor] = {}

        def convert(tensor: Any, dtype: DType | None) -> Tensor:
            floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
            made: Tensor = tensor.detach().to(dtype=dtype if floating else None, device=device)
            return made

        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None and id(parameter) not in done:
                    done[id(parameter)] = parameter
                    give_data(parameter, lambda tensor: convert(tensor, kind))
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    wide = float32 if name in module._statistics and kind in (float16, bfloat16) else kind
                    if id(buffer) not in done:
                        done[id(buffer)] = convert(buffer, wide) if isinstance(buffer, TensorBase) else buffer
                    module._buffers[name] = done[id(buffer)]
        return self

    def to(self: M, *args: Any, dtype: Any = None, device: Any = None) -> M:
        """Converts all parameters, their gradients and all buffers, in place: to a dtype, a device, or those of a tensor.

        Parameters stay the same objects, so an existing optimizer continues to train them. Integers keep their dtype.
        Running statistics of normalisation layers stay float32 when the rest becomes float16 or bfloat16.
        """
        for item in args:
            if isinstance(item, TensorBase):
                dtype, device = item.dtype, item.device
            elif isinstance(item, Device) or isinstance(item, str) and item not in _dtypes.ALL:
                device = item
            elif item is not None:
                dtype = item
        kind = None if dtype is None else _dtypes.dtype_of(dtype)
        if kind is not None and not (kind.is_floating_point or kind.is_complex):
            raise DTypeError(f"to(): expected a floating or complex dtype for a module, got {kind.name}")
        return self._convert(kind, None if device is None else device_of(device))

    def float(self: M) -> M:
        return self.to(float32)

    def double(self: M) -> M:
        return self.to(_dtypes.float64)

    def half(self: M) -> M:
        return self.to(float16)

    def bfloat16(self: M) -> M:
        return self.to(bfloat16)

    def cuda(self: M, index: int | None = None) -> M:
        return self.to(Device("cuda", index))

    def cpu(self: M) -> M:
        return self.to(CPU)

    def share_memory(self: M) -> M:
        """Moves all parameters, their gradients and all buffers to memory that other processes can map."""
        for tensor in (*self.parameters(), *self.buffers()):
            tensor.share_memory_()
            if tensor.grad is not None:
                tensor.grad.share_memory_()
        return self

    # ---- hooks ----

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """hook(module, args) before forward; a result replaces the arguments. `with_kwargs`: hook(module, args, kwargs),
        whose result is a pair of both. `prepend`: before the other hooks."""
        return self._add(self._pre_hooks, _Hook(hook, True) if with_kwargs else hook, prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """hook(module, args, result) after forward; a result replaces the result. `with_kwargs`: hook(module, args, kwargs,
        result). `prepend`: before the other hooks. `always_call`: with the result None also if forward raises."""
        plain = not (with_kwargs or always_call)
        return self._add(self._hooks, hook if plain else _Hook(hook, with_kwargs, always_call), prepend)

    def register_output_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, gradient) when the gradient of the output is computed; a result replaces it."""
        return self._add(self._backward_hooks, hook)

    @staticmethod
    def _add(hooks: dict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
        handle = RemovableHandle(hooks)
        others = dict(hooks) if prepend else {}
        for key in others:
            del hooks[key]
        hooks[handle._key] = hook
        hooks.update(others)
        return handle

    # ---- text ----

    def extra_repr(self) -> str:
        """The text between the brackets for a module without children."""
        return ""

    def __repr__(self) -> str:
        lines = []
        for name, module in self.named_children():
            lines.append(f"  ({name}): " + repr(module).replace("\n", "\n  "))
        head = type(self).__name__ + "(" + self.extra_repr()
        return head + ("\n" + "\n".join(lines) + "\n)" if lines else ")")


def quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def misfits(key: str, own: Tensor, given: Any) -> list[str]:
    """What is wrong with an entry of a state dict, beside a tensor of the model."""
    if not isinstance(given, TensorBase):
        return [f"{key}: expected a Tensor, got {type(given).__name__}."]
    if own.shape == given.shape:
        return []
    return [
        f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
        f"the shape in current model is {own.shape}."
    ]


def give_data(parameter: Parameter, convert: Callable[[Tensor], Tensor]) -> None:
    """Converts the data of a parameter and of its gradient."""
    made = convert(parameter)
    if made.dtype is parameter.dtype and made.device == parameter.device:
        return
    grad = parameter.grad
    converted = None if grad is None else convert(grad)
    parameter.grad = None
    parameter.data = made
    parameter.grad = converted
