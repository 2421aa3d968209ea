# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.backends: switches that programs set, of which only the precision of products on CUDA means something here."""

from __future__ import annotations

from typing import Any

import tessera as _tessera

from . import cuda as _cuda
from ._namespace import lookup


class _Backend:
    """A backend with PyTorch's switches. They keep what is assigned; choosing algorithms is the library's."""

    def __init__(self, available: bool, **switches: Any) -> None:
        self._available = available
        self.__dict__.update(switches)

    def is_available(self) -> bool:
        return self._available

    is_built = is_available


class _Products:
    """Products of matrices on CUDA."""

    @property
    def allow_tf32(self) -> bool:
        return _tessera.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _tessera.set_float32_matmul_precision("high" if allowed else "highest")


cudnn = _Backend(_cuda.is_available(), benchmark=False, deterministic=True, enabled=True, allow_tf32=False)
cuda = _Backend(_cuda.is_available(), matmul=_Products())
mps, mkl = _Backend(False), _Backend(False)
mkldnn = _Backend(True, enabled=True)
openmp = _Backend(True)

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
