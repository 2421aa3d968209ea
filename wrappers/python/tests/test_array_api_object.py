# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The array object of the Array API standard: attributes, operators, indexing, exchange, and what the namespace says of
itself."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import tessera as ts

A = np.arange(12).reshape(3, 4)
NAMES = "add sub mul truediv floordiv pow mod matmul and or xor lshift rshift".split()
DUNDERS = (
    "abs array_namespace bool complex dlpack dlpack_device eq float ge getitem gt index int invert le lt ne neg pos setitem".split()
    + NAMES + [f"r{n}" for n in NAMES]
)  # fmt: skip


def x() -> Any:
    return ts.asarray(A, copy=True)


@pytest.mark.parametrize("name", DUNDERS)
def test_special_method(name: str) -> None:
    assert callable(getattr(ts.Tensor, f"__{name}__"))


def test_attributes() -> None:
    assert (x().shape, x().ndim, x().size, x().dtype) == ((3, 4), 2, 12, ts.int64)
    assert type(x().shape) is tuple and type(x().size) is int
    assert x().T.tolist() == x().mT.tolist() == A.T.tolist()
    assert ts.ones((2, 3, 4)).mT.shape == (2, 4, 3)
    with pytest.raises(ValueError, match="2 axes"):
        ts.ones(3).T  # noqa: B018
    assert x().device == ts.__array_namespace_info__().default_device()
    assert x().to_device(x().device, stream=None).tolist() == A.tolist()


def test_namespace() -> None:
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x().__array_namespace__(api_version=version) is ts
    with pytest.raises(ValueError, match="2020.01"):
        x().__array_namespace__(api_version="2020.01")
    assert ts.__array_api_version__ == "2025.12"
    assert (ts.e, ts.pi, ts.inf, ts.newaxis) == (math.e, math.pi, math.inf, None) and math.isnan(ts.nan)


def test_namespace_info() -> None:
    info = ts.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    with pytest.raises(ValueError, match="64"):
        ts.ones((1,) * 65)
    assert ts.ones((1,) * 64).ndim == 64
    defaults = {"real floating": ts.float32, "complex floating": ts.complex64, "integral": ts.int64, "indexing": ts.int64}
    assert info.default_dtypes() == info.default_dtypes(device=info.default_device()) == defaults
    assert isinstance(info.devices(), tuple) and info.default_device() in info.devices()
    integers = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    inexact = {"float32", "float64", "complex64", "complex128"}
    assert set(info.dtypes()) == integers | inexact | {"bool"}
    assert info.dtypes(kind=()) == {} and set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64", "complex128"}
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="text")


# ---- conversion to numbers ----


def test_tensors_of_one_element_convert_to_numbers() -> None:
    assert bool(ts.asarray(2.0)) is True and bool(ts.asarray(0j)) is False and bool(ts.asarray(math.nan)) is True
    assert int(ts.asarray(-2.7)) == -2 and int(ts.asarray(2**64 - 1, dtype=ts.uint64)) == 2**64 - 1
    assert float(ts.asarray(3, dtype=ts.uint8)) == 3.0 and complex(ts.asarray(1 + 2j)) == 1 + 2j
    assert operator.index(ts.asarray(7, dtype=ts.uint16)) == 7
    for convert, number in ((operator.index, 2.0), (float, 1j), (int, 1j)):
        with pytest.raises(TypeError):
            convert(ts.asarray(number))  # type: ignore[arg-type]
    for number in (math.nan, math.inf):
        with pytest.raises((ValueError, OverflowError)):
            int(ts.asarray(number))


# ---- operators with numbers ----


def test_unsigned_numbers_beyond_int64() -> None:
    large = 2**64 - 1
    zeros = ts.zeros(2, dtype=ts.uint64)
    assert (zeros + large).tolist() == (large - zeros).tolist() == ts.full(2, large, dtype=ts.uint64).tolist() == [large] * 2
    assert ts.full_like(zeros, large).tolist() == ts.where(zeros == 0, zeros, large).tolist()[:0] + [large] * 2
    assert ((zeros + large) == large).tolist() == [True, True] and (zeros < 2**63).tolist() == [True, True]
    assert (ts.asarray([large, 5], dtype=ts.uint64) // 2**63).tolist() == [1, 0]
    assert ts.clip(zeros + large, None, 2**63 + 1).tolist() == [2**63 + 1] * 2
    zeros[0] = large
    zeros.masked_fill_(zeros == 0, large - 1)
    assert zeros.tolist() == [large, large - 1]
    assert (ts.asarray([1, 2]) < large).tolist() == [True, True] and (ts.ones(1) * 2**63).tolist() == [2.0**63]
    for wrong in (ts.zeros(1, dtype=ts.int64), ts.zeros(1, dtype=ts.uint32)):
        with pytest.raises(ValueError, match=str(large)):
            wrong + large
    with pytest.raises(ValueError, match=str(large)):
        ts.full(2, large)  # int64 without a dtype
    with pytest.raises(ValueError, match="64 bits"):
        zeros + 2**64


@pytest.mark.parametrize("name", ["add", "sub", "mul", "and_", "or_", "xor"])
def test_an_inplace_operator_keeps_the_tensor_and_its_dtype(name: str) -> None:
    given = target = ts.asarray([5, 6], dtype=ts.int8)
    written = getattr(operator, "i" + name.rstrip("_"))
    target = written(target, 3)
    assert target is given and target.dtype == ts.int8
    assert target.tolist() == getattr(operator, name)(np.array([5, 6], "int8"), np.int8(3)).tolist()
    with pytest.raises(TypeError):
        written(target, ts.ones(2))  # a float does not fit
    with pytest.raises(ValueError, match="broadcast|shape"):
        written(target, ts.ones((3, 2), dtype=ts.int8))


def test_inplace_matmul() -> None:
    matrix = ts.asarray([[1.0, 2.0], [3.0, 4.0]])
    matrix @= ts.asarray([[0.0, 1.0], [1.0, 0.0]])
    assert matrix.tolist() == [[2.0, 1.0], [4.0, 3.0]]


# ---- indexing ----

KEYS: list[Any] = [
    0, -1, slice(None, None, -1), (slice(None), slice(None, None, -2)), (Ellipsis, -1), (None, 0, Ellipsis, None),
    slice(3, 0, -1), slice(0, 0), slice(-1, -9, -2), (1, 2), Ellipsis, (), (slice(1, 99), slice(-99, 3)), True, False,
    np.array(True), np.array(False), A > 5, np.array([True, False, True]), A > 99, (np.array([2, 0]), np.array([1, -1])),
    (1, np.array([1, -1])), np.array([[2], [0]]), (np.array([2, 0], "uint8"), slice(None)), np.array([2, 0], "uint64"),
    (np.array([[0], [2]]), np.array([3, 1, 1])), (slice(None), np.array([0])),
]  # fmt: skip


def translated(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(translated(k) for k in key)
    return ts.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_getitem_and_setitem(key: Any) -> None:
    got = x()[translated(key)]
    assert got.shape == A[key].shape and got.tolist() == A[key].tolist() and got.dtype == ts.int64
    array = A.copy()
    tensor = x()
    array[key] = 7
    tensor[translated(key)] = 7
    assert tensor.tolist() == array.tolist()
    array[key] = -A[key]
    tensor[translated(key)] = ts.asarray(-A[key])
    assert tensor.tolist() == array.tolist()


def test_a_mask_without_axes_indexes_a_tensor_without_axes() -> None:
    assert ts.asarray(5)[ts.asarray(True)].tolist() == [5] and ts.asarray(5)[ts.asarray(False)].shape == (0,)
    assert x()[ts.asarray(False)].shape == (0, 3, 4)
    single = ts.asarray(5)
    single[ts.asarray(True)] = 6
    single[ts.asarray(False)] = 7
    assert single.item() == 6


@pytest.mark.parametrize("key", [3, -4, (0, 4), (0, 0, 0), ts.asarray([True, False]), ts.ones((3, 5), dtype=ts.bool),
                                 ts.asarray([3]), ts.asarray([2**64 - 1], dtype=ts.uint64), (Ellipsis, Ellipsis), 1.0])  # fmt: skip
def test_an_index_outside_is_an_index_error(key: Any) -> None:
    with pytest.raises(IndexError):
        x()[key]


def test_nonzero_refuses_a_tensor_without_axes() -> None:
    with pytest.raises(ValueError, match="nonzero"):
        ts.nonzero(ts.asarray(5))


# ---- copies and exchange ----


def test_copy_says_whether_memory_is_shared() -> None:
    tensor = x()
    for function in (ts.asarray, ts.from_dlpack):
        assert function(tensor, copy=False).data_ptr() == function(tensor).data_ptr() == tensor.data_ptr()
        assert function(tensor, copy=True).data_ptr() != tensor.data_ptr()
    assert ts.astype(tensor, ts.int64, copy=False).data_ptr() == tensor.data_ptr()
    assert ts.astype(tensor, ts.int64).data_ptr() != tensor.data_ptr()
    assert ts.astype(tensor, ts.float64, device=tensor.device).tolist() == A.tolist()
    assert ts.reshape(tensor, (12,), copy=False).data_ptr() == tensor.data_ptr()
    assert ts.reshape(tensor, (12,), copy=True).data_ptr() != tensor.data_ptr()
    for call in (
        lambda: ts.asarray(tensor, dtype=ts.float32, copy=False),
        lambda: ts.asarray([1, 2], copy=False),
        lambda: ts.reshape(tensor.mT, (12,), copy=False),
    ):
        with pytest.raises(ValueError, match="copy|copied|strides"):
            call()


@pytest.mark.parametrize("options", [{}, {"stream": None}, {"max_version": (1, 0)}, {"max_version": (2, 0)}, {"dl_device": (1, 0)},
                                     {"copy": True}, {"copy": False}, {"max_version": (1, 0), "copy": True}], ids=str)  # fmt: skip
def test_dlpack_options(options: dict[str, Any]) -> None:
    assert type(x().__dlpack__(**options)).__name__ == "PyCapsule"


def test_dlpack() -> None:
    assert tuple(x().__dlpack_device__()) == (1, 0)
    for options in ({}, {"device": None, "copy": None}, {"device": x().device}, {"copy": True}):
        for source in (x(), A.copy()):
            assert ts.from_dlpack(source, **options).tolist() == A.tolist()
    assert np.from_dlpack(x()).tolist() == A.tolist()
    with pytest.raises(BufferError):
        x().__dlpack__(dl_device=(2, 0))
    with pytest.raises((AttributeError, TypeError)):
        ts.from_dlpack([1])


def test_asarray_of_a_buffer() -> None:
    assert ts.asarray(memoryview(b"abc")).tolist() == [97, 98, 99]
    assert ts.asarray(2**63 + 5, dtype=ts.uint64).item() == ts.asarray([2**63 + 5], dtype=ts.uint64)[0].item() == 2**63 + 5


@pytest.mark.parametrize("mask", [(0,), (0, 3), (2, 0), (0, 0), (0, 3, 4), (2, 3, 0)])
def test_an_axis_of_size_zero_in_a_mask_selects_nothing(mask: tuple[int, ...]) -> None:
    x, none = ts.arange(24.0).reshape(2, 3, 4), ts.zeros(mask, dtype=ts.bool)
    assert x[none].shape == np.zeros((2, 3, 4))[np.zeros(mask, bool)].shape
    x[none] = 5.0
    x[none] = ts.zeros((1, *x.shape[len(mask) :]))
    assert x.tolist() == ts.arange(24.0).reshape(2, 3, 4).tolist()
    assert ts.ones((0, 1))[ts.zeros((0, 0), dtype=ts.bool)].shape == (0,)
    with pytest.raises(IndexError, match=r"mask that matches shape \[2, 3, 4\]"):
        x[ts.zeros((*mask[:-1], 5), dtype=ts.bool)]
