# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the C++ wrapper, one each."""

from __future__ import annotations

from collections.abc import Sequence

from ..cases.printer import Printer
from ..cases.replay import Given, Replay, Stored, replays
from ..schema.model import Schema
from ..text import banner, parts
from .ops import WORDS, default_text
from .text import wrap

FILES = 2  # few, for the headers take most of the compiler's time


def outputs(schema: Schema) -> dict[str, str]:
    """For tests/cpp/CMakeLists.txt, which names the files."""
    return {f"test_conformance_{i}.cpp": _file(part) for i, part in enumerate(parts(replays(schema), FILES))}


def _file(found: Sequence[Replay]) -> str:
    """Plain functions and a table of them: GoogleTest's TEST is a class, which takes the compiler twice the time."""
    text = banner("//", "The calls of tests/conformance.")
    text += '#include "conformance.hpp"\n\nusing namespace tessera::test;\nusing tessera::Tensor;\n\nnamespace {\n\n'
    text += "\n".join(f"void {replay.name}() {{\n{_Cpp().body(replay)}}}\n" for replay in found)
    rows = "".join(f'    {{"{replay.name}", {replay.name}}},\n' for replay in found)
    return f"{text}\nconstexpr Case kCases[] = {{\n{rows}}};\nconst bool registered = register_cases(kCases);\n\n}}  // namespace\n"


class _Cpp(Printer):
    words = WORDS
    pad = "  "
    counted = "ASSERT_EQ({}.size(), {}U);"
    clone = "Tensor changed = {}.clone();"
    gradient = "{}.grad()"
    give_gradient = "Tensor({}).set_grad({});"  # the list is const, its tensors are references
    no_gradient = "EXPECT_FALSE({}.grad().defined());"

    def statement(self, head: str, parts: Sequence[str], tail: str) -> str:
        return wrap(self.pad + head, list(parts), tail)

    def let(self, given: Given, value: str) -> str:
        constant = "" if given.changes and not value.startswith(self.leaf) else "const "
        return f"{self.pad}{constant}Tensor {given.arg.name} = {value};"

    def let_list(self, given: Given, values: list[str | None]) -> str | None:
        if not values:
            return None
        return self.statement(f"const std::vector<Tensor> {given.arg.name}{{", [v or "Tensor()" for v in values], "};")

    def result(self, replay: Replay, name: str) -> str:
        return f"results.{name}" if name in replay.results and len(replay.results) > 1 else replay.variable(name)

    def same(self, variable: str, key: str, tolerance: tuple[float, float] | None) -> str:
        more = ["Tolerance{" + ", ".join(repr(float(t)) for t in tolerance) + "}"] if tolerance else []
        return self.statement("expect_same(", [variable, key, *more], ");")

    def backward(self, roots: list[str], keys: list[str]) -> str:
        weights = ", ".join(f"copy({key})" for key in keys)
        return self.statement("tessera::backward(", ["{" + ", ".join(roots) + "}", "{" + weights + "}"], ");")

    def call(self, replay: Replay) -> str:
        op = replay.op
        inplace = replay.function.form == "inplace"
        stated = [place for place, given in enumerate(replay.args) if given.stated]
        parts = [self._written(replay, given) for given in replay.args[: max(stated, default=-1) + 1]]
        target = ""
        if not inplace and len(op.returns) > 1:
            target = "const auto results = "
        elif not inplace and op.returns:
            target = f"const {'std::vector<Tensor>' if op.returns_list else 'Tensor'} {op.returns[0].name} = "
        return self.statement(f"{target}tessera::{op.name}{'_' if inplace else ''}(", parts, ");")

    def _written(self, replay: Replay, given: Given) -> str:
        value, kind = given.value, given.arg.type
        if isinstance(value, Stored) or (kind.is_tensor_list and value):
            return replay.variable(given.arg.name)
        if value is None and kind.base == "tensor":
            return "Tensor()"
        return default_text(given.arg) if value is None and not given.arg.required else self.words.literal(value)
