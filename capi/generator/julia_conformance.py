# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the Julia package, one test set each."""

from __future__ import annotations

from .conformance import Printer
from .julia_names import DEFAULTS, argument, exported, is_keyword, is_position, qualified
from .julia_ops import WORDS
from .model import Schema
from .replay import Given, Replay, replays
from .text import banner

FILE = "wrappers/julia/test/generated/conformance.jl"
GROWING = {"expand_dims", "unsqueeze", "stack"}  # their axis counts the axes of the result


def outputs(schema: Schema) -> dict[str, str]:
    tests = (f'\n@testset "test_{replay.name}" begin\n{_Julia().body(replay)}end\n' for replay in replays(schema))
    return {FILE: banner("#", "The calls of tests/conformance.") + "".join(tests)}


class _Julia(Printer):
    words = WORDS
    comma = ""
    copy, leaf, pairs = "taken", "learned", "complex_taken"
    counted = "@test length({}) == {}"
    clone = "changed = copy({})"
    gradient = "grad({})"
    give_gradient = "grad!({}, {})"
    no_gradient = "@test grad({}) === nothing"
    first = 1

    def let_list(self, given: Given, values: list[str | None]) -> str | None:
        kind = "" if values else "Tensor"
        return self.statement(f"{given.arg.name} = {kind}[", [v or "nothing" for v in values], "]")

    def same(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        more = "; rtol={!r}, atol={!r}".format(*tolerance) if tolerance else ""
        return f'{self.pad}@test difference({variable}, {key}{more}) == ""'

    def backward(self, roots: list[str], keys: list[str]) -> str:
        weights = ", ".join(f"taken({key})" for key in keys)
        return self.statement("backward!(", [f"[{', '.join(roots)}]; gradient=[{weights}]"], ")")

    def call(self, replay: Replay) -> str:
        op, positional, keyword = replay.op, [], []
        for given in replay.args:
            if not is_keyword(op, given.arg):
                positional.append(self._written(replay, given))
            elif given.stated or (op.name, given.arg.name) in DEFAULTS or given.arg.name == "keepdims":
                keyword.append(f"{argument(op, given.arg)}={self._written(replay, given)}")
        parts = positional + keyword
        if keyword:
            parts = [*positional[:-1], f"{positional[-1]}; {keyword[0]}", *keyword[1:]]
        name = qualified(op, bang=replay.function.form == "inplace")
        target = ", ".join(replay.results) + " = " * bool(replay.results)
        return self.statement(f"{target}{_function(name)}(", parts, ")")

    def _written(self, replay: Replay, given: Given) -> str:
        value = given.value
        if self.is_variable(given):
            return replay.variable(given.arg.name)
        if is_position(replay.op, given.arg) and value is not None:
            value = tuple(_position(replay, given, v) for v in value) if isinstance(value, tuple) else _position(replay, given, value)
        return self.words.literal(value)


def _function(name: str) -> str:
    """As a program that is `using Tessera, LinearAlgebra, Statistics` writes it."""
    if "." in name:
        return name.split(".")[1]
    return name if exported(name) else f"Tessera.{name}"


def _position(replay: Replay, given: Given, value: int) -> int:
    """From 0, or below from the end, to from 1."""
    if value >= 0:
        return value + 1
    values = {g.arg.name: g.value for g in replay.args}
    first = values["weight"] if given.arg.name == "padding_idx" else next(v for v in values.values() if v)
    shape: tuple[int, ...] = (first[0] if isinstance(first, tuple) else first).literal.shape
    if given.arg.name == "padding_idx":
        return shape[0] + value + 1
    if given.arg.name in ("index", "start") and "axis" in values:
        return shape[int(values["axis"])] + value + 1
    return len(shape) + (replay.op.name in GROWING) + value + 1
