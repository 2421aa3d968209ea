# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers of the library: groups are dicts in Python, step and state are in the core."""

from __future__ import annotations

import json
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import _ops
from .._core import TensorBase, calling
from .._errors import InvalidValueError, about_file, as_int, as_list, as_number
from .._tensor import Tensor
from ..capi import adopt_all, check, ffi, handles, lib
from ..io._safetensors import Path, _encoded
from ._states import NAMES, SCALARS, States
from .optimizer import Group, Optimizer, State, copied, numbered

# Of one parameter: group, number in the group, names of its states, those that are numbers.
Place = tuple[int, int, tuple[str, ...], list[str]]
PAIRS = {  # options that are one in Python and two in the core
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}
FLAGS = {"nesterov", "amsgrad", "centered", "decoupled_weight_decay", "maximize"}


class CoreOptimizer(Optimizer):
    """An optimizer of the library. Changes of `param_groups` and `state` take effect at the next step; the tensors of `state`
    share memory with the library's state, which copies what a program puts there."""

    _kind = ""
    _states: States | None = None  # once a program has asked for them
    _extras: Mapping[str, Any] = {}  # options of groups that the core does not have

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self._begin()
        super().__init__(params, defaults)

    def _begin(self) -> None:
        self._handle: Any = None
        self._known: list[tuple[list[Tensor], dict[str, Any]]] = []  # parameters and options that the core has
        # The names that the state had when it was last read, and what they say.
        self._names, self._places = b"", list[Place]()
        self._columns: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # of all parameters, if they agree
        self._room = 64  # states that it had at most

    def add_param_group(self, param_group: Group) -> None:
        """Adds parameters with their own options."""
        super().add_param_group(param_group)
        try:
            self._add(self.param_groups[-1])
        except BaseException:
            self.param_groups.pop()
            raise

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates the parameters that have a gradient. A closure computes the loss again first."""
        loss = self._loss(closure)
        self._tell()
        if self._handle is not None:
            self._call(lib.tsr_optimizer_step, self._handle)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients of all parameters to None, or fills existing ones with zeros."""
        self._tell()
        if self._handle is not None:
            self._call(lib.tsr_optimizer_zero_grad, self._handle, bool(set_to_none))

    @staticmethod
    def _call(function: Callable[..., int], *args: Any) -> None:
        """Calls a function that holds the parameters meanwhile: the collector must not look at them then."""
        calling(True)
        try:
            check(function(*args))
        finally:
            calling(False)

    def sync(self) -> None:
        """Passes changes of `param_groups` and `state` to the library, as step() does: for a program that makes the steps."""
        self._tell()

    # ---- groups: from Python to the core ----

    def _options(self, group: Group) -> dict[str, Any]:
        """The options of a group under the core's names."""
        found: dict[str, Any] = {}
        for name in self.defaults:
            if name in self._extras:
                continue
            value = group[name]
            if name in PAIRS:
                numbers = [as_number(n, name) for n in as_list(value, name)]
                if len(numbers) != 2:
                    raise InvalidValueError(f"{name}: expected two numbers, got {value}")
                found.update(zip(PAIRS[name], numbers))
            elif name in FLAGS:
                found[name] = bool(value)
            else:
                found[name] = as_int(value, name) if name == "ns_steps" else as_number(value, name)
        return found

    def _struct(self, options: dict[str, Any]) -> Any:
        struct = ffi.new("tsr_optimizer_options*")
        struct.struct_size = ffi.sizeof("tsr_optimizer_options")
        check(lib.tsr_optimizer_defaults(getattr(lib, f"TSR_OPTIMIZER_{self._kind.upper()}"), struct))
        for name, value in options.items():
            setattr(struct, name, value)
        return struct

    def _add(self, group: Group) -> None:
        params, options = list(group["params"]), self._options(group)
        struct = self._struct(options)
        if self._handle is None:
            first = params or [_ops.zeros((1, 1))]  # the core's first group cannot be empty
            made = ffi.new("tsr_optimizer*")
            check(lib.tsr_optimizer_new(struct, handles(first), len(first), made))
            self._handle = ffi.gc(made[0], lib.tsr_optimizer_release)
            if not params:
                check(lib.tsr_optimizer_params_set(self._handle, 0, ffi.NULL, 0))
        else:
            check(lib.tsr_optimizer_add_group(self._handle, struct, handles(params), len(params)))
        self._known.append((params, options))

    def _knows_groups(self) -> bool:
        """Whether the core has the parameters of `param_groups`."""
        return len(self._known) == len(self.param_groups) and all(
            len(known) == len(group["params"]) and all(map(operator.is_, known, group["params"]))
            for (known, _), group in zip(self._known, self.param_groups)
        )

    def _tell(self) -> None:
        """Passes changes of `param_groups` and `state` to the core."""
        states = self._states
        if not self._knows_groups() or states is not None and states.changed(p for params, _ in self._known for p in params):
            self._rebuild(self.state)
        for number, group in enumerate(self.param_groups):
            params, known = self._known[number]
            options = self._options(group)
            if options != known:
                check(lib.tsr_optimizer_options_set(self._handle, number, self._struct(options)))
                self._known[number] = (params, options)
        if states is not None:
            states.stale = True  # soon: a step comes

    def _rebuild(self, state: State) -> None:
        """Makes a new core optimizer from the current groups; parameters that remain keep their state."""
        before, states = (self._handle, self._known), self._states
        self._begin()
        try:
            for group in self.param_groups:
                self._add(group)
            if state:
                self._load(self.param_groups, {p: state[p] for g in self.param_groups for p in g["params"] if p in state})
        except BaseException:
            self._handle, self._known = before
            raise
        finally:
            self._states = self._states if states is None else states
        if states is not None:
            states.taken()

    # ---- state: from the core to Python and back ----

    @property
    def state(self) -> State:
        """What the library keeps for each parameter, by name; the tensors share its memory. What a program changes in it, or
        assigns to it, reaches the library before the next step."""
        if self._states is None:
            self._states = States(self)
        self._states.refresh(self._core_entries())
        return self._states

    @state.setter
    def state(self, given: Mapping[Tensor, dict[str, Any]]) -> None:
        kept, states = dict(given), self.state
        states.clear()
        states.update(kept)

    def _core_entries(self) -> list[tuple[Tensor, dict[str, Any]]]:
        places, entries = self._read_entries()
        return [(self._known[place[0]][0][place[1]], entry) for place, entry in zip(places, entries)]

    def _read_entries(self, number: Callable[[Tensor], Any] = Tensor.item) -> tuple[list[Place], list[dict[str, Any]]]:
        """The parameters that have a state, as group and number in it, and the state of each, with what `number` makes of the
        tensors that hold numbers."""
        if self._handle is None:
            return [], []
        names, tensors = self._read_state()
        if names != self._names:
            self._names, self._places = names, _places(names)
            kinds = {(states, tuple(numbers)) for _, _, states, numbers in self._places}
            self._columns = kinds.pop() if len(kinds) == 1 else None
        if self._columns is not None:  # all parameters have the same states, which is faster column by column
            shared, scalars = self._columns
            columns: list[Any] = [tensors[k :: len(shared)] for k in range(len(shared))]
            for k, state in enumerate(shared):
                if state in scalars:
                    columns[k] = map(number, columns[k])
            return self._places, [dict(zip(shared, row)) for row in zip(*columns)]
        found, begin = [], 0
        for _, _, states, numbers in self._places:
            end = begin + len(states)
            entry: dict[str, Any] = dict(zip(states, tensors[begin:end]))
            for state in numbers:
                entry[state] = number(entry[state])
            found.append(entry)
            begin = end
        return self._places, found

    def state_dict(self) -> dict[str, Any]:
        """Options and state, with parameters replaced by their numbers."""
        if self._states is not None or not self._knows_groups():  # changed since the last step, perhaps
            return super().state_dict()
        groups = numbered(self.param_groups)
        places, entries = self._read_entries()
        state = {groups[p[0]]["params"][p[1]]: entry for p, entry in zip(places, entries)}
        return {"state": state, "param_groups": groups}

    def _read_state(self) -> tuple[bytes, list[Tensor]]:
        """The names of the states, as the JSON of the library, and their tensors."""
        buffers, count = ffi.new("tsr_buffer[2]"), ffi.new("int32_t*")
        while True:
            room = self._room
            cells = ffi.new("tsr_tensor[]", room)
            status = lib.tsr_optimizer_state(self._handle, buffers, buffers + 1, cells, room, count)
            self._room = max(room, count[0])
            if status == 0 or count[0] <= room:
                break
        check(status)
        lib.tsr_buffer_release(buffers[0])
        names = ffi.gc(buffers[1], lib.tsr_buffer_release)
        text, size = ffi.new("const char**"), ffi.new("int64_t*")
        check(lib.tsr_buffer_data(names, text, size))
        return bytes(ffi.buffer(text[0], size[0])), adopt_all(cells, count[0])

    def _load(self, groups: list[Group], entries: dict[Tensor, dict[str, Any]]) -> None:
        if not self._knows_groups():  # changed since the last step
            self._rebuild(self.state)
        names, tensors, told = [], [], []
        own: dict[Any, dict[str, Any]] = {}  # states of which the core knows nothing
        for number, (params, _) in enumerate(self._known):
            options = self._options(groups[number])
            told.append((params, options))
            for index, parameter in enumerate(params):
                entry = entries.get(parameter, {})
                if not _begins(entry):
                    for state in [state for state in entry if state in NAMES]:
                        names.append(f"{number}.{index}.{state}")
                        tensors.append(_number(state, entry[state]) if state in SCALARS else entry[state])
                if rest := {state: value for state, value in entry.items() if state not in NAMES}:
                    own[parameter] = rest
        described = [{"params": len(params), "options": options} for params, options in told]
        description = json.dumps({"format": 1, "kind": self._kind, "groups": described}).encode()
        text = json.dumps(names).encode()
        check(
            lib.tsr_optimizer_state_load(
                self._handle, description, len(description), text, len(text), handles(tensors), len(tensors)
            )
        )
        self._known = told
        self._states = None
        if own:
            states = self.state
            for parameter, rest in own.items():
                states[parameter].update(copied(rest))

    def save(self, path: Path) -> None:
        """Writes options and state to a file that every language loads."""
        self._tell()
        encoded = _encoded(path, "save")
        with about_file(path):
            check(lib.tsr_optimizer_save(self._handle, encoded, len(encoded)))

    def load(self, path: Path) -> None:
        """Reads options and state from a file that save() of any language wrote."""
        self._tell()
        encoded = _encoded(path, "load")
        with about_file(path):
            check(lib.tsr_optimizer_load(self._handle, encoded, len(encoded)))
        struct = ffi.new("tsr_optimizer_options*")
        struct.struct_size = ffi.sizeof("tsr_optimizer_options")
        for number, group in enumerate(self.param_groups):
            check(lib.tsr_optimizer_options_get(self._handle, number, struct))
            for name in [name for name in self.defaults if name not in self._extras]:
                parts = tuple(getattr(struct, part) for part in PAIRS.get(name, (name,)))
                value = parts if name in PAIRS else parts[0]
                group[name] = bool(value) if name in FLAGS else value
            self._known[number] = (self._known[number][0], self._options(group))
        self._states = None

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v for k, v in self.__dict__.items() if k not in _OF_THE_CORE}
        return {**kept, "_own_state": list(self.state.items())}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._own_state = defaultdict(dict)
        self._begin()
        self._rebuild(defaultdict(dict, kept["_own_state"]))


_OF_THE_CORE = ("_handle", "_known", "_names", "_places", "_columns", "_room", "_states")  # attributes that no copy shares


def _begins(entry: dict[str, Any]) -> bool:
    """Whether a state is that of before the first step, which the core does not keep: no steps, and only zeros."""
    step = entry.get("step")
    return step is not None and not step and not any(entry[state].any() for state in NAMES & entry.keys() - SCALARS.keys())


def _number(state: str, value: Any) -> Tensor:
    """A state that is a number, given as one or as a tensor of any dtype."""
    number = value.item() if isinstance(value, TensorBase) else value
    return _ops.full((), int(number) if state == "step" else number, dtype=SCALARS[state])


def _places(names: bytes) -> list[Place]:
    """What the names `<group>.<index>.<state>` say, with one place for each parameter."""
    places: dict[tuple[int, int], list[str]] = {}
    for name in json.loads(names):
        group, index, state = name.split(".", 2)
        places.setdefault((int(group), int(index)), []).append(state)
    return [(*where, tuple(states), [s for s in states if s in SCALARS]) for where, states in places.items()]
