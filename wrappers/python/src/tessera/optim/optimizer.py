# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizer: groups of parameters with their options, and the state of each parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._core import TensorBase
from .._errors import (
    ArgumentTypeError,
    DTypeError,
    DeviceError,
    InvalidValueError,
    NotSupportedError,
    as_list,
    as_number,
)
from .._tensor import Tensor
from ..autograd import enable_grad, no_grad

Group = dict[str, Any]


class Optimizer:
    """Base of optimizers. `params` are tensors, or dicts with "params" and options of their own.

    `state[parameter]` is what the optimizer keeps for a parameter. It belongs to the object, so that copies and pickles
    of a model together with its optimizer go on as the originals do.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if not isinstance(defaults, dict):
            raise ArgumentTypeError(f"defaults: expected a dict of options, got {type(defaults).__name__}")
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        if isinstance(params, TensorBase) or not isinstance(params, Iterable):
            kind = "a Tensor" if isinstance(params, TensorBase) else type(params).__name__
            raise ArgumentTypeError(f"params: expected a list of Tensors or of dicts, got {kind}")
        given = [params] if isinstance(params, dict) else as_list(params, "params")
        if not given:
            raise InvalidValueError("params: expected at least one parameter, got an empty list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, group: Group) -> None:
        """Adds parameters with options of their own."""
        if not isinstance(group, dict):
            raise ArgumentTypeError(f"params: expected a dict with \"params\", got {type(group).__name__}")
        if "params" not in group:
            raise InvalidValueError(f"params: expected a dict with \"params\", got the keys {list(group)}")
        params = group["params"]
        items = [params] if isinstance(params, TensorBase) else as_list(params, "params")
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for item in items:
            if not isinstance(item, TensorBase):
                raise ArgumentTypeError(f"params: expected Tensors, got {type(item).__name__}")
            if not item.is_leaf:
                raise InvalidValueError("params: only leaves can be optimized")
            if id(item) in known:
                raise InvalidValueError("params: a parameter stands in more than one group")
            known.add(id(item))
        self.param_groups.append({**self.defaults, **group, "params": items})

    def zero_grad(self, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.zero_()

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Changes the parameters by their gradients. A closure computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                pairs = [(p, grad) for p in group["params"] if (grad := p.grad) is not None]
                if pairs:
                    self._update(group, [p for p, _ in pairs], [grad for _, grad in pairs])
        return loss

    def _update(self, group: Group, params: list[Tensor], grads: list[Any]) -> None:
        raise NotSupportedError

    def _run(self, op: Callable[..., None], params: list[Tensor], *args: Any) -> None:
        """op(params, *args), after bringing the state to the parameters when those were converted since."""
        try:
            op(params, *args)
        except (DTypeError, DeviceError):
            if not self._follow(params):
                raise
            op(params, *args)

    def _follow(self, params: list[Tensor]) -> bool:
        """Gives the state of the parameters their dtype and device; whether there was anything to do."""
        changed = False
        for parameter in params:
            for value in self.state[parameter].values():
                if not isinstance(value, TensorBase):
                    continue
                made = value.to(parameter.dtype, parameter.device)
                if made is not value:
                    value.data = made
                    changed = True
        return changed

    # ---- state ----

    def state_dict(self) -> dict[str, Any]:
        """Options and state, with parameters as numbers in order."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            start = len(numbers)
            for number, parameter in enumerate(group["params"], start):
                numbers[id(parameter)] = number
            groups.append({**group, "params": list(range(start, len(numbers)))})
        state = {numbers[id(p)]: entry.copy() for p, entry in self.state.items() if id(p) in numbers}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the options and a copy of the state of an optimizer of the same parameters."""
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(f"load_state_dict(): expected what state_dict() gives, got {type(state_dict).__name__}")
        if missing := {"state", "param_groups"} - state_dict.keys():
            raise InvalidValueError(f"load_state_dict(): expected what state_dict() gives, without {sorted(missing)}")
        saved = state_dict["param_groups"]
        sizes = [len(g["params"]) for g in saved]
        own = [len(g["params"]) for g in self.param_groups]
        if sizes != own:
            raise InvalidValueError(f"the state has groups of {sizes} parameters, this optimizer of {own}")
        params = [p for g in self.param_groups for p in g["params"]]
        numbers = [n for g in saved for n in g["params"]]
        for group, options in zip(self.param_groups, saved):
            group.update({k: v for k, v in options.items() if k != "params"})
        self.state = defaultdict(dict)
        for number, parameter in zip(numbers, params):
            if number in state_dict["state"]:
                entry = state_dict["state"][number]
                self.state[parameter] = {
                    k: v.detach().clone() if isinstance(v, TensorBase) else v for k, v in entry.items()
                }

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for index, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {index}")
            lines += [f"    {k}: {v}" for k, v in sorted(group.items()) if k != "params"]
        return "\n".join([*lines, ")"])


def positive(**options: float) -> None:
    """Raises unless all options are at least 0."""
    for name, value in options.items():
        if not as_number(value, name) >= 0.0:
            raise InvalidValueError(f"{name}: expected at least 0, got {value}")
