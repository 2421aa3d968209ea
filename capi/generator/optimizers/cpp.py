# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""C++: the defaults of the library, and the options of its C++ interface as structs."""

from __future__ import annotations

import textwrap

from ..text import banner, camel, wrap_call
from .rows import Optimizer


def defaults(rows: tuple[Optimizer, ...]) -> str:
    text = banner("//", "The options of each kind of optimizer with their defaults.")
    text += '#pragma once\n\n#include "optim/kinds.h"\n\nnamespace tsr::optim {\n\n'
    for row in rows:
        values = [f"{{Option::k{camel(o.name)}, {int(o.default) if o.is_flag else o.literal}}}" for o in row.options]
        text += wrap_call(f"inline constexpr Default k{row.kind.capitalize()}Options[] = {{", values, "};\n")
    return text + "\n}  // namespace tsr::optim\n"


def options(rows: tuple[Optimizer, ...]) -> str:
    text = banner("//", "The options of each kind of optimizer.")
    text += """#pragma once

#include <cstdint>

#include "tessera/optim.h"

namespace tessera::optim {

template <class Options>
class Optimizer;

// Aggregates, so that C++20 can name their fields in braces. each() pairs the fields with those of
// the C struct.
"""
    return text + "".join(_struct(row) for row in rows) + "\n}  // namespace tessera::optim\n"


def _struct(row: Optimizer) -> str:
    text = "\n" + "".join(f"// {line}\n" for line in textwrap.wrap(row.doc, 94))
    text += f"struct {row.name}Options {{\n  static constexpr tsr_optimizer_kind kKind = TSR_OPTIMIZER_{row.kind};\n"
    for option in row.options:
        text += f"  {option.type('bool', 'int32_t', 'double')} {option.name} = {option.literal};\n"
    text += "\n  template <class Self, class C, class Visit>\n  static void each(Self& o, C& c, Visit visit) {\n"
    text += "".join(f"    visit(o.{option.name}, c.{option.name});\n" for option in row.options)
    return text + f"  }}\n}};\nusing {row.name} = Optimizer<{row.name}Options>;\n"
