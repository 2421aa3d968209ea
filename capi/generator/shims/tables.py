# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Struct sizes, status names, and the proof that the C++ enumerations agree with the schema."""

from __future__ import annotations

from ..schema.model import Schema
from ..text import banner, camel


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
        text += f"static_assert(tsr::dtype_to_abi(tsr::DType::{dtype.enumerator}) == {dtype.constant});\n"
    text += f"static_assert(tsr::kDTypeCount == {len(schema.dtypes)});\n"
    special = {"TSR_DTYPE": "DType"}
    for enum in schema.enums:
        for constant in enum.constants if enum.cpp else ():
            name = special.get(constant.name) or camel(constant.name.removeprefix(enum.prefix))
            text += f"static_assert(static_cast<int32_t>({enum.cpp}::k{name}) == {constant.name});\n"
    return text
