# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.types: names for annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Union

from .._device import Device as _Device
from .._dtypes import DType
from ._tensor import Size, Tensor

Number = Union[int, float, bool]
Device = Union[_Device, str, int, None]
FileLike = Union[str, "os.PathLike[str]", Any]
Storage = Any
_size = Union[Size, "list[int]", "tuple[int, ...]"]
_int, _float, _bool = int, float, bool
_dtype = DType
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]

__all__ = ["Device", "FileLike", "Number", "Storage"]
