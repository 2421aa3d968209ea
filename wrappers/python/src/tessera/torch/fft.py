# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.fft."""

from __future__ import annotations

import importlib.util
from typing import Any

from . import _rows, _table_modules
from ._namespace import lookup, space


def _other_way(norm: Any) -> Any:
    """The division of a transform of half a Hermitian signal, which runs the other way."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def _functions() -> dict[str, Any]:
    if importlib.util.find_spec("tessera.fft") is None:
        return {}
    plain = importlib.import_module("tessera.fft")
    known = {**space(), **{name: getattr(plain, name) for name in dir(plain) if not name.startswith("_")}, "other_way": _other_way}
    return dict(_rows.functions(_table_modules.FFT, known, "tessera.torch.fft"))


_TABLE = _functions()
__getattr__, __dir__ = lookup(__name__, _TABLE)
__all__ = sorted(_TABLE)
