# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""More families of cases for bench_kernels_python.py: special functions, statistics, scattering, losses, linear algebra
and random numbers. A row of a table names a call in both libraries; `t` and `F` are the library and its functional
module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as TF

import tessera as ts
import tessera.nn.functional as F

Case = tuple[str, Callable[[], object], Callable[[], object]]
Names = dict[str, Any]
RNG = np.random.default_rng(1)
COLUMNS = 1024
dtype = "float32"  # the dtype that arrays of float32 get as tensors


def tensors(library: Any, arrays: dict[str, np.ndarray]) -> Names:
    """Tensors of a library that hold copies of arrays."""
    found = {name: library.from_numpy(array.copy()) for name, array in arrays.items()}
    wanted = getattr(library, dtype)
    return {name: tensor.to(wanted) if tensor.dtype == library.float32 else tensor for name, tensor in found.items()}


def cases(statements: list[str | tuple[str, str]], arrays: dict[str, np.ndarray], **theirs: Any) -> Iterator[Case]:
    """A case for each statement; where the libraries spell a call differently it is a pair, ours first."""
    ours_names: Names = {"t": ts, "F": F} | tensors(ts, arrays)
    their_names: Names = {"t": torch, "F": TF} | tensors(torch, arrays) | theirs
    for statement in statements:
        ours, peer = (statement, statement) if isinstance(statement, str) else statement
        yield ours, eval(f"lambda: {ours}", ours_names), eval(f"lambda: {peer}", their_names)


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def chance(*shape: int) -> np.ndarray:
    return (RNG.random(shape) * 0.98 + 0.01).astype(np.float32)


def special_cases(rows: int) -> Iterator[Case]:
    unary = ["acosh(s)", "asinh(a)", "atanh(p)", "exp2(a)", "sinc(a)", "lgamma(s)", "digamma(s)", "erfinv(p)", "logit(p)",
             "frac(a)", "sign(a)", "deg2rad(a)", "nan_to_num(a)", "signbit(a)", "round(a)", "fmod(a, b)", "remainder(a, b)",
             "logaddexp(a, b)", "logaddexp2(a, b)", "xlogy(p, s)", "copysign(a, b)", "nextafter(a, b)", "heaviside(a, b)",
             "hypot(a, b)", "atan2(a, b)", "fmax(a, b)", "floor_divide(a, b)", "ldexp(a, b)", "lerp(a, b, p)",
             "addcmul(a, b, p)", "addcdiv(a, b, s)", "clamp(a, -1.0, 1.0)", "isclose(a, b)"]  # fmt: skip
    theirs = ["i0", "i0e", "i1", "i1e", "ndtr", "ndtri", "log_ndtr", "erfcx", "entr"]
    arrays = {"a": normal(rows, COLUMNS), "b": normal(rows, COLUMNS), "p": chance(rows, COLUMNS), "s": chance(rows, COLUMNS) * 9 + 1}
    statements: list[str | tuple[str, str]] = [f"t.{call}" for call in unary]
    statements += [(f"t.{name}(p)", f"t.special.{name}(p)") for name in theirs]
    statements += [("t.igamma(s, p)", "t.special.gammainc(s, p)"), ("t.zeta(s, p)", "t.special.zeta(s, p)")]
    yield from cases(statements, arrays)


def activation_cases(rows: int) -> Iterator[Case]:
    names = ["elu", "celu", "selu", "glu", "mish", "hardswish", "hardsigmoid", "hardtanh", "relu6", "softplus", "softsign",
             "tanhshrink", "softshrink", "hardshrink", "logsigmoid", "leaky_relu", "gelu", "silu"]  # fmt: skip
    yield from cases([f"F.{name}(a)" for name in names], {"a": normal(rows, COLUMNS)})


def statistics_cases(rows: int) -> Iterator[Case]:
    arrays = {"a": normal(rows, COLUMNS), "i": RNG.integers(0, 1000, rows * 64), "s": np.sort(normal(COLUMNS))}
    statements: list[str | tuple[str, str]] = [
        ("t.median(a[:256], 1)", "t.median(a[:256], 1)[0]"), "t.quantile(a[:256], 0.3, 1)",
        "t.unique(i)", "t.bincount(i)", "t.histc(a, 100)", "t.searchsorted(s, a)", "t.cumsum(a, 1)", "t.cumprod(a, 1)",
        "t.cummax(a, 1)", "t.logcumsumexp(a, 1)", "t.nansum(a, 1)", "t.nanmean(a, 1)", "t.std(a, 1)", "t.count_nonzero(a, 1)",
        "t.diff(a)", "t.cov(a[:256])", "t.kthvalue(a[:256], 100, 1)", "t.mode(a[:64], 1)",
        "t.linalg.vector_norm(a)", ("t.linalg.vector_norm(a, ord=1, axis=1)", "t.linalg.vector_norm(a, ord=1, dim=1)"),
        ("t.linalg.vector_norm(a, ord=3, axis=0)", "t.linalg.vector_norm(a, ord=3, dim=0)"), "t.isin(i, i[:100])",
    ]  # fmt: skip
    yield from cases(statements, arrays)


def scatter_cases(rows: int) -> Iterator[Case]:
    arrays = {"a": normal(rows, COLUMNS), "b": normal(rows, COLUMNS), "i": RNG.integers(0, COLUMNS, (rows, COLUMNS)),
              "r": RNG.integers(0, rows, rows), "m": RNG.random((rows, COLUMNS)) < 0.3, "k": normal(32, 32),
              "flat": RNG.integers(0, rows * COLUMNS, rows * 64)}  # fmt: skip
    statements: list[str | tuple[str, str]] = [
        "t.scatter(a, 1, i, b)", "t.scatter_add(a, 1, i, b)", "t.index_add(a, 0, r, b)", "t.index_copy(a, 0, r, b)",
        "t.index_fill(a, 0, r, 0.5)", "t.masked_fill(a, m, 0.5)", "t.masked_scatter(a, m, b)", "t.take(a, flat)",
        ("t.roll(a, 3, axis=1)", "t.roll(a, 3, 1)"), "t.rot90(a)", "t.tril(a)", "t.triu(a)", "t.kron(k, k)",
        "t.block_diag(k, k, k)", "t.diag_embed(k)", ("t.repeat_interleave(a, 2, axis=0)", "t.repeat_interleave(a, 2, 0)"),
        *(f"t.scatter_reduce(a, 1, i, b, '{how}')" for how in ("sum", "amax", "mean")),
    ]  # fmt: skip
    yield from cases(statements, arrays)


def loss_cases(rows: int) -> Iterator[Case]:
    arrays = {"a": normal(rows, COLUMNS), "b": normal(rows, COLUMNS), "p": chance(rows, COLUMNS), "q": chance(rows, COLUMNS),
              "one": np.sign(normal(rows)), "c": RNG.integers(0, COLUMNS, rows)}  # fmt: skip
    statements: list[str | tuple[str, str]] = [
        "F.mse_loss(a, b)", "F.l1_loss(a, b)", "F.smooth_l1_loss(a, b)", "F.huber_loss(a, b)", "F.kl_div(a, p)",
        "F.binary_cross_entropy(p, q)", "F.binary_cross_entropy_with_logits(a, q)", "F.poisson_nll_loss(a, p)",
        "F.gaussian_nll_loss(a, b, p)", "F.soft_margin_loss(a, b)", "F.hinge_embedding_loss(a, b)",
        "F.cosine_embedding_loss(a, b, one)", "F.triplet_margin_loss(a, b, p)", "F.multi_margin_loss(a, c)",
        "F.multilabel_soft_margin_loss(a, q)", "F.cosine_similarity(a, b)", "F.pairwise_distance(a, b)", "F.normalize(a)",
    ]  # fmt: skip
    yield from cases(statements, arrays)


def linalg_cases(rows: int) -> Iterator[Case]:
    for count, side in ((max(1, rows // 64), 8), (1, min(256, rows))):
        a = normal(count, side, side)
        arrays = {"a": a, "s": a @ a.swapaxes(1, 2) + side * np.eye(side, dtype=np.float32), "b": normal(count, side, 4)}
        statements: list[str | tuple[str, str]] = [
            f"t.linalg.{call}" for call in ("cholesky(s)", "qr(a)", "svd(a)", "eigh(s)", "eigvals(a)", "solve(a, b)", "inv(a)",
                                           "det(a)", "slogdet(a)", "pinv(a)", "matrix_exp(a)", "matrix_power(a, 5)")
        ]  # fmt: skip
        for name, ours, theirs in cases(statements, arrays):
            yield f"{name}, {count} of {side}", ours, theirs


def draw_cases(rows: int) -> Iterator[Case]:
    arrays = {"a": normal(rows, COLUMNS), "p": chance(rows, COLUMNS), "w": chance(min(rows, 256), COLUMNS)}
    statements: list[str | tuple[str, str]] = [
        "a.normal_()", "a.uniform_()", "t.bernoulli(p)", "a.bernoulli_(0.3)", "a.exponential_()", "a.cauchy_()", "a.log_normal_()",
        "a.geometric_(0.3)", "t.poisson(p)", "t.multinomial(w, 1)", ("t.multinomial(w, 64, replacement=True)",) * 2,
        f"t.randperm({rows * 64})",
    ]  # fmt: skip
    yield from cases(statements, arrays)


def short_cases(rows: int) -> Iterator[Case]:
    """Many short rows: points, a few classes, masks and bytes."""
    arrays = {"xyz": normal(rows * 256, 3), "k": normal(rows * 64, 10), "c": RNG.integers(0, 10, rows * 64),
              "m": RNG.random((rows, COLUMNS)) < 0.3, "u": RNG.integers(0, 256, (rows, COLUMNS)).astype(np.uint8)}  # fmt: skip
    statements: list[str | tuple[str, str]] = [
        "xyz.sum(0)", "xyz.sum(1)", "t.cumsum(xyz, 0)", "t.cumsum(xyz, 1)", "t.cummax(k, 1)", ("t.sort(k, axis=1)", "t.sort(k, 1)"),
        "t.mode(k, 1)", "F.log_softmax(k, 1)", "F.softmax(k, 0)", "F.cross_entropy(k, c)", "m.sum()", "m.sum(1)", "t.amax(u, 1)",
    ]  # fmt: skip
    yield from cases(statements, arrays)


FAMILIES = {
    "special": special_cases,
    "activation": activation_cases,
    "statistics": statistics_cases,
    "short": short_cases,
    "scatter": scatter_cases,
    "loss": loss_cases,
    "linalg": linalg_cases,
    "draw": draw_cases,
}
