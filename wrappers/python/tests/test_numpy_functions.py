# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Every function of NumPy that takes arrays, called with tensors: it gives what it gives for arrays, or a clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts

MATRIX = np.array([[1.0, -2.0, 3.0], [4.0, 0.5, -1.0]])
VECTOR = np.array([1.0, 3.0, 2.0])
SQUARE = np.array([[2.0, 1.0], [1.0, 3.0]])
WHOLE = np.array([0, 1, 1])
# Arguments that many functions take; arrays in them become tensors.
ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((MATRIX,), {}), ((VECTOR,), {}), ((SQUARE,), {}), ((WHOLE,), {}), ((MATRIX > 0,), {}), ((MATRIX,), {"axis": 0}),
    ((MATRIX,), {"axis": 1, "keepdims": True}), ((MATRIX, 0, 1), {}), ((MATRIX, 1), {}), ((VECTOR, 1), {}), ((VECTOR, 0.5), {}),
    ((MATRIX, (3, 2)), {}), ((VECTOR, WHOLE), {}), ((VECTOR, VECTOR), {}), ((SQUARE, SQUARE), {}), ((WHOLE, WHOLE), {}),
    ((VECTOR, [1.0, 2.5]), {}), ((VECTOR, VECTOR, 1), {}), ((VECTOR, VECTOR, VECTOR), {}), ((MATRIX > 0, MATRIX, MATRIX), {}),
    (([VECTOR, VECTOR],), {}), (([[SQUARE, SQUARE]],), {}), (([SQUARE, SQUARE, SQUARE],), {}), (([WHOLE > 0], [VECTOR]), {}),
    (("ij,ij", MATRIX, MATRIX), {}), ((MATRIX,), {"ddof": 1}), ((MATRIX,), {"dtype": np.float32}), ((MATRIX,), {"where": MATRIX > 0}),
    ((np.sum, MATRIX, [0]), {}), ((np.sum, 0, MATRIX), {}), ((MATRIX, WHOLE[None], 0), {}), ((VECTOR, [VECTOR > 1], [1.0]), {}),
    ((MATRIX, np.float32), {}),
]  # fmt: skip


def overridable() -> dict[str, Callable[..., Any]]:
    found = {}
    for module in (np, np.linalg, np.fft):
        for name in dir(module):
            function = getattr(module, name)
            if callable(function) and hasattr(function, "_implementation"):
                found[f"{module.__name__}.{name}"] = function
    return found


FUNCTIONS = overridable()
# They write files, write into their argument, or leave numbers as they find them.
OTHERS = {"numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt", "numpy.empty_like"}
WRITERS = {"numpy.copyto", "numpy.put", "numpy.place", "numpy.putmask", "numpy.fill_diagonal", "numpy.put_along_axis"}


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(item, change) for item in value)
    return change(value) if isinstance(value, np.ndarray) else value


def copied(value: Any) -> Any:
    return mapped(value, np.copy)


def tensors(value: Any) -> Any:
    return mapped(value, lambda array: ts.tensor(array))


def assert_equal(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), where
        for one, two in zip(ours, theirs):
            assert_equal(one, two, where)
    elif isinstance(theirs, (np.ndarray, np.generic)) and theirs.dtype.kind in "biufc":
        assert np.shape(ours) == theirs.shape, where
        np.testing.assert_allclose(np.asarray(ours), theirs, 1e-6, 1e-9, err_msg=where)
    else:
        assert str(ours) == str(theirs), where


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - OTHERS - WRITERS))
def test_a_function_gives_what_it_gives_for_arrays(name: str) -> None:
    function = FUNCTIONS[name]
    for args, options in ARGUMENTS:
        try:
            theirs = function(*copied(args), **{key: copied(value) for key, value in options.items()})
        except Exception:
            continue
        where = f"{name}{args}, {options}"
        ours = function(*tensors(args), **{key: tensors(value) for key, value in options.items()})
        if name in ("numpy.array_repr", "numpy.array_str", "numpy.array2string"):
            assert isinstance(ours, str)
        else:
            assert_equal(ours, theirs, where)


def test_the_arguments_reach_most_functions() -> None:
    def takes(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> bool:
        try:
            function(*copied(args), **options)
        except Exception:
            return False
        return True

    names = set(FUNCTIONS) - OTHERS - WRITERS
    with np.errstate(all="ignore"):
        reached = {name for name in names if any(takes(FUNCTIONS[name], *case) for case in ARGUMENTS)}
    assert len(reached) > 0.9 * len(names), sorted(names - reached)


# ---- Tensors as results ----


@pytest.mark.parametrize("function", [
    np.sum, np.mean, np.std, np.var, np.max, np.min, np.ptp, np.cumsum, np.cumprod, np.flip, lambda t: np.std(t, axis=1, ddof=1),
    lambda t: np.var(t, axis=0, keepdims=True), lambda t: np.cumsum(t, axis=1), lambda t: np.moveaxis(t, 0, 1),
    lambda t: np.swapaxes(t, 0, 1), lambda t: np.clip(t, -1.5, 2.5), lambda t: np.repeat(t, 2, axis=0), lambda t: np.repeat(t, 3),
    lambda t: np.squeeze(t[None]), lambda t: np.array_split(t, [1], axis=1)[1],
    lambda t: np.split(t, 3, axis=1)[1], lambda t: np.take_along_axis(t, np.array([[1], [0]]), axis=1),
])  # fmt: skip
def test_a_function_of_the_same_meaning_gives_a_tensor_with_its_gradient(function: Callable[[Any], Any]) -> None:
    x = ts.tensor(MATRIX + 0.25, requires_grad=True)
    assert isinstance(function(x), ts.Tensor)
    np.testing.assert_allclose(np.asarray(function(x).detach()), function(MATRIX + 0.25), 1e-12)
    assert ts.autograd.gradcheck(function, (x,))


def test_elsewhere_a_gradient_is_not_lost_secretly() -> None:
    x = ts.tensor(MATRIX, requires_grad=True)
    for call in (lambda: np.median(x), lambda: np.linalg.norm(x), lambda: np.stack([MATRIX, x]), lambda: np.mean(x, where=MATRIX > 0)):
        with pytest.raises(ts.MemoryAccessError, match=r"np\..*requires grad.*detach\(\)\.numpy\(\)"):
            call()
    with ts.no_grad():
        assert np.median(x) == np.median(MATRIX)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)


def test_results_go_into_a_tensor_or_an_array() -> None:
    x, out, array = ts.tensor(MATRIX), ts.zeros(3), np.zeros(3)
    assert np.std(x, axis=0, out=out) is out and np.median(x, axis=0, out=array) is array
    np.testing.assert_allclose(out.numpy(), np.std(MATRIX, axis=0), 1e-6)
    np.testing.assert_allclose(array, np.median(MATRIX, axis=0))
    assert np.sum(x, axis=0, out=array) is array and array.tolist() == MATRIX.sum(0).tolist()
    y = ts.exp(x.requires_grad_())
    saved = ts.exp(y)
    with ts.no_grad():
        np.median(x, axis=0, keepdims=True, out=y[:1])
    with pytest.raises(ts.AutogradError):  # the write raised the version of what the backward reads
        saved.sum().backward()


def test_what_writes_into_an_argument_is_refused() -> None:
    x = ts.tensor(SQUARE)
    for call in (lambda: np.copyto(x, SQUARE), lambda: np.fill_diagonal(x, 0), lambda: np.put(x, [0], [1]),
                 lambda: np.putmask(x, SQUARE > 1, 0), lambda: np.place(x, SQUARE > 1, [0])):  # fmt: skip
        with pytest.raises(ts.ArgumentTypeError, match="expected an array to write into, got a Tensor"):
            call()
    assert x.tolist() == SQUARE.tolist()
    np.put_along_axis(x, np.array([[0], [1]]), 7.0, axis=1)
    assert x.tolist() == [[7, 1], [1, 7]]
    array = np.zeros((2, 2))
    np.copyto(array, x)
    assert array.tolist() == x.tolist()


def test_tensors_of_the_dialect_of_torch_do_the_same() -> None:
    from tessera import torch

    x = torch.tensor(MATRIX, requires_grad=True)
    for function in (np.sum, np.max, np.std, np.cumsum, lambda t: np.repeat(t, 2), lambda t: np.max(t, axis=0)):
        assert isinstance(function(x), torch.Tensor)
        np.testing.assert_allclose(np.asarray(function(x).detach()), function(MATRIX), 1e-12)
    assert np.size(x) == 6 and np.median(x.detach()) == np.median(MATRIX)
    assert [part.tolist() for part in np.nonzero(x)] == [part.tolist() for part in np.nonzero(MATRIX)]


def test_like_makes_tensors() -> None:
    x = ts.ones(2)
    made = np.zeros((2, 3), np.float32, like=x)
    assert isinstance(made, ts.Tensor) and made.shape == (2, 3) and made.dtype is ts.float32
    assert np.asarray([1, 2], like=x).tolist() == [1, 2] and np.arange(3, like=x).tolist() == [0, 1, 2]


def test_other_arrays_decide_for_themselves() -> None:
    class Other:
        def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> str:
            return "other"

    assert np.concatenate([ts.ones(2), Other()]) == "other"
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    assert np.dot(ts.ones(2), masked) == np.dot(np.ones(2), masked)
    with pytest.raises(ts.DTypeError):
        np.median(ts.ones(2, dtype=ts.bfloat16))


def test_functions_share_memory_and_do_not_leak() -> None:
    x, handles = ts.tensor(MATRIX), ts.memory.live_handles()
    assert np.shares_memory(np.reshape(x, (3, 2)), x.numpy()) and np.shares_memory(np.asarray(np.moveaxis(x, 0, 1)), x.numpy())
    for function in (np.median, np.std, np.cumsum, np.linalg.norm, np.diff):
        function(x)
    with pytest.raises(ts.ArgumentTypeError):
        np.copyto(x, MATRIX)
    assert ts.memory.live_handles() == handles
