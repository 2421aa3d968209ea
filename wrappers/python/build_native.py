# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The extension module tessera._native: cffi's API mode over tessera_ffi.h, with our C parts in it."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import cffi

HERE = Path(__file__).resolve().parent
EXTRA = "int32_t tpy_install(uintptr_t table_address);\n"
MODULE = "tessera._native"
# -fexceptions: callbacks.h meets the unwinding by which Python ends threads.
FLAGS = ["-O2", "-fvisibility=hidden", "-fexceptions", "-Wno-missing-field-initializers"]


def find_library() -> tuple[list[str], list[str], list[str]]:
    """(include folders, library folders, rpaths) of libtessera.

    TESSERA_BUILD_DIR names a CMake build folder, TESSERA_PREFIX an installation; else pkg-config is asked.
    """
    build = os.environ.get("TESSERA_BUILD_DIR")
    if build:
        found = sorted(Path(build).resolve().rglob("libtessera.so"))
        if not found:
            raise SystemExit(f"TESSERA_BUILD_DIR={build} holds no libtessera.so; build the target `tessera` first")
        folder = str(found[0].parent)
        return [str(HERE.parent.parent / "include")], [folder], [folder]
    prefix = os.environ.get("TESSERA_PREFIX")
    if prefix:
        folder = str(next(Path(prefix).resolve().rglob("libtessera.so")).parent)
        return [str(Path(prefix) / "include")], [folder], [folder]
    return from_pkg_config()


def from_pkg_config() -> tuple[list[str], list[str], list[str]]:
    try:
        text = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "--keep-system-cflags", "--keep-system-libs", "tessera"],
            check=True, capture_output=True, text=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            "libtessera was not found: set TESSERA_BUILD_DIR to a build folder, TESSERA_PREFIX to an "
            f"installation, or let pkg-config find tessera.pc ({error})"
        ) from None
    parts = shlex.split(text)
    folders = [os.path.realpath(p[2:]) for p in parts if p.startswith("-L")]
    return [os.path.realpath(p[2:]) for p in parts if p.startswith("-I")], folders, folders


def make_builder(include: list[str]) -> cffi.FFI:
    header = next(Path(folder) / "tessera" / "tessera_ffi.h" for folder in include)
    builder = cffi.FFI()
    builder.cdef(header.read_text("utf-8") + EXTRA)
    builder.set_source(MODULE, '#include "install.h"\n')
    return builder
