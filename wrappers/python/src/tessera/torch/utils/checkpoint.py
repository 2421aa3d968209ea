# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.checkpoint."""

from __future__ import annotations

from typing import Any

from ..._core import TensorBase
from ...utils import checkpoint as _checkpoint
from ...utils.checkpoint import set_checkpoint_early_stop
from .. import random
from .._tensor import retyped

__all__ = ["checkpoint", "checkpoint_sequential", "get_device_states", "set_checkpoint_early_stop", "set_device_states"]


def _torch_function(function: Any) -> Any:
    return lambda *given, **more: function(*retyped(given), **more)


def checkpoint(function: Any, *args: Any, use_reentrant: bool | None = None, debug: bool = False, **kwargs: Any) -> Any:
    """Runs a part of a model without keeping what its backward needs; the backward runs it again.

    use_reentrant is False unless it is given.
    """
    return retyped(_checkpoint.checkpoint(_torch_function(function), *args, use_reentrant=bool(use_reentrant), **kwargs))


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Runs a Sequential or a list of functions in segments, all except the last as checkpoints."""
    layers = [_torch_function(layer) for layer in functions]
    return retyped(
        _checkpoint.checkpoint_sequential(layers, segments, input, use_reentrant=bool(use_reentrant), **kwargs)
    )


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The devices other than the CPU of the tensors among the arguments, and the states from which they draw: layers that run
    their forward again keep them. All devices draw from one generator."""
    devices = [arg.device._number for arg in args if isinstance(arg, TensorBase) and arg.device.type != "cpu"]
    return devices, [random.get_rng_state() for _ in devices]


def set_device_states(devices: Any, states: Any, *, device_type: Any = None) -> None:
    """Sets what get_device_states() found."""
    for _, state in zip(devices, states):
        random.set_rng_state(state)
