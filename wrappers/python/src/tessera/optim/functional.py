# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of the optimizers as functions on lists of tensors, which they change in place."""

from __future__ import annotations

from .._ops import adam_step, adamw_step, clip_grad_norm, clip_grad_value, clip_norm, sgd_step

__all__ = ["adam_step", "adamw_step", "clip_grad_norm", "clip_grad_value", "clip_norm", "sgd_step"]
