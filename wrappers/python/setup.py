# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds tessera._native and packs the package; see build_native.py for how libtessera is found."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build_native  # noqa: E402


class BuildNative(build_ext):
    """Writes the C source first; the whole C API of Python is wanted, not the limited one."""

    def build_extension(self, ext: Extension) -> None:
        include, folders, rpaths = build_native.find_library()
        ext.include_dirs = [str(build_native.HERE / "native"), *include]
        ext.library_dirs, ext.runtime_library_dirs = folders, rpaths
        source = Path(self.build_temp).resolve() / "_native.c"
        source.parent.mkdir(parents=True, exist_ok=True)
        build_native.make_builder(include).emit_c_code(str(source))
        ext.sources = [str(source)]
        self.force = True
        super().build_extension(ext)


setup(
    ext_modules=[
        Extension(
            build_native.MODULE,
            sources=[],
            libraries=["tessera"],
            define_macros=[("_CFFI_NO_LIMITED_API", None)],
            extra_compile_args=build_native.FLAGS,
        )
    ],
    cmdclass={"build_ext": BuildNative},
)
