# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds tessera._core and tessera._native and packs the package; see build_native.py for how libtessera is found."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build_native  # noqa: E402


class BuildNative(build_ext):
    """Finds the library first, and writes the C source of tessera._native."""

    def run(self) -> None:
        self.in_tree = bool(self.inplace) or getattr(self, "editable_mode", False)  # setuptools clears it later
        super().run()

    def build_extensions(self) -> None:
        bundled = build_native.is_bundled() and not self.in_tree
        scratch = Path(self.build_temp).resolve()
        library = build_native.find_library(scratch / "prefix" if bundled else None)
        if not self.in_tree:
            build_native.fill(Path(self.build_lib).resolve() / "tessera" / "lib", library if bundled else None)
        for ext in self.extensions:
            ext.include_dirs = [str(build_native.HERE / "native"), library.include]
            ext.library_dirs = [library.folder]
            ext.runtime_library_dirs = ["$ORIGIN/lib"] if bundled else [library.folder]
            if ext.name == build_native.NATIVE:
                source = scratch / "_native.c"
                source.parent.mkdir(parents=True, exist_ok=True)
                build_native.make_builder(library.include).emit_c_code(str(source))
                ext.sources = [str(source)]
        self.force = True
        super().build_extensions()


setup(
    ext_modules=[
        Extension(
            name,
            sources=[str(Path(path).relative_to(build_native.HERE)) for path in sources],
            libraries=["tessera"],
            define_macros=[("_CFFI_NO_LIMITED_API", None)],
            extra_compile_args=build_native.FLAGS,
        )
        for name, sources in ((build_native.CORE, build_native.sources()), (build_native.NATIVE, []))
    ],
    cmdclass={"build_ext": BuildNative},
)
