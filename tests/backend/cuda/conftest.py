# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""These tests use the support files of the package's tests. After each test they empty the device's cache: the stand-in
for the run time protects all device memory after every use, which costs time for each page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tessera as ts

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "wrappers" / "python" / "tests"))

# No plans of convolutions in the user's folder (Note [Plans on disk]).
os.environ.setdefault("TESSERA_CACHE", "off")

MUCH = 8 << 20


@pytest.fixture(autouse=True)
def small_cache() -> Iterator[None]:
    yield
    if ts.memory.memory_reserved("cuda") > MUCH:
        ts.memory.empty_cache("cuda")
