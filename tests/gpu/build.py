# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The first part: unpacks the bundle, builds library, plugin and Python extension with the tools of this machine."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import machine
from machine import BUILD, BUNDLE, ROOT, SITE, TOOLKIT, UNPACKED


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    print("$", *command, flush=True)
    subprocess.run([str(c) for c in command], check=True, env=env or machine.environment(), cwd=ROOT)


def unpack() -> None:
    """Unpacks the archive, and installs those of its wheels that this interpreter lacks."""
    shutil.rmtree(UNPACKED, ignore_errors=True)
    with tarfile.open(BUNDLE / "bundle.tar.xz") as archive:
        archive.extractall(UNPACKED, filter="data")
    target = UNPACKED / "python"
    for wheel in sorted((UNPACKED / "wheels").glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            tops = {n.split("/")[0].split(".")[0] for n in archive.namelist() if ".dist-info/" not in n}
            if not all(importlib.util.find_spec(top) for top in tops):
                print(f"from the bundle: {wheel.name}")
                archive.extractall(target)
    importlib.invalidate_caches()  # the folder did not exist when the interpreter started


def link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        target.symlink_to(source)


def toolkit_from_packages(nvcc: Path) -> Path:
    """Makes the layout that nvcc and CMake expect, with links: the packages have no lib64 and only versioned names.

    nvcc itself is copied, because it looks for its parts in the folder of its own file.
    """
    shutil.rmtree(TOOLKIT, ignore_errors=True)
    for tool in nvcc.parent.iterdir():
        if tool.name in ("nvcc", "nvcc.profile"):
            (TOOLKIT / "bin").mkdir(parents=True, exist_ok=True)
            shutil.copy(tool, TOOLKIT / "bin")
        else:
            link(tool, TOOLKIT / "bin" / tool.name)
    for folder in machine.package_folders():
        for header in (folder / "include").glob("*"):
            link(header, TOOLKIT / "include" / header.name)
        for library in (folder / "lib").glob("lib*"):
            link(library, TOOLKIT / "lib64" / library.name)
            if ".so." in library.name:
                link(library, TOOLKIT / "lib64" / f"{library.name.split('.so.')[0]}.so")
        if (folder / "nvvm").is_dir():
            link(folder / "nvvm", TOOLKIT / "nvvm")
    return TOOLKIT / "bin" / "nvcc"


def compiler() -> Path:
    nvcc = machine.find_tool("nvcc")
    if nvcc is None:
        raise SystemExit("nvcc was not found under CUDA_HOME, on PATH, in /usr/local/cuda or in the packages nvidia-*")
    return toolkit_from_packages(nvcc) if nvcc.parent.parent in machine.package_folders() else nvcc


def build_library() -> None:
    prefixes = [UNPACKED, *machine.package_folders()]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else ["-G", "Unix Makefiles"]
    run(
        "cmake", "-S", ROOT, "--preset", "gpu", *generator, f"-DCMAKE_CUDA_COMPILER={compiler()}",
        f"-DCMAKE_CUDA_ARCHITECTURES={machine.architecture(machine.facts())}",
        f"-DCMAKE_PREFIX_PATH={';'.join(map(str, prefixes))}",
    )  # fmt: skip
    run("cmake", "--build", BUILD, "--parallel", os.environ.get("TSR_JOBS", str(os.cpu_count())),
        "--target", "tessera", "tessera_cuda", "tessera_nccl")  # fmt: skip


class Extension:
    """As setup.py, without setuptools: compiles the C files while the library is built, and then links them."""

    def __init__(self) -> None:
        headers = machine.python_headers()
        if not headers:
            raise SystemExit(
                "Python.h was not found, and the bundle has none for this version: make it with TSR_GPU_PYTHON"
            )
        sys.path[:0] = [str(ROOT / "wrappers/python"), str(UNPACKED / "python")]
        import build_native

        BUILD.mkdir(parents=True, exist_ok=True)
        source = BUILD / "_native.c"
        build_native.make_builder(str(ROOT / "include")).emit_c_code(str(source))
        includes = [f"-I{folder}" for folder in (*headers, ROOT / "include", build_native.HERE / "native")]
        flags = ["-c", "-fPIC", "-DNDEBUG", "-D_CFFI_NO_LIMITED_API", *build_native.FLAGS]
        sources = {"_native": [source], "_core": [Path(path) for path in build_native.sources()]}
        self.objects = {name: [BUILD / f"{name}_{path.stem}.o" for path in paths] for name, paths in sources.items()}
        self.processes = [
            subprocess.Popen(["gcc", *flags, *includes, str(path), "-o", str(made)], env=machine.environment())
            for name, paths in sources.items()
            for path, made in zip(paths, self.objects[name])
        ]

    def link(self) -> None:
        if any([process.wait() != 0 for process in self.processes]):
            raise SystemExit("the Python extensions were not compiled")
        shutil.rmtree(SITE, ignore_errors=True)
        for entry in (ROOT / "wrappers/python/src/tessera").iterdir():
            if entry.suffix != ".so" and entry.name != "__pycache__":
                link(entry, SITE / "tessera" / entry.name)
        for name, objects in self.objects.items():
            output = SITE / "tessera" / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
            run("gcc", "-shared", *objects, "-o", output, f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-ltessera")
        run(sys.executable, "-c", "import tessera; print(tessera.__version__, tessera.__file__)")


if __name__ == "__main__":
    unpack()
    extension = Extension()
    build_library()
    extension.link()
