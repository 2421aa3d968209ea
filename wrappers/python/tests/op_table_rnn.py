# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of recurrent networks, their cells and the losses of sequences; the reference is PyTorch in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from op_engine import ALL_FLOATS, Fixed, Make, Row, Sample, find, sample

import tessera as ts

# Sums of products of several steps; 16-bit floats are computed in float32 and rounded once.
SEVERAL_STEPS = {"float32": (1e-4, 1e-5), "float16": (2e-3, 2e-3), "bfloat16": (1.6e-2, 1.6e-2), "float64": (1e-9, 1e-9)}
LAYOUTS = ("contiguous", "transposed", "sliced")
BLOCKS = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def by_torch(name: str) -> Callable[..., Any]:
    """A function of torch itself; one sequence becomes a batch of one, which torch's functions need."""

    def reference(
        x: Any, hx: Any, params: Any, has_biases: bool = True, num_layers: int = 1, dropout: float = 0.0,
        train: bool = False, bidirectional: bool = False, batch_first: bool = False, batch_sizes: Any = None,
    ) -> Any:
        torch = pytest.importorskip("torch")
        tensor = lambda a: torch.from_numpy(np.array(a))  # noqa: E731
        data, weights = tensor(x), [tensor(p) for p in params]
        single = batch_sizes is None and data.ndim == 2
        wide = lambda t: t.unsqueeze(1) if single else t  # noqa: E731
        batch = int(batch_sizes[0]) if batch_sizes else 1 if single else data.shape[0 if batch_first else 1]
        if name == "lstm" and not hx:
            each, rows = 4 if has_biases else 2, num_layers * (2 if bidirectional else 1)
            hidden = weights[0].shape[0] // 4
            outputs = weights[each].shape[0] if len(weights) == rows * (each + 1) else hidden
            states: Any = [torch.zeros(rows, batch, n, dtype=data.dtype) for n in (outputs, hidden)]
        else:
            states = [wide(tensor(h)) for h in hx] if name == "lstm" else wide(tensor(hx))
        options = (has_biases, num_layers, 0.0, False, bidirectional)
        if batch_sizes is not None:
            out = getattr(torch, name)(data, torch.tensor(batch_sizes), states, weights, *options)
        else:
            out = getattr(torch, name)(wide(data), states, weights, *options, False if single else batch_first)
        return tuple(t.squeeze(1).numpy() if single else t.numpy() for t in out)

    return reference


def parameters(
    make: Make, blocks: int, features: int, hidden: int, layers: int = 1, directions: int = 1, biases: bool = True,
    projection: int = 0,
) -> list[Any]:
    found: list[Any] = []
    outputs = projection or hidden
    for layer in range(layers):
        width = features if layer == 0 else directions * outputs
        for _ in range(directions):
            found += [make(blocks * hidden, width, low=-0.8, high=0.8), make(blocks * hidden, outputs, low=-0.8, high=0.8)]
            found += [make(blocks * hidden), make(blocks * hidden)] if biases else []
            found += [make(projection, hidden)] if projection else []
    return found


def networks(name: str) -> Callable[[Make], list[Sample]]:
    blocks, pair = BLOCKS[name], name == "lstm"

    def states(make: Make, *shape: int) -> Any:
        return [make(*shape), make(*shape)] if pair else make(*shape)

    def samples(make: Make) -> list[Sample]:
        own = lambda *sizes, **options: parameters(make, blocks, *sizes, **options)  # noqa: E731
        found = [
            sample(make(3, 2, 2), states(make, 1, 2, 3), own(2, 3)),
            sample(make(2, 3), states(make, 1, 2), own(3, 2, biases=False), False),
            sample(make(2, 3, 2), states(make, 4, 2, 2), own(2, 2, layers=2, directions=2), True, 2, 0.5, False, True, True),
            sample(make(6, 2), states(make, 2, 3, 2), own(2, 2, directions=2), True, 1, 0.0, False, True, batch_sizes=[3, 2, 1]),
            sample(make(5, 2), states(make, 1, 2, 1), own(2, 1), batch_sizes=[2, 2, 1]),
            sample(make(2, 0, 2), states(make, 1, 0, 3), own(2, 3)),
            sample(make(4, 3, 5), states(make, 1, 3, 17), own(5, 17)),
            sample(make(26, 5, 3), states(make, 1, 5, 9), own(3, 9)),  # enough rows to pack the weights
        ]
        if pair:
            found += [
                sample(make(3, 2, 2), [], own(2, 3, directions=2, projection=2), bidirectional=True),
                sample(make(5, 2), [], own(2, 3, projection=1), batch_sizes=[2, 2, 1]),
            ]
        return found

    return samples


def small_networks(name: str) -> Callable[[Make], list[Sample]]:
    """Few enough numbers for finite differences of second order."""
    blocks, pair = BLOCKS[name], name == "lstm"

    def samples(make: Make) -> list[Sample]:
        own = lambda *sizes, **options: parameters(make, blocks, *sizes, **options)  # noqa: E731
        states = lambda *shape: [make(*shape), make(*shape)] if pair else make(*shape)  # noqa: E731
        found = [
            sample(make(3, 1, 1), states(1, 1, 1), own(1, 1)),
            sample(make(5, 1), states(1, 2, 1), own(1, 1, biases=False), False, batch_sizes=[2, 2, 1]),
            sample(make(3, 1), states(2, 2, 1), own(1, 1, directions=2, biases=False), False, 1, 0.0, False, True, batch_sizes=[2, 1]),
            sample(make(2, 1, 2), states(1, 1, 2), own(2, 2)),
        ]
        if pair:
            hx = [make(1, 1, 1), make(1, 1, 2)]
            found.append(sample(make(2, 1, 1), hx, own(1, 2, biases=False, projection=1), False))
        return found

    return samples


def cell_reference(name: str) -> Callable[..., Any]:
    def reference(x: Any, hx: Any, *weights: Any) -> Any:
        torch = pytest.importorskip("torch")
        tensor = lambda a: torch.from_numpy(np.array(a))  # noqa: E731
        wide = lambda t: t if np.ndim(x) == 2 else t.unsqueeze(0)  # noqa: E731
        states = [wide(tensor(h)) for h in hx] if name == "lstm_cell" else wide(tensor(hx))
        out = getattr(torch, name)(wide(tensor(x)), states, *map(tensor, weights))
        narrow = lambda t: (t if np.ndim(x) == 2 else t.squeeze(0)).numpy()  # noqa: E731
        return tuple(map(narrow, out)) if isinstance(out, tuple) else narrow(out)

    return reference


def cells(name: str, hidden: int = 3) -> Callable[[Make], list[Sample]]:
    blocks, pair = BLOCKS[name.removesuffix("_cell")], name == "lstm_cell"

    def samples(make: Make) -> list[Sample]:
        def one(*batch: int, biases: bool = True) -> Sample:
            hx = [make(*batch, hidden), make(*batch, hidden)] if pair else make(*batch, hidden)
            return sample(make(*batch, 2), hx, *parameters(make, blocks, 2, hidden, biases=biases))

        return [one(4), one(), one(2, biases=False), one(0)]

    return samples


def weights(name: str, hidden: int = 1, features: int = 1) -> list[Any]:
    rows = BLOCKS[name] * hidden
    return [ts.ones((rows, features)), ts.ones((rows, hidden))]


def refused(name: str) -> list[Any]:
    def call(*args: Any, **options: Any) -> Callable[[], Any]:
        return lambda: find(name)(*args, **options)

    x = ts.ones((2, 1, 1))
    hx: Any = [] if name == "lstm" else ts.ones((1, 1, 1))
    own = weights(name)
    return [
        (ValueError, call(x, hx, own, True)),
        (ValueError, call(x, hx, [], False)),
        (ValueError, call(x, hx, own, False, 0)),
        (ValueError, call(x, hx, own, False, 1 << 62)),
        (ValueError, call(x, hx, own, False, 1, 1.5)),
        (ValueError, call(ts.ones((0, 1, 1)), hx, own, False)),
        (ValueError, call(ts.ones((1,)), hx, own, False)),
        (ValueError, call(ts.ones((2, 1)), hx, own, False, batch_sizes=[1])),
        (ValueError, call(ts.ones((2, 1)), hx, own, False, batch_sizes=[])),
        (ValueError, call(x, hx, [own[0], ts.ones((BLOCKS[name], 2))], False)),
        (TypeError, call(x, hx, [own[0], own[1].astype(ts.float64)], False)),
        (TypeError, call(x.astype(ts.int32), hx, own, False)),
        (ValueError, call(x, [ts.ones((1, 1, 1))] if name == "lstm" else ts.ones((1, 2, 1)), own, False)),
    ]


# ---- ctc_loss ----


def ctc_reference(x: Any, targets: Any, inputs: Any, lengths: Any, blank: int = 0, reduction: str = "mean",
                  zero_infinity: bool = False) -> Any:
    torch = pytest.importorskip("torch")
    tensors = [torch.from_numpy(np.array(a)) for a in (x, targets, inputs, lengths)]
    return torch.nn.functional.ctc_loss(*tensors, blank, reduction, zero_infinity).numpy()


def alignments(make: Make) -> list[Sample]:
    scores = lambda *shape: make(*shape, low=-2.5, high=-0.25)  # noqa: E731
    fixed = lambda *values: Fixed(np.array(values))  # noqa: E731
    padded = Fixed(np.array([[1, 2, 2], [3, 1, 0], [0, 0, 0]]))
    found = [
        sample(scores(5, 3, 4), padded, fixed(5, 4, 3), fixed(3, 2, 0), reduction=reduction)
        for reduction in ("none", "sum", "mean")
    ]
    return found + [
        sample(scores(5, 2, 4), fixed(0, 1, 2, 2), fixed(5, 3), fixed(2, 2), 3, "none"),
        sample(scores(4, 3), fixed(1, 1), Fixed(np.array(4)), Fixed(np.array(2))),
        sample(scores(2, 2, 3), fixed(1, 1, 2), fixed(2, 2), fixed(2, 1), 0, "none", True),
    ]


ONES = lambda *values: ts.asarray(np.array(values))  # noqa: E731
SCORES = ts.zeros((2, 1, 3))


def ctc_refused(*args: Any, **options: Any) -> Callable[[], Any]:
    return lambda: find("ctc_loss")(*args, **options)


ROWS = [
    *(
        Row(
            name, by_torch(name), networks(name), dtypes=ALL_FLOATS, tolerance=SEVERAL_STEPS, layouts=LAYOUTS,
            grad_samples=small_networks(name), errors=refused(name),
        )
        for name in BLOCKS
    ),
    *(
        Row(name, cell_reference(name), cells(name), dtypes=ALL_FLOATS, tolerance=SEVERAL_STEPS, layouts=LAYOUTS,
            grad_samples=cells(name, 1))
        for name in ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
    ),
    Row(
        "ctc_loss", ctc_reference, alignments, dtypes=ALL_FLOATS, tolerance=SEVERAL_STEPS, layouts=LAYOUTS,
        errors=[
            (ValueError, ctc_refused(SCORES, ONES(1), ONES(3), ONES(1))),
            (ValueError, ctc_refused(SCORES, ONES(1), ONES(2), ONES(2))),
            (ValueError, ctc_refused(SCORES, ONES(1, 2), ONES(2), ONES(1))),
            (ValueError, ctc_refused(SCORES, ONES(1), ONES(2, 2), ONES(1))),
            (ValueError, ctc_refused(SCORES, ONES(1), ONES(2), ONES(1), 3)),
            (ValueError, ctc_refused(SCORES, ONES(1), ONES(2), ONES(1), reduction="max")),
            (IndexError, ctc_refused(SCORES, ONES(3), ONES(2), ONES(1))),
            (TypeError, ctc_refused(SCORES, ts.ones((1,)), ONES(2), ONES(1))),
            (ValueError, ctc_refused(ts.zeros((3,)), ONES(1), ONES(1), ONES(1))),
        ],
    ),
]  # fmt: skip
