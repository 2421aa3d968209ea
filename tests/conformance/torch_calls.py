# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The differentiable ops as calls of PyTorch (1.13 and newer), the arguments being those of the schema by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from generator.schema.model import Op
from torch.nn import functional

Arguments = SimpleNamespace

# Ops that PyTorch lacks, or that it differentiates in another way.
ABSENT = {
    "ctc_loss": "takes probabilities that sum to 1 for granted in its derivative",
    "channel_shuffle": "has no derivative there",
    "masked_std": "its derivative at equal elements is NaN there",
    "masked_logsumexp": "stands there for 2.0 and newer",
    "bincount": "has no derivative there; here the weights have one",
    "digamma": "its trigamma has nine digits there",
    "hardsigmoid": "divides by 6 in float32 there",
    "soft_margin_loss": "not differentiable towards the target there",
    "polygamma": "its trigamma has nine digits there",
    "floor_divide": "has no derivative there; here it is 0 as for floor",
    "bessel_j0": "no derivative there",
    "bessel_j1": "no derivative there",
    "bessel_y0": "no derivative there",
    "bessel_y1": "no derivative there",
    "modified_bessel_k0": "no derivative there",
    "modified_bessel_k1": "no derivative there",
    "scaled_modified_bessel_k0": "no derivative there",
    "scaled_modified_bessel_k1": "no derivative there",
    "spherical_bessel_j0": "no derivative there",
    "airy_ai": "no derivative there",
    "as_strided_scatter": "its derivative in 1.13 shows memory that nothing has written",
    "chebyshev_polynomial_t": "no derivative there",
    "chebyshev_polynomial_u": "no derivative there",
    "chebyshev_polynomial_v": "no derivative there",
    "chebyshev_polynomial_w": "no derivative there",
    "shifted_chebyshev_polynomial_t": "no derivative there",
    "shifted_chebyshev_polynomial_u": "no derivative there",
    "shifted_chebyshev_polynomial_v": "no derivative there",
    "shifted_chebyshev_polynomial_w": "no derivative there",
    "hermite_polynomial_h": "no derivative there",
    "hermite_polynomial_he": "no derivative there",
    "laguerre_polynomial_l": "no derivative there",
    "legendre_polynomial_p": "no derivative there",
}


def plain(function: Callable[..., Any], *names: str) -> Callable[[Arguments], Any]:
    """The function of the named arguments, in order."""
    return lambda a: function(*(getattr(a, name) for name in names))


def reduced(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    """A reduction that takes all axes as a tuple."""
    return lambda a: function(a.input, axes(a), a.keepdims)


def axes(a: Arguments) -> Any:
    return tuple(range(a.input.ndim)) if a.axes is None else a.axes


def trapezoids(function: Callable[..., Any], a: Arguments) -> Any:
    return function(a.input, dim=a.axis, **({"dx": a.dx} if a.x is None else {"x": a.x}))


def median(function: Callable[..., Any], a: Arguments) -> Any:
    return function(a.input) if a.axis is None else function(a.input, a.axis, a.keepdims)[0]


def quantile(function: Callable[..., Any], a: Arguments) -> Any:
    return function(a.input, a.q, a.axis, a.keepdims, interpolation=a.interpolation)


def one_by_one(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    """A reduction that takes one axis, over all of them."""

    def run(a: Arguments) -> Any:
        result = a.input
        for axis in sorted((i % a.input.ndim for i in axes(a)), reverse=True):
            result = function(result, axis)
        return result

    return run


def convolution(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    return lambda a: function(
        a.input, a.weight, a.bias, a.stride or 1, "same" if a.same else a.padding or 0, a.dilation or 1, a.groups
    )


def transposed_convolution(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    return lambda a: function(
        a.input, a.weight, a.bias, a.stride or 1, a.padding or 0, a.output_padding or 0, a.groups, a.dilation or 1
    )


def triangular(a: Arguments) -> Any:
    """A 1-D right-hand side is one column, which PyTorch has no word for."""
    other = a.other[:, None] if a.other.ndim == 1 else a.other
    found = torch.linalg.solve_triangular(a.input, other, upper=a.upper, left=a.left, unitriangular=a.unitriangular)
    return found[:, 0] if a.other.ndim == 1 else found


def half(factor: Any, upper: bool) -> Any:
    """The triangle that is read: PyTorch gives the other one a gradient too."""
    return factor.triu() if upper else factor.tril()


def order(text: str) -> str | float:
    """The order of a matrix norm, which is a number there unless it is a name."""
    return text if text in ("fro", "nuc") else float(text)


def max_pool(axes: int) -> Callable[[Arguments], Any]:
    function = getattr(functional, f"max_pool{axes}d")
    return lambda a: function(
        a.input, a.kernel_size, a.stride, a.padding or 0, a.dilation or 1, a.ceil_mode, return_indices=True
    )


def lp_pool3d(a: Arguments) -> Any:
    """Newer than PyTorch 1.13."""
    means = functional.avg_pool3d(a.input**a.norm_type, a.kernel_size, a.stride, 0, a.ceil_mode)
    return (means * float(np.prod(a.kernel_size))) ** (1 / a.norm_type)


def rms_norm(a: Arguments) -> Any:
    """Newer than PyTorch 1.13."""
    last = tuple(range(-len(a.normalized_shape), 0))
    eps = torch.finfo(a.input.dtype).eps if a.eps is None else a.eps
    found = a.input * torch.rsqrt((a.input * a.input).mean(last, keepdim=True) + eps)
    return found if a.weight is None else found * a.weight


def pooling(axes: int) -> dict[str, Callable[[Arguments], Any]]:
    """The calls of all poolings along so many axes."""

    def of(name: str) -> Callable[..., Any]:
        return getattr(functional, f"{name}{axes}d", None)  # type: ignore[return-value]

    found = {
        "max_pool": lambda a: max_pool(axes)(a)[0],
        "max_pool_with_positions": max_pool(axes),
        "avg_pool": lambda a: of("avg_pool")(
            a.input, a.kernel_size, a.stride, a.padding or 0, a.ceil_mode, a.count_include_pad,
            *([a.divisor_override] if axes > 1 else [])
        ),
        "adaptive_avg_pool": lambda a: of("adaptive_avg_pool")(a.input, a.output_size),
        "adaptive_max_pool": lambda a: of("adaptive_max_pool")(a.input, a.output_size),
        "adaptive_max_pool_with_positions": lambda a: of("adaptive_max_pool")(a.input, a.output_size, True),
        "lp_pool": lp_pool3d if axes == 3 else lambda a: of("lp_pool")(
            a.input, a.norm_type, a.kernel_size[0] if axes == 1 else a.kernel_size,
            a.stride[0] if axes == 1 and a.stride else a.stride, a.ceil_mode
        ),
        "max_unpool": lambda a: of("max_unpool")(
            a.input, a.positions, a.kernel_size, a.stride, a.padding or 0, a.output_size
        ),
    }  # fmt: skip
    return {name.replace("pool", f"pool{axes}d"): call for name, call in found.items()}


def masked(name: str) -> Callable[[Arguments], Any]:
    """A reduction of torch.masked."""
    return lambda a: getattr(torch.masked, name)(a.input, a.axes, keepdim=a.keepdims, mask=a.mask)


def masked_along(name: str) -> Callable[[Arguments], Any]:
    """A function of torch.masked along an axis. What is left out is finite here and its result no number to compare."""
    return lambda a: getattr(torch.masked, name)(a.input, a.axis, mask=a.mask)


def windows(a: Arguments) -> tuple[Any, ...]:
    return two(a.kernel_size), a.dilation or 1, a.padding or 0, a.stride or 1


def two(numbers: Any) -> Any:
    """One number for both axes is no list there."""
    return tuple(numbers) if len(numbers) == 2 else numbers[0]


def interpolated(a: Arguments) -> Any:
    return functional.interpolate(
        a.input, a.size, tuple(a.scale_factor) or None, a.mode, a.align_corners, antialias=a.antialias
    )


def segments(a: Arguments) -> Any:
    return torch.segment_reduce(a.input, a.reduce, lengths=a.lengths, offsets=a.offsets, axis=a.axis, initial=a.initial)


def attend(a: Arguments) -> Any:
    """PyTorch has this as one function from 2.0 on."""
    return torch.softmax(a.query @ a.key.mT * a.query.shape[-1] ** -0.5 + a.attn_mask, -1) @ a.value


def index_of(items: tuple[int, ...], arrays: Any) -> tuple[Any, ...]:
    """The items of the schema's index_kind as Python writes them."""
    left = iter(arrays)
    kinds: dict[int, Callable[..., Any]] = {
        0: lambda start, stop, step: start,
        1: lambda start, stop, step: slice(start, stop, step),
        2: lambda start, stop, step: None,
        3: lambda start, stop, step: Ellipsis,
        4: lambda start, stop, step: next(left),
    }
    return tuple(kinds[items[i]](*items[i + 1 : i + 4]) for i in range(0, len(items), 4))


def assigned(a: Arguments) -> Any:
    a.input[index_of(a.items, a.arrays)] = a.value
    return a.input


def call_of(op: Op) -> Callable[[Arguments], Any] | None:
    """The call of an op. An op that PyTorch has with the same name and arguments needs no row."""
    if op.name in CALLS or op.name in ABSENT:
        return CALLS.get(op.name)
    function = getattr(torch, op.name, None) or getattr(functional, op.name, None)
    names = [arg.name for arg in op.args]
    if function is not None and all(arg.type.is_tensor for arg in op.args):
        return plain(function, *names)
    if function is not None and names[:3] == ["input", "axes", "keepdims"]:
        return reduced(function)
    raise SystemExit(f"{op.name} stands neither in CALLS nor in ABSENT of torch_calls.py")


def recurrent(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    def call(a: Arguments) -> Any:
        options = (a.hx, a.params, a.has_biases, a.num_layers, a.dropout, a.train, a.bidirectional)
        if a.batch_sizes is not None:
            return function(a.input, torch.tensor(a.batch_sizes), *options)
        return function(a.input, *options, a.batch_first)

    return call


def cell(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    def call(a: Arguments) -> Any:
        if a.input.ndim == 2:
            return function(a.input, a.hx, a.w_ih, a.w_hh, a.b_ih, a.b_hh)
        hx = [h.unsqueeze(0) for h in a.hx] if isinstance(a.hx, list) else a.hx.unsqueeze(0)
        result = function(a.input.unsqueeze(0), hx, a.w_ih, a.w_hh, a.b_ih, a.b_hh)
        return tuple(r.squeeze(0) for r in result) if isinstance(result, tuple) else result.squeeze(0)

    return call


CALLS: dict[str, Callable[[Arguments], Any]] = {
    "lstm": recurrent(torch.lstm),
    "gru": recurrent(torch.gru),
    "rnn_tanh": recurrent(torch.rnn_tanh),
    "rnn_relu": recurrent(torch.rnn_relu),
    "lstm_cell": cell(torch.lstm_cell),
    "gru_cell": cell(torch.gru_cell),
    "rnn_tanh_cell": cell(torch.rnn_tanh_cell),
    "rnn_relu_cell": cell(torch.rnn_relu_cell),
    **{f"masked_{name}": masked(name) for name in ("sum", "prod", "mean", "amax", "amin")},
    **{f"masked_{name}": masked_along(name) for name in ("softmax", "softmin", "log_softmax", "cumsum", "cumprod")},
    "masked_var": lambda a: torch.masked.var(a.input, a.axes, bool(a.correction), keepdim=a.keepdims, mask=a.mask),
    "masked_norm": lambda a: torch.masked.norm(a.input, a.ord, a.axes, keepdim=a.keepdims, mask=a.mask),
    "masked_median": lambda a: torch.masked.median(a.input, a.axis or 0, keepdim=a.keepdims, mask=a.mask),
    "masked_normalize": lambda a: torch.masked.normalize(a.input, a.ord, a.axis, eps=a.eps, mask=a.mask),
    "segment_reduce": segments,
    "pixel_shuffle": plain(functional.pixel_shuffle, "input", "upscale_factor"),
    "pixel_unshuffle": plain(functional.pixel_unshuffle, "input", "downscale_factor"),
    "im2col": lambda a: functional.unfold(a.input, *windows(a)),
    "col2im": lambda a: functional.fold(a.input, two(a.output_size), *windows(a)),
    "interpolate": interpolated,
    "grid_sample": plain(functional.grid_sample, "input", "grid", "mode", "padding_mode", "align_corners"),
    "affine_grid": plain(functional.affine_grid, "theta", "size", "align_corners"),
    "cdist": plain(torch.cdist, "x1", "x2", "p"),
    "pdist": plain(functional.pdist, "input", "p"),
    "leaky_relu": lambda a: functional.leaky_relu(a.input, a.negative_slope),
    "gelu": lambda a: functional.gelu(a.input, approximate=a.approximate),
    "elu": lambda a: functional.elu(a.input, a.alpha),
    "celu": lambda a: functional.celu(a.input, a.alpha),
    "hardtanh": lambda a: functional.hardtanh(a.input, a.min_val, a.max_val),
    "softplus": lambda a: functional.softplus(a.input, a.beta, a.threshold),
    "softshrink": lambda a: functional.softshrink(a.input, a.lambd),
    "hardshrink": lambda a: functional.hardshrink(a.input, a.lambd),
    "threshold": lambda a: functional.threshold(a.input, a.threshold, a.value),
    "glu": plain(functional.glu, "input", "axis"),
    "softmin": plain(functional.softmin, "input", "axis"),
    **{name: plain(getattr(torch.special, name), "input") for name in ("ndtr", "ndtri", "log_ndtr", "erfcx", "entr", "i0e", "i1", "i1e")},
    "multigammaln": plain(torch.special.multigammaln, "input", "p"),
    "xlog1py": plain(torch.special.xlog1py, "input", "other"),
    **{f"fft_{name}": plain(getattr(torch.fft, name), "input", "n", "axis", "norm") for name in ("irfft", "hfft")},
    **{f"fft_{name}": plain(getattr(torch.fft, name), "input", "s", "axes", "norm") for name in ("irfftn",)},
    "fft_irfft2": lambda a: torch.fft.irfft2(a.input, a.s, (-2, -1) if a.axes is None else a.axes, a.norm),
    **{f"fft_{name}": plain(getattr(torch.fft, name), "input", "axes") for name in ("fftshift", "ifftshift")},
    "logit": lambda a: torch.logit(a.input, a.eps),
    "round_decimals": lambda a: torch.round(a.input, decimals=a.decimals),
    "nan_to_num": lambda a: torch.nan_to_num(a.input, a.nan, a.posinf, a.neginf),
    "divide_rounded": lambda a: torch.div(a.input, a.other, rounding_mode=None if a.rounding_mode == "none" else a.rounding_mode),
    "prod": one_by_one(torch.prod),
    "var": lambda a: torch.var(a.input, axes(a), correction=int(a.correction), keepdim=a.keepdims),
    "std": lambda a: torch.std(a.input, axes(a), correction=int(a.correction), keepdim=a.keepdims),
    "max": reduced(torch.amax),
    "min": reduced(torch.amin),
    "vector_norm": lambda a: torch.linalg.vector_norm(a.input, a.ord, axes(a), a.keepdims),
    "cumulative_sum": lambda a: torch.cumsum(a.input, 0 if a.axis is None else a.axis),
    "cumulative_prod": lambda a: torch.cumprod(a.input, a.axis or 0),
    "cummax": plain(torch.cummax, "input", "axis"),
    "cummin": plain(torch.cummin, "input", "axis"),
    "logcumsumexp": plain(torch.logcumsumexp, "input", "axis"),
    "diff": plain(torch.diff, "input", "n", "axis", "prepend", "append"),
    "trapezoid": lambda a: trapezoids(torch.trapezoid, a),
    "cumulative_trapezoid": lambda a: trapezoids(torch.cumulative_trapezoid, a),
    "nanmean": reduced(torch.nanmean),
    "aminmax": lambda a: (reduced(torch.amin)(a), reduced(torch.amax)(a)),
    "var_mean": lambda a: torch.var_mean(a.input, axes(a), correction=int(a.correction), keepdim=a.keepdims),
    "std_mean": lambda a: torch.std_mean(a.input, axes(a), correction=int(a.correction), keepdim=a.keepdims),
    "max_with_indices": plain(torch.max, "input", "axis", "keepdims"),
    "min_with_indices": plain(torch.min, "input", "axis", "keepdims"),
    "norm": lambda a: torch.linalg.vector_norm(a.input, a.p, axes(a), a.keepdims),
    "dist": plain(torch.dist, "input", "other", "p"),
    "renorm": plain(torch.renorm, "input", "p", "axis", "max_norm"),
    "kthvalue": plain(torch.kthvalue, "input", "k", "axis", "keepdims"),
    "median": lambda a: median(torch.median, a),
    "nanmedian": lambda a: median(torch.nanmedian, a),
    "median_with_indices": plain(torch.median, "input", "axis", "keepdims"),
    "nanmedian_with_indices": plain(torch.nanmedian, "input", "axis", "keepdims"),
    "mode": plain(torch.mode, "input", "axis", "keepdims"),
    "quantile": lambda a: quantile(torch.quantile, a),
    "nanquantile": lambda a: quantile(torch.nanquantile, a),
    "cov": lambda a: torch.cov(a.input, correction=int(a.correction), fweights=a.fweights, aweights=a.aweights),
    "corrcoef": plain(torch.corrcoef, "input"),
    "msort": plain(torch.msort, "input"),
    "linear": lambda a: functional.linear(a.input, a.weight, a.bias),
    "addmm": lambda a: torch.addmm(a.input, a.mat1, a.mat2, beta=a.beta, alpha=a.alpha),
    "addmv": lambda a: torch.addmv(a.input, a.mat, a.vec, beta=a.beta, alpha=a.alpha),
    "addr": lambda a: torch.addr(a.input, a.vec1, a.vec2, beta=a.beta, alpha=a.alpha),
    "baddbmm": lambda a: torch.baddbmm(a.input, a.batch1, a.batch2, beta=a.beta, alpha=a.alpha),
    "addbmm": lambda a: torch.addbmm(a.input, a.batch1, a.batch2, beta=a.beta, alpha=a.alpha),
    "vecdot": lambda a: torch.linalg.vecdot(a.input, a.other, dim=a.axis),
    "tensordot": lambda a: torch.tensordot(a.input, a.other, (list(a.input_axes), list(a.other_axes))),
    "cross": lambda a: torch.linalg.cross(a.input, a.other, dim=a.axis),
    "trace": lambda a: torch.diagonal(a.input, a.offset, -2, -1).sum(-1),
    "einsum": lambda a: torch.einsum(a.equation, *a.operands),
    "multi_dot": lambda a: torch.linalg.multi_dot(a.tensors),
    "matrix_power": lambda a: torch.linalg.matrix_power(a.input, a.n),
    "cholesky": lambda a: torch.linalg.cholesky(a.input, upper=a.upper),
    "qr": lambda a: torch.linalg.qr(a.input, a.mode),
    "unique_consecutive_values": lambda a: torch.unique_consecutive(a.input, dim=a.axis),
    "unique_consecutive_counts": lambda a: torch.unique_consecutive(a.input, return_counts=True, dim=a.axis),
    "geqrf": plain(torch.geqrf, "input"),
    "householder_product": plain(torch.linalg.householder_product, "input", "tau"),
    "svd": lambda a: torch.linalg.svd(a.input, a.full_matrices),
    "svdvals": lambda a: torch.linalg.svdvals(a.input),
    "eigh": lambda a: torch.linalg.eigh(a.input, a.uplo),
    "eigvalsh": lambda a: torch.linalg.eigvalsh(a.input, a.uplo),
    "eig": lambda a: torch.linalg.eig(a.input),
    "eigvals": lambda a: torch.linalg.eigvals(a.input),
    "solve": lambda a: torch.linalg.solve(a.input, a.other, left=a.left),
    "solve_triangular": triangular,
    "cholesky_solve": lambda a: torch.cholesky_solve(a.input, half(a.factor, a.upper), a.upper),
    "cholesky_inverse": lambda a: torch.cholesky_inverse(half(a.input, a.upper), a.upper),
    "lu_factor": lambda a: torch.linalg.lu_factor(a.input),
    "lu": lambda a: torch.linalg.lu(a.input),
    "lu_solve": lambda a: torch.linalg.lu_solve(a.input, a.pivots, a.other, left=a.left, adjoint=a.adjoint),
    "inv": lambda a: torch.linalg.inv(a.input),
    "pinv": lambda a: torch.linalg.pinv(a.input, rtol=a.rtol, hermitian=a.hermitian),
    "det": lambda a: torch.linalg.det(a.input),
    "slogdet": lambda a: torch.linalg.slogdet(a.input),
    "lstsq": lambda a: torch.linalg.lstsq(a.input, a.other, a.rcond),
    "lstsq_solution": lambda a: torch.linalg.lstsq(a.input, a.other, a.rcond)[0:3:2],
    "matrix_exp": lambda a: torch.linalg.matrix_exp(a.input),
    "matrix_norm": lambda a: torch.linalg.matrix_norm(a.input, order(a.ord), keepdim=a.keepdims),
    "cond": lambda a: torch.linalg.cond(a.input, order(a.p)),
    "asarray": lambda a: a.input.clone(),
    "addcmul": lambda a: torch.addcmul(a.input, a.tensor1, a.tensor2, value=a.value),
    "addcdiv": lambda a: torch.addcdiv(a.input, a.tensor1, a.tensor2, value=a.value),
    "clip": lambda a: torch.clip(a.input, a.min, a.max),
    "sort": lambda a: torch.sort(a.input, a.axis, a.descending).values,
    "sort_with_indices": lambda a: torch.sort(a.input, a.axis, a.descending),
    "topk": lambda a: torch.topk(a.input, a.k, a.axis, a.largest),
    "to": lambda a: a.input.to(torch.float64),
    "copy": lambda a: a.input.copy_(a.source),
    "reshape": plain(torch.reshape, "input", "shape"),
    "view": lambda a: a.input.view(a.shape),
    "flatten": plain(torch.flatten, "input", "start", "end_axis"),
    "squeeze": lambda a: one_by_one(torch.squeeze)(a),
    "expand_dims": lambda a: functools.reduce(torch.unsqueeze, sorted(i % (a.input.ndim + len(a.axes)) for i in a.axes), a.input),
    "unsqueeze": plain(torch.unsqueeze, "input", "axis"),
    "permute_dims": plain(torch.permute, "input", "axes"),
    "transpose": plain(torch.transpose, "input", "axis0", "axis1"),
    "matrix_transpose": lambda a: a.input.mT,
    "moveaxis": plain(torch.moveaxis, "input", "source", "destination"),
    "broadcast_to": plain(torch.broadcast_to, "input", "shape"),
    "expand": lambda a: a.input.expand(a.shape),
    "select": plain(torch.select, "input", "axis", "index"),
    "slice": lambda a: a.input[(slice(None),) * a.axis + (slice(a.start, a.stop, a.step),)],
    "narrow": plain(torch.narrow, "input", "axis", "start", "length"),
    "split": plain(torch.split, "input", "size", "axis"),
    "split_with_sizes": plain(torch.split_with_sizes, "input", "sizes", "axis"),
    "chunk": plain(torch.chunk, "input", "chunks", "axis"),
    "unstack": plain(torch.unbind, "input", "axis"),
    "diagonal": plain(torch.diagonal, "input", "offset", "axis1", "axis2"),
    "concat": plain(torch.concat, "tensors", "axis"),
    "stack": plain(torch.stack, "tensors", "axis"),
    "as_strided": lambda a: torch.as_strided(a.input, a.shape, a.strides, a.offset),
    "unfold": lambda a: a.input.unfold(a.axis, a.size, a.step),
    "unflatten": lambda a: a.input.unflatten(a.axis, a.shape),
    "tensor_split": plain(torch.tensor_split, "input", "sections", "axis"),
    "tensor_split_at": plain(torch.tensor_split, "input", "indices", "axis"),
    "broadcast_tensors": lambda a: torch.broadcast_tensors(*a.tensors),
    "meshgrid": lambda a: torch.meshgrid(*a.tensors, indexing=a.indexing),
    "select_scatter": plain(torch.select_scatter, "input", "source", "axis", "index"),
    "slice_scatter": plain(torch.slice_scatter, "input", "source", "axis", "start", "stop", "step"),
    "diagonal_scatter": plain(torch.diagonal_scatter, "input", "source", "offset", "axis1", "axis2"),
    "hstack": plain(torch.hstack, "tensors"),
    "vstack": plain(torch.vstack, "tensors"),
    "dstack": plain(torch.dstack, "tensors"),
    "column_stack": plain(torch.column_stack, "tensors"),
    "block_diag": lambda a: torch.block_diag(*a.tensors),
    "cartesian_prod": lambda a: torch.cartesian_prod(*a.tensors),
    "combinations": plain(torch.combinations, "input", "r", "with_replacement"),
    "rot90": lambda a: torch.rot90(a.input, a.k, a.axes or (0, 1)),
    "diag": plain(torch.diag, "input", "offset"),
    "diag_embed": plain(torch.diag_embed, "input", "offset", "axis1", "axis2"),
    "diagflat": plain(torch.diagflat, "input", "offset"),
    "tile": plain(torch.tile, "input", "repetitions"),
    "repeat": plain(torch.repeat_interleave, "input", "repeats", "axis"),
    "flip": lambda a: torch.flip(a.input, axes(a)),
    "roll": plain(torch.roll, "input", "shift", "axes"),
    "tril": plain(torch.tril, "input", "diagonal"),
    "triu": plain(torch.triu, "input", "diagonal"),
    "pad": lambda a: functional.pad(a.input, a.padding, a.mode, a.value),
    "getitem": lambda a: a.input[index_of(a.items, a.arrays)],
    "getitem_basic": lambda a: a.input[index_of(a.items, ())],
    "getitem_boolean": lambda a: a.input[a.mask],
    "getitem_integer": lambda a: a.input[tuple(i.long() for i in a.indices)],
    "setitem": assigned,
    "index_put": plain(torch.index_put, "input", "indices", "values", "accumulate"),
    "index_select": plain(torch.index_select, "input", "axis", "index"),
    "take": lambda a: torch.take(a.input, a.indices) if a.axis is None else a.input[(slice(None),) * a.axis + (a.indices,)],
    "embedding": lambda a: functional.embedding(a.input, a.weight, a.padding_idx),
    "embedding_bag": lambda a: functional.embedding_bag(
        a.input, a.weight, a.offsets, None, 2.0, a.scale_grad_by_freq, a.mode, False, a.per_sample_weights,
        a.include_last_offset, a.padding_idx,
    ),
    "scaled_dot_product_attention": attend,
    "multi_head_attention": lambda a: functional.multi_head_attention_forward(
        a.query, a.key, a.value, a.query.shape[-1], a.num_heads, a.in_proj_weight, a.in_proj_bias, a.bias_k, a.bias_v,
        a.add_zero_attn, a.dropout_p, a.out_proj_weight, a.out_proj_bias,
    ),
    "gather": plain(torch.gather, "input", "axis", "index"),
    "take_along_axis": plain(torch.take_along_dim, "input", "indices", "axis"),
    "scatter_add": plain(torch.scatter_add, "input", "axis", "index", "source"),
    "scatter": lambda a: torch.scatter(a.input, a.axis, a.index, a.source),
    "scatter_reduce": lambda a: torch.scatter_reduce(a.input, a.axis, a.index, a.source, a.reduce, include_self=a.include_self),
    "index_add": lambda a: torch.index_add(a.input, a.axis, a.index, a.source, alpha=a.alpha),
    "index_copy": plain(torch.index_copy, "input", "axis", "index", "source"),
    "index_fill": plain(torch.index_fill, "input", "axis", "index", "value"),
    "index_reduce": lambda a: torch.index_reduce(a.input, a.axis, a.index, a.source, a.reduce, include_self=a.include_self),
    "put": plain(torch.put, "input", "index", "source", "accumulate"),
    "masked_fill": plain(torch.masked_fill, "input", "mask", "value"),
    "masked_select": plain(torch.masked_select, "input", "mask"),
    "conv1d": convolution(functional.conv1d),
    "conv2d": convolution(functional.conv2d),
    "conv3d": convolution(functional.conv3d),
    "conv_transpose1d": transposed_convolution(functional.conv_transpose1d),
    "conv_transpose2d": transposed_convolution(functional.conv_transpose2d),
    "conv_transpose3d": transposed_convolution(functional.conv_transpose3d),
    **pooling(1),
    **pooling(2),
    **pooling(3),
    "batch_norm": lambda a: functional.batch_norm(
        a.input, a.running_mean, a.running_var, a.weight, a.bias, a.training, a.momentum, a.eps
    ),
    "group_norm": lambda a: functional.group_norm(a.input, a.num_groups, a.weight, a.bias, a.eps),
    "instance_norm": lambda a: functional.instance_norm(
        a.input, a.running_mean, a.running_var, a.weight, a.bias, a.use_input_stats, a.momentum, a.eps
    ),
    "local_response_norm": lambda a: functional.local_response_norm(a.input, a.size, a.alpha, a.beta, a.k),
    "rms_norm": rms_norm,
    "layer_norm": lambda a: functional.layer_norm(a.input, a.normalized_shape, a.weight, a.bias, a.eps),
    "softmax": plain(torch.softmax, "input", "axis"),
    "log_softmax": plain(torch.log_softmax, "input", "axis"),
    "cross_entropy": lambda a: functional.cross_entropy(
        a.input, a.target, a.weight, ignore_index=a.ignore_index, reduction=a.reduction, label_smoothing=a.label_smoothing
    ),
    "nll_loss": lambda a: functional.nll_loss(
        a.input, a.target, a.weight, ignore_index=a.ignore_index, reduction=a.reduction
    ),
    "mse_loss": lambda a: functional.mse_loss(a.input, a.target, reduction=a.reduction),
    "l1_loss": lambda a: functional.l1_loss(a.input, a.target, reduction=a.reduction),
    "smooth_l1_loss": lambda a: functional.smooth_l1_loss(a.input, a.target, reduction=a.reduction, beta=a.beta),
    "huber_loss": lambda a: functional.huber_loss(a.input, a.target, reduction=a.reduction, delta=a.delta),
    "kl_div": lambda a: functional.kl_div(a.input, a.target, reduction=a.reduction, log_target=a.log_target),
    "binary_cross_entropy": lambda a: functional.binary_cross_entropy(a.input, a.target, a.weight, reduction=a.reduction),
    "poisson_nll_loss": lambda a: functional.poisson_nll_loss(
        a.input, a.target, log_input=a.log_input, full=a.full, eps=a.eps, reduction=a.reduction
    ),
    "gaussian_nll_loss": lambda a: functional.gaussian_nll_loss(
        a.input, a.target, a.var, full=a.full, eps=a.eps, reduction=a.reduction
    ),
    "margin_ranking_loss": lambda a: functional.margin_ranking_loss(
        a.input1, a.input2, a.target, margin=a.margin, reduction=a.reduction
    ),
    "triplet_margin_loss": lambda a: functional.triplet_margin_loss(
        a.anchor, a.positive, a.negative, margin=a.margin, p=a.p, eps=a.eps, swap=a.swap, reduction=a.reduction
    ),
    "multi_margin_loss": lambda a: functional.multi_margin_loss(
        a.input, a.target, p=int(a.p), margin=a.margin, weight=a.weight, reduction=a.reduction
    ),
    "multilabel_margin_loss": lambda a: functional.multilabel_margin_loss(a.input, a.target, reduction=a.reduction),
    "multilabel_soft_margin_loss": lambda a: functional.multilabel_soft_margin_loss(
        a.input, a.target, a.weight, reduction=a.reduction
    ),
    "cosine_similarity": lambda a: functional.cosine_similarity(a.input1, a.input2, a.axis, a.eps),
    "pairwise_distance": lambda a: functional.pairwise_distance(a.input1, a.input2, a.p, a.eps, a.keepdims),
    "normalize": lambda a: functional.normalize(a.input, a.p, a.axis, a.eps),
    "binary_cross_entropy_with_logits": lambda a: functional.binary_cross_entropy_with_logits(
        a.input, a.target, a.weight, pos_weight=a.pos_weight, reduction=a.reduction
    ),
    "dropout": lambda a: functional.dropout(a.input, a.p, a.training),
    **{
        name: lambda a, call=getattr(functional, name): call(a.input, a.p, a.training)
        for name in ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
    },
}
