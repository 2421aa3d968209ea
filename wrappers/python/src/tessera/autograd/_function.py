# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Differentiable functions written in Python."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from .. import _ops
from .._constants import NODE_ONCE_DIFFERENTIABLE, NODE_UNDEFINED_GRADS
from .._core import TensorBase, attach_node, is_same, needs_grad, saved_tensors
from .._errors import ArgumentTypeError, AutogradError, NotSupportedError
from .._graph import Node
from .._tensor import Tensor
from ..capi import lib
from .._modes import no_grad
from .forward_ad import forward_off

in_batch: Any = None  # func._custom, once it is there: apply() inside vmap
F = TypeVar("F", bound=Callable[..., Any])
_HAS_JVP = 1 << 30  # in the flags of attach_node: the callable has a method push


class FunctionCtx:
    """The context that forward passes to backward. Set any attribute; save tensors with save_for_backward."""

    needs_input_grad: tuple[bool, ...] = ()
    _saved: tuple[Any, ...] = ()
    _for_forward: tuple[Any, ...] | None = None
    _dirty: tuple[Any, ...] = ()
    _constant: tuple[Any, ...] = ()
    _materialize = True
    _node: Node | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Saves inputs and outputs; the backward raises if they were changed in place meanwhile."""
        for item in tensors:
            if item is not None and not isinstance(item, TensorBase):
                raise ArgumentTypeError(f"save_for_backward(): expected Tensors, got {type(item).__name__}")
        self._saved = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for jvp, which finds them in saved_tensors; without this call jvp finds what
        save_for_backward saved."""
        for item in tensors:
            if item is not None and not isinstance(item, TensorBase):
                raise ArgumentTypeError(f"save_for_forward(): expected Tensors, got {type(item).__name__}")
        self._for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declares the inputs that forward changed in place; forward must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declares the outputs that have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Sets whether backward gets undefined gradients as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self._node is None:
            return self._saved if self._for_forward is None else self._for_forward
        return saved_tensors(self._node)


class Function:
    """Base of custom functions: static methods forward(ctx, ...) and backward(ctx, *grads), also called vjp.

    For forward mode add a static method jvp(ctx, *tangents), which gets one tangent, or None, for each argument of
    forward, and returns one for each result.

    With a static method setup_context(ctx, inputs, output), forward takes no ctx: it only computes, and setup_context saves.

    Inside func.vmap, a static method vmap(info, in_dims, *args) runs the function on a whole batch and returns (output,
    out_dims); info has batch_size and randomness. With generate_vmap_rule = True, forward and backward themselves run on the
    batch, as any function inside vmap. Otherwise apply runs once for each sample.

    Call apply(...). backward returns one gradient, or None, for each argument of forward; it gets one for each result of
    forward, None for results that are not tensors.
    """

    generate_vmap_rule = False
    _zero_tangents = False  # whether jvp gets zeros, as PyTorch's, for tensors without a tangent

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotSupportedError("a custom function needs a static method forward(ctx, ...)")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        raise NotSupportedError("a custom function needs a static method backward(ctx, *grads)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotSupportedError("a custom function without setup_context() saves in forward(ctx, ...)")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        raise NotSupportedError("a custom function without vmap() runs once for each sample")

    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any:
        raise NotSupportedError("a custom function needs a static method jvp(ctx, *tangents) for forward mode")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "vjp" in cls.__dict__:
            if "backward" in cls.__dict__:
                raise ArgumentTypeError(f"{cls.__name__}: expected one of backward and vjp, which mean the same, got both")
            setattr(cls, "backward", cls.__dict__["vjp"])  # noqa: B010 (mypy takes it for a method)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            _check_keywords(cls, kwargs)
        if cls.setup_context is not Function.setup_context:
            args, kwargs = _with_defaults(cls, args, kwargs)
        if in_batch is not None and in_batch.takes(args):
            return in_batch.apply(cls, args, kwargs)
        ctx = FunctionCtx()
        ctx.needs_input_grad = needs = needs_grad(args)
        forward_mode = lib.tsr_forward_level() >= 0
        without_tangents: Any = forward_off() if forward_mode else nullcontext()
        with no_grad(), without_tangents:
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args, **kwargs)
            else:
                result = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, result)
        wanted = True in needs or forward_mode
        if isinstance(result, TensorBase):
            return _attach(cls, ctx, args, (result,))[0] if wanted or ctx._dirty else result
        outputs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if not any(isinstance(output, TensorBase) for output in outputs):
            raise ArgumentTypeError(f"{cls.__name__}.forward: expected a Tensor among the results, got {result!r:.80}")
        if wanted or ctx._dirty:  # a write must be checked even if nothing is recorded
            outputs = _attach(cls, ctx, args, outputs)
        return outputs if isinstance(result, tuple) else list(outputs)


@functools.cache
def _signature(forward: Any) -> inspect.Signature | None:
    """The parameters of a forward that has defaults, which setup_context(), vmap() and backward() count, too."""
    try:
        found = inspect.signature(forward)
    except (TypeError, ValueError):
        return None
    known = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return found if any(p.default is not p.empty and p.kind in known for p in found.parameters.values()) else None


def _with_defaults(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    signature = _signature(cls.forward)
    if signature is None:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _check_keywords(cls: type[Function], given: dict[str, Any]) -> None:
    for name, value in given.items():
        if isinstance(value, TensorBase) and value.requires_grad:
            raise ArgumentTypeError(f"{cls.__name__}.apply(): a tensor that requires grad must come by position, got {name}=")


def _attach(cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> Any:
    """Makes the outputs results of a new node."""
    places, inputs, known = [], [], []
    for place, item in enumerate(args):
        if isinstance(item, TensorBase):
            places.append(place)
            inputs.append(item)
            known.append(item)
    if ctx._dirty:
        known = [item for item in known if not any(is_same(item, t) for t in ctx._dirty)]
    results, kinds, defined = [], [], []
    for item in outputs:
        is_tensor = isinstance(item, TensorBase)
        if is_tensor:
            # An input that is returned unchanged would lose its own graph, so the output is an alias of it.
            item = _ops.detach(item) if any(is_same(item, k) for k in known) else item
            defined.append(item)
        kinds.append(is_tensor)
        results.append(item)
    flags = 0 if ctx._materialize else NODE_UNDEFINED_GRADS
    if getattr(cls.backward, "_once_differentiable", False):
        flags |= NODE_ONCE_DIFFERENTIABLE
    if cls.jvp is not Function.jvp:
        flags |= _HAS_JVP
    caller = _Caller(cls, ctx, len(args), places, kinds)
    if flags & _HAS_JVP and cls._zero_tangents and ctx._materialize and lib.tsr_forward_level() >= 0:
        caller.likes = [(x.shape, x.dtype, x.device) for x in inputs]
    name = cls.__name__ + "Backward"
    attach_node(inputs, ctx._dirty, ctx._constant, ctx._saved, defined, name, caller, flags)
    ctx._saved = ctx._dirty = ctx._constant = ()
    ctx._for_forward = None
    return tuple(results)


class _Caller:
    """The callable of the node: calls backward with its ctx and checks the results."""

    __slots__ = ("cls", "count", "ctx", "defined", "likes", "places")

    def __init__(
        self, cls: type[Function], ctx: FunctionCtx, count: int, places: list[int], defined: list[bool]
    ) -> None:
        self.cls, self.ctx, self.count, self.places, self.defined = cls, ctx, count, places, defined
        self.likes: list[Any] = []  # shape, dtype and device of the inputs, where zeros are made of them

    def __call__(self, node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(grads) != len(self.defined):
            given = iter(grads)
            grads = tuple([next(given) if d else None for d in self.defined])
        self.ctx._node = node
        try:
            back = self.cls.backward(self.ctx, *grads)
        finally:
            self.ctx._node = None
        if isinstance(back, TensorBase):
            back = (back,)
        elif not isinstance(back, tuple):
            back = tuple(back) if isinstance(back, list) else (back,)
        if len(back) > self.count and all(b is None for b in back[self.count :]):
            back = back[: self.count]
        name = self.cls.__name__ + "Backward"
        if len(back) != self.count:
            raise AutogradError(
                f"function {name} returned an incorrect number of gradients (expected {self.count}, got {len(back)})"
            )
        for place, value in enumerate(back):
            if value is not None and place not in self.places:
                raise AutogradError(f"{name}: argument {place} of forward is no Tensor and takes no gradient")
            if value is not None and not isinstance(value, TensorBase):
                raise AutogradError(f"{name}: gradient {place}: expected a Tensor or None, got {type(value).__name__}")
        needs = self.ctx.needs_input_grad
        return tuple([back[p] if needs[p] else None for p in self.places])

    def push(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """The tangents of the outputs from those of the tensors among the arguments."""
        tangents: list[Any] = [None] * self.count
        for place, tangent in zip(self.places, given):
            tangents[place] = tangent
        for place, tangent, (shape, dtype, device) in zip(self.places, given, self.likes):
            if tangent is None and (dtype.is_floating_point or dtype.is_complex):
                tangents[place] = _ops.zeros(shape, dtype=dtype, device=device)
        found = self.cls.jvp(self.ctx, *tangents)
        results = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        name = self.cls.__name__ + ".jvp"
        if len(results) != len(self.defined):
            raise AutogradError(f"{name}: expected {len(self.defined)} tangents, one for each result, got {len(results)}")
        for place, value in enumerate(results):
            if value is not None and not isinstance(value, TensorBase):
                raise AutogradError(f"{name}: tangent {place}: expected a Tensor or None, got {type(value).__name__}")
        return tuple([value for value, defined in zip(results, self.defined) if defined])


def once_differentiable(function: F) -> F:
    """Marks a backward that is not itself differentiable: differentiating through it raises."""

    @functools.wraps(function)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            return function(ctx, *grads)

    wrapped._once_differentiable = True  # type: ignore[attr-defined]
    return wrapped  # type: ignore[return-value]
