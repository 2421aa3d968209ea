# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of the Array API standard, as array_api_table.py lists them: signatures, dtypes and values."""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_api_table import BINARY, CALLS, COMPLEX, FIELDS, FLOATS, KINDS, SIGNATURES, SIGNED, UNARY, UNSIGNED

import tessera as ts

P = inspect.Parameter
SHAPES = ((), (0,), (3,), (2, 0, 3), (2, 3))
SHAPE_PAIRS = (((), ()), ((3,), (2, 3)), ((2, 3), ()), ((0,), (1,)), ((2, 1), (1, 3)))


def find(name: str) -> Callable[..., Any]:
    found: Any = ts
    for part in name.split("."):
        found = getattr(found, part)
    return found


# ---- signatures ----


def signature_of(text: str) -> inspect.Signature:
    made: dict[str, Any] = {}
    exec(f"def f{text}: ...", made)
    return inspect.signature(made["f"])


def signatures() -> list[Any]:
    lines = SIGNATURES.strip().splitlines()
    lines += [f"{name}(x, /)" for name, *_ in UNARY] + [f"{name}(x1, x2, /)" for name, *_ in BINARY]
    return [pytest.param(line.split("(")[0], "(" + line.split("(", 1)[1], id=line.split("(")[0]) for line in lines]


@pytest.mark.parametrize(("name", "text"), signatures())
def test_signature(name: str, text: str) -> None:
    got = inspect.signature(find(name)).parameters
    ours = list(got.values())
    wanted = list(signature_of(text).parameters.values())
    for place, parameter in enumerate(wanted):
        if parameter.kind is P.KEYWORD_ONLY:
            assert parameter.name in got and got[parameter.name].default == parameter.default, parameter
            continue
        other = ours[place]
        if parameter.kind is P.VAR_POSITIONAL:
            assert other.kind is P.VAR_POSITIONAL
            continue
        assert other.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD), parameter
        assert (other.default is P.empty) <= (parameter.default is P.empty), parameter
        if parameter.kind is P.POSITIONAL_OR_KEYWORD:
            assert (other.name, other.kind, other.default) in (
                (parameter.name, parameter.kind, parameter.default),
                ("axis", parameter.kind, None),  # squeeze() also takes no axis
            )
    known = {p.name for p in wanted}
    count = sum(1 for p in wanted if p.kind is not P.KEYWORD_ONLY)
    for more in ours[count:]:
        assert more.name in known or more.default is not P.empty, f"{more} is required"


# ---- values ----


def numbers(rng: Any, dtype: str, *shape: int) -> Any:
    """Numbers with ties, small enough for products of them."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in COMPLEX:
        return (rng.uniform(-3, 3, shape) + 1j * rng.uniform(-3, 3, shape)).astype(dtype)
    if dtype in FLOATS:
        return (rng.integers(-12, 13, shape) / 4 + 0.125).astype(dtype)
    return rng.integers(0 if dtype in UNSIGNED else -5, 6, shape).astype(dtype)


def same(got: Any, wanted: Any, label: str) -> None:
    if isinstance(got, (tuple, list)):
        assert len(got) == len(wanted), label
        for g, w in zip(got, wanted):
            same(g, w, label)
        return
    array = np.asarray(wanted)
    assert str(got.dtype) == f"tessera.{array.dtype}", label
    assert got.shape == array.shape, label
    if array.dtype.kind in "fc":
        loose = array.dtype in ("float32", "complex64")
        np.testing.assert_allclose(got.numpy(), array, *((2e-4, 2e-4) if loose else (1e-9, 1e-9)), err_msg=label)
    else:
        np.testing.assert_array_equal(got.numpy(), array, err_msg=label)


def rows_of(table: list[tuple[str, ...]]) -> list[Any]:
    return [pytest.param(row, dtype, id=f"{row[0]}-{dtype}") for row in table for dtype in KINDS[row[1]]]


def rounded_as_given(name: str, array: Any) -> bool:
    return name in ("ceil", "floor", "round", "trunc") and array.dtype.kind in "iu"


@pytest.mark.parametrize(("row", "dtype"), rows_of(UNARY))
def test_functions_of_one_tensor(row: tuple[str, ...], dtype: str) -> None:
    name, _, reference = row
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        array = numbers(rng, dtype, *shape)
        with np.errstate(all="ignore"):
            if name == "sign" and dtype in COMPLEX:
                wanted = (array / np.abs(array)).astype(dtype)
            else:
                wanted = array if rounded_as_given(name, array) else getattr(np, reference)(array)
        for x in (ts.asarray(array), ts.asarray(array[::-1]) if shape else ts.asarray(array)):
            flipped = shape and x.stride(0) < 0
            same(getattr(ts, name)(x), np.asarray(wanted)[::-1] if flipped else wanted, f"{name} of {shape}")


def partners(dtype: str) -> tuple[str, ...]:
    """The dtypes of the same kind with which promotion is defined."""
    for kind in (SIGNED, UNSIGNED, FLOATS, COMPLEX, ("bool",)):
        if dtype in kind:
            mixed = kind + (UNSIGNED[:3] if kind is SIGNED else COMPLEX if kind is FLOATS else ())
            return mixed
    raise AssertionError(dtype)


@pytest.mark.parametrize(("row", "dtype"), rows_of(BINARY))
def test_functions_of_two_tensors(row: tuple[str, ...], dtype: str) -> None:
    name, kind, reference, symbol = row
    rng = np.random.default_rng(1)
    for other in (d for d in partners(dtype) if d in KINDS[kind]):
        for left, right in SHAPE_PAIRS:
            a, b = numbers(rng, dtype, *left), numbers(rng, other, *right)
            if "shift" in name or (name == "pow" and dtype in SIGNED + UNSIGNED):
                b = np.abs(b)
            if name in ("floor_divide", "remainder"):
                b = np.where(b == 0, 1, b).astype(other)
            with np.errstate(all="ignore"):
                wanted = getattr(np, reference)(a[None], b[None])[0]  # NumPy promotes by the values of 0-dim arrays
            x, y = ts.asarray(a), ts.asarray(b)
            same(getattr(ts, name)(x, y), wanted, f"{name} of {left} and {right} of {other}")
            if symbol != "-":
                same(getattr(operator, symbol)(x, y), wanted, symbol)
                check_inplace(symbol, x, y, wanted)


def check_inplace(symbol: str, x: Any, y: Any, wanted: Any) -> None:
    """x += y where the result has x's dtype and shape."""
    written = "i" + symbol.rstrip("_")
    if hasattr(operator, written) and x.shape == wanted.shape and str(x.dtype) == f"tessera.{wanted.dtype}":
        target = given = x.clone()
        target = getattr(operator, written)(target, y)
        assert target is given
        same(given, wanted, written)


@pytest.mark.parametrize(("row", "dtype"), rows_of([r for r in BINARY if r[1] != "bool"]))
def test_functions_of_a_tensor_and_a_number(row: tuple[str, ...], dtype: str) -> None:
    """A Python number of the tensor's kind takes its dtype, on either side."""
    name, _, reference, symbol = row
    a = numbers(np.random.default_rng(2), dtype, 3)
    if dtype in SIGNED + UNSIGNED:
        a = np.abs(a) + np.ones((), dtype)
    number = True if dtype == "bool" else 2 if dtype in SIGNED + UNSIGNED else 1.5 if dtype in FLOATS else 1.5 + 0.5j
    plain = np.full(3, number, dtype)
    x = ts.asarray(a)
    functions = [getattr(ts, name)] + ([getattr(operator, symbol)] if symbol != "-" else [])
    with np.errstate(all="ignore"):
        right, left = getattr(np, reference)(a, plain), getattr(np, reference)(plain, a)
    for function in functions:
        same(function(x, number), right, f"{name} with a number on the right")
        same(function(number, x), left, f"{name} with a number on the left")


# ---- calls ----


def inputs(dtype: str) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    made = {"a": numbers(rng, dtype, 2, 3, 4), "b": numbers(rng, dtype, 2, 4, 5), "s": np.sort(numbers(rng, dtype, 7))}
    if dtype in FLOATS + COMPLEX:
        square = numbers(rng, dtype, 2, 3, 3)
        turned = np.conj(np.swapaxes(square, 1, 2))
        made["m"] = square + 6 * np.eye(3, dtype=dtype)
        made["h"], made["r"] = square + turned, numbers(rng, dtype, 2, 4, 3)
        made["p"] = (square @ turned + np.eye(3)).astype(dtype)
    return made


def widened(dtype: str) -> str:
    return "int64" if dtype in SIGNED else "uint64" if dtype in UNSIGNED else dtype


@pytest.mark.parametrize(("kind", "ours", "theirs"), [pytest.param(*row, id=row[1]) for row in CALLS])
def test_call(kind: str, ours: str, theirs: str) -> None:
    for dtype in KINDS[kind]:
        arrays = inputs(dtype)
        names = {"inf": np.inf, "dtype": dtype, "wide": widened(dtype), "np": np}
        with np.errstate(all="ignore"):
            wanted = eval(theirs, {**names, **arrays})
        tensors = {k: ts.asarray(v) for k, v in arrays.items()}
        make = {"xp": ts, "t": lambda data, of=None: ts.asarray(np.array(data, of)), "inf": np.inf, "dtype": getattr(ts, dtype)}
        same(eval(ours, {**make, **tensors}), wanted, f"{ours} of {dtype}")


@pytest.mark.parametrize("name", FIELDS)
def test_several_results_are_a_named_tuple(name: str) -> None:
    function = getattr(ts.linalg, name, None) or getattr(ts, name)
    result = function(ts.asarray([[2.0, 1.0], [1.0, 3.0]]))
    assert isinstance(result, tuple) and result._fields == FIELDS[name]


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_factors_multiply_to_the_matrix(dtype: str) -> None:
    tall, hermitian = ts.asarray(inputs(dtype)["r"]), ts.asarray(inputs(dtype)["h"])
    limit = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    for full in (True, False):
        u, s, vh = ts.linalg.svd(tall, full_matrices=full)
        assert (u.shape, s.shape, vh.shape) == ((2, 4, 4 if full else 3), (2, 3), (2, 3, 3))
        assert s.dtype == ts.real(tall).dtype
        assert ts.max(ts.abs((u[..., :3] * ts.astype(s, u.dtype)[:, None, :]) @ vh - tall)) < limit
    for mode, columns in (("reduced", 3), ("complete", 4)):
        q, r = ts.linalg.qr(tall, mode=mode)
        assert (q.shape, r.shape) == ((2, 4, columns), (2, columns, 3))
        assert ts.max(ts.abs(q @ r - tall)) < limit
    values, vectors = ts.linalg.eigh(hermitian)
    assert values.dtype == ts.real(hermitian).dtype
    assert ts.max(ts.abs(hermitian @ vectors - vectors * ts.astype(values, vectors.dtype)[:, None, :])) < limit
    values, vectors = ts.linalg.eig(tall[:, :3])
    assert values.dtype == vectors.dtype == {"float32": ts.complex64, "float64": ts.complex128}.get(dtype, tall.dtype)
    assert ts.max(ts.abs(ts.astype(tall[:, :3], vectors.dtype) @ vectors - vectors * values[:, None, :])) < limit
    np.testing.assert_allclose(*(np.sort_complex(v.numpy()) for v in (ts.linalg.eigvals(tall[:, :3]), values)), rtol=1e-3, atol=1e-4)


# ---- dtypes ----


def test_promotion_of_all_pairs() -> None:
    for first, second in itertools.product(KINDS["all"], repeat=2):
        if {first, second} & {"uint64"} and {first, second} & set(SIGNED):
            with pytest.raises(TypeError, match=f"{first}.*{second}"):
                ts.result_type(getattr(ts, first), getattr(ts, second))
            continue
        if first in partners(second) or second in partners(first):
            wanted = np.promote_types(first, second).name
            assert ts.result_type(getattr(ts, first), getattr(ts, second)).name == wanted
            assert ts.can_cast(getattr(ts, first), getattr(ts, second)) == (wanted == second)


def test_numbers_are_weak_in_result_type() -> None:
    for name in KINDS["all"]:
        dtype = getattr(ts, name)
        assert ts.result_type(dtype, True) == dtype
        if name != "bool":
            assert ts.result_type(1, dtype) == dtype
        if name in FLOATS + COMPLEX:
            assert ts.result_type(1.5, ts.ones(2, dtype=dtype), 1) == dtype
            wide = ts.complex128 if name in ("float64", "complex128") else ts.complex64
            assert ts.result_type(dtype, 1j) == wide


def test_kinds_of_dtypes() -> None:
    kinds = {"bool": "bool", "signed integer": SIGNED, "unsigned integer": UNSIGNED, "real floating": FLOATS,
             "complex floating": COMPLEX, "integral": SIGNED + UNSIGNED, "numeric": KINDS["numeric"]}  # fmt: skip
    for name, kind in itertools.product(KINDS["all"], kinds):
        inside = name in kinds[kind] if kind != "bool" else name == "bool"
        dtype = getattr(ts, name)
        assert ts.isdtype(dtype, kind) is inside
        assert ts.isdtype(dtype, (kind, ts.bool)) is (inside or name == "bool")
        assert ts.isdtype(dtype, dtype)
    info = ts.__array_namespace_info__()
    for kind, names in kinds.items():
        assert set(info.dtypes(kind=kind)) == ({"bool"} if kind == "bool" else set(names))


def test_limits_of_dtypes() -> None:
    for name in FLOATS + COMPLEX:
        ours, theirs = ts.finfo(getattr(ts, name)), np.finfo(name)
        assert (ours.bits, ours.eps, ours.max, ours.min, ours.smallest_normal) == (
            theirs.bits, theirs.eps, theirs.max, theirs.min, theirs.smallest_normal)  # fmt: skip
        assert ours.dtype.name == theirs.dtype.name and {type(ours.eps), type(ours.max)} == {float}
    for name in SIGNED + UNSIGNED:
        ours, theirs = ts.iinfo(ts.ones(1, dtype=getattr(ts, name))), np.iinfo(name)
        assert (ours.bits, ours.max, ours.min, ours.dtype.name) == (theirs.bits, theirs.max, theirs.min, name)


def test_unique_counts_each_nan_by_itself() -> None:
    for nan in (float("nan"), complex("nan")):
        values, counts = ts.unique_counts(ts.asarray([nan, 1.0, nan, 1.0]))
        assert values.size == 3 and sorted(counts.tolist()) == [1, 1, 2]
        assert ts.unique_inverse(ts.asarray([[nan, 1.0]])).inverse_indices.shape == (1, 2)


def test_default_dtypes_of_numbers() -> None:
    data = (True, 1, 1.0, 1j, [True, 1], [1, 1.5], [1.0, 2j], [])
    names = ["bool", "int64", "float32", "complex64", "int64", "float32", "complex64", "float32"]
    assert [ts.asarray(d).dtype.name for d in data] == names
    assert [ts.full(2, d).dtype.name for d in data[:4]] == names[:4]
    assert [ts.arange(*ends).dtype.name for ends in ((3,), (3.0,), (0, 3, 0.5))] == ["int64", "float32", "float32"]
    assert [ts.linspace(*ends, 3).dtype.name for ends in ((0, 1), (0, 1j))] == ["float32", "complex64"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 12, 49, 1000])
def test_a_linspace_without_its_end_is_the_start_of_the_one_with_it(dtype: str, count: int) -> None:
    ends = (0.0, 1.0) if dtype != "int32" else (-7, 900)
    whole = ts.linspace(*ends, count + 1, dtype=getattr(ts, dtype))
    part = ts.linspace(*ends, count, dtype=getattr(ts, dtype), endpoint=False)
    assert part.tolist() == whole.tolist()[:-1]


def test_a_tensor_without_axes_is_a_number() -> None:
    value = ts.tensor(2.5, dtype=ts.float64)
    assert ts.full((2,), value).tolist() == ts.full_like(ts.zeros(2), value).tolist() == [2.5, 2.5]
    assert ts.full(1, ts.tensor(3)).dtype is ts.int64 and ts.full(1, ts.tensor(True)).dtype is ts.bool
    assert ts.zeros(2).fill_(value).tolist() == [2.5, 2.5]
    for wrong in (ts.ones(1), ts.tensor(1.0, requires_grad=True)):
        with pytest.raises(TypeError, match="0-dim Tensor that does not require grad"):
            ts.full((2,), wrong)
    with ts.no_grad():
        assert ts.full(1, ts.tensor(1.0, requires_grad=True)).tolist() == [1.0]


def test_broadcast_shapes() -> None:
    assert ts.broadcast_shapes() == () and ts.broadcast_shapes((3, 1), (2,), (1, 1, 1)) == (1, 3, 2)
    with pytest.raises(ValueError, match="do not broadcast"):
        ts.broadcast_shapes((3,), (2,))
    assert isinstance(ts.broadcast_arrays(ts.ones(1), ts.ones(2)), tuple) and isinstance(ts.meshgrid(ts.ones(2)), tuple)


def test_expand_dims_refuses_places_outside_and_twice() -> None:
    x = ts.ones((2, 3))
    for axis in (3, -4, (0, 4), (-5, 0)):
        with pytest.raises(IndexError):
            ts.expand_dims(x, axis=axis)
    for axes in ((0, 0), (1, -3)):
        with pytest.raises(ValueError, match="once"):
            ts.expand_dims(x, axis=axes)


def test_tolerances_of_singular_values_fit_the_batch() -> None:
    for function in (ts.linalg.pinv, ts.linalg.matrix_rank):
        with pytest.raises(ValueError, match="rtol"):
            function(ts.ones((2, 3, 3)), rtol=ts.ones(3))
        with pytest.raises(TypeError, match="rtol"):
            function(ts.ones((2, 3, 3)), rtol=ts.ones(2, dtype=ts.int64))


# ---- products of two dtypes ----

PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": ts.matmul,
    "linalg.matmul": ts.linalg.matmul,
    "method": lambda a, b: a.matmul(b),
    "operator": operator.matmul,
    "keyword": lambda a, b: a.matmul(other=b),
    "tensordot": lambda a, b: ts.tensordot(a, b, axes=1),
    "linalg.vecdot": lambda a, b: ts.linalg.vecdot(a, b, axis=-2),
    "vecdot": lambda a, b: ts.vecdot(a, b, axis=-2),
    "linalg.solve": ts.linalg.solve,
}


PAIRS = [("float32", "float64"), ("complex64", "float64"), ("int32", "float32"), ("int8", "uint16")]
# The standard has solve() for floating dtypes alone, which the last pair does not promote to.
CALLED = [(name, pair) for name in PRODUCTS for pair in PAIRS if (name, pair) != ("linalg.solve", PAIRS[-1])]


@pytest.mark.parametrize(("name", "dtypes"), CALLED)
def test_products_of_two_dtypes_are_those_of_the_promoted_operands(name: str, dtypes: tuple[str, str]) -> None:
    first, second = (getattr(ts, d) for d in dtypes)
    common = ts.result_type(first, second)
    product = PRODUCTS[name]
    a, b = ts.tensor([[1, 2], [3, 5]], dtype=first), ts.tensor([[2, 1], [1, 3]], dtype=second)
    for x1, x2 in ((a, b), (b, a)):
        got, wanted = product(x1, x2), product(x1.to(common), x2.to(common))
        assert got.dtype is common and got.tolist() == wanted.tolist()


def test_products_of_two_dtypes_keep_gradients_and_out() -> None:
    a, b = ts.tensor([[1.0, 2.0]], requires_grad=True), ts.tensor([[3.0], [4.0]], dtype=ts.float64, requires_grad=True)
    (a @ b).sum().backward()
    assert (a.grad.dtype, a.grad.tolist()) == (ts.float32, [[3.0, 4.0]])
    assert (b.grad.dtype, b.grad.tolist()) == (ts.float64, [[1.0], [2.0]])
    out = ts.empty((1, 1), dtype=ts.float64)
    assert ts.matmul(a.detach(), b.detach(), out=out) is out and out.tolist() == [[11.0]]


def test_products_without_a_common_dtype_keep_their_error() -> None:
    unsigned, signed = ts.ones((2, 2), dtype=ts.uint64), ts.ones((2, 2), dtype=ts.int64)
    for product in (ts.matmul, operator.matmul, ts.vecdot, lambda a, b: ts.tensordot(a, b, axes=1)):
        with pytest.raises(TypeError, match="expected uint64"):
            product(unsigned, signed)


def test_products_of_torch_do_not_promote() -> None:
    import tessera.torch as torch

    a, b = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64)
    for product in (torch.matmul, operator.matmul, torch.linalg.solve, lambda a, b: torch.tensordot(a, b, dims=1)):
        with pytest.raises(RuntimeError, match="expected float32"):
            product(a, b)


def test_the_axis_of_vecdot_does_not_broadcast() -> None:
    with pytest.raises(ts.ShapeError, match="expected size 3 along axis -1, got 1"):
        ts.vecdot(ts.ones((2, 3)), ts.ones((2, 1)))
    assert ts.vecdot(ts.ones((4, 1, 3)), ts.ones((2, 3))).shape == (4, 2)
