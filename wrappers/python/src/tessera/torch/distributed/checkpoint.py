# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.checkpoint: state dicts of tensors, in a folder. Nested dicts and other objects are not saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tessera.distributed import checkpoint as _checkpoint

from ... import _errors

__all__ = ["load", "save"]


def _folder(checkpoint_id: Any, storage: Any) -> Any:
    if checkpoint_id is None or storage is not None:
        raise _errors.InvalidValueError("checkpoint_id: expected the path of a folder and no storage of another kind")
    return checkpoint_id


def save(
    state_dict: Mapping[str, Any], *, checkpoint_id: Any = None, storage_writer: Any = None, planner: Any = None,
    process_group: Any = None,
) -> None:
    _checkpoint.save(state_dict, _folder(checkpoint_id, storage_writer or planner), process_group=process_group)


def load(
    state_dict: Mapping[str, Any], *, checkpoint_id: Any = None, storage_reader: Any = None, planner: Any = None,
    process_group: Any = None,
) -> None:
    _checkpoint.load(state_dict, _folder(checkpoint_id, storage_reader or planner))
