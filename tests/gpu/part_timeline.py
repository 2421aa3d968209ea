# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The profiler's timeline of the device (CUPTI): kernels and copies by stream, each tied to the call that queued it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import tessera as ts
from tessera.profiler import profile

from figures import DEVICE, Stream, check_that, figure, wait
from machine import PRETEND

SIZE = 1 << (10 if PRETEND else 22)
CALLS = 20


def trace_of(prof: profile) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        prof.export_chrome_trace(path)
        found = json.loads(path.read_text("utf-8"))
    events: list[dict[str, Any]] = found["traceEvents"] if isinstance(found, dict) else found
    return events


def main() -> None:
    x, side = ts.ones((SIZE,), device=DEVICE), Stream()
    (x + 1).sum().item()
    wait()
    with profile() as prof:
        for _ in range(CALLS):
            x = x * 1.5
        with side:
            y = ts.full((SIZE,), 2.0, device=DEVICE) + 1.0
        y.to("cpu")
        wait()
    events = trace_of(prof)
    check_that("the host's calls are there", sum("mul" in str(e.get("name")) for e in events) >= CALLS)
    work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy") and e.get("ph") == "X"]
    if PRETEND:
        check_that("the stand-ins have no timeline", not work)
        print("the host's part of the recording is whole; the stand-ins have no CUPTI")
        return
    kernels = [e for e in work if e["cat"] == "kernel"]
    check_that("every multiplication has its kernel", len(kernels) >= CALLS)
    check_that("the copy to the host is there", any(e["cat"] == "gpu_memcpy" for e in work))
    check_that("kernels take time", all(e["dur"] > 0 for e in kernels))
    check_that("work is tied to calls", sum("correlation" in e.get("args", {}) for e in kernels) >= CALLS)
    streams = {e["args"]["stream"] for e in work if "stream" in e.get("args", {})}
    check_that("two streams are told apart", len(streams) >= 2)
    first = min(kernels, key=lambda e: float(e["ts"]))
    figure("timeline.kernels", len(kernels), "", f"on {len(streams)} streams; the first: {str(first['name'])[:60]}")
    print(f"{len(work)} pieces of work on {len(streams)} streams")


if __name__ == "__main__":
    main()
