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

    def run(self) -> None:
        self.in_tree = bool(self.inplace) or getattr(self, "editable_mode", False)  # setuptools clears it meanwhile
        super().run()

    def build_extension(self, ext: Extension) -> None:
        bundled = build_native.is_bundled() and not self.in_tree
        scratch = Path(self.build_temp).resolve()
        library = build_native.find_library(scratch / "prefix" if bundled else None)
        if not self.in_tree:
            build_native.fill(Path(self.build_lib).resolve() / "tessera" / "lib", library if bundled else None)
        ext.include_dirs = [str(build_native.HERE / "native"), library.include]
        ext.library_dirs = [library.folder]
        ext.runtime_library_dirs = ["$ORIGIN/lib"] if bundled else [library.folder]
        source = scratch / "_native.c"
        source.parent.mkdir(parents=True, exist_ok=True)
        build_native.make_builder(library.include).emit_c_code(str(source))
        ext.sources = [str(source), *build_native.sources()]
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
