# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of the fuzzers: values as plain data, and handles of them in any layout and anywhere in a graph."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from binding import CPU, Library
from generator.cases.replay import number_fields
from generator.schema.model import Literal

# Numbers of a dtype that NumPy lacks are stored as bits.
NUMPY = {
    "bool": "?", "u8": "u1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u16": "u2", "u32": "u4", "u64": "u8",
    "f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}  # fmt: skip
FLOATING = ("f16", "bf16", "f32", "f64")
LAYOUTS = ("plain", "plain", "permuted", "stepped", "reversed", "expanded", "shared")
STATES = ("constant", "leaf", "node")
TOLERANCE = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-10, "c64": 2e-5, "c128": 1e-10}


def encode(numbers: Any, dtype: str) -> np.ndarray:
    """Numbers as the bits of a dtype."""
    if dtype != "bf16":
        return np.asarray(numbers).astype(NUMPY[dtype])
    return (np.asarray(numbers, "f4").view("u4") >> 16).astype("u2")


def decode(array: np.ndarray, dtype: str) -> np.ndarray:
    return (array.astype("u4").reshape(-1) << 16).view("f4").reshape(array.shape) if dtype == "bf16" else array


@dataclass(frozen=True)
class Value:
    """A tensor argument as data: its contents, its layout, and its position in a graph."""

    array: np.ndarray  # the bits, row-major
    dtype: str
    layout: str = "plain"
    state: str = "constant"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)} {self.layout} {self.state} {decode(self.array, self.dtype).tolist()}"


def of_literal(literal: Literal) -> Value:
    data = [complex(x) if isinstance(x, str) else x for x in literal.data or [1] * math.prod(literal.shape)]
    return Value(encode(data, literal.dtype).reshape(literal.shape), literal.dtype)


def random_numbers(rng: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Small integers and fractions, sometimes an extreme number."""
    count = math.prod(shape)
    if dtype == "bool":
        data: list[Any] = [rng.random() < 0.5 for _ in range(count)]
    elif dtype[0] == "u":
        data = [rng.randrange(9) for _ in range(count)]
    elif dtype[0] == "i":
        data = [rng.randrange(-5, 6) for _ in range(count)]
    else:
        data = [rng.uniform(-3, 3) for _ in range(count)]
        if count and rng.random() < 0.1:
            data[rng.randrange(count)] = rng.choice([math.inf, -math.inf, math.nan, 0.0, 1e30])
        if dtype[0] == "c":
            data = [complex(x, rng.uniform(-3, 3)) for x in data]
    with np.errstate(over="ignore"):
        return encode(np.array(data), dtype).reshape(shape)


def with_layout(rng: random.Random, value: Value) -> Value:
    """The value in some layout; an expanded one repeats its first row."""
    layout = rng.choice(LAYOUTS)
    if layout != "plain" and value.array.ndim == 0:
        layout = "plain"
    if layout == "expanded":
        if value.shape[0] < 2:
            layout = "plain"
        else:
            return replace(value, layout=layout, array=np.repeat(value.array[:1], value.shape[0], axis=0))
    return replace(value, layout=layout)


class Tensors:
    """Makes handles of values and releases all of them at the end of a batch."""

    def __init__(self, library: Library, rng: random.Random) -> None:
        self.library = library
        self.rng = rng
        self.owned: list[Any] = []
        self.leaves: list[Any] = []
        self.others: list[tuple[str, Any]] = []  # handles of other kinds
        self.kept: list[Any] = []  # memory that the library borrows or writes to
        self.codes = {t.short: t.value for t in library.schema.dtypes}
        self.shorts = {t.value: t.short for t in library.schema.dtypes}
        self._info = library.ffi.new("tsr_info*", {"struct_size": library.ffi.sizeof("tsr_info")})

    def keep(self, *what: Any) -> Any:
        self.kept.append(self.library.ffi.new(*what))
        return self.kept[-1]

    def made(self, name: str, *args: Any) -> Any:
        self.owned.append(self.library.made(name, *args))
        return self.owned[-1]

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        steps = [math.prod(max(n, 1) for n in shape[i + 1 :]) for i in range(len(shape))]
        return self.made("tsr_tensor_empty_strided", shape, len(shape), steps, len(steps), self.codes[dtype], -1, -1)

    def make(self, value: Value) -> Any:
        """A handle; leaves require grad, nodes are computed from one."""
        handle = self._laid_out(value)
        if value.state == "constant":
            return handle
        # A view cannot be a leaf: its base is one.
        base = handle if value.layout in ("plain", "shared") else self.base
        self.library.check("tsr_tensor_set_requires_grad", base, 1)
        self.leaves.append(base)
        if value.state == "node" or base is not handle:
            view = self._view(base, value) if base is not handle else handle
            handle = self.made("tsr_multiply_scalar", view, [number_fields(1.0)])
        return handle

    def _laid_out(self, value: Value) -> Any:
        if value.layout == "shared":
            return self._shared(value)
        shape = list(value.shape)
        if value.layout == "permuted":
            shape = shape[::-1]
        elif value.layout == "stepped":
            shape[0] = 2 * shape[0] + 1
        elif value.layout == "expanded":
            shape[0] = 1
        self.base = self.empty(tuple(shape), value.dtype)
        if value.layout == "expanded":
            self.write(self.base, value.array[:1])
            return self._view(self.base, value)
        if value.layout == "stepped":
            self.write(self.base, np.zeros(shape, value.array.dtype))
        handle = self._view(self.base, value)
        self.write(handle, value.array)
        return handle

    def _view(self, base: Any, value: Value) -> Any:
        none = self.library.lib.tsr_none()
        if value.layout == "permuted":
            axes = list(range(len(value.shape)))[::-1]
            return self.made("tsr_permute_dims", base, axes, len(axes))
        if value.layout == "stepped":
            return self.made("tsr_slice", base, 0, 1, none, 2)
        if value.layout == "reversed":
            return self.made("tsr_slice", base, 0, none, none, -1)
        if value.layout == "expanded":
            return self.made("tsr_expand", base, list(value.shape), len(value.shape))
        return base

    def _shared(self, value: Value) -> Any:
        """Memory of the fuzzer behind a gap; the library only borrows it."""
        ffi = self.library.ffi
        memory = np.concatenate([np.zeros(3, value.array.dtype), value.array.ravel()])
        self.kept.append(memory)
        data = ffi.cast("char*", memory.ctypes.data) + 3 * memory.itemsize
        shape = list(value.shape)
        return self.made(
            "tsr_tensor_from_data", data, self.codes[value.dtype], CPU, 0, shape, len(shape), ffi.NULL, -1, 0, ffi.NULL, ffi.NULL
        )  # fmt: skip

    def write(self, handle: Any, array: np.ndarray) -> None:
        memory = np.ascontiguousarray(array)
        self.library.check(
            "tsr_tensor_write", handle, self.library.ffi.cast("void*", memory.ctypes.data), memory.nbytes
        )

    def read(self, handle: Any) -> Value:
        """The current contents of a tensor."""
        self.library.check("tsr_tensor_info", handle, self._info)
        info = self._info
        shape = tuple(info.sizes[i] for i in range(info.ndim))
        dtype = self.shorts[info.dtype]
        array = np.empty(shape, NUMPY[dtype])
        self.library.check("tsr_tensor_read", handle, self.library.ffi.cast("void*", array.ctypes.data), array.nbytes)
        return Value(array, dtype)

    def numel(self, handle: Any) -> int:
        self.library.check("tsr_tensor_info", handle, self._info)
        return int(self._info.numel)

    def requires_grad(self, handle: Any) -> bool:
        found = self.library.ffi.new("int32_t*")
        self.library.check("tsr_tensor_requires_grad", handle, found)
        return bool(found[0])

    def clean(self) -> None:
        # A gradient that was made with create_graph refers back to its leaf.
        for leaf in self.leaves:
            self.library.check("tsr_tensor_set_grad", leaf, self.library.ffi.NULL)
        self.leaves.clear()
        for handle in self.owned:
            self.library.lib.tsr_tensor_release(handle)
        self.owned.clear()
        for kind, handle in self.others:
            getattr(self.library.lib, f"tsr_{kind}_release")(handle)
        self.others.clear()
        self.kept.clear()


def same(a: Value, b: Value) -> bool:
    """Whether two results are equal: shape, dtype, and values up to the rounding of the dtype."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if np.array_equal(a.array, b.array):
        return True
    if a.dtype not in TOLERANCE:
        return False
    x, y = (decode(v.array, v.dtype) for v in (a, b))
    with np.errstate(all="ignore"):
        bound = TOLERANCE[a.dtype]
        return bool(np.allclose(x, y, rtol=bound, atol=bound, equal_nan=True))
