# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.special."""

from __future__ import annotations

from typing import Any

from .. import _ops
from . import _rows, _table_modules
from ._namespace import lookup, space

_TABLE: dict[str, Any] = {
    **_rows.same(_table_modules.SAME_SPECIAL, _ops),
    **_rows.functions(_table_modules.SPECIAL, space(), "tessera.torch.special"),
}
__getattr__, __dir__ = lookup(__name__, _TABLE)
__all__ = sorted(_TABLE)
