# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.hub: files by their addresses. Repositories with models are not loaded, because their code is written for PyTorch."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from ._namespace import lookup
from ._serialization import load as _load_file

__all__ = ["download_url_to_file", "get_dir", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the name is PyTorch's: programs use it
_dir: str | None = None


def get_dir() -> str:
    """The folder of what was downloaded: that of set_dir(), or `hub` in $TORCH_HOME or the user's cache."""
    if _dir is not None:
        return _dir
    cache = os.getenv("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.join(os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch"))), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    global _dir
    _dir = os.path.expanduser(d)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Writes what an address holds to a file, if its SHA-256 begins with `hash_prefix`."""
    target = Path(dst).expanduser()
    digest = hashlib.sha256()
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, urllib.request.urlopen(url) as source:  # noqa: S310 (the caller's address)
            while block := source.read(1 << 20):
                digest.update(block)
                file.write(block)
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        os.replace(part, target)
    finally:
        Path(part).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = True,
) -> Any:  # fmt: skip
    """torch.load() of the file at an address, which is downloaded once."""
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    return _load_file(path, map_location, weights_only=weights_only)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
