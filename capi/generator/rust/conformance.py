# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the Rust crate, one function each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..cases.printer import Printer
from ..cases.replay import Given, Replay, replays
from ..schema.model import Constant, Schema
from ..text import banner
from .model import WORDS, is_free, operands, optional, receiver, rust_name
from .text import call



def outputs(schema: Schema) -> dict[str, str]:
    text = banner("//", "The calls of tests/conformance.")
    text += "use tessera_conformance::{backward, close, complex_copy, copy, leaf, same, same_gradient};\n"
    tests = "".join(
        f"\n#[test]\nfn {replay.name}() -> Result<()> {{\n{_Rust().body(replay)}    Ok(())\n}}\n" for replay in replays(schema)
    )
    used = [n for n in ("DType", "Device", "Result", "Scalar", "Tensor") if re.search(rf"\b{n}\b", tests)]
    return {"conformance.rs": f"{text}use tessera::{{{', '.join(used)}}};\n{tests}"}


class _Rust(Printer):
    words = WORDS
    taken = "{}({})?"
    given = "let {} = {};"
    counted = "assert_eq!({}.len(), {});"
    clone = "let changed = {}.deep_clone()?;"
    give_gradient = "{}.set_grad(Some(&{}))?;"
    no_gradient = "assert!({}.grad()?.is_none());"

    def statement(self, head: str, parts: Sequence[str], tail: str, fence: str = "()") -> str:
        return call(head, list(parts), tail, self.pad, fence)

    def let_list(self, given: Given, values: list[str | None]) -> str | None:
        holes = given.arg.type.holes
        parts = ["None" if v is None else f"Some({v})" if holes else v for v in values if holes or v]
        return self.statement(f"let {given.arg.name}{'' if parts else ': [Tensor; 0]'} = ", parts, ";", "[]")

    def same(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        if tolerance is None:
            return f"{self.pad}same(&{variable}, {key})?;"
        return f"{self.pad}close(&{variable}, {key}, {tolerance[0]!r}, {tolerance[1]!r})?;"

    def same_gradient(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        return f"{self.pad}same_gradient(&{variable}, {key})?;"

    def backward(self, roots: list[str], keys: list[str]) -> str:
        return f"{self.pad}backward(&[{', '.join('&' + r for r in roots)}], &[{', '.join(keys)}])?;"

    def call(self, replay: Replay) -> str:
        op, form = replay.op, replay.function.form
        names = list(replay.results)
        target = "" if not names else f"let {names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'} = "
        values = {g.arg.name: g for g in replay.args}
        own = receiver(op)
        left = own is not None and values[own.name].arg.type.base == "scalar"
        subject = op.args[1] if left else own
        required = [g for g in replay.args if op.arg(g.arg.name).required and (subject is None or g.arg.name != subject.name)]
        stated = [g for g in replay.args if g.stated and g.value is not None and not op.arg(g.arg.name).required]
        parts = [self._written(replay, g) for g in required]
        method = rust_name(op) + ("_left" if left else "_" if form == "inplace" else "_with" if stated else "")
        if stated or ((left or form == "inplace") and optional(op)):
            parts.append("|o| o" + "".join(f".{g.arg.name}({self._written(replay, g)})" for g in stated))
        home = "tessera::ops::" if is_free(op) else "Tensor::" if subject is None else f"{replay.variable(subject.name)}."
        return self.statement(f"{target}{home}{method}", parts, "?;")

    def _written(self, replay: Replay, given: Given) -> str:
        value, name, kind = given.value, given.arg.name, given.arg.type
        if kind.is_tensor_list and kind.holes:
            return "&[" + ", ".join(f"{name}[{i}].as_ref()" for i in range(len(value))) + "]"
        if self.is_variable(given):
            return f"&{replay.variable(name)}"
        if isinstance(value, Constant):
            return str(value.value)
        suffix = "i64" if type(value) is int and (kind.base == "scalar" or name in operands(replay.op)) else ""
        return self.words.literal(value) + suffix
