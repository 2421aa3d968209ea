# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""ParameterList and ParameterDict of torch.nn. Tensors in them become parameters, and modules parts, as attributes of a Module
do; other objects are kept as they are, where the library's hold parameters alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import index
from typing import Any

import tessera.nn as _nn

from ..._core import TensorBase
from .._tensor import typename
from ._module import Module, Parameter


def _given(values: Any, name: str) -> Iterable[Any]:
    if isinstance(values, TensorBase) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected an iterable, got {type(values).__name__}")
    return values


def _put(holder: Module, name: str, value: Any) -> None:
    setattr(holder, name, Parameter(value) if type(value) is not Parameter and isinstance(value, TensorBase) else value)


def _lines(items: Iterable[tuple[Any, Any]], kind: Callable[[Any], str]) -> str:
    return "\n".join(f"  ({name}): {_line(value, kind)}" for name, value in items)


def _line(value: Any, kind: Callable[[Any], str]) -> str:
    if not isinstance(value, TensorBase):
        return f"Object of type: {type(value).__name__}"
    place = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"Parameter containing: [{kind(value)} of size {'x'.join(map(str, value.shape))}{place}]"


class ParameterList(_nn.ParameterList, Module):
    """Parameters and other objects in a list; tensors become parameters."""

    __module__ = __package__
    _size = 0

    def __init__(self, values: Any = None) -> None:
        Module.__init__(self)
        if values is not None:
            self.extend(values)

    def _settle(self) -> None:  # one of the library's lists becomes one of this class
        self._size = len(self._parameters)

    def _name(self, idx: Any) -> str:
        place = index(idx)
        if not -self._size <= place < self._size:
            raise IndexError(f"ParameterList: index {place} is out of range for {self._size} entries")
        return str(place % self._size)

    def append(self, value: Any) -> Any:
        _put(self, str(self._size), value)
        self._size += 1
        return self

    def extend(self, values: Any) -> Any:
        for value in _given(values, "ParameterList.extend()"):
            self.append(value)
        return self

    __iadd__ = extend

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(place)) for place in range(self._size))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return getattr(self, self._name(idx))

    def __setitem__(self, idx: Any, param: Any) -> None:
        _put(self, self._name(idx), param)

    def extra_repr(self) -> str:
        return _lines(enumerate(self), lambda value: f"torch.{value.dtype.name}")


class ParameterDict(_nn.ParameterDict, Module):
    """Parameters and other objects by name; tensors become parameters."""

    __module__ = __package__
    _keys: dict[str, None]

    def __init__(self, parameters: Any = None) -> None:
        Module.__init__(self)
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _settle(self) -> None:
        self._keys = dict.fromkeys(self._parameters)

    def update(self, parameters: Any) -> None:
        """Adds what is given by name; a dict that may be of any order by the order of its names."""
        pairs = _given(parameters, "ParameterDict.update()")
        if isinstance(pairs, (OrderedDict, _nn.ParameterDict)):
            pairs = pairs.items()
        elif isinstance(pairs, Mapping):
            pairs = sorted(pairs.items())
        for name, value in pairs:
            self[name] = value

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"ParameterDict: expected a str as a key, got {type(key).__name__}")
        _put(self, key, value)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        return self._keys.keys()

    def values(self) -> Any:
        return (self[key] for key in self._keys)

    def items(self) -> Any:
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._keys else default

    def pop(self, key: str) -> Any:
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        if not self._keys:
            raise KeyError("ParameterDict.popitem(): there are no entries")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        for key in list(self._keys):
            del self[key]

    def copy(self) -> Any:
        return type(self)(OrderedDict(self.items()))

    def fromkeys(self, keys: Any, default: Any = None) -> Any:
        return type(self)((key, default) for key in keys)

    def __or__(self, other: Any) -> Any:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return _lines(self.items(), typename)
