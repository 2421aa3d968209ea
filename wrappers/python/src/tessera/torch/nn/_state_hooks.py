# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of a module's state_dict() and load_state_dict(), and states that are no tensors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tessera.nn.module import RemovableHandle, StateDictKeys, misfits, quoted

from ..._errors import InvalidValueError
from ..._modes import no_grad

_EXTRA = "_extra_state"
_ATTRIBUTE, _LOADING = "_state_hooks", "_loading_state"


def add_hook(module: Any, kind: str, hook: Callable[..., Any]) -> RemovableHandle:
    hooks = module.__dict__.setdefault(_ATTRIBUTE, {}).setdefault(kind, {})
    handle = RemovableHandle(hooks)
    hooks[handle._key] = hook
    return handle


def _hooks(module: Any, kind: str) -> list[Any]:
    return list(module.__dict__.get(_ATTRIBUTE, {}).get(kind, {}).values())


_BASE: list[Any] = []  # the class Module
_METHODS = ("get_extra_state", "_save_to_state_dict", "_load_from_state_dict")


def begin(base: Any) -> None:
    """Called with Module once it is made."""
    _BASE.append(base)


def overrides(module: Any, *names: str) -> bool:
    """Whether the class of a module has one of these methods of Module of its own."""
    kind, base = type(module), _BASE[0]
    return any([getattr(kind, name, None) not in (None, getattr(base, name)) for name in names])


def _has_extra(module: Any) -> bool:
    return overrides(module, "get_extra_state")


def wants_states(module: Any, parts: list[Any] | None = None) -> bool:
    """Whether a module in this one has hooks of states, an extra state, or its own way to save or load. `parts`: all of these."""
    if _LOADING in module.__dict__:
        return False
    found = [part for _, part in module._paths()] if parts is None else parts
    kinds = {type(part): part for part in found}
    return any([_ATTRIBUTE in part.__dict__ for part in found]) or any([overrides(part, *_METHODS) for part in kinds.values()])


def _parts(module: Any, prefix: str) -> list[tuple[str, Any]]:
    """Each prefix of each module in this one; children before their parents, as their hooks run."""
    named = [(f"{path}." if path else "", part) for path, part in module._paths(prefix.rstrip("."))]
    return named[::-1]


def state_of(module: Any, prefix: str, keep_vars: bool) -> Any:
    parts = _parts(module, prefix)
    for head, part in reversed(parts):
        for hook in _hooks(part, "before_state"):
            hook(part, head, keep_vars)
    found: Any = OrderedDict()
    for head, part in reversed(parts):
        (part._save_to_state_dict if hasattr(part, "_save_to_state_dict") else partial(save_own, part))(found, head, keep_vars)
    for head, part in parts:
        for hook in _hooks(part, "after_state"):
            changed = hook(part, found, head, {})
            found = found if changed is None else changed
    return found


def _own(module: Any) -> dict[str, Any]:
    """The tensors of a module itself that belong to its state."""
    transient = module._transient
    both = {**module._parameters, **module._buffers} if module._buffers else module._parameters
    return {name: value for name, value in both.items() if value is not None and name not in transient}


def save_tensors(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    for name, value in _own(module).items():
        destination[prefix + name] = value if keep_vars else value.detach()


def save_own(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    save_tensors(module, destination, prefix, keep_vars)
    if _has_extra(module):
        destination[prefix + _EXTRA] = module.get_extra_state()


def load_own(
    module: Any, state: Any, prefix: str, metadata: Any, strict: bool, missing: list[str], unexpected: list[str],
    problems: list[str],
) -> None:  # fmt: skip
    """Loads the part of a state that belongs to a module itself; the lists get what does not fit."""
    for hook in _hooks(module, "before_load"):
        hook(module, state, prefix, metadata, strict, missing, unexpected, problems)
    own, extra = _own(module), prefix + _EXTRA
    missing += [prefix + name for name in own if prefix + name not in state]
    if _has_extra(module):
        missing += [extra] if extra not in state else []
        if extra in state:
            module.set_extra_state(state[extra])
    for key in state if strict else ():
        name, *rest = key.removeprefix(prefix).split(".") if key.startswith(prefix) else ("",)
        known = name in (module._modules if rest else own) or (key == extra and _has_extra(module))
        if key.startswith(prefix) and not known:
            unexpected.append(key)
    given = {prefix + name: value for name, value in own.items() if prefix + name in state}
    wrong = [text for key, value in given.items() for text in misfits(key, value, state[key])]
    problems += wrong
    if wrong:
        return
    if metadata.get("assign_to_params_buffers"):
        module._assign_own(state, prefix)
        return
    with no_grad():
        for key, value in given.items():
            value.detach().copy_(state[key].detach())


class _IncompatibleKeys(StateDictKeys):
    """The library's keys under PyTorch's name of the class."""


def _load_by_parts(module: Any, state: Any, versions: Any, strict: bool, assign: bool) -> Any:
    """Loads each module by its own method, as PyTorch does."""
    parts = _parts(module, "")
    keys = _IncompatibleKeys([], [])
    missing, unexpected, problems = keys.missing_keys, keys.unexpected_keys, list[str]()
    for head, part in reversed(parts):
        load = part._load_from_state_dict if hasattr(part, "_load_from_state_dict") else partial(load_own, part)
        metadata = {**versions.get(head.rstrip("."), {}), "assign_to_params_buffers": assign}
        load(state, head, metadata, True, missing, unexpected, problems)
    covered = {(id(part), key.removeprefix(head)) for head, part in parts for key in state}
    places = {head + name: (id(part), name) for head, part in parts for name in (*_own(part), _EXTRA)}
    missing[:] = [key for key in missing if places.get(key) not in covered]  # one name of a shared module is enough
    for _, part in parts:
        for hook in _hooks(part, "after_load"):
            hook(part, keys)
    if strict:
        problems += [f"Missing key(s) in state_dict: {quoted(missing)}. "] if missing else []
        problems += [f"Unexpected key(s) in state_dict: {quoted(unexpected)}. "] if unexpected else []
    if problems:
        text = "\n\t".join(problems)
        raise InvalidValueError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{text}")
    return keys


def load_state(module: Any, given: Mapping[str, Any], strict: bool, assign: bool, load: Callable[..., Any]) -> Any:
    state = OrderedDict(given)
    parts = _parts(module, "")
    if any(overrides(part, "_load_from_state_dict") for _, part in parts):
        return _load_by_parts(module, state, getattr(given, "_metadata", {}), strict, assign)
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
        keys = _IncompatibleKeys(*load(state, strict, assign))
    finally:
        del module.__dict__[_LOADING]
    keys.missing_keys.extend(absent + missing)
    keys.unexpected_keys.extend(unexpected)
    for key, value in values.items():
        extra[key].set_extra_state(value)
    for _, part in parts:
        for hook in _hooks(part, "after_load"):
            hook(part, keys)
    return keys


__all__ = ["add_hook", "load_own", "load_state", "overrides", "save_own", "save_tensors", "state_of", "wants_states"]
