# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The runner of tests/gpu on a machine without a GPU: a part that crashes only affects itself, the report has every row,
and shows no value that was not measured. Every part runs to its end with the stand-ins for CUDA on the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import build  # noqa: E402
import machine  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
from parts import BUILD_PART, PARTS, Part  # noqa: E402
from runner import Outcome, run_all  # noqa: E402

GOAL_KEYS = [goal.key for goal in report.GOALS]


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


@pytest.fixture(autouse=True)
def logs_of_this_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "LOGS", tmp_path)


def run(parts: list[Part], seconds: float = 60) -> dict[str, Outcome]:
    outcomes = run_all(parts, time.monotonic() + seconds, lambda outcomes: None)
    return {outcome.part.name: outcome for outcome in outcomes}


def command(*arguments: str, path: str = os.environ["PATH"], **env: str) -> subprocess.CompletedProcess[str]:
    """`tests/run.sh --gpu`, as a user types it."""
    given = {key: value for key, value in os.environ.items() if not key.startswith("TSR_GPU_")}
    given |= {"TSR_GPU_PYTHON": sys.executable, "PATH": path, **env}
    return subprocess.run(["bash", str(machine.ROOT / "tests" / "run.sh"), "--gpu", *arguments], env=given,
                          capture_output=True, text=True, timeout=600)  # fmt: skip


def driver_that_says(folder: Path, line: str) -> str:
    """A PATH with an nvidia-smi that reports a device; an empty line means a machine without one."""
    folder.mkdir()
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{f'echo {line!r}' if line else 'exit 9'}\n")
    (folder / "nvidia-smi").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


# ---- parts ----


def test_a_part_that_dies_costs_only_itself() -> None:
    figure = "import json, os; print('said'); open(os.environ['TSR_GPU_FIGURES'], 'w').write('{}\\n{{\"key')"
    figure = figure.format(json.dumps({"key": "a", "value": 1, "unit": "", "note": ""}))
    found = run(
        [
            Part("crash", "", 30, python(figure + "; os.abort()")),
            Part("wrong", "", 30, python("raise ValueError('so it is')")),
            Part("endless", "", 1, python("import time; print('begun', flush=True); time.sleep(60)")),
            Part("skip", "", 30, python("import sys; print('no tool'); sys.exit(77)")),
            Part("fine", "", 30, python("print('all is well')")),
        ]
    )
    assert {name: o.status for name, o in found.items()} == {
        "crash": "crashed", "wrong": "failed", "endless": "timed out", "skip": "skipped", "fine": "passed",
    }  # fmt: skip
    assert found["crash"].reason == "SIGABRT" and "said" in found["crash"].tail
    assert [f["key"] for f in found["crash"].figures] == ["a"]  # the incomplete line is left out
    assert "ValueError: so it is" in found["wrong"].tail and "begun" in found["endless"].tail
    assert found["skip"].reason == "no tool" and found["fine"].reason == "all is well" and found["fine"].tail == ""


def test_what_a_part_has_started_ends_with_it(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    child = (
        f"import os, subprocess; p = subprocess.Popen(['sleep', '100']); open({str(started)!r}, 'w').write(str(p.pid))"
    )
    assert run([Part("leaves", "", 30, python(child))])["leaves"].status == "passed"
    state = Path(f"/proc/{started.read_text()}/stat")
    end = time.monotonic() + 10
    while state.exists() and state.read_text().split()[2] != "Z" and time.monotonic() < end:
        time.sleep(0.05)
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_parts_without_time_are_told_as_dropped() -> None:
    parts = [Part("long", "", 1, python("import time; time.sleep(60)")), Part("late", "", 60, python("print(1)"))]
    found = run(parts, 1.5)
    assert found["long"].status == "timed out" and found["long"].seconds < 10
    assert found["late"].status == "dropped" and found["late"].reason == "no time was left"


def test_a_failed_build_drops_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Part("build", "", 30, python("raise SystemExit('nvcc was not found')"))
    monkeypatch.setattr(runner, "BUILD_PART", broken)
    found = run([broken, Part("ops", "", 30, python("print(1)"))])
    assert found["build"].reason == "nvcc was not found"
    assert found["ops"].status == "dropped" and found["ops"].reason == "the build failed"


# ---- the report ----


def outcome(part: str, status: str, *figures: tuple[str, float]) -> Outcome:
    known = {p.name: p for p in (BUILD_PART, *PARTS)}
    lines = [{"key": key, "value": value, "unit": "u", "note": ""} for key, value in figures]
    return Outcome(known[part], status, 1.0, "because", "the tail" if status == "failed" else "", lines)


def test_every_goal_has_a_row_with_a_figure_or_a_reason(tmp_path: Path) -> None:
    outcomes = [
        outcome("leaks", "passed", ("leaks.device_allocations", 0)), outcome("bandwidth", "passed", ("bandwidth.worst", 50.0)),
        outcome("gemm", "failed"), outcome("models", "timed out", ("models.ncf.float32.ratio", 1.25)),
    ]  # fmt: skip
    text = report.write(tmp_path, outcomes, {"name": "NVIDIA H200"}, 60)
    whole = json.loads((tmp_path / "report.json").read_text())
    rows = {row["key"]: row for row in whole["goals"]}
    assert list(rows) == GOAL_KEYS and len(set(GOAL_KEYS)) == len(GOAL_KEYS)
    assert rows["leaks.device_allocations"]["met"] is True and rows["bandwidth.worst"]["met"] is False
    assert rows["models.ncf.float32.ratio"]["measured"] == 1.25
    assert rows["models.gnmt.float32.ratio"]["reason"] == "the part models: timed out, because"
    assert rows["bandwidth.median"]["reason"] == "the part bandwidth did not come to it"
    assert rows["gemm.worst"]["reason"] == "the part gemm: failed, because"
    assert rows["overhead.worst"]["reason"] == "the part overhead was not asked for"
    assert (
        whole["gpu_measured"] and "### matrix products against cuBLAS alone: failed" in text and "    the tail" in text
    )
    assert "| 50 u **missed** |" in text and "| 1.25 u |" in text
    assert (tmp_path / "report.md").read_text() == text


def test_a_repeated_part_takes_its_place_in_the_report(tmp_path: Path) -> None:
    report.write(
        tmp_path, [outcome("ops", "failed"), outcome("gemm", "passed", ("gemm.worst", 99.0))], {"commit": "old"}, 60
    )
    kept = report.earlier(tmp_path, PARTS, {"ops"})
    assert [(o.part.name, o.status, o.figures[0]["value"]) for o in kept] == [("gemm", "passed", 99.0)]
    text = report.write(tmp_path, [outcome("ops", "passed"), *kept], {"commit": "new"}, 60)
    assert "| passed | 1.0 | because (of an earlier run, commit" in text and "failed" not in text
    assert report.earlier(tmp_path / "none", PARTS, set()) == []


def test_goals_name_parts_that_there_are() -> None:
    assert {goal.part for goal in report.GOALS} <= {part.name for part in PARTS}
    assert sum(part.seconds for part in (BUILD_PART, *PARTS)) > 9 * 60  # a limit of each, not of the whole


# ---- the command ----


def test_without_a_device_nothing_reads_as_passed(tmp_path: Path) -> None:
    result = command(path=driver_that_says(tmp_path / "bin", ""), TSR_GPU_OUT=str(tmp_path / "out"))
    assert result.returncode == 3 and "skipped: no device" in result.stdout
    whole = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {part["status"] for part in whole["parts"]} == {"skipped"} and len(whole["parts"]) == 1 + len(PARTS)
    assert not whole["gpu_measured"] and all("reason" in row for row in whole["goals"])
    assert "SKIPPED: NO DEVICE" in (tmp_path / "out" / "report.md").read_text()


def test_without_the_bundle_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    path = driver_that_says(tmp_path / "bin", "NVIDIA H200, 580.1, 9.0, 143771 MiB, 1980 MHz, 3201 MHz")
    result = command("build", path=path, TSR_GPU_OUT=str(tmp_path / "out"), TSR_GPU_BUNDLE=str(tmp_path / "none"))
    assert result.returncode == 2 and len(result.stdout.splitlines()) == 1
    assert "scripts/gpu_bundle.sh" in result.stdout


def test_a_part_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = command("opps", TSR_GPU_OUT=str(tmp_path))
    assert result.returncode == 1 and "unknown part 'opps'; there are: build, device, memory" in result.stderr


@pytest.fixture(scope="module")
def pretended(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    plugin = machine.ROOT / "build" / "release" / "tests" / "support" / "cuda_on_host" / "libtessera_cuda.so"
    assert plugin.is_file(), "build the target tsr_cuda_on_host in build/release"
    out = tmp_path_factory.mktemp("report")
    result = command(TSR_GPU_PRETEND="1", TSR_GPU_OUT=str(out))
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return json.loads((out / "report.json").read_text()), (out / "report.md").read_text()


def test_every_part_runs_over_the_stand_ins(pretended: tuple[dict[str, Any], str]) -> None:
    whole, text = pretended
    status = {part["name"]: part["status"] for part in whole["parts"]}
    assert list(status) == [part.name for part in PARTS]
    assert status.pop("sanitizer") == "skipped"
    assert set(status.values()) == {"passed"}, text


def test_stand_ins_measure_nothing(pretended: tuple[dict[str, Any], str]) -> None:
    whole, text = pretended
    assert "# NO GPU WAS MEASURED" in text and whole["gpu_measured"] is False
    assert all("measured" not in row and "no GPU" in row["reason"] for row in whole["goals"])
    told = {figure["key"] for part in whole["parts"] for figure in part["figures"]}
    wanted = {key for key in GOAL_KEYS if not key.startswith(("models.", "gemm."))}
    assert wanted <= told and {"models.ncf.float32.ratio", "gemm.64x64x64 float32"} <= told


# ---- pieces ----


def test_python_packages_become_a_toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    for name in ("cu13/bin/nvcc", "cu13/bin/nvcc.profile", "cu13/bin/ptxas", "cu13/include/cuda_runtime.h", "cu13/lib/libcudart.so.13",
                 "cu13/lib/libcudart_static.a", "cu13/nvvm/bin/cicc", "cudnn/include/cudnn.h", "cudnn/lib/libcudnn.so.9"):  # fmt: skip
        (site / "nvidia" / name).parent.mkdir(parents=True, exist_ok=True)
        (site / "nvidia" / name).touch()
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    monkeypatch.setattr(build, "TOOLKIT", tmp_path / "toolkit")
    assert [folder.name for folder in machine.package_folders()][-2:] == ["cu13", "cudnn"]
    nvcc = build.toolkit_from_packages(site / "nvidia" / "cu13" / "bin" / "nvcc")
    assert nvcc.is_file() and not nvcc.is_symlink() and (nvcc.parent / "ptxas").is_symlink()
    for name in (
        "lib64/libcudart.so",
        "lib64/libcudnn.so",
        "lib64/libcudart_static.a",
        "include/cudnn.h",
        "nvvm/bin/cicc",
    ):
        assert (tmp_path / "toolkit" / name).exists(), name


@pytest.mark.parametrize(
    "code, summary, clean",
    [
        (0, "========= ERROR SUMMARY: 0 errors", True),
        (0, "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", True),
        (99, "========= ERROR SUMMARY: 3 errors", False),
        (0, "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)", False),
        (1, "========= ERROR SUMMARY: 0 errors", False),  # a test failed
        (None, "", False),
        (0, "no kernel was run", False),
    ],
)
def test_only_a_summary_without_errors_is_clean(code: int | None, summary: str, clean: bool) -> None:
    from part_sanitizer import judged

    assert judged("tool", code, f"1 passed\n{summary}\n") is clean


def test_the_share_of_busy_time_counts_no_moment_twice() -> None:
    from part_models import covered

    assert covered([(0, 4), (1, 2), (3, 6), (8, 9)]) == 7
    assert covered([]) == 0


def test_shards_hold_every_test_once() -> None:
    from shards import Share

    class Config:
        class hook:  # noqa: N801
            @staticmethod
            def pytest_deselected(items: list[int]) -> None:
                pass

    shares = []
    for number in range(3):
        items = list(range(10))
        Share(number, 3).pytest_collection_modifyitems(Config, items)  # type: ignore[arg-type]
        shares += items
    assert sorted(shares) == list(range(10))
