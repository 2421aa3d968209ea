# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional."""

from __future__ import annotations

from typing import Any

import tessera.nn.functional as _F

from ... import _ops
from .. import _rows, _table_nn
from .._namespace import lookup, space


def _open_sizes(input: Any, output_size: Any, count: int) -> Any:
    """Sizes of a result, where None is that of the input."""
    sizes = (output_size,) * count if output_size is None or hasattr(output_size, "__index__") else tuple(output_size)
    return tuple(input.shape[place - count] if size is None else size for place, size in enumerate(sizes))


def _with_places(plain: Any, positions: Any, wanted: bool, *args: Any) -> Any:
    return tuple(positions(*args)) if wanted else plain(*args)


def _implied(input: Any, dim: Any) -> int:
    """The axis of a softmax without one."""
    return (0 if input.ndim in (0, 1, 3) else 1) if dim is None else int(dim)


_SPACE = space(
    open_sizes=_open_sizes, with_places=_with_places, implied=_implied, bool_of=bool, plain_threshold=_F.threshold,
    pad_=_F.pad, **({"unfold_image": getattr(_F, "unfold")} if hasattr(_F, "unfold") else {}),  # noqa: B009
)  # fmt: skip
_FUNCTIONS = {
    **_rows.same(_table_nn.SAME_FUNCTIONAL, _F, _ops),
    **_rows.functions(_table_nn.FUNCTIONAL, _SPACE, "tessera.torch.nn.functional"),
}
globals().update(_FUNCTIONS)
__all__ = sorted(_FUNCTIONS)
__getattr__, __dir__ = lookup(__name__, _FUNCTIONS)
