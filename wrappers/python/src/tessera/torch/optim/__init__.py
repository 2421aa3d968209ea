# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.optim: the library's optimizers. Arguments of PyTorch that choose between its own implementations are ignored."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tessera.optim as _optim

from .. import _adapters, _rows
from .._names import NAMES as _NAMES

Optimizer = _optim.Optimizer

# Arguments that choose between implementations with the same results, then those that must have this value. Groups of the
# kinds that have them in PyTorch show them.
_IGNORED: dict[str, Any] = {"foreach": None, "fused": None, "capturable": False}
_FIXED: dict[str, Any] = {"differentiable": False, "decoupled_weight_decay": False, "adjust_lr_fn": None}
_SHOWN = {
    "Adam AdamW": "foreach capturable differentiable fused decoupled_weight_decay", "SGD Adagrad": "foreach differentiable fused",
    "RMSprop Adadelta Adamax Rprop ASGD": "foreach capturable differentiable", "Adafactor": "foreach",
    "NAdam RAdam": "foreach capturable differentiable decoupled_weight_decay", "Muon": "adjust_lr_fn",
}  # fmt: skip
_EXTRAS = {name: shown.split() for names, shown in _SHOWN.items() for name in names.split()}
_STEPS = {"betas": lambda betas: tuple(map(_adapters.number, betas)), "lr": _adapters.number}


def _initializer(plain: type) -> Callable[..., None]:
    def __init__(self: Any, params: Any, *args: Any, **options: Any) -> None:
        extras = {name: {**_IGNORED, **_FIXED}[name] for name in _EXTRAS.get(plain.__name__, ())}
        extras.update({name: True for name in extras if name == "decoupled_weight_decay" and plain is _optim.AdamW})
        self._extras = extras
        for name in [*options]:
            if name in _IGNORED:
                extras[name] = options.pop(name)
            elif name in _FIXED:
                _adapters.only(options.pop(name), _FIXED[name], f"torch.optim.{plain.__name__}: {name}")
            elif name in _STEPS:
                options[name] = _STEPS[name](options[name])
        names, listed = _unnamed(params)
        plain.__init__(self, listed, *map(_adapters.number, args), **options)  # type: ignore[misc]
        if names:
            self.param_groups[0]["param_names"] = names

    return __init__


def _adding_groups(plain: Any) -> Callable[..., None]:
    def add_param_group(self: Any, param_group: Any) -> None:
        if isinstance(param_group, dict) and "params" in param_group:
            names, listed = _unnamed(param_group["params"])
            param_group = {**self._extras, **param_group, "params": listed, **({"param_names": names} if names else {})}
        plain.add_param_group(self, param_group)

    return add_param_group


class _Hook:
    """Removes a hook of an optimizer."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks, self._hook = hooks, hook
        hooks.append(hook)

    def remove(self) -> None:
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


def _with_hooks(plain: type) -> dict[str, Any]:
    """step() with hooks before and after it, and the methods that register them."""
    step = plain.step  # type: ignore[attr-defined]

    def hooks(self: Any, name: str) -> list[Any]:
        return self.__dict__.setdefault(name, [])  # type: ignore[no-any-return]

    @functools.wraps(step)
    def stepped(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        own["_stepped"] = True
        if "_before_step" not in own and "_after_step" not in own:
            return step(self, *args, **kwargs)
        for hook in list(hooks(self, "_before_step")):
            changed = hook(self, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        found = step(self, *args, **kwargs)
        for hook in list(hooks(self, "_after_step")):
            hook(self, args, kwargs)
        return found

    def register_step_pre_hook(self: Any, hook: Callable[..., Any]) -> _Hook:
        """hook(optimizer, args, kwargs) before each step; a result replaces both."""
        return _Hook(hooks(self, "_before_step"), hook)

    def register_step_post_hook(self: Any, hook: Callable[..., Any]) -> _Hook:
        """hook(optimizer, args, kwargs) after each step."""
        return _Hook(hooks(self, "_after_step"), hook)

    return {
        "_stepped": False,  # what a scheduler asks
        "step": stepped, "register_step_pre_hook": register_step_pre_hook, "register_step_post_hook": register_step_post_hook,
    }  # fmt: skip


def _unnamed(params: Any) -> tuple[list[str], Any]:
    """The names and the parameters of pairs (name, parameter); no names for parameters alone."""
    items = params if isinstance(params, (dict, list)) or hasattr(params, "dtype") else list(params)
    if isinstance(items, list) and items and isinstance(items[0], tuple):
        return [name for name, _ in items], [parameter for _, parameter in items]
    return [], items


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("lr_scheduler", "swa_utils"):
        import importlib

        return importlib.import_module(f"tessera.torch.optim.{name}")
    plain = getattr(_optim, name, None)
    if not isinstance(plain, type) or not issubclass(plain, Optimizer):
        raise _rows.missing(f"torch.optim.{name}")
    body = {"__init__": _initializer(plain), "__module__": __name__, "__doc__": plain.__doc__, **_with_hooks(plain)}
    body["add_param_group"] = _adding_groups(plain)
    globals()[name] = made = type(name, (plain,), body)
    return made


def __dir__() -> list[str]:
    return sorted({*_optim.__all__, "lr_scheduler", "swa_utils"})


__all__ = [name for name in _NAMES["optim"] if hasattr(_optim, name)]  # noqa: PLE0604
