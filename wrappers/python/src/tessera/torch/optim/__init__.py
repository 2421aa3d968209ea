# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.optim: the library's optimizers. Arguments of PyTorch that choose between its own implementations are ignored."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from abc import ABCMeta
from collections.abc import Callable
from typing import Any

import tessera.optim as _optim

from .. import _adapters, _rows
from .._names import NAMES as _NAMES
from ._differentiable import UPDATES, Differentiable, has_tensors, number_or_tensor
from .optimizer import Optimizer, unnamed

# Files of PyTorch's package, which programs import: this module stands for them.
_FILES = frozenset([
    "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam", "radam", "rmsprop", "rprop", "sgd",
    "sparse_adam",
])  # fmt: skip
# Arguments that choose between implementations with the same results, then those that must have this value. Groups of the
# kinds that have them in PyTorch show them.
_IGNORED: dict[str, Any] = {"foreach": None, "fused": None, "capturable": False}
_FIXED: dict[str, Any] = {
    "differentiable": False, "decoupled_weight_decay": False, "adjust_lr_fn": None, "ns_coefficients": (3.4445, -4.775, 2.0315),
}  # fmt: skip
_SHOWN = {
    "Adam AdamW": "foreach capturable differentiable fused decoupled_weight_decay", "SGD Adagrad": "foreach differentiable fused",
    "RMSprop Adadelta Adamax Rprop ASGD": "foreach capturable differentiable", "Adafactor": "foreach",
    "NAdam RAdam": "foreach capturable differentiable", "Muon": "ns_coefficients adjust_lr_fn",
}  # fmt: skip
_EXTRAS = {name: shown.split() for names, shown in _SHOWN.items() for name in names.split()}
_STEPS = {"betas": lambda betas: tuple(map(_adapters.number, betas)), "lr": _adapters.number}


def _whole_numbers(plain: type) -> dict[str, Any]:
    """The defaults that are whole numbers in PyTorch, which prints them and saves them."""
    known = inspect.signature(plain).parameters.values()
    found: dict[str, Any] = {p.name: 0 for p in known if isinstance(p.default, float) and p.default == 0}
    if plain is _optim.Rprop:
        found["step_sizes"] = (1e-06, 50)
    return {} if plain is _optim.Adafactor else found


def _initializer(plain: type) -> Callable[..., None]:
    names_of_places = [*inspect.signature(plain).parameters][1:]
    whole = _whole_numbers(plain)

    def __init__(self: Any, params: Any, *args: Any, **options: Any) -> None:
        extras = {name: {**_IGNORED, **_FIXED}[name] for name in _EXTRAS.get(plain.__name__, ())}
        kept = {}  # options that are tensors, which a differentiable step reads
        if isinstance(self, Differentiable):
            extras["differentiable"] = options.pop("differentiable")
            kept = {name: value for name, value in (*zip(names_of_places, args), *options.items()) if has_tensors(value)}
            args, options = tuple(map(number_or_tensor, args)), {n: number_or_tensor(v) for n, v in options.items()}
        if plain is _optim.AdamW:
            extras["decoupled_weight_decay"] = True
        self._extras = extras
        for name in [*options]:
            if name == "decoupled_weight_decay" and plain is _optim.Adam:
                extras[name] = bool(options.pop(name))
                self._kind = (_optim.AdamW if extras[name] else _optim.Adam)._kind
            elif name in inspect.signature(plain).parameters:
                options[name] = _STEPS.get(name, lambda value: value)(options[name])
            elif name in _IGNORED:
                extras[name] = options.pop(name)
            elif name in _FIXED:
                _adapters.only(options.pop(name), _FIXED[name], f"torch.optim.{plain.__name__}: {name}")
        if isinstance(params, set):
            text = "params: expected an ordered collection, got a set, whose order changes; this will be an error"
            warnings.warn(text, FutureWarning, stacklevel=2)
        options = {**{name: value for name, value in whole.items() if name not in names_of_places[: len(args)]}, **options}
        names, listed = unnamed(params)
        plain.__init__(self, listed, *map(_adapters.number, args), **options)  # type: ignore[misc]
        self.defaults.update(extras, **kept)
        for group in self.param_groups if kept or isinstance(self, Differentiable) else ():
            group.update({name: value for name, value in {**extras, **kept}.items() if name in extras or name in kept})
        if names:
            self.param_groups[0]["param_names"] = names

    known = _signature(plain)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = known.replace(parameters=[own, *known.parameters.values()])  # type: ignore[attr-defined]
    return __init__


def _signature(plain: type) -> inspect.Signature:
    """The arguments of the library's class and PyTorch's own, in which programs look for `fused`."""
    known = inspect.signature(plain)
    extras = [name for name in _EXTRAS.get(plain.__name__, ()) if name not in known.parameters]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default={**_IGNORED, **_FIXED}[name]) for name in extras]
    return known.replace(parameters=[*known.parameters.values(), *more])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("lr_scheduler", "swa_utils"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FILES:
        return sys.modules[__name__]
    plain = getattr(_optim, name, None)
    if not isinstance(plain, type) or not issubclass(plain, _optim.Optimizer):
        raise _rows.missing(f"torch.optim.{name}")
    body = {"__init__": _initializer(plain), "__module__": __name__, "__doc__": plain.__doc__, "step": plain.step}
    body["__signature__"] = _signature(plain)
    if name in UPDATES:
        body["__new__"] = _chosen
    kind = ABCMeta if name == "Adam" else type
    globals()[name] = made = kind(name, (Optimizer, plain), body)
    if kind is ABCMeta:  # an AdamW is an Adam in PyTorch; the library's classes have no such base
        made.register(__getattr__("AdamW"))
    return made


_COMPUTED: dict[type, type] = {}  # the differentiable class of each class that has been asked for one


def _chosen(cls: type, *args: Any, **options: Any) -> Any:
    """An object of the class, or of the one derived from it whose steps can be differentiated."""
    if options.get("differentiable") and not issubclass(cls, Differentiable):
        if cls not in _COMPUTED:
            update = next(UPDATES[base.__name__] for base in cls.__mro__ if base.__name__ in UPDATES)
            body = {"_update": staticmethod(update), "_own_step": True, "step": Differentiable.step, "__module__": cls.__module__}
            _COMPUTED[cls] = type(cls.__name__, (Differentiable, cls), body)
        cls = _COMPUTED[cls]
    return object.__new__(cls)


def __dir__() -> list[str]:
    return sorted({*_optim.__all__, "lr_scheduler", "swa_utils"})


__all__ = [name for name in _NAMES["optim"] if hasattr(_optim, name)]  # noqa: PLE0604
