# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m tessera.torch script.py: runs a program whose `import torch` gets this package."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import runpy
import sys
from types import ModuleType
from typing import Any

import tessera.torch
from tessera import _dtypes


class _Alias(importlib.abc.Loader):
    """Loads torch.x as the module tessera.torch.x, the same object."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"tessera.{spec.name}")
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith("torch.") or importlib.util.find_spec(f"tessera.{fullname}") is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Alias(), is_package=True)


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit("usage: python -m tessera.torch script.py [arguments of the script]")
    sys.modules["torch"] = tessera.torch
    sys.meta_path.insert(0, _Finder())
    _dtypes.DType.prefix = "torch"  # how dtypes print
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
