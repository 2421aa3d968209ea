# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the op table; op_engine.py describes its rows."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from op_engine import (
    Call,
    Make,
    Row,
    Sample,
    array_of,
    as_tuple,
    assert_same,
    find,
    prepare,
    reference_of,
    schema_forms,
)
from op_table import BY_NAME, ROWS

import tessera as ts
from tessera._results import RESULTS, TopkResult
from tessera.autograd import gradcheck, gradgradcheck

NAMES = (Path(__file__).resolve().parents[3] / "tests" / "capi" / "ops_first.txt").read_text().split()
VALUES = [pytest.param(row, dtype, id=f"{row.name}-{dtype}") for row in ROWS for dtype in row.dtypes]
OUT = [pytest.param(row, id=row.name) for row in ROWS if "out" in row.forms]
INPLACE = [pytest.param(row, id=row.name) for row in ROWS if "inplace" in row.forms and "functional" in row.forms]
GRAD = [pytest.param(row, id=row.name) for row in ROWS if row.grad]
CONSTANT = [pytest.param(row, id=row.name) for row in ROWS if not row.grad]
ERRORS = [
    pytest.param(kind, call, id=f"{row.name}-{i}") for row in ROWS for i, (kind, call) in enumerate(row.errors)
]


def run(row: Row, call: Call, **more: Any) -> Any:
    return row.function(*call.args, **call.kwargs, **more)


def samples_of(row: Row, dtype: str) -> list[Sample]:
    return list(row.samples(Make(dtype)))


@pytest.mark.parametrize("row, dtype", VALUES)
def test_value_matches_the_reference_in_every_layout(row: Row, dtype: str) -> None:
    for number, given in enumerate(samples_of(row, dtype)):
        for layout in row.layouts:
            call = prepare(row, given, dtype, layout)
            result = run(row, call)
            where = f"{dtype}, sample {number}, {layout}"
            assert_same(row, dtype, result, reference_of(row, call), where)
            first = as_tuple(result)[0] if as_tuple(result) else None
            if isinstance(first, ts.Tensor):
                assert first.dtype.name == row.result_dtype(dtype), f"{row.name} {where}: {first.dtype}"


def destination(like: ts.Tensor, kind: str) -> ts.Tensor:
    """An out= tensor: of the right shape, to be resized, or with gaps."""
    if kind == "right":
        return ts.empty(like.shape, dtype=like.dtype)
    if kind == "resized":
        return ts.empty((0,), dtype=like.dtype)
    room = np.zeros([2 * n for n in like.shape], like.dtype.numpy)
    return ts.from_numpy(room[tuple(slice(None, None, 2) for _ in like.shape)] if like.ndim else room)


@pytest.mark.parametrize("row", OUT)
def test_out_form_writes_the_same_values(row: Row) -> None:
    dtype = "float64" if "float64" in row.dtypes else row.dtypes[0]
    for given in samples_of(row, dtype):
        call = prepare(row, given, dtype)
        plain = run(row, call)
        for kind in ("right", "resized", "gaps"):
            outs = tuple(destination(t, kind) for t in as_tuple(plain))
            back = run(row, call, out=outs if len(outs) > 1 else outs[0])
            assert back is outs[0] or tuple(back) == outs
            if row.compare:
                for one, other in zip(outs, as_tuple(plain)):
                    assert one.shape == other.shape
                    np.testing.assert_array_equal(array_of(one), array_of(other), f"{row.name} {kind}")


def tensor_places(call: Call) -> list[tuple[Any, Any]]:
    """(container, key) of every tensor of a call, those in lists too."""
    found: list[tuple[Any, Any]] = []
    for container in (call.args, call.kwargs):
        for key in range(len(container)) if isinstance(container, list) else container:
            item = container[key]
            if isinstance(item, ts.Tensor):
                found.append((container, key))
            elif isinstance(item, list):
                found += [(item, k) for k, one in enumerate(item) if isinstance(one, ts.Tensor)]
    return found


def holds(dst: ts.Tensor, result: ts.Tensor) -> bool:
    ranks = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
    return ranks[result.dtype.numpy.kind] <= ranks[dst.dtype.numpy.kind]


ALIASES: dict[str, Any] = {
    "the input": lambda t: t,
    "an alias": lambda t: t.detach(),
    "an alias of another shape": lambda t: t.detach().reshape((1, *t.shape, 1)),
}


@pytest.mark.parametrize("kind", ALIASES)
@pytest.mark.parametrize("row", OUT)
def test_out_form_may_write_where_it_reads(row: Row, kind: str) -> None:
    dtype = "float64" if "float64" in row.dtypes else row.dtypes[0]
    for number, given in enumerate(samples_of(row, dtype)):
        pristine = prepare(row, given, dtype)
        ts.manual_seed(1)
        results = as_tuple(run(row, pristine))
        before = [array_of(c[k]) for c, k in tensor_places(pristine)]
        for place in range(len(before)):
            for slot in range(len(results)):
                call = prepare(row, given, dtype)
                places = tensor_places(call)
                container, key = places[place]
                dst = ALIASES[kind](container[key])
                if not holds(dst, results[slot]):
                    continue
                moved = dst.shape != results[slot].shape
                outs = [ts.empty((0,), dtype=t.dtype) for t in results]
                outs[slot] = dst
                ts.manual_seed(1)
                run(row, call, out=tuple(outs) if len(outs) > 1 else dst)
                where = f"{row.name}, sample {number}, result {slot} into {kind} {place}"
                for out, wanted in zip(outs, results):
                    assert out.shape == wanted.shape, where
                    np.testing.assert_array_equal(array_of(out), array_of(wanted), where)
                for other, (c, k) in enumerate(places):
                    if c[k] is not dst and (other != place or moved):
                        np.testing.assert_array_equal(array_of(c[k]), before[other], f"{where}: input {other}")


@pytest.mark.parametrize("row", INPLACE)
def test_inplace_form_changes_its_input(row: Row) -> None:
    done = 0
    for dtype in row.dtypes:
        for given in samples_of(row, dtype):
            call = prepare(row, given, dtype)
            plain = run(row, call)
            first = call.args[0]
            if plain.shape != first.shape or plain.dtype is not first.dtype:
                continue
            version, before = first._version, array_of(first).copy()
            method = row.inplace or getattr(type(first), f"{row.name}_", None) or find(f"{row.name}_")
            back = method(first, *call.args[1:], **call.kwargs)
            assert back is first
            assert first._version > version or np.array_equal(before, array_of(first))
            if row.compare:
                np.testing.assert_array_equal(array_of(first), array_of(plain), f"{row.name} {dtype}")
            done += 1
    assert done > 0, f"{row.name}: no sample fits the in-place form"


def refused_saves(row: Row) -> int:
    """The number of refused in-place calls with one inference tensor as operand. They must have changed nothing."""
    refused = 0
    for given in row.samples(Make(row.grad_dtype, 1)):
        for place in range(1, len(given.args)):
            call = prepare(row, given, row.grad_dtype)
            first = call.args[0].requires_grad_().clone()
            for index, arg in enumerate(call.args[1:], 1):
                if index == place and isinstance(arg, ts.Tensor):
                    with ts.inference_mode():
                        call.args[index] = arg.clone()
                elif isinstance(arg, ts.Tensor) and arg.dtype is first.dtype:
                    arg.requires_grad_()
            version, before = first._version, array_of(first).copy()
            method = row.inplace or getattr(type(first), f"{row.name}_", None) or find(f"{row.name}_")
            try:
                method(first, *call.args[1:], **call.kwargs)
            except ts.AutogradError as error:
                assert "inference mode" in str(error)
                refused += 1
                np.testing.assert_array_equal(array_of(first), before, row.name)
                assert first._version == version, row.name
            except ts.TesseraError:
                pass  # a sample that does not fit the in-place form
    return refused


def test_inplace_form_that_cannot_save_its_operands_writes_nothing() -> None:
    rows = [p.values[0] for p in INPLACE if p.values[0].grad]
    assert {row.name for row in rows if refused_saves(row)} == {
        "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "atan2", "baddbmm", "copysign", "divide",
        "divide_rounded", "float_power", "fmax", "fmin", "index_add", "index_copy", "index_fill",
        "index_reduce", "ldexp", "lerp", "logaddexp", "logaddexp2", "masked_fill", "maximum", "minimum",
        "multiply", "pow", "put", "scatter", "scatter_add", "scatter_reduce", "scatter_reduce_complex",
        "scatter_reducing", "xlog1py", "xlogy",
    }


def gradient_calls(row: Row) -> list[tuple[Any, tuple[Any, ...]]]:
    """(function of the differentiable tensors, those tensors) for each small sample."""
    found, dtype = [], getattr(ts, row.grad_dtype)
    for given in (row.grad_samples or row.samples)(Make(row.grad_dtype, 1)):
        for layout in ("contiguous", "transposed"):
            call = prepare(row, given, row.grad_dtype, layout)
            leaves, places = [], []
            for place, arg in enumerate(call.args):
                wanted = row.grad_args is None or place in row.grad_args
                items = arg if isinstance(arg, list) else [arg]
                for index, item in enumerate(items):
                    if wanted and isinstance(item, ts.Tensor) and item.dtype is dtype:
                        leaves.append(item.requires_grad_())
                        places.append((place, index if isinstance(arg, list) else None))
            for key, arg in call.kwargs.items():
                if isinstance(arg, ts.Tensor) and arg.dtype is dtype and row.grad_args is None:
                    leaves.append(arg.requires_grad_())
                    places.append((key, None))
            size = sum(leaf.size for leaf in leaves)
            if leaves and 0 < size <= 70:
                found.append((_closure(row, call, places), tuple(leaves)))
    return found


def _closure(row: Row, call: Call, places: list[Any]) -> Any:
    def function(*tensors: ts.Tensor) -> Any:
        args = [list(a) if isinstance(a, list) else a for a in call.args]
        kwargs = dict(call.kwargs)
        for (place, index), tensor in zip(places, tensors):
            if isinstance(place, str):
                kwargs[place] = tensor
            elif index is None:
                args[place] = tensor
            else:
                args[place][index] = tensor
        return row.function(*args, **kwargs)

    return function


@pytest.mark.parametrize("row", GRAD)
def test_first_derivative_matches_finite_differences(row: Row) -> None:
    calls = gradient_calls(row)
    assert calls, f"{row.name}: no sample is small enough for gradcheck"
    for function, leaves in calls:
        gradcheck(function, leaves)


@pytest.mark.parametrize("row", [p for p in GRAD if p.values[0].gradgrad])
def test_a12_e25_second_derivative_matches_finite_differences(row: Row) -> None:
    for function, leaves in gradient_calls(row):
        if sum(leaf.size for leaf in leaves) <= 24:
            gradgradcheck(function, leaves)


@pytest.mark.parametrize("row", CONSTANT)
def test_op_without_derivative_says_why_and_records_nothing(row: Row) -> None:
    assert row.why_no_grad, f"{row.name}: grad=False needs why_no_grad"
    dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
    for given in samples_of(row, dtype):
        call = prepare(row, given, dtype)
        for arg in call.args:
            if isinstance(arg, ts.Tensor) and arg.dtype.is_floating_point and row.call is None:
                arg.requires_grad_()
        for result in as_tuple(run(row, call)):
            if isinstance(result, ts.Tensor):
                assert not result.requires_grad


@pytest.mark.parametrize("kind, call", ERRORS)
def test_misuse_raises(kind: type[BaseException], call: Any) -> None:
    with pytest.raises(kind):
        call()


@pytest.mark.parametrize("name", NAMES)
def test_every_first_op_has_a_row(name: str) -> None:
    row = BY_NAME[name]
    assert len(row.dtypes) > 0
    forms = schema_forms().get(row.schema or name.rstrip("_"))
    assert forms or row.call is not None, f"{name} is neither in the schema nor given a call"
    assert row.grad or row.why_no_grad


def test_no_op_stands_twice() -> None:
    assert len(BY_NAME) == len(ROWS)


def test_where_takes_the_memory_order_of_its_first_operand_of_full_shape() -> None:
    rows, columns = ts.zeros((2, 3)), ts.zeros((3, 2)).T
    assert ts.where(columns > 0, rows, rows)._strides == (1, 2)
    assert ts.where(rows > 0, columns, columns)._strides == (3, 1)
    assert ts.where(ts.zeros(3) > 0, columns, rows)._strides == (1, 2)


def test_several_results_come_as_a_named_tuple() -> None:
    x = ts.tensor([3.0, 1.0, 2.0])
    found = ts.topk(x, 2)
    assert isinstance(found, TopkResult) and isinstance(found, tuple) and found._fields == ("values", "indices")
    values, indices = found
    assert values is found.values is found[0] and values.tolist() == [3, 2]
    assert indices is found.indices and indices.tolist() == [0, 2]
    assert repr(found) == "TopkResult(values=tensor([3., 2.]), indices=tensor([0, 2]))"
    assert x.sort_with_indices()._fields == ("values", "indices")
    assert ts.nn.functional.max_pool2d_with_positions(ts.ones((1, 1, 2, 2)), 2).positions.tolist() == [[[[0]]]]


def test_named_results_survive_pickle_out_and_the_collector() -> None:
    x = ts.tensor([3.0, 1.0, 2.0])
    found = ts.topk(x, 2)
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is TopkResult and again.values.tolist() == [3, 2] and again.indices.dtype is ts.int64
    out = (ts.empty(2), ts.empty(2, dtype=ts.int64))
    given = ts.topk(x, 2, out=out)
    assert type(given) is TopkResult and given.values is out[0] and given.indices is out[1]
    assert out[0].tolist() == [3, 2] and out[1].tolist() == [0, 2]
    assert gc.is_tracked(found)
    before = ts.memory.live_handles()
    for _ in range(100):
        with pytest.raises(ValueError):
            ts.topk(x, 4)
        with pytest.raises(ValueError):
            ts.topk(x, 2, out=(ts.empty(2),))
        ts.topk(x, 1)
    assert ts.memory.live_handles() == before


def test_every_op_with_several_results_has_its_named_tuple() -> None:
    assert {"sort_with_indices", "topk", "max_pool2d_with_positions", "unique_all", "cummax", "qr", "svd"} <= set(RESULTS)
    for kind in RESULTS.values():
        assert issubclass(kind, tuple) and len(kind._fields) > 1
