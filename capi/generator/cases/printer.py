# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The walk through one conformance call that the tests of all languages share; a Printer says how each step is written."""

from __future__ import annotations

from collections.abc import Sequence

from ..literals import Words
from .replay import Given, Replay, Stored, Tensors

WIDTH = 100


class Printer:
    """The steps as Python and C++ nearly write them; a language changes what it writes otherwise."""

    words: Words
    pad = "    "
    comma = ","  # behind the last of several lines
    copy, leaf, pairs = "copy", "leaf", "complex_copy"  # what takes a tensor from the file
    taken = "{}({})"
    given = "{} = {}"
    counted = "assert len({}) == {}"
    clone = "changed = {}.clone()"
    gradient = "{}.grad"
    give_gradient = "{}.grad = {}"  # to a leaf
    no_gradient = "assert {}.grad is None"
    first = 0  # where a list begins

    # ---- What every language says in its own way ----

    def let_list(self, given: Given, values: list[str | None]) -> str | None:
        raise NotImplementedError

    def call(self, replay: Replay) -> str:
        raise NotImplementedError

    def same(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        raise NotImplementedError

    def backward(self, roots: list[str], keys: list[str]) -> str:
        raise NotImplementedError

    # ---- What they may change ----

    def let(self, given: Given, value: str) -> str:
        return self.pad + self.given.format(given.arg.name, value)

    def same_gradient(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        return self.same(self.gradient.format(variable), key, tolerance)

    def result(self, replay: Replay, name: str) -> str:
        """The variable of a result, or of an argument that the call changed."""
        return replay.variable(name)

    def statement(self, head: str, parts: Sequence[str], tail: str) -> str:
        """One line, or one part a line where that is too long."""
        whole = self.pad + head + ", ".join(parts) + tail
        if len(whole) <= WIDTH or not tail:
            return whole
        lines = [head, *(f"    {part}," for part in parts[:-1]), f"    {parts[-1]}{self.comma}", tail]
        return "\n".join(self.pad + line for line in lines)

    # ---- The walk ----

    def body(self, replay: Replay) -> str:
        """The statements of the test; tests/conformance/README.md says what they do."""
        lines = [line for given in replay.args for line in self._prepared(replay, given)]
        for name, grads in replay.grad.items():
            for variable, stored in self._items(name, grads):
                lines.append(self.pad + self.give_gradient.format(variable, self._taken(self.copy, stored)))
        lines.append(self.call(replay))
        for name, expected in replay.results.items():
            if isinstance(expected, tuple):
                lines.append(self.pad + self.counted.format(self.result(replay, name), len(expected)))
        for name, expected in {**replay.results, **replay.after}.items():
            for variable, stored in self._items(self.result(replay, name), expected):
                lines.append(self.same(variable, self.key(stored), self._tolerance(replay, stored)))
        for name, grads in replay.after_grad.items():
            assert isinstance(grads, tuple)
            lines += [self._gradient_after(replay, f"{name}[{i}]", s) for i, s in enumerate(grads, self.first)]
        return "".join(f"{line}\n" for line in [*lines, *self._differentiated(replay)])

    def _prepared(self, replay: Replay, given: Given) -> list[str]:
        """Tensors as variables, by the names of their arguments."""
        name, value = given.arg.name, given.value
        make = self.leaf if replay.is_leaf(name) else self.copy
        if isinstance(value, Stored):
            lines = [self.let(given, self._taken(make, value))]
        elif given.arg.type.is_tensor_list and value is not None:
            listed = self.let_list(given, [None if s is None else self._taken(make, s) for s in value])
            lines = [] if listed is None else [listed]
        else:
            return []
        return lines if replay.variable(name) == name else [*lines, self.pad + self.clone.format(name)]

    def _taken(self, make: str, stored: Stored) -> str:
        return self.taken.format(self.pairs if stored.pairs else make, self.key(stored))

    def _gradient_after(self, replay: Replay, variable: str, stored: Stored | None) -> str:
        if stored is None:
            return self.pad + self.no_gradient.format(variable)
        return self.same_gradient(variable, self.key(stored), self._tolerance(replay, stored))

    def _differentiated(self, replay: Replay) -> list[str]:
        if replay.gradient is None:
            return []
        weighted = [w for n, s in replay.gradient.weights.items() for w in self._items(self.result(replay, n), s)]
        lines = [self.backward([v for v, _ in weighted], [self.key(s) for _, s in weighted])]
        for name, grads in replay.gradient.grads.items():
            for variable, stored in self._items(name, grads):
                lines.append(self.same_gradient(variable, self.key(stored), self._tolerance(replay, stored)))
        return lines

    def _items(self, variable: str, tensors: Tensors) -> list[tuple[str, Stored]]:
        """The variable of each tensor."""
        if isinstance(tensors, Stored):
            return [(variable, tensors)]
        return [(f"{variable}[{i}]", s) for i, s in enumerate(tensors, self.first) if s is not None]

    def _tolerance(self, replay: Replay, stored: Stored) -> tuple[float, float] | None:
        """(rtol, atol) where the case states one of them."""
        return None if (replay.rtol, replay.atol) == (None, None) else replay.tolerance(stored)

    def key(self, stored: Stored) -> str:
        return self.words.text(stored.key)

    def is_variable(self, given: Given) -> bool:
        """Whether the argument stands in a variable of its name."""
        return isinstance(given.value, Stored) or given.arg.type.is_tensor_list
