# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains the models of this folder with tessera and with PyTorch, side by side in one run: Table 1 of PyTorch's paper.

Both sides begin with the same weights and see the same batches. First come the losses of the first steps, each with a batch
of its own and without dropout; then the throughput, in rounds that take turns. A step is forward, loss, backward and the
optimizer's step. Writes a page of Markdown and a bar chart (SVG).

PyTorch may live in another interpreter (--peer PYTHON). Without any, only tessera's figures are shown.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tqdm import tqdm

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from models import MODELS, table1_page  # noqa: E402

TOLERANCE = 1e-4  # of the losses, relative


class Side:
    """A process of side.py."""

    def __init__(self, python: str, library: str, threads: int) -> None:
        self.library = library
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [python, str(HERE / "side.py"), library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.about = self.ask("about", threads=threads)

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps({"do": do, **arguments}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise SystemExit(f"{self.library}, {do}: {answer['error']}")
        return answer

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def has_torch(python: str) -> bool:
    done = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    return done.returncode == 0


def peer_of(options: argparse.Namespace) -> str | None:
    """The interpreter that has PyTorch."""
    if options.peer:
        return options.peer
    return sys.executable if importlib.util.find_spec("torch") else None


def sizes_of(name: str, options: argparse.Namespace) -> dict[str, int]:
    sizes = dict(MODELS[name].sizes)
    if MODELS[name].data.__name__ == "images":
        sizes["size"] = options.size
    return sizes


def measure(name: str, device: str, sides: list[Side], options: argparse.Namespace) -> dict[str, Any]:
    """Losses and throughput of a model on every side."""
    spec, sizes = MODELS[name], sizes_of(name, options)
    batch = spec.batch * options.batch // 8 if device == "cpu" else spec.device_batch
    with tempfile.TemporaryDirectory() as folder:
        start = {"model": name, "batch": batch, "sizes": sizes, "device": device, "weights": f"{folder}/weights.npz"}
        prepared = [side.ask("prepare", write=i == 0, steps=options.losses, **start) for i, side in enumerate(sides)]
    rounds = []
    for turn in range(options.rounds):
        order = sides if turn % 2 == 0 else sides[::-1]
        found = {side.library: side.ask("run", steps=options.steps) for side in order}
        rounds.append([found[side.library] for side in sides])
    for side in sides:
        side.ask("drop")
    done = batch * spec.each(**sizes) * options.steps
    line: dict[str, Any] = {
        "model": name, "device": device, "batch": batch, "sizes": sizes, "parameters": prepared[0]["parameters"],
        "losses": [answer["losses"] for answer in prepared],
        "per_second": [statistics.median(done / r[i]["wall"] for r in rounds) for i in range(len(sides))],
    }  # fmt: skip
    if len(sides) == 2:
        for key in ("wall", "cpu"):
            ratios = [theirs[key] / ours[key] for ours, theirs in rounds]
            line[f"{key}_ratio"] = statistics.median(ratios)
            line[f"{key}_ratios"] = [min(ratios), max(ratios)]
        line["difference"] = max(abs(a - b) / abs(b) for a, b in zip(*line["losses"]))
    return line


def devices_of(sides: list[Side], wanted: list[str]) -> list[str]:
    there = ["cpu"] + (["cuda"] if all(side.about["cuda"] for side in sides) else [])
    for device in wanted:
        if device not in there:
            raise SystemExit(f"--device: there is no {device} device for {' and '.join(s.library for s in sides)}")
    return wanted or there


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--steps", type=int, default=3, help="of a round")
    parser.add_argument("--rounds", type=int, default=7, help="of each side")
    parser.add_argument("--losses", type=int, default=10, help="first losses to compare")
    parser.add_argument("--batch", type=int, default=8, help="images on the CPU; other batches grow in proportion")
    parser.add_argument("--size", type=int, default=128, help="pixels along an image's side")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", nargs="+", choices=["cpu", "cuda"], default=[], help="default: every one that is there")
    parser.add_argument("--peer", metavar="PYTHON", help="the interpreter that has PyTorch")
    parser.add_argument("--out", type=Path, default=Path("build/table1"), help="the folder of page and chart")
    return parser.parse_args()


def main() -> int:
    options = read_options()
    sides = [Side(sys.executable, "tessera", options.threads)]
    peer = peer_of(options)
    if peer is not None and has_torch(peer):
        sides.append(Side(peer, "torch", options.threads))
    else:
        print("PyTorch is not there (--peer PYTHON names an interpreter that has it): tessera's figures alone")
    lines = []
    cases = [(name, device) for device in devices_of(sides, options.device) for name in options.models]
    load = []
    for name, device in tqdm(cases, unit="model", disable=None):
        lines.append(measure(name, device, sides, options))
        load.append(os.getloadavg()[0])
        print(table1_page.text_of(lines[-1]), flush=True)
    for side in sides:
        side.end()
    facts = {
        "date": f"{datetime.date.today()}", "processor": processor(), "threads": options.threads,
        "versions": {side.library: side.about["version"] for side in sides},
        "steps": options.steps, "rounds": options.rounds, "load": max(load), "tolerance": TOLERANCE,
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "table1.json").write_text(json.dumps({"facts": facts, "lines": lines}, indent=1) + "\n")
    print("\n" + table1_page.write(facts, lines, options.out))
    unequal = [line["model"] for line in lines if line.get("difference", 0) > TOLERANCE]
    if unequal:
        print(f"losses differ by more than {TOLERANCE}: {', '.join(unequal)}")
    return 1 if unequal else 0


if __name__ == "__main__":
    raise SystemExit(main())
