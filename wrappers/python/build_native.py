# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The two extension modules, tessera._core (the C files of native/) and tessera._native (cffi's API mode over
tessera_ffi.h), and the library that they need, which a wheel contains."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import cffi

HERE = Path(__file__).resolve().parent
CORE = "tessera._core"
NATIVE = "tessera._native"
SONAME = "libtessera.so.0"
# -fexceptions: Python ends threads by unwinding their stacks, which passes the frames of native/callbacks.c.
FLAGS = ["-O2", "-g0", "-fvisibility=hidden", "-fexceptions", "-Wno-missing-field-initializers"]


@dataclass(frozen=True)
class Library:
    """libtessera: where the compiler and the linker find it."""

    include: str  # folder with tessera/tessera_ffi.h
    folder: str  # of libtessera.so

    @property
    def file(self) -> Path:
        return (Path(self.folder) / "libtessera.so").resolve()

    @property
    def plugins(self) -> list[Path]:
        """Backends that were installed with it."""
        return sorted(self.file.parent.glob("tessera/libtessera_*.so"))


def is_bundled() -> bool:
    """Whether the wheel contains libtessera; with TESSERA_BUNDLE=0 the package loads the library from where it was
    found."""
    return os.environ.get("TESSERA_BUNDLE", "1") != "0"


def find_library(install_to: Path | None = None) -> Library:
    """TESSERA_BUILD_DIR names a CMake build folder, TESSERA_PREFIX an installation; else pkg-config is asked.

    The library of a build tree contains paths of its machine, so it is installed first before it goes into a wheel.
    """
    if build := os.environ.get("TESSERA_BUILD_DIR"):
        if install_to is not None:
            return from_prefix(installed(Path(build), install_to), f"TESSERA_BUILD_DIR={build}")
        folder = folder_in(Path(build), f"TESSERA_BUILD_DIR={build}", "; build the target `tessera` first")
        return Library(str(HERE.parent.parent / "include"), folder)
    if prefix := os.environ.get("TESSERA_PREFIX"):
        return from_prefix(Path(prefix), f"TESSERA_PREFIX={prefix}")
    return from_pkg_config()


def from_prefix(prefix: Path, source: str) -> Library:
    return Library(str(prefix.resolve() / "include"), folder_in(prefix, source))


def folder_in(place: Path, source: str, advice: str = "") -> str:
    found = sorted(place.resolve().rglob("libtessera.so"))
    if not found:
        raise SystemExit(f"{source} holds no libtessera.so{advice}")
    return str(found[0].parent)


def installed(build: Path, prefix: Path) -> Path:
    command = ["cmake", "--install", str(build), "--prefix", str(prefix)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", "") or str(error)
        raise SystemExit(
            f"libtessera of TESSERA_BUILD_DIR={build} cannot be packed: `{' '.join(command)}` failed: {reason}"
        ) from None
    return prefix


def from_pkg_config() -> Library:
    def ask(variable: str) -> str:
        command = ["pkg-config", f"--variable={variable}", "tessera"]
        return os.path.realpath(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())

    try:
        return Library(ask("includedir"), ask("libdir"))
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            "libtessera was not found: set TESSERA_BUILD_DIR to a build folder, TESSERA_PREFIX to an "
            f"installation, or let pkg-config find tessera.pc ({error})"
        ) from None


def fill(folder: Path, library: Library | None) -> None:
    """Copies the library, under its soname, and its plugins into the folder, and removes the files of an earlier
    build."""
    shutil.rmtree(folder, ignore_errors=True)
    if library is None:
        return
    (folder / "tessera").mkdir(parents=True)
    shutil.copy2(library.file, folder / SONAME)
    for plugin in library.plugins:
        shutil.copy2(plugin, folder / "tessera" / plugin.name)


def sources() -> list[str]:
    """The C files of tessera._core."""
    return [str(path) for path in sorted((HERE / "native").glob("*.c"))]


def make_builder(include: str) -> cffi.FFI:
    header = Path(include) / "tessera" / "tessera_ffi.h"
    builder = cffi.FFI()
    builder.cdef(header.read_text("utf-8"))
    builder.set_source(NATIVE, "#include <tessera/tessera.h>\n")
    return builder
