# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The models of examples/models, each in a small configuration, lose what they lose under PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tessera as ts

FOLDER = Path(__file__).resolve().parents[3] / "examples"
sys.path.insert(0, str(FOLDER))

from models import MODELS, TABLE1  # noqa: E402
from models.common import first_losses, set_weights, weights_of  # noqa: E402

BATCH, STEPS = 8, 10


def losses(name: str, dtype: str, steps: int) -> tuple[list[float], list[float]]:
    """The first losses of the model in tessera and in PyTorch."""
    torch = pytest.importorskip("torch")
    spec, random = MODELS[name], np.random.default_rng(0)
    ts.manual_seed(0)
    ours, theirs = spec.build(ts, **spec.tiny), spec.build(torch, **spec.tiny)
    set_weights(torch, theirs, weights_of(ours))
    arrays = [spec.data(random, BATCH, **spec.tiny) for _ in range(steps)]
    arrays = [tuple(a.astype(dtype) if a.dtype == np.float32 else a for a in batch) for batch in arrays]
    ours, theirs = (model.to(getattr(lib, dtype)) for lib, model in ((ts, ours), (torch, theirs)))
    found = first_losses(ts, spec, ours, [tuple(map(ts.from_numpy, batch)) for batch in arrays])
    return found, first_losses(torch, spec, theirs, [tuple(map(torch.from_numpy, batch)) for batch in arrays])


@pytest.mark.parametrize("name", MODELS)
def test_r16_a_model_has_pytorchs_first_losses(name: str) -> None:
    """[R16]"""
    found, expected = losses(name, "float32", 5)
    assert len(set(found)) == len(found)
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_r16_a_model_has_pytorchs_first_ten_losses_in_float64(name: str) -> None:
    """[R16] Without float32's rounding errors, which batch normalisation amplifies, ten steps agree closely."""
    found, expected = losses(name, "float64", STEPS)
    assert found == pytest.approx(expected, rel=1e-9)


PARAMETERS = {
    "alexnet": 61_100_840, "vgg19": 143_667_240, "resnet50": 25_557_032, "mobilenet_v2": 3_504_872,
    "ncf": 31_832_577,
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_r16_a_model_has_the_published_number_of_parameters(name: str) -> None:
    """[R16] As in torchvision and in the papers."""
    model = MODELS[name].build(ts)
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[name]


def test_r16_table_1_has_the_six_models_of_the_paper_and_their_throughput() -> None:
    """[R16]"""
    assert len(TABLE1) == 6
    assert all(MODELS[name].paper for name in TABLE1)
    assert not any(MODELS[name].paper for name in set(MODELS) - set(TABLE1))


def test_r17_the_page_has_the_table_of_the_paper() -> None:
    """[R17]"""
    from models.table1_page import PAPER, table_of_the_paper

    assert all(len(row) == len(TABLE1) for row in PAPER.values())
    table = "\n".join(table_of_the_paper())
    assert "| TensorFlow | 1422 | 66 | 200 | 216 | 9631 | 4.8e6 |" in table
    assert "| PyTorch | 1547 ± 316 | 119 ± 1 | 212 ± 2 | 463 ± 17 | 15512 ± 4.8 % | 5.4e6 ± 3.4 % |" in table
    assert table in (FOLDER.parent / "docs/table1.md").read_text("utf-8")


def table1(out: Path, *arguments: str) -> str:
    command = [sys.executable, str(FOLDER / "models/table1.py"), "--out", str(out), "--rounds", "1", "--steps", "1"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_r16_table1_compares_with_pytorch(tmp_path: Path) -> None:
    """[R16]"""
    pytest.importorskip("torch")
    printed = table1(tmp_path, "--models", "mobilenet_v2", "--batch", "4", "--size", "64", "--losses", "3")
    line = json.loads((tmp_path / "table1.json").read_text("utf-8"))["lines"][0]
    assert line["model"] == "mobilenet_v2" and line["difference"] < 1e-4 and len(line["losses"][1]) == 3
    page = (tmp_path / "table1.md").read_text("utf-8")
    assert page.count("| MobileNetV2 |") == 3 and f"{line['losses'][0][2]:.6f}" in page + printed
    assert (tmp_path / "table1.svg").read_text("utf-8").startswith("<?xml")


def test_r16_table1_without_pytorch_says_so(tmp_path: Path) -> None:
    """[R16]"""
    printed = table1(
        tmp_path, "--peer", "/bin/false", "--models", "mobilenet_v2", "--batch", "4", "--size", "32", "--losses", "1"
    )
    assert "PyTorch is not there" in printed
    line = json.loads((tmp_path / "table1.json").read_text("utf-8"))["lines"][0]
    assert len(line["losses"]) == 1 and "wall_ratio" not in line
