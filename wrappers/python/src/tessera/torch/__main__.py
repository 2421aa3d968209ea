# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m tessera.torch script.py, or -m module: runs a program whose `import torch` gets this package."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
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


def main() -> None:
    as_module = sys.argv[1:2] == ["-m"]
    del sys.argv[0 : 2 if as_module else 1]
    if not sys.argv or sys.argv[0].startswith("-"):
        raise SystemExit("usage: python -m tessera.torch script.py [arguments of the script]\n       python -m tessera.torch -m module ...")
    sys.modules["torch"] = tessera.torch
    sys.meta_path.insert(0, _Finder())
    _dtypes.DType.prefix = "torch"  # how dtypes print
    if as_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
