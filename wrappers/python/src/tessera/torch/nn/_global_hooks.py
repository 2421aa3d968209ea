# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of all modules, as torch.nn.modules.module registers them. While there is none, modules do not know of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tessera.nn.module import RemovableHandle, _Hook

from ..._core import TensorBase
from ._full_hooks import Hooks, _Call
from ._module import REGISTRATIONS, Module

_before: dict[int, Any] = {}
_after: dict[int, Any] = {}
_grads = Hooks()


class _Handle(RemovableHandle):
    """Removes a hook of all modules; the last one takes the call of modules that looks for hooks with it."""

    def remove(self) -> None:
        super().remove()
        if not (_before or _after or _grads.before or _grads.after) and "__call__" in vars(Module):
            del Module.__call__


def _add(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    handle = _Handle(hooks)
    hooks[handle._key] = hook
    Module.__call__ = _call  # type: ignore[assignment]
    return handle


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """A module's call with the hooks of all modules before its own."""
    for hook in list(_before.values()):
        changed = hook(self, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    call = _Call(self, _grads, args) if _grads.before or _grads.after else None
    if call is not None:
        args = call.args
    if self._pre_hooks:
        args, kwargs = self._changed(args, kwargs)
    result = self._with_hooks(args, kwargs, [*_after.values(), *self._hooks.values()])
    if self._backward_hooks and isinstance(result, TensorBase) and result.requires_grad:
        result.register_hook(self._run_backward_hooks)  # type: ignore[attr-defined]
    return result if call is None else call.result(result)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(module, args) before the forward of every module."""
    return _add(_before, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """hook(module, args, result) after the forward of every module."""
    return _add(_after, _Hook(hook, with_kwargs, always_call) if with_kwargs or always_call else hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(module, grad_input, grad_output) in the backward of every module."""
    return _add(_grads.after, hook)


register_module_backward_hook = register_module_full_backward_hook


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """hook(module, grad_output) before the backward of every module."""
    return _add(_grads.before, hook)


def _registered(kind: str) -> Callable[[Callable[..., Any]], RemovableHandle]:
    def register(hook: Callable[..., Any]) -> RemovableHandle:
        handle = RemovableHandle(REGISTRATIONS[kind])
        REGISTRATIONS[kind][handle._key] = hook
        return handle

    register.__doc__ = f"hook(module, name, {kind}) when a {kind} is registered anywhere; a result replaces it."
    return register


register_module_parameter_registration_hook = _registered("parameter")
register_module_buffer_registration_hook = _registered("buffer")
register_module_module_registration_hook = _registered("module")

__all__ = [name for name in globals() if name.startswith("register_module_")]  # noqa: PLE0604
