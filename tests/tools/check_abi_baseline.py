#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the output of scripts/abi_baseline.py does not depend on the order of abidw's source files.

Usage: check_abi_baseline.py [<repository root>]
"""

import itertools
import pathlib
import sys
import xml.etree.ElementTree as ET

UNITS = (
    '<abi-instr path="/a/z.cpp" language="C"><type-decl name="int" id="1"/>'
    '<function-decl name="second" elf-symbol-id="second"><return type-id="1"/></function-decl></abi-instr>',
    '<abi-instr path="/b/a.cpp" language="C"><pointer-type-def type-id="1" id="2"/><type-decl name="unused" id="3"/>'
    '<function-decl name="first" elf-symbol-id="first"><return type-id="2"/></function-decl></abi-instr>',
    '<abi-instr path="/b/c.cpp" language="C"><type-decl name="int" id="1"/></abi-instr>',
)


def trimmed(units):
    corpus = ET.fromstring(f"<abi-corpus>{''.join(units)}</abi-corpus>")
    abi_baseline.trim(corpus)
    return ET.tostring(corpus, encoding="unicode")


def main():
    texts = {trimmed(units) for units in itertools.permutations(UNITS)}
    names = [node.get("name") or node.get("id") for node in ET.fromstring(next(iter(texts)))[0]]
    print(f"check_abi_baseline: {len(texts)} texts of {names}")
    return 0 if len(texts) == 1 and names == ["2", "int", "first", "second"] else 1


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    sys.path.insert(0, str(root / "scripts"))
    import abi_baseline

    sys.exit(main())
