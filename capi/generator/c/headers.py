# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C side: public headers, the preprocessor-free header, the linker map, the layout checks."""

from __future__ import annotations

import re

from ..schema.model import CFunction, Domain, Enum, Schema, Struct
from ..template import Template
from ..text import banner, c_banner, c_comment, version_number, wrap_call

TEMPLATE = Template(__file__, "headers.h.in")


def headers(schema: Schema) -> dict[str, str]:
    """Path below the repository root -> text, for every public header."""
    files = {f"include/tessera/{name}": _header(schema, name) for name in schema.headers}
    files["include/tessera/tessera.h"] = TEMPLATE(
        "umbrella",
        banner=c_banner("The umbrella header."),
        rules=c_comment(TEMPLATE("rules")),
        includes=_includes(schema.headers),
    )
    files["include/tessera/tessera_ffi.h"] = _ffi(schema)
    return files


def _header(schema: Schema, name: str) -> str:
    domains = [d for d in schema.domains if d.header == name]
    operators = len(domains) > 1  # one file of the schema for each family
    head = c_banner("The operators.") + c_comment(TEMPLATE("operators")) if operators else None
    body = ""
    for domain in domains:
        body += f"/* ---- {domain.title} ---- */\n\n" if operators else ""
        body += "".join(f"struct {extern};\n" for extern in domain.externs)
        body += _types([domain], documented=True)
        body += TEMPLATE("numbers") if any(s.name == "tsr_number" for s in domain.structs) else ""
        for row in domain.rows:
            body += _since(row.since, "".join(_declare(f, i == 0) for i, f in enumerate(row.functions))) + "\n"
            body += TEMPLATE("raise") if any(f.name == "tsr_error_set" for f in row.functions) else ""
    return TEMPLATE(
        "header",
        banner=head or c_banner(domains[0].title + ".") + c_comment(domains[0].doc),
        guard=f"TESSERA_{name[:-2].upper()}_H_",
        includes=TEMPLATE("prelude") if name == schema.headers[0] else _includes(_needed(schema, name)),
        body=body,
    )


def _includes(headers: list[str]) -> str:
    return "".join(f'#include "tessera/{h}"\n' for h in headers)


def _needed(schema: Schema, name: str) -> list[str]:
    """The headers that must come before this one: the types of all, and whose structs and handles it names."""
    domains = [d for d in schema.domains if d.header == name]
    ctypes = [p.ctype for d in domains for c in d.callbacks for p in c.params]
    ctypes += [f.ctype for d in domains for s in d.structs for f in s.fields]
    ctypes += [p.ctype for d in domains for row in d.functions for p in row.functions[0].params]
    named = set(re.findall(r"\btsr_\w+", " ".join(ctypes)))
    used = {s.header for s in schema.structs if s.name in named}
    used |= {h.header for h in schema.handles if f"tsr_{h.name}" in named}
    used.discard(name)
    return [h for h in schema.headers if h in used or h == schema.headers[0]]


def _since(since: str, text: str) -> str:
    if since == "0.1":
        return text
    return f"#if TSR_TARGET >= {version_number(since):#x}\n{text}#endif\n"


def _declare(function: CFunction, documented: bool) -> str:
    checked = function.returns == "tsr_status" and (function.function is None or function.function.nodiscard)
    mark = "TSR_API TSR_NODISCARD " if checked else "TSR_API "
    params = [str(p) for p in function.params] or ["void"]
    line = wrap_call(f"{mark}{function.returns} {function.name}(", params, ");")
    return (c_comment(function.description) if documented else "") + line + "\n"


def _types(domains: list[Domain], documented: bool) -> str:
    """Handles, constants, callbacks and structs of some domains."""

    def note(text: str) -> str:
        return c_comment(text) if documented else ""

    text = ""
    for handle in [h for d in domains for h in d.handles]:
        text += note(handle.doc) + f"typedef struct tsr_{handle.name}_s* tsr_{handle.name};\n"
    dtypes = [t for d in domains for t in d.dtypes]
    if dtypes:
        text += note("A dtype: the bits of DLPack's DLDataType, code | bits << 8 | lanes << 16.")
        text += "typedef int32_t tsr_dtype;\n"
        text += "enum {\n" + "".join(f"  {t.constant} = {t.value:#x},\n" for t in dtypes)[:-2] + "\n};\n\n"
    for enum in [e for d in domains for e in d.enums]:
        text += note(enum.doc) + _enum(enum, documented)
    structs = [s for d in domains for s in d.structs]
    text += "".join(f"typedef struct {s.name} {s.name};\n" for s in structs)
    for callback in [c for d in domains for c in d.callbacks]:
        params = [str(p) for p in callback.params] or ["void"]
        text += note(callback.doc)
        text += wrap_call(f"typedef {callback.returns} (*{callback.name})(", params, ");") + "\n"
    text += "".join(note(s.doc) + _struct(s, documented) for s in structs)
    return text + "\n" if text else ""


def _enum(enum: Enum, documented: bool) -> str:
    text = f"typedef int32_t {enum.name};\nenum {{\n"
    rows = []
    for constant in enum.constants:
        doc = f" /* {constant.doc} */" if documented and constant.doc else ""
        rows.append((f"  {constant.name} = {constant.value}", doc))
    text += "".join(f"{row}{',' if i + 1 < len(rows) else ''}{doc}\n" for i, (row, doc) in enumerate(rows))
    return text + "};\n\n"


def _struct(struct: Struct, documented: bool) -> str:
    text = f"struct {struct.name} {{\n"
    for entry in struct.fields:
        doc = f" /* {entry.doc} */" if documented and entry.doc else ""
        text += f"  {entry.ctype} {entry.name};{doc}\n"
    return text + "};\n\n"


def _ffi(schema: Schema) -> str:
    text = c_banner("Every declaration and no preprocessor line, for cffi and its like.") + "\n"
    domains = list(schema.domains)
    text += "".join(f"struct {e};\n" for d in domains for e in d.externs)
    text += _types(domains, documented=False)
    return text + "".join(f.declaration + ";\n" for f in schema.c_functions)


def exports_map(schema: Schema) -> str:
    text = banner("#", "The linker map: one node per minor version, in it a line per row.")
    versions = sorted({f.since for f in schema.c_functions}, key=version_number)
    before = ""
    for version in versions:
        rows = sorted([f.name for f in row.functions] for row in schema.rows if row.since == version)
        text += f"\nTSR_{version} {{\n  global:\n" + "".join(f"    {'; '.join(names)};\n" for names in rows)
        text += ("  local:\n    *;\n" if not before else "") + f"}}{before};\n"
        before = f" TSR_{version}"
    return text


def outputs(schema: Schema) -> dict[str, str]:
    return headers(schema) | {"capi/exports.map": exports_map(schema)}
