# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Templates: what a target writes, as text in a file beside the Python that decides what is written."""

from __future__ import annotations

import re
import string
from pathlib import Path


class _Piece:
    def __init__(self, text: str) -> None:
        self._blocks = set(re.findall(r"^\$\{(\w+)\}$", text, flags=re.MULTILINE))
        self._text = string.Template(re.sub(r"^(\$\{\w+\})\n", r"\1", text, flags=re.MULTILINE))
        self._holes = set(self._text.get_identifiers())

    def fill(self, holes: dict[str, object]) -> str:
        if unknown := holes.keys() - self._holes:
            raise KeyError(f"no hole is named {', '.join(sorted(unknown))}")
        return self._text.substitute({name: self._lines(name, str(value)) for name, value in holes.items()})

    def _lines(self, name: str, value: str) -> str:
        return value + "\n" if name in self._blocks and value and not value.endswith("\n") else value


class Template:
    """A file of pieces: each is the lines between `=== name` and the next such line. What stands before the first is a
    comment.

    `${hole}` is filled in by the call, which must name every hole of the piece and no other. A hole that has a line of
    its own takes any number of lines, also none. `$$` is a dollar sign.
    """

    def __init__(self, module: str, name: str) -> None:
        """`module` is the __file__ of the module beside which the template lies."""
        parts = re.split(r"^=== (\w+)\n", Path(module).with_name(name).read_text("utf-8"), flags=re.MULTILINE)
        self._pieces = {piece: _Piece(text) for piece, text in zip(parts[1::2], parts[2::2])}

    def __call__(self, piece: str, **holes: object) -> str:
        return self._pieces[piece].fill(holes)
