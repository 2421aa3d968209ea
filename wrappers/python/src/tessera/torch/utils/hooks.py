# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.hooks."""

from __future__ import annotations

from typing import Any

from ..._graph import HookHandle
from ...nn.module import RemovableHandle as _OfModules


class _Handles(type):
    """isinstance() knows the handles of modules and of tensors, too."""

    def __instancecheck__(cls, given: Any) -> bool:
        return type.__instancecheck__(cls, given) or isinstance(given, (_OfModules, HookHandle))


class RemovableHandle(_OfModules, metaclass=_Handles):
    """Removes the entry of its `id` from a dict of hooks. Those of `extra_dict` go with it."""

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        super().__init__(hooks_dict)
        self._extra = () if extra_dict is None else (extra_dict,) if isinstance(extra_dict, dict) else tuple(extra_dict)

    def remove(self) -> None:
        super().remove()
        for table in self._extra:
            table.pop(self.id, None)


__all__ = ["RemovableHandle"]
