# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the device, and prints what it is and which libraries are loaded for it."""

from __future__ import annotations

import ctypes
import importlib.util

import numpy as np

import tessera as ts

import machine
from figures import DEVICE, check_equal, check_that, cuda_runtime, figure, loaded


def told_by_runtime(runtime: object) -> None:
    for name in ("cudaDriverGetVersion", "cudaRuntimeGetVersion"):
        number = ctypes.c_int()
        check_equal(name, getattr(runtime, name)(ctypes.byref(number)), 0)
        print(f"  {number.value // 1000}.{number.value % 1000 // 10}")
    for name, library in (("cublas", "libcublas.so"), ("cudnn", "libcudnn.so")):
        print(f"{name}: {loaded(library) or 'not loaded'}")


def a_convolution_with_channels_last_agrees_in_16_bits() -> None:
    """Forward and both gradients against float32 on the host; the second call takes the engine from the cache."""
    random = np.random.default_rng(0)
    image = random.uniform(-1, 1, (2, 8, 9, 9)).astype(np.float32)
    kernel = random.uniform(-1, 1, (16, 8, 3, 3)).astype(np.float32)

    def all_of(kind: object, device: str, last: bool) -> list[np.ndarray]:
        x, w = (ts.from_numpy(a).to(device).astype(kind) for a in (image, kernel))
        if last:
            x = ts.permute_dims(ts.permute_dims(x, (0, 2, 3, 1)).contiguous(), (0, 3, 1, 2))
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = ts.nn.functional.conv2d(x, w, padding=1)
        found = [y.detach(), *ts.autograd.grad([y], [x, w], [ts.ones_like(y)])]
        return [t.to("cpu").astype(ts.float32).numpy() for t in found]

    wanted = all_of(ts.float32, "cpu", False)
    for kind, tolerance in ((ts.float16, 0.02), (ts.bfloat16, 0.15)):
        for last in (True, False, True):
            for got, right in zip(all_of(kind, DEVICE, last), wanted):
                np.testing.assert_allclose(got, right, rtol=tolerance, atol=tolerance * np.abs(right).max())


def main() -> None:
    for key, value in machine.facts().items():
        print(f"{key}: {value}")
    count = ts.device_count(DEVICE)
    if count == 0:
        # Making a tensor raises an error that says why there is no device.
        ts.zeros(1, device=DEVICE)
    print(f"devices that the library can use: {count}")
    x = ts.arange(1000, dtype=ts.float32, device=DEVICE)
    check_equal("a kernel computes", float((x * 2).sum().item()), 999000.0)
    check_equal("a matrix product computes", float((x.reshape(10, 100) @ x.reshape(100, 10)).shape[0]), 10.0)
    image = ts.ones((1, 1, 5, 5), device=DEVICE)
    check_equal("a convolution computes", float(ts.nn.functional.conv2d(image, image).item()), 25.0)
    a_convolution_with_channels_last_agrees_in_16_bits()
    free = ts.memory.memory_stats(DEVICE)
    check_that("the allocator has taken memory", free["reserved_bytes.all.current"] > 0)
    runtime = cuda_runtime()
    if runtime is not None:
        told_by_runtime(runtime)
    if importlib.util.find_spec("torch"):
        import torch

        print(
            f"PyTorch {torch.__version__}, sees a device: {torch.cuda.is_available()}, cuDNN {torch.backends.cudnn.version()}"
        )
    figure("device.count", count, "", machine.facts().get("name", "stand-ins on the host"))
    print(f"{count} device(s): {machine.facts().get('name', 'stand-ins on the host')}")


if __name__ == "__main__":
    main()
