# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions from the rows of the table of differences."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any


class Missing(NotImplementedError, AttributeError):
    """A name of PyTorch that tessera.torch lacks. hasattr() is false for it."""


def missing(name: str) -> Missing:
    return Missing(
        f"{name} is not in tessera.torch; docs/guide/torch.md lists what is there, and tessera itself may have it "
        "under another name"
    )


class _AtMissing:
    """An attribute of a class that raises the error for a missing name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise missing(self.name)


def mark_missing(cls: type, names: Iterable[str], prefix: str) -> None:
    """Gives a class an attribute that raises for each of the names that it lacks."""
    for name in names:
        if not hasattr(cls, name):
            setattr(cls, name, _AtMissing(f"{prefix}.{name}"))


def lines(text: str) -> list[str]:
    """The rows of a table, of which a line that begins with spaces continues the one before."""
    return re.sub(r"\n +", " ", text.strip()).splitlines()


def functions(rows: str, space: dict[str, Any], where: str) -> dict[str, Callable[..., Any]]:
    """A function for each row `name(signature) = expression` whose names are all in `space`, a dict of globals."""
    made: dict[str, Callable[..., Any]] = {}
    for row in lines(rows):
        signature, _, expression = row.partition(") = ")
        tree = ast.parse(f"def {signature}): return {expression}")
        code = tree.body[0]
        assert isinstance(code, ast.FunctionDef)
        own = {a.arg for a in ast.walk(code.args) if isinstance(a, ast.arg)}
        used = {n.id for n in ast.walk(code) if isinstance(n, ast.Name)} - own
        if all(name in space or name in builtins.__dict__ for name in used):
            made[code.name] = _compiled(tree, code.name, space, where)
    return made


def _compiled(tree: ast.Module, name: str, space: dict[str, Any], where: str) -> FunctionType:
    code = compile(tree, f"<{where}.{name}>", "exec")
    found: dict[str, Any] = {}
    exec(code, space, found)
    function: FunctionType = found[name]
    function.__module__ = where
    function.__qualname__ = name
    function.__doc__ = f"PyTorch's {where.removeprefix('tessera.')}.{name}."
    return function


def same(names: str, *places: Any) -> dict[str, Any]:
    """The library's own functions of these names, from the first place that has each."""
    found = {}
    for name in names.split():
        for place in places:
            if hasattr(place, name):
                found[name] = getattr(place, name)
                break
    return found
