#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the table of docs/features.md: every row is there once, and every test that it names exists.

Usage: check_feature_rows.py [<repository root>] [--list | --fill]

A test is written `path: name`; both may contain *, and then at least one test must match. Its name carries the id of the
row: E23_..., A6_E16_..., test_e23_... A row that holds names at least one test. --list prints all tests whose names carry
an id, by row; --fill writes them into the table, and says which open rows have tests now, for a person to close. A row
whose state is "stand-in" holds on a device in software, and docs/features.md says what a GPU must still show.
"""

import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

RANGES = (("A", 1, 22), ("E", 1, 25), ("I", 1, 11), ("P", 16, 18), ("D", 3, 9), ("R", 1, 18))
IDS = [f"{letter}{n}" for letter, first, last in RANGES for n in range(first, last + 1)]
STATES = {"holds", "stand-in", "open"}
# GoogleTest, Python, Rust, Julia, and the checks of the tree.
TESTS = re.compile(
    r"^\s*TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\)|^\s*(?:async )?def (test_\w+)\(|^\s*(?:pub )?fn (\w+)\(\)"
    r"|@testset \"(\w+)|tsr_tool_test\((\w+)",
    re.MULTILINE,
)
ENTRY = re.compile(r"`([^`:]+): ([^`]+)`")


def ids_of(test: str) -> set[str]:
    """The rows whose ids begin the test's name."""
    found = set()
    for part in test.removeprefix("test_").split("_"):
        if part.upper() not in IDS:
            break
        found.add(part.upper())
    return found


def tests_of(root: Path) -> dict[str, set[str]]:
    """The tests of the tree by file."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "tests",
                             "wrappers"], capture_output=True, text=True, check=True).stdout.split()
    found: dict[str, set[str]] = {}
    for name in listed:
        path = root / name
        if path.suffix in {".cpp", ".py", ".rs", ".jl"} or path.name == "CMakeLists.txt":
            names = {next(filter(None, groups)) for groups in TESTS.findall(path.read_text(errors="replace"))} \
                if path.is_file() else set()
            if names:
                found[name] = names
    return found


def rows_of(page: Path) -> list[tuple[str, str, str]]:
    """(id, the cell of tests, state) of each row."""
    rows = []
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 4 and re.fullmatch(r"[A-Z]\d+", cells[0]):
            rows.append((cells[0], cells[2], cells[3]))
    return rows


def tests_by_row(tests: dict[str, set[str]]) -> dict[str, list[str]]:
    """The entries of the table for all tests whose names carry an id."""
    found: dict[str, list[str]] = {row: [] for row in IDS}
    for file, names in sorted(tests.items()):
        for test in sorted(names):
            for row in ids_of(test):
                found[row].append(f"`{file}: {test}`")
    return found


def fill(page: Path, tests: dict[str, set[str]]) -> None:
    """Writes the tests of each row into the table; entries of tests without an id stay."""
    lines, found = page.read_text().splitlines(), tests_by_row(tests)
    for number, (line, row) in enumerate(zip(lines, [line.split(" | ")[0].strip("| ") for line in lines])):
        if row not in IDS:
            continue
        cells = line.strip().strip("|").split(" | ")
        stay = [f"`{path}: {name}`" for path, name in ENTRY.findall(cells[2]) if name.startswith("check_")]
        entries = found[row] + stay
        if entries:
            cells[2] = "<br>".join(entries)
        if entries and cells[3].strip() == "open":
            print(f"{row} is open and has {len(entries)} tests")
        lines[number] = "| " + " | ".join(cell.strip() for cell in cells) + " |"
    page.write_text("\n".join(lines) + "\n")


def problems_of(rows: list[tuple[str, str, str]], tests: dict[str, set[str]]) -> list[str]:
    problems = []
    if [row[0] for row in rows] != IDS:
        problems.append(f"expected the rows {IDS[0]} to {IDS[-1]} in order, got {[row[0] for row in rows]}")
    for row, cell, state in rows:
        entries = ENTRY.findall(cell)
        if state not in STATES:
            problems.append(f"{row}: expected a state of {sorted(STATES)}, got {state!r}")
        if state != "open" and not entries:
            problems.append(f"{row}: {state}, and names no test")
        for path, name in entries:
            matching = [test for file, names in tests.items() if fnmatchcase(file, path) for test in names
                        if fnmatchcase(test.lower(), name.lower())]
            if not matching and state != "open":
                problems.append(f"{row}: no test {name} in {path}")
            if not any(row in ids_of(test) or test.startswith("check_") for test in matching) and matching:
                problems.append(f"{row}: the name of {matching[0]} does not begin with the row")
    return problems


def main() -> int:
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    root = Path(arguments[0] if arguments else ".").resolve()
    tests = tests_of(root)
    if "--list" in sys.argv:
        for row, entries in tests_by_row(tests).items():
            print("\n".join(f"{row} {entry}" for entry in entries), end="\n" if entries else "")
        return 0
    if "--fill" in sys.argv:
        fill(root / "docs" / "features.md", tests)
    rows = rows_of(root / "docs" / "features.md")
    problems = problems_of(rows, tests)
    for problem in problems:
        print(problem)
    held, open_rows = (sum(state == wanted for _, _, state in rows) for wanted in ("holds", "open"))
    print(f"check_feature_rows: {len(rows)} rows, {held} hold, {open_rows} are open, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
