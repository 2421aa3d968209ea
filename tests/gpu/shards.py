# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs pytest in several processes at a time, each with every n-th test; one device serves them all.

Usage: shards.py PYTEST-ARGUMENT...   (exit status 0 when every process passed)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import machine
import pytest

COUNT = 1 if machine.PRETEND else min(6, (os.cpu_count() or 2) // 2)


class Share:
    """Keeps the tests whose place is number, number + count, ..."""

    def __init__(self, number: int, count: int) -> None:
        self.number, self.count = number, count

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % self.count != self.number])
        items[:] = items[self.number :: self.count]


def one(number: int, arguments: list[str]) -> int:
    quiet = ["-q", "--tb=short", "--maxfail=25", "-p", "no:cacheprovider"]
    return int(pytest.main([*quiet, *arguments], plugins=[Share(number, COUNT)]))


def main(arguments: list[str]) -> int:
    logs = [machine.LOGS / f"shard{number}-{os.getpid()}.log" for number in range(COUNT)]
    processes = []
    for number, log in enumerate(logs):
        with log.open("w") as file:
            command = [sys.executable, __file__, f"--shard={number}", *arguments]
            processes.append(subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT))
    codes = [process.wait() for process in processes]
    totals: dict[str, int] = {}
    for code, log in zip(codes, logs):
        text = log.read_text(errors="replace")
        if code != 0:
            print(text[-4000:])
            print(f"a process ended with {code}")
        for number, what in re.findall(r"(\d+) (passed|failed|skipped|error)", text.splitlines()[-1] if text else ""):
            totals[what] = totals.get(what, 0) + int(number)
        log.unlink()
    print(", ".join(f"{number} {what}" for what, number in sorted(totals.items())) or "no tests")
    return 0 if not any(codes) and totals.get("passed") else 1


if __name__ == "__main__":
    shard = sys.argv[1].removeprefix("--shard=") if sys.argv[1].startswith("--shard=") else None
    sys.exit(main(sys.argv[1:]) if shard is None else one(int(shard), sys.argv[2:]))
