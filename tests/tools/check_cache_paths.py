#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that no definition in a compiler's flags holds a path of this clone: the compiler cache would miss such a file
in every other clone. One small file knows the paths.

Usage: check_cache_paths.py ROOT BUILD
"""

import json
import pathlib
import shlex
import sys

MAY = {"tests/support/places.cpp"}


def main() -> int:
    root, build = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    commands = json.loads((build / "compile_commands.json").read_text())
    wrong = []
    for entry in commands:
        name = pathlib.Path(entry["file"])
        if name.is_relative_to(root) and name.relative_to(root).as_posix() in MAY:
            continue
        wrong += [
            f"{entry['file']}: {flag} has a path of this clone; ask tests/support/places.h"
            for flag in shlex.split(entry["command"])
            if flag.startswith("-D") and str(root) in flag
        ]
    print("\n".join(wrong) or f"{len(commands)} commands, none with a path in a definition")
    return 1 if wrong or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
