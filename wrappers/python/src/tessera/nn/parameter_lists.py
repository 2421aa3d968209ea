# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters in a list or by name, as a module that trains them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._core import TensorBase
from .._errors import ArgumentTypeError, as_list
from .module import Module
from .parameter import Parameter


def _parameter(value: Any, where: str) -> Parameter:
    """A tensor as a parameter; a parameter is kept as it is."""
    if isinstance(value, Parameter):
        return value
    if not isinstance(value, TensorBase):
        raise ArgumentTypeError(f"{where}: expected a Tensor, got {type(value).__name__}")
    return Parameter(value)  # type: ignore[arg-type]


class ParameterList(Module):
    """Parameters in a list; tensors become parameters."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(values)

    def append(self, value: Any) -> ParameterList:
        self.register_parameter(str(len(self)), _parameter(value, "ParameterList"))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        for value in as_list(values, "values"):
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int | slice) -> Any:
        found = list(self._parameters.values())[index]
        return ParameterList(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, value: Any) -> None:
        self.register_parameter(list(self._parameters)[index], _parameter(value, "ParameterList"))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        return ", ".join(str(p.shape) for p in self)


class ParameterDict(Module):
    """Parameters by name; tensors become parameters."""

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.update({} if parameters is None else parameters)

    def update(self, parameters: Mapping[str, Any]) -> None:
        if not callable(getattr(parameters, "items", None)):
            raise ArgumentTypeError(f"parameters: expected parameters by name, got {type(parameters).__name__}")
        for name, value in parameters.items():
            self[name] = value

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __getitem__(self, name: str) -> Parameter:
        found: Parameter = self._parameters[name]
        return found

    def __setitem__(self, name: str, value: Any) -> None:
        self.register_parameter(name, _parameter(value, name))

    def __delitem__(self, name: str) -> None:
        del self._parameters[name]

    def pop(self, name: str) -> Parameter:
        """Removes a parameter and returns it."""
        found: Parameter = self._parameters.pop(name)
        return found

    def popitem(self) -> tuple[str, Parameter]:
        """Removes the parameter that was added last, and returns its name and itself."""
        found: tuple[str, Parameter] = self._parameters.popitem()
        return found

    def get(self, name: str, default: Any = None) -> Any:
        return self._parameters.get(name, default)

    def setdefault(self, name: str, default: Any = None) -> Parameter:
        """The parameter of this name, which is the default if there was none."""
        if name not in self:
            self[name] = default
        return self[name]

    def clear(self) -> None:
        self._parameters.clear()

    def keys(self) -> Iterable[str]:
        return list(self._parameters)

    def values(self) -> Iterable[Parameter]:
        return list(self._parameters.values())

    def items(self) -> Iterable[tuple[str, Parameter]]:
        return list(self._parameters.items())

    def extra_repr(self) -> str:
        return ", ".join(f"{name}: {p.shape}" for name, p in self.items())
