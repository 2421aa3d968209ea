# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the C++ wrapper, one each; a file per family, so that they compile side by side."""

from __future__ import annotations

import math
from typing import Any

from .cpp import default_text, dtype_constant, wrap
from .model import DType, Schema
from .replay import Given, Replay, Stored, op_replays
from .text import banner, c_string

FOLDER = "tests/cpp/generated/"
NONE = -(2**63)


def outputs(schema: Schema) -> dict[str, str]:
    files = {}
    for domain in schema.domains:
        found = [replay for op in domain.ops for replay in op_replays(schema, op)]
        if found:
            files[f"{FOLDER}test_conformance_{domain.name.removeprefix('ops_')}.cpp"] = _file(domain.title, found)
    names = "".join(f"  generated/{path.removeprefix(FOLDER)}\n" for path in files)
    files[FOLDER + "sources.cmake"] = (
        banner("#", "The generated tests of the C++ wrapper.") + f"\nset(TSR_CPP_GENERATED_TESTS\n{names})\n"
    )
    return files


def _file(title: str, found: list[Replay]) -> str:
    text = banner("//", f"The calls of tests/conformance: {title}.")
    text += '#include "conformance.hpp"\n\nusing namespace tessera::test;\nusing tessera::Tensor;\n\nnamespace {\n\n'
    return text + "\n".join(_test(replay) for replay in found) + "\n}  // namespace\n"


def _test(replay: Replay) -> str:
    lines = [line for given in replay.args for line in _prepared(replay, given)]
    lines += _called(replay)
    for name, expected in replay.results.items():
        lines += _compared(replay, _result(replay, name), expected)
    for name, expected in replay.after.items():
        lines += _compared(replay, _changed(replay, name), expected)
    if replay.gradient is not None:
        lines += _differentiated(replay)
    body = "".join(f"{line}\n" for line in lines)
    return f"TEST(Conformance, {replay.name}) {{\n{body}}}\n"


def _changed(replay: Replay, name: str) -> str:
    """The variable that the op writes to: a leaf itself must not change."""
    return "changed" if replay.is_leaf(name) else name


def _result(replay: Replay, name: str) -> str:
    return name if len(replay.results) == 1 else f"results.{name}"


def _taken(make: str, stored: Stored | None) -> str:
    if stored is None:
        return "Tensor()"
    return f"{'complex_copy' if stored.pairs else make}({c_string(stored.key)})"


def _prepared(replay: Replay, given: Given) -> list[str]:
    """Tensors as variables, by the names of their arguments."""
    name, value = given.arg.name, given.value
    make = "leaf" if replay.is_leaf(name) else "copy"
    if isinstance(value, Stored):
        constant = "" if given.changes and make == "copy" else "const "
        lines = [f"  {constant}Tensor {name} = {_taken(make, value)};"]
        return lines + ([f"  Tensor changed = {name}.clone();"] if given.changes and make == "leaf" else [])
    if given.arg.type.is_tensor_list and value:
        return [wrap(f"  const std::vector<Tensor> {name}{{", [_taken(make, s) for s in value], "};")]
    return []


def _called(replay: Replay) -> list[str]:
    op = replay.op
    inplace = replay.function.form == "inplace"
    stated = [place for place, given in enumerate(replay.args) if given.stated]
    parts = [_written(replay, given) for given in replay.args[: max(stated, default=-1) + 1]]
    head = f"tessera::{op.name}{'_' if inplace else ''}("
    if inplace or not op.returns:
        return [wrap(f"  {head}", parts, ");")]
    if len(op.returns) > 1:
        return [wrap(f"  const auto results = {head}", parts, ");")]
    kind = "std::vector<Tensor>" if op.returns_list else "Tensor"
    return [wrap(f"  const {kind} {op.returns[0].name} = {head}", parts, ");")]


def _written(replay: Replay, given: Given) -> str:
    value, kind = given.value, given.arg.type
    if isinstance(value, Stored):
        return _changed(replay, given.arg.name) if given.changes else given.arg.name
    if kind.is_tensor_list and value:
        return given.arg.name
    if value is None:
        return "Tensor()" if kind.base == "tensor" else default_text(given.arg) if not given.arg.required else "std::nullopt"
    return literal(value)


def literal(value: Any) -> str:
    if isinstance(value, tuple) and value == ("cpu", 0):
        return "tessera::Device::cpu()"
    if isinstance(value, tuple):
        return "{" + ", ".join(map(literal, value)) + "}"
    if isinstance(value, DType):
        return "tessera::" + dtype_constant(value.name)
    if isinstance(value, str):
        return c_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"std::complex<double>({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return "kNan" if math.isnan(value) else ("kInf" if value > 0 else "-kInf")
    if isinstance(value, int) and value == NONE:
        return "tsr_none()"
    return f"INT64_C({value})" if isinstance(value, int) and abs(value) >= 2**31 else repr(value)


def _items(variable: str, stored: Any) -> list[tuple[str, Stored]]:
    if isinstance(stored, tuple):
        return [(f"{variable}[{i}]", s) for i, s in enumerate(stored)]
    return [(variable, stored)]


def _compared(replay: Replay, variable: str, expected: Any) -> list[str]:
    lines = [f"  ASSERT_EQ({variable}.size(), {len(expected)}U);"] if isinstance(expected, tuple) else []
    return lines + [_same(replay, one, stored) for one, stored in _items(variable, expected)]


def _same(replay: Replay, variable: str, stored: Stored) -> str:
    more = []
    if (replay.rtol, replay.atol) != (None, None):
        more = ["Tolerance{" + ", ".join(map(repr, map(float, replay.tolerance(stored)))) + "}"]
    return wrap("  expect_same(", [variable, c_string(stored.key), *more], ");")


def _differentiated(replay: Replay) -> list[str]:
    assert replay.gradient is not None
    roots, weights = [], []
    for name, stored in replay.gradient.weights.items():
        variable = _changed(replay, name) if name in replay.after else _result(replay, name)
        for one, weight in _items(variable, stored):
            roots.append(one)
            weights.append(f"copy({c_string(weight.key)})")
    lines = [wrap("  tessera::backward(", ["{" + ", ".join(roots) + "}", "{" + ", ".join(weights) + "}"], ");")]
    for name, stored in replay.gradient.grads.items():
        lines += [_same(replay, f"{variable}.grad()", one) for variable, one in _items(name, stored)]
    return lines
