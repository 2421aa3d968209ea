# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers as functions. Names and arguments are PyTorch's; `axis` may also be written `dim`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .. import _ops
from .._errors import ArgumentTypeError, InvalidValueError, as_number
from .._ops import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_positions,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_positions,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_positions,
    alpha_dropout,
    alpha_dropout_,
    avg_pool1d,
    affine_grid,
    avg_pool2d,
    avg_pool3d,
    batch_norm,
    bilinear,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    celu,
    celu_,
    channel_shuffle,
    col2im,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_embedding_loss,
    cosine_similarity,
    cross_entropy,
    ctc_loss,
    dropout,
    dropout1d,
    dropout1d_,
    dropout2d,
    dropout2d_,
    dropout3d,
    dropout3d_,
    dropout_,
    elu,
    elu_,
    embedding,
    feature_alpha_dropout,
    feature_alpha_dropout_,
    embedding_bag,
    gaussian_nll_loss,
    gelu,
    glu,
    group_norm,
    gru,
    gru_cell,
    grid_sample,
    gumbel_softmax,
    hardshrink,
    hardshrink_,
    hardsigmoid,
    hardsigmoid_,
    hardswish,
    hardswish_,
    hardtanh,
    hardtanh_,
    hinge_embedding_loss,
    huber_loss,
    instance_norm,
    im2col,
    kl_div,
    l1_loss,
    layer_norm,
    leaky_relu,
    linear,
    local_response_norm,
    log_softmax,
    logsigmoid,
    logsigmoid_,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    lstm,
    lstm_cell,
    margin_ranking_loss,
    max_pool1d,
    max_pool1d_with_positions,
    max_pool2d,
    max_pool2d_with_positions,
    max_pool3d,
    max_pool3d_with_positions,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
    mish,
    mish_,
    mse_loss,
    multi_head_attention,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    normalize,
    one_hot,
    pad,
    pairwise_distance,
    pdist,
    pixel_shuffle,
    pixel_unshuffle,
    poisson_nll_loss,
    prelu,
    relu,
    relu6,
    relu6_,
    rms_norm,
    rnn_relu,
    rnn_relu_cell,
    rnn_tanh,
    rnn_tanh_cell,
    scaled_dot_product_attention,
    selu,
    selu_,
    sigmoid,
    silu,
    smooth_l1_loss,
    soft_margin_loss,
    softmax,
    softmin,
    softplus,
    softplus_,
    softshrink,
    softshrink_,
    softsign,
    softsign_,
    tanh,
    tanhshrink,
    tanhshrink_,
    threshold,
    threshold_,
    triplet_margin_loss,
)

from ._fractional import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_positions,
    fractional_max_pool3d,
    fractional_max_pool3d_with_positions,
)

if TYPE_CHECKING:
    from .._tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_positions",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_positions",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_positions",
    "alpha_dropout",
    "alpha_dropout_",
    "avg_pool1d",
    "affine_grid",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "col2im",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout1d_",
    "dropout2d",
    "dropout2d_",
    "dropout3d",
    "dropout3d_",
    "dropout_",
    "elu",
    "elu_",
    "embedding",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "embedding_bag",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_positions",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_positions",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "group_norm",
    "gru",
    "gru_cell",
    "fold",
    "grid_sample",
    "gumbel_softmax",
    "hardshrink",
    "hardshrink_",
    "hardsigmoid",
    "hardsigmoid_",
    "hardswish",
    "hardswish_",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "im2col",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "logsigmoid_",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "lstm",
    "lstm_cell",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_positions",
    "max_pool2d",
    "max_pool2d_with_positions",
    "max_pool3d",
    "max_pool3d_with_positions",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mish_",
    "mse_loss",
    "multi_head_attention",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu6_",
    "rms_norm",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softplus_",
    "softshrink",
    "softshrink_",
    "softsign",
    "softsign_",
    "tanh",
    "tanhshrink",
    "tanhshrink_",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
]

unfold = im2col
fold = col2im


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """An image of another size; floating dtypes, with the two nearest modes any dtype.

    One of `size` and `scale_factor` is given, as one number or one for each spatial axis. `mode` is nearest,
    nearest-exact, area, linear, bilinear, bicubic or trilinear.
    """
    factors: Sequence[float] = ()
    if isinstance(scale_factor, (list, tuple)):
        factors = scale_factor
    elif scale_factor is not None:
        factors = [as_number(scale_factor, "interpolate: scale_factor")]
    return _ops.interpolate(
        input, factors, size, mode, align_corners, bool(recompute_scale_factor), antialias, out=out
    )


def rrelu(
    input: Tensor, lower: float = 0.125, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x, and left of 0 x times a slope: a random number in [lower, upper] for each element in training, else their mean."""
    lower, upper = as_number(lower, "rrelu: lower"), as_number(upper, "rrelu: upper")
    if lower > upper:
        raise InvalidValueError(f"rrelu: lower: expected at most upper = {upper}, got {lower}")
    if not training:
        mean = (lower + upper) / 2
        if not inplace:
            return leaky_relu(input, mean)
        if not hasattr(input, "leaky_relu_"):
            raise ArgumentTypeError(f"rrelu: input: expected a Tensor, got {type(input).__name__}")
        return input.leaky_relu_(mean)
    slopes = _ops.empty_like(input).uniform_(lower, upper)
    result = _ops.where(input >= 0, input, input * slopes)
    return input.copy_(result) if inplace else result


def rrelu_(input: Tensor, lower: float = 0.125, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    return rrelu(input, lower, upper, training, inplace=True)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for any distance d, pairwise_distance by default."""
    if reduction not in ("none", "mean", "sum"):
        raise InvalidValueError(f"reduction: expected 'none', 'mean' or 'sum', got {reduction!r}")
    distance: Callable[[Tensor, Tensor], Tensor] = distance_function or pairwise_distance
    far = distance(anchor, negative)
    if swap:
        far = _ops.minimum(far, distance(positive, negative))
    loss = _ops.clip(distance(anchor, positive) - far + margin, 0)
    return loss if reduction == "none" else _ops.sum(loss) if reduction == "sum" else _ops.mean(loss)
