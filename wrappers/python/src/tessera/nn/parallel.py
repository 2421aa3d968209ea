# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Batches over several devices: scatter cuts a batch into parts, gather joins the results. Both are differentiable, and
gradients arrive on the devices of their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _ops
from .._device import Device, device_of
from .._errors import InvalidValueError
from .._tensor import Tensor
from .distributed import DistributedDataParallel

__all__ = ["DistributedDataParallel", "gather", "scatter"]


def scatter(inputs: Any, devices: Sequence[Device | str], axis: int = 0) -> list[Any]:
    """The inputs once for each device: tensors in tuples, lists and dicts are cut along an axis into parts of equal size
    (the last may be smaller), part k on device k; other objects are repeated. The list is shorter than `devices` if a
    tensor has too few elements along the axis."""
    targets = [device_of(device) for device in devices]
    if not targets:
        raise InvalidValueError("devices: expected at least one device, got none")
    if isinstance(inputs, Tensor):
        return [part.to(target) for part, target in zip(_ops.chunk(inputs, len(targets), axis), targets)]
    if isinstance(inputs, dict):
        columns = [scatter(value, targets, axis) for value in inputs.values()]
        return [dict(zip(inputs, row)) for row in zip(*columns)] if columns else [{} for _ in targets]
    if isinstance(inputs, (tuple, list)):
        rows = list(zip(*(scatter(item, targets, axis) for item in inputs))) if inputs else [()] * len(targets)
        return [_rebuilt(inputs, row) for row in rows]
    return [inputs for _ in targets]


def gather(outputs: Sequence[Any], device: Device | str, axis: int = 0) -> Any:
    """The outputs of several devices joined on one: tensors along an axis (numbers become elements), tuples, lists and
    dicts item by item; of other objects a list."""
    target = device_of(device)
    if not outputs:
        raise InvalidValueError("outputs: expected at least one output, got none")
    first = outputs[0]
    if isinstance(first, Tensor):
        parts = [part.to(target) for part in outputs]
        return _ops.stack(parts) if first.ndim == 0 else _ops.concat(parts, axis)
    if isinstance(first, dict):
        if any(output.keys() != first.keys() for output in outputs):
            raise InvalidValueError("outputs: expected dicts with the same keys")
        return {key: gather([output[key] for output in outputs], target, axis) for key in first}
    if isinstance(first, (tuple, list)):
        return _rebuilt(first, [gather(items, target, axis) for items in zip(*outputs)])
    return list(outputs)


def _rebuilt(like: Any, items: Any) -> Any:
    """The items as a tuple, a named tuple or a list, as `like` is one."""
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)
