# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a package that are imported when they are first asked for, so that importing the package is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(
    package: str, modules: frozenset[str], names: Mapping[str, str], elsewhere: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """__getattr__ and __dir__ of a package; `names` are those of objects, with the modules that have them. The
    error for a name in `elsewhere` says what to write instead.

    Type checkers should not see them: they take a __getattr__ for a promise that every name exists."""

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")  # which also makes it an attribute
        if name in names:
            found = getattr(import_module(f"{package}.{names[name]}"), name)
            setattr(sys.modules[package], name, found)
            return found
        instead = "" if elsewhere is None or name not in elsewhere else f"; use {elsewhere[name]}"
        raise AttributeError(f"module {package!r} has no attribute {name!r}{instead}")

    def all_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules, *names})

    return get, all_names
