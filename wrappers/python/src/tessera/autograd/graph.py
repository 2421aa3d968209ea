# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What nodes of the graph keep, and how."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _core

if TYPE_CHECKING:
    from .._tensor import Tensor


class saved_tensors_hooks:  # noqa: N801  (PyTorch's name)
    """Inside the block, what functions of this thread save for the backward goes through two callables.

    `pack_hook(tensor)` returns what is kept in place of the tensor, in any form; `unpack_hook(packed)` gives a tensor
    of the same shape, dtype and device back, once for each use. An exception of either is that of the function or of
    the backward. Blocks nest; the innermost holds.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _core.push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _core.pop_saved_hooks()


__all__ = ["saved_tensors_hooks"]
