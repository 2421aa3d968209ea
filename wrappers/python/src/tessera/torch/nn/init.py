# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.init."""

from __future__ import annotations

from typing import Any

import tessera.nn.init as _init

from .._namespace import lookup

_NAMES = """
calculate_gain constant_ dirac_ eye_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ sparse_ trunc_normal_
uniform_ xavier_normal_ xavier_uniform_ zeros_
"""
_TABLE: dict[str, Any] = {name: getattr(_init, name) for name in _NAMES.split() if hasattr(_init, name)}


def _constant(tensor: Any, val: float) -> Any:
    return _init.constant_(tensor, val)


def _fan(tensor: Any, mode: str) -> Any:
    fans = _init.fan_in_and_fan_out(tensor)
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode: expected fan_in or fan_out, got {mode!r}")
    return fans[0] if mode.lower() == "fan_in" else fans[1]


_TABLE["constant_"] = _constant
_TABLE.update({name[:-1]: function for name, function in _TABLE.items() if name.endswith("_")})  # the deprecated names
_calculate_fan_in_and_fan_out, _calculate_correct_fan = _init.fan_in_and_fan_out, _fan  # which layers of one's own use
__getattr__, __dir__ = lookup(__name__, _TABLE)
__all__ = sorted(_TABLE)
