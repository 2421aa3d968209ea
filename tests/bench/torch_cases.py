# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases for bench_kernels_python.py of the operators that its other families leave out. A row is a statement in PyTorch's
spelling, which both libraries run: `t` is tessera.torch or torch, `F` its functional module. A family whose name ends in
"backward" times a statement with the gradients of its tensors of floats; capitals name tensors that need none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as TF

import tessera.torch as tt
import tessera.torch.nn.functional as F

import kernel_cases

Case = tuple[str, Callable[[], object], Callable[[], object]]
Arrays = dict[str, np.ndarray]
RNG = np.random.default_rng(2)
COLUMNS = 1024


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def chances(*shape: int) -> np.ndarray:
    return (RNG.random(shape) * 0.98 + 0.01).astype(np.float32)


def names(arrays: Arrays) -> tuple[dict[str, Any], dict[str, Any]]:
    ours: dict[str, Any] = {"t": tt, "F": F} | kernel_cases.tensors(tt, arrays)
    theirs: dict[str, Any] = {"t": torch, "F": TF} | kernel_cases.tensors(torch, arrays)
    return ours, theirs


def forward(statements: list[str], arrays: Arrays) -> Iterator[Case]:
    ours, theirs = names(arrays)
    for statement in statements:
        yield statement, eval(f"lambda: {statement}", ours), eval(f"lambda: {statement}", theirs)


class Gradients:
    """A statement and the gradients of its tensors; of several results the first counts."""

    def __init__(self, statement: str, library: Any, found: dict[str, Any]) -> None:
        self.call = eval(f"lambda: {statement}", found)
        used = self.call.__code__.co_names
        self.autograd = library.autograd
        small = [found[name] for name in used if name in found and name.islower()]
        dtype = getattr(library, kernel_cases.dtype)
        self.tensors = [tensor for tensor in small if getattr(tensor, "dtype", None) == dtype]
        for tensor in self.tensors:
            tensor.requires_grad_()
        self.seed: Any = None
        self.ones_like = library.ones_like

    def result(self) -> Any:
        result = self.call()
        return result[0] if isinstance(result, (tuple, list)) else result

    def __call__(self) -> None:
        result = self.result()
        if self.seed is None:
            self.seed = self.ones_like(result.detach())
        self.autograd.grad([result], self.tensors, [self.seed])


def backward(statements: list[str], arrays: Arrays) -> Iterator[Case]:
    for statement in statements:
        ours, theirs = names(arrays)
        yield f"{statement}, backward", Gradients(statement, tt, ours), Gradients(statement, torch, theirs)


# ---- Pointwise ----


def pointwise_arrays(rows: int) -> Arrays:
    a, b = normal(rows, COLUMNS), normal(rows, COLUMNS)
    chance = chances(rows, COLUMNS)
    whole = RNG.integers(1, 1000, (rows, COLUMNS))
    return {"a": a, "b": b, "c": normal(rows, COLUMNS), "p": chance, "s": chance * 9 + 1, "i": whole, "j": whole[::-1].copy(),
            "h": RNG.integers(0, 8, (rows, COLUMNS)), "m": a > 0, "n": b > 0, "z": (a + 1j * b).astype(np.complex64)}  # fmt: skip


POINTWISE = [
    "t.abs(a)", "t.neg(a)", "t.acos(p)", "t.asin(p)", "t.atan(a)", "t.cos(a)", "t.cosh(a)", "t.sinh(a)", "t.ceil(a)",
    "t.floor(a)", "t.trunc(a)", "t.round(a, decimals=2)", "t.reciprocal(a)", "t.rsqrt(s)", "t.sqrt(s)", "t.square(a)",
    "t.erf(a)", "t.erfc(a)", "t.log10(s)", "t.log2(s)", "t.log1p(p)", "t.expm1(a)", "t.sigmoid(a)", "t.rad2deg(a)", "t.positive(a)",
    "t.isfinite(a)", "t.isinf(a)", "t.isnan(a)", "t.isneginf(a)", "t.isposinf(a)", "t.sub(a, b)", "t.mul(a, b)", "t.div(a, b)",
    "t.add(a, b, alpha=2.0)", "t.div(a, b, rounding_mode='trunc')", "t.div(a, b, rounding_mode='floor')", "t.maximum(a, b)",
    "t.minimum(a, b)", "t.fmin(a, b)", "t.pow(s, b)", "t.pow(a, 2)", "t.pow(s, 0.5)", "t.float_power(s, 2.0)", "t.eq(a, b)",
    "t.ne(a, b)", "t.ge(a, b)", "t.lt(a, 0.5)", "t.xlogy(p, s)", "t.special.xlog1py(p, s)", "t.gcd(i, j)", "t.lcm(i, j)",
    "t.bitwise_and(i, j)", "t.bitwise_or(i, j)", "t.bitwise_xor(i, j)", "t.bitwise_not(i)", "t.bitwise_left_shift(i, h)",
    "t.bitwise_right_shift(i, h)", "t.logical_and(m, n)", "t.logical_or(m, n)", "t.logical_xor(m, n)", "t.logical_not(m)",
    "t.logical_not(a)", "i % 7", "i // j", "i + 3", "i * j", "t.abs(i)", "t.sign(i)", "t.where(m, a, 0.0)", "t.lerp(a, b, 0.3)",
    "t.clamp(a, min=0.0)", "t.clamp(a, b, s)", "t.special.multigammaln(s + 2, 3)", "t.polygamma(1, s)", "t.polygamma(2, s)",
    "t.special.bessel_j0(s)", "t.special.bessel_j1(s)", "t.special.bessel_y0(s)", "t.special.bessel_y1(s)",
    "t.special.modified_bessel_k0(s)", "t.special.modified_bessel_k1(s)", "t.special.scaled_modified_bessel_k0(s)",
    "t.special.scaled_modified_bessel_k1(s)", "t.special.spherical_bessel_j0(s)", "t.special.gammaincc(s, p)",
    "t.angle(z)", "t.abs(z)", "t.conj(z).resolve_conj()", "t.real(z) + 1", "t.imag(z) + 1", "t.complex(a, b)", "t.polar(s, b)",
    "z * z", "z + z", "z / z", "t.exp(z)", "t.log(z)", "t.sqrt(z)", "t.sin(z)", "t.tanh(z)", "t.view_as_real(z) + 1",
    "t.allclose(a, a)", "t.equal(a, a)", "t.isclose(a, a)", "t.exp2(a)", "t.tan(a)", "t.cos(s)", "t.gt(i, j)", "a.to(t.int32)",
    "a.to(t.bfloat16)", "i.to(t.int32)", "m.to(t.float32)", "i.to(t.bool)", "a.to(t.complex64)",
]  # fmt: skip

POINTWISE_BACKWARD = [
    "t.acos(p)", "t.asin(p)", "t.atan(a)", "t.cos(a)", "t.cosh(a)", "t.sinh(a)", "t.tan(a)", "t.tanh(a)", "t.sqrt(s)", "t.rsqrt(s)",
    "t.reciprocal(s)", "t.erf(a)", "t.erfc(a)", "t.erfinv(p)", "t.log(s)", "t.log1p(p)", "t.log2(s)", "t.exp(a)", "t.exp2(a)",
    "t.expm1(a)", "t.logit(p)", "t.lgamma(s)", "t.digamma(s)", "t.sinc(a)", "t.abs(a)", "t.div(a, s)", "t.mul(a, b)",
    "t.pow(s, b)", "t.pow(s, 3)", "t.atan2(a, b)", "t.hypot(a, b)", "t.logaddexp(a, b)", "t.logaddexp2(a, b)", "t.xlogy(p, s)",
    "t.maximum(a, b)", "t.fmin(a, b)", "t.where(m, a, b)", "t.lerp(a, b, p)", "t.addcmul(a, b, p)", "t.addcdiv(a, b, s)",
    "t.clamp(a, -1.0, 1.0)", "t.nan_to_num(a)", "t.remainder(a, s)", "t.copysign(a, b)", "t.special.ndtri(p)", "t.special.i0(a)",
    "t.special.i0e(a)", "t.special.i1(a)", "t.special.log_ndtr(a)", "t.special.entr(p)", "t.acosh(s)", "t.asinh(a)", "t.atanh(p)",
]  # fmt: skip


def elementary_cases(rows: int) -> Iterator[Case]:
    yield from forward(POINTWISE, pointwise_arrays(rows))


def elementary_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward(POINTWISE_BACKWARD, pointwise_arrays(rows))


# ---- Activations and losses ----

ACTIVATIONS = [
    *(f"F.{name}(a)" for name in (
        "elu", "celu", "selu", "glu", "mish", "hardswish", "hardsigmoid", "hardtanh", "relu", "relu6", "softplus", "softsign",
        "tanhshrink", "softshrink", "hardshrink", "logsigmoid", "leaky_relu", "gelu", "silu", "normalize")),
    "F.gelu(a, approximate='tanh')", "F.softmin(a, 1)", "F.prelu(a, w)", "F.threshold(a, 0.1, 0.2)", "F.softmax(a, 0)",
    "F.log_softmax(a, 0)", "F.normalize(a, dim=0)",
]  # fmt: skip
LOSSES = [
    "F.mse_loss(a, B)", "F.l1_loss(a, B)", "F.smooth_l1_loss(a, B)", "F.huber_loss(a, B)", "F.kl_div(a, Q)",
    "F.binary_cross_entropy(p, Q)", "F.binary_cross_entropy_with_logits(a, Q)", "F.poisson_nll_loss(a, Q)",
    "F.gaussian_nll_loss(a, B, p)", "F.soft_margin_loss(a, Y)", "F.hinge_embedding_loss(a, Y)",
    "F.cosine_embedding_loss(a, b, O)", "F.triplet_margin_loss(a, b, p)", "F.multi_margin_loss(a, L)",
    "F.multilabel_soft_margin_loss(a, Y)", "F.multilabel_margin_loss(a, K)", "F.margin_ranking_loss(a, b, Y)",
    "F.nll_loss(a, L)", "F.cross_entropy(a, L, label_smoothing=0.1)", "F.cross_entropy(a, Q)", "F.cosine_similarity(a, b)",
    "F.pairwise_distance(a, b)",
]  # fmt: skip
DROPS = ["F.gumbel_softmax(a)", "F.rrelu(a, training=True)", "F.alpha_dropout(a, 0.5, True)", "F.dropout1d(a, 0.5, True)",
         "F.feature_alpha_dropout(a, 0.5, True)"]  # fmt: skip


def loss_arrays(rows: int) -> Arrays:
    several = np.full((rows, COLUMNS), -1, dtype=np.int64)
    several[:, :4] = RNG.integers(0, COLUMNS, (rows, 4))
    return {"a": normal(rows, COLUMNS), "b": normal(rows, COLUMNS), "B": normal(rows, COLUMNS), "p": chances(rows, COLUMNS),
            "Q": chances(rows, COLUMNS), "Y": np.sign(normal(rows, COLUMNS)), "O": np.sign(normal(rows)), "w": normal(1),
            "L": RNG.integers(0, COLUMNS, rows), "K": several}  # fmt: skip


def activation_more_cases(rows: int) -> Iterator[Case]:
    yield from forward(ACTIVATIONS + DROPS, loss_arrays(rows))


def activation_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward(ACTIVATIONS, loss_arrays(rows))


def loss_more_cases(rows: int) -> Iterator[Case]:
    yield from forward(LOSSES, loss_arrays(rows))


def loss_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward(LOSSES, loss_arrays(rows))


# ---- Reductions, scans, sorting, searching ----

REDUCTIONS = [
    *(f"t.{name}(a, {axis})" for axis in (1, 0) for name in (
        "amin", "argmin", "prod", "std", "nansum", "nanmean", "nanmedian", "median", "cummin", "cumprod", "logcumsumexp", "mode",
        "argsort")),
    "t.norm(a, 2, 1)", "t.norm(a, 2, 0)",
    "t.msort(a)", "t.aminmax(a)", "t.min(a)", "t.max(a, 1)", "t.min(a, 0)", "t.var_mean(a, 1)", "t.std_mean(a, 1)", "t.all(m, 1)",
    "t.any(m, 0)", "t.count_nonzero(a)", "t.dist(a, b)", "t.renorm(a, 2, 0, 1.0)", "t.median(a)", "t.nanmedian(a)",
    "t.quantile(a, Q, 1)", "t.nanquantile(a, 0.3, 1)", "t.nanquantile(a, 0.3, 0)", "t.kthvalue(a, 100, 1)", "t.topk(a, 5, 1)",
    "t.topk(a, 8, 0)", "t.sort(a, 0)", "t.sort(i, 1)", "t.sort(a, dim=1, stable=True)", "t.trapezoid(a)",
    "t.cumulative_trapezoid(a)", "t.diff(a, dim=0)", "t.diff(a, 2)", "t.corrcoef(a[:256])", "t.cov(a[:64])", "t.histogram(a, 100)",
    "t.bincount(f, W)", "t.bucketize(a, s)", "t.searchsorted(s, f / 1000.0)", "t.unique(f, return_inverse=True)",
    "t.unique(f, return_counts=True)", "t.unique(a)", "t.unique(i[:, :2], dim=0)", "t.unique_consecutive(f)",
    "t.unique_consecutive(f, return_counts=True)", "t.isin(i, f[:1000])", "t.nonzero(m)", "t.argwhere(m)", "t.sum(i, 1)",
    "t.sum(i, 0)", "t.prod(i, 1)", "t.cumsum(i, 1)", "t.cumsum(a, 0)", "t.max(i)", "t.argmax(i, 1)", "t.logsumexp(a, (0, 1))",
    "t.linalg.vector_norm(a, 0.5, 1)", "t.linalg.vector_norm(a, float('inf'), 1)", "t.linalg.matrix_norm(a)",
    "t.linalg.matrix_norm(a, 1)", "t.mean(a.to(t.bfloat16), 1)", "t.var(a)", "t.sum(m)",
]  # fmt: skip
REDUCTIONS_BACKWARD = [
    *(f"t.{name}" for name in (
        "sum(a, 0)", "mean(a, 1)", "amin(a, 0)", "prod(a, 1)", "std(a, 1)", "var(a, 0)", "norm(a, 2, 1)", "norm(a, 1, 0)", "nansum(a, 1)",
        "nanmean(a, 1)", "median(a, 1)", "nanmedian(a, 0)", "quantile(a, 0.3, 1)", "sort(a, 1)", "sort(a, 0)", "topk(a, 10, 1)",
        "kthvalue(a, 10, 1)", "mode(a, 1)", "max(a, 1)", "min(a, 0)", "max(a)", "cumsum(a, 1)", "cumsum(a, 0)", "cumprod(a, 1)",
        "cumprod(a, 0)", "cummax(a, 1)", "cummin(a, 0)", "logcumsumexp(a, 1)", "logcumsumexp(a, 0)", "logsumexp(a, 1)",
        "diff(a)", "dist(a, b)", "renorm(a, 2, 0, 1.0)", "trapezoid(a)", "aminmax(a)", "linalg.vector_norm(a, 3, 1)",
        "linalg.vector_norm(a, float('inf'), 1)", "cov(a[:64])", "var_mean(a, 1)")),
]  # fmt: skip


def reduction_arrays(rows: int) -> Arrays:
    a = normal(rows, COLUMNS)
    return {"a": a, "b": normal(rows, COLUMNS), "i": RNG.integers(0, 1000, (rows, COLUMNS)), "m": a > 0,
            "f": np.sort(RNG.integers(0, 1000, rows * 64)), "W": normal(rows * 64), "s": np.sort(normal(COLUMNS)),
            "Q": np.array([0.1, 0.5, 0.9], dtype=np.float32)}  # fmt: skip


def reduction_more_cases(rows: int) -> Iterator[Case]:
    yield from forward(REDUCTIONS, reduction_arrays(rows))


def reduction_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward(REDUCTIONS_BACKWARD, reduction_arrays(rows))


# ---- Shapes, indices, creation ----

MOVES = [
    "t.cat([a, b], 0)", "t.stack([a, b])", "t.stack([a, b], 2)", "t.hstack([a, b])", "t.vstack([a, b])", "t.dstack([a, b])",
    "t.column_stack([a, b])", "t.tile(a, (2, 2))", "a.repeat(2, 2)", "t.repeat_interleave(a, 3, 1)", "t.flip(a, [0])",
    "t.flip(a, [0, 1])", "t.fliplr(a)", "t.flipud(a)", "t.roll(a, 5, 0)", "t.roll(a, (3, 5), (0, 1))", "t.roll(a, 5)", "t.rot90(a, 2)",
    "t.tril(a, 3)", "t.triu(a, -3)", "t.diag(v)", "t.diagflat(v[:256])", "t.diagonal(a).contiguous()", "t.clone(a)", "a.T.clone()",
    "F.pad(a, (1, 1, 1, 1))", "F.pad(a[None], (2, 2), mode='reflect')", "F.pad(a[None], (2, 2), mode='replicate')",
    "F.pad(a[None], (2, 2), mode='circular')", "t.select_scatter(a, v, 0, 0)", "t.slice_scatter(a, b[:2], 0, 0, 2)",
    "t.diagonal_scatter(a, v[:min(a.shape)])", "t.as_strided_scatter(a, v, (1024,), (1,))", "t.gather(a, 1, i)",
    "t.gather(a, 0, r)", "t.take_along_dim(a, i, 1)", "t.take(a, f)", "t.scatter(a, 1, i, 0.5)", "t.scatter(a, 0, r, b)",
    "t.scatter_add(a, 0, r, b)", "t.scatter_reduce(a, 0, r, b, 'amin')", "t.scatter_reduce(a, 1, i, b, 'prod')",
    "t.index_select(a, 1, c)", "t.index_select(a, 0, l)", "t.index_add(a, 1, c, b)", "t.index_copy(a, 1, c, b)",
    "t.index_fill(a, 1, c, 0.5)", "t.index_reduce(a, 0, l, b, 'amax')", "t.index_reduce(a, 1, c, b, 'prod')",
    "t.index_put(a, (l % 8, l % 16), v[0])", "a.index_put((l,), b, accumulate=True)", "a.clone().put_(f, w)",
    "a[l]", "a[:, c]", "a[l[:, None], c]", "a[m]", "a[::2, ::3].contiguous()", "t.masked_select(a, m)", "t.where(m)", "t.nonzero(a)",
    "t.combinations(v[:256])", "t.cartesian_prod(v[:256], v[:256])", "t.meshgrid(v, v, indexing='ij')[0].contiguous()",
    "t.block_diag(a[:64, :64], a[:64, :64])", "t.kron(a[:32, :32], a[:32, :32])", "t.tril_indices(512, 512)",
    "t.triu_indices(512, 512)", "a.unfold(1, 8, 4).contiguous()", "a.reshape(-1, 32).T.reshape(-1)", "t.permute(q, (2, 0, 1)).contiguous()",
    "t.permute(q, (0, 2, 1)).contiguous()", "t.permute(q, (1, 0, 2)).contiguous()", "F.one_hot(i[:64], 1024)", "t.vander(v[:256], 8)",
    "t.cdist(a[:256], b[:256])", "F.pdist(a[:256])", "t.arange(a.numel())", "t.arange(a.numel(), dtype=t.float32)",
    "t.linspace(0, 1, a.numel())", "t.logspace(0, 1, a.numel())", "t.zeros(a.shape)", "t.ones_like(a)", "t.full(a.shape, 2.5)",
    "t.eye(1024)", "t.hann_window(a.numel())", "t.kaiser_window(4096)", "t.blackman_window(4096)", "t.tensor_split(a, 3, 1)[1].clone()",
    "t.rand_like(a)", "t.randint(0, 100, a.shape)", "t.randn_like(a)", "t.normal(a, p)", "a.clone().random_(0, 100)", "t.bernoulli(p)",
]  # fmt: skip
MOVES_BACKWARD = [
    "t.cat([a, b], 0)", "t.stack([a, b], 2)", "a.repeat(2, 2)", "t.repeat_interleave(a, 3, 1)", "t.flip(a, [1])", "t.roll(a, 5, 1)",
    "t.rot90(a)", "t.tril(a)", "t.diag_embed(v[:256])", "F.pad(a, (1, 1, 1, 1))", "F.pad(a[None], (2, 2), mode='reflect')",
    "F.pad(a[None], (2, 2), mode='replicate')", "F.pad(a[None], (2, 2), mode='circular')", "t.gather(a, 0, r)",
    "t.scatter(a, 1, i, b)", "t.scatter_add(a, 1, i, b)", "t.scatter_reduce(a, 1, i, b, 'amax')", "t.scatter_reduce(a, 1, i, b, 'mean')",
    "t.index_select(a, 1, c)", "t.index_add(a, 0, l, b)", "t.index_copy(a, 0, l, b)", "t.index_fill(a, 0, l, 0.5)",
    "t.masked_fill(a, m, 0.5)", "t.masked_scatter(a, m, b)", "t.masked_select(a, m)", "a[l]", "a[:, c]", "a[m]", "a[::2, ::3].clone()",
    "t.take(a, f)", "t.kron(a[:32, :32], b[:32, :32])", "a.unfold(1, 8, 4).clone()", "t.select_scatter(a, v, 0, 0)",
    "t.permute(q, (2, 0, 1)).contiguous()", "a.expand(3, *a.shape).clone()", "t.diagonal(a).clone()", "t.cdist(a[:256], b[:256])",
    "F.pdist(a[:256])", "t.einsum('ij,kj->ik', a[:256], b[:256])", "t.tensordot(a, b, dims=([0], [0]))",
]  # fmt: skip


def move_arrays(rows: int) -> Arrays:
    a = normal(rows, COLUMNS)
    return {"a": a, "b": normal(rows, COLUMNS), "p": chances(rows, COLUMNS), "v": normal(COLUMNS), "q": normal(16, rows, 64),
            "m": a > 0.5, "i": RNG.integers(0, COLUMNS, (rows, COLUMNS)),
            "r": RNG.integers(0, rows, (rows, COLUMNS)), "c": RNG.permutation(COLUMNS), "l": RNG.integers(0, rows, rows),
            "f": RNG.permutation(rows * COLUMNS)[: rows * 64], "w": normal(rows * 64)}  # fmt: skip


def move_more_cases(rows: int) -> Iterator[Case]:
    yield from forward(MOVES, move_arrays(rows))


def move_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward(MOVES_BACKWARD, move_arrays(rows))


# ---- Images, sequences, networks ----

IMAGES = [
    "F.conv1d(s, k1)", "F.conv1d(s, k1, stride=2, padding=2)", "F.conv1d(s, d1, groups=64)", "F.conv3d(u, k3, padding=1)",
    "F.conv3d(u, k3, stride=2)", "F.conv_transpose1d(s, k1)", "F.conv_transpose2d(x, k2, padding=1)",
    "F.conv_transpose2d(x, k4, stride=2, padding=1)", "F.conv_transpose3d(u, k3)", "F.conv2d(x, k2, dilation=2)",
    "F.conv2d(x, g2, groups=4)", "F.conv2d(x, k2, padding='same')", "F.conv2d(x, d2, groups=64, padding=1)",
    "F.max_pool1d(s, 3, 2)", "F.avg_pool1d(s, 3, 2)", "F.max_pool3d(u, 2)", "F.avg_pool3d(u, 2)", "F.max_pool2d(x, 3, 2, 1)",
    "F.max_pool2d(x, 2, return_indices=True)", "F.avg_pool2d(x, 3, 2, 1)", "F.lp_pool1d(s, 2.0, 3)", "F.lp_pool2d(x, 2.0, 3)",
    "F.adaptive_avg_pool1d(s, 10)", "F.adaptive_avg_pool2d(x, 7)", "F.adaptive_avg_pool3d(u, 4)", "F.adaptive_max_pool1d(s, 10)",
    "F.adaptive_max_pool2d(x, 7)", "F.adaptive_max_pool3d(u, 4)",
    *(f"F.interpolate(x, scale_factor=2, mode='{mode}')" for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")),
    "F.interpolate(x, scale_factor=0.5, mode='bilinear')", "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=True)",
    "F.interpolate(x, size=(40, 40), mode='bilinear', antialias=True)", "F.interpolate(s, scale_factor=2, mode='linear')",
    "F.interpolate(s, scale_factor=2, mode='nearest')", "F.interpolate(u, scale_factor=2, mode='trilinear')",
    "F.interpolate(u, scale_factor=2, mode='nearest')",
    *(f"F.grid_sample(x, G, mode='{mode}', align_corners=False)" for mode in ("bilinear", "nearest", "bicubic")),
    "F.grid_sample(x, G, padding_mode='border', align_corners=True)",
    "F.grid_sample(x, G, padding_mode='reflection', align_corners=False)", "F.grid_sample(u, H, align_corners=False)",
    "F.affine_grid(T, (8, 3, 56, 56), align_corners=False)", "F.pixel_shuffle(x, 2)", "F.pixel_unshuffle(x, 2)",
    "F.channel_shuffle(x, 4)", "F.unfold(x, 3, padding=1)", "F.fold(F.unfold(x, 3, padding=1), (56, 56), 3, padding=1)",
    "F.batch_norm(x, M, V)", "F.batch_norm(x, M, V, w, w, training=True)", "F.instance_norm(x)", "F.group_norm(x, 8, w, w)",
    "F.local_response_norm(x, 5)", "F.layer_norm(x, (56, 56))", "F.rms_norm(x, (56,))", "F.pad(x, (1, 1, 1, 1))",
    "F.pad(x, (1, 1, 1, 1), mode='reflect')", "F.pad(x, (2, 2, 2, 2), mode='replicate')", "F.pad(x, (2, 2, 2, 2), mode='circular')",
    "F.dropout2d(x, 0.5, True)", "F.batch_norm(y, None, None, training=True)", "F.relu(x)", "F.bilinear(y, y, b3)",
]  # fmt: skip


def image_arrays(rows: int) -> Arrays:
    batch = max(1, rows // 512)
    grid = (RNG.random((batch, 56, 56, 2)) * 2.1 - 1.05).astype(np.float32)
    space = (RNG.random((batch, 14, 14, 14, 3)) * 2.1 - 1.05).astype(np.float32)
    return {"x": normal(batch, 64, 56, 56), "s": normal(batch, 64, 2048), "u": normal(batch, 16, 28, 28, 28), "y": normal(128, 64),
            "k1": normal(64, 64, 5), "d1": normal(64, 1, 5), "k2": normal(64, 64, 3, 3), "k4": normal(64, 64, 4, 4),
            "g2": normal(64, 16, 3, 3), "d2": normal(64, 1, 3, 3), "k3": normal(16, 16, 3, 3, 3), "w": normal(64),
            "b3": normal(32, 64, 64), "G": grid, "H": space, "T": normal(8, 2, 3),
            "M": normal(64) * 0, "V": normal(64) * 0 + 1}  # fmt: skip


def image_cases(rows: int) -> Iterator[Case]:
    yield from forward(IMAGES, image_arrays(rows))


def image_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward([statement for statement in IMAGES if "affine_grid" not in statement], image_arrays(rows))


# ---- Linear algebra and Fourier transforms ----

ALGEBRA = [
    "t.addmm(b, a, a)", "t.addmv(v, a, v)", "t.addr(a, v, v)", "t.baddbmm(k, k, k)", "t.addbmm(k[0], k, k)", "t.bmm(k, k)",
    "t.bmm(k, k.mT)", "t.mv(a, v)", "t.mv(a.T, v)", "t.dot(f, f)", "t.vdot(f, f)", "t.outer(v, v)", "t.inner(a, a)",
    "t.tensordot(k, k, dims=([0], [0]))", "t.linalg.vecdot(a, b)", "t.linalg.cross(c, d)", "t.trace(a)", "t.einsum('bij,bjk->bik', k, k)",
    "t.einsum('ij,ij->i', a, b)", "t.einsum('bij,bij->b', k, k)", "t.einsum('ijk->kji', k).contiguous()",
    "t.linalg.multi_dot([a, a, v])", "t.chain_matmul(a, a, a)", "a @ v", "a.T @ a", "a @ a.T", "k @ v[:32]", "z @ z", "w @ w",
    "t.linalg.norm(a)", "t.linalg.eigvalsh(S)", "t.linalg.svdvals(a)", "t.linalg.lu(a)", "t.linalg.lu_factor(a)", "t.logdet(S)",
    "t.linalg.solve_triangular(l, a, upper=False)", "t.linalg.lstsq(a, b)", "t.linalg.matrix_rank(a)", "t.linalg.cond(a)",
    "t.cholesky_solve(a, l)", "t.cholesky_inverse(l)", "t.linalg.eig(a)", "t.linalg.matrix_power(a, 3)", "t.linalg.inv(a)",
    "t.linalg.solve(a, b)", "t.linalg.cholesky(S)", "t.linalg.qr(a)", "t.linalg.det(a)",
    "t.fft.fft(z)", "t.fft.ifft(z)", "t.fft.rfft(a)", "t.fft.irfft(z)", "t.fft.fft2(z)", "t.fft.rfft2(a)", "t.fft.fft(z, dim=0)",
    "t.fft.fftshift(a)", "t.fft.hfft(z)", "t.fft.fftn(k)", "t.stft(f, 256, window=h, return_complex=True)",
    "t.istft(t.stft(f, 256, window=h, return_complex=True), 256, window=h)", "t.linalg.matrix_exp(k)",
]  # fmt: skip
ALGEBRA_BACKWARD = [
    "t.addmm(b, a, a)", "t.bmm(k, k)", "t.mv(a, v)", "t.dot(f, f)", "t.outer(v, v)", "t.linalg.vecdot(a, b)", "t.linalg.cross(c, d)",
    "t.einsum('bij,bjk->bik', k, k)", "t.trace(a)", "t.linalg.inv(a)", "t.linalg.solve(a, b)", "t.linalg.cholesky(s)",
    "t.linalg.qr(a)", "t.linalg.svdvals(a)", "t.linalg.eigh(s)", "t.logdet(s)", "t.linalg.solve_triangular(l, a, upper=False)",
    "t.linalg.matrix_exp(k)", "t.linalg.lu_factor(a)",
]  # fmt: skip


def algebra_arrays(rows: int) -> Arrays:
    side = max(32, min(256, rows))
    a = normal(side, side)
    positive = a @ a.T / side + np.eye(side, dtype=np.float32)
    z = (normal(side, side) + 1j * normal(side, side)).astype(np.complex64)
    return {"a": a, "b": normal(side, side), "v": normal(side), "k": normal(max(1, rows // 4), 32, 32), "f": normal(rows * 256),
            "c": normal(rows * 256, 3), "d": normal(rows * 256, 3), "z": z, "w": RNG.integers(0, 9, (side, side)), "S": positive,
            "s": positive, "l": np.linalg.cholesky(positive), "h": np.hanning(256).astype(np.float32)}  # fmt: skip


def algebra_cases(rows: int) -> Iterator[Case]:
    yield from forward(ALGEBRA, algebra_arrays(rows))


def algebra_backward_cases(rows: int) -> Iterator[Case]:
    yield from backward(ALGEBRA_BACKWARD, algebra_arrays(rows))


# Along the channels of images, which are few and lie far apart in memory: x has (N, channels, size, size), y a class of
# each point. Elements stand beside each other along the axes that stay.
CHANNELS = [
    "t.softmax(x, 1)", "t.log_softmax(x, 1)", "t.logsumexp(x, 1)", "t.argmax(x, 1)", "t.max(x, 1)", "t.mean(x, 1)",
    "t.mean(x, 0)", "t.prod(x, 1)", "t.var(x, (0, 2, 3))", "t.cumsum(x, 1)", "t.linalg.vector_norm(x, dim=1)", "F.normalize(x)",
    "t.sort(x, 1)", "t.topk(x, 1, 1)", "t.kthvalue(x, 1, 1)", "t.cat([x, x], 1)", "t.flip(x, (1,))", "x.transpose(1, 3).contiguous()",
    "x * x.mean((0, 2, 3), keepdim=True)", "x.unfold(3, 3, 1).sum(-1)", "F.group_norm(x, 1)", "F.instance_norm(x)",
    "F.adaptive_avg_pool2d(x, 7)", "F.interpolate(x, scale_factor=2.0, mode='bilinear')", "F.one_hot(y, x.shape[1])",
    "x.gather(1, y[:, None])", "F.cross_entropy(x, y)", "F.nll_loss(x, y)",
]  # fmt: skip
IMAGES = [(1, 256), (3, 128), (21, 64), (64, 28)]  # channels and size


def channel_cases(rows: int) -> Iterator[Case]:
    for channels, size in IMAGES:
        shape = (max(1, rows * COLUMNS // (channels * size * size)), channels, size, size)
        arrays = {"x": normal(*shape), "y": RNG.integers(0, channels, (shape[0], size, size))}
        for name, ours, theirs in forward(CHANNELS, arrays):
            yield f"{name} of {'x'.join(map(str, shape))}", ours, theirs


FAMILIES = {
    "elementary": elementary_cases,
    "elementary-backward": elementary_backward_cases,
    "activation-more": activation_more_cases,
    "activation-backward": activation_backward_cases,
    "loss-more": loss_more_cases,
    "loss-backward": loss_backward_cases,
    "reduction-more": reduction_more_cases,
    "reduction-backward": reduction_backward_cases,
    "move-more": move_more_cases,
    "move-backward": move_backward_cases,
    "channels": channel_cases,
    "image": image_cases,
    "image-backward": image_backward_cases,
    "algebra": algebra_cases,
    "algebra-backward": algebra_backward_cases,
}
