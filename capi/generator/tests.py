# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that call every function: valid calls with checked results, and calls that must be refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import matching
from .gradients import gradient_test
from .literals import C, literal
from .model import Arg, Case, CFunction, Domain, Op, Schema
from .mutations import refused_calls
from .text import banner, c_banner, c_string

Expressions = dict[str, list[str]]  # argument -> one C++ expression per C parameter


@dataclass
class Call:
    """One case bound to one C function: declarations, then an expression for each parameter."""

    function: CFunction
    setup: list[str]
    values: Expressions

    def text(self, values: Expressions | None = None) -> str:
        chosen = self.values if values is None else values
        parts = [e for arg in self.function.args for e in chosen[arg.name]]
        return f"{self.function.name}({', '.join(parts)})"


def bind(schema: Schema, function: CFunction, case: Case) -> Call:
    """`case` as a call of `function`; results go to variables named after them."""
    setup: list[str] = []
    values: Expressions = {}
    for arg in function.args:
        given = case.args.get(arg.name, None if arg.required else arg.default)
        values[arg.name] = _pass(schema, function, arg, given, setup)
    if function.form == "out":
        for result, target in zip(case.returns, function.args[-len(case.returns) :]):
            setup.append(f"const Tensor {target.name} = place_for({literal(schema, result)});")
            values[target.name] = [target.name]
    return Call(function, setup, values)


def _pass(schema: Schema, function: CFunction, arg: Arg, value: Any, setup: list[str]) -> list[str]:
    kind, name = arg.type, arg.name
    if kind.direction == "out":
        if kind.is_list:
            setup.append(f"Places {name};")
            return [f"{name}.slots()", f"{name}.capacity()", f"{name}.count()"]
        setup.append(f"Tensor {name};")
        return [f"{name}.slot()"]
    if kind.is_tensor_list:
        entries = ", ".join(
            "shaped(0, {})" if v is None else literal(schema, v) for v in value or []
        )
        setup.append(f"const Tensors {name}({{{entries}}});")
        return [f"{name}.handles()", f"{name}.count()"]
    if kind.is_tensor:
        if value is None:
            return ["nullptr"]
        setup.append(f"const Tensor {name}({literal(schema, value)});")
        return [name]
    if kind.is_list:
        if value is None:
            return ["nullptr", "-1"]
        ctype = "double" if kind.base == "f64" else "int64_t"
        setup.append(f"const std::vector<{ctype}> {name} = {{{', '.join(map(C.literal, value))}}};")
        return [f"{name}.data()", f"static_cast<int32_t>({name}.size())"]
    if kind.base == "scalar":
        given = (
            complex(value.replace(" ", ""))
            if isinstance(value, str)
            else (0 if value is None else value)
        )
        cast = {"f64": float, "i64": int, "bool": bool}
        if function.scalar_kind == "c128":
            parts = [C.literal(complex(given).real), C.literal(complex(given).imag)]
        else:
            parts = [C.literal(cast[function.scalar_kind or "f64"](given))]
        return parts + ([C.literal(value is not None)] if kind.optional else [])
    if kind.base == "f64":
        return [C.literal(float(value or 0))] + ([C.literal(value is not None)] if kind.optional else [])
    if kind.base == "int64":
        return ["tsr_none()" if value is None else C.literal(value)]
    if kind.base == "bool":
        return ["-1" if value is None else C.literal(bool(value))]
    if kind.base == "dtype":
        return [
            "-1"
            if value is None
            else next(t.constant for t in schema.dtypes if value in (t.short, t.name))
        ]
    if kind.base == "enum":
        return ["-1"] if value is None else [_constant(schema, kind.name or "", value)]
    if kind.base == "device":
        return ["-1", "-1"] if value is None else ["TSR_DEVICE_CPU", "0"]
    if kind.base == "str":
        return ["nullptr", "0"] if value is None else [c_string(value), "-1"]
    return ["nullptr"]  # generator


def _constant(schema: Schema, enum: str, value: Any) -> str:
    row = schema.enum(enum)
    for constant in row.constants:
        if value in (
            constant.value,
            constant.name,
            constant.name.removeprefix(row.prefix),
            constant.name.removeprefix(row.prefix).lower(),
        ):
            return constant.name
    return str(value)


def uncovered(schema: Schema) -> list[str]:
    """Functions of ops that no case calls."""
    covered = {
        f.name
        for op in schema.ops
        for case in op.cases
        if not case.error
        for f in matching(op, case)
    }
    return [f.name for op in schema.ops for f in op.functions if f.name not in covered]


def _valid_block(schema: Schema, call: Call, case: Case) -> str:
    function = call.function
    op = function.op
    assert op is not None
    tolerance = (
        f", {case.rtol or -1}, {case.atol or -1}"
        if case.rtol is not None or case.atol is not None
        else ""
    )
    lines = call.setup + [f"ok({call.text()});"]
    if function.form == "inplace" and op.returns:
        lines.append(f"same({op.args[0].name}, {literal(schema, case.returns[0])}{tolerance});")
    elif op.returns_list:
        results = ", ".join(literal(schema, r) for r in case.returns[0])
        lines.append(f"{op.returns[0].name}.same_as({{{results}}}{tolerance});")
    else:
        targets = function.args[len(op.args) :]
        lines += [
            f"same({t.name}, {literal(schema, r)}{tolerance});"
            for t, r in zip(targets, case.returns)
        ]
    for name, expected in case.after.items():
        if isinstance(expected, list):
            lines.append(
                f"{name}.same_as({{{', '.join(literal(schema, e) for e in expected)}}}{tolerance});"
            )
        else:
            lines.append(f"same({name}, {literal(schema, expected)}{tolerance});")
    return "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"


def _op_tests(schema: Schema, op: Op) -> str:
    valid, refused = "", ""
    bases: dict[str, Call] = {}
    for case in op.cases:
        for function in matching(op, case):
            call = bind(schema, function, case)
            if case.error is None:
                valid += _valid_block(schema, call, case)
                bases.setdefault(function.name, call)
            else:
                lines = call.setup + [f"refused({call.text()}, TSR_{case.error});"]
                if (
                    function.form != "out"
                ):  # its places are made from the results, which an error has not
                    refused += "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"
    for call in bases.values():
        lines = call.setup + refused_calls(call)
        refused += "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"
    text = f"\nTEST(Op_{op.name}, computes_its_cases) {{\n{valid}}}\n\nTEST(Op_{op.name}, refuses_bad_arguments) {{\n{refused}}}\n"
    return text + gradient_test(schema, op)


def _family(schema: Schema, domain: Domain) -> str:
    text = banner("//", f"Every function of the family called: {domain.title}.")
    text += '#include "capi/abi_support.h"\n\nusing namespace tsr::test;\n'
    return text + "".join(_op_tests(schema, op) for op in domain.ops)


def _examples(schema: Schema) -> str:
    text = c_banner("The examples of the schema, as C99.") + '#include "capi/example_support.h"\n'
    for row in schema.functions:
        body = "".join(f"  {line}\n" if line else "\n" for line in row.example.split("\n"))
        text += f"\nstatic void example_{row.name}(void) {{\n  int drops = 0;\n  (void)drops;\n{body}}}\n"
    text += "\nconst struct example kExamples[] = {\n"
    text += "".join(f'    {{"{row.name}", example_{row.name}}},\n' for row in schema.functions)
    return text + "};\nconst int kExampleCount = (int)(sizeof(kExamples) / sizeof(kExamples[0]));\n"


def _function_refusals(schema: Schema) -> str:
    text = banner("//", "Functions outside ops called with bad arguments.")
    text += '#include "capi/fixture.h"\n\nusing namespace tsr::test;\n'
    for row in schema.functions:
        function = row.functions[0]
        if row.returns != "tsr_status" or not row.args:
            continue
        values = {a.name: _fixture_value(a) for a in row.args}
        lines = refused_calls(Call(function, [], values), extremes=row.fuzz)
        if lines:
            calls = "".join(f"  {{\n    Fixture f;\n    {line}\n  }}\n" for line in lines)
            text += f"\nTEST(Function_{row.name}, refuses_bad_arguments) {{\n{calls}}}\n"
    return text


def _fixture_value(arg: Arg) -> list[str]:
    """Valid expressions for an argument, from the fixture of the call."""
    kind = arg.type
    if kind.direction == "inout":
        return [f"f.sized<tsr_{kind.name}>()"]
    if kind.direction == "out":
        if kind.is_tensor_list:
            return ["f.slots"] if arg.count_of else ["f.slots", "4", "&f.i32"]
        plain = {
            "tensor": "&f.slots[0]",
            "bool": "&f.i32",
            "int32": "&f.i32",
            "int64": "&f.i64",
            "uint64": "&f.u64",
            "f64": "&f.f64",
            "ptr": "&f.mutable_pointer",
            "cptr": "&f.pointer",
        }
        if kind.base in plain:
            return [plain[kind.base]]
        if kind.base == "str":
            return ["&f.text", "&f.i64"]
        if kind.base == "device":
            return ["&f.i32", "&f.i32"]
        return [f"&f.{kind.name}"]
    if kind.is_list and kind.base == "tensor":
        return ["f.tensors", "1"]
    if kind.is_list:
        return ["f.ones", "1"]
    if kind.base == "handle":
        return [f"f.make_{kind.name}()"]
    if kind.base == "extern":
        return [f"f.make_{kind.name}()"]
    if kind.base == "struct":
        return [f"f.sized<tsr_{kind.name}>()"]
    if kind.base == "fn":
        return [f"ignore_{kind.name}", "&f.drops", "count_drop"]
    plain = {
        "tensor": ["f.tensors[0]"],
        "int32": ["0"],
        "int64": ["0"],
        "uint64": ["0"],
        "f64": ["0"],
        "bool": ["0"],
        "dtype": ["TSR_FLOAT32"],
        "status": ["TSR_CANCELLED"],
        "str": ['"no such name"', "-1"],
        "device": ["TSR_DEVICE_CPU", "0"],
        "enum": ["1"],
        "ptr": ["nullptr" if kind.optional else "f.bytes"],
        "cptr": ["nullptr"],
        "cfn": ["nullptr"],
    }
    return plain[kind.base]


def outputs(schema: Schema) -> dict[str, str]:
    folder = "tests/capi/generated"
    files = {f"{folder}/test_{d.name}.cpp": _family(schema, d) for d in schema.domains if d.ops}
    files[f"{folder}/test_functions.cpp"] = _function_refusals(schema)
    files[f"{folder}/examples.c"] = _examples(schema)
    sources = sorted(Path(p).name for p in files)
    listing = banner("#", "The generated tests of the C ABI.") + "\nset(TSR_CAPI_GENERATED_TESTS\n"
    listing += "".join(f"    generated/{s}\n" for s in [*sources, "layout.c"]) + ")\n"
    files[f"{folder}/sources.cmake"] = listing
    return files
