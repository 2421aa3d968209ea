# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The CUDA backend with a run time that fails on request, counts calls, and runs work as late as possible:
tests/support/cuda_on_host, whose folder is TESSERA_PLUGIN_PATH."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tessera as ts
from tessera import _ops, tracing
from tessera import program as recording
from tessera.capi import check, ffi, lib
from tessera.nn import functional as F
from tessera.streams import Event
from tessera.utils.data import DataLoader, TensorDataset

RUNTIME = Path(os.environ["TESSERA_PLUGIN_PATH"].split(":")[0]) / "runtime" / "libcudart_on_host.so"
cuda = ctypes.CDLL(str(RUNTIME))
cuda.cuda_on_host_calls.restype = ctypes.c_int64

os.environ.setdefault("TESSERA_CACHE", "off")  # also in the programs below

ILLEGAL_ADDRESS = 700


def fail(name: str, error: int, calls: int = 0) -> None:
    cuda.cuda_on_host_fail(name.encode(), error, ctypes.c_int64(calls))


def calls(name: str) -> int:
    return int(cuda.cuda_on_host_calls(name.encode()))


@pytest.fixture(autouse=True)
def whole() -> Iterator[None]:
    ts.zeros(1, device="cuda")
    cuda.cuda_on_host_reset()
    yield
    cuda.cuda_on_host_reset()


def program(text: str, **variables: str) -> list[str]:
    """The lines that a program prints; fail() is called before its first use of the device."""
    start = f"""
import ctypes
import numpy as np
import tessera as ts
from tessera import _ops
cuda = ctypes.CDLL({str(RUNTIME)!r})
def fail(name, error, calls=0):
    cuda.cuda_on_host_fail(name.encode(), error, ctypes.c_int64(calls))
"""
    command = [sys.executable, "-c", start + text]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# ---- contexts ----


def test_a_process_that_uses_another_device_makes_no_context_on_the_first() -> None:
    contexts = """
def contexts():
    flags, active = ctypes.c_uint(), [ctypes.c_int() for _ in range(2)]
    for device in range(2):
        cuda.cuda_on_host_context_state(device, ctypes.byref(flags), ctypes.byref(active[device]))
    return [value.value for value in active]
"""
    found = program(contexts + """
print(contexts())
x = ts.ones((64, 64), device="cuda:1", requires_grad=True)
(x @ x).sum().backward()
ts.from_numpy(np.ones(3)).pin_memory("cuda:1")
print(x.grad.sum().item(), ts.memory.memory_allocated("cuda:1") > 0)
print(contexts())
y = ts.ones(3, device="cuda:0")
x.sum()
device = ctypes.c_int(-1)
cuda.cudaGetDevice(ctypes.byref(device))
print(contexts(), (y + 1).tolist(), device.value)
""")
    assert found == ["[0, 0]", f"{2.0 * 64**3} True", "[0, 1]", "[1, 1] [2.0, 2.0, 2.0] 1"]


# ---- order between devices and streams ----


def test_a_copy_to_another_device_comes_after_the_work_at_its_source() -> None:
    x = ts.arange(1000, dtype=ts.float32, device="cuda:0") * 2
    y = x.to("cuda:1")
    # Only the second device is waited for: its stream must have been told to wait for the first's.
    assert (y + 1).to("cpu").numpy().tolist() == (np.arange(1000) * 2 + 1).tolist()
    assert calls("cudaMemcpyPeerAsync") == 1
    x.to("cuda:1")
    assert calls("cudaDeviceEnablePeerAccess") <= 1


def test_a_copy_to_another_device_comes_after_the_work_at_its_place() -> None:
    x = ts.ones(1000, device="cuda:0")
    y = ts.zeros(1000, device="cuda:1")
    y.copy_(x)
    ts.synchronize("cuda:0")  # runs the copy, which must have waited for the zeros
    assert y.to("cpu").numpy().tolist() == [1] * 1000


def test_a_strided_copy_to_another_device_changes_dtype_and_layout() -> None:
    x = ts.arange(12, dtype=ts.int64, device="cuda:0").reshape(3, 4)
    y = ts.zeros((4, 3), dtype=ts.float32, device="cuda:1")
    y.T.copy_(x)
    assert y.to("cpu").numpy().tolist() == np.arange(12).reshape(3, 4).T.tolist()


def test_the_device_is_waited_for_with_the_streams_of_others() -> None:
    native = ctypes.c_void_p()
    assert cuda.cudaStreamCreateWithFlags(ctypes.byref(native), 1) == 0
    stream, before = ffi.new("tsr_stream*"), ffi.new("tsr_stream*")
    check(lib.tsr_stream_wrap(2, 0, ffi.cast("void*", native.value), stream))
    check(lib.tsr_stream_set_current(stream[0], before))
    try:
        x = ts.ones(8, device="cuda") * 3
    finally:
        check(lib.tsr_stream_set_current(before[0], stream))
    launched = calls("kernel")
    ts.synchronize("cuda")
    assert calls("kernel") > launched == 0
    assert x.to("cpu").numpy().tolist() == [3] * 8


# ---- unwanted waits ----


def test_indexing_losses_and_division_wait_for_nothing() -> None:
    table, index = ts.ones((50, 8), device="cuda"), ts.arange(20, device="cuda")
    scores = ts.ones((20, 5), device="cuda").requires_grad_()
    ts.synchronize("cuda")
    cuda.cuda_on_host_reset()
    rows = table[index]
    table[index] = rows
    table = ts.index_put(table, [index], rows, True)
    loss = _ops.cross_entropy(scores, index % 5)
    loss.backward()
    quotient = (index + 7) // (index + 1)
    assert calls("wait") == calls("cudaStreamSynchronize") == calls("cudaDeviceSynchronize") == 0
    assert calls("launch") > 10
    assert quotient.to("cpu").numpy().tolist() == ((np.arange(20) + 7) // (np.arange(20) + 1)).tolist()


def test_clipping_waits_for_nothing_on_one_device() -> None:
    grads = [ts.ones(3, device="cuda"), ts.ones(4, dtype=ts.float64, device="cuda") * 2, ts.ones(5, device="cuda")]
    ts.synchronize("cuda")
    cuda.cuda_on_host_reset()
    norm = _ops.clip_norm(grads, 1.0)
    assert calls("wait") == calls("cudaStreamSynchronize") == 0
    np.testing.assert_allclose(norm.item(), np.sqrt(3 + 16 + 5), 1e-12)
    np.testing.assert_allclose(grads[1].to("cpu").numpy(), 2 / (np.sqrt(24) + 1e-6))


@pytest.mark.parametrize("norm_type", [0.0, 1.0, 2.0, 3.5, float("inf"), float("-inf")])
def test_clipping_joins_the_norms_of_several_devices_and_dtypes(norm_type: float) -> None:
    values = [np.arange(1.0, 6.0), np.array([0.0, 0.5, 7.0]), np.arange(2.0, 9.0), np.array([3.0])]
    places = [("cuda:0", ts.float32), ("cuda:0", ts.float64), ("cuda:1", ts.float64), ("cpu", ts.float64)]
    grads = [ts.asarray(v).astype(kind).to(device) for v, (device, kind) in zip(values, places)]
    norm = _ops.clip_norm(grads, 1.0, norm_type)
    wanted = np.linalg.norm(np.concatenate(values), norm_type)
    np.testing.assert_allclose(norm.item(), wanted, 1e-12)
    for grad, value in zip(grads, values):
        np.testing.assert_allclose(grad.to("cpu").numpy(), value * min(1, 1 / (wanted + 1e-6)), 1e-6)


def test_a_copy_to_the_device_does_not_wait_for_the_work_before() -> None:
    x = ts.ones(1000, device="cuda") * 2
    values = np.arange(1000.0)
    copies = []
    for n in range(30):
        copies.append(ts.asarray(values + n).to("cuda"))
    values[:] = -1
    assert calls("wait") == 0
    for n, copy in enumerate(copies):
        assert copy.to("cpu").numpy().tolist() == list(range(n, n + 1000))
    assert x.sum().item() == 2000


def test_a_copy_to_the_host_waits_once() -> None:
    x = ts.ones(1000, device="cuda") * 2
    assert x.to("cpu").sum().item() == 2000
    assert calls("wait") == 1 and calls("cudaStreamSynchronize") == 0


def test_copies_work_without_pinned_memory() -> None:
    assert program(
        """
fail("cudaHostAlloc", 2, -1)
x = ts.asarray(np.arange(1000.0)).to("cuda")
print((x + 1).sum().item())
"""
    ) == ["500500.0"]


# ---- pinned memory ----


def test_a_copy_from_pinned_memory_is_queued_and_keeps_its_block() -> None:
    blocks = [ts.asarray(np.arange(1000.0) + n).pin_memory() for n in range(4)]
    assert all(block.is_pinned() for block in blocks)
    copies = [block.to("cuda", non_blocking=True) for block in blocks]
    del blocks
    others = [ts.full((1000,), -1.0, dtype=ts.float64).pin_memory() for _ in range(4)]
    assert calls("wait") == 0
    for n, copy in enumerate(copies):
        assert copy.to("cpu").numpy().tolist() == list(range(n, n + 1000))
    assert all(other.is_pinned() and other.sum().item() == -1000 for other in others)


def test_a_copy_to_pinned_memory_comes_when_the_device_is_there() -> None:
    x = ts.ones(1000, device="cuda") * 2
    back = x.to("cpu", non_blocking=True)
    target = ts.zeros(1000).pin_memory()
    target.copy_(x, non_blocking=True)
    assert back.is_pinned() and calls("wait") == 0 and target[0].item() == 0
    ts.synchronize("cuda")
    assert back.sum().item() == 2000 and target.sum().item() == 2000


def test_what_cannot_run_on_its_own_is_waited_for() -> None:
    x = ts.arange(1000.0, device="cuda")
    target = ts.zeros(1000)
    target.copy_(x, non_blocking=True)
    assert target[999].item() == 999
    strided = ts.zeros(2000).pin_memory()[::2]
    strided.copy_(x, non_blocking=True)
    assert strided[999].item() == 999
    wide = ts.zeros(1000, dtype=ts.float64).pin_memory()
    wide.copy_(x, non_blocking=True)
    ts.synchronize("cuda")
    assert wide[999].item() == 999


class Pair(NamedTuple):
    x: ts.Tensor
    name: str


def as_pair(samples: list[Any]) -> dict[str, Any]:
    return {"pair": Pair(ts.stack([s[0] for s in samples]), "batch"), "rest": [ts.stack([s[1] for s in samples]), 3]}


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_pins_the_tensors_of_a_batch(workers: int) -> None:
    data = TensorDataset(ts.arange(6.0), ts.arange(6))
    plain = DataLoader(data, 2, collate_fn=as_pair, num_workers=workers)
    assert not next(iter(plain))["pair"].x.is_pinned()
    batches = list(DataLoader(data, 2, collate_fn=as_pair, num_workers=workers, pin_memory=True))
    for n, batch in enumerate(batches):
        assert isinstance(batch["pair"], Pair) and batch["pair"].name == "batch" and batch["rest"][1] == 3
        assert batch["pair"].x.is_pinned() and batch["rest"][0].is_pinned()
        assert batch["pair"].x.to("cuda", non_blocking=True).tolist() == [2 * n, 2 * n + 1]


def test_no_more_pages_to_pin_is_out_of_memory() -> None:
    ts.memory.empty_cache("cuda")
    fail("cudaHostAlloc", 2, -1)
    with pytest.raises(ts.OutOfMemoryError, match="no more pages to pin for cuda:0"):
        ts.zeros(1000).pin_memory()


# ---- precision ----


@pytest.mark.parametrize("dtype", [ts.float32, ts.complex64])
def test_products_round_their_factors_only_when_they_may(dtype: ts.DType) -> None:
    x = ts.full((4, 4), 1 + 2**-12, dtype=dtype, device="cuda")
    exact = (x @ x).to("cpu")
    try:
        for word in ("high", "medium"):
            ts.set_float32_matmul_precision(word)
            assert ts.get_float32_matmul_precision() == word
            assert ((x @ x).to("cpu") == 4).all()
            wide = x.to(ts.complex128)
            assert ((wide @ wide).to("cpu")[0, 0].item() - 4 * (1 + 2**-12) ** 2) == 0
    finally:
        ts.set_float32_matmul_precision("highest")
    assert ((x @ x).to("cpu") == exact).all() and not (exact == 4).any()


def test_convolutions_follow_the_same_setting() -> None:
    x, w = ts.rand((1, 2, 6, 6)) + 1, ts.rand((2, 2, 3, 3)) + 1
    there = [t.to("cuda") for t in (x, w)]
    exact = F.conv2d(*there).to("cpu")
    np.testing.assert_allclose(exact.numpy(), F.conv2d(x, w).numpy(), 1e-6)
    try:
        ts.set_float32_matmul_precision("high")
        rounded = F.conv2d(*there).to("cpu")
    finally:
        ts.set_float32_matmul_precision("highest")
    np.testing.assert_allclose(rounded.numpy(), 1.5 * exact.numpy(), 1e-6)  # the stand-in's engine for tensor cores
    assert (F.conv2d(*there).to("cpu") == exact).all()


# ---- errors ----


def test_a_driver_that_is_too_old_is_named() -> None:
    (line,) = program(
        """
fail("cudaGetDeviceCount", 35, -1)
try:
    ts.zeros(1, device="cuda")
except ts.TesseraError as error:
    print(error)
"""
    )
    assert "expected an NVIDIA driver for CUDA 13.0 or later, got one for CUDA 12.4: CUDA driver version" in line


def test_a_machine_without_devices_is_told_with_the_versions() -> None:
    (line,) = program(
        """
fail("cudaGetDeviceCount", 100, -1)
try:
    ts.zeros(1, device="cuda")
except ts.TesseraError as error:
    print(error)
"""
    )
    assert "expected a CUDA device, got none: no CUDA-capable device is detected (CUDA 13.0, its driver" in line


def test_devices_are_counted_once() -> None:
    (ts.ones(3, device="cuda") + 1).sum().item()
    assert calls("cudaGetDeviceCount") == 0


def test_a_launch_that_fails_is_the_ops_own_error() -> None:
    x = ts.ones(3, device="cuda")
    fail("launch", 1)
    with pytest.raises(ts.BackendError, match="stand-in"):
        x + 1
    assert (x + 1).sum().item() == 6


def test_a_device_that_cannot_be_made_current_is_not_taken_for_another() -> None:
    x = ts.ones(3, device="cuda:1")
    fail("cudaSetDevice", 101, -1)
    with pytest.raises(ts.BackendError):
        x + 1


def test_work_that_fails_later_is_told_with_its_text() -> None:
    x = ts.ones(3, device="cuda")
    fail("kernel", ILLEGAL_ADDRESS, 1)
    y = ts.exp(x)
    text = "illegal memory access was encountered; the process has lost its context"
    with pytest.raises(ts.AsyncError, match=f"earlier work on cuda:0 failed: an {text}"):
        ts.synchronize("cuda")
    with pytest.raises(ts.AsyncError, match=f"earlier work on cuda:0 failed: an {text}"):
        y.to("cpu")
    with pytest.raises(ts.AsyncError, match=text):
        ts.exp(x)


def test_in_debug_mode_the_op_that_failed_says_so() -> None:
    lines = program(
        """
x = ts.ones(3, device="cuda")
ts.exp(x)
fail("kernel", 700, 0)
try:
    ts.exp(x)
except ts.AsyncError as error:
    print(error.op, error)
""",
        TSR_DEBUG="handles,sync",
    )
    assert len(lines) == 1 and lines[0].startswith("exp") and "illegal memory access" in lines[0]


def test_a_copy_that_finds_no_memory_is_out_of_memory() -> None:
    x = ts.ones(3, device="cuda")
    ts.synchronize("cuda")
    fail("cudaMemcpyAsync", 2, -1)
    with pytest.raises(MemoryError, match="out of memory"):
        x.to("cpu")


# ---- the libraries ----


@pytest.mark.parametrize("name, status", [("cublasCreate", 3), ("cublasCreate", 1), ("cudnnCreate", 1001), ("cudnnCreate", 4004),
                                          ("cusolverDnCreate", 2)])  # fmt: skip
def test_a_library_without_memory_gets_what_is_cached(name: str, status: int) -> None:
    assert program(
        f"""
big = ts.ones(1 << 24, device="cuda")
del big
held = ts.memory.memory_reserved("cuda")
fail({name!r}, {status})
x = ts.ones((1, 1, 3, 3), device="cuda")
print((x @ x).sum().item(), _ops.conv2d(x, x).item(), ts.linalg.inv(x[0] + ts.eye(3, device="cuda")).sum().item())
print(ts.memory.memory_reserved("cuda") < held + (32 << 20) or held)
"""
    )[0] == "27.0 9.0 0.75"


def test_a_library_that_cannot_be_made_is_an_error() -> None:
    (line,) = program(
        """
fail("cublasCreate", 3, -1)
x = ts.ones((3, 3), device="cuda")
try:
    x @ x
except MemoryError as error:
    print(error)
"""
    )
    assert "stand-in for cuBLAS" in line


@pytest.mark.parametrize("name, total, where", [
    ("inv", 1.5, [("inverse", "cuda")]), ("eigvals", 6, [("eig", "cuda"), ("eig", "cpu")]),
])  # fmt: skip
def test_what_the_device_cannot_factor_is_factored_on_the_cpu(name: str, total: float, where: list[Any]) -> None:
    x = 2 * ts.eye(3, device="cuda")
    with tracing.record(kinds=["launch"]) as records:
        y = getattr(ts.linalg, name)(x)
    assert str(y.device) == "cuda:0" and ts.real(y).sum().item() == total
    assert [(r.name, r.device and r.device.type) for r in records if r.family == "factor"] == where


def test_a_convolution_takes_a_smaller_workspace_only_while_there_is_no_room() -> None:
    assert program(
        """
x = ts.ones((1, 1, 3, 3), device="cuda")
choices = set()
for limit in (64, 64, 1024, 64):
    ts.memory.set_memory_limit(limit << 20, "cuda")
    print(_ops.conv2d(x, x).item(), ts.memory.memory_reserved("cuda") > 64 << 20)
    choices.add(cuda.cuda_on_host_calls(b"cudnnHeuristics"))
    ts.memory.empty_cache("cuda")
print(len(choices))
"""
    ) == ["9.0 False", "9.0 False", "9.0 True", "9.0 False", "1"]


def test_a_version_of_cudnn_that_is_too_old_is_refused() -> None:
    (line,) = program(
        """
fail("cudnnGetVersion", 8907, -1)
x = ts.ones((1, 1, 3, 3), device="cuda")
try:
    _ops.conv2d(x, x)
except ts.TesseraError as error:
    print(error)
"""
    )
    assert "expected cuDNN of version 9000000 or later for a convolution, got 8907" in line


# ---- plans of convolutions on disk ----

CONVOLVE = """
from tessera.nn import functional as F
x, w = ts.ones((1, 2, 5, 5), dtype=ts.bfloat16, device="cuda"), ts.ones((4, 2, 3, 3), dtype=ts.bfloat16, device="cuda")
print(F.conv2d(x, w).sum().item())
cuda.cuda_on_host_calls.restype = ctypes.c_int64
print(cuda.cuda_on_host_calls(b"cudnnHeuristics"))
"""


def test_the_plan_of_a_convolution_lives_across_processes(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    kept = {"TESSERA_CACHE": str(folder)}
    first = program(CONVOLVE, **kept)
    assert first[0] == "648.0" and int(first[1]) > 0
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert program(CONVOLVE, **kept) == ["648.0", "0"]
    # Another version of cuDNN makes its own.
    other = program('fail("cudnnGetVersion", 9000200, -1)\n' + CONVOLVE, **kept)
    assert other == first and len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "longer", "folder"])
def test_a_damaged_plan_is_ignored_and_replaced(tmp_path: Path, damage: str) -> None:
    kept = {"TESSERA_CACHE": str(tmp_path)}
    first = program(CONVOLVE, **kept)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    middle = len(whole) - 20
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes({"cut": whole[:middle], "changed": whole[:middle] + b"\0" + whole[middle + 1 :], "empty": b"",
                          "longer": whole + b"1"}[damage])  # fmt: skip
    assert program(CONVOLVE, **kept) == first
    if damage != "folder":
        assert file.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [file]


def test_no_plan_is_kept_where_the_user_wants_none_or_cannot_write(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    first = program(CONVOLVE, TESSERA_CACHE="off", **home)
    assert program(CONVOLVE, TESSERA_CACHE="", **home) == first and list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.touch()
    assert program(CONVOLVE, TESSERA_CACHE=str(file / "below"), **home) == first
    del home["XDG_CACHE_HOME"]
    command = "import os; os.environ.pop('TESSERA_CACHE', None); os.environ.pop('XDG_CACHE_HOME', None)\n"
    assert program(command + CONVOLVE, **home) == first
    assert len(list((tmp_path / ".cache" / "tessera").iterdir())) == 1


# ---- events ----


def test_events_are_used_again_once_their_work_is_done() -> None:
    block = ts.ones(1000).pin_memory()
    for _ in range(20):
        block.to("cuda", non_blocking=True)
        ts.synchronize("cuda")
    cuda.cuda_on_host_reset()
    for _ in range(20):
        event = Event("cuda:0")
        assert event.query()
        event.record()
        event.synchronize()
    assert calls("cudaEventCreateWithFlags") <= 2


# ---- graphs ----


def test_a_graph_makes_one_launch_and_no_waits() -> None:
    w = ts.ones((8, 8), device="cuda")
    recorded = recording.record(lambda x: (x @ w).sum(0) * 2, ts.ones((8, 8), device="cuda"))
    x = ts.ones((8, 8), device="cuda")
    for _ in range(3):
        recorded(x)
    ts.synchronize("cuda")
    assert recorded.describe()["plan"]["graph"]
    cuda.cuda_on_host_reset()
    y = recorded(x)
    assert calls("cudaGraphLaunch") == 1 and calls("wait") == calls("cudaMalloc") == calls("cublasCreate") == 0
    assert y.tolist() == [128] * 8


@pytest.mark.parametrize("name", ["cudaStreamBeginCapture", "cudaGraphInstantiate", "cudaStreamEndCapture", "cudaMalloc"])
def test_a_graph_that_cannot_be_made_is_no_error(name: str) -> None:
    recorded = recording.record(lambda x: (x @ x).sum(0), ts.ones((300, 300), device="cuda"))
    x = ts.ones((300, 300), device="cuda")
    recorded(x)
    fail(name, 2, -1)
    found = [recorded(x) for _ in range(2)]
    cuda.cuda_on_host_reset()
    found.append(recorded(x))
    assert all(y[0].item() == 90000 for y in found)
    recorded.describe()


# ---- dense layers ----


def layer(dtype: ts.DType, step: int = 0) -> tuple[ts.Tensor, ...]:
    """Input, weight and bias; the bias begins `step` elements after an aligned address."""
    generator = np.random.default_rng(5)
    parts = [generator.normal(size=shape) for shape in ((4, 6, 8), (16, 8), (16 + step,))]
    x, w, b = (ts.asarray(part).to(dtype).to("cuda") for part in parts)
    return x, w, b[step:]


def gradients(x: ts.Tensor, w: ts.Tensor, b: ts.Tensor) -> list[Any]:
    leaves = [t.detach().requires_grad_() for t in (x, w, b)]
    y = F.linear(*leaves)
    (y * y).sum().backward()
    return [t.to("cpu").to(ts.float64).numpy() for t in (y.detach(), *(leaf.grad for leaf in leaves))]


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64])
def test_a_layer_is_one_product_that_adds_the_bias_and_one_that_sums_its_gradient(dtype: ts.DType) -> None:
    tolerance = {ts.float16: 2e-2, ts.bfloat16: 1e-1, ts.float32: 1e-5, ts.float64: 1e-12}[dtype]
    found = gradients(*layer(dtype))
    assert calls("cublasLtMatmul") == 2
    for mine, wanted in zip(found, gradients(*(t.to("cpu").to(ts.float64) for t in layer(dtype)))):
        np.testing.assert_allclose(mine, wanted, tolerance, tolerance * np.abs(wanted).max())


def test_the_algorithm_of_a_layer_is_chosen_once_for_each_shape() -> None:
    x, w, b = layer(ts.float32)
    for _ in range(3):
        F.linear(x, w, b)
        F.linear(x[:2], w, b)
    assert calls("cublasLtMatmul") == 6 and calls("cublasLtMatmulAlgoGetHeuristic") <= 2


@pytest.mark.parametrize("how", ["unaligned", "no algorithm", "an algorithm that refuses"])
def test_a_layer_without_an_algorithm_adds_the_bias_by_itself(how: str) -> None:
    step = 1 if how == "unaligned" else 0
    x, w, b = layer(ts.float32, step)
    x, w = x[:, : 3 + len(how) % 5], w  # shapes that no other test has
    if how == "no algorithm":
        fail("cublasLtMatmulAlgoGetHeuristic", 15, -1)
    if how == "an algorithm that refuses":
        fail("cublasLtMatmul", 15, -1)
    found = gradients(x, w, b)
    cuda.cuda_on_host_reset()
    for mine, wanted in zip(found, gradients(*(t.to("cpu") for t in (x, w, b)))):
        np.testing.assert_allclose(mine, wanted, 1e-4, 1e-5)


@pytest.mark.parametrize("name", ["cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"])
def test_a_failure_that_passes_is_an_error_and_no_choice(name: str) -> None:
    x, w, b = layer(ts.float32)
    x = x[:, : 1 if name == "cublasLtMatmul" else 4]  # shapes that no other test has
    fail(name, 3)
    with pytest.raises(MemoryError, match="cuBLAS"):
        F.linear(x, w, b)
    cuda.cuda_on_host_reset()
    F.linear(x, w, b)
    assert calls("cublasLtMatmul") == 1


def test_a_layer_rounds_its_factors_only_when_it_may() -> None:
    x, w, b = (ts.full(shape, 1 + 2**-12, device="cuda") for shape in ((4, 8), (8, 8), (8,)))
    exact = F.linear(x, w, b).to("cpu")
    try:
        ts.set_float32_matmul_precision("high")
        rounded = F.linear(x, w, b).to("cpu")
    finally:
        ts.set_float32_matmul_precision("highest")
    assert not (exact == rounded).any() and (F.linear(x, w, b).to("cpu") == exact).all()


def test_the_gradient_of_a_gradient_of_a_layer_is_recorded() -> None:
    x, w, b = (t.requires_grad_() for t in layer(ts.float64))
    y = F.linear(x, w, b)
    (first,) = ts.autograd.grad((y * y).sum(), [w], create_graph=True)
    first.sum().backward()
    here = [t.detach().to("cpu").requires_grad_() for t in (x, w, b)]
    z = F.linear(*here)
    (other,) = ts.autograd.grad((z * z).sum(), [here[1]], create_graph=True)
    other.sum().backward()
    assert x.grad is not None and here[0].grad is not None
    np.testing.assert_allclose(x.grad.to("cpu").numpy(), here[0].grad.numpy(), 1e-10)
