# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.optim.Optimizer: the base of the optimizers of torch.optim and of those that programs write."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tessera.nn.module import RemovableHandle
from tessera.optim import optimizer as _plain
from tessera.optim._states import NAMES, SCALARS
from tessera.optim.core import CoreOptimizer
from tessera.profiler import record_function

from ..._core import TensorBase
from ..._dtypes import float32, float64, get_default_dtype
from ..._errors import TesseraError
from ..._ops import astype, full
from .._tensor import made

Hooks = dict[int, Any]
_BEFORE: Hooks = OrderedDict()  # hooks of the steps of all optimizers
_AFTER: Hooks = OrderedDict()


_COUNTLESS = frozenset(["muon", "sgd"])  # kinds that count no steps in PyTorch
_FOLLOWS = frozenset(["eta", "mu"])  # states of PyTorch's ASGD that follow from the steps and the options


def _rates_of(group: dict[str, Any], step: float) -> dict[str, Any]:
    """The states of _FOLLOWS for the next step."""
    eta = group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"]
    return {"eta": eta, "mu": 1 / max(1, step - group["t0"])}


def _copied(number: Any, dtype: Any) -> Any:
    """A tensor of the library that holds a number, as PyTorch has it."""
    return astype(number, dtype, copy=True)


def _same(number: Any) -> Any:
    return number


class _Required:
    """The value of an option that each group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def _add(hooks: Hooks, hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle._key] = hook
    if prepend:
        rest = {key: hooks.pop(key) for key in [*hooks] if key != handle._key}
        hooks.update(rest)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(optimizer, args, kwargs) before each step of every optimizer; a pair as its result replaces both."""
    return _add(_BEFORE, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(optimizer, args, kwargs) after each step of every optimizer."""
    return _add(_AFTER, hook)


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step() with its hooks, and its range in profiles."""
    if hasattr(step, "hooked"):
        return step

    @functools.wraps(step)
    def stepped(self: Any, *given: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if own.get("_in_step"):  # called by the step() of a class that derives from this one
            return step(self, *given, **kwargs)
        own["_stepped"] = own["_in_step"] = True
        try:
            args = (self, *given)
            with record_function(f"Optimizer.step#{type(self).__name__}.step"):
                for hook in [*_BEFORE.values(), *own.get("_optimizer_step_pre_hooks", {}).values()]:
                    changed = hook(self, args, kwargs)
                    if changed is not None:
                        args, kwargs = _pair(step, changed)
                found = step(*args, **kwargs)
                for hook in [*own.get("_optimizer_step_post_hooks", {}).values(), *_AFTER.values()]:
                    hook(self, args, kwargs)
            return found
        finally:
            own["_in_step"] = False

    marked: Any = stepped
    marked.hooked = True
    return stepped


def _pair(step: Any, changed: Any) -> Any:
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise RuntimeError(f"{step.__qualname__}: a hook must return None or a tuple (args, kwargs), got {changed!r}")
    return changed


def unnamed(params: Any) -> tuple[list[str], Any]:
    """The names and the parameters of pairs (name, parameter); no names for parameters alone."""
    items = params if isinstance(params, (dict, list)) or hasattr(params, "dtype") or not isinstance(params, Iterable) else list(params)
    if isinstance(items, list) and items and isinstance(items[0], tuple):
        return [name for name, _ in items], [parameter for _, parameter in items]
    return [], items


class Optimizer(_plain.Optimizer):
    """PyTorch's Optimizer. A class that defines step() keeps its state in `self.state[parameter]`."""

    OptimizerPreHook = OptimizerPostHook = Callable[..., Any]
    profile_hook_step = staticmethod(hooked)
    _stepped = False  # what a scheduler asks
    _own_step = False  # a class of torch.optim whose step() is another one
    _takes_computed = False  # the parameters may be computed tensors
    _extras: dict[str, Any] = {}  # options of groups that choose between PyTorch's implementations

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None:
            own = issubclass(cls, CoreOptimizer) and not cls.__module__.startswith("tessera.")
            cls._own_step = own or cls._takes_computed
            cls.step = hooked(step)  # type: ignore[assignment]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        names, listed = unnamed(params)
        super().__init__(listed, defaults)
        if names:
            self.param_groups[0]["param_names"] = names

    # ---- hooks ----

    def _patch_step_function(self) -> None:
        """Nothing: step() has its hooks since its class was made. Classes that do not call __init__() call this one."""

    def _hooks(self, name: str) -> Hooks:
        hooks: Hooks = self.__dict__.setdefault(name, OrderedDict())
        return hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(optimizer, args, kwargs) before each step, where args begin with the optimizer; a pair as its result
        replaces both."""
        return _add(self._hooks("_optimizer_step_pre_hooks"), hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(optimizer, args, kwargs) after each step."""
        return _add(self._hooks("_optimizer_step_post_hooks"), hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """hook(optimizer) before a state_dict()."""
        return _add(self._hooks("_optimizer_state_dict_pre_hooks"), hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """hook(optimizer, state_dict) after it; a result replaces the dict."""
        return _add(self._hooks("_optimizer_state_dict_post_hooks"), hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """hook(optimizer, state_dict) before a load_state_dict(); a result replaces the dict."""
        return _add(self._hooks("_optimizer_load_state_dict_pre_hooks"), hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """hook(optimizer) after it."""
        return _add(self._hooks("_optimizer_load_state_dict_post_hooks"), hook, prepend)

    # ---- groups ----

    def add_param_group(self, param_group: Any) -> None:
        if isinstance(param_group, dict) and "params" in param_group:
            if isinstance(param_group["params"], set):
                raise TypeError("params: expected an ordered collection, got a set, whose order changes")
            names, listed = unnamed(param_group["params"])
            param_group = {**param_group, "params": listed, **({"param_names": names} if names else {})}
            self._check(param_group)
            if any(("param_names" in param_group) != ("param_names" in group) for group in self.param_groups):
                raise ValueError("param_names: expected names in all groups of parameters or in none of them")
        super().add_param_group(param_group)
        for name, value in self._extras.items():
            self.param_groups[-1].setdefault(name, value)

    def _refuse_known(self, items: list[Any]) -> None:
        """Nothing: _check() has, and a parameter twice in one group is a warning only."""

    def _check(self, group: dict[str, Any]) -> None:
        given = [group["params"]] if isinstance(group["params"], TensorBase) else group["params"]
        params = [p for p in given if isinstance(p, TensorBase)]
        if not self._takes_computed and any(not p.is_leaf and not p.retains_grad for p in params):
            raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        ids = {id(p) for p in params}
        if len(ids) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=4)
        if any(id(p) in ids for other in self.param_groups for p in other["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    # ---- state ----

    @property
    def state(self) -> Any:
        """The state of each parameter. That of a class of the library is the library's, unless a class that derives from
        it has a step() of its own: this one's is kept here, and what the library has is in it."""
        if not isinstance(self, CoreOptimizer):
            return self._own_state
        if not self._own_step:
            return super().state
        for parameter, entry in self._core_entries():
            self._own_state[parameter].update(entry)
        return self._own_state

    @state.setter
    def state(self, given: Any) -> None:
        if isinstance(self, CoreOptimizer) and not self._own_step:
            CoreOptimizer.state.fset(self, given)
        else:
            self._own_state = given

    def _read_entries(self) -> Any:
        """The states as PyTorch has them: its tensors, also for numbers."""
        countless = self._kind in _COUNTLESS  # type: ignore[attr-defined]
        dtype = float64 if not countless and get_default_dtype() is float64 else float32
        convert: Any = functools.partial(_copied, dtype=dtype)
        places, found = super()._read_entries(_same if countless else convert)  # type: ignore[misc]
        entries = []
        for place, plain in zip(places, found):
            if countless:
                del plain["step"]
            if self._kind == "asgd":  # type: ignore[attr-defined]
                rates = _rates_of(self.param_groups[place[0]], plain["step"].item())
                plain.update({"step": plain["step"], **rates, "ax": plain.pop("ax")})
            entries.append({name: made(v if isinstance(v, TensorBase) else full((), v, dtype=dtype)) for name, v in plain.items()})
        kept = [(place, entry) for place, entry in zip(places, entries) if entry]
        return [place for place, _ in kept], [entry for _, entry in kept]

    def _for_core(self, entry: dict[str, Any]) -> dict[str, Any]:
        """A state of PyTorch's as the library's."""
        found = {name: value for name, value in entry.items() if value is not None and name not in _FOLLOWS}
        if self._kind in _COUNTLESS and found:  # type: ignore[attr-defined]
            found.setdefault("step", 1)
        return found

    def _entries(self) -> list[tuple[Any, dict[str, Any]]]:
        if isinstance(self, CoreOptimizer) and not self._own_step:
            return super()._entries()
        return [(parameter, entry) for parameter, entry in self.state.items() if isinstance(parameter, TensorBase)]

    def state_dict(self) -> dict[str, Any]:
        for hook in [*self._hooks("_optimizer_state_dict_pre_hooks").values()]:
            hook(self)
        if isinstance(self, CoreOptimizer) and not self._own_step:
            found = super().state_dict()
        else:
            found = _plain.Optimizer.state_dict(self)
            found["state"].update({key: value for key, value in self.state.items() if not isinstance(key, TensorBase)})
        for hook in [*self._hooks("_optimizer_state_dict_post_hooks").values()]:
            changed = hook(self, found)
            found = found if changed is None else changed
        return found

    def load_state_dict(self, state_dict: Any) -> None:
        if isinstance(state_dict, dict):
            state_dict = state_dict.copy()
        for hook in [*self._hooks("_optimizer_load_state_dict_pre_hooks").values()]:
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        super().load_state_dict(state_dict)
        if not isinstance(self, CoreOptimizer):
            ids = {n for group in state_dict["param_groups"] for n in group["params"]}
            rest = {key: copy.deepcopy(value) for key, value in state_dict["state"].items() if key not in ids}
            self.state.update(rest)
        for hook in [*self._hooks("_optimizer_load_state_dict_post_hooks").values()]:
            hook(self)

    def _load(self, groups: Any, entries: Any) -> None:
        if isinstance(self, CoreOptimizer) and not self._own_step:
            super()._load(groups, {parameter: self._for_core(entry) for parameter, entry in entries.items()})
            return
        own: Any = defaultdict(dict)
        for parameter, entry in entries.items():
            own[parameter] = {name: _fitting(name, value, parameter) for name, value in entry.items()}
        if isinstance(self, CoreOptimizer):
            known = {p: {n: v for n, v in self._for_core(entry).items() if n in NAMES} for p, entry in entries.items()}
            try:
                super()._load(groups, known)
            except TesseraError:  # the own step() uses these names for other states
                super()._load(groups, {})
            self._own_state = own
        else:
            self.__setstate__({"state": own, "param_groups": groups})

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self, CoreOptimizer):
            return CoreOptimizer.__getstate__(self)
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(self, CoreOptimizer) and "_own_state" in state:
            CoreOptimizer.__setstate__(self, state)
            return
        kept = dict(state)
        if "state" in kept:
            self._own_state = kept.pop("state")
        self.__dict__.update(kept)


def _fitting(name: str, value: Any, parameter: Any) -> Any:
    """A copy of a loaded state for a parameter, whose dtype and device it gets; a number of steps keeps its own."""
    if isinstance(value, TensorBase):
        if name == "step":
            return value.detach().clone()
        dtype = parameter.dtype if parameter.dtype.is_floating_point else value.dtype
        return value.detach().clone().to(dtype=dtype, device=parameter.device)
    if isinstance(value, dict):
        return {key: _fitting(name, item, parameter) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fitting(name, item, parameter) for item in value)
    return value


__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]
