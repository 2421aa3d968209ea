# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.backends: switches that programs set, of which only the precision of products on CUDA means something here."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import tessera as _tessera

from . import cuda as _cuda
from ._namespace import lookup


class _Backend(ModuleType):
    """A backend with PyTorch's switches. They keep what is assigned; choosing algorithms is the library's."""

    def __init__(self, name: str, available: bool, **switches: Any) -> None:
        path = f"{__name__}.{name}"
        super().__init__(path, f"torch.backends.{name}.")
        self.is_available = self.is_built = lambda: available
        self.__dict__.update(switches)
        self.__dict__["__getattr__"] = lookup(path, {})[0]
        sys.modules[path] = self

    @contextlib.contextmanager
    def flags(self, **switches: Any) -> Iterator[None]:
        """Other values of the switches for a block."""
        before = {name: self.__dict__[name] for name in switches if name in self.__dict__}
        self.__dict__.update(switches)
        try:
            yield
        finally:
            self.__dict__.update(before)


class _Products:
    """Products of matrices on CUDA."""

    allow_fp16_reduced_precision_reduction = allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    @property
    def allow_tf32(self) -> bool:
        return _tessera.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _tessera.set_float32_matmul_precision("high" if allowed else "highest")


# ---- implementations of attention, of which the library has one for each device: the switches keep what they are told ----

_ATTENTION = ("flash", "mem_efficient", "math", "cudnn")
_enabled = dict.fromkeys(_ATTENTION, True)


def _switch(kind: str) -> dict[str, Any]:
    def enable(enabled: bool) -> None:
        _enabled[kind] = bool(enabled)

    return {f"enable_{kind}_sdp": enable, f"{kind}_sdp_enabled": lambda: _enabled[kind]}


@contextlib.contextmanager
def _sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """The deprecated torch.nn.attention.sdpa_kernel: sets the switches for a block."""
    before = dict(_enabled)
    _enabled.update(flash=enable_flash, mem_efficient=enable_mem_efficient, math=enable_math, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _enabled.update(before)


def _available() -> bool:
    return _cuda.is_available()


_SWITCHES = {name: function for kind in _ATTENTION for name, function in _switch(kind).items()}
_SWITCHES.update(sdp_kernel=_sdp_kernel, is_flash_attention_available=_available)

cuda = _Backend("cuda", _cuda.is_available(), matmul=_Products(), **_SWITCHES)
cudnn = _Backend(
    "cudnn", _cuda.is_available(), benchmark=False, deterministic=False, enabled=True, allow_tf32=True, benchmark_limit=10,
    version=lambda: None,
)  # fmt: skip
mps, mkl = _Backend("mps", False), _Backend("mkl", False)
mkldnn = _Backend("mkldnn", True, enabled=True, deterministic=False, allow_tf32=True)
openmp = _Backend("openmp", True)
opt_einsum = _Backend("opt_einsum", True, enabled=True, strategy="auto")

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
