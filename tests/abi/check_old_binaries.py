#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of the versions before run on today's library, and programs of a later one are served or refused as promised.

A folder tests/abi/<minor> holds what programs of that version were compiled from: its declarations and one program for
each header. They are linked with a stand-in that has the symbols of the baseline capi/abi/tessera-<minor>.abi and no
others, so that each is the binary that a user has had since then, and run with the library that was built now.

Usage: check_old_binaries.py <repository root> <libtessera.so>
"""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
LATER = "TSR_99.0"
SIZED_STRUCT = re.compile(r"(struct \w+ \{\n  uint32_t struct_size;.*?)\n\};", re.DOTALL)


def run(*command: str | pathlib.Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, **more)  # type: ignore[call-overload,no-any-return]


class Compiler:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.command = shlex.split(os.environ.get("CC", "cc"))

    def __call__(self, output: pathlib.Path, *arguments: str | pathlib.Path) -> pathlib.Path:
        done = run(*self.command, "-o", output, *arguments)
        if done.returncode != 0:
            raise SystemExit(f"{output.name} does not compile:\n{done.stderr}")
        return output

    def stand_in(self, name: str, nodes: dict[str, list[str]]) -> pathlib.Path:
        """A library of the soname with these symbols and nothing behind them, to link with."""
        folder = self.folder / name
        folder.mkdir()
        symbols = [symbol for listed in nodes.values() for symbol in listed]
        (folder / "stub.c").write_text("".join(f"void {s}(void) {{}}\n" for s in symbols))
        versions = (f"{node} {{ {' '.join(s + ';' for s in listed)} }};\n" for node, listed in nodes.items())
        (folder / "stub.map").write_text("".join(versions))
        self(
            folder / "libtessera.so", "-shared", "-fPIC", folder / "stub.c", f"-Wl,--version-script={folder / 'stub.map'}",
            "-Wl,-soname,libtessera.so.0",
        )  # fmt: skip
        return folder


def baseline_nodes(path: pathlib.Path) -> dict[str, list[str]]:
    """The exported symbols of a baseline by their version node."""
    nodes: dict[str, list[str]] = {}
    for symbol in ET.parse(path).getroot().iter("elf-symbol"):
        nodes.setdefault(symbol.get("version", ""), []).append(symbol.get("name", ""))
    return nodes


def run_client(program: pathlib.Path, library: pathlib.Path) -> subprocess.CompletedProcess[str]:
    # Today's library stands first; the stand-in was for linking only.
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
    return run(program, program.with_suffix(".safetensors"), env=environment)


def check_older(compiler: Compiler, root: pathlib.Path, library: pathlib.Path) -> list[str]:
    """One line for each program of a former version that does not run."""
    faults = []
    folders = sorted(p for p in (root / "tests/abi").iterdir() if re.fullmatch(r"\d+\.\d+", p.name))
    if not folders:
        return ["there is no baseline to try"]
    for folder in folders:
        nodes = baseline_nodes(root / f"capi/abi/tessera-{folder.name}.abi")
        stub = compiler.stand_in(f"stub-{folder.name}", nodes)
        for source in sorted(folder.glob("*.c")):
            program = compiler.folder / f"{source.stem}-{folder.name}"
            compiler(program, *FLAGS, "-I", folder, source, "-L", stub, "-ltessera")
            done = run_client(program, library)
            print(f"{folder.name} {source.stem}: {'runs' if done.returncode == 0 else 'FAILS'}")
            if done.returncode != 0:
                faults.append(f"{source.name} of {folder.name}: exit {done.returncode}: {done.stderr}")
    return faults


def check_newer(compiler: Compiler, root: pathlib.Path, library: pathlib.Path) -> list[str]:
    """One line for each promise to programs of a later version that is broken."""
    faults = []
    sources, newest = root / "tests/abi/newer", sorted((root / "tests/abi").glob("*.*/client.h"))[-1].parent
    stub = compiler.stand_in("stub-later", {LATER: ["tsr_of_a_later_version"]})
    program = compiler(compiler.folder / "later", *FLAGS, sources / "later_symbol.c", "-L", stub, "-ltessera")
    done = run_client(program, library)
    refused = done.returncode != 0 and LATER in done.stderr
    print(f"a function of a later version: {'refused by the loader' if refused else 'NOT refused'}")
    if not refused:
        faults.append(f"later_symbol.c: exit {done.returncode}, expected the loader to name {LATER}: {done.stderr}")
    grown = compiler.folder / "grown"
    grown.mkdir()
    declarations = (root / "include/tessera/tessera_ffi.h").read_text(encoding="utf-8")
    declarations, count = SIZED_STRUCT.subn(r"\1\n  int64_t grown[2];\n};", declarations)
    (grown / "tessera_ffi.h").write_text(declarations)
    (grown / "client.h").write_text((newest / "client.h").read_text(encoding="utf-8"))
    program = compiler(
        grown / "client", *FLAGS, "-I", grown, sources / "grown_struct.c", "-L", library.parent, "-ltessera"
    )
    done = run_client(program, library)
    print(f"{count} structs with more fields: {'as promised' if done.returncode == 0 else 'FAILS'}")
    if done.returncode != 0 or count < 5:
        faults.append(f"grown_struct.c: exit {done.returncode}: {done.stderr}")
    return faults


def main() -> int:
    root, library = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(pathlib.Path(folder))
        faults = check_older(compiler, root, library) + check_newer(compiler, root, library)
    print("\n".join(faults) or "old and new programs agree with the library")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
