# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.__config__: what the library is, for programs that print it."""

import os

import tessera

from . import cuda


def show() -> str:
    """The library's version and its back ends."""
    devices = f"CUDA plugin: {cuda.device_count()} devices" if cuda.is_available() else "CUDA plugin: none, or no device"
    parts = [f"Tessera built with:\n  - version {tessera.__version__}", "C++ version: 202002", "OpenMP", devices]
    return "\n  - ".join(parts) + "\n"


def parallel_info() -> str:
    """The number of threads, and the variables of the environment that set it."""
    lines = [f"tessera.get_num_threads() : {tessera.get_num_threads()}", f"os.cpu_count() : {os.cpu_count()}", "Environment variables:"]
    lines += [f"\t{name} : {os.environ.get(name, '[not set]')}" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")]
    return "\n".join([*lines, "ATen parallel backend: OpenMP", ""])
