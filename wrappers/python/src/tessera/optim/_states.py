# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The states of an optimizer of the library as a dict that a program may change."""

from __future__ import annotations

import functools
import weakref
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .._dtypes import float64, int64

SCALARS = {"step": int64, "mu_product": float64}  # states that are a number
NAMES = frozenset([  # of the states that the library keeps; a program's own stay here
    "acc_delta", "ax", "exp_avg", "exp_avg_sq", "exp_inf", "grad_avg", "max_exp_avg_sq", "momentum_buffer", "mu_product", "prev",
    "square_avg", "step", "step_size", "sum",
])  # fmt: skip


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    """What the library keeps of an entry, with numbers as floats."""
    return {name: float(value) if name in SCALARS else value for name, value in entry.items() if name in NAMES}


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        value == other[name] if name in SCALARS else value is other[name] for name, value in one.items()
    )


class States(defaultdict[Any, dict[str, Any]]):
    """The states of each parameter. The optimizer takes what a program changes here before its next step."""

    def __init__(self, owner: Any) -> None:
        super().__init__(dict)
        self._owner = weakref.ref(owner)
        self._read: dict[Any, dict[str, Any]] = {}  # what the library had when it was last read
        self.stale = False

    def refresh(self, entries: Iterable[tuple[Any, dict[str, Any]]]) -> None:
        """Takes over what the library has now, except where the program has changed something since the last time."""
        before, self._read, self.stale = self._read, {}, False
        for parameter, entry in entries:
            now = self._read[parameter] = _known(entry)
            was, mine = before.get(parameter, {}), dict.get(self, parameter)
            if mine is None:
                if not was:
                    dict.__setitem__(self, parameter, entry)
                continue
            held = _known(mine)
            for name in now:
                one, other = held.get(name), was.get(name)
                if one is other or (name in SCALARS and one == other):
                    mine[name] = entry[name]

    def changed(self, params: Iterable[Any]) -> bool:
        """Whether the program has changed the states of some of these parameters since they were last read."""
        return any(not _same(_known(dict.get(self, p) or {}), self._read.get(p, {})) for p in params)

    def taken(self) -> None:
        """The library has copies of what is here."""
        self._read = {parameter: _known(entry) for parameter, entry in dict.items(self) if isinstance(entry, dict)}
        self.stale = True

    def copy(self) -> Any:
        return defaultdict(dict, self)

    __copy__ = copy

    def __reduce__(self) -> Any:
        return defaultdict, (dict,), None, None, iter(self.items())


def _current(name: str) -> Any:
    """A method of dict that looks first whether the library has made a step."""
    plain: Any = getattr(defaultdict, name)

    @functools.wraps(plain)
    def call(self: States, *args: Any, **kwargs: Any) -> Any:
        if self.stale and (owner := self._owner()) is not None:
            owner.state  # noqa: B018 (reading it refreshes this)
        return plain(self, *args, **kwargs)

    return call


for _name in (
    "__contains__", "__delitem__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__repr__", "__reversed__",
    "__setitem__", "clear", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values",
):  # fmt: skip
    setattr(States, _name, _current(_name))
