# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera-sys: the C ABI in Rust."""

from __future__ import annotations

from ..schema.model import CFunction, Schema, Struct
from ..template import Template
from ..text import banner
from .text import call, doc, rust_type

TEMPLATE = Template(__file__, "sys.rs.in")
SYS = "wrappers/rust/tessera-sys/src/generated/"


def outputs(schema: Schema) -> dict[str, str]:
    return {
        SYS + "mod.rs": TEMPLATE("mod", banner=banner("//", "The C ABI.")),
        SYS + "types.rs": _types(schema),
        SYS + "structs.rs": _structs(schema),
        SYS + "functions.rs": _functions(schema),
    }


def _types(schema: Schema) -> str:
    text = TEMPLATE("types", banner=banner("//", "Handles, constants and callbacks."))
    for handle in schema.handles:
        text += _opaque(f"tsr_{handle.name}_s", "Behind a handle; never seen.")
        text += doc(handle.doc) + f"pub type tsr_{handle.name} = *mut tsr_{handle.name}_s;\n"
    for extern in [e for d in schema.domains for e in d.externs]:
        text += _opaque(extern, "A struct that the DLPack standard defines.")
    text += doc("A dtype: the bits of DLPack's DLDataType, code | bits << 8 | lanes << 16.")
    text += "pub type tsr_dtype = i32;\n"
    for dtype in schema.dtypes:
        text += f"/// {dtype.name}\npub const {dtype.constant}: tsr_dtype = {dtype.value:#x};\n"
    for enum in schema.enums:
        text += "\n" + doc(enum.doc) + f"pub type {enum.name} = i32;\n"
        for constant in enum.constants:
            note = constant.doc or f"Of [`{enum.name}`]."
            text += (doc(note) if constant.doc else f"/// {note}\n")
            text += f"pub const {constant.name}: {enum.name} = {constant.value};\n"
    for callback in schema.callbacks:
        params = [f"{p.name}: {rust_type(p.ctype)}" for p in callback.params]
        result = "" if callback.returns == "void" else f" -> {rust_type(callback.returns)}"
        text += "\n" + doc(callback.doc)
        text += call(f"pub type {callback.name} = Option<unsafe extern \"C\" fn", params, f"{result}>;", "") + "\n"
    return text


def _opaque(name: str, note: str) -> str:
    return TEMPLATE("opaque", name=name, note=note)


def _structs(schema: Schema) -> str:
    return TEMPLATE(
        "structs",
        banner=banner("//", "Structs, with their layout proved at compile time."),
        structs="".join(_struct(s) for s in schema.structs),
        probes="".join(f'            ("{s.name}", size_of::<{s.name}>()),\n' for s in schema.structs),
    )


def _struct(struct: Struct) -> str:
    fields, offsets = "", ""
    for entry in struct.fields:
        fields += doc(entry.doc or f"{entry.name}.".replace("_", " "), "    ")
        fields += f"    pub {entry.name}: {rust_type(entry.ctype)},\n"
        offsets += f"    assert!(offset_of!({struct.name}, {entry.name}) == {entry.offset});\n"
    text = TEMPLATE("struct", doc=doc(struct.doc), name=struct.name, fields=fields, size=struct.size, offsets=offsets)
    return text + TEMPLATE("sized_default" if struct.sized else "default", name=struct.name)


def _functions(schema: Schema) -> str:
    text = ""
    before: object = None
    for function in schema.c_functions:
        row = function.op or function.function
        first, before = row is not before, row
        text += _function(function, first)
    return TEMPLATE("functions", banner=banner("//", "Every function of the ABI."), functions=text)


def _function(function: CFunction, first: bool) -> str:
    params = [f"{p.name}: {rust_type(p.ctype)}" for p in function.params]
    result = "" if function.returns == "void" else f" -> {rust_type(function.returns)}"
    if first:
        text = "\n" + doc(function.description, "    ")
    else:
        text = f"    /// Another form of [`{next(f.name for f in function.op.functions)}`].\n"  # type: ignore[union-attr]
    return text + call(f"pub fn {function.name}", params, f"{result};", "    ") + "\n"
