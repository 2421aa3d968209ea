# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of this machine (compiler, toolkit, libraries, device), and the environment in which a part runs.

Only the standard library is used: this runs before anything is built.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Use the stand-ins for CUDA on the host instead of a device, to test the runner itself.
PRETEND = os.environ.get("TSR_GPU_PRETEND") == "1"
BUILD = ROOT / "build" / ("release" if PRETEND else "gpu")
BUNDLE = Path(os.environ.get("TSR_GPU_BUNDLE", ROOT / "build" / "gpu-bundle"))
OUT = Path(os.environ.get("TSR_GPU_OUT", ROOT / "build" / "gpu-report"))
LOGS = ROOT / "build" / "gpu-logs"  # of each part; the report folder gets them as one archive
PLUGIN = BUILD / ("tests/support/cuda_on_host" if PRETEND else "src/backend/cuda")

UNPACKED = BUILD / "bundle"  # the contents of the bundle: include, lib, python and data
SITE = BUILD / "site"  # the Python package with the extension of this interpreter
TOOLKIT = BUILD / "toolkit"  # links to the toolkit's parts if only the Python packages have them


def package_folders() -> list[Path]:
    """The folders of the packages nvidia-* that this interpreter sees, each with include, lib or bin."""
    found: list[Path] = []
    for base in sys.path:
        folder = Path(base) / "nvidia"
        if base and folder.is_dir():
            found += sorted(f for f in folder.iterdir() if (f / "lib").is_dir() or (f / "bin").is_dir())
    return found


def find_tool(name: str, *folders: Path) -> Path | None:
    """A program of the toolkit: under CUDA_HOME, on PATH, in the usual place, in the Python packages."""
    homes = [Path(h) for h in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if h]
    places = [h / "bin" for h in homes] + [h / "compute-sanitizer" for h in homes]
    on_path = shutil.which(name)
    candidates = [places[0] / name, *([Path(on_path)] if on_path else []), *(p / name for p in places)]
    candidates += [f / "bin" / name for f in package_folders()]
    return next((c for c in candidates if c.is_file() and os.access(c, os.X_OK)), None)


def facts() -> dict[str, str]:
    """The driver's description of the first device; empty if there is none."""
    keys = ["name", "driver_version", "compute_cap", "memory.total", "clocks.max.sm", "clocks.max.mem"]
    try:
        told = subprocess.run(
            ["nvidia-smi", f"--query-gpu={','.join(keys)}", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout.splitlines()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(zip(keys, (value.strip() for value in told[0].split(",")))) if told else {}


def architecture(known: dict[str, str]) -> str:
    """The device's architecture as CMake names it."""
    digits = known.get("compute_cap", "").replace(".", "")
    return f"{digits if digits.isdigit() else '90'}-real"


def commit() -> str:
    """The commit of the tree, with "+" if the tree has changes. A copy without git has the commit of the bundle."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.strip()

    with contextlib.suppress(OSError):
        head = git("rev-parse", "--short=12", "HEAD")
        if head:
            return head + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    with contextlib.suppress(OSError):
        return f"{(BUNDLE / 'commit').read_text().strip()} when the bundle was made"
    return "unknown"


def python_headers() -> list[str]:
    """Folders that hold Python.h: the interpreter's own, else the bundle's of the same minor version."""
    folders = dict.fromkeys(sysconfig.get_path(kind) for kind in ("include", "platinclude"))
    if any((Path(f) / "Python.h").is_file() for f in folders):
        return list(folders)
    carried = UNPACKED / "include" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return [str(carried)] if (carried / "Python.h").is_file() else []


def joined(*parts: str | Path | None) -> str:
    return os.pathsep.join(str(p) for p in parts if p)


def environment() -> dict[str, str]:
    """The environment in which everything is built and run."""
    env = dict(os.environ)
    env.update(OMP_WAIT_POLICY="passive", PYTHONUNBUFFERED="1", TESSERA_PLUGIN_PATH=str(PLUGIN),
               TESSERA_CACHE="off" if PRETEND else str(BUILD / "plans"))  # fmt: skip
    if PRETEND:
        return env
    # The cuBLAS and cuDNN that PyTorch uses come first, so that both libraries are measured over the same ones.
    libraries = [f / "lib" for f in package_folders() if (f / "lib").is_dir()]
    env["LD_LIBRARY_PATH"] = joined(UNPACKED / "lib", *libraries, env.get("LD_LIBRARY_PATH"))
    env["PYTHONPATH"] = joined(SITE, UNPACKED / "python", env.get("PYTHONPATH"))
    return env
