# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a run: every goal for an H200 with the measured value, the parts, all figures, the failures."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import machine

if TYPE_CHECKING:
    from parts import Part
    from runner import Outcome

MODELS = {"alexnet": "AlexNet", "vgg19": "VGG-19", "resnet50": "ResNet-50", "mobilenet_v2": "MobileNetV2",
          "gnmt": "GNMTv2", "ncf": "NCF", "gpt2": "GPT-2", "vit": "ViT-B/16"}  # fmt: skip


@dataclass(frozen=True)
class Goal:
    text: str
    goal: str
    key: str  # the figure's
    part: str  # the part that measures it
    met: Callable[[float], bool]


def model_goals() -> list[Goal]:
    goals = []
    for kind in ("float32", "bfloat16"):
        for name, title in MODELS.items():
            goals.append(Goal(
                f"training step of {title}, {kind}: PyTorch's time / ours", ">= 1.0", f"models.{name}.{kind}.ratio",
                "models", lambda v: v >= 1.0,
            ))  # fmt: skip
    return goals


GOALS = [
    *model_goals(),
    Goal("host time per op, from Python, the slowest of the calls", "<= 2.5 us", "overhead.worst", "overhead", lambda v: v <= 2.5),
    Goal("device busy in ResNet-50, float32", ">= 95 %", "models.resnet50.float32.busy", "models", lambda v: v >= 95),
    Goal("small kernels as one graph: time of the calls / its own, worst", ">= 1.5", "graphs.worst", "graphs", lambda v: v >= 1.5),
    Goal("copy of pinned memory to the device", ">= 40 GB/s", "pinned.to_device", "pinned", lambda v: v >= 40),
    Goal("device allocations in steady state (900 steps)", "0", "leaks.device_allocations", "leaks", lambda v: v == 0),
    Goal("elementwise, of the bandwidth of a copy, median", ">= 90 %", "bandwidth.median", "bandwidth", lambda v: v >= 90),
    Goal("elementwise, of the bandwidth of a copy, worst", ">= 90 %", "bandwidth.worst", "bandwidth", lambda v: v >= 90),
    Goal("GEMM, of the speed of cuBLAS or cuBLASLt alone, worst", ">= 95 %", "gemm.worst", "gemm", lambda v: v >= 95),
]  # fmt: skip


def versions(known: dict[str, str]) -> dict[str, str]:
    """The versions of the measured library and of the software of the machine."""

    def package(name: str) -> str:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return "not there"

    found = {key.replace("_", " "): value for key, value in known.items()}
    found["commit"] = machine.commit()
    found["Python"] = platform.python_version()
    found |= {name: package(name) for name in ("torch", "numpy", "nvidia-cublas", "nvidia-cudnn-cu13")}
    found["cores"] = str(os.cpu_count())
    found["nvcc"] = str(machine.find_tool("nvcc") or "not found")
    return found


def judged(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Each goal with its measured value, or with the reason why there is none."""
    figures = {f["key"]: f for outcome in outcomes for f in outcome.figures}
    by_part = {outcome.part.name: outcome for outcome in outcomes}
    rows = []
    for goal in GOALS:
        row: dict[str, Any] = {"text": goal.text, "goal": goal.goal, "key": goal.key}
        found, part = figures.get(goal.key), by_part.get(goal.part)
        if found is not None and not machine.PRETEND:
            row |= {"measured": found["value"], "unit": found["unit"], "met": goal.met(found["value"])}
        elif machine.PRETEND:
            row["reason"] = "no GPU: the stand-ins on the host were run"
        elif part is None:
            row["reason"] = f"the part {goal.part} was not asked for"
        elif part.status == "passed":
            row["reason"] = f"the part {goal.part} did not come to it"
        else:
            row["reason"] = f"the part {goal.part}: {part.status}, {part.reason}"
        rows.append(row)
    return rows


def cell(row: dict[str, Any]) -> str:
    if "reason" in row:
        return f"not measured: {row['reason'][:120]}"
    return f"{row['measured']:g} {row['unit']}{'' if row['met'] else ' **missed**'}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(c.replace("|", "/") for c in row) + " |" for row in rows]


def last_word(outcome: Outcome, facts: dict[str, str]) -> str:
    old = f" (of an earlier run, commit {outcome.commit})" if outcome.commit != facts.get("commit") else ""
    return outcome.reason[:150] + old


def markdown(
    outcomes: Sequence[Outcome], facts: dict[str, str], goals: Sequence[dict[str, Any]], seconds: float
) -> str:
    lines = ["# Tessera on a GPU", ""]
    if machine.PRETEND:
        lines += [
            "# NO GPU WAS MEASURED",
            "",
            "The stand-ins for CUDA on the host were run, to test the runner itself.",
            "",
        ]
    elif "name" not in facts:
        lines += ["# SKIPPED: NO DEVICE", ""]
    passed = sum(outcome.status == "passed" for outcome in outcomes)
    lines += [f"{passed} of {len(outcomes)} parts passed, in {seconds / 60:.1f} minutes.", ""]
    lines += [f"- {key}: {value}" for key, value in facts.items()]
    lines += [
        "",
        "## Goals for an H200",
        "",
        *table(("what", "goal", "measured"), [(g["text"], g["goal"], cell(g)) for g in goals]),
    ]
    lines += ["", "## Parts", ""]
    lines += table(("part", "status", "seconds", "last word"),
                   [(o.part.title, o.status, f"{o.seconds:.1f}", last_word(o, facts)) for o in outcomes])  # fmt: skip
    lines += ["", "## Figures", ""]
    lines += table(("figure", "value", "note"),
                   [(f["key"], f"{f['value']:g} {f['unit']}", f["note"]) for o in outcomes for f in o.figures])  # fmt: skip
    failed = [outcome for outcome in outcomes if outcome.tail]
    lines += ["", "## Failures", ""] if failed else []
    for outcome in failed:
        lines += [
            f"### {outcome.part.title}: {outcome.status}",
            "",
            *(f"    {line[:300]}" for line in outcome.tail.splitlines()),
            "",
        ]
    return "\n".join(lines) + "\n"


def earlier(out: Path, parts: Sequence[Part], again: Collection[str]) -> list[Outcome]:
    """The results of an earlier report for the parts that do not run again."""
    from runner import Outcome

    try:
        whole = json.loads((out / "report.json").read_text("utf-8"))
        if whole["pretended"] != machine.PRETEND:
            return []
        rows = {row["name"]: row for row in whole["parts"]}
    except (OSError, ValueError, KeyError):
        return []
    kept = [(part, rows[part.name]) for part in parts if part.name in rows and part.name not in again]
    return [
        Outcome(part, r["status"], r["seconds"], r["reason"], r["tail"], r["figures"], r["commit"]) for part, r in kept
    ]


def write(out: Path, outcomes: Sequence[Outcome], facts: dict[str, str], seconds: float) -> str:
    """Writes report.json and report.md; returns the text of the latter."""
    goals = judged(outcomes)
    parts = [
        {"name": o.part.name, "title": o.part.title, "status": o.status, "seconds": round(o.seconds, 1),
         "reason": o.reason, "figures": o.figures, "tail": o.tail, "commit": o.commit} for o in outcomes
    ]  # fmt: skip
    whole = {"gpu_measured": "name" in facts and not machine.PRETEND, "pretended": machine.PRETEND, "machine": facts,
             "seconds": round(seconds, 1), "goals": goals, "parts": parts}  # fmt: skip
    (out / "report.json").write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    text = markdown(outcomes, facts, goals, seconds)
    (out / "report.md").write_text(text, "utf-8")
    return text
