# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that call every function: valid calls with checked results, and calls that must be refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .cases import matching
from .gradients import gradient_test
from .literals import C, literal
from .model import Arg, Case, CFunction, Op, Schema
from .mutations import refused_calls
from .replay import host_number
from .text import banner, c_banner, c_string, parts
from .types import passed

FILES = 4  # of ops: few, for the headers take most of the compiler's time, and even, for it works on all at once
Expressions = dict[str, list[str]]  # argument -> one C++ expression per C parameter
ABSENT = {
    "int64": ["tsr_none()"], "f64": ["0.0", "0"], "bool": ["-1"], "dtype": ["-1"], "enum": ["-1"], "device": ["-1", "-1"],
    "str": ["nullptr", "0"], "generator": ["nullptr"],
}  # fmt: skip
# Arguments from the fixture `f`, by schema type; {0} is the name of a named one.
FIXTURE_IN = {
    "tensor": "f.tensors[0]", "tensor[]": ("f.tensors", "1"), "[]": ("f.ones", "1"), "int32": "0", "int64": "0", "uint64": "0",
    "f64": "0", "bool": "0", "dtype": "TSR_FLOAT32", "status": "TSR_CANCELLED", "str": ('"no such name"', "-1"),
    "device": ("TSR_DEVICE_CPU", "0"), "enum": "1", "ptr": "f.bytes", "ptr?": "nullptr", "cptr": "nullptr", "cfn": "nullptr",
    "fn": ("ignore_{0}", "&f.drops", "count_drop"), "handle": "f.make_{0}()", "extern": "f.make_{0}()",
    "struct": "f.sized<tsr_{0}>()", "struct[]": ("f.sized<tsr_{0}>()", "1"),
}  # fmt: skip
FIXTURE_OUT = {
    "tensor": "&f.slots[0]", "[]": ("f.slots", "4", "&f.i32"), "bool": "&f.i32", "int32": "&f.i32", "int64": "&f.i64",
    "uint64": "&f.u64", "f64": "&f.f64", "scalar": "&f.number", "ptr": "&f.mutable_pointer", "cptr": "&f.pointer", "str": ("&f.text", "&f.i64"),
    "device": ("&f.i32", "&f.i32"), "handle": "&f.{0}", "struct": "&f.{0}", "enum": "&f.{0}", "extern": "&f.{0}", "cfn": "&f.{0}",
}  # fmt: skip


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
        values[arg.name] = _pass(schema, arg, given, setup)
    if function.form == "out":
        for result, target in zip(case.returns, function.args[-len(case.returns) :]):
            setup.append(f"const Tensor {target.name} = place_for({literal(schema, result)});")
            values[target.name] = [target.name]
    return Call(function, setup, values)


def _pass(schema: Schema, arg: Arg, value: Any, setup: list[str]) -> list[str]:
    kind, name = arg.type, arg.name
    if kind.direction == "out":
        if kind.is_list:
            setup.append(f"Places {name};")
            return [f"{name}.slots()", f"{name}.capacity()", f"{name}.count()"]
        setup.append(f"Tensor {name};")
        return [f"{name}.slot()"]
    if kind.is_tensor_list:
        setup.append(f"const Tensors {name}({{{_literals(schema, value or [])}}});")
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
        return ["nullptr" if value is None else number_text(host_number(value))]
    if value is None:
        return list(ABSENT[kind.base])
    if kind.base == "f64":
        return [C.literal(float(value))] + ["1"] * kind.optional
    if kind.base == "dtype":
        return [schema.dtype(value).constant]
    if kind.base == "enum":
        constant = schema.enum(kind.name or "").constant(value)
        return [constant.name if constant else str(value)]
    if kind.base == "device":
        return ["TSR_DEVICE_CPU", "0"]
    return [c_string(value), "-1"] if kind.base == "str" else [C.literal(value)]


def number_text(value: bool | int | float | complex) -> str:
    """A host number as C and C++ write it."""
    if isinstance(value, complex):
        return f"TSR_C128({C.literal(value.real)}, {C.literal(value.imag)})"
    maker = "TSR_TRUTH" if isinstance(value, bool) else "TSR_I64" if isinstance(value, int) else "TSR_F64"
    return f"{maker}({C.literal(value)})"


def uncovered(schema: Schema) -> list[str]:
    """Functions of ops that no case calls."""
    covered = {f.name for op in schema.ops for case in op.cases if not case.error for f, _, _ in matching(op, case)}
    return [f.name for op in schema.ops for f in op.functions if f.name not in covered]


def _valid_block(schema: Schema, call: Call, case: Case) -> str:
    function = call.function
    op = function.op
    assert op is not None
    tolerance = f", {case.rtol or -1}, {case.atol or -1}" if case.rtol is not None or case.atol is not None else ""
    lines = call.setup + [f"{n}.hold_gradients({{{_literals(schema, v)}}});" for n, v in case.grad.items()]
    lines.append(f"ok({call.text()});")
    if function.form == "inplace" and op.returns:
        lines.append(f"same({op.args[0].name}, {literal(schema, case.returns[0])}{tolerance});")
    elif op.returns_list:
        results = ", ".join(literal(schema, r) for r in case.returns[0])
        lines.append(f"{op.returns[0].name}.same_as({{{results}}}{tolerance});")
    else:
        targets = function.args[len(op.args) :]
        lines += [f"same({t.name}, {literal(schema, r)}{tolerance});" for t, r in zip(targets, case.returns)]
    for name, expected in case.after.items():
        if isinstance(expected, list):
            lines.append(f"{name}.same_as({{{', '.join(literal(schema, e) for e in expected)}}}{tolerance});")
        else:
            lines.append(f"same({name}, {literal(schema, expected)}{tolerance});")
    lines += [f"{n}.gradients_are({{{_literals(schema, v)}}}{tolerance});" for n, v in case.after_grad.items()]
    return "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"


def _literals(schema: Schema, values: list[Any]) -> str:
    """With holes where there is no tensor."""
    return ", ".join("shaped(0, {})" if v is None else literal(schema, v) for v in values)


def _op_tests(schema: Schema, op: Op) -> str:
    valid, refused = "", ""
    bases: dict[str, Call] = {}
    for case in op.cases:
        for function, called, _ in matching(op, case):
            call = bind(schema, function, called)
            if case.error is None:
                valid += _valid_block(schema, call, case)
                bases.setdefault(function.name, call)
            else:
                lines = call.setup + [f"refused({call.text()}, TSR_{case.error});"]
                if function.form != "out":  # its places are made from the results, which an error has not
                    refused += "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"
    for call in bases.values():
        lines = call.setup + refused_calls(call)
        refused += "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"
    text = f"\nTEST(Op_{op.name}, computes_its_cases) {{\n{valid}}}\n\nTEST(Op_{op.name}, refuses_bad_arguments) {{\n{refused}}}\n"
    return text + gradient_test(schema, op)


def _ops(schema: Schema, ops: Sequence[Op]) -> str:
    text = banner("//", "Every function of some ops called.")
    text += '#include "capi/abi_support.h"\n\nusing namespace tsr::test;\n'
    return text + "".join(_op_tests(schema, op) for op in ops)


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
    if arg.count_of:
        return ["f.slots"]
    return passed(FIXTURE_OUT if arg.type.direction == "out" else FIXTURE_IN, arg.type, arg.type.name)


def _layout(schema: Schema) -> str:
    """A C file whose compilation proves every size, offset and constant of the ABI."""
    text = banner("//", "Proves sizes, offsets and constants at compile time.")
    text += '#include "tessera/tessera.h"\n\n#include <stddef.h>\n\n'
    text += "int tsr_layout_is_proved(void);\nint tsr_layout_is_proved(void) { return 1; }\n\n"
    text += "#define PROVE(name, condition) typedef char name[(condition) ? 1 : -1]\n\n"
    for struct in schema.structs:
        text += f"PROVE(size_of_{struct.name}, sizeof({struct.name}) == {struct.size});\n"
        for entry in struct.fields:
            at = f"offsetof({struct.name}, {entry.name}) == {entry.offset}"
            text += f"PROVE(offset_in_{struct.name}_{entry.name}, {at});\n"
    for dtype in schema.dtypes:
        text += f"PROVE(value_of_{dtype.constant}, {dtype.constant} == {dtype.value});\n"
    for enum in schema.enums:
        text += f"PROVE(size_of_{enum.name}, sizeof({enum.name}) == 4);\n"
        text += "".join(f"PROVE(value_of_{c.name}, {c.name} == {c.value});\n" for c in enum.constants)
    return text


def outputs(schema: Schema) -> dict[str, str]:
    """For tests/capi/CMakeLists.txt, which names the files."""
    return {
        f"test_ops_{i}.cpp": _ops(schema, part) for i, part in enumerate(parts(schema.ops, FILES))
    } | {
        "test_functions.cpp": _function_refusals(schema),
        "examples.c": _examples(schema),
        "layout.c": _layout(schema),
    }
