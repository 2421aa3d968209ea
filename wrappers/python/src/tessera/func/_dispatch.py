# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on tensors inside vmap: from the name that the extension gives to the batching rule of the table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .. import _core, _interop, _ops
from .._core import TensorBase, is_tensor
from .._errors import InvalidValueError, NotSupportedError, ShapeError
from . import _levels
from ._batched import Batched, class_for, make, of_level, physical
from ._levels import Level
from ._table import TABLE

Rule = Callable[["Call"], Any]
DRAWS: dict[str, Callable[[dict[str, Any]], bool]] = {}  # by _rules: operators that draw random numbers in some calls
RULES: dict[str, Rule] = {}  # filled by _rules
PARTS: dict[str, Rule] = {}  # by _parts: the operators whose rule is "parts"
_UNKNOWN = ("loop", 0, (), (), ())


class Call:
    """One operation on a batch: its name, its arguments by name, and what the table says of it."""

    __slots__ = ("axes", "folded", "given", "level", "name", "rank", "rule", "tensors")

    def __init__(self, name: str, given: dict[str, Any], level: Any) -> None:
        self.name, self.given, self.level = name, given, level
        self.rule, self.rank, self.folded, self.tensors, self.axes = TABLE.get(name, _UNKNOWN)

    def get(self, name: str, default: Any = None) -> Any:
        return self.given.get(name, default)

    def of(self, name: str) -> bool:
        """Whether an argument varies with the samples."""
        value = self.given.get(name)
        if isinstance(value, (list, tuple)):
            return any(of_level(item, self.level) for item in value)
        return of_level(value, self.level)

    def only(self, *names: str) -> bool:
        """Whether no other argument varies with the samples."""
        return not any(self.of(name) for name in self.given if name not in names)

    def plain(self, **changed: Any) -> Any:
        """The operation on these arguments in place of its own; the whole results."""
        return call(self.name, {**self.given, **changed})

    def batched(self, **changed: Any) -> Any:
        """The same, as samples of this level."""
        return self.wrapped(self.plain(**changed))

    def wrapped(self, result: Any) -> Any:
        if self.name.endswith("_") and isinstance(self.given.get("input"), Batched):
            return self.given["input"]
        return wrapped(result, self.level)


def wrapped(result: Any, level: Level) -> Any:
    """Whole results as samples of a level, in tuples and lists too."""
    if is_tensor(result):
        return make(result, level)
    if isinstance(result, tuple):
        items = [wrapped(item, level) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    return result


def call(name: str, given: dict[str, Any]) -> Any:
    """The operation itself, of the extension; its tensors may be samples of an outer level."""
    function = getattr(_core, name, None)
    if function is None:
        rest = dict(given)
        return getattr(TensorBase, name)(rest.pop("input"), **rest)
    return function(**given)


def _always(given: dict[str, Any]) -> bool:
    return True


# ---- the entry: what the extension calls ----


def redirect(name: str, given: Any) -> Any:
    if type(given) is dict:
        return operate(name, given)
    return _SPECIAL[name](*given)


def operate(name: str, given: dict[str, Any]) -> Any:
    rule, _, _, tensors, _ = TABLE.get(name, _UNKNOWN)
    level = _innermost(name, given, tensors)
    if name in DRAWS or rule == "random":
        if DRAWS.get(name, _always)(given):
            return RULES["random"](Call(name, given, level))
        if rule == "random":  # a dropout that drops nothing, or everything
            return given["input"] if not given.get("training", True) or float(given.get("p", 0.5)) == 0 else _dropped(name, given)
    if level is None:
        with _levels.hidden():
            return call(name, given)
    if given.get("out") is not None:
        return _into(name, given, level)
    if name.endswith("_") and "input" in tensors and not of_level(given.get("input"), level):
        refuse_write(name)
    made = Call(name, given, level)
    return (PARTS[name] if rule == "parts" and name in PARTS else RULES[rule])(made)


def _dropped(name: str, given: dict[str, Any]) -> Any:
    """A dropout of everything, which is the same with any random numbers."""
    level = _innermost(name, given, ("input",))
    with _levels.hidden():
        return call(name, given) if level is None else looped(Call(name, given, level))


def _innermost(name: str, given: dict[str, Any], tensors: tuple[str, ...]) -> Level | None:
    level: Level | None = None
    for key, value in given.items():
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, Batched):
                physical(item)
                if key not in tensors and key != "out":
                    raise NotSupportedError(
                        f"vmap: {name}(): argument '{key}' must be the same for all samples, got a tensor inside vmap"
                    )
                level = item._level if level is None or item._level.depth > level.depth else level
            elif isinstance(item, np.ndarray) and value is item and key in tensors:
                given[key] = _interop.from_ndarray(item, False)
    return level


def _into(name: str, given: dict[str, Any], level: Level) -> Any:
    """out=: computed, then copied."""
    out = given.pop("out")
    result = operate(name, given)
    if not isinstance(out, (tuple, list)):
        return TensorBase.copy_(out, result)
    for place, value in zip(out, result):
        TensorBase.copy_(place, value)
    return type(result)(*out) if hasattr(result, "_fields") else tuple(out)


def refuse_write(name: str) -> NoReturn:
    raise InvalidValueError(
        f"vmap: {name}: the tensor to change in place is the same for all samples, and the value to write is not; use the "
        "form that returns a new tensor, or make the tensor inside vmap with new_zeros() or clone() of a sample"
    )


def _inplace_operator(target: Any, value: Any) -> NoReturn:
    refuse_write("in-place operator")


def _backward() -> NoReturn:
    raise NotSupportedError("vmap: a backward of tensors inside vmap: use func.grad or func.vjp there")


def _new(kind: type, tensor: Any) -> Any:
    """Class(tensor) of a sample."""
    base = class_for(type(tensor) if issubclass(type(tensor), kind) or kind.__name__ != "Tensor" else kind)
    made: Any = _core.blank(base)
    made._physical, made._level = physical(tensor), tensor._level
    if not issubclass(type(tensor), base):
        made._physical = _retyped(kind, made._physical)
    return made


def _retyped(kind: type, tensor: Any) -> Any:
    return _new(kind, tensor) if isinstance(tensor, Batched) else TensorBase.__new__(kind, tensor)


def _convert(tensor: Any, dtype: Any, device: Any, copy: Any) -> Any:
    return make(_core.convert(physical(tensor), dtype, device, None if copy is None or copy == -1 else bool(copy)), tensor._level)


def _whole(tensor: Any) -> tuple[Any, int]:
    count = 0
    while isinstance(tensor, Batched):
        tensor, count = tensor._physical, count + 1
    return tensor, count


def _contiguous(tensor: Any) -> Any:
    return make(_ops.contiguous(physical(tensor)), tensor._level)


def _getitem(tensor: Any, key: Any) -> Any:
    from ._index import getitem

    return getitem(tensor, key)


def _setitem(tensor: Any, key: Any, value: Any) -> None:
    from ._index import setitem

    setitem(tensor, key, value)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "inplace_operator": _inplace_operator,
    "backward": _backward,
    "new": _new,
    "convert": _convert,
    "whole": _whole,
    "contiguous": _contiguous,
    "getitem": _getitem,
    "setitem": _setitem,
}


# ---- the fallback: one call for each sample ----

_warned: set[str] = set()


def loop(made: Call) -> Any:
    """Runs the operation once for each sample and stacks the results."""
    if made.name not in _warned:
        _warned.add(made.name)
        warnings.warn(
            f"vmap: {made.name}() has no batching rule for these arguments and runs once for each sample", UserWarning, stacklevel=2
        )
    return looped(made)


def looped(made: Call) -> Any:
    level = made.level
    if level.samples == 0:
        raise NotSupportedError(f"vmap: {made.name}() has no batching rule, so it cannot run on a batch of no samples")
    results = [call(made.name, {k: sample(v, level, i) for k, v in made.given.items()}) for i in range(level.samples)]
    return made.wrapped(stacked(made.name, results))


def sample(value: Any, level: Level, index: int) -> Any:
    """One sample of an argument, as a view."""
    if of_level(value, level):
        return _ops.select(physical(value), 0, index)
    if isinstance(value, (list, tuple)):
        return [sample(item, level, index) for item in value]
    return value


def stacked(name: str, results: list[Any]) -> Any:
    first = results[0]
    if is_tensor(first):
        if any(item.shape != first.shape for item in results):
            raise ShapeError(
                f"vmap: {name}(): the shape of the result depends on the data, and the samples give different ones"
            )
        return _ops.stack(results, 0)
    if isinstance(first, tuple):
        if any(len(item) != len(first) for item in results):
            raise ShapeError(f"vmap: {name}(): the number of results depends on the data")
        fields = [stacked(name, [item[i] for item in results]) for i in range(len(first))]
        return type(first)(*fields) if hasattr(first, "_fields") else tuple(fields)
    return first


_core.register(redirect=redirect)
