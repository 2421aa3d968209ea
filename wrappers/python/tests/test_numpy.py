# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays combined with tensors: operators, functions, universal functions, and refused calls."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts

X = np.array([[1.0, -2.0, 3.0], [4.0, 0.5, -1.0]])
Y = np.array([[2.0, 3.0, 1.0], [1.0, 2.0, 4.0]])
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def same(ours: Any, theirs: Any) -> None:
    assert isinstance(ours, ts.Tensor)
    np.testing.assert_allclose(np.asarray(ours.detach()), theirs, 1e-12)
    assert ours.dtype.numpy == np.asarray(theirs).dtype


# ---- Operators ----


@pytest.mark.parametrize("function", [*ARITHMETIC, *COMPARISONS])
def test_operators_take_an_array_on_either_side(function: Callable[[Any, Any], Any]) -> None:
    same(function(ts.tensor(X), Y), function(X, Y))
    same(function(X, ts.tensor(Y)), function(X, Y))
    same(function(ts.tensor(X), Y[0]), function(X, Y[0]))


def test_powers_products_and_bits() -> None:
    same(ts.tensor(Y) ** X, Y**X)
    same(Y ** ts.tensor(X), Y**X)
    same(ts.tensor(X) @ Y.T, X @ Y.T)
    same(X @ ts.tensor(Y.T), X @ Y.T)
    a, b = np.array([1, 6, 12]), np.array([3, 3, 5])
    for function in (operator.and_, operator.or_, operator.xor):
        same(function(ts.tensor(a), b), function(a, b))
        same(function(a, ts.tensor(b)), function(a, b))
    assert [t.tolist() for t in divmod(a, ts.tensor(b))] == [[0, 2, 2], [1, 0, 2]]


def test_an_array_is_promoted_as_a_tensor_of_its_dtype() -> None:
    x = ts.ones(3)
    assert (x + np.ones(3)).dtype is ts.float64 and (np.ones(3, np.float32) + x).dtype is ts.float32
    assert (x + np.ones(3, np.int64)).dtype is ts.float32 and (x + np.array(2.0)).dtype is ts.float64
    assert (np.float64(2) * x).dtype is ts.float32 and (x * np.int64(2)).dtype is ts.float32
    assert (ts.ones(3, dtype=ts.bfloat16) + np.ones(3, np.float32)).dtype is ts.float32
    assert (x + np.ones(3)[::-1]).tolist() == [2, 2, 2] and (x + np.ones(3, ">f8")).tolist() == [2, 2, 2]


@pytest.mark.filterwarnings("ignore:elementwise comparison failed")  # NumPy 1 before it asks the tensor
@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.array([object(), None]), np.array([1], "M8[s]")])
def test_an_array_without_a_dtype_of_ours_is_refused(array: Any) -> None:
    for function in (operator.add, operator.eq, operator.matmul):
        for arguments in ((ts.ones(2), array), (array, ts.ones(2))):
            with pytest.raises(ts.DTypeError):
                function(*arguments)


def test_lists_of_tensors_become_arrays() -> None:
    x = ts.arange(6.0).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array([x, x]).shape == (2, 2, 3) and np.asarray((x[0], x[1])).tolist() == x.tolist()
        assert np.array([[x.sum()], [x.max()]]).tolist() == [[15], [5]] and np.array([ts.ones(0)]).shape == (1, 0)
    assert np.argwhere(x > 3).tolist() == [[1, 1], [1, 2]] and [t.item() for t in reversed(x[0])] == [2, 1, 0]
    with pytest.raises(ts.MemoryAccessError, match="detach"):
        np.array([ts.ones(2, requires_grad=True)])


def test_a_masked_array_is_refused() -> None:
    with pytest.raises(ts.ArgumentTypeError, match="filled"):
        ts.ones(2) + np.ma.array([1.0, 2.0], mask=[True, False])


def test_in_place_the_left_side_is_written() -> None:
    x, array = ts.tensor([1.0, 2.0]), np.array([1.0, 2.0], np.float32)
    held, base = x, array
    x += array
    x *= np.array([2.0, 3.0])
    assert held is x and x.tolist() == [4, 12] and x.dtype is ts.float32
    array += x
    array[:] = ts.ones(2)
    array -= ts.tensor([1.0, 2.0])
    assert array is base and type(array) is np.ndarray and array.tolist() == [0, -1]
    whole = np.array([1, 2])
    with pytest.raises(TypeError):
        whole += ts.tensor([0.5, 0.5])  # as NumPy does
    with pytest.raises(ts.ArgumentTypeError, match="detach"):
        array += ts.ones(2, requires_grad=True)
    assert array.tolist() == [0, -1]


# ---- Gradients ----


@pytest.mark.parametrize("function", [
    lambda t: t * Y, lambda t: Y * t, lambda t: Y / t, lambda t: t @ Y.T, lambda t: np.exp(t), lambda t: np.multiply(t, Y),
    lambda t: ts.where(X > 0, t, Y), lambda t: ts.where(t > X, t, Y), lambda t: np.arctan2(Y, t), lambda t: np.maximum(t, Y),
    lambda t: np.add.reduce(t, axis=1), lambda t: np.sum(t, axis=0), lambda t: np.mean(t),
    lambda t: ts.nn.functional.linear(t, Y),
])  # fmt: skip
def test_gradients_pass_through(function: Callable[[Any], ts.Tensor]) -> None:
    x = ts.tensor(X + 0.25, requires_grad=True)
    assert function(x).requires_grad
    assert ts.autograd.gradcheck(function, (x,))


def test_what_the_backward_needs_of_an_array_is_kept() -> None:
    for multiply in (operator.mul, lambda a, b: operator.mul(b, a), np.multiply, ts.multiply):
        x, array = ts.ones(2, requires_grad=True), np.array([2.0, 3.0], np.float32)
        y = multiply(x, array)
        array[:] = 0
        y.sum().backward()
        assert x.grad is not None and x.grad.tolist() == [2, 3]


# ---- Functions of the library ----


def test_functions_take_an_array_beside_a_tensor() -> None:
    x = ts.tensor(X)
    same(ts.add(x, Y), X + Y)
    same(ts.add(Y, x), X + Y)
    same(x.add(Y), X + Y)
    same(ts.where(x > 0, x, Y), np.where(X > 0, X, Y))
    same(ts.where(X > 0, x, 0.0), np.where(X > 0, X, 0.0))
    same(ts.matmul(x, Y.T), X @ Y.T)
    same(ts.add(x, Y, out=ts.empty(2, 3, dtype=ts.float64)), X + Y)
    assert ts.zeros(2).copy_(np.ones(2)).tolist() == [1, 1]
    with pytest.raises(TypeError, match="expected a Tensor"):
        ts.exp(X)
    with pytest.raises(TypeError, match="a Tensor or a number"):
        ts.add(X, Y)
    with pytest.raises(TypeError, match="out"):
        ts.add(x, x, out=X)


def test_calls_with_arrays_do_not_leak() -> None:
    x, array = ts.ones(3), np.ones(3)
    handles = ts.memory.live_handles()
    for _ in range(50):
        ts.where(array > 0, x, array)
        x + array
        np.add(array, x)
        x += array
        with pytest.raises(ts.TesseraError):
            ts.add(x, np.ones(4))
    assert ts.memory.live_handles() == handles


# ---- Universal functions ----


def ufuncs() -> list[Any]:
    return sorted({f for f in vars(np).values() if isinstance(f, np.ufunc)}, key=lambda f: str(f.__name__))


ARGUMENTS = {
    "float": (np.array([0.5, 0.25, 0.75]), np.array([0.75, 0.5, 0.25])),
    "int": (np.array([5, 2, 7]), np.array([3, 1, 2])),
    "bool": (np.array([True, False, True]), np.array([True, True, False])),
}


@pytest.mark.parametrize("ufunc", ufuncs(), ids=lambda f: str(f.__name__))
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_a_ufunc_gives_what_numpy_gives_as_tensors(ufunc: Any, kind: str) -> None:
    if (ufunc.__name__, kind) == ("reciprocal", "int"):
        return  # a float here, an integer in NumPy
    arguments = ARGUMENTS[kind][: ufunc.nin]
    if ufunc.signature is not None and ufunc.__name__ != "matmul":
        arguments = tuple(np.ones((2, 2)) for _ in arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = ufunc(*arguments)
    except (TypeError, RuntimeWarning, DeprecationWarning):
        return  # NumPy has no result either
    for tensors in ({0}, {len(arguments) - 1}, set(range(len(arguments)))):
        mixed = [ts.tensor(a) if i in tensors else a for i, a in enumerate(arguments)]
        try:
            found = ufunc(*mixed)
        except ts.DTypeError:
            assert kind == "bool" or np.asarray(expected).dtype.name not in ts.__array_namespace_info__().dtypes()
            continue
        results = found if isinstance(found, tuple) else (found,)
        for ours, theirs in zip(results, expected if isinstance(expected, tuple) else (expected,)):
            assert isinstance(ours, ts.Tensor)
            # Integers become float32 here and float64 there, bools float32 here and float16 there.
            limit = 2e-3 if kind == "bool" else 1e-5
            np.testing.assert_allclose(np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float), limit)


def test_a_ufunc_without_a_function_of_ours_keeps_no_gradient_secretly() -> None:
    same(np.cbrt(ts.tensor(Y)), np.cbrt(Y))
    x = ts.tensor(Y, requires_grad=True)
    with pytest.raises(ts.ArgumentTypeError, match=r"cbrt.*detach\(\)\.numpy\(\)"):
        np.cbrt(x)
    with ts.no_grad():
        same(np.cbrt(x), np.cbrt(Y))


def test_options_of_ufuncs() -> None:
    x, out, array = ts.tensor([1, 2]), ts.zeros(2), np.zeros(2)
    assert np.add(x, x, dtype=np.float64).dtype is ts.float64
    assert np.add(x, 1, out=out) is out and out.tolist() == [2, 3]
    assert np.add(x, 1, out=array) is array and array.tolist() == [2, 3]
    assert np.divmod(x, 2, out=(out, None))[1].tolist() == [1, 0] and out.tolist() == [0, 1]
    with pytest.raises(ts.ArgumentTypeError, match="where="):
        np.add(x, x, where=np.array([True, False]))
    for call in (lambda: np.add.at(x, [0], 1), lambda: np.add.outer(x, x), lambda: np.subtract.reduce(x),
                 lambda: np.add.reduceat(x, [0]), lambda: np.add.reduce(x, where=array > 0)):  # fmt: skip
        with pytest.raises(ts.ArgumentTypeError, match="numpy"):
            call()


def test_reductions_and_running_sums() -> None:
    x = ts.tensor(X)
    for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or):
        for axis in (0, 1, None):
            same(ufunc.reduce(x, axis=axis), ufunc.reduce(X, axis=axis))
        same(ufunc.reduce(x, keepdims=True), ufunc.reduce(X, keepdims=True))
    same(np.add.accumulate(x, axis=1), np.add.accumulate(X, axis=1))
    same(np.sum(x), X.sum())


def test_other_functions_of_numpy_read_the_values() -> None:
    x = ts.tensor(X)
    assert np.shares_memory(np.asarray(x), np.asarray(x))
    assert isinstance(np.concatenate([x, Y]), np.ndarray) and isinstance(np.where(X > 0, x, Y), np.ndarray)
    np.testing.assert_allclose(x, X)
    with pytest.raises(ts.MemoryAccessError, match=r"detach\(\)\.numpy\(\)"):
        np.concatenate([ts.ones(2, requires_grad=True), np.ones(2)])
