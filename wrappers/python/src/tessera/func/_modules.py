# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _ops
from .._core import is_tensor
from .._errors import ArgumentTypeError, InvalidValueError
from ..nn.module import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with these tensors in the place of its parameters and buffers of the same names; the module itself is
    as before afterwards. With tie_weights a tensor takes the place of a parameter under all of its names. strict: every
    parameter and buffer must be given."""
    if not isinstance(module, Module):
        raise ArgumentTypeError(f"functional_call(): expected a Module, got {type(module).__name__}")
    given = _joined(parameter_and_buffer_dicts)
    places = _places(module)
    for name, value in given.items():
        if name not in places:
            raise InvalidValueError(f"functional_call(): {type(module).__name__} has no parameter or buffer {name!r}")
        if value is not None and not is_tensor(value):
            raise ArgumentTypeError(f"functional_call(): {name}: expected a Tensor, got {type(value).__name__}")
    tied = {id(places[n][0][places[n][1]]): v for n, v in given.items() if places[n][0][places[n][1]] is not None}
    changed: dict[str, Any] = {}
    for name, (table, key) in places.items():
        if name in given:
            changed[name] = given[name]
        elif tie_weights and id(table[key]) in tied:
            changed[name] = tied[id(table[key])]
        elif strict and table[key] is not None:
            raise InvalidValueError(f"functional_call(): strict: {name} is missing")
    inputs = () if args is None else args if isinstance(args, tuple) else (args,)
    before = {name: places[name][0][places[name][1]] for name in changed}
    try:
        for name, value in changed.items():
            places[name][0][places[name][1]] = value
        return module(*inputs, **(kwargs or {}))
    finally:
        for name, value in before.items():
            places[name][0][places[name][1]] = value


def _joined(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, (list, tuple)) or not all(isinstance(d, Mapping) for d in given):
        raise ArgumentTypeError(f"functional_call(): expected a dict of Tensors or a sequence of dicts, got {type(given).__name__}")
    joined: dict[str, Any] = {}
    for each in given:
        if twice := joined.keys() & each.keys():
            raise InvalidValueError(f"functional_call(): {sorted(twice)[0]} is in two of the dicts")
        joined.update(each)
    return joined


def _places(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """By name, the table that a parameter or buffer is in, also under second names of shared modules."""
    found: dict[str, tuple[dict[str, Any], str]] = {}

    def walk(prefix: str, one: Module) -> None:
        for table in (one._parameters, one._buffers):
            for key in table:
                found[prefix + key] = (table, key)
        for key, child in one._modules.items():
            if child is not None:
                walk(f"{prefix}{key}.", child)

    walk("", module)
    return found


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of models of one class, stacked along a new first axis: the inputs of an ensemble under
    vmap. Parameters that require grad become leaves that do."""
    models = list(models)
    if not models:
        raise InvalidValueError("stack_module_state(): expected at least one model")
    if len({m.training for m in models}) > 1:
        raise InvalidValueError("stack_module_state(): expected all models in train() or all in eval()")
    if len({type(m) for m in models}) > 1:
        raise InvalidValueError("stack_module_state(): expected models of one class")
    parameters = _stacked([dict(m.named_parameters()) for m in models])
    return parameters, _stacked([dict(m.named_buffers()) for m in models])


def _stacked(states: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, first in states[0].items():
        tensors: list[Any] = [state.get(name) for state in states]
        if any(t is None or t.requires_grad != first.requires_grad for t in tensors):
            raise InvalidValueError(f"stack_module_state(): {name} is not the same kind of tensor in all models")
        made[name] = _ops.stack([_ops.detach(t) for t in tensors], 0)
        made[name].requires_grad_(first.requires_grad)
    return made

