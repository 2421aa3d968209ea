# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Python numbers to tensors and back: data that the extension reads itself must equal NumPy's conversion."""

import gc
import weakref

import numpy as np
import pytest

import tessera as ts
from tessera import _interop

pytestmark = pytest.mark.filterwarnings("ignore")  # NumPy warns of what does not fit

PLAIN = [
    1.5, 3, True, 1 + 2j, -0.0, float("inf"), [], [[], []], [1.0, 2, True], [1, True], [False, True],
    [True, 0.5], [[1, 2], [3, 4]],
    ((1.0, 2.0), [3, 4]), [[[1]], [[2]]], [1j, 2, 0.5], [2**62, -(2**63)], 2**24 + 1,
]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("data", PLAIN, ids=repr)
@pytest.mark.parametrize("dtype", [None, *DTYPES])
def test_numbers_are_read_as_numpy_reads_them(data, dtype):
    kind = None if dtype is None else getattr(ts, "bool_" if dtype == "bool" else dtype)
    try:
        with np.errstate(all="ignore"):
            wanted = _interop.from_python(data, kind)
    except (OverflowError, TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            ts.tensor(data, dtype=dtype)
        return
    made = ts.tensor(data, dtype=dtype)
    assert made.dtype is wanted.dtype
    assert made.shape == wanted.shape
    np.testing.assert_array_equal(made.numpy(), wanted.numpy())


@pytest.mark.parametrize("data", [[1, [2]], [[1], 2], [[1, 2], [3]], [[], [1]], [object()], "text", None])
def test_irregular_data_are_refused(data):
    with pytest.raises((TypeError, ValueError)):
        ts.tensor(data)


def test_a_list_in_itself_is_refused():
    data = [1.0]
    data[0] = data
    with pytest.raises((ValueError, RecursionError)):
        ts.tensor(data)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bool"])
def test_numbers_that_fit_are_numpys_and_others_raise(dtype):
    whole = np.dtype(dtype).kind in "iu"
    with np.errstate(all="ignore"):
        for number in (300, -1, 2**40, 2**70, 1e300):
            if whole and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
                with pytest.raises(ts.InvalidValueError):
                    ts.tensor(number, dtype=dtype)
            else:
                np.testing.assert_array_equal(ts.tensor(number, dtype=dtype).numpy(), np.array(number, dtype=dtype))


@pytest.mark.parametrize("dtype", [*DTYPES, "uint16", "uint32", "uint64", "bfloat16"])
def test_tolist_gives_the_numbers_of_any_layout(dtype):
    base = ts.arange(12).reshape(3, 4).astype(getattr(ts, "bool_" if dtype == "bool" else dtype))
    for view in (base, base.mT, base[::2, 1:], base[:0], base[1, 2], base.flip(0), base[None, :, :1]):
        wide = view.astype(ts.float32) if dtype == "bfloat16" else view
        assert view.tolist() == wide.numpy().tolist()
        assert type(view[..., :1].tolist() if view.ndim else view.tolist()) in (list, bool, int, float, complex)


def test_tolist_of_a_tensor_that_requires_grad():
    assert ts.tensor([1.0, 2.0], requires_grad=True).tolist() == [1.0, 2.0]


def test_from_numpy_keeps_the_array_and_shares_it():
    array = np.array([[0.0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
    alive = weakref.ref(array)
    tensor = ts.from_numpy(array[::-1, 1::2])
    array[0, 1] = -7.0
    assert tensor.tolist() == [[9.0, 11.0], [5.0, 7.0], [-7.0, 3.0]]
    del array
    gc.collect()
    assert alive() is not None
    del tensor
    gc.collect()
    assert alive() is None


def test_conversions_give_the_tensor_itself_where_nothing_changes():
    x = ts.ones((2,))
    assert x.to(ts.float32) is x and x.to("cpu") is x and x.to("float32") is x and x.to(x) is x and x.float() is x
    assert x.cpu() is x and x.to(ts.Device("cpu"), ts.float32) is x and x.contiguous() is x
    assert x.to(ts.float32, copy=True) is not x and x.to(True) is not x
    assert x.to(ts.ones(1, dtype=ts.int32)).dtype is ts.int32 and x.to(device="cpu", dtype=int).dtype is ts.int64
    with pytest.raises(TypeError, match="kind"):
        x.to(kind=3)
    with pytest.raises(TypeError):
        x.to("no such thing", 3.5)


def test_indexing_with_lists():
    x = ts.arange(4)
    assert x[[3, 0]].tolist() == [3, 0] and x[[True, False, True, False]].tolist() == [0, 2] and x[[]].shape == (0,)
    with pytest.raises(IndexError):
        x[[0.5]]


def test_strides_and_the_switch_take_their_argument_by_name():
    x = ts.ones((2, 3))
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.stride(axis=-1) == 1
    with pytest.raises(TypeError, match="unexpected"):
        x.stride(other=1)
    with pytest.raises(TypeError, match="at most 1"):
        x.requires_grad_(True, True)
    assert x.requires_grad_(requires_grad=True) is x and x.requires_grad


class WithAttributes(ts.Tensor):
    """Has a dict, which may hold other tensors."""


def test_a_gradient_keeps_its_object_for_all_that_have_it():
    a, b, c = (ts.ones(3).requires_grad_() for _ in range(3))
    shared = ts.ones(3)
    a.grad = b.grad = c.grad = shared
    assert a.grad is shared and b.grad is shared and c.grad is shared
    del b
    assert a.grad is shared and c.grad is shared
    a.grad = ts.zeros(3)
    assert a.grad is not shared and c.grad is shared
    del shared
    gc.collect()
    assert c.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_gradient_object_on_its_way_out_does_not_come_back():
    seen = []

    class Watch:
        def __del__(self):
            seen.append(leaf.grad.tolist())

    leaf = ts.ones(2).requires_grad_()
    grad = WithAttributes(ts.ones(2))
    grad.watch = Watch()
    leaf.grad = grad
    assert leaf.grad is grad
    del grad
    gc.collect()
    assert seen == [[1.0, 1.0]]
    assert leaf.grad.tolist() == [1.0, 1.0]


def test_modes_check_what_they_are_given():
    for wrong in (lambda: ts.no_grad(1), lambda: ts.enable_grad(mode=True), lambda: ts.set_grad_enabled()):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError, match="expected a bool"):
        ts.set_grad_enabled(lambda: None)
    with pytest.raises(RuntimeError, match="not entered"):
        ts.no_grad().__exit__(None, None, None)
    assert ts.is_grad_enabled()


def test_one_mode_object_can_be_entered_again_within_itself():
    mode = ts.inference_mode(False)
    off = ts.no_grad()
    with off, ts.enable_grad(), off, mode:
        for _ in range(20):
            off.__enter__()
        assert not ts.is_grad_enabled() and not ts.is_inference_mode_enabled()
        for _ in range(20):
            off.__exit__()
    assert ts.is_grad_enabled() and mode.mode is False and off.mode is False


def test_arange_takes_tensors_for_numbers():
    assert ts.arange(ts.tensor(3)).dtype is ts.int64 and ts.arange(ts.tensor([3])).tolist() == [0, 1, 2]
    assert ts.arange(ts.tensor(1.5)).tolist() == [0.0, 1.0]
    assert ts.arange(1, 2, np.float64(0.5)).tolist() == [1.0, 1.5]
    with pytest.raises(TypeError):
        ts.arange("3")


def test_devices_are_equal_by_type_and_number():
    cpu, other = ts.Device("cpu"), ts.Device("simulated:1")
    assert cpu == ts.Device("cpu", 0) and cpu == "cpu" and "cpu" == cpu and not cpu != "cpu" and cpu != 3
    assert other == ts.Device("simulated", 1) and other != cpu and not other == cpu and other != "simulated"
    assert len({cpu, ts.Device("cpu"), other}) == 2
    with pytest.raises(TypeError):
        cpu < other  # noqa: B015


def test_the_collector_has_subclasses_with_a_dict_only():
    assert not gc.is_tracked(ts.ones(2))
    assert gc.is_tracked(ts.ones(2).requires_grad_().exp().grad_fn)  # hooks of the host may lead back to it
    cycle = WithAttributes(ts.ones(2))
    cycle.itself = cycle
    alive = weakref.ref(cycle)
    del cycle
    gc.collect()
    assert alive() is None
    alive = weakref.ref(made := ts.ones(2))
    del made
    assert alive() is None
