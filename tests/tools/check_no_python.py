#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of the library where there is no Python, and looks at every file that its process loads.

Usage: check_no_python.py PROGRAM LIBRARY

PROGRAM gets an empty environment, whose PATH has nothing, and an empty folder. The dynamic loader tells what it loads, also
what the library opens while it runs (BLAS, backends). No name among these, and none among the NEEDED entries of the two
files, may be one of Python's.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = re.compile(r"python", re.IGNORECASE)


def loaded_by(command: list[str], folder: str) -> tuple[int, str, set[str]]:
    """The exit status of the command, its output, and the files that its process loaded."""
    environment = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{folder}/loaded", "PATH": f"{folder}/nothing"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    told = "".join(path.read_text(errors="replace") for path in Path(folder).glob("loaded.*"))
    return done.returncode, done.stdout + done.stderr, set(re.findall(r"calling init: (\S+)", told))


def needed_by(file: str) -> set[str]:
    dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))


def main() -> int:
    program, library = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        status, output, loaded = loaded_by([program, folder], folder)
    print(output, end="")
    if status != 0:
        problems.append(f"{program} ended with {status}")
    if not any(Path(file).name.startswith("libtessera.so") for file in loaded):
        problems.append(f"the loader does not tell of the library: {sorted(loaded)}")
    for file in (program, library):
        loaded |= needed_by(file)
    problems += [f"loads {file}" for file in sorted(loaded) if PYTHON.search(file)]

    # What this check would see of a program that does need Python.
    with tempfile.TemporaryDirectory() as folder:
        _, _, of_python = loaded_by([sys.executable, "-I", "-c", "import _ctypes"], folder)
    if not any(PYTHON.search(file) for file in of_python):
        problems.append(f"Python itself was not noticed: {sorted(of_python)}")
    for problem in problems:
        print(problem)
    print(f"check_no_python: {len(loaded)} files loaded, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
