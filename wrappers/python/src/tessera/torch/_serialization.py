# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.save and torch.load. What is saved is a safetensors file, never a pickle; PyTorch's own files are read as far as
they hold tensors in dicts, lists and tuples."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
import zipfile
from collections import OrderedDict
from typing import Any

from .. import io as _io
from .._core import TensorBase
from .._dtypes import ALL, DType
from .._interop import asarray, from_bytes
from ._tensor import Size, made

_STRUCTURE = "tessera.torch"
_CONTENTS = "expected tensors, arrays, numbers, texts, None, and dicts, lists and tuples of them"


# ---- save ----


def _packed(value: Any, tensors: dict[str, Any], path: str) -> Any:
    """The value as JSON; its tensors go to `tensors` under their paths."""
    if isinstance(value, TensorBase):
        name = path or "tensor"
        tensors[name] = value.detach()
        return {"tensor": name}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
        if not hasattr(value, "__array_finalize__") or not value.ndim:
            return _packed(value.item(), tensors, path)  # a number of NumPy's
        tensors[path or "array"] = asarray(value)
        return {"array": path or "array"}
    if isinstance(value, dict):
        items = [[_packed_key(k), _packed(v, tensors, f"{path}.{k}" if path else str(k))] for k, v in value.items()]
        return {"dict": items}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "size" if isinstance(value, Size) else "tuple"
        return {kind: [_packed(v, tensors, f"{path}.{i}" if path else str(i)) for i, v in enumerate(value)]}
    raise TypeError(f"torch.save(): {path or 'the object'}: {_CONTENTS}, got {type(value).__name__}; save its state_dict()")


def _packed_key(key: Any) -> Any:
    if isinstance(key, (str, int)) and not isinstance(key, bool):
        return key
    raise TypeError(f"torch.save(): expected keys that are str or int, got {key!r}")


def save(obj: Any, f: Any, *_: Any, **__: Any) -> None:
    """Saves tensors and what holds them to a file or a binary stream, as safetensors."""
    tensors: dict[str, Any] = {}
    structure = json.dumps(_packed(obj, tensors, ""))
    if isinstance(f, (str, os.PathLike)):
        _io.save_file(tensors, f, {_STRUCTURE: structure})
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        _io.save_file(tensors, path, {_STRUCTURE: structure})
        with open(path, "rb") as file:
            f.write(file.read())


# ---- load ----


def _unpacked(value: Any, tensors: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, held), = value.items()
    if kind == "dict":
        return {key: _unpacked(item, tensors) for key, item in held}
    if kind in ("list", "tuple", "size"):
        items = [_unpacked(item, tensors) for item in held]
        return items if kind == "list" else tuple(items) if kind == "tuple" else Size(items)
    if kind == "tensor":
        return tensors[held]
    if kind == "array":
        return tensors[held].cpu().numpy()
    return float.fromhex(held) if kind == "float" else ALL[held]


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: Any = None, mmap: Any = None, **_: Any) -> Any:
    """Loads what save() wrote, any safetensors file as a dict, or a file of PyTorch."""
    if isinstance(f, (str, os.PathLike)):
        return _load_path(f, map_location)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        with open(path, "wb") as file:
            file.write(f.read())
        return _load_path(path, map_location)


def _load_path(path: Any, map_location: Any) -> Any:
    if zipfile.is_zipfile(path):
        return _load_zip(path, map_location)
    with _io.safe_open(path) as archive:
        tensors = {name: _placed(archive.get_tensor(name).clone(), map_location) for name in archive}
        structure = archive.metadata().get(_STRUCTURE)
    return tensors if structure is None else _unpacked(json.loads(structure), tensors)


def _placed(tensor: Any, map_location: Any) -> Any:
    found = made(tensor)
    if map_location is None:
        return found
    if callable(map_location):  # of a storage and its place: the tensor stands for both, and all files are the CPU's
        moved = map_location(found, "cpu")
        return found if moved is None else moved
    return found.to(map_location.get("cpu", "cpu") if isinstance(map_location, dict) else map_location)


# ---- PyTorch's own files: a zip with one pickle and one file for each storage ----

_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16", "IntStorage": "int32", "LongStorage": "int64",
    "BoolStorage": "bool", "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
}  # fmt: skip


class _Unpickler(pickle.Unpickler):
    """Reads tensors and containers only: every other class in the pickle is refused, so no code of the file runs."""

    def __init__(self, file: Any, archive: zipfile.ZipFile, head: str, map_location: Any) -> None:
        super().__init__(file, encoding="utf-8")
        self._archive, self._head, self._map_location = archive, head, map_location
        self._known: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch", "Size"): Size,
            ("torch._utils", "_rebuild_tensor_v2"): self._tensor,
            ("torch._utils", "_rebuild_parameter"): lambda data, requires_grad, hooks: data.requires_grad_(requires_grad),
        }
        self._storages: dict[str, Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self._known:
            return self._known[module, name]
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return ALL[_STORAGES[name]]
        if module == "torch" and name in ALL:
            return ALL[name]
        raise pickle.UnpicklingError(f"torch.load(): {_CONTENTS}, the file also has a {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        _, dtype, key, _, count = pid
        if key not in self._storages:
            data = bytearray(self._archive.read(f"{self._head}/data/{key}"))
            self._storages[key] = from_bytes(data, dtype, (int(count),))
        return self._storages[key]

    def _tensor(self, storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, *_: Any) -> Any:
        view = storage.as_strided(tuple(size), tuple(stride), offset) if storage.numel() else storage.reshape(tuple(size))
        found = _placed(view, self._map_location)
        return found.requires_grad_(True) if requires_grad else found


def _load_zip(path: Any, map_location: Any) -> Any:
    with zipfile.ZipFile(path) as archive:
        entry = next((name for name in archive.namelist() if name.endswith("/data.pkl")), None)
        if entry is None:
            raise pickle.UnpicklingError("torch.load(): expected a file of torch.save or of safetensors, got another zip file")
        if f"{entry[:-9]}/byteorder" in archive.namelist() and archive.read(f"{entry[:-9]}/byteorder") != b"little":
            raise pickle.UnpicklingError("torch.load(): the file's numbers have another byte order")
        with archive.open(entry) as file:
            return _Unpickler(file, archive, entry[:-9], map_location).load()


__all__ = ["load", "save"]
