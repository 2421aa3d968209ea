# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""constants.hpp: dtypes and kinds of errors."""

from __future__ import annotations

from ..schema.model import Schema
from ..template import Template
from ..text import banner, c_string, camel
from .text import comment

TEMPLATE = Template(__file__, "constants.hpp.in")


def kind_constant(status: str) -> str:
    """TSR_OUT_OF_MEMORY -> kOutOfMemory."""
    return "k" + camel(status.removeprefix("TSR_"))


def constants(schema: Schema) -> str:
    dtypes = schema.dtypes
    failures = [c for c in schema.status.constants if c.value]
    return TEMPLATE(
        "constants",
        banner=banner("//", "Dtypes and kinds of errors."),
        dtypes="".join(f"  {d.enumerator} = {d.constant},\n" for d in dtypes),
        short="".join(f"inline constexpr DType {d.enumerator} = DType::{d.enumerator};\n" for d in dtypes),
        dtype_names="".join(f"    case {d.enumerator}:\n      return {c_string(d.name)};\n" for d in dtypes),
        kinds="".join(comment(c.doc, "  ") + f"  {kind_constant(c.name)} = {c.name},\n" for c in failures),
        last=max(c.value for c in failures),
        kind_names="".join(
            f"    case ErrorKind::{kind_constant(c.name)}:\n      return {c_string(c.name[4:])};\n" for c in failures
        ),
    )
