# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the Python package, one function each."""

from __future__ import annotations

import math
from typing import Any

from .model import DType, Op, Schema
from .replay import Given, Replay, Stored, replays
from .text import banner

FILE = "wrappers/python/tests/generated/test_conformance.py"
WIDTH = 100
SLICE_KIND, NEW_AXIS_KIND, ELLIPSIS_KIND, ARRAY_KIND = 1, 2, 3, 4  # of the schema's index_kind


def outputs(schema: Schema) -> dict[str, str]:
    text = banner("#", "The calls of tests/conformance.") + "\nfrom conformance import backward, complex_copy, copy, leaf, same\n\n"
    text += "import tessera as ts\n" + "".join(_test(replay) for replay in replays(schema))
    if "math." in text:
        text = text.replace("\nfrom conformance", "\nimport math\n\nfrom conformance", 1)
    return {FILE: text}


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
            weights += [repr_of(s.key) for _, s in _items(variable, stored)]
        lines += _statement("backward(", [f"[{', '.join(roots)}]", f"[{', '.join(weights)}]"], ")")
        for name, stored in replay.gradient.grads.items():
            for variable, one in _items(name, stored):
                lines += _same(replay, f"{variable}.grad", one)
    body = "".join(f"    {line}\n" for line in lines)
    return f"\n\ndef test_{replay.name}() -> None:\n{body}"


def _changed(replay: Replay, name: str) -> str:
    """The variable that the op writes to: a leaf itself must not change."""
    return "changed" if replay.is_leaf(name) else name


def _prepared(replay: Replay, given: Given) -> list[str]:
    """Tensors as local variables, by the names of their arguments."""
    name, value = given.arg.name, given.value
    if not isinstance(value, Stored) and not (isinstance(value, tuple) and given.arg.type.is_tensor_list):
        return []
    if value == () and replay.op.python.hidden:
        return []  # an index without arrays
    leaf = replay.is_leaf(name)
    make = "leaf" if leaf else "copy"
    if isinstance(value, Stored):
        lines = _statement(f"{name} = ", [_taken(make, value)], "")
    else:
        lines = _statement(f"{name} = [", ["None" if s is None else _taken(make, s) for s in value], "]")
    if given.changes and leaf:
        lines.append(f"changed = {name}.clone()")
    return lines


def _taken(make: str, stored: Stored) -> str:
    return f"{'complex_copy' if stored.pairs else make}({repr_of(stored.key)})"


def _called(replay: Replay) -> list[str]:
    target = ", ".join(replay.results)
    target = f"{target} = " if target else ""
    values = {g.arg.name: g for g in replay.args}
    if replay.op.python.hidden:
        return [target + _by_hand(replay, values)]
    op = replay.op
    parts = []
    positional = True
    for place, given in enumerate(replay.args):
        positional = positional and (place == 0 or given.arg.type.is_tensor or given.arg.type.base == "scalar")
        positional = positional and given.arg.name != op.python.keyword
        if given.stated:
            text = _written(replay, given)
            parts.append(text if positional else f"{given.arg.name}={text}")
        else:
            positional = False
    if replay.function.form == "inplace":
        return _statement(f"{parts[0]}.{op.python.name}(", parts[1:], ")")
    return _statement(f"{target}{_function(op)}(", parts, ")")


def _function(op: Op) -> str:
    return ".".join(["ts", *filter(None, [op.python.namespace]), op.python.name])


def _by_hand(replay: Replay, values: dict[str, Given]) -> str:
    """Ops that the package offers under other names, or as indexing."""
    name = replay.op.name
    stated = {n: _written(replay, g) for n, g in values.items() if g.stated}
    first = next(iter(stated.values()))
    keywords = [f"{n}={v}" for n, v in list(stated.items())[1:]]
    if name in ("arange", "arange_int"):
        numbers = [stated.pop(n) for n in ("start", "stop", "step") if n in stated]
        return f"ts.arange({', '.join(numbers + [f'{n}={v}' for n, v in stated.items()])})"
    if name == "asarray":
        return f"ts.asarray({', '.join([first, *keywords])})"
    if name == "to":
        return f"{first}.to({', '.join(keywords)})"
    if name == "getitem_boolean":
        return f"{first}[mask]"
    if name == "getitem_integer":
        items = [":" if s is None else f"indices[{i}]" for i, s in enumerate(values["indices"].value)]
        return f"{first}[{', '.join(items)}]"
    if name in ("getitem", "getitem_basic", "setitem"):
        arrays = [f"arrays[{i}]" for i in range(len(values["arrays"].value))] if "arrays" in values else []
        assigned = f" = {stated['value']}" if name == "setitem" else ""
        return f"{first}[{', '.join(_index(values['items'].value, arrays))}]{assigned}"
    raise ValueError(f"{name} is hidden from Python and has no spelling in python_conformance.py")


def _index(items: tuple[int, ...], arrays: list[str]) -> list[str]:
    left = iter(arrays)
    found = []
    for place in range(0, len(items), 4):
        kind, start, stop, step = items[place : place + 4]
        if kind == SLICE_KIND:
            found.append(f"{start}:{stop}:{step}")
        elif kind == ARRAY_KIND:
            found.append(next(left))
        else:
            found.append({NEW_AXIS_KIND: "None", ELLIPSIS_KIND: "..."}.get(kind, str(start)))
    return found


def _written(replay: Replay, given: Given) -> str:
    if isinstance(given.value, Stored):
        return _changed(replay, given.arg.name) if given.changes else given.arg.name
    if given.arg.type.is_tensor_list:
        return given.arg.name
    return literal(given.value)


def literal(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, DType):
        return f"ts.{value.name}" + ("_" if value.name == "bool" else "")
    if isinstance(value, str):
        return repr_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else ("math.inf" if value > 0 else "-math.inf")
    return repr(value).strip("()")  # complex numbers come in parentheses


def _items(variable: str, stored: Any) -> list[tuple[str, Stored]]:
    if isinstance(stored, tuple):
        return [(f"{variable}[{i}]", s) for i, s in enumerate(stored)]
    return [(variable, stored)]


def _compared(replay: Replay, variable: str, expected: Any) -> list[str]:
    lines = [f"assert len({variable}) == {len(expected)}"] if isinstance(expected, tuple) else []
    for one, stored in _items(variable, expected):
        lines += _same(replay, one, stored)
    return lines


def _same(replay: Replay, variable: str, stored: Stored) -> list[str]:
    more = []
    if (replay.rtol, replay.atol) != (None, None):
        more = [f"{name}={value!r}" for name, value in zip(("rtol", "atol"), replay.tolerance(stored))]
    return _statement("same(", [variable, repr_of(stored.key), *more], ")")


def repr_of(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _statement(head: str, parts: list[str], tail: str) -> list[str]:
    """One line, or one part a line where that is too long."""
    whole = head + ", ".join(parts) + tail
    if len(whole) + 4 <= WIDTH or not tail:
        return [whole]
    return [head, *(f"    {part}," for part in parts), tail]
