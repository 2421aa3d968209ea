# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The namespace's __array_namespace_info__ of the Array API standard."""

from __future__ import annotations

from typing import Any

from ._device import CPU, Device, device_count, get_default_device
from ._dtypes import ALL, DType, complex64, complex128, dtype_of, float64, get_default_dtype, int64, kind_names


class ArrayNamespaceInfo:
    """Capabilities, dtypes and devices."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        return get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        real = get_default_dtype()
        return {
            "real floating": real,
            "complex floating": complex128 if real is float64 else complex64,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        if kind is None:
            names = tuple(n for n in ALL if n not in ("float16", "bfloat16"))
        elif isinstance(kind, tuple):
            names = tuple(n for k in kind for n in self.dtypes(kind=k))
        else:
            names = tuple(n for n in kind_names(kind) if n not in ("float16", "bfloat16"))
        return {n: dtype_of(n) for n in names}

    def devices(self) -> tuple[Device, ...]:
        return (CPU, *(Device("cuda", i) for i in range(device_count("cuda"))))


def __array_namespace_info__() -> ArrayNamespaceInfo:  # noqa: N807 (the standard's name)
    return ArrayNamespaceInfo()
