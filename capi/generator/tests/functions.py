# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What C compiles of its tests: the examples, the layout, and functions outside ops with bad arguments."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema.model import Arg, CFunction, Schema
from ..schema.types import passed
from ..text import banner, c_banner
from .mutations import refused_calls

Expressions = dict[str, list[str]]  # argument -> one C++ expression per C parameter
# Arguments from the fixture `f`, by schema type; {0} is the name of a named one.
FIXTURE_IN = {
    "tensor": "f.tensors[0]", "tensor[]": ("f.tensors", "1"), "[]": ("f.ones", "1"), "int32": "0", "int64": "0", "uint64": "0",
    "f64": "0", "f64?": ("0", "0"), "bool": "0", "dtype": "TSR_FLOAT32", "status": "TSR_CANCELLED", "str": ('"no such name"', "-1"),
    "device": ("TSR_DEVICE_CPU", "0"), "enum": "1", "ptr": "f.bytes", "ptr?": "nullptr", "cptr": "nullptr", "cfn": "nullptr",
    "fn": ("ignore_{0}", "&f.drops", "count_drop"), "handle": "f.make_{0}()", "extern": "f.make_{0}()",
    "struct": "f.sized<tsr_{0}>()", "struct[]": ("f.sized<tsr_{0}>()", "1"), "handle[]": ("f.list_of(f.make_{0}())", "1"),
}  # fmt: skip
FIXTURE_OUT = {
    "tensor": "&f.slots[0]", "[]": ("f.slots", "4", "&f.i32"), "bool": "&f.i32", "int32": "&f.i32", "int64": "&f.i64",
    "uint64": "&f.u64", "f64": "&f.f64", "dtype": "&f.i32", "scalar": "&f.number", "ptr": "&f.mutable_pointer",
    "cptr": "&f.pointer", "str": ("&f.text", "&f.i64"), "device": ("&f.i32", "&f.i32"), "handle": "&f.{0}", "struct": "&f.{0}",
    "enum": "&f.{0}", "extern": "&f.{0}", "cfn": "&f.{0}",
}  # fmt: skip


@dataclass
class Call:
    """A call of one C function: expressions for the parameters of each argument."""

    function: CFunction
    values: Expressions

    def text(self, values: Expressions | None = None) -> str:
        chosen = self.values if values is None else values
        parts = [e for arg in self.function.args for e in chosen[arg.name]]
        return f"{self.function.name}({', '.join(parts)})"


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
        values = _fixture_values(row.args)
        lines = refused_calls(Call(function, values), extremes=row.fuzz)
        if lines:
            calls = "".join(f"  {{\n    Fixture f;\n    {line}\n  }}\n" for line in lines)
            text += f"\nTEST(Function_{row.name}, refuses_bad_arguments) {{\n{calls}}}\n"
    return text


def _fixture_values(args: tuple[Arg, ...]) -> Expressions:
    """Valid expressions for each argument; a second place for a handle of one kind is another place."""
    values: Expressions = {}
    for arg in args:
        value = _fixture_value(arg)
        if arg.type.direction == "out" and arg.type.base == "handle" and value in values.values():
            value = [expression.replace("&f.", "&f.second_") for expression in value]
        values[arg.name] = value
    return values


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
        "test_functions.cpp": _function_refusals(schema),
        "examples.c": _examples(schema),
        "layout.c": _layout(schema),
    }
