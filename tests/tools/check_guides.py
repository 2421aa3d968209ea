#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the programs of a guide page; a block of text after one is what it must print.

Usage: check_guides.py <repository root> <folder of libtessera.so> c|cpp
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMPILERS = {"c": ["cc", "-std=c99"], "cpp": ["c++", "-std=c++17"]}
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-pedantic"]


def programs(text, language):
    """(source, what it prints or None) of each whole program."""
    blocks = BLOCK.findall(text)
    for (kind, body), after in zip(blocks, [*blocks[1:], ("", "")]):
        if kind == language and "int main(" in body:
            yield body, after[1] if after[0] == "text" else None


def main():
    root, library, language = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    page = root / "docs/guide" / f"{language}.md"
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for source, wanted in programs(page.read_text("utf-8"), language):
            count += 1
            file = pathlib.Path(folder) / f"program{count}.{language}"
            file.write_text(source, "utf-8")
            build = [*COMPILERS[language], *WARNINGS, f"-I{root}/include", str(file), "-o", f"{folder}/program",
                     f"-L{library}", "-ltessera", f"-Wl,-rpath,{library}"]
            made = subprocess.run(build, capture_output=True, text=True)
            ran = subprocess.run([f"{folder}/program"], cwd=folder, capture_output=True, text=True) if made.returncode == 0 else made
            if ran.returncode != 0 or (wanted is not None and ran.stdout != wanted):
                failed += 1
                print(f"{page.name}, program {count}:\n{source}\nexit {ran.returncode}\n{ran.stdout}{ran.stderr}")
    print(f"check_guides: {count} programs of {page.name}, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
