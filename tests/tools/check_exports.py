#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the exports of libtessera, capi/exports.map and the schema are equal, that soname and size are as promised,
and that only known code runs when the library is loaded.

Usage: check_exports.py <repository root> <libtessera.so>
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SONAME = "libtessera.so.0"
MAX_STRIPPED_BYTES = 14_700_000  # docs/adr/0029-size-of-the-library.md

# Files whose statics are initialised by code, besides files with an immortal (src/base/immortal.h). An immortal is made
# at load, so that no fork can happen while it is made.
RUN_AT_LOAD = {
    "parallel.cpp": "tells the child of a fork that it has no threads: before any code of the host may fork",
    "foreign_call.cpp": "leaves its exit handler after those of the libraries that ours is linked with, and so runs before them",
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """Names of defined dynamic symbols; the version nodes themselves (absolute) are no symbols."""
    names = set()
    for line in output("nm", "-D", "--defined-only", library).splitlines():
        _, kind, name = line.split()
        if kind != "A":
            names.add(re.sub(r"@.*", "", name))
    return names


def mapped(text):
    """Names listed as global in any node of the linker map."""
    names = set()
    bare = re.sub(r"(?s:/\*.*?\*/)|#[^\n]*", "", text)
    for body in re.findall(r"\{(.*?)\}", bare, flags=re.S):
        visible = body.split("local:")[0].replace("global:", "")
        names |= {name.strip() for name in visible.split(";") if name.strip()}
    return names


def compare(problems, left_name, left, right_name, right):
    for name in sorted(left - right):
        problems.append(f"{name}: in the {left_name}, not in the {right_name}")
    for name in sorted(right - left):
        problems.append(f"{name}: in the {right_name}, not in the {left_name}")


def unknown_initialisers(root, library):
    """Problems with the files that run code when the library is loaded."""
    found = set(re.findall(r" _GLOBAL__sub_I_(?:\d+_\d+_)?(\w+\.cpp)$", output("nm", library), flags=re.M))
    sources = [path for top in ("src", "capi") for path in (root / top).rglob("*.cpp")]
    explained = set(RUN_AT_LOAD)
    for path in sources:
        if "immortal<" in path.read_text():
            explained.add(path.name)
    problems = [f"{name}: runs code when the library is loaded; make its statics constinit, or explain it in RUN_AT_LOAD"
                for name in sorted(found - explained)]
    stale = sorted(set(RUN_AT_LOAD) - found) if found else []
    return problems + [f"{name}: stands in RUN_AT_LOAD and runs nothing" for name in stale]


def stripped_size(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "stripped.so"
        subprocess.run(["strip", "-o", copy, library], check=True)
        return copy.stat().st_size


def main():
    root, library = pathlib.Path(sys.argv[1]), sys.argv[2]
    schema = set(output(sys.executable, root / "capi/generate.py", "--list-exports").split())
    in_map = mapped((root / "capi/exports.map").read_text())
    in_library = exported(library)
    problems = []
    compare(problems, "map", in_map, "schema", schema)
    compare(problems, "library", in_library, "map", in_map)
    problems += [f"{n}: exported without the prefix tsr_" for n in in_library if not n.startswith("tsr_")]
    if "__cxa_thread_atexit" in output("nm", "-D", "--undefined-only", library):
        problems.append("a thread-local has a destructor; see Note [Thread-local state] in src/base/thread_exit.h")
    if f"soname: [{SONAME}]" not in output("readelf", "-d", library):
        problems.append(f"the soname is not {SONAME}")
    problems += unknown_initialisers(root, library)
    size = stripped_size(library)
    if size > MAX_STRIPPED_BYTES:
        problems.append(f"stripped library has {size} bytes, the limit is {MAX_STRIPPED_BYTES}")
    for problem in problems:
        print(problem)
    print(f"check_exports: {len(in_library)} symbols, {size} bytes stripped, {len(problems)} problems")
    return 1 if problems or not in_library else 0


if __name__ == "__main__":
    sys.exit(main())
