# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of optimizers in every language, from capi/schema/optimizers.yaml."""

from __future__ import annotations

from typing import Any

from . import cpp, julia, python, rust
from .rows import read


def outputs(schema: Any) -> dict[str, str]:
    rows = read(schema)
    return {
        "src/optim/generated/defaults.h": cpp.defaults(rows),
        "include/tessera/cpp/optim_options.hpp": cpp.options(rows),
        "wrappers/python/src/tessera/optim/kinds.py": python.kinds(rows),
        "wrappers/rust/tessera/src/generated/optim_rules.rs": rust.rules(rows),
        "wrappers/julia/src/generated/optim.jl": julia.rules(rows),
    }
