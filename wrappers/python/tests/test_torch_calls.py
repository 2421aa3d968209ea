# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch answers the calls of torch_expressions.py as PyTorch does: values, shapes, dtypes."""

import functools
from typing import Any

import numpy as np
import pytest
from torch_expressions import FAMILIES, expressions, inputs

import tessera.torch as ours
from tessera.torch._rows import Missing

theirs = pytest.importorskip("torch")

ROWS = list(dict.fromkeys(row for family in FAMILIES for row in expressions(family)))


@functools.cache
def known(module: Any) -> dict[str, Any]:
    return inputs(module)


def evaluated(module: Any, row: str) -> Any:
    return eval(row, dict(known(module)))


def kind(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def same(got: Any, expected: Any) -> None:
    """Both results are the same, tensors and what holds them."""
    if isinstance(expected, theirs.Tensor):
        assert isinstance(got, ours.Tensor), type(got)
        assert (tuple(got.shape), kind(got)) == (tuple(expected.shape), kind(expected))
        tight = {"rtol": 1e-5, "atol": 1e-6, "equal_nan": True}
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().resolve_conj().numpy(), **tight)
    elif isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        assert isinstance(got, (tuple, list))
        assert isinstance(got, tuple) or isinstance(expected, list)
        for ours_, theirs_ in zip(got, expected):
            same(ours_, theirs_)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(got, expected)
    elif isinstance(expected, float):
        assert type(got) is float
        assert got == pytest.approx(expected, rel=1e-5)
    else:
        assert type(got) is type(expected)
        assert got == expected


@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about its own old functions
@pytest.mark.parametrize("row", ROWS)
def test_a_call_gives_what_pytorch_gives(row: str) -> None:
    try:
        got = evaluated(ours, row)
    except Missing as error:
        pytest.fail(str(error))
    same(got, evaluated(theirs, row))


def test_the_table_has_several_hundred_calls() -> None:
    assert len(ROWS) > 900
