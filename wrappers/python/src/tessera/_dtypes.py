# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The dtypes, their counterparts in NumPy, and the rules of promotion."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ._constants import DTYPES
from ._errors import ArgumentTypeError, DTypeError, InvalidValueError
from .capi import check, lib, out


class DType:
    """The type of a tensor's elements; there is one object for each."""

    __slots__ = ("bits", "category", "itemsize", "name")

    prefix = "tessera"  # of the text; `python -m tessera.torch` says "torch" to programs of PyTorch

    def __init__(self, name: str, bits: int, itemsize: int, category: str) -> None:
        self.name = name
        self.bits = bits
        self.itemsize = itemsize
        self.category = category

    def __repr__(self) -> str:
        return f"{self.prefix}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (dtype_of, (self.name,))

    @property
    def is_floating_point(self) -> bool:
        return self.category == "floating"

    @property
    def is_complex(self) -> bool:
        return self.category == "complex"

    @property
    def is_signed(self) -> bool:
        return self.category in ("floating", "complex") or self.name.startswith("int")

    def to_complex(self) -> DType:
        """The complex dtype with parts of this one, which 16-bit floats do not have: theirs is complex64."""
        return self if self.is_complex else ALL["complex128" if self.name == "float64" else "complex64"]

    def to_real(self) -> DType:
        """The dtype of the parts of a complex one; else this one."""
        return ALL["float64" if self.name == "complex128" else "float32"] if self.is_complex else self

    @property
    def numpy(self) -> np.dtype[Any]:
        """The same dtype in NumPy, which has no bfloat16."""
        if self.name == "bfloat16":
            raise DTypeError("NumPy has no bfloat16; convert with .astype(tessera.float32) first")
        return np.dtype(self.name)


ALL: Final[dict[str, DType]] = {row[0]: DType(*row) for row in DTYPES}
BY_BITS: Final[dict[int, DType]] = {d.bits: d for d in ALL.values()}

bool_ = ALL["bool"]
uint8, uint16, uint32, uint64 = ALL["uint8"], ALL["uint16"], ALL["uint32"], ALL["uint64"]
int8, int16, int32, int64 = ALL["int8"], ALL["int16"], ALL["int32"], ALL["int64"]
float16, bfloat16 = ALL["float16"], ALL["bfloat16"]
float32, float64 = ALL["float32"], ALL["float64"]
complex64, complex128 = ALL["complex64"], ALL["complex128"]

_PYTHON: Final[dict[Any, DType]] = {bool: bool_, int: int64, float: float64, complex: complex128}
_NUMBERS: Final = ((bool, bool_.bits), (int, int64.bits), (float, float64.bits), (complex, complex128.bits))


def dtype_of(given: Any) -> DType:
    """A dtype from a DType, a name, a Python type (its own precision: float gives float64) or a NumPy dtype."""
    if isinstance(given, DType):
        return given
    if isinstance(given, type) and given in _PYTHON:
        return _PYTHON[given]
    if isinstance(given, str) and given in ALL:
        return ALL[given]
    try:
        return ALL[np.dtype(given).name]
    except (TypeError, KeyError):
        raise DTypeError(f"expected a dtype, got {given!r}; one of {', '.join(ALL)}") from None


_KINDS: Final = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float16", "bfloat16", "float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}


def kind_names(kind: str) -> tuple[str, ...]:
    """The names of the dtypes of one kind of the Array API standard."""
    if kind == "integral":
        return _KINDS["signed integer"] + _KINDS["unsigned integer"]
    if kind == "numeric":
        return kind_names("integral") + _KINDS["real floating"] + _KINDS["complex floating"]
    if kind not in _KINDS:
        raise InvalidValueError(f"isdtype(): unknown kind {kind!r}")
    return _KINDS[kind]


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether a dtype equals another one or is of a kind; a tuple means any of its items."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, DType):
        return dtype is kind
    return dtype.name in kind_names(kind)


def promote_types(first: DType, second: DType) -> DType:
    """The common dtype of the two by the rules of the library."""
    if not isinstance(first, DType) or not isinstance(second, DType):
        raise ArgumentTypeError(f"promote_types(): expected two dtypes, got {first!r} and {second!r}")
    return BY_BITS[out("tsr_dtype", lib.tsr_promote_types, first.bits, second.bits)]


def get_default_dtype() -> DType:
    """The default dtype of the process: what an operator makes of integers that cannot stay what they are, and what functions
    that make tensors of floats take when no dtype is given. float32 at first."""
    return BY_BITS[out("tsr_dtype", lib.tsr_default_dtype)]


def set_default_dtype(dtype: Any) -> None:
    """Sets the default dtype of the process, a floating one."""
    check(lib.tsr_set_default_dtype(dtype_of(dtype).bits))


def result_type(*items: Any) -> DType:
    """The dtype of an operation on tensors, dtypes and Python numbers; only a number's kind counts."""
    for item in items:
        if not isinstance(item, (DType, bool, int, float, complex)) and not isinstance(getattr(item, "dtype", None), DType):
            raise ArgumentTypeError(f"result_type(): expected Tensors, dtypes and numbers, got {type(item).__name__}")
    strong = [i if isinstance(i, DType) else i.dtype for i in items if not isinstance(i, (bool, int, float, complex))]
    if not strong:
        raise InvalidValueError("result_type(): expected at least one tensor or dtype")
    result: DType = strong[0]
    for dtype in strong[1:]:
        result = promote_types(result, dtype)
    for number in (i for i in items if isinstance(i, (bool, int, float, complex))):
        result = BY_BITS[out("tsr_dtype", lib.tsr_promote_number, result.bits, number_kind(number))]
    return result


def number_kind(number: complex) -> int:
    """The kind of a Python number, as a dtype of the C ABI."""
    return next(bits for kind, bits in _NUMBERS if isinstance(number, kind))


def can_cast(given: Any, to: DType) -> bool:
    """Whether promotion with `to` gives `to`."""
    dtype = given if isinstance(given, DType) else getattr(given, "dtype", None)
    if not isinstance(dtype, DType) or not isinstance(to, DType):
        raise ArgumentTypeError(f"can_cast(): expected a Tensor or a dtype and a dtype, got {given!r} and {to!r}")
    return bool(out("int32_t", lib.tsr_can_cast, dtype.bits, to.bits))


class finfo:  # noqa: N801 (the standard's name)
    """Limits of a floating dtype; of a complex one, those of its parts."""

    def __init__(self, given: Any) -> None:
        dtype = dtype_of(getattr(given, "dtype", given))
        if dtype.category not in ("floating", "complex"):
            raise DTypeError(f"finfo(): expected a floating dtype, got {dtype.name}")
        real = {complex64: float32, complex128: float64}.get(dtype, dtype)
        self.dtype, self.bits = real, real.itemsize * 8
        if real is bfloat16:
            self.eps, self.max, self.smallest_normal = 2.0**-7, 3.3895313892515355e38, 2.0**-126
        else:
            info = np.finfo(real.name)
            self.eps, self.max = float(info.eps), float(info.max)
            self.smallest_normal = float(info.tiny)
        self.min, self.tiny = -self.max, self.smallest_normal

    def __repr__(self) -> str:
        return f"finfo(eps={self.eps}, min={self.min}, max={self.max}, tiny={self.tiny}, dtype={self.dtype.name})"


class iinfo:  # noqa: N801 (the standard's name)
    """Limits of an integer dtype."""

    def __init__(self, given: Any) -> None:
        self.dtype = dtype_of(getattr(given, "dtype", given))
        if self.dtype.category != "integral":
            raise DTypeError(f"iinfo(): expected an integer dtype, got {self.dtype.name}")
        info = np.iinfo(self.dtype.name)
        self.bits, self.min, self.max = info.bits, int(info.min), int(info.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"
