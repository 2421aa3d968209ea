# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The committed conformance vectors match the schema and the results of the library."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance import FILE, same, vectors

import tessera as ts

FOLDER = FILE.parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "capi")]

import make_vectors  # noqa: E402
import torch_calls  # noqa: E402
from generator.cases import replay  # noqa: E402
from generator.schema import load  # noqa: E402


@lru_cache(maxsize=1)
def records() -> list[Any]:
    return make_vectors.load_records()


def replays() -> list[Any]:
    """Those that every language makes."""
    return [record for record in records() if record.everywhere]


GRADIENTS = [pytest.param(r, id=r.name) for r in records() if r.gradient is not None]


def test_every_op_is_replayed_or_listed() -> None:
    schema = load(FOLDER.parents[1] / "capi" / "schema")
    lines = (FOLDER / "not_replayed.txt").read_text("utf-8").splitlines()
    listed = [line.split(": ", 1) for line in lines if not line.startswith("#")]
    assert all(len(reason) > 5 for _, reason in listed)
    assert sorted(name for name, _ in listed) == sorted(replay.unreplayed(schema))


def test_every_functional_overload_is_replayed() -> None:
    called = {r.function.name for r in replays()}
    ops = {r.op.name: r.op for r in replays()}
    missing = [f.name for op in ops.values() for f in op.functions if f.form == "functional" and f.name not in called]
    assert missing == []


def test_names_of_records_differ() -> None:
    names = [r.name for r in records()]
    assert len(set(names)) == len(names)


def test_file_has_exactly_the_tensors_of_the_replays() -> None:
    shaped = {s.key for r in records() if r.gradient is None for s in r.stored() if s.literal.data is None}
    assert set(vectors()) == {s.key for r in records() for s in r.stored()} - shaped


def test_stated_tensors_are_those_of_the_schema() -> None:
    for key, expected in make_vectors.stated(records()).items():
        found = vectors()[key]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), key
        assert found.contiguous().view_bits().tobytes() == expected.contiguous().view_bits().tobytes(), key


@pytest.mark.parametrize("one", GRADIENTS)
def test_computed_tensors_are_those_of_the_library(one: Any) -> None:
    computed = make_vectors.differentiate(one)
    make_vectors.check_differences(one, computed)
    for key, array in (computed.results | computed.grads).items():
        same(ts.asarray(array), key, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("one", GRADIENTS)
def test_computed_tensors_are_those_of_pytorch(one: Any) -> None:
    compared = make_vectors.check_torch(one, make_vectors.differentiate(one))
    assert compared == (one.op.name not in torch_calls.ABSENT)


def test_disagreement_is_an_error() -> None:
    one = next(r for r in replays() if r.name == "exp_gradient")
    computed = make_vectors.differentiate(one)
    key = next(iter(computed.grads))
    computed.grads[key] = computed.grads[key] * (1 + 1e-5)
    with pytest.raises(SystemExit, match="central differences"):
        make_vectors.check_differences(one, computed)
    with pytest.raises(SystemExit, match="PyTorch"):
        make_vectors.check_torch(one, computed)


def test_file_is_written_the_same_again(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        path = tmp_path / name
        ts.io.save_file(dict(sorted(vectors().items())), str(path))
        written.append(path.read_bytes())
    assert written[0] == written[1] == FILE.read_bytes()
    assert np.frombuffer(written[0][:8], "<u8")[0] % 8 == 0  # the data is aligned
