# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared settings of the tests."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_finish() -> None:
    """Takes the test tables out of the collector's sight: a test that calls gc.collect() then visits its own objects only."""
    gc.collect()
    gc.freeze()
