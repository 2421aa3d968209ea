# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trades time for memory: a checkpointed call saves only its arguments, and the backward runs it again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import _core
from .._backward import backward
from .._constants import CHECKPOINT_FRESH_RANDOM, CHECKPOINT_RUN_TO_END, CHECKPOINT_UNCHECKED
from .._core import TensorBase
from .._errors import AutogradError, InvalidValueError
from .._random import get_rng_state, set_rng_state
from .._tensor import Tensor
from ..autograd import Function, enable_grad, is_grad_enabled
from ..capi import lib, out

Contexts = tuple[Any, Any]


class _Early(threading.local):
    stop: bool | None = None


_early = _Early()


class set_checkpoint_early_stop:  # noqa: N801  (PyTorch's name)
    """Inside the block, all checkpoints that begin on this thread end their second run early, or go to its end."""

    def __init__(self, enable: bool) -> None:
        self._enable = bool(enable)

    def __enter__(self) -> None:
        self._before, _early.stop = _early.stop, self._enable

    def __exit__(self, *error: object) -> None:
        _early.stop = self._before


def _no_contexts() -> Contexts:
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Call:
    """A function with the arguments that are no tensors; it runs with tensors in the places of the others."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.function, self.names = function, list(kwargs)
        values = [*args, *kwargs.values()]
        self.places = [i for i, v in enumerate(values) if isinstance(v, TensorBase)]
        self.tensors = [values[i] for i in self.places]
        self.others = [None if isinstance(v, TensorBase) else v for v in values]

    def drop_tensors(self) -> list[Any]:
        tensors, self.tensors = self.tensors, []
        return tensors

    def __call__(self, *tensors: Any) -> Any:
        values = list(self.others)
        for place, tensor in zip(self.places, tensors):
            values[place] = tensor
        count = len(values) - len(self.names)
        return self.function(*values[:count], **dict(zip(self.names, values[count:])))


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = False,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], Contexts] = _no_contexts,
    determinism_check: str = "default",
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Returns function(*args, **kwargs) without saving its intermediate tensors: the backward runs the function again.

    The function must do the same both times. Random numbers of the thread's generator are the same unless
    preserve_rng_state is False. Writes between the two runs are detected only for tensors that are arguments themselves.
    Works with backward and grad, for derivatives of any order, and inside another checkpoint.

    The second run ends when it has computed the last tensor that is needed, by an exception (CancelledError) that passes
    through the function, unless early_stop is False. The two runs must save tensors of the same shapes, dtypes and
    devices; determinism_check="none" does not look. context_fn returns two context managers, in which the first and the
    second run take place.

    With use_reentrant the function is one node of the graph, whose backward runs a backward of its own. That is PyTorch's
    older form: at least one argument must require grad, and it works with backward() alone.
    """
    if determinism_check not in ("default", "none"):
        raise InvalidValueError(f"checkpoint(): determinism_check: expected 'default' or 'none', got {determinism_check!r}")
    if use_reentrant:
        if context_fn is not _no_contexts:
            raise InvalidValueError("checkpoint(): context_fn: expected none with use_reentrant=True")
        return _reentrant(_Call(function, args, kwargs), preserve_rng_state)
    first, second = context_fn()
    if not is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    call = _Call(function, args, kwargs)
    flags = 0 if preserve_rng_state else CHECKPOINT_FRESH_RANDOM
    if not (early_stop if _early.stop is None else _early.stop):
        flags |= CHECKPOINT_RUN_TO_END
    if determinism_check == "none":
        flags |= CHECKPOINT_UNCHECKED

    def again(*tensors: Any) -> None:
        with second:
            call(*tensors)

    _core.begin_checkpoint(again, call.drop_tensors(), flags)
    try:
        with first:
            return function(*args, **kwargs)
    finally:
        _core.pop_saved_hooks()


class _Whole(Function):
    """A function as one node, which saves the arguments and runs a backward of its own."""

    @staticmethod
    def forward(ctx: Any, call: _Call, rng: bool, *tensors: Any) -> Any:
        ctx.call, ctx.rng_state = call, get_rng_state() if rng else None
        ctx.save_for_backward(*tensors)
        result = call(*tensors)
        ctx.single = not isinstance(result, (tuple, list))
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not out("int32_t", lib.tsr_backward_reaches_all):
            raise AutogradError(
                "Checkpointing is not compatible with .grad() or when an `inputs` parameter is passed to .backward(). "
                "Please use .backward() and do not pass its `inputs` argument, or checkpoint(use_reentrant=False)."
            )
        inputs = [t.detach().requires_grad_(n) for t, n in zip(ctx.saved_tensors, ctx.needs_input_grad[2:])]
        with enable_grad(), _random_state(ctx.rng_state):
            result = ctx.call(*inputs)
        outputs = [result] if ctx.single else list(result)
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, Tensor) and o.requires_grad and g is not None]
        if not pairs:
            raise AutogradError("checkpoint(): none of the results of the second run requires grad, so it is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(t.grad for t in inputs))


@contextlib.contextmanager
def _random_state(state: Any) -> Iterator[None]:
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


def _reentrant(call: _Call, rng: bool) -> Any:
    return _Whole.apply(call, rng, *call.drop_tensors())


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]],
    segments: int,
    input: Any,
    *,
    use_reentrant: bool = False,
    preserve_rng_state: bool = True,
    **options: Any,
) -> Any:
    """Calls the functions, or the layers of a Sequential, one after the other in `segments` parts; all parts except the
    last are checkpoints. Further options are those of checkpoint()."""
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
        part = chain(functions[start : start + size])
        input = checkpoint(
            part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state, **options
        )
        start += size
    return chain(functions[start:])(input)


__all__ = ["checkpoint", "checkpoint_sequential", "set_checkpoint_early_stop"]
