# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ behind the ABI that needs no thought: the functions of ops, their records and ways in, tables, schema.json."""

from pathlib import Path

from ..schema.model import Schema
from ..text import banner
from . import calls, canonical, functions, tables


def outputs(schema: Schema) -> dict[str, str]:
    files = {f"capi/generated/{d.name}.cpp": functions.family(schema, d) for d in schema.domains if d.ops}
    files |= calls.outputs(schema)
    files["capi/generated/struct_sizes.h"] = tables.struct_sizes(schema)
    files["capi/generated/tables.cpp"] = tables.tables(schema)
    files["capi/generated/nondeterministic.h"] = tables.nondeterministic(schema)
    files["capi/generated/consistency.cpp"] = tables.consistency(schema)
    # Installed, for generators that run without loading the library, and embedded by schema_json.cpp.
    files["capi/generated/schema.json"] = canonical.canonical_text(schema)
    sources = sorted(Path(p).name for p in files if p.endswith(".cpp"))
    listing = banner("#", "The generated sources of the capi layer.") + "\nset(TSR_CAPI_GENERATED\n"
    files["capi/generated/sources.cmake"] = listing + "".join(f"    generated/{s}\n" for s in sources) + ")\n"
    return files
