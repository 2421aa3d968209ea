# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.storage: the memory of a tensor and of all its views, to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._dtypes import uint8
from .._errors import InvalidValueError
from . import _rows

__all__ = ["TypedStorage", "UntypedStorage"]


def _fits(tensor: Any, count: int) -> bool:
    try:
        _ops.as_strided(tensor, (count,), (1,), 0)
    except InvalidValueError:
        return False
    return True


def _whole(tensor: Any) -> Any:
    """All elements of the memory, as a vector. The memory tells its size only by refusing larger windows."""
    high = 1
    while _fits(tensor, high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(tensor, middle) else (low, middle)
    return _ops.as_strided(tensor, (low,), (1,), 0)


class _Storage:
    """The memory of a tensor as a vector, without a history."""

    def __init__(self, tensor: Any) -> None:
        self._vector = _whole(tensor.detach())

    def __len__(self) -> int:
        return self.size()

    def size(self) -> int:
        return int(self._vector.shape[0])

    def nbytes(self) -> int:
        return self.size() * self.element_size()

    def element_size(self) -> int:
        return int(self._vector.dtype.itemsize)

    def data_ptr(self) -> int:
        return int(TensorBase.data_ptr(self._vector))

    _cdata = property(data_ptr)  # by which programs know that two are the same

    @property
    def device(self) -> Any:
        return self._vector.device

    @property
    def is_cuda(self) -> bool:
        return bool(self._vector.device.type == "cuda")

    def get_device(self) -> int:
        return int(self.device.index) if self.is_cuda else -1

    def is_shared(self) -> bool:
        return bool(self._vector.is_shared())

    def share_memory_(self) -> Any:
        self._vector.share_memory_()
        return self

    def is_pinned(self, device: Any = "cuda") -> bool:
        return bool(self._vector.is_pinned())

    def resizable(self) -> bool:
        return False

    def resize_(self, size: int) -> Any:
        """Refused for another size: the memory belongs to tensors, whose shapes would no longer fit."""
        if size != self.size():
            raise NotImplementedError(
                f"torch.{type(self).__name__}.resize_({size}) is not in tessera.torch: memory of {self.size()} stays as it is"
            )
        return self

    def tolist(self) -> list[Any]:
        found: list[Any] = self._vector.tolist()
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        return self._vector[index].item() if hasattr(index, "__index__") else type(self)(self._vector[index].clone())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._vector[index] = value

    def fill_(self, value: Any) -> Any:
        self._vector.fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> Any:
        self._vector.copy_(source._vector)
        return self

    def clone(self) -> Any:
        return type(self)(self._vector.clone())

    def cpu(self) -> Any:
        return type(self)(self._vector.cpu())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.data_ptr(), self.size()) == (other.data_ptr(), other.size())  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.size()))


class UntypedStorage(_Storage):
    """The memory as bytes."""

    def __init__(self, tensor: Any) -> None:
        vector = _whole(tensor.detach())
        self._vector = vector if vector.dtype is uint8 else vector.view(uint8)

    def untyped(self) -> UntypedStorage:
        return self

    def __repr__(self) -> str:
        return "".join(f" {n}\n" for n in self.tolist()) + f"[torch.storage.UntypedStorage(device={self.device}) of size {self.size()}]"


class TypedStorage(_Storage):
    """The memory as elements of the tensor's dtype."""

    @property
    def dtype(self) -> Any:
        return self._vector.dtype

    def untyped(self) -> UntypedStorage:
        return UntypedStorage(self._vector)

    _untyped_storage = property(untyped)

    def __repr__(self) -> str:
        head = "".join(f" {n}\n" for n in self.tolist())
        return head + f"[torch.storage.TypedStorage(dtype=torch.{self.dtype.name}, device={self.device}) of size {self.size()}]"


def __getattr__(name: str) -> Any:
    raise AttributeError(name) if name.startswith("__") else _rows.missing(f"torch.storage.{name}")
