# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The calls that every language makes on the same tensors: tests/conformance. One of them: pytest -k 'replay and add_2'."""

from __future__ import annotations

from typing import Any

import conformance
import pytest


@pytest.mark.parametrize(("op", "case"), [pytest.param(*row, id=row[1]["name"]) for row in conformance.replays()])
def test_replay(op: dict[str, Any], case: dict[str, Any]) -> None:
    try:
        conformance.replay(op, case)
    except Exception as error:
        error.add_note(f"Python, {op['op']}, {case['name']}: {case}")
        raise


def test_no_case_is_missing() -> None:
    """Each stored tensor belongs to a case; one that no case names was left over from a removed file."""
    cases = [case for family in conformance.families() for op in family["ops"] for case in op["cases"]]
    assert set(conformance.vectors()) <= set(conformance.keys(cases))
