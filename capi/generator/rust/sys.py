# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera-sys: the C ABI in Rust, and the plain enumerations of the safe crate."""

from __future__ import annotations

from ..schema.model import CFunction, Enum, Schema, Struct
from .text import call, doc, rust_type
from ..text import banner, camel

SYS = "wrappers/rust/tessera-sys/src/generated/"


def outputs(schema: Schema) -> dict[str, str]:
    return {
        SYS + "mod.rs": _mod(),
        SYS + "types.rs": _types(schema),
        SYS + "structs.rs": _structs(schema),
        SYS + "functions.rs": _functions(schema),
    }


def _mod() -> str:
    text = banner("//", "The C ABI.")
    names = ("functions", "structs", "types")
    return text + "".join(f"\nmod {n};\npub use {n}::*;\n" for n in names)


def _types(schema: Schema) -> str:
    text = banner("//", "Handles, constants and callbacks.")
    text += "use super::*;\nuse std::ffi::{c_char, c_void};\n\n"
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
    return f"\n/// {note}\n#[repr(C)]\npub struct {name} {{\n    _opaque: [u8; 0],\n}}\n"


def _structs(schema: Schema) -> str:
    text = banner("//", "Structs, with their layout proved at compile time.")
    text += "use super::*;\nuse std::ffi::{c_char, c_void};\nuse std::mem::{offset_of, size_of};\n"
    return text + "".join(_struct(s) for s in schema.structs) + _probes(schema)


def _probes(schema: Schema) -> str:
    names = "".join(f'            ("{s.name}", size_of::<{s.name}>()),\n' for s in schema.structs)
    return f"""
#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn the_library_serves_every_struct() {{
        let structs = [
{names}        ];
        for (name, size) in structs {{
            // SAFETY: text and its length.
            let status = unsafe {{ tsr_abi_probe(name.as_ptr().cast(), name.len() as i64, size as i64) }};
            assert_eq!(status, TSR_OK, "{{name}}");
        }}
    }}
}}
"""


def _struct(struct: Struct) -> str:
    text = "\n" + doc(struct.doc) + "#[repr(C)]\n#[derive(Clone, Copy, Debug)]\n"
    text += f"pub struct {struct.name} {{\n"
    for entry in struct.fields:
        text += doc(entry.doc or f"{entry.name}.".replace("_", " "), "    ")
        text += f"    pub {entry.name}: {rust_type(entry.ctype)},\n"
    text += "}\n\nconst _: () = {\n"
    text += f"    assert!(size_of::<{struct.name}>() == {struct.size});\n"
    for entry in struct.fields:
        text += f"    assert!(offset_of!({struct.name}, {entry.name}) == {entry.offset});\n"
    text += f"}};\n\nimpl Default for {struct.name} {{\n"
    text += "    /// All zero" + (", but for the size.\n" if struct.sized else ".\n")
    text += "    fn default() -> Self {\n"
    text += "        // SAFETY: numbers, nullable pointers and functions, for which zero is a value.\n"
    if not struct.sized:
        return text + "        unsafe { std::mem::zeroed() }\n    }\n}\n"
    text += "        let mut zero: Self = unsafe { std::mem::zeroed() };\n"
    return text + "        zero.struct_size = size_of::<Self>() as u32;\n        zero\n    }\n}\n"


def _functions(schema: Schema) -> str:
    text = banner("//", "Every function of the ABI.")
    text += 'use super::*;\nuse std::ffi::{c_char, c_void};\n\nextern "C" {\n'
    before: object = None
    for function in schema.c_functions:
        row = function.op or function.function
        first, before = row is not before, row
        text += _function(function, first)
    return text + "}\n"


def _function(function: CFunction, first: bool) -> str:
    params = [f"{p.name}: {rust_type(p.ctype)}" for p in function.params]
    result = "" if function.returns == "void" else f" -> {rust_type(function.returns)}"
    if first:
        text = "\n" + doc(function.description, "    ")
    else:
        text = f"    /// Another form of [`{next(f.name for f in function.op.functions)}`].\n"  # type: ignore[union-attr]
    return text + call(f"pub fn {function.name}", params, f"{result};", "    ") + "\n"


# ---- Enumerations of the safe crate ----


def safe_types(schema: Schema) -> str:
    text = banner("//", "Dtypes, device types and error kinds.")
    return text + _dtype(schema) + _device_type(schema.enum("device_type")) + _error_kind(schema.status)


def _enum(name: str, note: str, rows: list[tuple[str, str, str]]) -> str:
    """An enumeration of (name, constant, documentation), and the head of its impl."""
    variants = "".join(doc(about, "    ") + f"    {variant} = tessera_sys::{constant},\n" for variant, constant, about in rows)
    derived = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\n#[repr(i32)]\n"
    return f"\n/// {note}\n{derived}pub enum {name} {{\n{variants}}}\n\nimpl {name} {{\n"


def _matcher(head: str, note: str, rows: list[tuple[str, str]]) -> str:
    arms = "".join(f"            {left} => {right},\n" for left, right in rows)
    value = "code" if "code" in head else "self"
    return f"    /// {note}\n    {head} {{\n        match {value} {{\n{arms}        }}\n    }}\n"


def _dtype(schema: Schema) -> str:
    names = [(f"DType::{camel(t.short)}", t) for t in schema.dtypes]
    rows = [(camel(t.short), t.constant, f"{t.name}, {t.itemsize} bytes") for t in schema.dtypes]
    text = _enum("DType", "What an element of a tensor is.", rows)
    text += "    /// Every dtype.\n    pub const ALL: &'static [DType] = &[\n"
    text += "".join(f"        {n},\n" for n, _ in names) + "    ];\n\n"
    text += _matcher("pub const fn name(self) -> &'static str", "The name that all languages print, such as `float32`.",
                     [(n, f'"{t.name}"') for n, t in names]) + "\n"  # fmt: skip
    text += _matcher("pub const fn size(self) -> usize", "Bytes of one element.", [(n, str(t.itemsize)) for n, t in names])
    for category, note in (("floating", "is_floating_point"), ("complex", "is_complex"), ("integral", "is_integral")):
        members = " | ".join(n for n, t in names if t.category == category)
        text += f"\n    /// Whether it is {category}; bool is in no category.\n    pub const fn {note}(self) -> bool {{\n"
        text += f"        matches!(self, {members})\n    }}\n"
    return text + "}\n"


def _constants(enum: Enum) -> list[tuple[str, str, str]]:
    """(Rust name, C name, doc) of each constant."""
    return [(camel(enum.short(c)), c.name, c.doc) for c in enum.constants]


def _device_type(enum: Enum) -> str:
    rows = [(name, constant, note or f"`{name.lower()}`") for name, constant, note in _constants(enum)]
    text = _enum("DeviceType", "What kind of device a tensor lives on.", rows)
    text += "    /// Every device type.\n    pub const ALL: &'static [DeviceType] = &["
    text += ", ".join(f"DeviceType::{n}" for n, _, _ in rows) + "];\n\n"
    return text + _matcher("pub const fn name(self) -> &'static str", "The name that all languages print, such as `cpu`.",
                           [(f"DeviceType::{n}", f'"{n.lower()}"') for n, _, _ in rows]) + "}\n"  # fmt: skip


def _error_kind(enum: Enum) -> str:
    rows = [row for row in _constants(enum) if row[1] != "TSR_OK"]
    text = _enum("ErrorKind", "The kind of an [`Error`](crate::Error), for `match`.", rows)
    text += _matcher("pub const fn name(self) -> &'static str", "The name that all languages print, such as `SHAPE`.",
                     [(f"Self::{n}", f'"{c.removeprefix("TSR_")}"') for n, c, _ in rows]) + "\n"  # fmt: skip
    codes = [(f"tessera_sys::{c}", f"Self::{n}") for n, c, _ in rows if n != "Internal"]
    return text + _matcher("pub(crate) const fn from_code(code: i32) -> Self",
                           "The kind of a status code; a code this crate does not know is [`ErrorKind::Internal`].",
                           [*codes, ("_", "Self::Internal")]) + "}\n"  # fmt: skip
