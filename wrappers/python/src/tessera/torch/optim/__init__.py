# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.optim: the library's optimizers. Arguments of PyTorch that choose between its own implementations are ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tessera.optim as _optim

from .. import _adapters, _rows

Optimizer = _optim.Optimizer

# Arguments that choose between implementations with the same results, then those that must have this value.
_IGNORED = {"foreach", "fused", "differentiable", "capturable"}
_FIXED = {"decoupled_weight_decay": False, "adjust_lr_fn": None}
_STEPS = {"betas": lambda betas: tuple(map(_adapters.number, betas)), "lr": _adapters.number}


def _initializer(plain: type) -> Callable[..., None]:
    def __init__(self: Any, params: Any, *args: Any, **options: Any) -> None:
        for name in [*options]:
            if name in _IGNORED:
                del options[name]
            elif name in _FIXED:
                _adapters.only(options.pop(name), _FIXED[name], f"torch.optim.{plain.__name__}: {name}")
            elif name in _STEPS:
                options[name] = _STEPS[name](options[name])
        plain.__init__(self, _unnamed(params), *map(_adapters.number, args), **options)  # type: ignore[misc]

    return __init__


def _unnamed(params: Any) -> Any:
    """The parameters of pairs (name, parameter)."""
    items = params if isinstance(params, (dict, list)) or hasattr(params, "dtype") else list(params)
    if isinstance(items, list) and items and isinstance(items[0], tuple):
        return [parameter for _, parameter in items]
    return items


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("lr_scheduler", "swa_utils"):
        import importlib

        return importlib.import_module(f"tessera.torch.optim.{name}")
    plain = getattr(_optim, name, None)
    if not isinstance(plain, type) or not issubclass(plain, Optimizer):
        raise _rows.missing(f"torch.optim.{name}")
    body = {"__init__": _initializer(plain), "__module__": __name__, "__doc__": plain.__doc__}
    globals()[name] = made = type(name, (plain,), body)
    return made


def __dir__() -> list[str]:
    return sorted({*_optim.__all__, "lr_scheduler", "swa_utils"})
