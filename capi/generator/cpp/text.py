# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Comments and calls as the C++ wrapper writes them."""

from __future__ import annotations

import textwrap

from ..text import wrap_call


def comment(text: str, pad: str = "") -> str:
    head = f"{pad}// "
    return "".join(f"{line}\n" for line in textwrap.wrap(text, 100, initial_indent=head, subsequent_indent=head))


def wrap(head: str, parts: list[str], tail: str) -> str:
    indent = len(head) - len(head.lstrip()) + 4
    return wrap_call(head, parts, tail, indent)
