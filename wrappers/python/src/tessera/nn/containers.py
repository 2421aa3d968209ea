# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules made of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from .._errors import ArgumentTypeError, OutOfRangeError, as_list
from .module import Module


L = TypeVar("L", bound="_Listed")


class _Listed(Module):
    """Modules named 0, 1, ... (or by names that a dict gave), in their order."""

    def append(self: L, module: Module) -> L:
        self.add_module(str(len(self)), module)
        return self

    def extend(self: L, modules: Iterable[Module]) -> L:
        for module in as_list(modules, "modules"):
            self.append(module)
        return self

    def insert(self: L, index: int, module: Module) -> L:
        """Puts a module before another; those behind it move."""
        listed = list(self._modules.values())
        count = len(listed)
        if not -count <= index <= count:
            raise OutOfRangeError(f"{type(self).__name__}.insert(): expected an index in [{-count}, {count}], got {index}")
        listed.insert(index, module)
        self._renumber(listed)
        return self

    def pop(self, index: int = -1) -> Module:
        """Removes a module and returns it."""
        found: Module = self[index]
        del self[index]
        return found

    def _renumber(self, modules: list[Module]) -> None:
        before = dict(self._modules)
        self._modules.clear()
        try:
            for number, module in enumerate(modules):
                self.add_module(str(number), module)
        except BaseException:
            self._modules.clear()
            self._modules.update(before)
            raise

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __contains__(self, module: object) -> bool:
        return any(module is item for item in self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._of(dict(list(self._modules.items())[index]))
        return list(self._modules.values())[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self._modules)[index], module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        numbered = names == [str(number) for number in range(len(names))]
        for name in names[index] if isinstance(index, slice) else [names[index]]:
            del self._modules[name]
        if numbered:
            self._renumber(list(self._modules.values()))

    def _of(self: L, modules: dict[str, Module]) -> L:
        raise NotImplementedError


class Sequential(_Listed):
    """Calls its modules one after the other."""

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            for index, item in enumerate(modules):
                self.add_module(str(index), item)  # type: ignore[arg-type]

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __add__(self, other: Sequential) -> Sequential:
        # The class of these containers, not one that a program derives from it.
        kind: Any = next(cls for cls in type(self).__mro__ if cls.__name__ == "Sequential")
        joined: Sequential = kind(*self, *other)
        return joined

    def _of(self, modules: dict[str, Module]) -> Sequential:
        return type(self)(modules)


class ModuleList(_Listed):
    """Modules in a list."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def _of(self, modules: dict[str, Module]) -> ModuleList:
        return type(self)(modules.values())


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:  # a class that derives from this one may have an update() that is not ready yet
            self.update(modules)

    def update(self, modules: Mapping[str, Module]) -> None:
        if not callable(getattr(modules, "items", None)):
            raise ArgumentTypeError(f"modules: expected modules by name, got {type(modules).__name__}")
        for name, module in modules.items():
            self.add_module(name, module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> Module:
        found: Module = self._modules[name]
        return found

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def pop(self, name: str) -> Module:
        """Removes a module and returns it."""
        found: Module = self._modules.pop(name)
        return found

    def clear(self) -> None:
        self._modules.clear()

    def keys(self) -> Iterable[str]:
        return list(self._modules)

    def values(self) -> Iterable[Module]:
        return self.children()

    def items(self) -> Iterable[tuple[str, Module]]:
        return self.named_children()
