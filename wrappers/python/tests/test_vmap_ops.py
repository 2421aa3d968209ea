# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator of the op table inside vmap gives what a loop over the samples gives: with all tensors batched, with one of
them, with the batch along another axis, nested, in place, and its gradients for each sample."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from op_engine import Make, Row, array_of, as_tuple, prepare
from op_table import ROWS

import tessera as ts
from tessera.func import grad, vmap
from tessera.func._table import TABLE

SAMPLES = 3  # in a batch
MOST = 6  # samples of a row that are looked at
OPS = [pytest.param(row, id=row.name) for row in ROWS]
INPLACE = [pytest.param(row, id=row.name) for row in ROWS if "inplace" in row.forms and "functional" in row.forms]
GRAD = [pytest.param(row, id=row.name) for row in ROWS if row.grad and row.grad_dtype == "float64"]


class Batch:
    """One call of a row, with some values for each of its tensors: the tensors as a flat list, and a function of them."""

    def __init__(self, row: Row, dtype: str, number: int, function: Callable[..., Any]) -> None:
        calls = [prepare(row, list(row.samples(Make(dtype, seed)))[number], dtype) for seed in range(SAMPLES)]
        self.call, self.function = calls[0], function
        self.values = [leaves(call.args) + leaves(list(call.kwargs.values())) for call in calls]
        first = self.values[0]
        self.fits = len(first) > 0 and all(
            len(v) == len(first) and all(a.shape == b.shape for a, b in zip(v, first)) for v in self.values
        )

    def run(self, *tensors: Any) -> Any:
        rest = iter(tensors)
        args = [filled(a, rest) for a in self.call.args]
        kwargs = {k: filled(v, rest) for k, v in self.call.kwargs.items()}
        result = self.function(*args, **kwargs)
        return tuple(result) if isinstance(result, (tuple, list)) else result

    def expected(self, varying: list[bool]) -> list[Any] | None:
        """The results of a loop; None where the operator refuses a value or returns no tensors."""
        found = []
        for sample in range(SAMPLES):
            chosen = [self.values[sample if v else 0][i].clone() for i, v in enumerate(varying)]
            try:
                found.append([t.clone() for t in as_tuple(self.run(*chosen))])
            except (ts.TesseraError, AttributeError):
                return None
        return found

    def inputs(self, varying: list[bool], axis: int = 0) -> tuple[list[Any], list[Any]]:
        """The batched tensors and in_dims."""
        tensors, dims = [], []
        for i, v in enumerate(varying):
            if v:
                at = axis if axis == 0 else self.values[0][i].ndim
                tensors.append(ts.stack([value[i] for value in self.values], at))
                dims.append(at)
            else:
                tensors.append(self.values[0][i])
                dims.append(None)
        return tensors, dims


def leaves(items: list[Any]) -> list[Any]:
    found = []
    for item in items:
        if isinstance(item, ts.Tensor):
            found.append(item)
        elif isinstance(item, (list, tuple)):
            found += leaves(list(item))
    return found


def filled(item: Any, rest: Any) -> Any:
    if isinstance(item, ts.Tensor):
        return next(rest)
    if isinstance(item, (list, tuple)) and leaves(list(item)):
        return [filled(i, rest) for i in item]
    return item


def dtype_of(row: Row) -> str:
    return "float64" if "float64" in row.dtypes else row.dtypes[0]


def batches(row: Row, function: Callable[..., Any]) -> list[Batch]:
    dtype = dtype_of(row)
    count = len(list(row.samples(Make(dtype))))
    step = max(1, count // MOST)
    made = [Batch(row, dtype, number, function) for number in range(0, count, step)]
    return [b for b in made if b.fits]


def assert_close(row: Row, got: Any, wanted: list[Any], where: str) -> None:
    got = as_tuple(got)
    assert len(got) == len(wanted[0]), f"{row.name} {where}"
    for place, batch in enumerate(got):
        assert batch.shape == (len(wanted), *wanted[0][place].shape), f"{row.name} {where}: {batch.shape}"
        for sample, want in enumerate(wanted):
            assert batch.dtype is want[place].dtype, f"{row.name} {where}: {batch.dtype}"
            if row.compare:
                a, b = array_of(batch[sample]), array_of(want[place])
                np.testing.assert_allclose(a, b, 1e-5, 1e-6, err_msg=f"{row.name} {where}, sample {sample}, result {place}")


def same_shapes(wanted: list[Any]) -> bool:
    return all([t.shape for t in w] == [t.shape for t in wanted[0]] for w in wanted)


# Rows that change a tensor: it must be one of the batch. The gradients of leaves are nothing that vmap has.
CHANGES = ("setitem", "sgd_step", "adam_step", "adamw_step")
REFUSED = {"one_hot": "needs num_classes", "clip_grad_norm_": "func.grad", "clip_grad_value_": "func.grad"}


def choices(row: Row, count: int) -> list[list[bool]]:
    """All tensors batched, and each of them alone."""
    changes = row.name.endswith("_") or row.name in CHANGES
    alone = [[i == j for j in range(count)] for i in range(min(count, 4))] if count > 1 and not changes else []
    return [[True] * count, *alone]


def check(row: Row, function: Callable[..., Any]) -> None:
    for number, batch in enumerate(batches(row, function)):
        for varying in choices(row, len(batch.values[0])):
            wanted = batch.expected(varying)
            if wanted is None:
                continue
            for axis in (0, -1):
                tensors, dims = batch.inputs(varying, axis)
                where = f"batch {number}, varying {varying}, along {axis}"
                run = vmap(batch.run, in_dims=tuple(dims), randomness="different")
                if not same_shapes(wanted) or row.name in REFUSED and (row.name != "one_hot" or len(batch.call.args) == 1):
                    with pytest.raises(ts.TesseraError, match=REFUSED.get(row.name, "depends on the data")):
                        run(*tensors)
                    continue
                assert_close(row, run(*tensors), wanted, where)


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize("row", OPS)
def test_vmap_gives_what_a_loop_gives(row: Row) -> None:
    check(row, row.function)


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize("row", INPLACE)
def test_vmap_of_the_form_in_place_gives_what_a_loop_gives(row: Row) -> None:
    method = row.inplace or (lambda x, *args, **kwargs: getattr(x, f"{row.name}_")(*args, **kwargs))

    def changed(x: Any, *args: Any, **kwargs: Any) -> Any:
        return method(x.clone(), *args, **kwargs)

    for number, batch in enumerate(batches(row, changed)):
        varying = [True] * len(batch.values[0])
        wanted = batch.expected(varying)
        if wanted is not None and same_shapes(wanted):
            tensors, dims = batch.inputs(varying)
            got = vmap(batch.run, in_dims=tuple(dims), randomness="different")(*tensors)
            assert_close(row, got, wanted, f"in place, batch {number}")


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize("row", OPS)
def test_vmap_in_vmap_gives_what_loops_give(row: Row) -> None:
    for number, batch in enumerate(batches(row, row.function)[:3] if row.name not in REFUSED else []):
        count = len(batch.values[0])
        # The first tensor varies with both loops, the others with the inner or the outer one by turns.
        outer = [True, *(i % 2 == 1 for i in range(1, count))]
        inner = [True, *(i % 2 == 0 for i in range(1, count))]
        wanted = []
        for a, b in itertools.product(range(SAMPLES), range(2)):
            chosen = [batch.values[(a * o + b * i) % SAMPLES][k] for k, (o, i) in enumerate(zip(outer, inner))]
            try:
                wanted.append([t.clone() for t in as_tuple(batch.run(*chosen))])
            except (ts.TesseraError, AttributeError):
                break
        if len(wanted) < 2 * SAMPLES or not same_shapes(wanted):
            continue
        tensors = []
        for k, (o, i) in enumerate(zip(outer, inner)):
            rows = [[batch.values[(a * o + b * i) % SAMPLES][k] for b in range(2 if i else 1)] for a in range(SAMPLES if o else 1)]
            made = ts.stack([ts.stack(r) for r in rows])
            made = made if i else made[:, 0]
            tensors.append(made if o else made[0])
        run = vmap(
            vmap(batch.run, in_dims=tuple(0 if i else None for i in inner), randomness="different"),
            in_dims=tuple(0 if o else None for o in outer),
            randomness="different",
        )
        got = tuple(t.reshape((2 * SAMPLES, *t.shape[2:])) for t in as_tuple(run(*tensors)))
        assert_close(row, got, wanted, f"nested, batch {number}")


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize("row", GRAD)
def test_gradients_inside_vmap_are_those_of_each_sample(row: Row) -> None:
    chosen = row if row.grad_samples is None else Row(**{**row.__dict__, "samples": row.grad_samples})
    for batch in batches(chosen, row.function)[:2]:
        floating = [i for i, t in enumerate(batch.values[0]) if t.dtype is ts.float64]
        if row.grad_args is not None or not floating or batch.values[0][floating[0]].numel() == 0:
            continue

        def total(*tensors: Any, batch: Batch = batch) -> Any:
            found = [t for t in as_tuple(batch.run(*tensors)) if t.dtype is ts.float64]
            return sum(((t * t).sum() for t in found), ts.zeros((), dtype=ts.float64))

        by = grad(total, argnums=tuple(floating))
        try:
            wanted = [list(by(*value)) for value in batch.values]
        except (ts.TesseraError, AttributeError):
            continue
        if row.name == "masked_select":  # as many elements as a sample's mask says
            continue
        tensors, dims = batch.inputs([True] * len(batch.values[0]))
        got = vmap(by, in_dims=tuple(dims), randomness="different")(*tensors)
        for place, g in enumerate(got):
            for sample, want in enumerate(wanted):
                a, b = array_of(g[sample]), array_of(want[place])
                np.testing.assert_allclose(a, b, 1e-5, 1e-6, err_msg=f"{row.name}, gradient {place}")


def test_most_operators_have_a_rule() -> None:
    """Only names of the table count; an operator that falls back to the loop says so."""
    counts = Counter(entry[0] for entry in TABLE.values())
    assert sum(counts.values()) == len(TABLE)
    assert counts["loop"] / len(TABLE) < 0.2, counts


def test_the_loop_says_so_once() -> None:
    from tessera.func import _dispatch

    _dispatch._warned.discard("renorm")
    x = ts.randn((2, 3, 4))
    with pytest.warns(UserWarning, match=r"renorm\(\) has no batching rule"):
        vmap(lambda a: ts.renorm(a, 2, 0, 1.0))(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(lambda a: ts.renorm(a, 2, 0, 1.0))(x)
