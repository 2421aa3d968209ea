#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""No committed text names a path of one machine or the host of a package registry.

Usage: check_paths.py <repository root>
"""

import pathlib
import re
import subprocess
import sys

# Written in pieces, so that this file passes its own check.
FOLDERS = "|".join(["ro" + "ot", "ho" + "me", "wo" + "rk", "Us" + "ers"])
HOSTS = "|".join(["py" + "pi\\.org", "python" + "hosted", "crates" + "\\.io", "deb\\.deb" + "ian",
                  "pkg\\.julia" + "lang"])
PATTERN = re.compile(rf"(?<![\w.}}$~)-])/(?:{FOLDERS})/\w|(?:{HOSTS})")


def main():
    root = pathlib.Path(sys.argv[1])
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if names.returncode != 0:
        print("check_paths: not a git checkout, nothing to check")
        return 0
    problems = 0
    for name in filter(None, names.stdout.split("\0")):
        path = root / name
        if not path.is_file() or path.name == "LICENSE":
            continue
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            if PATTERN.search(line):
                problems += 1
                print(f"{name}:{number}: {line.strip()[:100]}")
    print(f"check_paths: {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
