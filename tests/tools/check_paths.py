#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that no committed text contains a path of one machine or the host of a package registry.

Usage: check_paths.py [<repository root>]
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


def committed(root):
    """Names of the files that git tracks; without git, of all files outside build and environment."""
    try:
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
        if listed.returncode == 0:
            return list(filter(None, listed.stdout.split("\0")))
    except FileNotFoundError:
        pass
    skipped = {".git", ".venv", "build", "__pycache__", "target"}
    return [str(path.relative_to(root)) for path in root.rglob("*")
            if path.suffix not in {".so", ".pyc"} and not skipped & set(path.relative_to(root).parts)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = 0
    for name in committed(root):
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
