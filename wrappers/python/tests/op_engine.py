# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine of the op table: the fields of a row, and the functions that make and compare its inputs.

A row names one op of tests/capi/ops_first.txt, its reference on NumPy arrays and its samples. From that
test_ops.py checks values over dtypes and layouts, out=, the in-place form, dtypes of results,
errors, and first and second derivatives in float64. Forms come from the library's schema, so a row cannot forget one.
The rows are in op_table_<family>.py; each such file has a list ROWS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

import tessera as ts
from tessera.capi import lib

# (rtol, atol) against a reference in double precision; docs/guide/operations.md has the table.
TOLERANCE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
HALVES = ("float16", "bfloat16")
FLOATS = ("float32", "float64")
ALL_FLOATS = HALVES + FLOATS
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
COMPLEX = ("complex64", "complex128")
BOOL = ("bool",)
REAL = ALL_FLOATS + INTEGERS
ALL = BOOL + REAL + COMPLEX

LAYOUTS = ("contiguous", "transposed", "sliced", "reversed", "expanded")


def real_of(dtype: str) -> str:
    """The dtype of a magnitude."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


@dataclass(frozen=True)
class Fixed:
    """An array of a sample that keeps its own dtype, whatever dtype is under test (indices, masks)."""

    array: Any


@dataclass
class Sample:
    """Arguments of one call. NumPy arrays become tensors of the dtype under test."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def sample(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


class Make:
    """Makes the arrays of samples, of the dtype under test."""

    def __init__(self, dtype: str, seed: int = 0) -> None:
        self.dtype = dtype
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
        """Values in [low, high), rounded to the dtype; bools at random."""
        if self.dtype == "bool":
            return self.rng.random(shape) < 0.5
        if self.dtype in INTEGERS:
            bottom = max(int(np.ceil(low)), 0) if self.dtype in UNSIGNED else int(np.ceil(low))
            return self.rng.integers(bottom, max(int(np.ceil(high)), bottom) + 1, shape).astype(self.dtype)
        values = self.rng.uniform(low, high, shape)
        if self.dtype in COMPLEX:
            return values + 1j * self.rng.uniform(low, high, shape)
        return rounded(values, self.dtype)

    def distinct(self, *shape: int) -> Any:
        """Values without ties, far enough apart for finite differences; small integers."""
        count = int(np.prod(shape))
        values = self.rng.permutation(count).reshape(shape)
        if self.dtype in INTEGERS:
            return values.astype(self.dtype)
        return rounded(values * 0.25 - count * 0.125, self.dtype)

    def index(self, *shape: int, high: int, low: int = 0) -> Fixed:
        return Fixed(self.rng.integers(low, high, shape))

    def mask(self, *shape: int) -> Fixed:
        return Fixed(self.rng.random(shape) < 0.5)


def rounded(values: Any, dtype: str) -> Any:
    """The values rounded to a floating dtype, as doubles."""
    if dtype == "bfloat16":
        bits = np.asarray(values, np.float32).view(np.uint32)
        return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    return np.asarray(values, dtype).astype(np.float64)


Samples = Callable[[Make], Iterable[Sample]]


@dataclass(frozen=True)
class Row:
    """One op. See the module's text; `result` says what dtype comes out of dtype d:
    "same", "float" (integers and bool give float32), "bool", "int64", "sum" (integers widen), or a
    function of the name. `why_no_grad` explains an op without a derivative."""

    name: str
    reference: Callable[..., Any]
    samples: Samples
    call: Callable[..., Any] | None = None  # default: tessera.<name>
    inplace: Callable[..., Any] | None = None  # default: the method <name>_
    dtypes: Sequence[str] = ALL_FLOATS
    result: Any = "same"
    grad: bool = True
    why_no_grad: str = ""
    gradgrad: bool = True
    grad_dtype: str = "float64"  # or "complex128", for an op whose input is complex
    grad_samples: Samples | None = None  # default: the small ones of `samples`
    grad_args: Sequence[int] | None = None  # arguments that are differentiated; default: all floating
    layouts: Sequence[str] = LAYOUTS
    tolerance: dict[str, tuple[float, float]] = field(default_factory=dict)
    errors: Sequence[tuple[type[BaseException], Callable[[], Any]]] = ()
    schema: str | None = None  # the schema's name when it is not `name`
    compare: bool = True  # False: only shapes and dtypes (random, empty)
    reference_dtype: Any = None  # gives the reference arrays of this dtype instead of doubles

    @property
    def function(self) -> Callable[..., Any]:
        return self.call if self.call is not None else find(self.name)

    @property
    def forms(self) -> tuple[str, ...]:
        return schema_forms().get(self.schema or self.name.rstrip("_"), ())

    def result_dtype(self, dtype: str) -> str:
        if callable(self.result):
            return str(self.result(dtype))
        if self.result == "float":
            return "float32" if dtype in INTEGERS + BOOL else dtype
        if self.result == "sum":
            return "int64" if dtype in SIGNED + BOOL else "uint64" if dtype in UNSIGNED else dtype
        return dtype if self.result == "same" else str(self.result)

    def tolerance_of(self, dtype: str) -> tuple[float, float]:
        return self.tolerance.get(dtype, TOLERANCE.get(dtype, (0.0, 0.0)))


def find(name: str) -> Callable[..., Any]:
    from tessera import _ops

    return getattr(_ops, name) if hasattr(_ops, name) else getattr(ts, name)


@lru_cache(maxsize=1)
def schema_forms() -> dict[str, tuple[str, ...]]:
    """The forms of every op, from the schema of the loaded library."""
    forms: dict[str, set[str]] = {}
    for function in dir(lib):
        match = re.fullmatch(r"tsr_(.+?)(?:_(?:f64|i64|c128|bool))?(?:_left|_both)?(_out|_inplace)?", function)
        if match is not None:
            forms.setdefault(match[1], set()).add((match[2] or "_functional")[1:])
    return {name: tuple(sorted(found)) for name, found in forms.items()}


# ---- From samples to tensors ----


def tensor_of(array: Any, dtype: str, layout: str = "contiguous") -> ts.Tensor:
    """A tensor with the array's values and this memory layout."""
    plain = ts.asarray(np.array(array))
    values = plain.astype(getattr(ts, dtype if dtype != "bool" else "bool_"))
    if layout == "contiguous" or array.ndim == 0:
        return values
    return _laid_out(values, array, layout)


def _laid_out(values: ts.Tensor, array: Any, layout: str) -> ts.Tensor:
    if values.dtype is ts.bfloat16:  # NumPy has no bfloat16: lay out a float32 and cast it
        return _laid_out(values.astype(ts.float32), array, layout).astype(ts.bfloat16)
    numbers = values.numpy()
    if layout == "transposed":
        return ts.from_numpy(np.array(numbers.T, order="C").T)
    if layout == "sliced":
        room = np.zeros([2 * n + 1 for n in numbers.shape], numbers.dtype)
        window = tuple(slice(1, 2 * n + 1, 2) for n in numbers.shape)
        room[window] = numbers
        return ts.from_numpy(room[window])
    if layout == "reversed":
        return ts.from_numpy(np.array(numbers[::-1])[::-1])
    if layout == "expanded":
        return _expand(numbers)
    raise ValueError(layout)


def _expand(numbers: Any) -> ts.Tensor:
    """Stride 0 along the first axis: every entry shows the first one."""
    view = np.lib.stride_tricks.as_strided(
        numbers, numbers.shape, (0, *numbers.strides[1:]), writeable=True
    )
    return ts.from_numpy(view)


def expand_array(array: Any) -> Any:
    """The array after the layout "expanded"."""
    return np.broadcast_to(array[:1], array.shape).copy() if array.ndim and array.shape[0] else array


@dataclass
class Call:
    """A prepared sample: tensors for the op, arrays for the reference."""

    args: list[Any]
    kwargs: dict[str, Any]
    reference_args: list[Any]
    reference_kwargs: dict[str, Any]


def prepare(row: Row, given: Sample, dtype: str, layout: str = "contiguous") -> Call:
    reference_dtype = row.reference_dtype
    if reference_dtype is None and row.result == "float" and dtype in INTEGERS + BOOL:
        reference_dtype = np.float64

    def both(item: Any) -> tuple[Any, Any]:
        if isinstance(item, Fixed):
            return tensor_of(item.array, item.array.dtype.name), item.array
        if isinstance(item, np.ndarray):
            array = expand_array(item) if layout == "expanded" else item
            made = tensor_of(array, dtype, layout if 0 not in array.shape else "contiguous")
            return made, array if reference_dtype is None else array.astype(reference_dtype)
        if isinstance(item, (list, tuple)) and any(isinstance(i, (np.ndarray, Fixed)) for i in item):
            pairs = [both(i) for i in item]
            return [p[0] for p in pairs], [p[1] for p in pairs]
        if isinstance(item, np.generic):
            return both(np.asarray(item))
        return item, item

    args = [both(a) for a in given.args]
    kwargs = {k: both(v) for k, v in given.kwargs.items()}
    return Call(
        [a[0] for a in args],
        {k: v[0] for k, v in kwargs.items()},
        [a[1] for a in args],
        {k: v[1] for k, v in kwargs.items()},
    )


# ---- Comparing ----


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def array_of(value: Any) -> Any:
    """A tensor as doubles (or integers, complex) for comparison."""
    if not isinstance(value, ts.Tensor):
        return np.asarray(value)
    plain = value.detach()
    if plain.dtype in (ts.bfloat16, ts.float16, ts.float32):
        plain = plain.astype(ts.float64)
    return plain.numpy()


def assert_same(row: Row, dtype: str, actual: Any, expected: Any, where: str = "") -> None:
    """Asserts equal shapes, dtypes and values of one result or of several."""
    many, wanted = as_tuple(actual), as_tuple(expected)
    assert len(many) == len(wanted), f"{row.name} {where}: {len(many)} results, expected {len(wanted)}"
    for got, want in zip(many, wanted):
        want = np.asarray(want)
        shape = got.shape if isinstance(got, ts.Tensor) else np.shape(got)
        assert tuple(shape) == want.shape, f"{row.name} {where}: shape {tuple(shape)}, expected {want.shape}"
        if row.compare:
            kind = got.dtype.name if isinstance(got, ts.Tensor) else dtype
            rtol, atol = row.tolerance_of(kind)
            numbers = array_of(got)
            if want.dtype.kind in "iub" and numbers.dtype.kind in "iub":
                np.testing.assert_array_equal(numbers, want, f"{row.name} {where}")
            else:
                np.testing.assert_allclose(numbers, want, rtol, atol, err_msg=f"{row.name} {where}")


def reference_of(row: Row, call: Call) -> Any:
    with np.errstate(all="ignore"):
        return row.reference(*call.reference_args, **call.reference_kwargs)


# ---- Samples that many rows share ----

SHAPES = ((), (0,), (3,), (2, 3), (2, 0, 3), (3, 1, 4), (17, 5))


def one_array(low: float = -2.0, high: float = 2.0, shapes: Sequence[tuple[int, ...]] = SHAPES) -> Samples:
    return lambda make: [sample(make(*shape, low=low, high=high)) for shape in shapes]


def two_arrays(
    low: float = -2.0, high: float = 2.0, low2: float | None = None, high2: float | None = None
) -> Samples:
    """Equal shapes, broadcasts, empty and 0-dim ones."""
    pairs = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 3), (3,)), ((), (2, 3)), ((17, 5), (17, 5))]

    def samples(make: Make) -> list[Sample]:
        return [
            sample(
                make(*a, low=low, high=high),
                make(*b, low=low if low2 is None else low2, high=high if high2 is None else high2),
            )
            for a, b in pairs
        ]

    return samples


def elementwise(name: str, reference: Callable[..., Any], **options: Any) -> Row:
    """A row of a unary op; `low` and `high` bound the inputs."""
    low, high = options.pop("low", -2.0), options.pop("high", 2.0)
    return Row(name, reference, one_array(low, high), **options)


def binary(name: str, reference: Callable[..., Any], **options: Any) -> Row:
    """A row of a binary op; low, high, low2, high2 bound the inputs."""
    bounds = {k: options.pop(k) for k in ("low", "high", "low2", "high2") if k in options}
    return Row(name, reference, two_arrays(**bounds), **options)
