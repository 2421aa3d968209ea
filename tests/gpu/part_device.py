# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the device, and prints what it is and which libraries are loaded for it."""

from __future__ import annotations

import ctypes
import importlib.util

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
