# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The tensors that a function sees inside vmap: they look like one sample and hold the whole batch.

Such an object has no handle, so the extension hands every operation on it to _dispatch (Note [Objects without a handle] in
native.h). Its class is made for the class of the tensor that it holds, so that isinstance() says what it says of a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .. import _core, _ops
from .._core import TensorBase
from .._errors import ArgumentTypeError, AutogradError, NotSupportedError
from .._tensor import Tensor
from ._levels import Level


def is_batched(value: Any) -> bool:
    return isinstance(value, Batched)


def physical(tensor: Any) -> Any:
    """The whole batch, with its axis in front."""
    if not tensor._level.alive:
        raise AutogradError(
            "vmap: a tensor of a call that has ended was used; a function inside vmap must return its results instead of "
            "keeping them elsewhere"
        )
    return tensor._physical


def of_level(value: Any, level: Level) -> bool:
    return isinstance(value, Batched) and value._level is level


def make(whole: Any, level: Level) -> Any:
    """One sample of the whole batch, whose first axis is that of the level."""
    made: Any = _core.blank(class_for(type(whole)))
    made._physical, made._level = whole, level
    return made


def lowered(tensor: Any, levels: tuple[Level, ...]) -> Any:
    """The tensor that stands below all these levels, with an axis for each of them in front, the outermost first. A level
    that the tensor does not vary with gives an axis of stride 0."""
    for level in reversed(levels):
        tensor = physical(tensor) if of_level(tensor, level) else _ops.expand(tensor, (level.samples, *tensor.shape))
    return tensor


def lifted(tensor: Any, levels: tuple[Level, ...]) -> Any:
    """The reverse of lowered."""
    for level in levels:
        tensor = make(tensor, level)
    return tensor


def _refuse(what: str, instead: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *args: Any, **options: Any) -> NoReturn:
        raise NotSupportedError(f"vmap: {what} of a tensor inside vmap: {instead}")

    return refuse


_FLOW = "it has a value for each sample; use where() in place of a branch that depends on data"
_VALUE = "it has a value for each sample, so there is no single one"
_MEMORY = "it is a view of a whole batch; return it from the function first"
_LEAF = "use func.grad or func.vjp inside vmap"

_REFUSED = {
    "__bool__": ("the truth", _FLOW), "__float__": ("the number", _VALUE), "__int__": ("the number", _VALUE),
    "__index__": ("the number", _VALUE), "__complex__": ("the number", _VALUE), "item": ("item()", _VALUE),
    "tolist": ("tolist()", _VALUE), "numpy": ("numpy()", _MEMORY), "__array__": ("a NumPy array", _MEMORY),
    "__dlpack__": ("a DLPack capsule", _MEMORY), "data_ptr": ("data_ptr()", _MEMORY), "__reduce_ex__": ("a pickle", _MEMORY),
    "__deepcopy__": ("a deep copy", _MEMORY), "view_bits": ("view_bits()", _MEMORY), "pin_memory": ("pin_memory()", _MEMORY),
    "share_memory_": ("share_memory_()", _MEMORY),
    "requires_grad_": ("requires_grad_()", _LEAF), "backward": ("backward()", _LEAF), "retain_grad": ("retain_grad()", _LEAF),
    "register_hook": ("register_hook()", _LEAF),
    "register_post_accumulate_grad_hook": ("register_post_accumulate_grad_hook()", _LEAF),
}  # fmt: skip


def _operands(value: Any) -> bool:
    return isinstance(value, (TensorBase, bool, int, float, complex, np.generic, np.ndarray))


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    function = getattr(_ops, name)

    def left(self: Any, other: Any) -> Any:
        return function(self, other) if _operands(other) else NotImplemented

    def right(self: Any, other: Any) -> Any:
        return function(other, self) if _operands(other) else NotImplemented

    return left, right


def _inplace(name: str) -> Callable[..., Any]:
    method = getattr(TensorBase, name + "_")

    def change(self: Any, other: Any) -> Any:
        return method(self, other)

    return change


def _unary(name: str) -> Callable[..., Any]:
    function = getattr(_ops, name)
    return lambda self: function(self)


def _same(name: str) -> property:
    """An attribute that is the batch's."""
    return property(lambda self: getattr(self._physical, name))


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
_COMPARE = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_UNARY = {"neg": "negative", "abs": "abs", "invert": "bitwise_invert", "pos": "clone"}


class Batched:
    """What the classes of samples have in common, whatever class of tensors they stand for."""

    __slots__ = ()
    __array_ufunc__ = None  # an array beside a sample leaves the operator to the sample
    _physical: Any
    _level: Level

    def __new__(cls, *args: Any, **options: Any) -> Any:
        raise NotSupportedError("vmap: samples are made by vmap")

    __hash__ = TensorBase.__hash__

    def __len__(self) -> int:
        shape = self._physical.shape
        if len(shape) == 1:
            raise ArgumentTypeError("len() of a 0-dim tensor")
        return int(shape[1])

    def __repr__(self) -> str:
        return f"Sample(level={self._level.depth}, {self._physical!r})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Any:
        return make(self._physical, self._level)

    def __getitem__(self, key: Any) -> Any:
        from ._index import getitem

        return getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        from ._index import setitem

        setitem(self, key, value)

    # ---- what the extension does not find in the batch (the rest of the metadata it does: redirect.c) ----

    def _set_requires_grad(self, value: Any) -> None:
        if bool(value) != bool(self._physical.requires_grad):
            raise NotSupportedError(f"vmap: requires_grad of a tensor inside vmap: {_LEAF}")

    requires_grad = property(lambda self: self._physical.requires_grad, _set_requires_grad)

    @property
    def grad(self) -> Any:
        raise NotSupportedError(f"vmap: the attribute grad of a tensor inside vmap: {_LEAF}")

    @property
    def __array_interface__(self) -> Any:
        raise NotSupportedError(f"vmap: a NumPy array of a tensor inside vmap: {_MEMORY}")

    @property
    def data(self) -> Any:
        return make(physical(self).data, self._level)

    @data.setter
    def data(self, value: Any) -> None:
        whole = lowered(value, (self._level,)) if is_batched(value) else value
        if not of_level(value, self._level):
            whole = _ops.expand(whole, (self._level.samples, *whole.shape))
        self._physical = whole

    def to(self, *args: Any, **options: Any) -> Any:
        options.pop("memory_format", None)  # of all axes, of which a sample has fewer
        plain = [_ops.select(physical(a), 0, 0) if is_batched(a) else a for a in args]
        return make(physical(self).to(*plain, **options), self._level)



def _made(name: str) -> Callable[..., Any]:
    """new_zeros() and its kin: a value of its own for each sample, so that it can be written to."""

    def make_new(self: Any, *args: Any, **options: Any) -> Any:
        whole = getattr(physical(self), name)(*args, **options)
        return make(_ops.clone(_ops.expand(whole, (self._level.samples, *whole.shape))), self._level)

    return make_new


for _name in ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros"):
    setattr(Batched, _name, _made(_name))
for _name in ("grad_fn", "is_leaf", "retains_grad", "_version"):
    setattr(Batched, _name, _same(_name))
for _name, (_what, _instead) in _REFUSED.items():
    setattr(Batched, _name, _refuse(_what, _instead))
for _name, _op in _BINARY.items():
    setattr(Batched, f"__{_name}__", _binary(_op)[0])
    setattr(Batched, f"__r{_name}__", _binary(_op)[1])
    if hasattr(TensorBase, _op + "_"):
        setattr(Batched, f"__i{_name}__", _inplace(_op))
for _name, _op in _COMPARE.items():
    setattr(Batched, f"__{_name}__", _binary(_op)[0])
for _name, _op in _UNARY.items():
    setattr(Batched, f"__{_name}__", _unary(_op))


_classes: dict[type, type] = {}


def class_for(kind: type) -> type:
    """The class of samples of tensors of a class: that of Tensor, or of the dialect that the class belongs to."""
    found = _classes.get(kind)
    if found is None:
        if issubclass(kind, Batched):
            found = kind
        elif kind is Tensor or kind.__name__ == "Tensor" and issubclass(kind, Tensor):
            own = {"__slots__": ("_level", "_physical"), "__module__": "tessera.func", "_keeps_class": False}
            found = type("Sample", (Batched, kind), own)
        else:
            found = class_for(next(c for c in kind.__mro__ if c.__name__ == "Tensor"))
        _classes[kind] = found
    return found
