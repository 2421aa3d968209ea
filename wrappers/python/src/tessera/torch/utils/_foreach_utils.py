# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils._foreach_utils: lists of tensors by device and dtype, for optimizers that use torch._foreach_..."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor

__all__: list[str] = []


def _group_tensors_by_device_and_dtype(tensorlistlist: Any, with_indices: bool = False) -> dict[Any, Any]:
    """(lists, places) for each device and dtype of the first list: the entries of each list there, and where they were. The
    other lists may hold None."""
    places: dict[Any, list[int]] = {}
    for place, tensor in enumerate(tensorlistlist[0]):
        places.setdefault((tensor.device, tensor.dtype), []).append(place)
    return {
        kind: ([[given[place] for place in own] if given else [] for given in tensorlistlist], own if with_indices else [])
        for kind, own in places.items()
    }


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["cuda", "cpu"]


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in ("cuda", "cpu")


def _has_foreach_support(tensors: Any, device: Any) -> bool:
    return _device_has_foreach_support(device) and all(tensor is None or isinstance(tensor, Tensor) for tensor in tensors)
