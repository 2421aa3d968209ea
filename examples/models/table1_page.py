# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The page and the chart that table1.py writes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from . import MODELS, TABLE1

OURS, THEIRS = "#2a6f97", "#e0a458"

# Table 1 of the paper, in the order of TABLE1; units per second.
PAPER = {
    "Chainer": ("778", "–", "219", "–", "–", "–"),
    "CNTK": ("845", "84", "210", "–", "–", "–"),
    "MXNet": ("1554", "113", "218", "444", "–", "–"),
    "PaddlePaddle": ("933", "112", "192", "557", "–", "–"),
    "TensorFlow": ("1422", "66", "200", "216", "9631", "4.8e6"),
    "PyTorch": tuple(MODELS[name].paper for name in TABLE1),
}


def number(value: float) -> str:
    """Three digits, with commas: 12.3, 1,230, 1,230,000."""
    if value >= 1000:
        scale = 10 ** (math.floor(math.log10(value)) - 2)
        return f"{round(value / scale) * scale:,}"
    return f"{value:.3g}"


def text_of(line: dict[str, Any]) -> str:
    """A model's result for a terminal."""
    spec = MODELS[line["model"]]
    text = f"{spec.title}, {line['device']}, batch {line['batch']}: {number(line['per_second'][0])} {spec.unit}/s"
    if len(line["per_second"]) == 2:
        low, high = line["wall_ratios"]
        text += f", PyTorch {number(line['per_second'][1])}, ratio {line['wall_ratio']:.2f} ({low:.2f} to {high:.2f})"
        text += f", processor time {line['cpu_ratio']:.2f}, losses within {line['difference']:.0e}"
    for step, losses in enumerate(zip(*line["losses"])):
        text += f"\n  step {step + 1}: loss " + ", PyTorch ".join(f"{loss:.6f}" for loss in losses)
    return text


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def throughputs(lines: list[dict[str, Any]], compared: bool) -> list[str]:
    head = ["model", "parameters", "batch", "unit", "tessera, units/s"]
    if compared:
        head += ["PyTorch, units/s", "ratio (range)", "ratio of processor time", "first losses differ by"]
    head.append("PyTorch's paper, its GPU")
    table = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for line in lines:
        spec = MODELS[line["model"]]
        sizes = ", ".join(f"{key} {value}" for key, value in line["sizes"].items())
        cells = [spec.title, f"{line['parameters'] / 1e6:.1f} M", f"{line['batch']}{f' ({sizes})' if sizes else ''}"]
        cells += [spec.unit, number(line["per_second"][0])]
        if compared:
            low, high = line["wall_ratios"]
            cells += [number(line["per_second"][1]), f"**{line['wall_ratio']:.2f}** ({low:.2f} to {high:.2f})"]
            cells += [f"{line['cpu_ratio']:.2f}", f"{line['difference']:.0e}"]
        table.append("| " + " | ".join([*cells, spec.paper or "–"]) + " |")
    return table


def losses(lines: list[dict[str, Any]]) -> list[str]:
    """A table of the losses, step by step."""
    steps = len(lines[0]["losses"][0])
    table = ["| model | side | " + " | ".join(f"step {i + 1}" for i in range(steps)) + " |", "|---" * (steps + 2) + "|"]
    for line in lines:
        for side, found in zip(("tessera", "PyTorch"), line["losses"]):
            title = MODELS[line["model"]].title
            table.append(f"| {title} | {side} | " + " | ".join(f"{loss:.6f}" for loss in found) + " |")
    return table


def table_of_the_paper() -> list[str]:
    """The throughputs that the paper reports, for comparison."""
    head = ["framework", *(f"{MODELS[name].title}, {MODELS[name].unit}/s" for name in TABLE1)]
    rows = ["| " + " | ".join([framework, *values]) + " |" for framework, values in PAPER.items()]
    text = [
        "## Table 1 of the paper", "",
        "As its authors measured it in 2019: training in float32, on one Quadro GP100 and two Xeon E5-2698 v4.", "",
    ]  # fmt: skip
    return [*text, "| " + " | ".join(head) + " |", "|---" * len(head) + "|", *rows]


def chart(lines: list[dict[str, Any]], title: str, path: Path) -> None:
    """Bars of the throughput relative to PyTorch's, or the throughput alone."""
    compared = len(lines[0]["per_second"]) == 2
    names = [MODELS[line["model"]].title for line in lines]
    figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
    places = range(len(lines))
    if compared:
        ratios = [line["wall_ratio"] for line in lines]
        axes.bar([p - 0.2 for p in places], ratios, 0.4, color=OURS, label="tessera")
        axes.bar([p + 0.2 for p in places], [1.0] * len(lines), 0.4, color=THEIRS, label="PyTorch = 1")
        axes.set_ylabel("throughput, PyTorch = 1")
        axes.legend()
    else:
        axes.bar(places, [line["per_second"][0] for line in lines], 0.5, color=OURS)
        axes.set_yscale("log")
        axes.set_ylabel("units per second")
    for place, line in zip(places, lines):
        height = line["wall_ratio"] if compared else line["per_second"][0]
        label = f"{line['wall_ratio']:.2f}\n{number(line['per_second'][0])}/s" if compared else number(height)
        axes.annotate(label, (place - (0.2 if compared else 0), height), ha="center", va="bottom", fontsize=8)
    axes.margins(y=0.2)
    axes.set_xticks(list(places), names)
    axes.set_title(title)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def section(facts: dict[str, Any], lines: list[dict[str, Any]], device: str, folder: Path) -> list[str]:
    compared = len(lines[0]["per_second"]) == 2
    where = f"{facts['processor']}, {facts['threads']} threads" if device == "cpu" else device
    path = folder / ("table1.svg" if device == "cpu" else f"table1_{device}.svg")
    chart(lines, f"Training, float32, {where}", path)
    text = [f"## {where}", "", f"![Throughput of training]({path.name})", "", *throughputs(lines, compared), ""]
    if compared:
        ratios = [line["wall_ratio"] for line in lines]
        paper = [line["wall_ratio"] for line in lines if line["model"] in TABLE1]
        means = [f"of all {len(lines)}: {geometric_mean(ratios):.2f}"]
        if len(paper) > 1:
            means.append(f"of the {len(paper)} of the paper: {geometric_mean(paper):.2f}")
        text += ["Geometric mean of the ratios, " + "; ".join(means) + ".", ""]
    return [*text, "Losses of the first steps, without dropout, each step with a batch of its own:", "", *losses(lines), ""]


def write(facts: dict[str, Any], lines: list[dict[str, Any]], folder: Path) -> str:
    """Writes table1.md and its charts, and returns the throughputs for a terminal."""
    versions = " and ".join(f"{name} {version}" for name, version in facts["versions"].items())
    text = [
        "# Table 1: training throughput of eight models", "",
        "Written by `bash examples/run.sh table1` (`examples/models/table1.py`). Both sides begin with the same weights and",
        "train on the same synthetic batches of the real shapes, in float32, in processes that take turns. A ratio above 1",
        f"means that tessera is faster; it is the median of {facts['rounds']} rounds of {facts['steps']} steps. A step is forward, loss,",
        f"backward and the optimizer's step. {versions}; {facts['date']}; the load of the machine was {facts['load']:.1f}.", "",
    ]  # fmt: skip
    found: list[str] = []
    for device in dict.fromkeys(line["device"] for line in lines):
        part = [line for line in lines if line["device"] == device]
        text += section(facts, part, device, folder)
        found += throughputs(part, len(part[0]["per_second"]) == 2)
    text += table_of_the_paper()
    (folder / "table1.md").write_text("\n".join(text).rstrip("\n") + "\n", "utf-8")
    return "\n".join([*found, "", f"page: {folder / 'table1.md'}"])
