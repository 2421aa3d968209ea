# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Julia package: the C ABI as it is (raw), and the ops in Julia's idiom (layer, ops; names says how they are called)."""

from ..schema.model import Schema
from .layer import broadcast, index, ops
from .raw import functions, types

FOLDER = "wrappers/julia/src/generated/"


def outputs(schema: Schema) -> dict[str, str]:
    files = {
        FOLDER + "types.jl": types(schema),
        FOLDER + "functions.jl": functions(schema),
        FOLDER + "broadcast.jl": broadcast(schema),
        FOLDER + "ops.jl": index(schema),
    }
    return files | {f"{FOLDER}{d.name}.jl": ops(d.title, d.ops) for d in schema.domains if d.ops}
