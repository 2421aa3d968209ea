# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs pytest in several processes at the same time, each with every n-th test; all share one device.

Usage: shards.py PYTEST-ARGUMENT...   (exit status 0 when every process passed)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import machine
import pytest

COUNT = 1 if machine.PRETEND else min(6, (os.cpu_count() or 2) // 2)


class Share:
    """Keeps the tests at the positions number, number + count, ..."""

    def __init__(self, number: int, count: int) -> None:
        self.number, self.count = number, count

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % self.count != self.number])
        items[:] = items[self.number :: self.count]


def one(number: int, arguments: list[str]) -> int:
    quiet = ["-q", "--tb=short", "--maxfail=25", "-p", "no:cacheprovider"]
    return int(pytest.main([*quiet, *arguments], plugins=[Share(number, COUNT)]))


def start(number: int, arguments: list[str]) -> tuple[subprocess.Popen[bytes], Path]:
    log = machine.LOGS / f"shard{number}-{os.getpid()}.log"
    env = {**os.environ, "COLUMNS": "240", "OMP_NUM_THREADS": "2"}
    with log.open("w") as file:
        command = [sys.executable, __file__, f"--shard={number}", *arguments]
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=env), log


def main(arguments: list[str]) -> int:
    """Prints the messages of the failures, then one line for each failure, then the totals."""
    machine.LOGS.mkdir(parents=True, exist_ok=True)
    processes = [start(number, arguments) for number in range(COUNT)]
    totals: dict[str, int] = {}
    codes, lines = [], []
    for process, log in processes:
        codes.append(process.wait())
        text = log.read_text(errors="replace")
        log.unlink()
        if codes[-1] != 0:
            print(text[-6000:])
            lines += re.findall(r"^(?:FAILED|ERROR) .*$", text, re.MULTILINE) or [f"a process ended with {codes[-1]}"]
        for number, what in re.findall(r"(\d+) (passed|failed|skipped|error)", text.splitlines()[-1] if text else ""):
            totals[what] = totals.get(what, 0) + int(number)
    print("\n".join(lines[:100]))
    print(", ".join(f"{number} {what}" for what, number in sorted(totals.items())) or "no tests")
    return 0 if not any(codes) and totals.get("passed") else 1


if __name__ == "__main__":
    shard = sys.argv[1].removeprefix("--shard=") if sys.argv[1].startswith("--shard=") else None
    sys.exit(main(sys.argv[1:]) if shard is None else one(int(shard), sys.argv[2:]))
