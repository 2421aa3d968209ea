# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Saving and loading through the core, which parses and checks the files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Union

from .._errors import ArgumentTypeError, MissingNameError, about_file
from .._tensor import Tensor
from ..capi import check, document, ffi, handles, lib, made, out, taken, text

Path = Union[str, "os.PathLike[str]"]


class safe_open:  # noqa: N801 (the name in the format's own library)
    """An open file: names, single tensors, metadata. Tensors share memory with the mapped file; writes to them never
    change the file."""

    def __init__(self, path: Path) -> None:
        encoded = _encoded(path, "safe_open")
        with about_file(path):
            archive = out("tsr_archive", lib.tsr_archive_open, encoded, len(encoded))
        self._adopt(archive)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> safe_open:
        """A file in memory. The bytes are copied once for all tensors."""
        try:
            view = memoryview(data).cast("B")
        except TypeError:
            raise ArgumentTypeError(
                f"safe_open.from_bytes(): expected the bytes of a file, C-contiguous, got {type(data).__name__}"
            ) from None
        archive = cls.__new__(cls)
        archive._adopt(out("tsr_archive", lib.tsr_archive_from_bytes, ffi.from_buffer(view), len(view)))
        return archive

    def _adopt(self, archive: Any) -> None:
        self._archive = ffi.gc(archive, lib.tsr_archive_release)
        count = out("int64_t", lib.tsr_archive_count, archive)
        self._numbers = {text(lib.tsr_archive_name, archive, i): i for i in range(count)}

    def keys(self) -> list[str]:
        return list(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def get_tensor(self, name: str) -> Tensor:
        if name not in self._numbers:
            raise MissingNameError(f"the file has no tensor {name!r}")
        found: Tensor = made("tsr_tensor", lib.tsr_archive_tensor, self._archive, self._numbers[name])
        return found

    __getitem__ = get_tensor

    def metadata(self) -> dict[str, str]:
        found: dict[str, str] = document(lib.tsr_archive_metadata, self._archive)
        return found

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exception: object) -> None:
        ffi.release(self._archive)


def load_file(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file, without a copy."""
    with safe_open(path) as archive:
        return {name: archive.get_tensor(name) for name in archive}


def load_bytes(data: bytes | bytearray | memoryview) -> dict[str, Tensor]:
    """All tensors of a safetensors file in memory, whose bytes are copied."""
    with safe_open.from_bytes(data) as archive:
        return {name: archive.get_tensor(name) for name in archive}


def load_metadata(path: Path) -> dict[str, str]:
    """The metadata (texts) that were saved with the tensors."""
    with safe_open(path) as archive:
        return archive.metadata()


def save_file(tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors to a safetensors file; a file that already has this name stays unchanged until the new one is
    complete."""
    encoded, contents = _encoded(path, "save_file"), _contents(tensors, metadata, "save_file")
    with about_file(path):
        check(lib.tsr_archive_save(encoded, len(encoded), *contents))


def save_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of the file that save_file() writes."""
    buffer = out("tsr_buffer", lib.tsr_archive_to_bytes, *_contents(tensors, metadata, "save_bytes"))
    return taken(buffer)


def _contents(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None, op: str) -> tuple[Any, ...]:
    """Names, tensors and metadata as the core takes them."""
    if not isinstance(tensors, Mapping):
        raise ArgumentTypeError(f"{op}(): expected a dict of Tensors, got {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise ArgumentTypeError(f"{op}(): expected names that are str, got {name!r}")
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"{op}(): {name!r}: expected a Tensor, got {type(tensor).__name__}")
    names, texts = json.dumps(list(tensors)).encode(), json.dumps(dict(metadata or {})).encode()
    return names, len(names), handles(tensors.values()), len(tensors), texts, len(texts)


def _encoded(path: Path, op: str) -> bytes:
    try:
        return os.fsencode(path)
    except TypeError:
        raise ArgumentTypeError(f"{op}(): expected a path, got {type(path).__name__}") from None
