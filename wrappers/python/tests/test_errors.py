# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors: classes, built-ins, what they carry."""

from __future__ import annotations

import builtins
import pickle

import pytest

import tessera as ts
from tessera import _errors
from tessera._constants import STATUS


@pytest.mark.parametrize("code", sorted(STATUS))
def test_every_status_has_a_class_that_is_also_the_builtin(code: int) -> None:
    name, builtin = STATUS[code]
    kind = _errors.CLASSES[code]
    assert kind.code == code and issubclass(kind, ts.TesseraError) and issubclass(kind, getattr(builtins, builtin)), name


def test_errors_carry_operation_and_argument() -> None:
    with pytest.raises(ts.ShapeError) as info:
        ts.add(ts.ones(2), ts.ones(3))
    error = info.value
    assert error.code == 4 and error.op == "add" and error.argument == 1
    for part in ("add", "other", "[2]", "[3]"):
        assert part in str(error)


def test_builtins_catch() -> None:
    cases = [
        (ValueError, lambda: ts.ones(2) + ts.ones(3)),
        (IndexError, lambda: ts.ones(2)[5]),
        (IndexError, lambda: ts.ones(2).sum(axis=3)),
        (TypeError, lambda: ts.tensor([1]).requires_grad_()),
        (BufferError, lambda: ts.ones(2).requires_grad_().numpy()),
        (OSError, lambda: ts.load_file("/no/such/file")),
        (RuntimeError, lambda: ts.ones(2).backward()),
    ]
    for kind, call in cases:
        with pytest.raises(kind) as info:
            call()
        assert isinstance(info.value, ts.TesseraError)


def test_memory_errors_are_typed_and_harmless() -> None:
    with pytest.raises((MemoryError, ValueError)):
        ts.empty((2**40, 2**20))
    with pytest.raises(MemoryError):
        ts.zeros((2**45,))
    assert ts.ones(2).sum().item() == 2


def test_errors_pickle_by_message() -> None:
    with pytest.raises(ts.ShapeError) as info:
        ts.ones(2) + ts.ones(3)
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)
