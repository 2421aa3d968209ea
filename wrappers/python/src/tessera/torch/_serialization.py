# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.save and torch.load. Tensors, numbers and texts in containers are saved as a safetensors file; what holds other
objects, as a zip file like PyTorch's, with a pickle beside the memory of the tensors. Such files, PyTorch's own among
them, are read without running code of theirs unless the caller says weights_only=False."""

from __future__ import annotations

import codecs
import io
import json
import os
import pickle
import sys
import tempfile
import zipfile
from collections import Counter, OrderedDict, defaultdict
from typing import Any, ClassVar

from .. import _ops
from .. import io as _io
from .._core import TensorBase
from .._device import Device
from .._dtypes import ALL, DType, dtype_of, uint8
from .._errors import TesseraError
from .._interop import asarray, from_bytes
from .._tensor import Tensor as _Plain
from ..nn.parameter import Parameter as _Parameter
from ._tensor import Size, Tensor, made
from .nn._module import Buffer, Parameter

_STRUCTURE = "tessera.torch"
_BEFORE_1_6 = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."  # with this pickled number PyTorch's files began then


class _NotPlain(TypeError):
    """An object that safetensors and JSON cannot hold."""


# ---- save ----


class _Named(dict[str, Any]):
    """The tensors of a file by name, and which of them was the first in each place."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[Any, str] = {}


def _packed(value: Any, tensors: _Named, path: str) -> Any:
    """The value as JSON; its tensors go to `tensors` under their paths."""
    if type(value) in _PLAIN_TENSORS:
        return _packed_tensor(value, tensors, path)
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if type(value).__module__ == "numpy" and hasattr(value, "dtype") and value.dtype.kind in "biufc":
        if not hasattr(value, "__array_finalize__") or not value.ndim:
            return _packed(value.item(), tensors, path)  # a number of NumPy's
        name = _unused(path or "array", tensors)
        tensors[name] = asarray(value)
        return {"array": name}
    if type(value) in (dict, OrderedDict):
        items = [[_packed_key(k), _packed(v, tensors, f"{path}.{k}" if path else str(k))] for k, v in value.items()]
        packed = {"dict" if type(value) is dict else "ordered": items}
        versions = getattr(value, "_metadata", None)  # of the modules of a state
        return packed if versions is None else {"versions": _packed(versions, tensors, path), **packed}
    if type(value) in (list, tuple, Size):
        kind = type(value).__name__.lower()
        return {kind: [_packed(v, tensors, f"{path}.{i}" if path else str(i)) for i, v in enumerate(value)]}
    raise _NotPlain


_PLAIN_TENSORS = frozenset([_Plain, Tensor, _Parameter, Parameter])  # what comes back as a Tensor or a Parameter


def _place(tensor: Any) -> Any:
    """Equal for tensors that are the same elements of one memory."""
    return tensor.dtype.name, TensorBase.data_ptr(tensor), tuple(tensor.shape), TensorBase.stride(tensor)


def _packed_tensor(value: Any, tensors: _Named, path: str) -> dict[str, Any]:
    """A tensor that has the memory of an earlier one is written again, for readers that know no structure, and named after
    that one here."""
    name = _unused(path or "tensor", tensors)
    found = {"tensor": name}
    tensors[name] = value.detach()
    if TensorBase.numel(value) and (first := tensors.places.setdefault(_place(value), name)) != name:
        found["same"] = first
    if isinstance(value, _Parameter):
        found["kind"] = "parameter"
    return {**found, "grad": True} if value.requires_grad else found


def _unused(name: str, tensors: dict[str, Any]) -> str:
    """The name, or one with a number behind it where another path has it: that of {"a.b": x} and that of {"a": {"b": y}}."""
    found, number = name, 1
    while found in tensors:
        number += 1
        found = f"{name}#{number}"
    return found


def _packed_key(key: Any) -> Any:
    if type(key) in (str, int):
        return key
    raise _NotPlain


def save(
    obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Saves an object to a file or a binary stream: as safetensors if it is made of tensors, numbers and texts."""
    tensors = _Named()
    try:
        structure = json.dumps(_packed(obj, tensors, ""))
    except _NotPlain:
        _save_zip(obj, f, pickle_protocol)
        return
    if isinstance(f, (str, os.PathLike)):
        _io.save_file(tensors, f, {_STRUCTURE: structure})
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        _io.save_file(tensors, path, {_STRUCTURE: structure})
        with open(path, "rb") as file:
            f.write(file.read())


# ---- a zip file: one pickle, and one file for the memory of each tensor ----


class _Stored:
    """What a pickle names by a number: the memory of a tensor."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


class _Pickler(pickle.Pickler):
    """Writes the memory of tensors beside the pickle, once for those that are the same elements of one memory."""

    def __init__(self, file: Any, protocol: int) -> None:
        super().__init__(file, protocol)
        self.tensors: list[Any] = []
        self._keys: dict[Any, int] = {}

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, TensorBase):
            return NotImplemented
        if obj.requires_grad and not obj.is_leaf:
            raise RuntimeError("torch.save(): expected tensors without a history inside an object, got one; detach() it")
        return _rebuilt, (type(obj), _Stored(obj.detach()), obj.requires_grad, getattr(obj, "__dict__", None) or None)

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, _Stored):
            return None
        place = _place(obj.tensor)
        if place not in self._keys:
            self._keys[place] = len(self.tensors)
            self.tensors.append(obj.tensor)  # which keeps its memory in place
        return ("tensor", place[0], str(self._keys[place]), obj.tensor.device.type, list(place[2]))


def _rebuilt(kind: Any, tensor: Any, requires_grad: bool, attributes: Any) -> Any:
    """A tensor of a class from a pickle of save()."""
    if issubclass(kind, _Parameter):
        found = kind(tensor, requires_grad)
    else:
        found = TensorBase.__new__(kind, tensor.detach())
        found.requires_grad_(requires_grad)
    if attributes:
        found.__dict__.update(attributes)
    return found


def _save_zip(obj: Any, f: Any, protocol: int) -> None:
    text = io.BytesIO()
    pickler = _Pickler(text, max(protocol, 4))
    pickler.dump(obj)
    head = os.path.splitext(os.path.basename(f))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{head}/data.pkl", text.getvalue())
        archive.writestr(f"{head}/byteorder", sys.byteorder)
        for key, tensor in enumerate(pickler.tensors):
            elements = tensor.cpu().contiguous().reshape(-1)
            archive.writestr(f"{head}/data/{key}", memoryview(elements.view(uint8).numpy() if TensorBase.numel(elements) else b""))


# ---- load ----


def _unpacked(value: Any, tensors: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return _unpacked_tensor(tensors[value.get("same", value["tensor"])], value)
    if "versions" in value:
        state = _unpacked({"ordered": value["ordered"]}, tensors)
        state._metadata = _unpacked(value["versions"], tensors)
        return state
    (kind, held), = value.items()
    if kind in ("dict", "ordered"):
        items = [(key, _unpacked(item, tensors)) for key, item in held]
        return dict(items) if kind == "dict" else OrderedDict(items)
    if kind in ("list", "tuple", "size"):
        found = [_unpacked(item, tensors) for item in held]
        return found if kind == "list" else tuple(found) if kind == "tuple" else Size(found)
    if kind == "array":
        return tensors[held].cpu().numpy()
    return float.fromhex(held) if kind == "float" else ALL[held]


def _unpacked_tensor(tensor: Any, value: dict[str, Any]) -> Any:
    grad = value.get("grad", False)
    return Parameter(tensor, grad) if value.get("kind") == "parameter" else tensor.detach().requires_grad_(grad)


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: Any = None, mmap: Any = None, **_: Any) -> Any:
    """Loads what save() wrote, any safetensors file as a dict, or a file of PyTorch. With weights_only=False a file may hold
    objects of any class, whose code then runs."""
    safe = weights_only is not False
    if isinstance(f, (str, os.PathLike)):
        return _load_path(f, map_location, safe)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        with open(path, "wb") as file:
            file.write(f.read())
        return _load_path(path, map_location, safe)


def _load_path(path: Any, map_location: Any, safe: bool) -> Any:
    if zipfile.is_zipfile(path):
        return _load_zip(path, map_location, safe)
    with open(path, "rb") as file:
        if file.read(len(_BEFORE_1_6)) == _BEFORE_1_6:
            raise pickle.UnpicklingError(
                "torch.load(): expected a file of torch.save since PyTorch 1.6 or of safetensors, got one of the format before; "
                "PyTorch reads it, and torch.save there writes one of today"
            )
    with _io.safe_open(path) as archive:
        tensors = {name: _placed(archive.get_tensor(name).clone(), map_location) for name in archive}
        structure = archive.metadata().get(_STRUCTURE)
    if structure is None:
        return tensors
    try:
        return _unpacked(json.loads(structure), tensors)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError(
            f"torch.load(): the file's description of its containers is damaged ({type(error).__name__}: {error})"
        ) from error


def _placed(tensor: Any, map_location: Any) -> Any:
    found = made(tensor)
    if map_location is None:
        return found
    if callable(map_location):  # of a storage and its place: the tensor stands for both, and all files are the CPU's
        moved = map_location(found, "cpu")
        return found if moved is None else moved
    return found.to(map_location.get("cpu", "cpu") if isinstance(map_location, dict) else map_location)


# ---- zip files, PyTorch's own among them ----

_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16", "IntStorage": "int32", "LongStorage": "int64",
    "BoolStorage": "bool", "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
}  # fmt: skip


SAFE: dict[tuple[str, str], Any] = {}  # classes that the program allows in files, by torch.serialization
_HARMLESS = {
    **{("collections", kind.__name__): kind for kind in (OrderedDict, Counter, defaultdict)},
    **{("builtins", kind.__name__): kind for kind in (set, frozenset, complex, bytearray, slice, range)},
    **{("builtins", kind.__name__): kind for kind in (int, float, str, bool, list, dict, tuple)},
    ("torch", "Size"): Size, ("tessera.torch._tensor", "Size"): Size, ("torch", "device"): Device, ("tessera._device", "Device"): Device,
    ("tessera._dtypes", "dtype_of"): dtype_of, ("_codecs", "encode"): codecs.encode,
    ("tessera.torch._serialization", "_rebuilt"): _rebuilt,
}  # fmt: skip


class _Reader:
    """What reads the pickle of a zip file gets from it: tensors, and the classes that it may have."""

    def __init__(self, archive: zipfile.ZipFile, head: str, map_location: Any) -> None:
        self._archive, self._head, self._map_location = archive, head, map_location
        self._known: dict[tuple[str, str], Any] = {
            **_HARMLESS,
            ("torch._utils", "_rebuild_tensor_v2"): self._tensor,
            ("torch._utils", "_rebuild_parameter"): lambda data, requires_grad, hooks: Parameter(data, requires_grad),
        }
        self._known.update({(kind.__module__, kind.__qualname__): kind for kind in (Tensor, Parameter, Buffer, _Plain, _Parameter)})
        self._storages: dict[str, Any] = {}

    def known(self, module: str, name: str) -> Any:
        """The class or function of that name; None if a file has it only where it is trusted."""
        if (module, name) in self._known:
            return self._known[module, name]
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return ALL[_STORAGES[name]]
        if module == "torch" and name in ALL:
            return ALL[name]
        return SAFE.get((module, name))

    def stored(self, pid: Any) -> Any:
        kind, dtype, key, _, size = pid
        if key not in self._storages:
            data = bytearray(self._archive.read(f"{self._head}/data/{key}"))
            if kind == "tensor":
                self._storages[key] = _placed(from_bytes(data, ALL[dtype], tuple(size)), self._map_location)
            else:
                self._storages[key] = from_bytes(data, dtype, (int(size),))
        return self._storages[key]

    def _tensor(
        self, storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any = None, metadata: Any = None
    ) -> Any:
        view = storage.as_strided(tuple(size), tuple(stride), offset) if storage.numel() else storage.reshape(tuple(size))
        for bit, function in (("conj", _ops.conj), ("neg", _ops.negative)):  # which PyTorch leaves to the reader
            view = function(view) if metadata and metadata.get(bit) else view
        found = _placed(view, self._map_location)
        return found.requires_grad_(True) if requires_grad else found


class _Unpickler:
    """What both unpicklers are beside Python's."""

    def __init__(self, file: Any, reader: _Reader) -> None:
        super().__init__(file, encoding="utf-8")  # type: ignore[call-arg]
        self._reader = reader

    def persistent_load(self, pid: Any) -> Any:
        return self._reader.stored(pid)


class _Trusting(_Unpickler, pickle.Unpickler):
    """Reads objects of any class; the code of their classes runs."""

    def find_class(self, module: str, name: str) -> Any:
        found = self._reader.known(module, name)
        return super().find_class(module, name) if found is None else found


class _Careful(_Unpickler, pickle._Unpickler):
    """Reads tensors and containers; every other class is refused, so no code of the file runs. Python's unpickler in Python,
    because the one in C lets a file set attributes of whatever it can name, of classes too."""

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        if (found := self._reader.known(module, name)) is not None:
            return found
        raise pickle.UnpicklingError(
            f"Weights only load failed: torch.load(): the file has a {module}.{name}, beside tensors, numbers and texts in "
            "containers. If you trust it, allow the class by torch.serialization.add_safe_globals, or say weights_only=False"
        )

    def load_build(self) -> None:
        of = self.stack[-2]  # type: ignore[attr-defined]
        if not isinstance(of, (OrderedDict, TensorBase, *(kind for kind in SAFE.values() if isinstance(kind, type)))):
            raise pickle.UnpicklingError(f"Weights only load failed: torch.load(): the file changes a {type(of).__name__}")
        super().load_build()  # type: ignore[misc]

    def load_bytearray8(self) -> None:
        self.load_binbytes8()  # type: ignore[attr-defined]
        self.stack[-1] = bytearray(self.stack[-1])  # type: ignore[attr-defined]

    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8

    def load(self) -> Any:
        try:
            return super().load()
        except (pickle.UnpicklingError, MemoryError, TesseraError):  # the last one also of a device that is not there
            raise
        except Exception as error:
            raise pickle.UnpicklingError(
                f"Weights only load failed: torch.load(): the file is damaged ({type(error).__name__}: {error})"
            ) from error


def _load_zip(path: Any, map_location: Any, safe: bool) -> Any:
    try:
        opened = zipfile.ZipFile(path)
    except UnicodeDecodeError as error:  # a name in it
        raise zipfile.BadZipFile(f"torch.load(): the file is damaged ({error})") from error
    with opened as archive:
        entry = next((name for name in archive.namelist() if name.endswith("/data.pkl")), None)
        if entry is None:
            raise pickle.UnpicklingError("torch.load(): expected a file of torch.save or of safetensors, got another zip file")
        head = entry.removesuffix("/data.pkl")
        if f"{head}/byteorder" in archive.namelist() and archive.read(f"{head}/byteorder") != b"little":
            raise pickle.UnpicklingError("torch.load(): the file's numbers have another byte order")
        with archive.open(entry) as file:
            unpickler: type[Any] = _Careful if safe else _Trusting
            return unpickler(file, _Reader(archive, head, map_location)).load()


__all__ = ["load", "save"]
