# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between a device and the CPU: asynchronous work, conversions of numbers, aligned memory. The plugin is
found as in test_op_table.py."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from dlpack_structs import DLTensor, pointer_of

import tessera as ts
from tessera import _ops
from tessera.capi import check, ffi, handle, lib


def program(text: str, **variables: str) -> str:
    """Runs a program in its own process and returns its output."""
    command = [sys.executable, "-c", "import tessera as ts\nfrom tessera import _ops\n" + text]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reinterpreted(tensor: ts.Tensor, shape: Sequence[int], strides: Sequence[int], offset: int, code: int) -> Any:
    """A DLPack capsule of a tensor's memory with another layout of the same number of dimensions."""
    capsule = tensor.__dlpack__()
    view = DLTensor.from_address(pointer_of(capsule, b"dltensor"))  # a managed tensor begins with it
    for axis, (size, stride) in enumerate(zip(shape, strides)):
        view.shape[axis], view.strides[axis] = size, stride
    view.byte_offset = offset
    if code == 5:
        view.code, view.bits = 5, 2 * view.bits
    return capsule


# ---- DLPack ----


class Producer:
    """An array of another library in device memory."""

    def __init__(self, tensor: ts.Tensor) -> None:
        self.tensor = tensor
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
        self.streams.append(stream)
        return self.tensor.__dlpack__(max_version=max_version)


def test_an_array_of_another_library_is_taken_over_in_the_device_memory() -> None:
    x = ts.arange(6.0, device="cuda") + 1
    producer = Producer(x)
    taken = ts.from_dlpack(producer)
    assert taken.is_cuda and taken.data_ptr() == x.data_ptr() and producer.streams == [1]
    assert ts.from_dlpack(x).tolist() == x.tolist() and ts.from_dlpack(x, device="cpu").tolist() == x.tolist()
    taken += 1
    assert x.tolist() == [2, 3, 4, 5, 6, 7]


# ---- numbers ----


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "int32", "int64", "uint64", "bool_"])
def test_floats_out_of_range_become_what_the_host_makes_of_them(source: str, target: str) -> None:
    values = [1e20, -1e20, float("inf"), -float("inf"), float("nan"), 2.0**63, -(2.0**63), 3e9, -3e9, 300.7, -300.7, -0.0]
    x = ts.asarray(np.array(values, source))
    wanted = x.astype(getattr(ts, target)).numpy()
    np.testing.assert_array_equal(x.to("cuda").astype(getattr(ts, target)).to("cpu").numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_of_short_floats_are_added_in_32_bits(dtype: str) -> None:
    # In 16 bits a sum of ones stops at 2048 (float16) or 256 (bfloat16).
    ones = ts.ones((3, 3000), dtype=getattr(ts, dtype), device="cuda")
    assert (ones @ ones.T).astype(ts.float32).to("cpu").numpy().ravel().tolist() == [
        ts.asarray(3000.0).astype(getattr(ts, dtype)).astype(ts.float32).item()
    ] * 9


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32"])
def test_products_over_nothing_are_zero_and_keep_what_is_added(dtype: str) -> None:
    kind = getattr(ts, dtype)
    a, b = ts.zeros((3, 0), dtype=kind, device="cuda"), ts.zeros((0, 4), dtype=kind, device="cuda")
    assert (a @ b).to("cpu").numpy().tolist() == np.zeros((3, 4)).tolist()
    added = _ops.addmm(ts.ones((3, 4), dtype=kind, device="cuda"), a, b, beta=2)
    assert added.to("cpu").numpy().tolist() == np.full((3, 4), 2).tolist()


def test_rows_further_apart_than_31_bits_are_multiplied() -> None:
    far = 2**31
    memory = ts.empty((2, far // 2 + 8), dtype=ts.float16, device="cuda")
    view = ts.from_dlpack(reinterpreted(memory, (2, 3), (far, 1), 0, 2))
    view.copy_(ts.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=ts.float16).to("cuda"))
    assert (view @ ts.ones((3, 1), dtype=ts.float16, device="cuda")).to("cpu").numpy().ravel().tolist() == [6, 15]


# ---- memory ----


def test_complex_memory_must_be_aligned_to_whole_numbers() -> None:
    parts = ts.arange(7, dtype=ts.float32, device="cuda")
    with pytest.raises(BufferError, match="aligned to its elements of 8 bytes"):
        ts.from_dlpack(reinterpreted(parts, [3], [1], 4, 5))
    copied = ts.from_dlpack(reinterpreted(parts, [3], [1], 4, 5), copy=True)
    assert (copied * 2).to("cpu").numpy().tolist() == [2 + 4j, 6 + 8j, 10 + 12j]


def test_large_copies_go_through_in_pieces() -> None:
    values = np.random.default_rng(0).integers(0, 1 << 60, (5, 1 << 20))
    x = ts.asarray(values).to("cuda")
    values_before = values.copy()
    values[:] = 0
    np.testing.assert_array_equal((x + 1).to("cpu").numpy(), values_before + 1)


@pytest.mark.parametrize("layout", ["dense", "transposed"])
def test_elements_are_read_and_written_across_the_border(layout: str) -> None:
    x = ts.zeros((3, 2), device="cuda").T if layout == "transposed" else ts.zeros((2, 3), device="cuda")
    raw, values = handle(x), ffi.new("float[6]", [1, 2, 3, 4, 5, 6])
    check(lib.tsr_tensor_write(raw, values, 24))
    x += 1
    assert x[1, 2].item() == 7 and float(x[0, 1]) == 3 and int(x[1, 0].astype(ts.int64)) == 5
    check(lib.tsr_tensor_read(raw, values, 24))
    assert list(values) == [2, 3, 4, 5, 6, 7]


def test_what_is_smaller_is_spread_after_the_copy() -> None:
    x = ts.zeros((3, 4), device="cuda")
    x.copy_(ts.asarray([1.0, 2.0, 3.0, 4.0]))
    assert x.to("cpu").numpy().tolist() == [[1, 2, 3, 4]] * 3


# ---- errors of asynchronous work ----


@pytest.mark.parametrize("bad", [4, -5])
def test_an_index_out_of_range_is_told_by_the_next_wait(bad: int) -> None:
    array, index = ts.zeros(4, device="cuda"), ts.asarray([0, bad, 1]).to("cuda")
    message = rf"by index: expected indices in \[-4, 3\] for axis 0 of size 4, got {bad}"
    read = array[index]
    with pytest.raises(ts.AsyncError, match=f"earlier work on cuda:0 failed: reading {message}"):
        read.to("cpu")
    assert read.to("cpu").numpy().tolist() == [0, 0, 0]
    array[index] = ts.ones(3, device="cuda")
    with pytest.raises(ts.AsyncError, match=f"writing {message}"):
        ts.synchronize("cuda")
    assert array.sum().item() == 0
    empty = ts.zeros((4, 0), device="cuda")[index]
    with pytest.raises(ts.AsyncError, match=f"reading {message}"):
        ts.synchronize("cuda")
    assert empty.shape == (3, 0)
    ts.zeros((0, 3), device="cuda")[index]
    with pytest.raises(ts.AsyncError, match="axis 0 of size 0"):
        ts.synchronize("cuda")
    ts.synchronize("cuda")


def test_a_position_does_not_count_from_the_end() -> None:
    weight = ts.ones((4, 2), device="cuda")
    rows = _ops.embedding(ts.asarray([3, -1]).to("cuda"), weight)
    with pytest.raises(ts.AsyncError, match=r"\[0, 3\] for axis 0 of size 4, got -1"):
        rows.to("cpu")


def test_of_several_index_arrays_the_wrong_one_is_named() -> None:
    array = ts.zeros((5, 6), device="cuda")
    array[ts.asarray([1, 2]).to("cuda"), ts.asarray([3, 9]).to("cuda")]
    with pytest.raises(ts.AsyncError, match=r"\[-6, 5\] for axis 1 of size 6, got 9"):
        ts.synchronize("cuda")


def test_the_first_of_several_errors_stays() -> None:
    array = ts.zeros(4, device="cuda")
    array[ts.asarray([17]).to("cuda")]
    array[ts.asarray([23]).to("cuda")]
    with pytest.raises(ts.AsyncError, match="got 17"):
        ts.synchronize("cuda")
    ts.synchronize("cuda")


def test_a_target_out_of_range_is_told_by_the_next_wait() -> None:
    loss = _ops.cross_entropy(ts.zeros((2, 3), device="cuda"), ts.asarray([0, 7]).to("cuda"))
    with pytest.raises(ts.AsyncError, match=r"cross_entropy: expected targets in \[0, 3\), got 7"):
        loss.item()


@pytest.mark.parametrize("bad", [16, -2])
def test_a_position_of_a_maximum_that_somebody_has_changed_is_told(bad: int) -> None:
    """Both ways through the positions: the gradient, and the gradient of that."""
    x = ts.ones((1, 1, 4, 4), device="cuda", requires_grad=True)
    slope = ts.ones((1, 1, 2, 2), device="cuda", requires_grad=True)
    values, positions = _ops.max_pool2d_with_positions(x, 2)
    (gradient,) = ts.autograd.grad(values, x, slope, create_graph=True)
    ts.from_dlpack(positions)[0, 0, 1, 0] = bad
    message = rf"positions of maxima: expected indices in \[0, 15\] for axis -1 of size 16, got {bad}"
    ts.autograd.grad(gradient.sum(), slope, retain_graph=True)
    with pytest.raises(ts.AsyncError, match=message):
        ts.synchronize("cuda")
    ts.autograd.grad(values, x, slope)
    with pytest.raises(ts.AsyncError, match=message):
        ts.synchronize("cuda")


@pytest.mark.parametrize("function", ["floor_divide", "remainder"])
def test_integer_division_by_zero_is_told_at_once_of_a_number_and_later_of_a_tensor(function: str) -> None:
    x = ts.asarray([4, 5, 6]).to("cuda")
    divide = getattr(ts, function)
    with pytest.raises(ValueError, match="integer division by zero"):
        divide(x, 0)
    result = divide(x, ts.asarray([2, 0, 4]).to("cuda"))
    with pytest.raises(ts.AsyncError, match="integer division by zero"):
        ts.synchronize("cuda")
    assert result.to("cpu")[1].item() == 0 and result.to("cpu")[0].item() == divide(4, ts.asarray(2)).item()


def test_in_debug_mode_the_call_itself_fails() -> None:
    text = """
x, index = ts.zeros(4, device="cuda"), ts.asarray([9]).to("cuda")
for call in (lambda: x[index], lambda: _ops.cross_entropy(ts.zeros((1, 3), device="cuda"), index)):
    try:
        call()
    except IndexError as error:
        print(error)
try:
    index // ts.zeros_like(index)
except ValueError as error:
    print(error)
ts.synchronize("cuda")
"""
    printed = program(text, TSR_DEBUG="sync").splitlines()
    assert "got 9" in printed[0] and "targets in [0, 3), got 9" in printed[1] and "by zero" in printed[2]


def test_somebody_elses_error_is_not_taken_for_ours() -> None:
    with open("/proc/self/maps") as maps:
        libraries = {line.split()[-1] for line in maps if "libcudart" in line}
    ts.zeros(1, device="cuda")
    for path in libraries:
        assert ctypes.CDLL(path).cudaSetDevice(9999) != 0
    assert (ts.ones(3, device="cuda") + 1).sum().item() == 6


# ---- streams and processes ----


def test_the_stream_that_every_thread_has_its_own_of_is_refused() -> None:
    out = ffi.new("tsr_stream*")
    with pytest.raises(ValueError, match="per-thread default stream"):
        check(lib.tsr_stream_wrap(2, 0, ffi.cast("void*", 2), out))


def test_a_forked_process_is_told_so() -> None:
    printed = program(
        """
import os, sys
x = ts.ones(3, device="cuda")
child = os.fork()
if child == 0:
    for call in (lambda: ts.zeros(1 << 24, device="cuda"), lambda: x + x, lambda: ts.synchronize("cuda"), lambda: x @ x):
        try:
            call()
        except ts.TesseraError as error:
            print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print((x + x).sum().item())
"""
    ).splitlines()
    assert len(printed) == 5 and printed[-1] == "6.0"
    assert all("forked from one that has used it" in line for line in printed[:-1])


def test_a_second_device_gets_what_the_first_has_computed() -> None:
    if ts.device_count("cuda") < 2:
        pytest.skip("one device")
    x = ts.arange(1 << 16, dtype=ts.float32, device="cuda:0")
    y = (x * 2 + 1).to("cuda:1")
    z = y * 3
    assert str(z.device) == "cuda:1"
    np.testing.assert_array_equal(z.to("cpu").numpy(), (np.arange(1 << 16, dtype=np.float32) * 2 + 1) * 3)
