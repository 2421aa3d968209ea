# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizer: groups of parameters with their options, as dicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._core import TensorBase
from .._errors import ArgumentTypeError, InvalidValueError, NotSupportedError, as_list
from .._tensor import Tensor
from .._modes import enable_grad

Group = dict[str, Any]
State = defaultdict[Tensor, dict[str, Any]]


def copied(entry: dict[str, Any]) -> dict[str, Any]:
    """A copy of the state of a parameter."""
    return {k: v.detach().clone() if isinstance(v, TensorBase) else v for k, v in entry.items()}


def options_of(group: Group) -> dict[str, Any]:
    return {name: value for name, value in group.items() if name != "params"}


def numbered(groups: list[Group]) -> list[Group]:
    """The groups with numbers, counted through all of them, in place of their parameters."""
    found, end = [], 0
    for group in groups:
        begin, end = end, end + len(group["params"])
        found.append({**options_of(group), "params": list(range(begin, end))})
    return found


class Optimizer:
    """Base class of optimizers. `params` are tensors, or dicts with "params" and their own options.

    `param_groups` may be changed between steps. Your own optimizer overrides `step` and keeps its state in
    `self.state[parameter]`. The state belongs to the parameter object: if you copy or pickle a model together with its
    optimizer, the copies train as the originals do.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if not isinstance(defaults, dict):
            raise ArgumentTypeError(f"defaults: expected a dict of options, got {type(defaults).__name__}")
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self._own_state: State = defaultdict(dict)
        if isinstance(params, TensorBase) or not isinstance(params, Iterable):
            kind = "a Tensor" if isinstance(params, TensorBase) else type(params).__name__
            raise ArgumentTypeError(f"params: expected a list of Tensors or of dicts, got {kind}")
        given = [params] if isinstance(params, dict) else as_list(params, "params")
        if not given:
            raise InvalidValueError("params: expected at least one parameter, got an empty list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    @property
    def state(self) -> State:
        """The state of each parameter."""
        return self._own_state

    def add_param_group(self, param_group: Group) -> None:
        """Adds parameters with their own options."""
        if not isinstance(param_group, dict):
            raise ArgumentTypeError(f"params: expected a dict with \"params\", got {type(param_group).__name__}")
        if "params" not in param_group:
            raise InvalidValueError(f"params: expected a dict with \"params\", got the keys {list(param_group)}")
        params = param_group["params"]
        items = [params] if isinstance(params, TensorBase) else as_list(params, "params")
        for item in items:
            if not isinstance(item, TensorBase):
                raise ArgumentTypeError(f"params: expected Tensors, got {type(item).__name__}")
        self._refuse_known(items)
        rest = {name: value for name, value in self.defaults.items() if name not in param_group}
        self.param_groups.append({**param_group, "params": items, **rest})

    def _refuse_known(self, items: list[Any]) -> None:
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for position, item in enumerate(items):
            if id(item) in known:
                raise InvalidValueError(
                    f"params: expected each parameter once in all groups, got one again at position {position}"
                )
            known.add(id(item))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients of all parameters to None, or fills existing ones with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.zero_()

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates the parameters by their gradients. A closure computes the loss again first."""
        raise NotSupportedError(f"{type(self).__name__}: expected a class with a step() of its own")

    @staticmethod
    def _loss(closure: Callable[[], Tensor] | None) -> Tensor | None:
        if closure is None:
            return None
        with enable_grad():
            return closure()

    # ---- state ----

    def state_dict(self) -> dict[str, Any]:
        """Options and state, with parameters replaced by their numbers."""
        groups = numbered(self.param_groups)
        pairs = zip(self.param_groups, groups)
        numbers = {id(p): n for own, saved in pairs for p, n in zip(own["params"], saved["params"])}
        state = {numbers[id(p)]: entry for p, entry in self._entries() if id(p) in numbers}
        return {"state": state, "param_groups": groups}

    def _entries(self) -> list[tuple[Tensor, dict[str, Any]]]:
        """The parameters that have a state, each with its own copy."""
        return [(parameter, entry.copy()) for parameter, entry in self.state.items()]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads the options and a copy of the state from an optimizer of the same parameters."""
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(f"load_state_dict(): expected the result of state_dict(), got {type(state_dict).__name__}")
        if missing := {"state", "param_groups"} - state_dict.keys():
            raise InvalidValueError(f"load_state_dict(): expected the result of state_dict(), got one without {sorted(missing)}")
        saved = state_dict["param_groups"]
        sizes, own = ([len(g["params"]) for g in groups] for groups in (saved, self.param_groups))
        if sizes != own:
            raise InvalidValueError(f"load_state_dict(): expected groups of {own} parameters, got {sizes}")
        params = [p for g in self.param_groups for p in g["params"]]
        numbers = [n for g in saved for n in g["params"]]
        entries = {p: state_dict["state"][n] for n, p in zip(numbers, params) if n in state_dict["state"]}
        groups = [{**group, **options_of(options)} for group, options in zip(self.param_groups, saved)]
        self._load(groups, entries)
        for group, changed in zip(self.param_groups, groups):
            group.update(changed)

    def _load(self, groups: list[Group], entries: dict[Tensor, dict[str, Any]]) -> None:
        """Loads a copy of the state."""
        self._own_state = defaultdict(dict)
        for parameter, entry in entries.items():
            self._own_state[parameter] = copied(entry)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for index, group in enumerate(self.param_groups):
            lines += [*[""][: index], f"Parameter Group {index}"]
            lines += [f"    {k}: {v}" for k, v in sorted(options_of(group).items())]
        return "\n".join([*lines, ")"])
