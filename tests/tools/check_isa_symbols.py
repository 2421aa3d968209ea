#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects compiled for one instruction set share no code with the rest of the library.

An inline function that two translation units emit is merged by the linker, which keeps any one copy.
If that copy was compiled for AVX-512, the whole library needs AVX-512. So every symbol such an object
defines for others must carry the level's namespace in its name.

Usage: check_isa_symbols.py <level> <object>...
"""

import subprocess
import sys

SHARED_KINDS = set("TDBRWVuGSC")


def main():
    level, objects = sys.argv[1], sys.argv[2:]
    mark = f"{len(level)}{level}"
    problems = []
    for path in objects:
        lines = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        names = sorted({line.split()[2] for line in lines
                        if len(line.split()) == 3 and line.split()[1] in SHARED_KINDS})
        problems += [name for name in names if mark not in name]
    if problems:
        demangled = subprocess.run(["c++filt"], input="\n".join(problems), check=True,
                                   capture_output=True, text=True).stdout
        print(demangled)
    print(f"check_isa_symbols {level}: {len(objects)} objects, {len(problems)} problems")
    return 1 if problems or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
