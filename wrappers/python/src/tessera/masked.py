# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and normalisations of the elements that a mask selects.

`mask` is a bool tensor that broadcasts to the input and is true where an element takes part; without it all do.
"""

from __future__ import annotations

from ._ops import (
    masked_amax as amax,
    masked_amin as amin,
    masked_argmax as argmax,
    masked_argmin as argmin,
    masked_cumprod as cumprod,
    masked_cumsum as cumsum,
    masked_log_softmax as log_softmax,
    masked_logsumexp as logsumexp,
    masked_mean as mean,
    masked_median as median,
    masked_norm as norm,
    masked_normalize as normalize,
    masked_prod as prod,
    masked_softmax as softmax,
    masked_softmin as softmin,
    masked_std as std,
    masked_sum as sum,
    masked_var as var,
)

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
