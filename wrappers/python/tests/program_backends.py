# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The backends that run random programs (program_model.py): Tessera, PyTorch if it can be imported, NumPy with
tangents.

A method of a backend is one op of the programs; writing ops change their first argument and return nothing. Ops with
the same name in Tessera and PyTorch are in `Library`.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tessera as ts
from tessera import autograd


def values_of(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, shape)


def basic(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(*item[1:]) if isinstance(item, tuple) else item for item in index)


class Library:
    """Ops with the same name in both libraries."""

    lib: Any
    custom_product: Any
    custom_scale: Any

    # ---- new results ----

    def sin(self, a: Any) -> Any:
        return self.lib.sin(a)

    def tanh(self, a: Any) -> Any:
        return self.lib.tanh(a)

    def sigmoid(self, a: Any) -> Any:
        return self.lib.sigmoid(a)

    def scale(self, a: Any, by: float) -> Any:
        return a * by

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def subtract(self, a: Any, b: Any) -> Any:
        return a - b

    def multiply(self, a: Any, b: Any) -> Any:
        return a * b

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def where(self, a: Any, b: Any, mask: Any) -> Any:
        return self.lib.where(self.mask_of(mask), a, b)

    def masked(self, a: Any, mask: Any, value: float) -> Any:
        return a.masked_fill(self.mask_of(mask), value)

    def pick(self, a: Any, mask: Any) -> Any:
        return a[self.mask_of(mask)]

    def take(self, a: Any, rows: list[int]) -> Any:
        return a[self.lib.tensor(rows)]

    def clone(self, a: Any) -> Any:
        return a.clone()

    def custom(self, a: Any, b: Any) -> Any:
        return self.custom_product.apply(a, b)

    def hooked(self, a: Any, by: float) -> Any:
        result = a * 1
        if result.requires_grad:
            result.register_hook(lambda g: g * by)
        return result

    # ---- views ----

    def cut(self, a: Any, index: Any) -> Any:
        return a[basic(index)]

    def flatten(self, a: Any) -> Any:
        return a.reshape((-1,))

    # ---- writes ----

    def add_(self, a: Any, b: Any) -> None:
        a.add_(b)

    def multiply_(self, a: Any, b: Any) -> None:
        a.mul_(b)

    def copy_(self, a: Any, b: Any) -> None:
        a.copy_(b)

    def scale_(self, a: Any, by: float) -> None:
        a.mul_(by)

    def fill_(self, a: Any, value: float) -> None:
        a.fill_(value)

    def sin_(self, a: Any) -> None:
        a.sin_()

    def put(self, a: Any, b: Any, index: Any) -> None:
        a[basic(index)] = b

    def put_number(self, a: Any, index: Any, value: float) -> None:
        a[basic(index)] = value

    def put_mask(self, a: Any, mask: Any, value: float) -> None:
        a[self.mask_of(mask)] = value

    def put_rows(self, a: Any, b: Any, rows: list[int]) -> None:
        a[self.lib.tensor(rows)] = b

    def masked_(self, a: Any, mask: Any, value: float) -> None:
        a.masked_fill_(self.mask_of(mask), value)

    def add_out(self, a: Any, b: Any, c: Any) -> None:
        self.lib.add(b, c, out=a)

    def custom_(self, a: Any, by: float) -> None:
        self.custom_scale.apply(a, by)

    # ---- what takes part ----

    def detach(self, a: Any) -> Any:
        return a.detach()

    def require(self, a: Any, value: bool) -> None:
        a.requires_grad_(value)

    def retain(self, a: Any) -> None:
        a.retain_grad()

    def mode(self, name: str) -> Any:
        return getattr(self.lib, name)() if name else contextlib.nullcontext()

    def array(self, a: Any) -> Any:
        return a.detach().numpy().copy()

    def loss_of(self, tensor: Any, weight: Any) -> Any:
        return (tensor * self.wrap(weight)).sum()

    def wrap(self, values: Any) -> Any:
        raise NotImplementedError

    def mask_of(self, mask: Any) -> Any:
        return self.lib.tensor(np.array(mask, bool))

    def leaf(self, shape: tuple[int, ...], seed: int) -> Any:
        return self.wrap(values_of(shape, seed)).requires_grad_()

    def constant(self, shape: tuple[int, ...], seed: int) -> Any:
        return self.wrap(values_of(shape, seed))


def functions(base: Any) -> tuple[Any, Any]:
    """The two custom functions, for a library's class Function."""

    class Product(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            a, b = ctx.saved_tensors
            needs = ctx.needs_input_grad

            def fit(part: Any, like: Any) -> Any:
                while part.ndim > like.ndim:
                    part = part.sum(0)
                for axis in range(part.ndim):
                    if like.shape[axis] == 1 != part.shape[axis]:
                        part = part.sum(axis, keepdim=True)
                return part

            return fit(g * b, a) if needs[0] else None, fit(g * a, b) if needs[1] else None

    class Scale(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any, by: float) -> Any:
            ctx.by = by
            ctx.mark_dirty(a)
            return a.mul_(by)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.by, None

    return Product, Scale


class Ours(Library):
    lib = ts
    custom_product, custom_scale = functions(autograd.Function)

    def wrap(self, values: Any) -> Any:
        return ts.tensor(values)

    def total(self, a: Any, axis: int, keepdims: bool) -> Any:
        return ts.sum(a, axis=axis, keepdims=keepdims)

    def join(self, *parts: Any) -> Any:
        return ts.concat(parts, axis=0)

    def stack(self, *parts: Any, axis: int) -> Any:
        return ts.stack(parts, axis=axis)

    def permute(self, a: Any, axes: tuple[int, ...]) -> Any:
        return ts.permute_dims(a, axes)

    def expand(self, a: Any, shape: tuple[int, ...]) -> Any:
        return ts.broadcast_to(a, shape)

    def diagonal(self, a: Any) -> Any:
        return ts.diagonal(a)

    def unbind(self, a: Any) -> Any:
        return ts.unstack(a, axis=0)

    def chunk(self, a: Any) -> Any:
        return ts.split_with_sizes(a, (1, a.shape[0] - 1), axis=0)


def torch_backend() -> Library | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message=".*is deprecated")

    class Torch(Library):
        lib = torch
        custom_product, custom_scale = functions(torch.autograd.Function)

        def wrap(self, values: Any) -> Any:
            return torch.tensor(values)

        def total(self, a: Any, axis: int, keepdims: bool) -> Any:
            return torch.sum(a, axis, keepdim=keepdims)

        def join(self, *parts: Any) -> Any:
            return torch.cat(parts, 0)

        def stack(self, *parts: Any, axis: int) -> Any:
            return torch.stack(parts, axis)

        def permute(self, a: Any, axes: tuple[int, ...]) -> Any:
            return a.permute(axes)

        def expand(self, a: Any, shape: tuple[int, ...]) -> Any:
            return a.expand(shape)

        def diagonal(self, a: Any) -> Any:
            return a.diagonal()

        def unbind(self, a: Any) -> Any:
            return a.unbind(0)

        def chunk(self, a: Any) -> Any:
            return a.split((1, a.shape[0] - 1), 0)

    return Torch()


class Dual:
    """A value and its derivative in one direction, with one layout, so that views and writes act on both alike."""

    __slots__ = ("tan", "val")

    def __init__(self, val: Any, tan: Any = None) -> None:
        self.val = val
        self.tan = np.zeros(val.shape) if tan is None else tan


def is_dense(array: Any) -> bool:
    """Whether the elements fill their memory, in some order of the axes."""
    reach = array.itemsize
    for step, size in sorted(zip(array.strides, array.shape)):
        if size > 1 and step != reach:
            return False
        reach *= size
    return True


def in_order_of(first: Any, value: Any) -> Any:
    result = np.empty_like(first, dtype=value.dtype, order="K")
    result[...] = value
    return result


def laid_out_like(first: Any, values: Any) -> Any:
    """The values with the strides of `first`, so that a view of one is a view of the other; row-major if elements of
    `first` share memory."""
    if first.size == 0 or any(step == 0 and size > 1 for step, size in zip(first.strides, first.shape)):
        return values.copy()
    reach = sum((size - 1) * step for size, step in zip(first.shape, first.strides)) // first.itemsize + 1
    result = np.lib.stride_tricks.as_strided(np.zeros(reach), first.shape, first.strides)
    result[...] = values
    return result


class Reference:
    """NumPy with tangents: the derivative of every step is a central difference of that step alone, so that detach,
    no_grad and hooks have their effect, which a difference of the whole program would not show. Runs only the steps
    that the library under test has run; `frozen` are the leaves that get no gradient."""

    STEP = 1e-5

    def __init__(self, frozen: frozenset[int]) -> None:
        self.frozen = frozen
        self.recording = True
        self.directions: dict[int, Any] = {}
        self.number = 0  # the register that a step makes a leaf
        self.before: dict[int, Any] = {}  # the tangents that registers had before they were made leaves

    @contextlib.contextmanager
    def mode(self, name: str) -> Any:
        before, self.recording = self.recording, name in ("", "enable_grad")
        try:
            yield
        finally:
            self.recording = before

    def slope(self, function: Callable[..., Any], inputs: tuple[Dual, ...]) -> Any:
        if not self.recording or not any(x.tan.any() for x in inputs):
            return None
        ahead = function(*(x.val + self.STEP * x.tan for x in inputs))
        behind = function(*(x.val - self.STEP * x.tan for x in inputs))
        return np.array((ahead - behind) / (2 * self.STEP))

    def compute(self, function: Callable[..., Any], *inputs: Dual) -> Dual:
        value, slope = np.array(function(*(x.val for x in inputs))), self.slope(function, inputs)
        if any(0 in x.val.strides for x in inputs):  # NumPy keeps the order of repeated axes
            value, slope = np.array(value, order="C"), None if slope is None else np.array(slope, order="C")
        first = next((x.val for x in inputs if x.val.shape == value.shape), None)
        if len(inputs) > 1 and first is not None and is_dense(first):  # NumPy uses all inputs, the libraries the first
            value, slope = in_order_of(first, value), None if slope is None else in_order_of(first, slope)
        return Dual(value, slope)

    def window(self, function: Callable[..., Any], a: Dual) -> Dual:
        return Dual(function(a.val), function(a.tan) if self.recording else None)

    def write(self, function: Callable[..., Any], a: Dual, *inputs: Dual, place: Callable[..., Any] = lambda x: x) -> None:
        """a[place] = function(the old values there, inputs...)"""
        old = Dual(place(a.val).copy(), place(a.tan).copy())
        slope = self.slope(function, (old, *inputs))
        place(a.val)[...] = function(old.val, *(x.val for x in inputs))
        if self.recording:
            place(a.tan)[...] = 0 if slope is None else slope

    # ---- beginnings ----

    def direction(self, value: Any) -> Any:
        if self.number not in self.directions:
            self.directions[self.number] = values_of(value.shape, 5000 + self.number)
        return laid_out_like(value, np.zeros(value.shape) if self.number in self.frozen else self.directions[self.number])

    def leaf(self, shape: tuple[int, ...], seed: int) -> Dual:
        value = values_of(shape, seed)
        return Dual(value, self.direction(value))

    def constant(self, shape: tuple[int, ...], seed: int) -> Dual:
        return Dual(values_of(shape, seed))

    # ---- new results ----

    def sin(self, a: Dual) -> Dual:
        return self.compute(np.sin, a)

    def tanh(self, a: Dual) -> Dual:
        return self.compute(np.tanh, a)

    def sigmoid(self, a: Dual) -> Dual:
        return self.compute(lambda x: 1 / (1 + np.exp(-x)), a)

    def scale(self, a: Dual, by: float) -> Dual:
        return self.compute(lambda x: x * by, a)

    def add(self, a: Dual, b: Dual) -> Dual:
        return self.compute(np.add, a, b)

    def subtract(self, a: Dual, b: Dual) -> Dual:
        return self.compute(np.subtract, a, b)

    def multiply(self, a: Dual, b: Dual) -> Dual:
        return self.compute(np.multiply, a, b)

    custom = multiply

    def matmul(self, a: Dual, b: Dual) -> Dual:
        return self.compute(np.matmul, a, b)

    def where(self, a: Dual, b: Dual, mask: Any) -> Dual:
        return self.compute(np.where, Dual(np.array(mask, bool)), a, b)

    def masked(self, a: Dual, mask: Any, value: float) -> Dual:
        return self.compute(lambda x: np.where(mask, value, x), a)

    def pick(self, a: Dual, mask: Any) -> Dual:
        return self.compute(lambda x: x[np.array(mask, bool)], a)

    def take(self, a: Dual, rows: list[int]) -> Dual:
        return self.compute(lambda x: x[rows], a)

    def clone(self, a: Dual) -> Dual:
        return self.compute(np.copy, a)

    def total(self, a: Dual, axis: int, keepdims: bool) -> Dual:
        return self.compute(lambda x: x.sum(axis, keepdims=keepdims), a)

    def join(self, *parts: Dual) -> Dual:
        return self.compute(lambda *x: np.concatenate(x), *parts)

    def stack(self, *parts: Dual, axis: int) -> Dual:
        return self.compute(lambda *x: np.stack(x, axis), *parts)

    def hooked(self, a: Dual, by: float) -> Dual:
        result = self.clone(a)
        result.tan *= by
        return result

    # ---- views ----

    def cut(self, a: Dual, index: Any) -> Dual:
        return self.window(lambda x: x[(*basic(index), ...)], a)

    def flatten(self, a: Dual) -> Dual:
        return self.window(lambda x: x.reshape(-1), a)

    def permute(self, a: Dual, axes: tuple[int, ...]) -> Dual:
        return self.window(lambda x: x.transpose(axes), a)

    def expand(self, a: Dual, shape: tuple[int, ...]) -> Dual:
        def repeated(x: Any) -> Any:
            wide = np.broadcast_to(x, shape)
            return np.lib.stride_tricks.as_strided(x, shape, wide.strides)  # may be written if no elements share memory

        return self.window(repeated, a)

    def diagonal(self, a: Dual) -> Dual:
        def places(x: Any) -> Any:
            return np.lib.stride_tricks.as_strided(x, (min(x.shape),), (sum(x.strides),))

        return self.window(places, a)

    def unbind(self, a: Dual) -> list[Dual]:
        return [self.window(lambda x, i=i: x[i, ...], a) for i in range(len(a.val))]

    def chunk(self, a: Dual) -> list[Dual]:
        return [self.window(lambda x: x[:1], a), self.window(lambda x: x[1:], a)]

    # ---- writes ----

    def add_(self, a: Dual, b: Dual) -> None:
        self.write(np.add, a, b)

    def multiply_(self, a: Dual, b: Dual) -> None:
        self.write(np.multiply, a, b)

    def copy_(self, a: Dual, b: Dual) -> None:
        self.write(lambda _, y: np.broadcast_to(y, a.val.shape), a, b)

    def scale_(self, a: Dual, by: float) -> None:
        self.write(lambda x: x * by, a)

    custom_ = scale_

    def fill_(self, a: Dual, value: float) -> None:
        self.write(lambda x: np.full(x.shape, value), a)

    def sin_(self, a: Dual) -> None:
        self.write(np.sin, a)

    def put(self, a: Dual, b: Dual, index: Any) -> None:
        place = (*basic(index), ...)
        self.write(lambda x, y: np.broadcast_to(y, x.shape), a, b, place=lambda x: x[place])

    def put_number(self, a: Dual, index: Any, value: float) -> None:
        place = (*basic(index), ...)
        self.write(lambda x: np.full(x.shape, value), a, place=lambda x: x[place])

    def put_mask(self, a: Dual, mask: Any, value: float) -> None:
        self.write(lambda x: np.where(mask, value, x), a)

    masked_ = put_mask

    def put_rows(self, a: Dual, b: Dual, rows: list[int]) -> None:
        def put(x: Any, y: Any) -> Any:
            x = x.copy()
            x[rows] = y
            return x

        self.write(put, a, b)

    def add_out(self, a: Dual, b: Dual, c: Dual) -> None:
        # Not differentiable: a has no graph and gets none.
        self.write(lambda _, y, z: np.broadcast_to(y + z, a.val.shape), a, Dual(b.val), Dual(c.val))

    # ---- what takes part ----

    def detach(self, a: Dual) -> Dual:
        return Dual(a.val)

    def require(self, a: Dual, value: bool) -> None:
        raise NotImplementedError  # the runner handles it, because it knows the leaf

    def retain(self, a: Dual) -> None:
        pass
