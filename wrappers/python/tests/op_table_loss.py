# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the losses of pairs and of distances; the reference is PyTorch in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, COMPLEX, FLOATS, Fixed, Make, Row, Sample, find, real_of, sample
from op_table_nn import LOSS, ROUNDED, by_torch

import tessera as ts

REDUCTIONS = ("none", "sum", "mean")
# Differences and sums of 16-bit numbers, each rounded.
SUMS = {**LOSS, "tolerance": {**ROUNDED, "float16": (5e-3, 2e-2), "bfloat16": (5e-2, 2e-1)}}
ONE = lambda *shape: ts.ones(shape)  # noqa: E731


def refused(name: str, *args: Any, **options: Any) -> Any:
    return (ValueError, lambda: find(name)(*args, **options))


def pairs(low: float = -2.0, high: float = 2.0, **settings: tuple[Any, ...]) -> Callable[[Make], list[Sample]]:
    """Every reduction; each setting with its values; 0-dim and empty tensors."""

    def samples(make: Make) -> list[Sample]:
        def two(*shape: int) -> tuple[Any, Any]:
            return make(*shape, low=low, high=high), make(*shape, low=max(low, 0.125), high=high)

        found = [sample(*two(3, 4), reduction=r) for r in REDUCTIONS] + [sample(*two()), sample(*two(0, 2), reduction="sum")]
        return found + [sample(*two(3, 2), **{name: value}) for name, values in settings.items() for value in values]

    return samples


def signs(make: Make, *shape: int) -> Fixed:
    return Fixed(np.where(make.rng.random(shape) < 0.5, -1.0, 1.0))


def signed(make: Make) -> list[Sample]:
    return [sample(make(3, 4), signs(make, 3, 4), reduction=r) for r in REDUCTIONS] + [sample(make(), signs(make))]


def embeddings(make: Make) -> list[Sample]:
    return [sample(make(4, 3), make(4, 3), signs(make, 4), reduction=r) for r in REDUCTIONS] + [
        sample(make(4, 3), make(4, 3), signs(make, 4), margin=-0.3), sample(make(3), make(3), signs(make)),
    ]  # fmt: skip


def triplets(make: Make) -> list[Sample]:
    three = lambda: (make(4, 3), make(4, 3), make(4, 3))  # noqa: E731
    return [sample(*three(), reduction=r) for r in REDUCTIONS] + [
        sample(*three(), margin=2.5, swap=True), sample(*three(), p=3.0, margin=2.5), sample(make(3), make(3), make(3), margin=3.0),
    ]  # fmt: skip


def scores(make: Make) -> list[Sample]:
    weight = np.array([0.5, 1.0, 2.0])
    return [sample(make(4, 3), make.index(4, high=3), reduction=r) for r in REDUCTIONS] + [
        sample(make(4, 3), make.index(4, high=3), p=2, margin=0.5), sample(make(3), make.index(high=3)),
        sample(make(4, 3), make.index(4, high=3), weight=weight),
    ]  # fmt: skip


def labels(make: Make) -> list[Sample]:
    many = Fixed(np.array([[3, 0, -1, 1], [1, -1, 2, 0], [-1, 0, 0, 0], [2, 1, 0, 3]]))
    return [sample(make(4, 4), many, reduction=r) for r in REDUCTIONS] + [sample(make(4), Fixed(np.array([3, 0, -1, 1])))]


def multi_margin(F: Any, x: Any, t: Any, p: float = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean") -> Any:
    return F.multi_margin_loss(x, t, p, margin, weight, reduction=reduction)


def variances(make: Make) -> list[Sample]:
    spread = lambda *shape: make(*shape, low=0.5, high=2)  # noqa: E731
    return [sample(make(3, 4), make(3, 4), spread(3, 4), reduction=r) for r in REDUCTIONS] + [
        sample(make(3, 4), make(3, 4), spread(3, 1), full=True), sample(make(3, 4), make(3, 4), spread(3)),
    ]  # fmt: skip


ROWS = [
    Row("l1_loss", by_torch("l1_loss"), pairs(), dtypes=ALL_FLOATS + COMPLEX, result=real_of, **SUMS,
        errors=[refused("l1_loss", ONE(4, 1), ONE(4))]),
    Row("smooth_l1_loss", by_torch("smooth_l1_loss"), pairs(beta=(0.0, 0.5, 3.0)), dtypes=ALL_FLOATS, **SUMS,
        errors=[refused("smooth_l1_loss", ONE(2), ONE(2), beta=-1.0), refused("smooth_l1_loss", ONE(2), ONE(2), reduction="max")]),
    Row("huber_loss", by_torch("huber_loss"), pairs(delta=(0.5, 3.0)), dtypes=ALL_FLOATS, **SUMS,
        errors=[refused("huber_loss", ONE(2), ONE(2), delta=0.0)]),
    Row("kl_div", by_torch("kl_div"), pairs(log_target=(True,), reduction=("batchmean",)), dtypes=ALL_FLOATS, **SUMS,
        errors=[refused("kl_div", ONE(2), ONE(2), reduction="batch")]),
    Row("binary_cross_entropy", by_torch("binary_cross_entropy"), pairs(0.125, 0.875), dtypes=ALL_FLOATS, **SUMS,
        errors=[(TypeError, lambda: find("binary_cross_entropy")(ONE(2), ts.ones(2, dtype=ts.float64)))]),
    Row("poisson_nll_loss", by_torch("poisson_nll_loss"), pairs(0.25, 3.0, log_input=(False,), full=(True,)), dtypes=ALL_FLOATS, **SUMS),
    Row("gaussian_nll_loss", by_torch("gaussian_nll_loss"), variances, dtypes=FLOATS, **LOSS,
        errors=[refused("gaussian_nll_loss", ONE(2), ONE(2), ONE(2), eps=0.0), refused("gaussian_nll_loss", ONE(2), ONE(2), ONE(3))]),
    Row("soft_margin_loss", by_torch("soft_margin_loss"), signed, dtypes=ALL_FLOATS, grad_args=(0,), **SUMS),
    Row("hinge_embedding_loss", by_torch("hinge_embedding_loss"), signed, dtypes=ALL_FLOATS, grad_args=(0,), **SUMS),
    Row("margin_ranking_loss", by_torch("margin_ranking_loss"),
        lambda make: [sample(make(3, 4), make(3, 4), signs(make, 3, 4), reduction=r) for r in REDUCTIONS]
        + [sample(make(5), make(5), signs(make, 5), margin=0.7)], dtypes=ALL_FLOATS, grad_args=(0, 1), **SUMS),
    Row("cosine_embedding_loss", by_torch("cosine_embedding_loss"), embeddings, dtypes=FLOATS, grad_args=(0, 1), **LOSS,
        errors=[refused("cosine_embedding_loss", ONE(2, 3), ONE(2, 3), ONE(3))]),
    Row("triplet_margin_loss", by_torch("triplet_margin_loss"), triplets, dtypes=FLOATS, **LOSS),
    Row("multi_margin_loss", by_torch(multi_margin), scores, dtypes=FLOATS, grad_args=(0,), **LOSS,
        errors=[refused("multi_margin_loss", ONE(1, 2), ts.asarray([0]), p=3),
                (IndexError, lambda: find("multi_margin_loss")(ONE(1, 2), ts.asarray([2])))]),
    Row("multilabel_margin_loss", by_torch("multilabel_margin_loss"), labels, dtypes=FLOATS, grad_args=(0,), **LOSS,
        errors=[refused("multilabel_margin_loss", ONE(1, 2), ts.asarray([0]))]),
    Row("multilabel_soft_margin_loss",
        by_torch(lambda F, x, t, w=None, **options: F.multilabel_soft_margin_loss(x, t, w, **options)),
        lambda make: [sample(make(3, 4), make(3, 4, low=0, high=1), reduction=r) for r in REDUCTIONS]
        + [sample(make(3, 4), make(3, 4, low=0, high=1), make(4, low=0.5))], dtypes=FLOATS, **LOSS),
    Row("cosine_similarity", by_torch(lambda F, a, b, axis=1, **options: F.cosine_similarity(a, b, dim=axis, **options)),
        lambda make: [sample(make(3, 4), make(3, 4)), sample(make(3, 4), make(1, 4), axis=0), sample(make(3, 4), make(4), axis=-1),
                      sample(make(2, 3, 2), make(2, 3, 2), eps=0.5)], dtypes=ALL_FLOATS, **SUMS),
    Row("pairwise_distance", by_torch(lambda F, a, b, keepdims=False, **options: F.pairwise_distance(a, b, keepdim=keepdims, **options)),
        lambda make: [sample(make(3, 4), make(3, 4)), sample(make(3, 4), make(4), p=1.0), sample(make(4), make(4), p=3.0, keepdims=True)],
        dtypes=ALL_FLOATS + COMPLEX, result=real_of, **SUMS),
    Row("normalize", by_torch(lambda F, x, p=2.0, axis=1, **options: F.normalize(x, p, axis, **options)),
        lambda make: [sample(make(3, 4)), sample(make(3, 4), p=1.0, axis=0), sample(make(2, 3, 2), p=3.0), sample(make(0, 3)),
                      sample(make(5), axis=-1)], dtypes=ALL_FLOATS + COMPLEX, **SUMS),
]  # fmt: skip
