# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the parts one after the other, each in its own process group: a crash or an endless loop only affects its
part. When the time of the whole run is over, the remaining parts are reported as dropped.

Usage: runner.py [PART...]. Exit status 0: every part passed; 1: one did not; 2: cannot start; 3: no device.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import machine
import report
from parts import BUILD_PART, PARTS, Part
import contextlib

SKIPPED = 77  # the exit status of a part that tested nothing; the last line of its output is the reason
TAIL_LINES = 120
LOGS = machine.LOGS
MINUTES = float(os.environ.get("TSR_GPU_MINUTES", "9"))
SLOWER = max(1.0, MINUTES / 9)  # more time for the whole run means a slower machine


@dataclass
class Outcome:
    part: Part
    status: str  # passed, failed, crashed, timed out, dropped, skipped
    seconds: float = 0.0
    reason: str = ""
    tail: str = ""
    figures: list[dict[str, Any]] = field(default_factory=list)
    commit: str = field(default_factory=functools.cache(machine.commit))


def stop(process: subprocess.Popen[str]) -> None:
    """Ends the part and everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_figures(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    figures = []
    for line in lines:
        try:
            figures.append(json.loads(line))
        except ValueError:  # the part ended while it was writing
            continue
    return figures


def judge(code: int | None, output: list[str], limit: float) -> tuple[str, str]:
    """(status, reason) of an exit status; None means that the part was stopped."""
    last = next((line for line in reversed(output) if line.strip()), "no output").strip()
    if code is None:
        return "timed out", f"ended after {limit:.0f} s"
    if code == 0:
        return "passed", last
    if code == SKIPPED:
        return "skipped", last
    if code < 0:
        return "crashed", signal.Signals(-code).name
    return "failed", last


def run_part(part: Part, limit: float) -> Outcome:
    log, figures = LOGS / f"{part.name}.log", LOGS / f"{part.name}.figures"
    figures.unlink(missing_ok=True)
    env = {**machine.environment(), "TSR_GPU_FIGURES": str(figures), "TSR_GPU_SECONDS": f"{limit:.0f}"}
    start = time.monotonic()
    code: int | None = None
    with log.open("w") as file:
        process = subprocess.Popen(
            part.command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
            cwd=machine.ROOT, start_new_session=True, text=True,
        )  # fmt: skip
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            pass
        finally:
            stop(process)
    lines = log.read_text(errors="replace").splitlines()
    status, reason = judge(code, lines, limit)
    tail = "" if status in ("passed", "skipped") else "\n".join(lines[-TAIL_LINES:])
    return Outcome(part, status, time.monotonic() - start, reason, tail, read_figures(figures))


def run_all(parts: Sequence[Part], deadline: float, tell: Callable[[list[Outcome]], None]) -> list[Outcome]:
    """All parts until the deadline (of time.monotonic); a build that failed drops the rest."""
    outcomes: list[Outcome] = []
    broken = ""
    for part in parts:
        left = deadline - time.monotonic()
        if broken:
            outcome = Outcome(part, "dropped", reason=broken)
        elif left < min(5, part.seconds):
            outcome = Outcome(part, "dropped", reason="no time was left")
        elif part.needs_torch and importlib.util.find_spec("torch") is None:
            outcome = Outcome(part, "skipped", reason="PyTorch is not there to measure against")
        else:
            outcome = run_part(part, min(left, part.seconds * SLOWER))
        if part is BUILD_PART and outcome.status != "passed":
            broken = "the build failed"
        outcomes.append(outcome)
        tell(outcomes)
    return outcomes


def place(outcome: Outcome) -> int:
    return [part.name for part in (BUILD_PART, *PARTS)].index(outcome.part.name)


def built() -> bool:
    return any(machine.SITE.glob("tessera/_core*.so"))


def chosen(names: Sequence[str]) -> list[Part]:
    """The requested parts, after the build part if the library is not built. The build alone is a part too."""
    every = {part.name: part for part in (BUILD_PART, *PARTS)}
    unknown = [name for name in names if name not in every]
    if unknown:
        raise SystemExit(f"--gpu: unknown part '{unknown[0]}'; there are: {', '.join(every)}")
    parts = [part for part in every.values() if part.name in names] if names else list(every.values())
    if machine.PRETEND:
        return [part for part in parts if part is not BUILD_PART]
    return parts if parts[0] is BUILD_PART or built() else [BUILD_PART, *parts]


def refusal(parts: Sequence[Part], known: dict[str, str]) -> tuple[int, str] | None:
    """Exit status and message if nothing can be run."""
    if machine.PRETEND:
        return None
    if not known:
        return 3, "skipped: no device (nvidia-smi names none), so nothing was built, tested or measured"
    if BUILD_PART in parts and not (machine.BUNDLE / "bundle.tar.xz").is_file():
        return 2, (f"{machine.BUNDLE} has no bundle.tar.xz: run scripts/gpu_bundle.sh on a machine with a package "
                   "registry and bring the folder here")  # fmt: skip
    return None


def main(names: Sequence[str]) -> int:
    start = time.monotonic()
    parts, known = chosen(names), machine.facts()
    facts = report.versions(known)
    refused = refusal(parts, known)
    out = machine.OUT
    out.mkdir(parents=True, exist_ok=True)
    if refused is not None:
        if refused[0] == 3:
            report.write(out, [Outcome(part, "skipped", reason="no device") for part in parts], facts, 0)
        print(refused[1])
        return refused[0]
    if machine.PRETEND:
        print("TSR_GPU_PRETEND: the stand-ins for CUDA on the host are run, no GPU is measured")
    kept = report.earlier(out, [BUILD_PART, *PARTS], {part.name for part in parts}) if names else []

    def tell(outcomes: list[Outcome]) -> None:
        """Prints a line for the last part and writes the report so far, in case the machine is lost."""
        last = outcomes[-1]
        print(f"{last.status:9} {last.seconds:6.1f} s  {last.part.name}: {last.reason[:150]}", flush=True)
        report.write(out, sorted(kept + outcomes, key=place), facts, time.monotonic() - start)

    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    outcomes = run_all(parts, start + MINUTES * 60 - 5, tell)
    with tarfile.open(out / "logs.tar.gz", "w:gz") as archive:
        archive.add(LOGS, "logs")
    print(report.write(out, sorted(kept + outcomes, key=place), facts, time.monotonic() - start))
    return 0 if all(outcome.status == "passed" for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
