# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of a module's backward that see the gradients of all its inputs and outputs: both pass through a function that is
the identity, whose backward calls the hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tessera.autograd import Function
from tessera.nn.module import RemovableHandle

from ..._core import TensorBase
from .._tensor import retyped


class _Gate(Function):
    """The tensors themselves; their gradients go through `passed`, which may replace them."""

    @staticmethod
    def forward(ctx: Any, passed: Callable[[Any], Any], fill: bool, *tensors: Any) -> Any:
        ctx.passed = passed
        ctx.set_materialize_grads(fill)
        same = tuple([tensor.view_as(tensor) for tensor in tensors])
        ctx.mark_non_differentiable(*[made for made, tensor in zip(same, tensors) if not tensor.requires_grad])
        return same

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, None, *ctx.passed(retyped(grads)))


def _through(values: list[Any], passed: Callable[[Any], Any], fill: bool) -> tuple[list[Any], list[int]]:
    """The values with their tensors taken through a gate, and the places of these; none if no gradient is wanted."""
    places = [place for place, value in enumerate(values) if isinstance(value, TensorBase)]
    if not any(values[place].requires_grad for place in places):
        return values, []
    changed = list(values)
    made = retyped(_Gate.apply(passed, fill, *[values[place] for place in places]))
    for place, value in zip(places, made):
        changed[place] = value
    return changed, places


def _replaced(grads: tuple[Any, ...], found: Any, what: str) -> tuple[Any, ...]:
    if found is None:
        return grads
    given = found if isinstance(found, tuple) else (found,)
    if len(given) != len(grads):
        raise RuntimeError(f"backward hook: expected {len(grads)} gradients of the {what}, got {len(given)}")
    return given


class _Call:
    """One forward of a module with full backward hooks."""

    def __init__(self, module: Any, hooks: Hooks, args: tuple[Any, ...]) -> None:
        self.module, self.hooks, self.count = module, hooks, len(args)
        changed, self.inputs = _through(list(args), self.entered, True)
        self.args = tuple(changed)
        self.outputs: list[int] = []
        self.size = 0
        self.grad_output: Any = None

    def result(self, result: Any) -> Any:
        several = isinstance(result, (tuple, list))
        values = list(result) if several else [result]
        self.size = len(values)
        changed, self.outputs = _through(values, self.left, False)
        if not several:
            return changed[0]
        return type(result)(*changed) if hasattr(result, "_fields") else type(result)(changed)

    def left(self, grads: Any) -> Any:
        full: list[Any] = [None] * self.size
        for place, grad in zip(self.outputs, grads):
            full[place] = grad
        self.grad_output = tuple(full)
        for hook in list(self.hooks.before.values()):
            self.grad_output = _replaced(self.grad_output, hook(self.module, self.grad_output), "outputs")
        if not self.inputs:
            self.run((None,) * self.count)
        return [self.grad_output[place] for place in self.outputs]

    def entered(self, grads: Any) -> Any:
        full: list[Any] = [None] * self.count
        for place, grad in zip(self.inputs, grads):
            full[place] = grad
        changed = self.run(tuple(full))
        return [changed[place] for place in self.inputs]

    def run(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in list(self.hooks.after.values()):
            grads = _replaced(grads, hook(self.module, grads, self.grad_output), "inputs")
        return grads


class Hooks:
    """Full backward hooks: `before` see the gradients of the outputs, `after` those of the inputs, too."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}
        self.after: dict[int, Any] = {}


class FullHooks(Hooks):
    """The full backward hooks of a module."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.open: list[_Call | None] = []  # forwards that have begun
        module.register_forward_pre_hook(self._begin)
        module.register_forward_hook(self._end, with_kwargs=True, always_call=True)

    def _begin(self, module: Any, args: tuple[Any, ...]) -> Any:
        call = _Call(module, self, args) if self.before or self.after else None
        self.open.append(call)
        return None if call is None else call.args

    def _end(self, module: Any, args: Any, kwargs: Any, result: Any) -> Any:
        call = self.open.pop() if self.open else None
        return None if call is None or result is None else call.result(result)

    @staticmethod
    def add(hooks: dict[int, Any], hook: Any, prepend: bool) -> RemovableHandle:
        handle = RemovableHandle(hooks)
        others = dict(hooks) if prepend else {}
        for key in others:
            del hooks[key]
        hooks[handle._key] = hook
        hooks.update(others)
        return handle


def hooks_of(module: Any) -> FullHooks:
    found: FullHooks | None = module.__dict__.get("_full_hooks")
    if found is None:
        found = module.__dict__["_full_hooks"] = FullHooks(module)
    return found
