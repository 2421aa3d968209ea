# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.finfo and torch.iinfo: the limits of dtypes, which are named by texts here."""

from __future__ import annotations

from typing import Any

from .. import _dtypes

_RESOLUTIONS = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-15}


class finfo:  # noqa: N801 (PyTorch's name)
    """The limits of a floating dtype, by default of the default one; of a complex dtype, those of its parts."""

    def __init__(self, type: Any = None) -> None:  # noqa: A002 (PyTorch's name)
        plain = _dtypes.finfo(_dtypes.get_default_dtype() if type is None else type)
        self.dtype, self.bits = plain.dtype.name, plain.bits
        self.eps, self.min, self.max = plain.eps, plain.min, plain.max
        self.tiny = self.smallest_normal = plain.tiny
        self.resolution = _RESOLUTIONS[self.dtype]

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo:  # noqa: N801 (PyTorch's name)
    """The limits of an integer dtype."""

    def __init__(self, type: Any) -> None:  # noqa: A002 (PyTorch's name)
        plain = _dtypes.iinfo(type)
        self.dtype, self.bits, self.min, self.max = plain.dtype.name, plain.bits, plain.min, plain.max

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
