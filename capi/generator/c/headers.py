# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C side: public headers, the preprocessor-free header, the linker map, the layout checks."""

from __future__ import annotations

import re

from ..schema.model import CFunction, Domain, Enum, Schema, Struct
from ..text import banner, c_banner, c_comment, version_number, wrap_call

RULES = """Tessera: tensors and autograd behind a stable C ABI.

Ownership, in seven rules:
1. Arguments are borrowed for the call.
2. A handle written to an out parameter is a new reference that the caller releases.
3. Out parameters are write-only; out handles are NULL after a failure.
4. In-place functions return a status only.
5. Pointers written by getters are borrowed until the owner is released or resized.
6. Every _retain and _release accepts NULL and may be called from any thread; releasing is safe in a
finalizer.
7. What is marked `consumes` is consumed only on success.

Conventions: a status is 0 (TSR_OK) or a code of status.h; tsr_error_last tells more. Booleans are
int32_t 0 or 1. An absent int64_t is tsr_none() (INT64_MIN), an absent dtype, device or enumeration is -1, an
absent list has the count -1, an absent tensor or number is NULL, an absent double has has_x = 0. Text is a
pointer and a length; the length -1 means NUL-terminated. Structs begin with struct_size, which the
caller sets to sizeof; zero fields are defaults. A number of the host language is a tsr_number, made in place by TSR_F64(2.0),
TSR_I64(2), TSR_TRUTH(1) or TSR_C128(re, im). An op with several results has an out parameter for
each; NULL discards that result, which is computed all the same: where one alone is cheaper, a function
of its own gives it (tsr_argsort beside tsr_sort_with_indices). Any handle may be used from any thread; reading at
the same time is safe, changing a tensor needs exclusive access."""

PRELUDE = """\
#if defined(__GNUC__) || defined(__clang__)
#define TSR_API __attribute__((visibility("default")))
#define TSR_NODISCARD __attribute__((warn_unused_result))
#else
#define TSR_API
#define TSR_NODISCARD
#endif
/* Define as 0xMMMMmmmm (major, minor) before including to hide every declaration newer than that. */
#ifndef TSR_TARGET
#define TSR_TARGET 0x7fffffff
#endif
"""

# In the headers that have a preprocessor; the struct itself stands in the schema.
NUMBERS = """\
/* Host numbers as arguments: tsr_add_scalar(x, TSR_F64(2.0), &y). Each is a const tsr_number* that holds until the end
 * of the block in C, of the statement in C++. */
#ifdef __cplusplus
extern "C++" {
struct tsr_number_argument {
  tsr_number number;
  operator const tsr_number*() const { return &number; }
};
inline tsr_number_argument tsr_number_of_bool(bool value) {
  tsr_number_argument made = {{TSR_NUMBER_BOOL, 0, value ? 1 : 0, 0, 0}};
  return made;
}
inline tsr_number_argument tsr_number_of_integer(int64_t value) {
  tsr_number_argument made = {{TSR_NUMBER_INTEGER, 0, value, 0, 0}};
  return made;
}
inline tsr_number_argument tsr_number_of_complex(double real, double imaginary) {
  tsr_number_argument made = {{TSR_NUMBER_COMPLEX, 0, 0, real, imaginary}};
  return made;
}
inline tsr_number_argument tsr_number_of_real(double value) {
  tsr_number_argument made = {{TSR_NUMBER_REAL, 0, 0, value, 0}};
  return made;
}
}
#define TSR_TRUTH(value) tsr_number_of_bool(value)
#define TSR_I64(value) tsr_number_of_integer(value)
#define TSR_F64(value) tsr_number_of_real(value)
#define TSR_C128(real, imaginary) tsr_number_of_complex((real), (imaginary))
#else
#define TSR_TRUTH(value) (&(const tsr_number){TSR_NUMBER_BOOL, 0, (value) ? 1 : 0, 0, 0})
#define TSR_I64(value) (&(const tsr_number){TSR_NUMBER_INTEGER, 0, (value), 0, 0})
#define TSR_F64(value) (&(const tsr_number){TSR_NUMBER_REAL, 0, 0, (value), 0})
#define TSR_C128(real, imaginary) (&(const tsr_number){TSR_NUMBER_COMPLEX, 0, 0, (real), (imaginary)})
#endif

"""


def headers(schema: Schema) -> dict[str, str]:
    """Path below the repository root -> text, for every public header."""
    files = {f"include/tessera/{name}": _header(schema, name) for name in schema.headers}
    umbrella = c_banner("The umbrella header.") + c_comment(RULES)
    umbrella += "#ifndef TESSERA_TESSERA_H_\n#define TESSERA_TESSERA_H_\n\n"
    umbrella += "".join(f'#include "tessera/{name}"\n' for name in schema.headers)
    files["include/tessera/tessera.h"] = umbrella + "\n#endif\n"
    files["include/tessera/tessera_ffi.h"] = _ffi(schema)
    return files


def _header(schema: Schema, name: str) -> str:
    domains = [d for d in schema.domains if d.header == name]
    guard = f"TESSERA_{name[:-2].upper()}_H_"
    first = name == schema.headers[0]
    text = c_banner(domains[0].title + ".")
    if domains[0].doc:
        text += c_comment(domains[0].doc)
    text += f"#ifndef {guard}\n#define {guard}\n\n"
    text += (
        "#include <stddef.h>\n#include <stdint.h>\n\n" + PRELUDE
        if first
        else "".join(f'#include "tessera/{h}"\n' for h in _needed(schema, name))
    )
    text += '\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    for domain in domains:
        if len(domains) > 1:
            text += f"/* ---- {domain.title} ---- */\n\n"
        for extern in domain.externs:
            text += f"struct {extern};\n"
        text += _types(schema, [domain], documented=True)
        text += NUMBERS if any(s.name == "tsr_number" for s in domain.structs) else ""
        for row in domain.rows:
            text += _since(row.since, "".join(_declare(f, i == 0) for i, f in enumerate(row.functions))) + "\n"
    return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


def _needed(schema: Schema, name: str) -> list[str]:
    """The headers that must come before this one: the types of all, and whose structs it names."""
    domains = [d for d in schema.domains if d.header == name]
    ctypes = [p.ctype for d in domains for c in d.callbacks for p in c.params]
    ctypes += [f.ctype for d in domains for s in d.structs for f in s.fields]
    ctypes += [p.ctype for d in domains for row in d.functions for p in row.functions[0].params]
    named = set(re.findall(r"\btsr_\w+", " ".join(ctypes)))
    used = {s.header for s in schema.structs if s.name in named} - {name}
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


def _types(schema: Schema, domains: list[Domain], documented: bool) -> str:
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
    text += _types(schema, domains, documented=False)
    return text + "".join(f.declaration + ";\n" for f in schema.c_functions)


def exports(schema: Schema) -> list[str]:
    return sorted(f.name for f in schema.c_functions)


def exports_map(schema: Schema) -> str:
    text = banner("#", "The linker map: one node per minor version.")
    versions = sorted({f.since for f in schema.c_functions}, key=version_number)
    before = ""
    for version in versions:
        names = sorted(f.name for f in schema.c_functions if f.since == version)
        text += f"\nTSR_{version} {{\n  global:\n" + "".join(f"    {n};\n" for n in names)
        text += ("  local:\n    *;\n" if not before else "") + f"}}{before};\n"
        before = f" TSR_{version}"
    return text


def outputs(schema: Schema) -> dict[str, str]:
    files = headers(schema)
    files["capi/exports.map"] = exports_map(schema)
    return files
