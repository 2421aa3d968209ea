#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes everything that follows from capi/schema; --check only compares and fails on a difference."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "capi"))

from generator import model  # noqa: E402

# Each emitter has outputs(schema) -> {path below the root: text}. A language's emitter is one more row.
EMITTERS = ("c", "shims", "docs", "tests", "python")
# Folders that hold nothing but generated files: what no emitter wrote there is removed.
OWNED = ("include/tessera", "capi/generated", "docs/api", "tests/capi/generated")


def collect(schema: model.Schema) -> dict[str, str]:
    files: dict[str, str] = {}
    for name in EMITTERS:
        if (ROOT / "capi" / "generator" / f"{name}.py").exists():
            files |= importlib.import_module(f"generator.{name}").outputs(schema)
    return files


def stale(files: dict[str, str]) -> list[str]:
    wrong = [
        p
        for p, text in files.items()
        if not (ROOT / p).exists() or (ROOT / p).read_text("utf-8") != text
    ]
    return wrong + leftovers(files)


def leftovers(files: dict[str, str]) -> list[str]:
    present = [
        str(p.relative_to(ROOT))
        for folder in OWNED
        for p in (ROOT / folder).glob("*")
        if p.is_file()
    ]
    return [
        p
        for p in present
        if p not in files and not p.endswith("README.md") and not p.endswith(".hpp")
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with what is committed; write nothing"
    )
    parser.add_argument("--list-exports", action="store_true", help="print the exported symbols")
    options = parser.parse_args()
    try:
        schema = model.load(ROOT / "capi" / "schema")
    except model.SchemaError as error:
        print(f"capi/schema/{error}", file=sys.stderr)
        return 1
    if options.list_exports:
        print("\n".join(sorted(f.name for f in schema.c_functions)))
        return 0
    files = collect(schema)
    if options.check:
        wrong = stale(files)
        print("".join(f"stale: {p}\n" for p in wrong), end="", file=sys.stderr)
        return 1 if wrong else 0
    for path in leftovers(files):
        (ROOT / path).unlink()
    for path in stale(files):
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path], "utf-8")
    print(
        f"{len(schema.ops)} ops, {len(schema.functions)} other rows, {len(schema.c_functions)} C functions"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
