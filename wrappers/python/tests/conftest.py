# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared settings of the tests."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[3] / "tests/tools"))

import blas_kernels  # noqa: E402, F401 (before any test imports NumPy)


def pytest_collection_finish() -> None:
    """Takes the test tables out of the collector's sight: a test that calls gc.collect() then visits its own objects only."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The same for the reports of the tests of a file, of which the largest file leaves 15,000."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
