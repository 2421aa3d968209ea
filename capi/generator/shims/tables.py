# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Struct sizes, status names, and the proof that the C++ enumerations agree with the schema."""

from __future__ import annotations

import json

from ..schema.model import Schema
from ..template import Template
from ..text import banner, camel

TEMPLATE = Template(__file__, "tables.cpp.in")


def struct_sizes(schema: Schema) -> str:
    """The sizes that callers of the first version pass."""
    sized = [s for s in schema.structs if s.sized]
    return TEMPLATE(
        "struct_sizes",
        banner=banner("//", "The sizes with which the public structs were first released."),
        sizes="".join(f"template <>\ninline constexpr uint32_t kFirstSize<{s.name}> = {s.first_size};\n" for s in sized),
    )


def nondeterministic(schema: Schema) -> str:
    """What tsr_deterministic_list gives out."""
    rows = [
        json.dumps({"family": k.family, "backend": k.backend, "when": k.when, "instead": k.instead})
        for d in schema.domains
        for k in d.nondeterministic
    ]
    return TEMPLATE(
        "nondeterministic",
        banner=banner("//", "The kernels whose results depend on more than their inputs, as JSON."),
        rows=",\n".join(rows),
    )


def tables(schema: Schema) -> str:
    """What tsr_abi_probe and tsr_status_name read."""
    codes = schema.status.constants
    return TEMPLATE(
        "tables",
        banner=banner("//", "Struct sizes and status names."),
        structs="".join(f'    {{"{s.name}", sizeof({s.name})}},\n' for s in schema.structs),
        n_structs=len(schema.structs),
        names="".join(f'    {{{c.value}, "{c.name[4:]}"}},\n' for c in codes),
        n_names=len(codes),
    )


def consistency(schema: Schema) -> str:
    """Proves that the C++ enums say what the schema says."""
    includes = {"base/device.h", "base/dtype.h", "base/error.h"} | {e.cpp_header for e in schema.enums if e.cpp_header}
    dtypes = [f"tsr::dtype_to_abi(tsr::DType::{d.enumerator}) == {d.constant}" for d in schema.dtypes]
    dtypes.append(f"tsr::kDTypeCount == {len(schema.dtypes)}")
    special = {"TSR_DTYPE": "DType"}
    constants = [
        f"static_cast<int32_t>({e.cpp}::k{special.get(c.name) or camel(c.name.removeprefix(e.prefix))}) == {c.name}"
        for e in schema.enums
        for c in (e.constants if e.cpp else ())
    ]
    return TEMPLATE(
        "consistency",
        banner=banner("//", "Proves that the C++ enums agree with the schema."),
        includes="".join(f'#include "{path}"\n' for path in sorted(includes)),
        assertions="".join(f"static_assert({fact});\n" for fact in [*dtypes, *constants]),
    )
