# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the Python package, one function each."""

from __future__ import annotations

from .conformance import Printer
from .literals import Words
from .model import Schema
from .replay import Given, Replay, replays
from .text import banner

FILE = "wrappers/python/tests/generated/test_conformance.py"
SLICE_KIND, NEW_AXIS_KIND, ELLIPSIS_KIND, ARRAY_KIND = 1, 2, 3, 4  # of the schema's index_kind


def outputs(schema: Schema) -> dict[str, str]:
    text = (
        banner("#", "The calls of tests/conformance.")
        + "\nfrom conformance import backward, complex_copy, copy, leaf, same\n\n"
    )
    text += "import tessera as ts\n"
    text += "".join(f"\n\ndef test_{replay.name}() -> None:\n{_Python().body(replay)}" for replay in replays(schema))
    if "math." in text:
        text = text.replace("\nfrom conformance", "\nimport math\n\nfrom conformance", 1)
    return {FILE: text}


class _Python(Printer):
    words = Words(
        "None", lambda d: f"ts.{d.name}" + "_" * (d.name == "bool"), ("False", "True"), "math.nan", ("-math.inf", "math.inf")
    )  # fmt: skip

    def let_list(self, given: Given, values: list[str | None]) -> str | None:
        if not values and given.arg.name == "arrays":
            return None
        return self.statement(f"{given.arg.name} = [", [v or "None" for v in values], "]")

    def same(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        more = [f"rtol={tolerance[0]!r}", f"atol={tolerance[1]!r}"] if tolerance else []
        return self.statement("same(", [variable, key, *more], ")")

    def backward(self, roots: list[str], keys: list[str]) -> str:
        return self.statement("backward(", [f"[{', '.join(roots)}]", f"[{', '.join(keys)}]"], ")")

    def call(self, replay: Replay) -> str:
        op = replay.op
        target = ", ".join(replay.results) + " = " * bool(replay.results)
        if op.python.hidden:
            return self.pad + target + self._by_hand(replay)
        parts = []
        positional = True
        for place, given in enumerate(replay.args):
            positional = positional and (place == 0 or given.arg.type.is_tensor or given.arg.type.base == "scalar")
            positional = positional and given.arg.name != op.python.keyword and given.stated
            if given.stated:
                text = self._written(replay, given)
                parts.append(text if positional else f"{given.arg.name}={text}")
        if replay.function.form == "inplace":
            return self.statement(f"{parts[0]}.{op.python.name}(", parts[1:], ")")
        name = ".".join(["ts", *filter(None, [op.python.namespace]), op.python.name])
        return self.statement(f"{target}{name}(", parts, ")")

    def _by_hand(self, replay: Replay) -> str:
        """Ops that the package offers under other names, or as indexing."""
        name, values = replay.op.name, {g.arg.name: g.value for g in replay.args}
        stated = {g.arg.name: self._written(replay, g) for g in replay.args if g.stated}
        first, *others = stated.values()
        keywords = [f"{n}={v}" for n, v in zip(list(stated)[1:], others)]
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
            items = [":" if s is None else f"indices[{i}]" for i, s in enumerate(values["indices"])]
            return f"{first}[{', '.join(items)}]"
        if name in ("getitem", "getitem_basic", "setitem"):
            arrays = [f"arrays[{i}]" for i in range(len(values.get("arrays", ())))]
            assigned = f" = {stated['value']}" if name == "setitem" else ""
            return f"{first}[{', '.join(_index(values['items'], arrays))}]{assigned}"
        raise ValueError(f"{name} is hidden from Python and has no spelling in python_conformance.py")

    def _written(self, replay: Replay, given: Given) -> str:
        return replay.variable(given.arg.name) if self.is_variable(given) else self.words.literal(given.value)


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
