# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""From a list of samples to a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import _ops
from ..._core import TensorBase
from ..._dtypes import float32, int64
from ..._errors import ArgumentTypeError, InvalidValueError
from ..._interop import asarray


def default_collate(samples: list[Any]) -> Any:
    """Stacks tensors, arrays and numbers, also inside tuples, lists and dicts; text is not changed."""
    first = samples[0]
    if isinstance(first, TensorBase):
        return _ops.stack(samples, axis=0)
    if isinstance(first, (np.ndarray, np.generic)):
        return asarray(np.stack([np.asarray(s) for s in samples]))
    if isinstance(first, bool):
        return asarray(samples)
    if isinstance(first, int):
        return asarray(samples, dtype=int64)
    if isinstance(first, float):
        return asarray(samples, dtype=float32)
    if isinstance(first, (str, bytes)):
        return samples
    if isinstance(first, Mapping):
        return {key: default_collate([s[key] for s in samples]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(list(part)) for part in zip(*samples)))
    if isinstance(first, (tuple, list)):
        if any(len(s) != len(first) for s in samples):
            raise InvalidValueError("samples of one batch must have the same number of parts")
        parts = [default_collate(list(part)) for part in zip(*samples)]
        return tuple(parts) if isinstance(first, tuple) else parts
    raise ArgumentTypeError(f"cannot make a batch of {type(first).__name__}; give a collate_fn")
