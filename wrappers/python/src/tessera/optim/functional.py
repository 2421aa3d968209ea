# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of lists of tensors: the steps of the optimizers, which change them in place, pointwise functions, and the
steps of training with a scaled loss."""

from __future__ import annotations

from .._ops import (
    adam_step,
    adamw_step,
    amp_unscale_,
    amp_update_scale_,
    clip_grad_norm,
    clip_grad_value,
    clip_norm,
    foreach_binary,
    foreach_binary_,
    foreach_copy_,
    foreach_lerp,
    foreach_lerp_,
    foreach_lerp_tensors,
    foreach_lerp_tensors_,
    foreach_norm,
    foreach_scalar,
    foreach_scalar_,
    foreach_scalars,
    foreach_scalars_,
    foreach_ternary,
    foreach_ternary_,
    foreach_unary,
    foreach_unary_,
    foreach_zero_,
    sgd_step,
)

__all__ = [
    "adam_step",
    "adamw_step",
    "amp_unscale_",
    "amp_update_scale_",
    "clip_grad_norm",
    "clip_grad_value",
    "clip_norm",
    "foreach_binary",
    "foreach_binary_",
    "foreach_copy_",
    "foreach_lerp",
    "foreach_lerp_",
    "foreach_lerp_tensors",
    "foreach_lerp_tensors_",
    "foreach_norm",
    "foreach_scalar",
    "foreach_scalar_",
    "foreach_scalars",
    "foreach_scalars_",
    "foreach_ternary",
    "foreach_ternary_",
    "foreach_unary",
    "foreach_unary_",
    "foreach_zero_",
    "sgd_step",
]
