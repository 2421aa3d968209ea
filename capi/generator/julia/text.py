# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Documentation as Julia writes it."""

from __future__ import annotations

import textwrap


def wrapped(text: str) -> list[str]:
    return [line for part in text.split("\n") for line in textwrap.wrap(part, 92) or [""]]


def docstring(lines: list[str]) -> str:
    body = "\n".join(lines).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"""\n{body}\n"""\n'
