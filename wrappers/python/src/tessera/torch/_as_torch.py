# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""This package under the name torch, in this process and in those that it starts."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from multiprocessing import spawn
from types import ModuleType
from typing import Any

import tessera.torch
from tessera import _dtypes


def _located(fullname: str) -> ModuleType | None:
    """The module that torch.x.y is here: tessera.torch.x.y, or the package around it for the files inside PyTorch's own
    packages (torch.nn.parameter, torch.utils.data.dataset)."""
    module: ModuleType = tessera.torch
    for depth, part in enumerate(fullname.split(".")[1:]):
        made = part in vars(module).get("_MODULES", ())  # when it is asked for
        held = getattr(module, part) if made else vars(module).get(part)
        path = f"{module.__name__}.{part}"
        if isinstance(held, ModuleType):
            module = held
        elif hasattr(module, "__path__") and importlib.util.find_spec(path) is not None:
            module = importlib.import_module(path)
        elif depth == 0:
            return None
    return module


class _Alias(importlib.abc.Loader):
    """Loads a module of torch as one of tessera.torch, the same object."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.own = module, module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        module = _located(fullname) if fullname.startswith("torch.") else None
        return None if module is None else importlib.machinery.ModuleSpec(fullname, _Alias(module), is_package=True)


class _Installed:
    """Calls install() where its pickle is read."""

    def __reduce__(self) -> Any:
        return install, ()


def install() -> None:
    """Makes `import torch` give tessera.torch, here and in processes that multiprocessing starts from now on."""
    if sys.modules.get("torch") is tessera.torch:
        return
    sys.modules["torch"] = tessera.torch
    sys.meta_path.insert(0, _Finder())
    _dtypes.DType.prefix = "torch"  # how dtypes print
    # What a process that is spawned reads before it imports the program.
    preparation: Any = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {"torch": _Installed(), **preparation(name)}
