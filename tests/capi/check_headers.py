#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every public header compiles alone, as C99 and as C++, before and after dlpack.h and with an older
TSR_TARGET; that tessera_ffi.h has no preprocessor line, and that cffi reads it.

A C++ header is compiled behind a precompiled one that it includes itself, directly or not. This shows the same in a
third of the time: its own text sees what its includes declare in both cases, and each of these is checked by itself.

Usage: check_headers.py <repository root> <folder to work in>

The folder is inside the build, so that the compiler cache sees the same relative paths in every clone.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import cffi

INCLUDE = re.compile(r'^#include "(tessera/[^"]+)"', re.M)
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
STRICT = [*WARNINGS, "-Wshadow", "-Wconversion"]  # what strict projects turn on
C99 = ["-x", "c", "-std=c99", *WARNINGS]
CXX11 = ["-x", "c++", "-std=c++11", *WARNINGS]
CXX17 = ["-x", "c++", "-std=c++17", *STRICT]
CXX20 = ["-x", "c++", "-std=c++20", *STRICT]
# What many headers include; each of them includes those behind it.
BASES = ["tessera/cpp/nn/module.hpp", "tessera/cpp/autograd.hpp", "tessera/cpp/tensor.hpp"]


class Compiler:
    def __init__(self, root, folder):
        self.include, self.folder = root / "include", folder
        ccache = shutil.which("ccache")
        self.gcc = [ccache, "gcc"] if ccache else ["gcc"]
        self.environment = os.environ | {
            "CCACHE_BASEDIR": str(root),
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_DEPEND": "1",
            "CCACHE_SLOPPINESS": "pch_defines,time_macros",
        }

    def run(self, *options):
        command = [*self.gcc, f"-I{self.include}", *options]
        if subprocess.run(command, cwd=self.folder, env=self.environment, check=False).returncode != 0:
            sys.exit(f"check_headers: failed: {' '.join(command)}\n{(self.folder / 'unit').read_text()}")

    def compile(self, language, *lines, behind=None):
        (self.folder / "unit").write_text("\n".join([*lines, "int tessera_header_test;\n"]))
        precompiled = ["-include", self.name(behind), "-fpch-preprocess", "-Winvalid-pch"] if behind else []
        self.run(*language, *precompiled, "-MD", "-MF", "unit.d", "-c", "unit", "-o", "unit.o")

    def precompile(self, language, header):
        name = self.name(header)
        (self.folder / name).write_text(f'#include "{header}"\n')
        (self.folder / "unit").write_text((self.folder / name).read_text())
        self.run("-x", "c++-header", *language[2:], "-MD", "-MF", "unit.d", "-c", name, "-o", f"{name}.gch")

    @staticmethod
    def name(header):
        return pathlib.Path(header).name


def included(folder, header, known):
    """All headers of the project that a header includes, directly or not."""
    if header not in known:
        known[header] = set()
        for name in INCLUDE.findall((folder / header).read_text("utf-8")):
            known[header] |= {name} | included(folder, name, known)
    return known[header]


def check_c(compiler, folder):
    for header in sorted(folder.glob("tessera/*.h")):
        include = f'#include "{header.relative_to(folder)}"'
        if header.name == "tessera_ffi.h":  # leaves the integer types to whoever reads it
            compiler.compile(C99, "#include <stdint.h>", include)
        else:
            compiler.compile(C99, include)
            compiler.compile(CXX11, include, include)
    dlpack, everything = "#include <dlpack/dlpack.h>", '#include "tessera/tessera.h"'
    for language in (C99, CXX11):
        compiler.compile(language, dlpack, everything)
        compiler.compile(language, everything, dlpack)
        compiler.compile([*language, "-DTSR_TARGET=0x00000001"], everything)


def check_cpp(compiler, folder):
    for base in BASES:
        compiler.precompile(CXX17, base)
    known = {}
    for header in sorted(folder.glob("tessera/**/*.hpp")):
        name = str(header.relative_to(folder))
        behind = next((base for base in BASES if base in included(folder, name, known) - {name}), None)
        compiler.compile(CXX17, f'#include "{name}"', behind=behind)
    compiler.compile(CXX20, "#include <dlpack/dlpack.h>", '#include "tessera/tessera.hpp"')


def check_ffi(header):
    text = header.read_text("utf-8")
    found = re.search(r"^\s*#.*", text, re.M)
    if found:
        sys.exit(f"check_headers: tessera_ffi.h has a preprocessor line: {found[0]}")
    ffi = cffi.FFI()
    ffi.cdef(text)
    assert ffi.sizeof("tsr_info") == 72, ffi.sizeof("tsr_info")
    assert ffi.typeof("tsr_tensor").kind == "pointer"
    print("cffi", cffi.__version__, "reads tessera_ffi.h")


def main():
    root, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        compiler = Compiler(root, work)
        check_c(compiler, root / "include")
        check_cpp(compiler, root / "include")
    finally:
        shutil.rmtree(work)
    check_ffi(root / "include" / "tessera" / "tessera_ffi.h")


if __name__ == "__main__":
    main()
