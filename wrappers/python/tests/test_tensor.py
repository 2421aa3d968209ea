# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python object of a tensor: operators, indexing, text, copies, conversions."""

from __future__ import annotations

import copy
import math
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import tessera as ts


def test_metadata() -> None:
    x = ts.zeros((2, 3), dtype=ts.float64)
    assert (x.shape, x.ndim, x.size, x.nbytes, x.itemsize) == ((2, 3), 2, 6, 48, 8)
    assert x.dtype is ts.float64 and str(x.device) == "cpu" and x.device == ts.device("cpu")
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.is_contiguous() and not x.mT.is_contiguous()
    assert (x.numel(), x.dim(), len(x)) == (6, 2, 2)
    assert x.T.shape == (3, 2)
    with pytest.raises(ValueError):
        _ = ts.zeros(2).T
    with pytest.raises(TypeError):
        len(ts.tensor(1))


REFLECTED: list[Any] = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a // b,
    lambda a, b: a % b, lambda a, b: a**b,
]  # fmt: skip


@pytest.mark.parametrize("function", REFLECTED)
@pytest.mark.parametrize("number", [2, 2.5, True])
def test_operators_take_numbers_on_both_sides(function: Any, number: Any) -> None:
    array = np.array([1.0, 2.0, 4.0], np.float32)
    x = ts.from_numpy(array)
    for ours, theirs in ((function(x, number), function(array, number)), (function(number, x), function(number, array))):
        assert ours.dtype is ts.float32
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6)


def test_numbers_are_weak() -> None:
    assert (ts.ones(2, dtype=ts.int32) + 5).dtype is ts.int32
    assert (ts.ones(2, dtype=ts.int32) + 1.5).dtype is ts.float32
    assert (ts.ones(2, dtype=ts.float16) + 1e4).dtype is ts.float16
    assert (ts.ones(2, dtype=ts.float64) + 1j).dtype is ts.complex128
    assert (ts.ones(2, dtype=ts.int32) + ts.tensor(1)).dtype is ts.int64  # 0-dim tensors are not


def test_inplace_operators_keep_the_object() -> None:
    x = ts.tensor([4.0, 9.0])
    same, view = x, x[:1]
    x += 1
    x -= ts.ones(2)
    x *= 2.0
    x /= 4
    x **= 2
    assert x is same and x.tolist() == [4.0, 20.25] and view.tolist() == [4.0] and x._version == 5
    with pytest.raises(TypeError):
        i = ts.tensor([1])
        i += 1.5


def test_comparisons_and_logic() -> None:
    x = ts.tensor([1, 2, 3])
    assert (x > 1).tolist() == [False, True, True] and (2 >= x).tolist() == [True, True, False]  # noqa: SIM300
    assert ((x > 1) & (x < 3)).tolist() == [False, True, False] and (~(x == 2)).tolist() == [True, False, True]
    assert (x == "a") is False and (x != None) is True  # noqa: E711
    assert (x ^ 1).tolist() == [0, 3, 2] and (x | 4).tolist() == [5, 6, 7] and (-x).tolist() == [-1, -2, -3]
    with pytest.raises(TypeError):
        x < "a"  # noqa: B015


def test_matmul_operator() -> None:
    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose((ts.from_numpy(a) @ ts.from_numpy(a.T)).numpy(), a @ a.T)
    with pytest.raises(ValueError):
        ts.ones(2, 3) @ ts.ones(2, 3)


INDICES: list[Any] = [
    0, -1, (0, 1), (slice(None), 1), (..., 2), (None, 0), slice(None, None, -1), (0, slice(1, None), slice(None, None, 2)),
    np.int64(1), [0, 1], (slice(None), [0, 2]), np.array([True, False]), (0, np.array([1, 1, 2])), ([0, 1], [1, 2]),
    True, False, slice(5, 1), (slice(None), None, 1), (Ellipsis,), (), ([1, 0], slice(None), [0, 3]), (0, [1, 2], 1), [],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=[str(i) for i in range(len(INDICES))])
def test_indexing_matches_numpy(index: Any) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    key = np.array([], np.int64) if isinstance(index, list) and not index else index
    x = ts.from_numpy(array.copy())
    np.testing.assert_array_equal(x[index].numpy(), array[key])
    array[key] = -5
    x[index] = -5
    np.testing.assert_array_equal(x.numpy(), array)


def test_indexing_with_tensors_and_values_of_all_kinds() -> None:
    x = ts.arange(6).reshape(2, 3)
    assert x[ts.tensor([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]] and x[x > 2].tolist() == [3, 4, 5]
    assert x[:, ts.tensor([True, False, True])].tolist() == [[0, 2], [3, 5]]
    x[0] = [7, 8, 9]
    x[1, :2] = np.array([1, 1])
    x[1, 2] = ts.tensor(2)
    assert x.tolist() == [[7, 8, 9], [1, 1, 2]]
    x[0, 0] = True
    assert x[0, 0].item() == 1
    row = x[0]
    row[1] = 0
    assert x[0, 1].item() == 0


@pytest.mark.parametrize("bad, kind", [
    (2, IndexError), ((0, 0, 0), IndexError), ("a", IndexError), (1.5, IndexError), ((..., ...), IndexError),
    ([[0, 5]], IndexError), (np.array([True]), IndexError), (slice(None, None, 0), ValueError), (slice("a", None), TypeError),
])  # fmt: skip
def test_bad_indices_raise(bad: Any, kind: type[Exception]) -> None:
    x = ts.ones(2, 3)
    with pytest.raises((kind, IndexError, ValueError) if kind is IndexError else kind):
        x[bad]


def test_iteration_containment_and_truth() -> None:
    x = ts.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]] and 3 in x and 7 not in x
    assert bool(ts.tensor(1)) and not bool(ts.tensor([0.0]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError):
        iter(ts.tensor(1))


def test_conversions_to_python() -> None:
    assert float(ts.tensor(1.5)) == 1.5 and int(ts.tensor([2])) == 2 and complex(ts.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][ts.tensor(1)] == 20 and isinstance(ts.tensor(True).item(), bool)
    assert ts.tensor(2**63 + 5, dtype=ts.uint64).item() == 2**63 + 5
    for bad in (lambda: float(ts.ones(2)), lambda: ts.ones(0).item()):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        range(3)[ts.tensor(1.0)]
    assert f"{ts.tensor(3.14159):.2f}" == "3.14" and f"{ts.tensor([1])}" == "tensor([1])"


GOLDENS = [
    (lambda: ts.tensor([1.0, 2.5, float("nan")]), "tensor([1.0000, 2.5000,    nan])"),
    (lambda: ts.tensor([0, 1, 2]), "tensor([0, 1, 2])"),
    (lambda: ts.tensor(True), "tensor(True)"),
    (lambda: ts.tensor([1.0], dtype=ts.float64), "tensor([1.], dtype=tessera.float64)"),
    (lambda: ts.zeros((0, 3)), "tensor([], size=(0, 3))"),
    (lambda: ts.tensor([]), "tensor([])"),
    (lambda: ts.ones(2).requires_grad_() * 2, "tensor([2., 2.], grad_fn=<MultiplyBackward>)"),
    (lambda: ts.ones(1).requires_grad_(), "tensor([1.], requires_grad=True)"),
    (lambda: ts.ones(2, dtype=ts.bfloat16), "tensor([1., 1.], dtype=tessera.bfloat16)"),
    (lambda: ts.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
    (lambda: ts.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    (lambda: ts.tensor([1e-8, 1.0]), "tensor([1.0000e-08, 1.0000e+00])"),
    (lambda: ts.tensor([1 + 2j, -0.5j]), "tensor([1.+2.0000j, -0.-0.5000j])"),
    (lambda: ts.tensor([3.0, -float("inf")]), "tensor([3., -inf])"),
    (lambda: ts.tensor([1, 2], dtype=ts.int64)[:0], "tensor([], dtype=tessera.int64)"),
    (lambda: ts.zeros((2, 1, 2)), "tensor([[[0., 0.]],\n\n        [[0., 0.]]])"),
    (
        lambda: ts.full((8, 200), 0.5, dtype=ts.float64),
        "tensor([[0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000],\n" * 1
        + "        [0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000],\n" * 2
        + "        ...,\n"
        + "        [0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000],\n" * 2
        + "        [0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000]],\n       dtype=tessera.float64)",
    ),
]


@pytest.mark.parametrize("make, text", GOLDENS, ids=[t[1][:30] for t in GOLDENS])
def test_repr(make: Any, text: str) -> None:
    assert repr(make()) == text


@pytest.mark.filterwarnings("error")
def test_numbers_of_an_infinite_ratio_are_written_without_a_warning() -> None:
    assert repr(ts.tensor([1e-300, 1e300], dtype=ts.float64)) == "tensor([1.0000e-300, 1.0000e+300], dtype=tessera.float64)"


def test_print_options() -> None:
    ts.set_printoptions(precision=2)
    try:
        assert repr(ts.tensor(3.14159)) == "tensor(3.14)"
        ts.set_printoptions(edgeitems=1, threshold=3, linewidth=20)
        assert repr(ts.arange(4)) == "tensor([0,  ..., 3])"
        ts.set_printoptions(threshold=9)
        assert repr(ts.arange(6)) == "tensor([0, 1, 2, 3,\n        4, 5])"
    finally:
        ts.set_printoptions(precision=4, edgeitems=3, threshold=1000, linewidth=80)
    with pytest.raises(TypeError):
        ts.set_printoptions(colour="red")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "complex64"])
def test_pickle_keeps_values_dtype_and_requires_grad(dtype: str) -> None:
    x = ts.ones((2, 3), dtype=getattr(ts, dtype))
    back = pickle.loads(pickle.dumps(x))
    assert back.dtype is x.dtype and back.shape == x.shape and bool((back == x).all())
    assert not back.requires_grad


def test_pickle_of_odd_tensors() -> None:
    leaf = pickle.loads(pickle.dumps(ts.ones(2).requires_grad_()))
    assert leaf.requires_grad and leaf.is_leaf
    strided = ts.arange(6).reshape(2, 3).mT
    assert pickle.loads(pickle.dumps(strided)).tolist() == strided.tolist()
    assert pickle.loads(pickle.dumps(ts.zeros((0, 2)))).shape == (0, 2)
    assert pickle.loads(pickle.dumps(ts.float32)) is ts.float32
    assert pickle.loads(pickle.dumps(ts.device("cuda:1"))) == ts.device("cuda", 1)
    pickle.loads(pickle.dumps(ts.ones(3))).add_(1)  # writable


def test_copies() -> None:
    x = ts.ones(2).requires_grad_()
    x.grad = ts.ones(2)
    deep = copy.deepcopy(x)
    assert deep.requires_grad and deep.grad is not None and deep.data_ptr() != x.data_ptr()
    assert copy.copy(x).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError):
        copy.deepcopy(x * 2)
    both = copy.deepcopy([x, x])
    assert both[0] is both[1]


def test_tensors_can_be_weakly_referenced_and_hashed() -> None:
    x = ts.ones(1)
    gone = weakref.ref(x)
    assert {x: 1}[x] == 1
    del x
    assert gone() is None


def test_conversions_of_dtype() -> None:
    x = ts.ones(2)
    assert x.to(ts.float32) is x and x.to("float64").dtype is ts.float64 and x.to("cpu") is x
    assert x.double().dtype is ts.float64 and x.half().dtype is ts.float16 and x.long().dtype is ts.int64
    assert x.to(ts.ones(1, dtype=ts.int8)).dtype is ts.int8 and x.type_as(ts.tensor(1)).dtype is ts.int64
    assert x.astype(float).dtype is ts.float64 and x.astype(complex).dtype is ts.complex128 and x.astype(np.float64).dtype is ts.float64
    with pytest.raises(TypeError):
        x.astype("quaternion")


def test_aliases_of_parameters() -> None:
    x = ts.arange(6).reshape(2, 3)
    assert x.sum(dim=0).tolist() == x.sum(axis=0).tolist() == x.sum(0).tolist()
    assert x.sum(dim=1, keepdim=True).shape == (2, 1) and ts.sum(x, axes=[0, 1]).item() == 15
    assert x.reshape(3, 2).shape == x.reshape((3, 2)).shape == x.reshape([-1, 2]).shape == (3, 2)
    with pytest.raises(TypeError, match="twice"):
        x.sum(0, dim=1)
    with pytest.raises(TypeError, match="unexpected"):
        x.sum(banana=1)
    with pytest.raises(TypeError, match="position 2"):
        ts.matmul(x, 3)


def test_axes_may_be_positional() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = ts.from_numpy(a.copy())
    for axis in (0, 1):
        assert np.array_equal(ts.concat([x, x], axis).numpy(), np.concatenate([a, a], axis))
        assert np.array_equal(ts.stack([x, x], axis).numpy(), np.stack([a, a], axis))
        assert np.array_equal(x.cumsum(axis).numpy(), np.cumsum(a, axis))
        assert np.array_equal(ts.flip(x, axis).numpy(), np.flip(a, axis))
        assert np.array_equal(ts.roll(x, 1, axis).numpy(), np.roll(a, 1, axis))
        assert np.array_equal(ts.argsort(x, axis, True).numpy(), np.argsort(-a, axis))
        assert np.array_equal(ts.take(x, ts.tensor([1]), axis).numpy(), np.take(a, [1], axis))
        assert np.array_equal(x.unbind(axis)[1].numpy(), np.take(a, 1, axis))
    assert np.array_equal(ts.sort(x, 1, True).numpy(), a[:, ::-1])
    assert np.array_equal(x.tril(-1).numpy(), np.tril(a, -1))
    assert np.array_equal(x.triu(1).numpy(), np.triu(a, 1))
    assert np.array_equal(ts.topk(x, 1, 0)[0].numpy(), a[1:])


def test_dtype_facts() -> None:
    assert ts.finfo(ts.float32).eps == pytest.approx(1.1920929e-07) and ts.iinfo(ts.int8).max == 127
    assert ts.finfo(ts.bfloat16).eps == 2**-7
    assert ts.isdtype(ts.int8, "signed integer") and not ts.isdtype(ts.int8, ("bool", "real floating"))
    assert ts.can_cast(ts.int8, ts.int16) and not ts.can_cast(ts.float64, ts.float32)
    assert ts.result_type(ts.int8, ts.uint8) is ts.int16 and ts.result_type(ts.float16, ts.bfloat16) is ts.float32
    with pytest.raises(TypeError):
        ts.result_type(ts.uint64, ts.int8)


@pytest.mark.parametrize("first", list(ts._dtypes.ALL))
def test_promotion_is_that_of_the_operations(first: str) -> None:
    for second in ts._dtypes.ALL:
        a, b = ts.zeros(1, dtype=ts._dtypes.ALL[first]), ts.zeros(1, dtype=ts._dtypes.ALL[second])
        try:
            expected = ts.promote_types(a.dtype, b.dtype)
        except TypeError:
            with pytest.raises(TypeError):
                a + b
            assert not ts.can_cast(a.dtype, b.dtype)
            continue
        assert (a + b).dtype is expected and ts.can_cast(a, b.dtype) is (expected is b.dtype), second


@pytest.mark.parametrize("first", list(ts._dtypes.ALL))
def test_numbers_promote_as_in_operations(first: str) -> None:
    a = ts.zeros(1, dtype=ts._dtypes.ALL[first])
    for number in (True, 1, 1.5, 1j):
        if a.dtype is ts.bool_ and number is True:
            assert ts.result_type(a, number) is ts.bool_
        else:
            assert ts.result_type(a, number) is (a * number).dtype, number


@pytest.mark.parametrize("given", [None, "int8", int, 1, np.dtype("int8")])
def test_promotion_takes_dtypes(given: Any) -> None:
    for call in (ts.promote_types, ts.can_cast):
        with pytest.raises(TypeError):
            call(ts.int8, given)
    with pytest.raises(TypeError):
        ts.promote_types(given, ts.int8)


def test_namespace_info() -> None:
    info = ts.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] is ts.float32 and info.capabilities()["boolean indexing"]
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8", "uint16", "uint32", "uint64"}
    assert info.devices()[0] == "cpu"


def test_devices() -> None:
    assert repr(ts.device("cuda:1")) == "device('cuda:1')" and ts.device("cuda", 1).index == 1
    for bad in ("tpu", "cuda:x"):
        with pytest.raises(ValueError):
            ts.device(bad)
    with pytest.raises((ValueError, NotImplementedError)):
        ts.zeros(2, device="cuda:99")


def test_seeds_repeat_random_numbers() -> None:
    ts.manual_seed(7)
    first = ts.rand(5).tolist()
    state = ts.get_rng_state()
    second = ts.rand(5).tolist()
    ts.manual_seed(7)
    assert ts.rand(5).tolist() == first
    ts.set_rng_state(state)
    assert ts.rand(5).tolist() == second and first != second
    own = ts.Generator(3)
    a = ts.rand(4, generator=own).tolist()
    assert pickle.loads(pickle.dumps(own)).get_state() == own.get_state()
    assert ts.rand(4, generator=ts.Generator(3)).tolist() == a
    with pytest.raises(TypeError):
        ts.rand(2, generator=5)


def test_numbers_filled_in_place_are_those_of_rand_and_randn() -> None:
    def after_seed(make: Any) -> list[Any]:
        ts.manual_seed(3)
        return make().tolist()

    for dtype in (ts.float32, ts.float64):
        normal = after_seed(lambda: ts.empty((2, 3), dtype=dtype).normal_(5, 2))
        assert normal == after_seed(lambda: ts.randn((2, 3), dtype=dtype) * 2 + 5)
        uniform = after_seed(lambda: ts.empty((2, 3), dtype=dtype).uniform_(-1, 3))
        assert uniform == after_seed(lambda: ts.rand((2, 3), dtype=dtype) * 4 - 1)


def test_bool_numbers_keep_bool_tensors_bool() -> None:
    x = ts.tensor([True, False])
    for made in (x & True, True | x, x ^ False, x + True, ts.where(x, True, False), ts.maximum(ts.tensor([1]), True) == 1):
        assert made.dtype is ts.bool
    x &= False
    assert x.dtype is ts.bool and x.tolist() == [False, False]
    assert (ts.tensor([1]) + True).dtype is ts.int64 and (ts.ones(1) * True).dtype is ts.float32
    x[0] = True
    assert x.tolist() == [True, False]


def test_bounds_are_numbers_tensors_or_one_of_each() -> None:
    x = ts.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    low = ts.tensor([-1.0, 1.0, 2.0])
    for made in (x.clip(low, 2.5), x.clip(min=low, max=2.5)):
        assert made.tolist() == [-1, 1, 2.5]
    assert x.clip(0, low).tolist() == [-1, 0.5, 2] and ts.tensor([0, 5]).clip(ts.tensor(1), 2.5).tolist() == [1, 2.5]
    x.clip(-1, ts.tensor([0.0, 0.0, 4.0])).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 0, 1]
    dst, plain = ts.empty(3), x.detach()
    assert ts.clip(plain, low, 2.5, out=dst) is dst and dst.tolist() == [-1, 1, 2.5]
    assert plain.clip_(0, low) is plain and plain.tolist() == [-1, 0.5, 2]
    with pytest.raises(ts.ShapeError):
        x.clip(ts.ones(2), 1.0)


def test_a_number_is_no_tensor_for_what_takes_only_tensors() -> None:
    for call in (lambda: ts.ones((2, 2)) @ 2, lambda: 2 @ ts.ones((2, 2))):
        with pytest.raises(TypeError, match="unsupported operand"):
            call()


def test_numbers_stand_on_either_side_of_functions() -> None:
    x = ts.tensor([1, 2], dtype=ts.int16)
    assert ts.add(1, x).tolist() == [2, 3] and ts.add(1, x).dtype is ts.int16
    assert ts.maximum(1.5, x).tolist() == [1.5, 2] and ts.maximum(1.5, x).dtype is ts.float32
    assert ts.less(1, x).tolist() == [False, True] and ts.equal(2, x).tolist() == [False, True]
    assert ts.logical_and(True, x > 1).tolist() == ts.logical_and(x > 1, True).tolist() == [False, True]
    assert ts.bitwise_or(4, x).tolist() == [5, 6] and ts.hypot(0.0, x).tolist() == [1, 2]
    dst = ts.empty(2, dtype=ts.int16)
    assert ts.multiply(3, x, out=dst) is dst and dst.tolist() == [3, 6]
    with pytest.raises(TypeError, match=r"add\(\): expected at least one Tensor"):
        ts.add(1, 2)


def test_leaves_may_require_grad_from_the_start() -> None:
    for made in (ts.ones(2, requires_grad=True), ts.rand((2,), requires_grad=True), ts.eye(2, requires_grad=True)):
        assert made.requires_grad and made.is_leaf
    like = ts.zeros_like(ts.ones(2, requires_grad=True))
    assert not like.requires_grad and ts.zeros_like(like, dtype=ts.float64, requires_grad=True).requires_grad
    with pytest.raises(TypeError, match="floating"):
        ts.ones(2, dtype=ts.int32, requires_grad=True)
    with pytest.raises(TypeError, match=r"ones\(\): argument 'requires_grad'"):
        ts.ones(2, requires_grad="yes")


def test_pythons_protocols_of_numbers() -> None:
    x = ts.tensor([7, -7])
    assert [t.tolist() for t in divmod(x, 2)] == [[3, -4], [1, 1]]
    assert [t.tolist() for t in divmod(15, x)] == [[2, -3], [1, -6]]
    assert (+x).tolist() == [7, -7] and list(reversed(x)) == [-7, 7]
    half = ts.tensor(2.5)
    assert (round(half), round(ts.tensor(1.26), 1), math.trunc(half), math.floor(half), math.ceil(half)) == (
        2, pytest.approx(1.3), 2, 2, 3,
    )  # fmt: skip


def test_tensors_like_this_one() -> None:
    x = ts.ones((2, 3), dtype=ts.float64)
    for made in (x.new_zeros(2, 2), x.new_ones((2, 2)), x.new_empty([2, 2]), x.new_full((2, 2), 5)):
        assert made.shape == (2, 2) and made.dtype is ts.float64
    assert x.new_tensor([1]).dtype is ts.float64 and x.new_ones(2, dtype=ts.int8).dtype is ts.int8
    assert x.new_zeros(2, requires_grad=True).requires_grad
    assert x.t().shape == (3, 2) and x[0].t().shape == (3,) and x[:1].expand_as(x).shape == (2, 3)
    assert x.view_as(ts.ones((3, 2))).shape == x.reshape_as(ts.ones((3, 2))).shape == (3, 2)
    assert (x.byte().dtype, x.char().dtype, x.short().dtype) == (ts.uint8, ts.int8, ts.int16)
    assert not x.is_cuda and x.nelement() == 6 and x.ndimension() == 2


def test_default_device_is_a_block_and_comes_back() -> None:
    assert ts.get_default_device() == "cpu"
    with pytest.raises(ts.DeviceError, match="can be used here, got simulated:3"), ts.Device("simulated", 3):
        raise AssertionError("the block must not be entered")
    with ts.Device("cpu") as outer, ts.Device("cpu"):
        assert ts.zeros((2,)).device == outer
        assert ts.__array_namespace_info__().default_device() == outer
    assert ts.set_default_device("cpu") == ts.get_default_device()


def test_squeeze_drops_every_axis_of_size_one_unless_some_are_named() -> None:
    x = ts.ones(1, 2, 1, 3)
    assert x.squeeze().shape == ts.squeeze(x).shape == x.squeeze(axis=None).shape == (2, 3)
    assert x.squeeze(0).shape == (2, 1, 3) and ts.squeeze(x, axis=(0, 2)).shape == (2, 3)
    assert ts.ones(2, 3).squeeze().shape == (2, 3) and ts.ones(1, 1).squeeze().shape == () and ts.ones(()).squeeze().shape == ()
    assert np.squeeze(x).shape == (2, 3)
    leaf = ts.ones(1, 2, requires_grad=True)
    leaf.squeeze().sum().backward()
    assert leaf.grad is not None and leaf.grad.shape == (1, 2)
    with pytest.raises(ValueError):
        x.squeeze(1)


def test_the_parts_of_a_complex_tensor_are_views() -> None:
    z = ts.tensor([1 + 2j, 3 - 4j])
    z.imag[0] = 7
    assert z.tolist() == [1 + 7j, 3 - 4j]
    assert z.real.tolist() == [1, 3]
    assert np.imag(z).tolist() == [7, -4]  # type: ignore[arg-type]
    x = ts.ones(2)
    assert x.real is x or x.real.tolist() == [1, 1]
    with ts.inference_mode():
        made_inside = ts.tensor([1 + 2j])
    with pytest.raises(ts.AutogradError, match="inference"):
        made_inside.imag.fill_(3)
