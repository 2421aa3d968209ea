# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that several ranks write together, and any number of ranks can read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .._errors import about_file
from .._tensor import Tensor
from ..capi import check, document, ffi, handles, lib
from ..io._safetensors import Path, _encoded
from ..nn.distributed import group_handle

__all__ = ["index", "load", "load_metadata", "save"]

# Of the tensors of which a rank has a part: where the part begins, and the shape of the whole.
Slices = Mapping[str, tuple[Sequence[int], Sequence[int]]]


def save(
    state_dict: Mapping[str, Tensor], path: Path, slices: Slices | None = None, metadata: Mapping[str, str] | None = None,
    process_group: Any = None,
) -> None:
    """Writes tensors into a folder, on all ranks together; the last file, the index, makes the checkpoint valid.

    A tensor that several ranks have completely is written once. `slices` gives, for a tensor of which this rank has a part,
    the offset of the part and the shape of the whole. Without a process group that was initialised one process writes all.
    """
    names, tensors = json.dumps([*state_dict]).encode(), [*state_dict.values()]
    parts, facts = _json_of(slices), json.dumps({**(metadata or {})}).encode()
    encoded = _encoded(path, "save")
    group = _group_if_any(process_group)
    with about_file(path):
        check(
            lib.tsr_shards_save(
                encoded, len(encoded), names, len(names), handles(tensors), len(tensors), parts, len(parts), facts,
                len(facts), group,
            )
        )


def load(state_dict: Mapping[str, Tensor], path: Path, slices: Slices | None = None) -> None:
    """Copies the saved values into the tensors, in their dtypes and on their devices. With `slices` as in save(), a tensor
    gets the part that it is. The number of ranks that saved does not matter."""
    names, tensors, parts = json.dumps([*state_dict]).encode(), [*state_dict.values()], _json_of(slices)
    encoded = _encoded(path, "load")
    with about_file(path):
        check(lib.tsr_shards_load(encoded, len(encoded), names, len(names), handles(tensors), len(tensors), parts, len(parts)))


def index(path: Path) -> dict[str, Any]:
    """What a checkpoint contains: the dtype, the shape and the parts of each tensor, and the metadata."""
    encoded = _encoded(path, "index")
    with about_file(path):
        found: dict[str, Any] = document(lib.tsr_shards_index, encoded, len(encoded))
    return found


def load_metadata(path: Path) -> dict[str, str]:
    """The metadata of a checkpoint."""
    found: dict[str, str] = index(path)["metadata"]
    return found


def _json_of(slices: Slices | None) -> bytes:
    return json.dumps({name: {"offset": [*offset], "shape": [*shape]} for name, (offset, shape) in (slices or {}).items()}).encode()


def _group_if_any(process_group: Any) -> Any:
    from . import is_initialized

    return group_handle(process_group) if process_group is not None or is_initialized() else ffi.NULL
