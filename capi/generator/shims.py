# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ behind the ABI that needs no thought: op shims, call records, tables, consistency checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import calls
from .cpp import dtype_constant
from .model import Arg, CFunction, Domain, Op, Schema
from .text import banner, camel, wrap_call
from .types import SCALAR_KINDS, passed

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


def struct_sizes(schema: Schema) -> str:
    """The sizes that callers of the first version pass."""
    text = banner("//", "The sizes with which the public structs were first released.") + "#pragma once\n\n"
    text += '#include "tessera/tessera.h"\n\nnamespace tsr::capi {\n\n'
    text += "template <class T>\ninline constexpr uint32_t kFirstSize = sizeof(T);\n"
    for struct in schema.structs:
        if struct.sized:
            text += f"template <>\ninline constexpr uint32_t kFirstSize<{struct.name}> = {struct.first_size};\n"
    return text + "\n}  // namespace tsr::capi\n"


def tables(schema: Schema) -> str:
    """What tsr_abi_probe and tsr_status_name read."""
    text = banner("//", "Struct sizes and status names.")
    text += '#include "capi/tables.h"\n\n#include "tessera/tessera.h"\n\nnamespace tsr::capi {\n\n'
    text += "const StructSize kStructSizes[] = {\n"
    text += "".join(f'    {{"{s.name}", sizeof({s.name})}},\n' for s in schema.structs)
    text += f"}};\nconst size_t kStructCount = {len(schema.structs)};\n\nconst StatusName kStatusNames[] = {{\n"
    text += "".join(f'    {{{c.value}, "{c.name[4:]}"}},\n' for c in schema.status.constants)
    text += f"}};\nconst size_t kStatusCount = {len(schema.status.constants)};\n\n"
    return text + "}  // namespace tsr::capi\n"


def consistency(schema: Schema) -> str:
    """Proves that the C++ enums say what the schema says."""
    includes = {"base/device.h", "base/dtype.h", "base/error.h"} | {e.cpp_header for e in schema.enums if e.cpp_header}
    text = banner("//", "Proves that the C++ enums agree with the schema.")
    text += "".join(f'#include "{path}"\n' for path in sorted(includes)) + '#include "tessera/tessera.h"\n\n'
    for dtype in schema.dtypes:
        text += f"static_assert(tsr::dtype_to_abi(tsr::DType::{dtype_constant(dtype.name)}) == {dtype.constant});\n"
    text += f"static_assert(tsr::kDTypeCount == {len(schema.dtypes)});\n"
    special = {"TSR_DTYPE": "DType"}
    for enum in schema.enums:
        for constant in enum.constants if enum.cpp else ():
            name = special.get(constant.name) or camel(constant.name.removeprefix(enum.prefix))
            text += f"static_assert(static_cast<int32_t>({enum.cpp}::k{name}) == {constant.name});\n"
    return text


def canonical(schema: Schema) -> dict[str, Any]:
    """The schema as it crosses the ABI: what a language needs to bind itself."""
    return {
        "tessera_schema": 1,
        "functions": [_json_function(f) for f in schema.c_functions],
        "ops": {
            op.name: {
                "id": op.id,
                "since": op.since,
                "doc": op.doc,
                "args": [_json_arg(a) for a in op.args],
                "number_kinds": _number_kinds(op),
                "returns": [_json_arg(a) for a in op.returns],
                "alias": op.alias,
                "mutates": list(op.mutates),
                "mutates_grad": list(op.mutates_grad),
                "python": op.python.name or None,
            }
            for op in schema.ops
        },
        "structs": {
            s.name: {"size": s.size, "fields": [[f.name, f.ctype, f.offset] for f in s.fields]} for s in schema.structs
        },
        "constants": {c.name: c.value for e in schema.enums for c in e.constants}
        | {t.constant: t.value for t in schema.dtypes},
        "callbacks": {c.name: [c.returns, [[p.ctype, p.name] for p in c.params]] for c in schema.callbacks},
        "handles": [f"tsr_{h.name}" for h in schema.handles],
        "status": {c.name: c.value for c in schema.status.constants},
    }


def _number_kinds(op: Op) -> list[str]:
    """The constants of tsr_number_kind that the op takes; none where no function of it takes a number."""
    return [f"TSR_NUMBER_{SCALAR_KINDS[k]}" for k in op.scalar_kinds if any(f.numbers for f in op.functions)]


def canonical_text(schema: Schema) -> str:
    return json.dumps(canonical(schema), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _json_arg(arg: Arg) -> dict[str, Any]:
    row: dict[str, Any] = {"name": arg.name, "type": arg.type.text}
    return row if arg.required else row | {"default": arg.default}


def _json_function(function: CFunction) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": function.name,
        "id": function.id,
        "since": function.since,
        "returns": function.returns,
        "params": [[p.ctype, p.name] for p in function.params],
    }
    if function.op is not None:
        return row | {"op": function.op.name, "form": function.form, "numbers": list(function.numbers)}
    assert function.function is not None
    extra = function.function
    return row | {"doc": extra.doc, "blocking": extra.blocking, "finalizer_safe": extra.finalizer_safe}


def outputs(schema: Schema) -> dict[str, str]:
    files = {f"capi/generated/{d.name}.cpp": family(schema, d) for d in schema.domains if d.ops}
    files |= calls.outputs(schema)
    files["capi/generated/struct_sizes.h"] = struct_sizes(schema)
    files["capi/generated/tables.cpp"] = tables(schema)
    files["capi/generated/consistency.cpp"] = consistency(schema)
    # Installed, for generators that run without loading the library, and embedded by schema_json.cpp.
    files["capi/generated/schema.json"] = canonical_text(schema)
    sources = sorted(Path(p).name for p in files if p.endswith(".cpp"))
    listing = banner("#", "The generated sources of the capi layer.") + "\nset(TSR_CAPI_GENERATED\n"
    files["capi/generated/sources.cmake"] = listing + "".join(f"    generated/{s}\n" for s in sources) + ")\n"
    return files
