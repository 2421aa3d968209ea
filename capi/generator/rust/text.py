# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the Rust emitters share: names, documentation comments, C types in Rust."""

from __future__ import annotations

import re
import textwrap

PLAIN = {
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
    "double": "f64",
    "void": "c_void",
    "char": "c_char",
}


def rust_type(ctype: str) -> str:
    """A C type of the ABI as tessera-sys spells it."""
    base = ctype.replace("*", "").replace("const ", "").replace("struct ", "").strip()
    spelled = PLAIN.get(base, base)
    for level in range(ctype.count("*")):
        const = level == 0 and ctype.startswith("const ")
        spelled = f"*{'const' if const else 'mut'} {spelled}"
    return spelled


def doc(text: str, pad: str = "", mark: str = "///") -> str:
    """A documentation comment; what Markdown would take for a tag or emphasis is escaped, and for a link, unless it is one
    to code: [`name`] or [`name`](path)."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n"):
        safe = re.sub(r"(\[`[^`]*`\](?:\([\w:]+\))?)|(?<!\\)([\[\]<>*])", lambda m: m[1] or "\\" + m[2], paragraph)
        indent = "  " if safe.startswith("\u2022 ") else ""  # of a list, as rustdoc wants it
        lines += textwrap.wrap(safe, 95 - len(pad), break_long_words=False, subsequent_indent=indent) or [""]
    return "".join(f"{pad}{mark} {line}".rstrip() + "\n" for line in lines)


def call(head: str, parts: list[str], tail: str, pad: str, fence: str = "()") -> str:
    """head(parts)tail on one line, or with one indented block of arguments when that is too long."""
    space = " " if fence == "{}" else ""
    one = f"{pad}{head}{fence[0]}{space}{', '.join(parts)}{space}{fence[1]}{tail}"
    if len(one) <= 100:
        return one
    lines, line = [], ""
    for part in parts:
        if line and len(pad) + 4 + len(line) + len(part) + 2 > 100:
            lines.append(line.rstrip())
            line = ""
        line += part + ", "
    inner = "".join(f"{pad}    {text}\n" for text in [*lines, line.rstrip()])
    return f"{pad}{head}{fence[0]}\n{inner}{pad}{fence[1]}{tail}"
