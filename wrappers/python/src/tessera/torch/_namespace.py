# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of the table of differences, made once, and the attributes of the modules that offer them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import tessera
import tessera.nn.functional

from .. import _ops, linalg
from .._core import TensorBase
from .._dtypes import get_default_dtype
from . import (
    _adapters, _clamp, _create, _dtype_cases, _image, _in_place, _numeric, _power, _results, _rows, _table, _tensor, _uncast, storage,
)  # fmt: skip
from ._tensor import Tensor


def space(**more: Any) -> dict[str, Any]:
    """The globals of rows: functions of the library, adapters, and more."""
    known: dict[str, Any] = {name: getattr(_ops, name) for name in dir(_ops) if not name.startswith("_")}
    known.update({name: getattr(tessera.nn.functional, name) for name in tessera.nn.functional.__all__})
    parts: frozenset[str] = getattr(tessera, "_PARTS")  # left out, because naming one would import it
    known.update({name: getattr(tessera, name) for name in tessera.__all__ if name not in parts})
    known.update({name: getattr(_tensor, name) for name in ("Size", "has_format", "like_format", "made", "retyped")})
    known["get_default_dtype"] = get_default_dtype
    known["imaginary"] = complex
    known["padded"] = tessera.nn.functional.pad
    known.update({"typed": _tensor.typed, "typename": _tensor.typename, "tensordot": linalg.tensordot})
    known.update({name: getattr(linalg, name) for name in linalg.__all__ if name not in known})
    known.update({name: getattr(_adapters, name) for name in _adapters.__all__})
    known.update({name: getattr(_clamp, name) for name in _clamp.__all__})
    known.update({name: getattr(_create, name) for name in _create.__all__})
    known.update({name: getattr(_dtype_cases, name) for name in _dtype_cases.__all__})
    known.update({name: getattr(_image, name) for name in _image.__all__})
    known.update({name: getattr(_in_place, name) for name in _in_place.__all__})
    known.update({name: getattr(_numeric, name) for name in _numeric.__all__})
    known.update({name: getattr(_results, name) for name in _results.__all__})
    known["powers"] = _uncast.powers
    known.update({name: getattr(_power, name) for name in ("itself", "powered", "powered_here")})
    known.update({name: getattr(storage, name) for name in storage.__all__})
    return {**known, "base": TensorBase, "Tensor": Tensor, **more}


_SPACE = space()
both = _rows.functions(_table.BOTH, _SPACE, "tessera.torch", True)
torch_only = _rows.functions(_table.TORCH, _SPACE, "tessera.torch", True)
methods = _rows.functions(_table.METHODS, _SPACE, "tessera.torch.Tensor", True)
functions: dict[str, Any] = {
    **_rows.same(_table.SAME_BOTH + _table.SAME_TORCH, tessera, _ops), **both, **torch_only,
}  # fmt: skip


def _complete_tensor() -> None:
    """Gives Tensor its methods. Those of the same meaning are inherited, or a function of the library."""
    for name, function in {**both, **methods}.items():
        place = property(function) if name in ("H", "T", "mH") else function
        setattr(Tensor, name, place)
    for name in _table.SAME_BOTH.split():
        if not hasattr(Tensor, name) and name in functions:
            setattr(Tensor, name, functions[name])


_complete_tensor()


def lookup(
    module: str, table: dict[str, Any], more: Callable[[str], Any] | None = None, files: Iterable[str] = ()
) -> tuple[Any, Any]:
    """__getattr__ and __dir__ of a module: the names of a table, the module itself for the `files` of PyTorch's package that it
    stands for, then what `more` finds, then the error."""

    def find(name: str) -> Any:
        if name in table:
            return table[name]
        if name in files:
            return sys.modules[module]
        found = None if more is None or name.startswith("__") else more(name)
        if found is None:
            raise _rows.missing(f"{module.removeprefix('tessera.')}.{name}")
        return found

    def names() -> list[str]:
        return sorted(table)

    return find, names


def existing(names: Iterable[str], *places: Any) -> dict[str, Any]:
    return _rows.same(" ".join(names), *places)
