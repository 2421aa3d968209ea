# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Thousands of random wrong calls: each is an error of the library or a wrong list of arguments, and never more."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import _ops

NAMES = sorted(n for n in dir(_ops) if not n.startswith("_") and callable(getattr(_ops, n)) and n != "annotations")
LISTS = ("positional argument", "missing argument", "unexpected keyword", "given twice")  # of arguments, as Python's


def things() -> list[Any]:
    return [
        None, 3, -1, 2**70, 1.5, float("nan"), "a", b"x", [], [1, 2], ["a"], (1,), {}, object(), True, 1j, ts.float32, "cuda:x",
        ts.ones(2, 3), ts.ones(2, dtype=ts.int64), np.ones(2), np.array("a"), np.array(2), np.float64(2), ts.Generator(1),
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_call_is_an_error_of_ours(name: str) -> None:
    function, draw, known = getattr(_ops, name), random.Random(name), things()
    for _ in range(40):
        arguments = [draw.choice(known) for _ in range(draw.randint(1, 4))]
        if draw.random() < 0.7:
            arguments[0] = ts.ones(2, 3)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(*arguments)
        except ts.TesseraError:
            pass
        except TypeError as error:
            assert any(words in str(error) for words in LISTS), (name, arguments)
