# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""All rows: those of every op_table_<family>.py beside this file."""

from __future__ import annotations

import importlib
from pathlib import Path

from op_engine import Row


def _load() -> list[Row]:
    rows: list[Row] = []
    for path in sorted(Path(__file__).parent.glob("op_table_*.py")):
        rows += importlib.import_module(path.stem).ROWS
    return rows


ROWS = _load()
BY_NAME = {row.name: row for row in ROWS}
