# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks on the tensors that nodes of the graph save."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _core

if TYPE_CHECKING:
    from .._tensor import Tensor


class saved_tensors_hooks:  # noqa: N801  (PyTorch's name)
    """Inside the block, two callables replace the tensors that functions of this thread save for the backward.

    `pack_hook(tensor)` returns any object, which is saved instead of the tensor; `unpack_hook(packed)` must return a
    tensor of the same shape, dtype and device, and is called once for each use. An exception of either comes out of the
    function or of the backward. Blocks can be nested; the innermost applies.
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
