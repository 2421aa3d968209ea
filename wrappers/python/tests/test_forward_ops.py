# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""[A18] Forward mode of every differentiable op of the table: against central differences, and against the backward by
the transpose identity <u, J v> = <Jᵀ u, v>, over layouts, empty and 0-dimensional inputs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from op_engine import Call, Make, Row, Sample, array_of, as_tuple, prepare
from op_table import ROWS

import tessera as ts
from tessera import tracing
from tessera.autograd import forward_ad, grad

GRAD = [pytest.param(row, id=row.name) for row in ROWS if row.grad]
STEP = 1e-6


class Case:
    """One call of an op as a function of its differentiable arguments, with directions for them."""

    def __init__(self, row: Row, given: Sample, layout: str) -> None:
        self.row, self.layout = row, layout
        dtype = getattr(ts, row.grad_dtype)
        self.call: Call = prepare(row, given, row.grad_dtype, layout)
        self.places: list[Any] = []
        self.inputs: list[ts.Tensor] = []
        for place, arg in enumerate(self.call.args):
            wanted = row.grad_args is None or place in row.grad_args
            for index, item in enumerate(arg if isinstance(arg, list) else [arg]):
                if wanted and isinstance(item, ts.Tensor) and item.dtype is dtype:
                    self.inputs.append(item)
                    self.places.append((place, index if isinstance(arg, list) else None))
        for key, arg in self.call.kwargs.items():
            if isinstance(arg, ts.Tensor) and arg.dtype is dtype and row.grad_args is None:
                self.inputs.append(arg)
                self.places.append((key, None))
        make = Make(row.grad_dtype, 7)
        self.directions = [ts.asarray(np.asarray(make(*x.shape))).astype(dtype) for x in self.inputs]

    @property
    def size(self) -> int:
        return int(sum(x.size for x in self.inputs))

    def run(self, inputs: list[ts.Tensor]) -> list[ts.Tensor]:
        args = [list(a) if isinstance(a, list) else a for a in self.call.args]
        kwargs = dict(self.call.kwargs)
        for (place, index), tensor in zip(self.places, inputs):
            if isinstance(place, str):
                kwargs[place] = tensor
            elif index is None:
                args[place] = tensor
            else:
                args[place][index] = tensor
        found = as_tuple(self.row.function(*args, **kwargs))
        return [y for y in found if isinstance(y, ts.Tensor) and (y.dtype.is_floating_point or y.dtype.is_complex)]

    def pushed(self, grad_mode: bool) -> tuple[list[ts.Tensor], list[Any]]:
        """The values and, as arrays, the tangents. Nothing requires grad, so there is no graph also in grad mode."""
        with forward_ad.dual_level(), ts.set_grad_enabled(grad_mode):
            duals = [forward_ad.make_dual(x.detach(), v) for x, v in zip(self.inputs, self.directions)]
            parts = [forward_ad.unpack_dual(y) for y in self.run(duals)]
            tangents = [np.zeros_like(array_of(p)) if t is None else array_of(t).copy() for p, t in parts]
        assert not any(p.requires_grad for p, _ in parts)
        return [p for p, _ in parts], tangents

    def moved(self, step: float) -> list[Any]:
        # Dense copies: a clone of a tensor that repeats an element would write it only once.
        with ts.no_grad():
            inputs = [x.detach() + v * step for x, v in zip(self.inputs, self.directions)]
            return [array_of(y).copy() for y in self.run(inputs)]

    def name(self) -> str:
        return f"{self.row.name} {self.layout} {[tuple(x.shape) for x in self.inputs]}"


def cases(row: Row, layouts: tuple[str, ...], limit: int) -> list[Case]:
    found = []
    for given in (row.grad_samples or row.samples)(Make(row.grad_dtype, 1)):
        for layout in layouts:
            case = Case(row, given, layout)
            if case.inputs and case.size <= limit:
                found.append(case)
    return found


@pytest.mark.parametrize("row", GRAD)
def test_forward_derivative_matches_finite_differences(row: Row) -> None:
    layouts = tuple(x for x in ("contiguous", "transposed", "sliced") if x in row.layouts)
    found = cases(row, layouts, 200)
    assert found, f"{row.name}: no sample is small enough"
    for case in found:
        values, tangents = case.pushed(grad_mode=False)
        above, below = case.moved(STEP), case.moved(-STEP)
        assert len(values) == len(above)
        for value, tangent, high, low in zip(values, tangents, above, below):
            assert tangent.shape == high.shape == tuple(value.shape)
            wanted = (high - low) / (2 * STEP)
            np.testing.assert_allclose(tangent, wanted, 1e-4, 2e-5, err_msg=case.name())


def inner(a: Any, b: Any) -> float:
    return float(np.sum((np.conj(a) * b).real))


@pytest.mark.parametrize("row", GRAD)
def test_forward_derivative_is_the_transpose_of_the_backward(row: Row) -> None:
    layouts = tuple(x for x in ("contiguous", "transposed", "sliced", "expanded") if x in row.layouts)
    for case in cases(row, layouts, 2000):
        leaves = [x.detach().requires_grad_() for x in case.inputs]
        try:
            _, tangents = case.pushed(grad_mode=True)
            outputs = case.run(leaves)
        except (ts.LinAlgError, ts.ShapeError):
            assert case.layout == "expanded"  # a singular matrix, or no view of pairs
            continue
        make = Make(row.grad_dtype, 11)
        used = [k for k, y in enumerate(outputs) if y.requires_grad]
        weights = [
            ts.asarray(np.asarray(make(*y.shape) if y.dtype.is_complex else make(*y.shape).real)).astype(y.dtype)
            for y in outputs
        ]
        left = sum(inner(array_of(weights[k]), tangents[k]) for k in range(len(outputs)))
        right = 0.0
        if used:
            pulled = grad([outputs[k] for k in used], leaves, [weights[k] for k in used], allow_unused=True)
            right = sum(inner(array_of(g), array_of(v)) for g, v in zip(pulled, case.directions) if g is not None)
        scale = sum(float(np.sum(np.abs(array_of(weights[k]) * tangents[k]))) for k in range(len(outputs)))
        np.testing.assert_allclose(left, right, 1e-8, 1e-9 * (1 + scale), err_msg=case.name())


# The derivatives that take no batches: these nodes run once for each sample. docs/adr/0034 says why.
LOOPS = {"RecurrenceBackward"}


def traced_grad(*args: Any, **options: Any) -> tuple[Any, Counter[str]]:
    """Gradients, and how often each node ran, without those of backwards inside nodes."""
    with tracing.record(kinds=("call", "node"), capacity=5_000) as records:
        found = grad(*args, **options)
    spans = {r.correlation: r for r in records}

    def is_inside(record: Any) -> bool:
        outer = spans.get(record.parent)
        return outer is not None and (outer.kind == "node" or is_inside(outer))

    return found, Counter(r.name for r in records if r.kind == "node" and not is_inside(r))


@pytest.mark.parametrize("row", GRAD)
def test_batched_backward_is_a_backward_for_each_row(row: Row) -> None:
    """[A18] Also recorded: then the derivative takes another path in many ops. Each node runs once, but those of LOOPS."""
    samples = 3
    for case in cases(row, ("contiguous",), 500):
        leaves = [x.detach().requires_grad_() for x in case.inputs]
        outputs = [y for y in case.run(leaves) if y.requires_grad]
        if not outputs:
            continue
        make = Make(row.grad_dtype, 13)
        rows = [
            ts.asarray(np.asarray(w if y.dtype.is_complex else w.real)).astype(y.dtype)
            for y, w in ((y, make(samples, *y.shape)) for y in outputs)
        ]
        for recorded in (False, True):
            options: dict[str, Any] = {"retain_graph": True, "allow_unused": True, "create_graph": recorded}
            batched, together = traced_grad(outputs, leaves, rows, is_grads_batched=True, **options)
            for place in range(samples):
                alone, once = traced_grad(outputs, leaves, [w[place] for w in rows], **options)
                assert {name for name in once if together[name] > once[name]} == once.keys() & LOOPS, case.name()
                for one, whole in zip(alone, batched):
                    if one is None or whole is None:
                        assert one is None and whole is None, case.name()
                        continue
                    wanted = array_of(one)
                    assert tuple(whole.shape) == (samples, *one.shape), case.name()
                    scale = 1 + np.abs(wanted).max(initial=0)
                    np.testing.assert_allclose(array_of(whole)[place], wanted, 1e-9, 1e-10 * scale, err_msg=case.name())
