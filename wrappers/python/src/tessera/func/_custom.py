# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""autograd.Function inside vmap: by its own rule, by running forward and backward on the batch, or once for each sample."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from .. import _ops
from .._core import is_tensor
from .._errors import ArgumentTypeError, InvalidValueError
from ..autograd import _function
from ..autograd._function import Function, FunctionCtx
from . import _levels
from ._batched import Batched, make, of_level, physical
from ._dispatch import sample, stacked, wrapped
from ._levels import Level
from ._vmap import _front


class VmapInfo(NamedTuple):
    """What the static method vmap of a custom function is told."""

    batch_size: int
    randomness: str


def takes(args: tuple[Any, ...]) -> bool:
    return any(isinstance(item, Batched) for item in args)


def apply(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    level = max((item._level for item in args if isinstance(item, Batched)), key=lambda one: one.depth)
    inputs = tuple(physical(item) if of_level(item, level) else item for item in args)
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise ArgumentTypeError(f"{cls.__name__}: expected one of vmap() and generate_vmap_rule = True, got both")
    if own:
        return _by_rule(cls, args, inputs, kwargs, level)
    if cls.generate_vmap_rule:
        return _on_batch(cls, args, inputs, kwargs, level)
    if cls not in _warned:
        _warned.add(cls)
        warnings.warn(
            f"vmap: {cls.__name__} has neither vmap() nor generate_vmap_rule = True and runs once for each sample",
            UserWarning,
            stacklevel=3,
        )
    results = [cls.apply(*[sample(item, level, i) for item in args], **kwargs) for i in range(level.samples)]
    results = [tuple(r) if isinstance(r, list) else r for r in results]
    return wrapped(stacked(cls.__name__, results), level)


_warned: set[type[Function]] = set()


def _by_rule(cls: type[Function], args: tuple[Any, ...], inputs: tuple[Any, ...], kwargs: dict[str, Any], level: Level) -> Any:
    info = VmapInfo(level.samples, level.randomness)
    in_dims = tuple(0 if of_level(item, level) else None for item in args)
    with _levels.outside():
        given = cls.vmap(info, in_dims, *inputs, **kwargs)
    if not isinstance(given, tuple) or len(given) != 2:
        raise ArgumentTypeError(f"{cls.__name__}.vmap: expected (output, out_dims), got {given!r:.80}")
    result, out_dims = given
    if isinstance(result, (tuple, list)):
        dims = out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(result)
        if len(dims) != len(result):
            raise InvalidValueError(f"{cls.__name__}.vmap: expected {len(result)} out_dims, got {len(dims)}")
        return tuple(_sample(item, dim, level) for item, dim in zip(result, dims))
    return _sample(result, out_dims, level)


def _sample(result: Any, dim: int | None, level: Level) -> Any:
    return result if dim is None or not is_tensor(result) else make(_front(result, dim), level)


# ---- forward and backward on the batch ----


class _BatchCtx(FunctionCtx):
    """The context that a function sees whose forward runs on samples: what it saves, the real context saves as batches."""

    def __init__(self, real: FunctionCtx) -> None:
        self._real = real
        self._level: Any = None
        self._varying: tuple[bool, ...] = ()

    def begin(self, level: Level) -> None:
        self._level = level

    def _below(self, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(physical(t) if of_level(t, self._level) else t for t in tensors)

    def save_for_backward(self, *tensors: Any) -> None:
        self._varying = tuple(of_level(t, self._level) for t in tensors)
        self._real.save_for_backward(*self._below(tensors))

    def save_for_forward(self, *tensors: Any) -> None:
        self._varying = tuple(of_level(t, self._level) for t in tensors)
        self._real.save_for_forward(*self._below(tensors))

    def mark_dirty(self, *tensors: Any) -> None:
        self._real.mark_dirty(*self._below(tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._real.mark_non_differentiable(*self._below(tensors))

    def set_materialize_grads(self, value: bool) -> None:
        self._real.set_materialize_grads(value)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:  # type: ignore[override]
        found: tuple[bool, ...] = self._real.needs_input_grad
        return found

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        saved = self._real.saved_tensors
        return tuple(make(t, self._level) if v and t is not None else t for t, v in zip(saved, self._varying))


def _on_batch(cls: type[Function], args: tuple[Any, ...], inputs: tuple[Any, ...], kwargs: dict[str, Any], level: Level) -> Any:
    varying = [of_level(item, level) for item in args]
    several: list[bool] = []

    class Whole(Function):
        generate_vmap_rule = True  # a vmap around this one
        _zero_tangents = cls._zero_tangents

        @staticmethod
        def forward(ctx: Any, *batches: Any) -> Any:
            inner = ctx.inner = _BatchCtx(ctx)
            inner.begin(level)
            samples = tuple(make(b, level) if v else b for b, v in zip(batches, varying))
            ctx.shapes = [tuple(s.shape) if is_tensor(s) else () for s in samples]
            if cls.setup_context is Function.setup_context:
                result = cls.forward(inner, *samples, **kwargs)
            else:
                result = cls.forward(*samples, **kwargs)
                cls.setup_context(inner, samples, result)
            several.append(isinstance(result, (tuple, list)))
            results = tuple(result) if several[0] else (result,)
            return tuple(_whole(item, level) for item in results)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            with _levels.entered(level.samples, level.randomness) as now:
                ctx.inner.begin(now)
                back = cls.backward(ctx.inner, *[None if g is None else make(g, now) for g in grads])
                back = back if isinstance(back, tuple) else tuple(back) if isinstance(back, list) else (back,)
                fitting = [_summed_to(g, shape) for g, shape in zip(back, ctx.shapes)] + list(back[len(ctx.shapes) :])
                return tuple(_gradient(g, v, now) for g, v in zip(fitting, [*varying, *[True] * len(back)]))

    if cls.jvp is not Function.jvp:

        def jvp(ctx: Any, *tangents: Any) -> Any:
            samples = [make(t, level) if v and t is not None else t for t, v in zip(tangents, varying)]
            found = cls.jvp(ctx.inner, *samples)
            results = tuple(found) if isinstance(found, (tuple, list)) else (found,)
            return tuple(None if t is None else _whole(t, level) for t in results)

        setattr(Whole, "jvp", staticmethod(jvp))  # noqa: B010
    Whole.__name__ = cls.__name__
    setattr(Whole.backward, "_once_differentiable", getattr(cls.backward, "_once_differentiable", False))  # noqa: B010
    made = tuple(make(item, level) if is_tensor(item) else item for item in Whole.apply(*inputs))
    return made if several[0] else made[0]


def _whole(item: Any, level: Level) -> Any:
    if of_level(item, level):
        return physical(item)
    return _ops.expand(item, (level.samples, *item.shape)) if is_tensor(item) else item


def _summed_to(grad: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of a sample without what broadcasting repeated, which only the sample's shape tells."""
    if not is_tensor(grad) or tuple(grad.shape) == shape or grad.ndim < len(shape):
        return grad
    front = grad.ndim - len(shape)
    ones = [front + i for i, size in enumerate(shape) if size == 1 and grad.shape[front + i] != 1]
    summed = _ops.sum(grad, ones, keepdims=True) if ones else grad
    return _ops.sum(summed, list(range(front))) if front else summed


def _gradient(grad: Any, varying: bool, level: Level) -> Any:
    """The gradient of the batch; of an input that is the same for all samples, the sum of theirs."""
    if grad is None:
        return None
    if varying:
        return _whole(grad, level)
    return _ops.sum(physical(grad), 0) if of_level(grad, level) else _ops.multiply(grad, level.samples)


_function.in_batch = __import__("sys").modules[__name__]
