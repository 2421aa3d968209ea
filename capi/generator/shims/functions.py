# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of the ABI that stand for ops: unwrap, call the op, wrap."""

from __future__ import annotations

from ..schema.model import Arg, CFunction, Domain, Op, Schema
from ..schema.types import SCALAR_KINDS, passed
from ..text import banner, wrap_call
from . import calls

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
    text = banner("//", f"C shims: {domain.title}.")
    text += '#include "capi/generated/infos.h"\n#include "capi/handle.h"\n'
    text += '#include "capi/number.h"\n' if any(f.numbers for op in domain.ops for f in op.functions) else ""
    text += (
        "".join(f'#include "{path}"\n' for path in domain.includes) + "\nusing namespace tsr::capi;\n"
    )
    text += '\nextern "C" {\n'
    for op in domain.ops:
        text += "".join("\n" + _shim(schema, f) for f in op.functions)
    return text + '\n}  // extern "C"\n'


def _shim(schema: Schema, function: CFunction) -> str:
    op = function.op
    assert op is not None
    values = [
        _unwrap(schema, op, a)
        for a in function.args
        if a.type.direction == "in" and a.name in {x.name for x in op.args}
    ]
    if function.form == "inplace" and op.forms != ("inplace",):  # those that only exist in place need no Out
        values.append(f"tsr::ops::Out::inplace({values[0]})")
    elif function.form == "out":
        targets = function.args[len(op.args) :]
        values += [f'tsr::ops::Out::into(TensorArg({t.name}, "{t.name}").get())' for t in targets]
    call = wrap_call(f"tsr::{op.cpp}(", values, ")", indent=8, width=88)
    out = op.returns[0].name if op.returns else ""
    if function.form == "functional" and op.returns:
        if op.returns_list:
            call = f"give_list({call}, {out}, {out}_capacity, {out}_count)"
        elif len(op.returns) == 1:
            call = f"give({call}, {out})"
        else:
            call = f"give_all({call}, {', '.join(r.name for r in op.returns)})"
    body = f"    {call};\n"
    begin, end = _clear(function)
    if end and op.returns_list:
        body = f'    check_list_out({out}, {out}_capacity, {out}_count, "{out}");\n' + body
    elif end and len(op.returns) == 1:
        body = f'    out_arg({out}, "{out}");\n' + body
    head = wrap_call(f"{function.returns} {function.name}(", [str(p) for p in function.params], ") {")
    site = f"kInfo_{op.name}" + f", {function.id:#x}" * (function.id != op.id)
    guarded = f"guard({', '.join([site, f'[&] {{{chr(10)}{body}  }}', *calls.traced(function)])})"
    if end:
        return f"{head}\n{begin}  const tsr_status status = {guarded};\n{end}  return status;\n}}\n"
    return f"{head}\n  return {guarded};\n}}\n"


def _clear(function: CFunction) -> tuple[str, str]:
    """Out handles are NULL after a failure, whatever fails. Not before: a place may lie in a list of arguments."""
    op = function.op
    assert op is not None
    if function.form != "functional" or not op.returns:
        return "", ""
    out = op.returns[0].name
    if op.returns_list:
        begin, end = f"  clear_count({out}_count);\n", f"clear_list({out}, {out}_capacity)"
    else:
        begin, end = "", f"clear({', '.join(r.name for r in op.returns)})"
    return begin, f"  if (status != TSR_OK) [[unlikely]]\n    {end};\n"


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
