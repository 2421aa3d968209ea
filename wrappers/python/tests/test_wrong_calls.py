# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Thousands of random wrong calls: each raises an error of the library or a TypeError about its arguments, and nothing
else happens."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import _ops, nn, optim
from tessera.nn import functional, init, utils

NAMES = sorted(n for n in dir(_ops) if not n.startswith("_") and callable(getattr(_ops, n)) and n != "annotations")
# The handwritten classes and functions; users do not make hook handles.
BY_HAND = [
    pytest.param(thing, id=f"{module.__name__}.{name}")
    for module in (nn, functional, init, utils, utils.rnn, optim)
    for name, thing in sorted(vars(module).items())
    if name in getattr(module, "__all__", ()) or getattr(thing, "__module__", "") == module.__name__
    if callable(thing) and not name.startswith("_") and thing is not nn.RemovableHandle
]
LISTS = ("positional argument", "missing argument", "unexpected keyword", "given twice")  # in Python's messages


def things() -> list[Any]:
    return [
        None, 3, -1, 2**70, 1.5, float("nan"), "a", b"x", [], [1, 2], ["a"], (1,), {}, object(), True, 1j, ts.float32, "cuda:x",
        ts.ones(2, 3), ts.ones(2, dtype=ts.int64), np.ones(2), np.array("a"), np.array(2), np.float64(2), ts.Generator(1),
    ]  # fmt: skip


def try_wrong_calls(function: Any, seed: str, first: list[Any]) -> None:
    draw, known = random.Random(seed), things()
    for _ in range(40):
        arguments = [draw.choice(known) for _ in range(draw.randint(1, 4))]
        if draw.random() < 0.7:
            arguments[0] = draw.choice(first)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(*arguments)
        except ts.TesseraError:
            pass
        except TypeError as error:
            assert any(words in str(error) for words in LISTS), (seed, arguments)
        except ValueError as error:  # an array's own error if a flag is expected
            assert "truth value of an array" in str(error), (seed, arguments)


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_call_is_an_error_of_ours(name: str) -> None:
    try_wrong_calls(getattr(_ops, name), name, [ts.ones(2, 3)])


@pytest.mark.parametrize("thing", BY_HAND)
def test_a_wrong_call_of_what_is_written_by_hand_is_an_error_of_ours(thing: Any) -> None:
    leaf = ts.ones(2, 3, requires_grad=True)
    leaf.grad = ts.ones(2, 3)
    try_wrong_calls(thing, thing.__name__, [leaf, [leaf], 4])
