# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the guide and of the README run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs() -> list[object]:
    found = []
    for page in ("docs/guide/python.md", "README.md"):
        text = (ROOT / page).read_text("utf-8")
        for match in PROGRAM.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(pytest.param(match[1], id=f"{page}:{line}"))
    return found


@pytest.mark.parametrize("program", programs())
def test_program_of_a_page_runs(program: str, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_pages_have_programs() -> None:
    assert len(programs()) >= 8
