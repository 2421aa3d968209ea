# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of the ABI that stand for ops: unwrap, call the op, wrap."""

from __future__ import annotations

from ..schema.model import Arg, CFunction, Domain, Op, Schema
from ..schema.types import SCALAR_KINDS, passed
from ..template import Template
from ..text import banner, fill_call
from . import calls

WIDTH = 100
TEMPLATE = Template(__file__, "functions.cpp.in")
UNWRAPPED = {  # schema type -> what the op gets
    "tensor": 'TensorArg({0}, "{0}").get()',
    "tensor?": 'OptionalTensorArg({0}, "{0}").get()',
    "tensor[]": 'tensors_arg({0}, n_{0}, "{0}")',
    "tensor?[]": 'sparse_tensors_arg({0}, n_{0}, "{0}")',
    "[]": 'list_arg({0}, n_{0}, "{0}")',
    "int64": "{0}",
    "int64?": "optional_int({0})",
    "int64[]?": 'optional_list_arg({0}, n_{0}, "{0}")',
    "f64": "{0}",
    "f64?": 'optional_double({0}, has_{0}, "{0}")',
    "f64[]?": 'optional_list_arg({0}, n_{0}, "{0}")',
    "bool": 'bool_arg({0}, "{0}")',
    "bool?": 'optional_bool_arg({0}, "{0}")',
    "dtype": 'dtype_arg({0}, "{0}")',
    "dtype?": 'optional_dtype_arg({0}, "{0}")',
    "device": 'device_arg({0}_type, {0}_index, "{0}")',
    "device?": 'optional_device_arg({0}_type, {0}_index, "{0}")',
    "str": 'text_arg({0}, {0}_len, "{0}")',
    "str?": 'optional_text_arg({0}, {0}_len, "{0}")',
    "generator": 'generator_arg({0}, "{0}")',
}


def family(schema: Schema, domain: Domain) -> str:
    """The shims of one family: unwrap, call the op, wrap; all inside the one guard."""
    includes = [*(["capi/autocast.h"] if _is_listed(schema, domain) else []), "capi/generated/infos.h"]
    includes += [*(["capi/number.h"] if _takes_numbers(domain) else []), "capi/shim.h"]
    functions = "".join("\n" + "".join(_shim(schema, f) for f in op.functions) for op in domain.ops)
    return TEMPLATE(
        "family",
        banner=banner("//", f"C shims: {domain.title}."),
        includes="".join(f'#include "{path}"\n' for path in [*includes, *domain.includes]),
        functions=functions,
    )


def _is_listed(schema: Schema, domain: Domain) -> bool:
    return any(_is_cast(schema, op) for op in domain.ops)


def _is_cast(schema: Schema, op: Op) -> bool:
    return op.name in schema.autocast or op.name in schema.autocast_cpu


def _takes_numbers(domain: Domain) -> bool:
    return any(f.numbers for op in domain.ops for f in op.functions)


def _shim(schema: Schema, function: CFunction) -> str:
    op = function.op
    assert op is not None
    head = fill_call(f"{function.returns} {function.name}(", [str(p) for p in function.params], ") {")
    if _is_cast(schema, op) and function.form == "functional":
        given = [f"kInfo_{op.name}", function.name, *(p.name for p in function.params)]
        recast = fill_call("    const Recast done = autocast(", given, ");", indent=8)
        head += f"\n  if (is_autocast_used()) [[unlikely]] {{\n{recast}\n    if (done.called) return done.status;\n  }}"
    frame, places = _frame(function)
    if places or function.id != op.id:
        places = [f"{function.id:#x}" if function.id != op.id else "0", *places]
    before = ", ".join([f"kInfo_{op.name}", *places])
    after = "".join(f", {value}" for value in calls.traced(function))
    answer = "return " if function.form == "functional" and op.returns else ""
    values = _values(schema, op, function)
    line = f"  return {frame}({before}, [&] {{ {answer}{op.cpp}({', '.join(values)}); }}{after});"
    if len(line) <= WIDTH:
        return f"{head}\n{line}\n}}\n"
    call = fill_call(f"    {answer}{op.cpp}(", values, ");", indent=8)
    return TEMPLATE("function", head=head, frame=frame, before=before, call=call, after=after)


def _frame(function: CFunction) -> tuple[str, list[str]]:
    """What of capi/shim.h stands around the call of the op, and where that puts the results."""
    op = function.op
    assert op is not None
    if function.form != "functional" or not op.returns:
        return "guard", []
    names = [r.name for r in op.returns]
    if op.returns_list:
        assert names == ["out"], f"{op.name}: capi/shim.h calls a list of results out"
        return "many", ["out", "out_capacity", "out_count"]
    if len(names) > 1:
        return "several", [f"std::tuple({', '.join(names)})"]
    assert names == ["out"], f"{op.name}: capi/shim.h calls a single result out"
    return "one", names


def _values(schema: Schema, op: Op, function: CFunction) -> list[str]:
    """The arguments of the C++ function."""
    inputs, targets = function.args[: len(op.args)], function.args[len(op.args) :]
    values = [_unwrap(schema, op, arg) for arg in inputs]
    if function.form == "inplace" and op.forms != ("inplace",):  # those that only exist in place need no Out
        values.append(f"ops::Out::inplace({values[0]})")
    elif function.form == "out":
        values += [f'ops::Out::into(TensorArg({t.name}, "{t.name}").get())' for t in targets]
    return values


def _unwrap(schema: Schema, op: Op, arg: Arg) -> str:
    name, kind = arg.name, arg.type
    if kind.base == "scalar":
        kinds = "" if len(op.scalar_kinds) == len(SCALAR_KINDS) else f", {_kinds(op)}"
        return f'{"optional_" * kind.optional}number_arg({name}, "{name}"{kinds})'
    if kind.base == "enum":
        enum = schema.enum(kind.name or "")
        values = ", ".join(str(c.value) for c in enum.constants)
        return f'{"optional_" * kind.optional}enum_arg<{enum.cpp}>({name}, {{{values}}}, "{name}")'
    return passed(UNWRAPPED, kind, name)[0]


def _kinds(op: Op) -> str:
    """The kinds of numbers that an op takes, as bits."""
    return " | ".join(f"kNumber{SCALAR_KINDS[k].capitalize()}" for k in SCALAR_KINDS if k in op.scalar_kinds)
