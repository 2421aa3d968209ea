# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions from the rows of the table of differences."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ._overriding import ROWS, overridden


class Missing(NotImplementedError, AttributeError):
    """A name of PyTorch that tessera.torch lacks. hasattr() is false for it."""


def missing(name: str, reason: str = "") -> Missing:
    where = "docs/guide/torch_coverage.md lists what is there, and tessera itself may have it under another name"
    return Missing(f"{name} is not in tessera.torch{f': {reason}' if reason else f'; {where}'}")


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


# NumPy's names of arguments, which PyTorch's functions take as well.
_NUMPYS = {"dim": "axis", "keepdim": "keepdims"}


def _with_numpys_names(code: ast.FunctionDef) -> None:
    """Adds the arguments of NumPy's names: the function begins with `if axis is not None: dim = axis`."""
    args = code.args
    for name, other in _NUMPYS.items():
        known = {a.arg for a in [*args.args, *args.kwonlyargs]}
        if name not in known or other in known:
            continue
        args.kwonlyargs.append(ast.arg(other))
        args.kw_defaults.append(ast.Constant(None))
        code.body[:0] = ast.parse(f"if {other} is not None: {name} = {other}").body
        place = next((i for i, a in enumerate(args.args) if a.arg == name), None)
        first = len(args.args) - len(args.defaults)
        if place is not None and place < first:  # an argument without a default gets one, and so do those behind it
            args.defaults[:0] = [ast.Constant(None)] * (first - place)
    ast.fix_missing_locations(code)


def _names_of(code: Iterable[ast.AST]) -> set[str]:
    return {n.id for part in code for n in ast.walk(part) if isinstance(n, ast.Name)}


def functions(
    rows: str, space: dict[str, Any], where: str, numpys_names: bool = False
) -> dict[str, Callable[..., Any]]:
    """A function for each row `name(signature) = expression` whose names are all in `space`, a dict of globals.

    Where an expression does not use the argument `out`, its results are written there afterwards. `numpys_names`: a
    function with an argument `dim` takes it as `axis`, too.
    """
    made: dict[str, Callable[..., Any]] = {}
    space.update({"row_overridden": overridden, "row_frame": sys._getframe})
    for row in lines(rows):
        signature, _, expression = row.partition(") = ")
        tree = ast.parse(f"def {signature}): return {expression}")
        code = tree.body[0]
        assert isinstance(code, ast.FunctionDef)
        own = {a.arg for a in ast.walk(code) if isinstance(a, ast.arg)}  # those of lambdas, too
        own |= {n.id for n in ast.walk(code) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        used = _names_of([code]) - own
        if "out" in own and "out" not in _names_of(code.body):
            code.body = ast.parse(f"return written({expression}, out)").body
        if numpys_names:
            _with_numpys_names(code)
        if own:
            code.body = [_asking(code.body)]
        if all(name in space or name in builtins.__dict__ for name in used):
            made[code.name] = _compiled(tree, code.name, space, where)
    return made


_ASKED = ast.parse(
    "try: pass\nexcept (TypeError, AttributeError):\n    row_result = row_overridden(row_frame(), locals())\n"
    "    if row_result is NotImplemented: raise\n    return row_result"
).body[0]


def _asking(body: list[ast.stmt]) -> ast.stmt:
    """The body, which asks the classes of its arguments for their `__torch_function__` where it failed. This costs nothing else."""
    assert isinstance(_ASKED, ast.Try)
    return ast.Try(body, _ASKED.handlers, [], [], lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _compiled(tree: ast.Module, name: str, space: dict[str, Any], where: str) -> FunctionType:
    code = compile(tree, f"<{where}.{name}>", "exec")
    found: dict[str, Any] = {}
    exec(code, space, found)
    function: FunctionType = found[name]
    function.__module__ = where
    function.__qualname__ = name
    ROWS[function.__code__] = function
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
