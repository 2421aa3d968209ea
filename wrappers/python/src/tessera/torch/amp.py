# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.amp, switched off: there is no automatic choice of precisions, so only enabled=False is accepted."""

from __future__ import annotations

from typing import Any

from . import _adapters
from ._namespace import lookup

__all__ = ["GradScaler", "autocast"]


class autocast:  # noqa: N801 (PyTorch's name)
    """A block, or the calls of a decorated function, in the precision of the tensors."""

    def __init__(self, device_type: Any = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None) -> None:
        _adapters.only(enabled, False, "torch.amp.autocast(): enabled")

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def __call__(self, function: Any) -> Any:
        return function


class GradScaler:
    """Passes losses and steps on unchanged."""

    def __init__(self, device: Any = "cuda", *, enabled: bool = True, **_: Any) -> None:
        _adapters.only(enabled, False, "torch.amp.GradScaler(): enabled")

    def scale(self, outputs: Any) -> Any:
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        return None

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        return None

    def is_enabled(self) -> bool:
        return False

    def get_scale(self) -> float:
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state_dict: Any) -> None:
        return None


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
