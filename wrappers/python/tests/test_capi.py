# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.capi: calls of C functions, ownership of handles, and objects that are not our handles."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import tessera as ts
from tessera import _core, capi
from tessera.capi import check, ffi, handle, lib


class Forged:
    """An object that an earlier check took for one of ours."""

    _address = 1
    _handle = 1
    _kind = 0
    handle = 1
    type, index, code = "cpu", 0, 1

    def __int__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1


# ---- calls by hand ----


def test_a_function_of_c_is_called_by_hand() -> None:
    x = ts.tensor([[3.0, 1.0], [2.0, 4.0]])
    storage = ffi.new("int64_t*")
    check(lib.tsr_tensor_version(handle(x), storage))
    before = storage[0]
    x.add_(1)
    check(lib.tsr_tensor_version(handle(x), storage))
    assert storage[0] == before + 1

    cell = ffi.new("tsr_tensor*")
    check(lib.tsr_exp(handle(x), cell))
    y = capi.tensor(cell[0])
    assert type(y) is ts.Tensor and y.tolist() == x.exp().tolist()


def test_what_is_made_by_hand_has_a_gradient() -> None:
    x = ts.tensor([2.0, 3.0], requires_grad=True)
    cell = ffi.new("tsr_tensor*")
    check(lib.tsr_square(handle(x), cell))
    capi.tensor(cell[0]).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [4.0, 6.0]


def test_a_failed_call_raises_as_the_package_does() -> None:
    x, y, cell = ts.ones(2), ts.ones(3), ffi.new("tsr_tensor*")
    with pytest.raises(ts.ShapeError) as info:
        check(lib.tsr_add(handle(x), handle(y), cell))
    assert info.value.op == "add" and info.value.argument == 1 and cell[0] == ffi.NULL


def test_check_lets_success_pass_and_refuses_what_is_no_status() -> None:
    assert check(0) is None
    with pytest.raises(TypeError):
        check("0")  # type: ignore[arg-type]


# ---- who owns a handle ----


def test_handle_is_borrowed() -> None:
    gc.collect()
    before = ts.memory.live_handles()
    x = ts.ones(3)
    raw = handle(x)
    assert ffi.typeof(raw) is ffi.typeof("tsr_tensor") and raw == handle(x)
    del x
    assert ts.memory.live_handles() == before


def test_tensor_takes_the_reference_over() -> None:
    gc.collect()
    before = ts.memory.live_handles()
    x, cell = ts.ones(3), ffi.new("tsr_tensor*")
    check(lib.tsr_exp(handle(x), cell))
    del x
    made = capi.tensor(cell[0])
    assert ts.memory.live_handles() == before + 1
    del made
    assert ts.memory.live_handles() == before


def test_a_retained_handle_gives_a_second_object_of_one_tensor() -> None:
    x = ts.ones(3)
    lib.tsr_tensor_retain(handle(x))
    y = capi.tensor(handle(x))
    assert y is not x and _core.is_same(x, y)
    y.add_(1)
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_nodes_and_generators_have_handles() -> None:
    node = (ts.ones(2, requires_grad=True) * 2).grad_fn
    assert node is not None
    number = ffi.new("uint64_t*")
    check(lib.tsr_node_sequence(handle(node), number))
    assert number[0] == node.sequence_nr

    generator = ts.Generator(7)
    seed, offset = ffi.new("uint64_t*"), ffi.new("uint64_t*")
    check(lib.tsr_generator_get_state(handle(generator), seed, offset))
    assert (seed[0], offset[0]) == (7, 0)


@pytest.mark.parametrize("given", [1, None, "x", Forged(), ts.float32, ts.Device("cpu")], ids=lambda g: type(g).__name__)
def test_only_objects_of_ours_have_handles(given: Any) -> None:
    with pytest.raises(TypeError):
        handle(given)


@pytest.mark.parametrize("text", ["tsr_node", "tsr_generator", "void*", "tsr_tensor*", "intptr_t"])
def test_only_handles_of_tensors_become_tensors(text: str) -> None:
    with pytest.raises(TypeError):
        capi.tensor(ffi.cast(text, 16))
    for given in (16, None, Forged(), ts.ones(1)):
        with pytest.raises(TypeError):
            capi.tensor(given)
    with pytest.raises(ValueError):
        capi.tensor(ffi.NULL if text == "tsr_tensor" else ffi.cast("tsr_tensor", 0))


def test_a_handle_of_another_kind_is_refused() -> None:
    generator = ts.Generator(1)
    with pytest.raises(ts.TesseraError):
        capi.tensor(ffi.cast("tsr_tensor", handle(generator)))
    assert generator.initial_seed() == 1


# ---- objects that are not ours ----

FORGERIES: list[tuple[str, Callable[[Any], Any]]] = [
    ("generator of rand", lambda x: ts.rand(3, generator=x)),
    ("generator of uniform_", lambda x: ts.ones(3).uniform_(generator=x)),
    ("device of ones", lambda x: ts.ones(2, device=x)),
    ("device of to", lambda x: ts.ones(2).to(device=x)),
    ("device of synchronize", lambda x: ts.synchronize(x)),
    ("device of memory", lambda x: ts.memory.memory_stats(x)),
    ("stream of to_dlpack", lambda x: ts.ones(2).__dlpack__(stream=x)),
    ("node of saved tensors", lambda x: _core.saved_tensors(x)),
    ("node's handle", lambda x: handle(x)),
    ("node's method", lambda x: ts.autograd.Node.name(x)),
    ("generator's method", lambda x: ts.Generator.get_state(x)),
    ("mode entered", lambda x: ts.no_grad.__enter__(x)),
    ("mode left", lambda x: ts.no_grad.__exit__(x)),
    ("tensor of an op", lambda x: ts.exp(x)),
    ("tensor in a list", lambda x: ts.stack([x, x])),
    ("out of an op", lambda x: ts.exp(ts.ones(1), out=x)),
    ("gradient", lambda x: setattr(ts.ones(1), "grad", x)),
    ("data", lambda x: setattr(ts.ones(1), "data", x)),
    ("root of backward", lambda x: ts.autograd.backward(x)),
    ("hook's tensor", lambda x: _core.add_hook(x, print, 0)),
    ("removed hook's tensor", lambda x: _core.remove_hook(x, 1)),
    ("same tensors", lambda x: _core.is_same(x, ts.ones(1))),
    ("array", lambda x: _core.from_array(x)),
    ("capsule", lambda x: _core.from_capsule(x, 0)),
    ("converted tensor", lambda x: _core.convert(x, None, None, None)),
]


@pytest.mark.parametrize(("call"), [c for _, c in FORGERIES], ids=[n for n, _ in FORGERIES])
def test_an_object_that_is_not_ours_is_no_handle(call: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        call(Forged())


@pytest.mark.parametrize("kind", [-1, 4, 99, 2**40])
def test_a_mode_of_no_known_kind_is_refused(kind: int) -> None:
    with pytest.raises((TypeError, OverflowError)):
        type("Mode", (_core.ModeBase,), {"_kind": kind})()
    assert ts.is_grad_enabled()


def test_no_object_shows_its_handle_as_a_number() -> None:
    node = (ts.ones(2, requires_grad=True) * 2).grad_fn
    for owner in (ts.ones(1), node, ts.Generator()):
        assert not hasattr(owner, "_address") and not hasattr(owner, "_handle")


def test_nodes_are_not_made_by_hand() -> None:
    with pytest.raises(TypeError):
        ts.autograd.Node()
    with pytest.raises(TypeError):
        object.__new__(ts.autograd.Node)


def test_nodes_and_generators_compare_by_handle() -> None:
    y = ts.ones(2, requires_grad=True) * 2
    one, two = y.grad_fn, y.grad_fn
    assert one is not two and one == two and hash(one) == hash(two) and one != (y * 2).grad_fn and one != 1
    assert ts.Generator(1) != ts.Generator(1)


@pytest.mark.parametrize("name", ["tensor", "node", "ndarray", "errors", "operand", "nothing", "dtypes"])
def test_what_the_extension_knows_cannot_be_replaced(name: str) -> None:
    with pytest.raises(TypeError):
        _core.register(**{name: Forged})
    assert (ts.ones(2) + 1).tolist() == [2.0, 2.0]


def test_cells_hold_one_pointer() -> None:
    for cell in (bytearray(4), bytearray(16), b"12345678", "text"):
        with pytest.raises((TypeError, BufferError)):
            _core.lend(ts.ones(1), cell)
    for kind in (-1, 3, "tensor"):
        with pytest.raises((TypeError, ValueError)):
            _core.adopt(kind, bytearray(8))  # type: ignore[arg-type]
    assert _core.adopt(0, bytearray(8)) is None


def test_lists_of_tensors_cross_in_one_call() -> None:
    given = [ts.ones(1), ts.zeros(2)]
    cells = capi.handles(given)
    assert [cells[i] for i in range(2)] == [handle(t) for t in given]
    for cell in (cells[0], cells[1]):
        lib.tsr_tensor_retain(cell)
    taken = capi.adopt_all(cells, 2)
    assert [t.tolist() for t in taken] == [[1.0], [0.0, 0.0]] and cells[0] == ffi.NULL
    assert capi.adopt_all(cells, 2) == [None, None] and capi.adopt_all(cells, 0) == []
    with pytest.raises(ts.ArgumentTypeError, match="expected Tensors, got Forged"):
        capi.handles([given[0], Forged()])  # type: ignore[list-item]
    for count, memory in ((2, bytearray(8)), (-1, bytearray(8)), (1, bytes(8))):
        with pytest.raises((TypeError, BufferError)):
            _core.adopt_all(count, memory)
    with pytest.raises(TypeError):
        _core.lend_all((given[0],), bytearray(8))  # type: ignore[arg-type]


# ---- errors of other languages ----


def test_a_payload_of_another_language_is_not_read() -> None:
    code = lib.tsr_error_set(13, b"from elsewhere", -1, ffi.cast("void*", 16), ffi.NULL)
    assert code == 0
    with pytest.raises(ts.CallbackError, match="from elsewhere"):
        check(13)


def test_an_exception_of_a_hook_comes_out_as_itself_with_its_notes() -> None:
    class Refused(KeyError):
        pass

    raised = Refused("no gradient")
    raised.add_note("in the hook of x")
    x = ts.ones(2, requires_grad=True)

    def hook(gradient: ts.Tensor) -> None:
        raise raised

    x.register_hook(hook)
    with pytest.raises(Refused) as info:
        x.sum().backward()
    assert info.value is raised and info.value.__notes__ == ["in the hook of x"]
    assert any(entry.name == "hook" for entry in info.traceback)


def test_a_failed_call_leaves_no_exception_alive() -> None:
    import weakref

    class Refused(Exception):
        pass

    def fail() -> Any:
        x = ts.ones(2, requires_grad=True)

        def hook(gradient: ts.Tensor) -> None:
            raise Refused

        x.register_hook(hook)
        try:
            x.sum().backward()
        except Refused as error:
            return weakref.ref(error)

    seen = fail()
    gc.collect()
    assert seen is not None and seen() is None
