# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch._dynamo and torch._inductor: switches of PyTorch's compiler, which programs set; they keep what is assigned."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ._namespace import lookup
from .compiler import disable, reset


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(f"{__package__}.{name}", f"torch.{name}.")
    config = ModuleType(f"{module.__name__}.config")
    module.__dict__.update(members, config=config, __getattr__=lookup(module.__name__, {})[0])
    sys.modules.update({module.__name__: module, config.__name__: config})
    return module


MODULES = {"_dynamo": _module("_dynamo", reset=reset, disable=disable), "_inductor": _module("_inductor")}
