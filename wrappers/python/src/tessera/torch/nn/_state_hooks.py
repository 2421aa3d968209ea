# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of a module's state_dict() and load_state_dict(), and states that are no tensors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from tessera.nn.module import Module as _Module
from tessera.nn.module import RemovableHandle

_EXTRA = "_extra_state"
_ATTRIBUTE, _LOADING = "_state_hooks", "_loading_state"


def add_hook(module: Any, kind: str, hook: Callable[..., Any]) -> RemovableHandle:
    hooks = module.__dict__.setdefault(_ATTRIBUTE, {}).setdefault(kind, {})
    handle = RemovableHandle(hooks)
    hooks[handle._key] = hook
    return handle


def _hooks(module: Any, kind: str) -> list[Any]:
    return list(module.__dict__.get(_ATTRIBUTE, {}).get(kind, {}).values())


def _has_extra(module: Any) -> bool:
    from ._module import Module

    return getattr(type(module), "get_extra_state", Module.get_extra_state) is not Module.get_extra_state


def wants_states(module: Any) -> bool:
    """Whether a module in this one has hooks of states or an extra state."""
    return _LOADING not in module.__dict__ and any(_ATTRIBUTE in part.__dict__ or _has_extra(part) for part in module.modules())


def _parts(module: Any, prefix: str) -> list[tuple[str, Any]]:
    """Each prefix of each module in this one; children before their parents, as their hooks run."""
    named = [(f"{path}." if path else "", part) for path, part in module._paths(prefix.rstrip("."))]
    return named[::-1]


def state_of(module: Any, prefix: str, keep_vars: bool) -> Any:
    parts = _parts(module, prefix)
    for head, part in reversed(parts):
        for hook in _hooks(part, "before_state"):
            hook(part, head, keep_vars)
    found = OrderedDict(_Module.state_dict(module, prefix, keep_vars))
    for head, part in parts:
        if _has_extra(part):
            found[head + _EXTRA] = part.get_extra_state()
        for hook in _hooks(part, "after_state"):
            changed = hook(part, found, head, {})
            found = found if changed is None else changed
    return found


def load_state(module: Any, given: Mapping[str, Any], strict: bool, assign: bool, load: Callable[..., Any]) -> Any:
    state = OrderedDict(given)
    parts = _parts(module, "")
    missing: list[str] = []
    unexpected: list[str] = []
    problems: list[str] = []
    for head, part in reversed(parts):
        for hook in _hooks(part, "before_load"):
            hook(part, state, head, {}, strict, missing, unexpected, problems)
    extra = {head + _EXTRA: part for head, part in parts if _has_extra(part)}
    values = {key: state.pop(key) for key in extra if key in state}
    covered = {id(extra[key]) for key in values}
    absent = [key for key, part in extra.items() if id(part) not in covered]  # one name of a shared module is enough
    if problems or (strict and absent):
        text = "\n\t".join([*problems, *[f'Missing key(s) in state_dict: "{key}". ' for key in absent if strict]])
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{text}")
    module.__dict__[_LOADING] = True  # the library asks for the state dict: it means the tensors
    try:
        keys = load(state, strict, assign)
    finally:
        del module.__dict__[_LOADING]
    keys.missing_keys += absent + missing
    keys.unexpected_keys += unexpected
    for key, value in values.items():
        extra[key].set_extra_state(value)
    for _, part in parts:
        for hook in _hooks(part, "after_load"):
            hook(part, keys)
    return keys


__all__ = ["add_hook", "load_state", "state_of", "wants_states"]
