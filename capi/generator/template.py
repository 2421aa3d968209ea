# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Templates: what a target writes, as text in a file beside the Python that decides what is written."""

from __future__ import annotations

import re
import string
from pathlib import Path


class Template:
    """A file of pieces: each is the lines between `=== name` and the next such line. What stands before the first is a comment.

    `${hole}` is filled in by the call, which must name every hole of the piece and no other; `$$` is a dollar sign.
    """

    def __init__(self, module: str, name: str) -> None:
        """`module` is the __file__ of the module beside which the template lies."""
        parts = re.split(r"^=== (\w+)\n", Path(module).with_name(name).read_text("utf-8"), flags=re.MULTILINE)
        self._pieces = {piece: string.Template(text) for piece, text in zip(parts[1::2], parts[2::2])}
        self._holes = {piece: set(text.get_identifiers()) for piece, text in self._pieces.items()}

    def __call__(self, piece: str, **holes: object) -> str:
        if unknown := holes.keys() - self._holes[piece]:
            raise KeyError(f"piece {piece} has no hole {', '.join(sorted(unknown))}")
        return self._pieces[piece].substitute(holes)
