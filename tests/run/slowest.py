# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The files that took longest to compile, from ninja's logs, so that a file that grows is seen."""

from __future__ import annotations

import pathlib

COMPILED = (".o", ".gch", ".pch")


def slowest(builds: pathlib.Path, since: float, count: int = 10) -> list[tuple[float, str]]:
    """Seconds and names, the slowest first, of what was compiled after the time `since`."""
    found = []
    for log in builds.glob("*/.ninja_log"):
        seconds = {}  # the last line of an output counts
        for line in log.read_text().splitlines():
            fields = line.split("\t")
            if len(fields) == 5 and fields[3].endswith(COMPILED):
                seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
        for output, took in seconds.items():
            path = log.parent / output
            if path.exists() and path.stat().st_mtime >= since:
                found.append((took, str(path.relative_to(builds))))
    return sorted(found, reverse=True)[:count]


def as_text(rows: list[tuple[float, str]]) -> str:
    lines = [f"{took:8.1f} {name}" for took, name in rows]
    return "\n".join([" seconds compiled in this run, the slowest (by the clock, beside other work)", *lines, ""])
