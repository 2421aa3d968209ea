# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the Julia package, one test set each."""

from __future__ import annotations

import math
from typing import Any

from .julia_names import DEFAULTS, argument, exported, is_keyword, is_position, qualified
from .julia_ops import operands
from .model import DType, Schema
from .replay import Given, Replay, Stored, replays
from .text import banner

FILE = "wrappers/julia/test/generated/conformance.jl"
WIDTH = 100
COMPLEX = {"complex64": "ComplexF32", "complex128": "ComplexF64"}
GROWING = {"expand_dims", "unsqueeze", "stack"}  # their axis counts the axes of the result


def outputs(schema: Schema) -> dict[str, str]:
    text = banner("#", "The calls of tests/conformance.")
    return {FILE: text + "".join(_test(replay) for replay in replays(schema))}


def _test(replay: Replay) -> str:
    lines = [line for given in replay.args for line in _prepared(replay, given)]
    lines += _called(replay)
    for name, expected in {**replay.results, **replay.after}.items():
        lines += _compared(replay, _changed(replay, name) if name in replay.after else name, expected)
    if replay.gradient is not None:
        roots, weights = [], []
        for name, stored in replay.gradient.weights.items():
            variable = _changed(replay, name) if name in replay.after else name
            roots += [v for v, _ in _items(variable, stored)]
            weights += [f"taken({_text(s.key)})" for _, s in _items(variable, stored)]
        lines += _statement("backward!(", [f"[{', '.join(roots)}]; gradient=[{', '.join(weights)}]"], ")")
        for name, stored in replay.gradient.grads.items():
            for variable, one in _items(name, stored):
                lines += _same(replay, f"grad({variable})", one)
    body = "".join(f"    {line}\n" for line in lines)
    return f'\n@testset "test_{replay.name}" begin\n{body}end\n'


def _changed(replay: Replay, name: str) -> str:
    """The variable that the op writes to: a leaf itself must not change."""
    return "changed" if replay.is_leaf(name) else name


def _prepared(replay: Replay, given: Given) -> list[str]:
    """Tensors as local variables, by the names of their arguments."""
    name, value = given.arg.name, given.value
    if not isinstance(value, Stored) and not (isinstance(value, tuple) and given.arg.type.is_tensor_list):
        return []
    leaf = replay.is_leaf(name)
    make = "learned" if leaf else "taken"
    if isinstance(value, Stored):
        lines = _statement(f"{name} = ", [_taken(make, value)], "")
    elif value:
        lines = _statement(f"{name} = [", ["nothing" if s is None else _taken(make, s) for s in value], "]")
    else:
        lines = [f"{name} = Tensor[]"]
    if given.changes and leaf:
        lines.append(f"changed = copy({name})")
    return lines


def _taken(make: str, stored: Stored) -> str:
    return f"{'complex_taken' if stored.pairs else make}({_text(stored.key)})"


def _called(replay: Replay) -> list[str]:
    op, positional, keyword = replay.op, [], []
    for given in replay.args:
        if not is_keyword(op, given.arg, operands(op)):
            positional.append(_written(replay, given))
        elif given.stated or (op.name, given.arg.name) in DEFAULTS or given.arg.name == "keepdims":
            keyword.append(f"{argument(op, given.arg)}={_written(replay, given)}")
    parts = positional + keyword
    if keyword:
        parts = [*positional[:-1], f"{positional[-1]}; {keyword[0]}", *keyword[1:]]
    name = qualified(op, bang=replay.function.form == "inplace")
    target = ", ".join(replay.results)
    return _statement((f"{target} = " if target else "") + _function(name) + "(", parts, ")")


def _function(name: str) -> str:
    """As a program that is `using Tessera, LinearAlgebra, Statistics` writes it."""
    if "." in name:
        return name.split(".")[1]
    return name if exported(name) else f"Tessera.{name}"


def _written(replay: Replay, given: Given) -> str:
    if isinstance(given.value, Stored):
        return _changed(replay, given.arg.name) if given.changes else given.arg.name
    if given.arg.type.is_tensor_list:
        return given.arg.name
    value = given.value
    if is_position(replay.op, given.arg) and value is not None:
        value = tuple(_position(replay, given, v) for v in value) if isinstance(value, tuple) else _position(replay, given, value)
    return literal(value)


def _position(replay: Replay, given: Given, value: int) -> int:
    """From 0, or below from the end, to from 1."""
    if value >= 0:
        return value + 1
    shapes = {g.arg.name: g.value for g in replay.args}
    first = next(v for v in shapes.values() if v)
    shape = (first[0] if isinstance(first, tuple) else first).literal.shape
    if given.arg.name == "padding_idx":
        return shapes["weight"].literal.shape[0] + value + 1
    if given.arg.name in ("index", "start") and "axis" in shapes:
        return shape[shapes["axis"]] + value + 1
    return len(shape) + (replay.op.name in GROWING) + value + 1


def literal(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, tuple) and value and value[0] == "cpu":
        return "CPU"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + (",)" if len(value) == 1 else ")")
    if isinstance(value, DType):
        return COMPLEX.get(value.name) or julia_dtype(value.name)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Inf" if value > 0 else "-Inf")
    if isinstance(value, int) and value == -(2**63):
        return "typemin(Int64)"
    return repr(value)


def julia_dtype(name: str) -> str:
    return {"uint": "UInt", "bflo": "BFlo"}.get(name[:4], name[:4].capitalize()) + name[4:]


def _items(variable: str, stored: Any) -> list[tuple[str, Stored]]:
    if isinstance(stored, tuple):
        return [(f"{variable}[{i + 1}]", s) for i, s in enumerate(stored)]
    return [(variable, stored)]


def _compared(replay: Replay, variable: str, expected: Any) -> list[str]:
    lines = [f"@test length({variable}) == {len(expected)}"] if isinstance(expected, tuple) else []
    for one, stored in _items(variable, expected):
        lines += _same(replay, one, stored)
    return lines


def _same(replay: Replay, variable: str, stored: Stored) -> list[str]:
    more = ""
    if (replay.rtol, replay.atol) != (None, None):
        more = "; " + ", ".join(f"{n}={v!r}" for n, v in zip(("rtol", "atol"), replay.tolerance(stored)))
    return [f'@test difference({variable}, {_text(stored.key)}{more}) == ""']


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


def _statement(head: str, parts: list[str], tail: str) -> list[str]:
    """One line, or one part a line where that is too long."""
    whole = head + ", ".join(parts) + tail
    if len(whole) + 4 <= WIDTH or not tail:
        return [whole]
    return [head, *(f"    {part}," for part in parts[:-1]), f"    {parts[-1]}", tail]


