# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera-sys: the C ABI in Rust, and the plain enumerations of the safe crate."""

from __future__ import annotations

from .c import describe
from .model import CFunction, Enum, Schema, Struct
from .rust_text import call, camel, doc, rust_type
from .text import banner

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
        text = "\n" + doc(describe(function), "    ")
    else:
        text = f"    /// Another form of [`{next(f.name for f in function.op.functions)}`].\n"  # type: ignore[union-attr]
    return text + call(f"pub fn {function.name}", params, f"{result};", "    ") + "\n"


# ---- Enumerations of the safe crate ----


def safe_types(schema: Schema) -> str:
    text = banner("//", "Dtypes, device types and error kinds.")
    return text + _dtype(schema) + _device_type(schema.enum("device_type")) + _error_kind(schema.status)


def _dtype(schema: Schema) -> str:
    names = [camel(t.short) for t in schema.dtypes]
    text = "\n/// What an element of a tensor is.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n"
    text += "#[non_exhaustive]\n#[repr(i32)]\npub enum DType {\n"
    for name, dtype in zip(names, schema.dtypes):
        text += f"    /// {dtype.name}, {dtype.itemsize} bytes\n    {name} = tessera_sys::{dtype.constant},\n"
    text += "}\n\nimpl DType {\n    /// Every dtype.\n"
    text += "    pub const ALL: &'static [DType] = &[\n"
    text += "".join(f"        DType::{n},\n" for n in names) + "    ];\n"
    text += _matcher("name", "The name that all languages print, such as `float32`.", "&'static str",
                     [(n, f'"{t.name}"') for n, t in zip(names, schema.dtypes)])
    text += _matcher("size", "Bytes of one element.", "usize", [(n, str(t.itemsize)) for n, t in zip(names, schema.dtypes)])
    for category, note in (("floating", "is_floating_point"), ("complex", "is_complex"), ("integral", "is_integral")):
        members = " | ".join(f"DType::{n}" for n, t in zip(names, schema.dtypes) if t.category == category)
        text += f"\n    /// Whether it is {category}; bool is in no category.\n    pub const fn {note}(self) -> bool {{\n"
        text += f"        matches!(self, {members})\n    }}\n"
    return text + "}\n"


def _matcher(name: str, note: str, kind: str, rows: list[tuple[str, str]]) -> str:
    arms = "".join(f"            DType::{left} => {right},\n" for left, right in rows)
    return (f"\n    /// {note}\n    pub const fn {name}(self) -> {kind} {{\n        match self {{\n{arms}        }}\n    }}\n")


def _constants(enum: Enum) -> list[tuple[str, str, str]]:
    """(Rust name, C name, doc) of each constant."""
    return [(camel(c.name.removeprefix(enum.prefix)), c.name, c.doc) for c in enum.constants]


def _device_type(enum: Enum) -> str:
    text = "\n/// What kind of device a tensor lives on.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n"
    text += "#[non_exhaustive]\n#[repr(i32)]\npub enum DeviceType {\n"
    rows = _constants(enum)
    for name, constant, note in rows:
        text += doc(note or f"`{name.lower()}`", "    ") + f"    {name} = tessera_sys::{constant},\n"
    text += "}\n\nimpl DeviceType {\n    /// Every device type.\n    pub const ALL: &'static [DeviceType] = &["
    text += ", ".join(f"DeviceType::{n}" for n, _, _ in rows) + "];\n"
    text += "\n    /// The name that all languages print, such as `cpu`.\n    pub const fn name(self) -> &'static str {\n"
    arms = "".join(f'            DeviceType::{n} => "{n.lower()}",\n' for n, _, _ in rows)
    return text + f"        match self {{\n{arms}        }}\n    }}\n}}\n"


def _error_kind(enum: Enum) -> str:
    rows = [row for row in _constants(enum) if row[1] != "TSR_OK"]
    text = "\n/// The kind of an [`Error`](crate::Error), for `match`.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n"
    text += "#[non_exhaustive]\n#[repr(i32)]\npub enum ErrorKind {\n"
    for name, constant, note in rows:
        text += doc(note, "    ") + f"    {name} = tessera_sys::{constant},\n"
    text += "}\n\nimpl ErrorKind {\n    /// The name that all languages print, such as `SHAPE`.\n"
    text += "    pub const fn name(self) -> &'static str {\n        match self {\n"
    text += "".join(f'            Self::{n} => "{c.removeprefix("TSR_")}",\n' for n, c, _ in rows)
    text += "        }\n    }\n\n    /// The kind of a status code; a code this crate does not know is [`ErrorKind::Internal`].\n"
    text += "    pub(crate) const fn from_code(code: i32) -> Self {\n        match code {\n"
    text += "".join(f"            tessera_sys::{c} => Self::{n},\n" for n, c, _ in rows if n != "Internal")
    return text + "            _ => Self::Internal,\n        }\n    }\n}\n"
