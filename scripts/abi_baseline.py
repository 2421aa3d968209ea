#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the ABI baseline: capi/abi/tessera-<minor>.abi from a library with debug information, and the declarations
that the programs of tests/abi/<minor> are compiled with.

A baseline is frozen once its minor version is released; before that it is rewritten together with
the change it records, which is a decision of docs/adr. Of abidw's output it keeps only the types that exported
functions use: other C++ types that the defining files include are not part of the ABI. Nor are the files of functions
and types, whose order depends on the paths of the build: everything is put into one unit, sorted by name.

Usage: scripts/abi_baseline.py [libtessera.so]      (default: the one in build/release)
"""

import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["--exported-interfaces-only", "--drop-private-types", "--drop-undefined-syms", "--no-corpus-path",
         "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--type-id-style", "hash"]


def references(element):
    """The type ids to which an element and its children refer."""
    return {node.get("type-id") for node in element.iter() if node.get("type-id")}


def order(node):
    """The sort key: types before functions, each by name."""
    return node.tag == "function-decl", node.tag, node.get("name") or "", node.get("id") or ""


def trim(corpus):
    """One unit with the exported functions and the types that they use."""
    units = corpus.findall("abi-instr")
    types = {node.get("id"): node for unit in units for node in unit.iter() if node.get("id")}
    wanted, queue = set(), [ref for node in corpus.iter() if node.get("elf-symbol-id") for ref in references(node)]
    while queue:
        ref = queue.pop()
        if ref not in wanted and ref in types:
            wanted.add(ref)
            queue.extend(references(types[ref]))
    kept = {}
    for child in (child for unit in units for child in unit):
        name = child.get("elf-symbol-id") or child.get("id")
        better = name not in kept or kept[name].get("is-declaration-only")
        if better and (child.get("elf-symbol-id") or name in wanted):
            kept[name] = child
    for unit in units:
        corpus.remove(unit)
    language = units[0].get("language")
    whole = ET.SubElement(corpus, "abi-instr", {"address-size": "64", "path": "libtessera", "language": language})
    whole.extend(sorted(kept.values(), key=order))


def main():
    library = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/libtessera.so"
    text = subprocess.run(["abidw", *FLAGS, "--headers-dir", ROOT / "include/tessera", library],
                          check=True, capture_output=True, text=True).stdout
    corpus = ET.fromstring(text)
    trim(corpus)
    version = re.search(r"^project\(Tessera VERSION (\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    target = ROOT / "capi/abi" / f"tessera-{version}.abi"
    target.parent.mkdir(exist_ok=True)
    ET.indent(corpus)
    target.write_text(ET.tostring(corpus, encoding="unicode") + "\n")
    clients = ROOT / "tests/abi" / version
    clients.mkdir(exist_ok=True)
    shutil.copy(ROOT / "include/tessera/tessera_ffi.h", clients)
    print(f"wrote {target.relative_to(ROOT)}: {len(corpus.findall('.//function-decl'))} functions")


if __name__ == "__main__":
    main()
