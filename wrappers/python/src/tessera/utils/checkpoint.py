# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trades time for memory: a checkpointed call saves only its arguments, and the backward runs it again."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .. import _ops
from .._errors import AutogradError, InvalidValueError
from .._random import get_rng_state, set_rng_state
from .._tensor import Tensor
from ..autograd import Function, enable_grad, is_grad_enabled
from ..autograd.graph import saved_tensors_hooks


class _Enough(BaseException):
    """Ends a recomputation that has found all tensors that the backward can need."""


class _KeepInputs(Function):
    """A node that saves the tensors among the arguments as an op would: with a version check, and through the hooks of
    an outer checkpoint."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return anchor.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise AssertionError("nothing is computed from the result")


class _Slot:
    """Placeholder in the graph for a tensor that was not saved."""

    __slots__ = ("__weakref__", "run")

    def __init__(self, run: _Run) -> None:
        self.run = run


class _Run:
    """One checkpointed call: the data to repeat it, and the tensors that the repetition gave.

    The graph owns the slots, the slots own this object, and this object holds only weak references to the slots: a
    recomputed tensor lives as long as the node that needs it.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], rng: bool) -> None:
        self.function, self.names = function, list(kwargs)
        values = [*args, *kwargs.values()]
        self.places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        tensors = [values[i] for i in self.places]
        self.requires_grad = [t.requires_grad for t in tensors]
        # Keeps the node and not its output.
        self.inputs = _KeepInputs.apply(_ops.zeros(()).requires_grad_(), *tensors).grad_fn
        self.others = [None if isinstance(v, Tensor) else v for v in values]
        self.rng_state = get_rng_state() if rng else None
        self.slots: list[weakref.ref[_Slot]] = []
        self.found: weakref.WeakKeyDictionary[_Slot, Tensor] = weakref.WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> _Slot:
        slot = _Slot(self)
        self.slots.append(weakref.ref(slot))
        return slot

    def unpack(self, slot: _Slot) -> Tensor:
        if slot not in self.found:
            self.recompute()
        if slot not in self.found:
            raise AutogradError(
                f"checkpoint(): the second run of {self.function!r} saved fewer tensors for the backward than the first; "
                "it must do the same each time"
            )
        return self.found[slot]

    def recompute(self) -> None:
        values = list(self.others)
        for place, tensor, requires_grad in zip(self.places, self.inputs.saved_tensors, self.requires_grad):
            values[place] = tensor.detach().requires_grad_(requires_grad)
        count = len(values) - len(self.names)
        before = get_rng_state() if self.rng_state is not None else None
        if self.rng_state is not None:
            set_rng_state(self.rng_state)
        try:
            with enable_grad(), saved_tensors_hooks(self._finder(), _used_inside):
                self.function(*values[:count], **dict(zip(self.names, values[count:])))
        except _Enough:
            pass
        finally:
            if before is not None:
                set_rng_state(before)

    def _finder(self) -> Callable[[Tensor], Tensor]:
        """A pack hook that takes the tensors of the slots that still exist."""
        wanted = {i: slot for i, ref in enumerate(self.slots) if (slot := ref()) is not None}
        last, count = max(wanted, default=-1), 0

        def pack(tensor: Tensor) -> Tensor:
            nonlocal count
            if count in wanted:
                self.found[wanted[count]] = tensor
            count += 1
            if count > last:
                raise _Enough
            return tensor

        return pack


def _used_inside(tensor: Tensor) -> Tensor:
    """The unpack hook of a repetition, for a function that runs its own backward."""
    return tensor


def checkpoint(function: Callable[..., Any], *args: Any, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """Returns function(*args, **kwargs) without saving its intermediate tensors: the backward runs the function again.

    The function must do the same both times. Random numbers of the default generator are the same unless
    preserve_rng_state is False. Writes between the two runs are detected only for tensors that are arguments
    themselves. Works with backward and grad, for derivatives of any order, and inside another checkpoint.
    """
    if not is_grad_enabled():
        return function(*args, **kwargs)
    run = _Run(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(run.pack, run.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]], segments: int, input: Any, *, preserve_rng_state: bool = True
) -> Any:
    """Calls the functions one after the other in `segments` parts; all parts except the last are checkpoints."""
    functions = list(functions)
    if not 1 <= segments <= len(functions):
        raise InvalidValueError(f"checkpoint_sequential(): expected 1 to {len(functions)} segments, got {segments}")

    def chain(part: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for function in part:
                value = function(value)
            return value

        return run

    size, start = len(functions) // segments, 0
    for _ in range(segments - 1):
        input = checkpoint(chain(functions[start : start + size]), input, preserve_rng_state=preserve_rng_state)
        start += size
    return chain(functions[start:])(input)


__all__ = ["checkpoint", "checkpoint_sequential"]
