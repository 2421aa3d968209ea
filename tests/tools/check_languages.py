#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The same programs in five languages: the tour's lines, the predictions of every language with every model, and training
runs that begin in one language and continue in another.

Trains one small network in each language, each from its own seed, and lets every language predict with each network. The
logits may differ from those of the first language by at most 1e-6. A run that any language saved and any language resumed
must give the same files, byte by byte. Run it with the interpreter of .venv; it writes to
build/languages. A missing language is a failure unless TESSERA_SKIP names it.

Usage: check_languages.py [--report junit.xml] [--epochs N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import blas_kernels  # noqa: F401 (before NumPy)
import numpy as np

import tessera as ts

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
FOLDER = BUILD / "languages"
EXAMPLES = ROOT / "examples"
LIMIT = 1e-6  # the difference between logits of one model
LEAST_ACCURACY = 0.95
LEAST_RESNET18_ACCURACY = 0.8  # after three epochs, where it is 0.95 to 0.97 by the seed; after two it is 0.70 to 0.92
RESNET18_TENSORS = 122  # of torchvision's state_dict
TIMEOUT = 900  # seconds; Julia compiles before it runs
JULIA = [BUILD / "julia/bin/julia", "-O1", "--startup-file=no", f"--project={ROOT}/wrappers/julia"]
TOLD = {  # variables that tell the programs where to find files
    "TESSERA_BUILD_DIR": str(BUILD / "release"),
    "JULIA_DEPOT_PATH": str(BUILD / "julia/depot"),
}

# More ranks than cores, also for root. One thread for each, so that sums have one order.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-x", "OMP_NUM_THREADS=1"]


class Failed(Exception):
    """The failure of a case."""


def command(language: str, program: str) -> list[Path | str]:
    """The command that starts a program of a language; its last element is the file that must exist."""
    if language in ("c", "cpp"):
        return [BUILD / "release/examples" / language / program]
    if language == "rust":
        return [BUILD / "rust/release/examples" / program]
    if language == "julia":
        return [*JULIA, EXAMPLES / "julia" / f"{program}.jl"]
    return [sys.executable, EXAMPLES / "python" / f"{program}.py"]


LANGUAGES = ("c", "cpp", "python", "rust", "julia")


def run(
    language: str, program: str, *arguments: Path | str, files: tuple[int, ...] = (), ranks: int = 0
) -> str:
    """The output of the program, which inherits the open files, and is started by MPI if there are ranks; raises Failed with
    the end of the output if it fails."""
    line = command(language, program)
    for needed in (line[0], line[-1]):
        if not Path(needed).exists():
            raise Failed(f"{Path(needed)} is missing")
    launcher = [*MPIRUN, "-n", ranks] if ranks else []
    done = subprocess.run(
        [str(part) for part in (*launcher, *line, *arguments)],
        cwd=FOLDER, env={**os.environ, **TOLD}, capture_output=True, text=True, timeout=TIMEOUT,
        pass_fds=files,
    )  # fmt: skip
    if done.returncode != 0:
        raise Failed(f"{program} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def accuracy_in(output: str, least: float = LEAST_ACCURACY) -> float:
    last = output.strip().splitlines()[-1] if output.strip() else ""
    words = last.split()
    if words[:2] != ["test", "accuracy"] or len(words) != 3:
        raise Failed(f"the last line is {last!r}, not 'test accuracy 0.9911'")
    if float(words[2]) < least:
        raise Failed(f"test accuracy {words[2]}, expected at least {least}")
    return float(words[2])


class Cases:
    """The cases that were run, for the report and for the exit status."""

    def __init__(self) -> None:
        self.suite = ET.Element("testsuite", name="languages")
        self.failed = 0

    def check(self, group: str, name: str, work):
        """The result of the work, or None if it failed."""
        case = ET.SubElement(self.suite, "testcase", classname=group, name=name)
        try:
            return work()
        except (Failed, OSError, subprocess.TimeoutExpired, ts.TesseraError) as error:
            ET.SubElement(case, "failure", message=str(error))
            print(f"FAILED {group} {name}: {error}", flush=True)
            self.failed += 1
            return None

    def skip(self, name: str, reason: str = "") -> None:
        case = ET.SubElement(self.suite, "testcase", classname="language", name=name)
        ET.SubElement(case, "skipped", message=reason or f"TESSERA_SKIP names {name}")


def check_tour(language: str) -> None:
    found = run(language, "tensor_tour").splitlines()
    wanted = (EXAMPLES / "tensor_tour.txt").read_text("utf-8").splitlines()
    for place, (a, b) in enumerate(zip(found, wanted), 1):
        if a.rstrip() != b:
            raise Failed(f"line {place} is {a!r}, expected {b!r}")
    if len(found) != len(wanted):
        raise Failed(f"{len(found)} lines, expected {len(wanted)}")


def check_gan() -> None:
    """Forty passes are enough for the samples to resemble digits."""
    run("c", "gan", BUILD / "digits/data.safetensors", FOLDER / "gan", "40")
    head, _, pixels = (FOLDER / "gan/gan.pgm").read_bytes().partition(b"\n")
    if head != b"P5 80 80 255" or len(pixels) != 80 * 80:
        raise Failed(f"the picture begins with {head!r} and has {len(pixels)} pixels")
    samples = np.frombuffer(pixels, np.uint8).reshape(8, 10, 8, 10).transpose(0, 2, 1, 3)[:, :, 1:9, 1:9]
    columns = samples.reshape(64, 8, 8).mean(axis=(0, 1))
    if columns[[0, 7]].mean() - columns[2:6].mean() < 60:
        raise Failed(f"the columns of the samples are {columns.round()} on average, expected ink in the middle")


def train(language: str, seed: int, epochs: int) -> float:
    out = FOLDER / language
    out.mkdir(parents=True, exist_ok=True)
    (out / "digits.safetensors").unlink(missing_ok=True)
    numbers = ["--epochs", str(epochs), "--seed", str(seed)]
    return accuracy_in(run(language, "digits", BUILD / "digits/data.safetensors", out, *numbers))


def train_resnet18(language: str) -> float:
    """Three epochs of ResNet-18 on real images; examples/run.sh resnet18 trains to the end."""
    out = FOLDER / language
    (out / "resnet18.safetensors").unlink(missing_ok=True)
    data = BUILD / "digits/data.safetensors"
    reached = accuracy_in(run(language, "resnet18", data, out, "--epochs", "3"), LEAST_RESNET18_ACCURACY)
    if len(ts.load_file(out / "resnet18.safetensors")) != RESNET18_TENSORS:
        raise Failed(f"the model has not {RESNET18_TENSORS} tensors")
    return reached


def predict(language: str, model: str) -> np.ndarray:
    weights, result = FOLDER / model / "digits.safetensors", FOLDER / f"{model}_by_{language}.safetensors"
    result.unlink(missing_ok=True)
    if not weights.exists():
        raise Failed(f"{model} left no model")
    accuracy_in(run(language, "predict", BUILD / "digits/data.safetensors", weights, result))
    logits = ts.load_file(result)["logits"]
    if logits.dtype is not ts.float32 or logits.ndim != 2 or logits.shape[1] != 10:
        raise Failed(f"logits are {logits.dtype!r} of shape {logits.shape}")
    return np.array(logits.numpy())


def compare(language: str, model: str, reference: np.ndarray | None, cells: dict[tuple[str, str], str]) -> np.ndarray:
    logits = predict(language, model)
    if reference is not None:
        if logits.shape != reference.shape:
            raise Failed(f"logits of shape {logits.shape}, expected {reference.shape}")
        difference = float(np.abs(logits.astype(np.float64) - reference).max())
        cells[model, language] = f"{difference:.1e}" if difference else "0"
        if not difference <= LIMIT:
            raise Failed(f"logits differ by {difference:.3e}, limit {LIMIT}")
    else:
        cells[model, language] = "reference"
    return logits


def begin_run() -> Path:
    """The folder of a run before its first step: a model and its data."""
    rng = np.random.default_rng(0)
    shapes = {"weight": (2, 3), "bias": (2,), "x": (8, 3), "y": (8, 2)}
    folder = FOLDER / "resume/start"
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: ts.tensor(rng.standard_normal(s).astype("float32")) for name, s in shapes.items()}
    ts.save_file(tensors, folder / "model.safetensors")
    return folder


def resume(language: str, start: Path, name: str, ranks: int = 0) -> Path:
    """The folder of the run after five more steps in this language."""
    folder = FOLDER / "resume" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    run(language, "resume", start, folder, ranks=ranks)
    return folder


def contents(folder: Path) -> dict[str, tuple[object, bytes]]:
    """The contents of the files of a run, independent of the order in which a language writes tensors."""
    found: dict[str, tuple[object, bytes]] = {}
    for part in ("model", "state"):
        with ts.io.safe_open(folder / f"{part}.safetensors") as archive:
            found[part] = (archive.metadata(), b"")
            for name in archive:
                tensor = archive[name]
                found[f"{part} {name}"] = ((tensor.dtype, tensor.shape), np.array(tensor.numpy()).tobytes())
    return found


def check_resumed(
    language: str, start: Path, name: str, expected: dict[str, tuple[object, bytes]] | None, ranks: int = 0
) -> Path:
    folder = resume(language, start, name, ranks)
    found = contents(folder)
    if expected is not None and found != expected:
        keys = sorted(found.keys() | expected.keys())
        raise Failed(f"differ from the first language's: {[k for k in keys if found.get(k) != expected.get(k)]}")
    return folder


def check_resuming(cases: Cases, languages: list[str]) -> None:
    """Every language begins a run, and every language continues each run: all files must have the same bits."""
    start = begin_run()
    first = second = None
    for name in languages:
        begun = cases.check("resume", f"{name}_begins", lambda: check_resumed(name, start, name, first))
        if begun is None:
            continue
        first = first or contents(begun)
        for other in languages:
            label = f"{name}_by_{other}"
            done = cases.check("resume", label, lambda: check_resumed(other, begun, label, second))
            second = second or (contents(done) if done else None)
    if shutil.which("mpirun") is None:
        return cases.skip("resume_ranks", "there is no mpirun")
    # Two ranks that divide the optimizer's state leave the files of one process, and each language continues what the one
    # before it has begun.
    for at, name in enumerate(languages if second else []):
        other = languages[(at + 1) % len(languages)]
        label = f"{name}_ranks"
        begun = cases.check("resume_ranks", label, lambda: check_resumed(name, start, label, first, 2))
        if begun is not None:
            further = f"{label}_by_{other}"
            cases.check("resume_ranks", further, lambda: check_resumed(other, begun, further, second, 2))


def check_sharing(cases: Cases, languages: list[str]) -> None:
    """The same memory in a process of each language, by a file descriptor and by a name: each reads what the one before
    wrote."""
    for strategy in ts.multiprocessing.get_all_sharing_strategies():
        ts.multiprocessing.set_sharing_strategy(strategy)
        x = ts.arange(1000, dtype=ts.float32).share_memory_()
        given = ts.multiprocessing.shared_handle(x)
        place = given.name or f"fd:{given.file}"

        def visit(name: str) -> None:
            wanted = f"sum {x.sum().item():.1f}"
            expected = x + 1
            files = () if given.name else (given.file,)
            found = run(name, "shared_tensor", place, str(given.nbytes), "1000", files=files).strip()
            if found != wanted:
                raise Failed(f"printed {found!r}, expected {wanted!r}")
            if not bool((x == expected).all()):
                raise Failed(f"left {x[:3].tolist()}, expected {expected[:3].tolist()}")

        for name in languages:
            cases.check("D6_shared_memory", f"{strategy}_{name}", lambda: visit(name))


def check_group(languages: list[str]) -> None:
    """One group of processes with a rank in every language, started by MPI's launcher."""
    folder = FOLDER / "ranks"
    shutil.rmtree(folder, ignore_errors=True)
    # A file for each rank: on one stream, the lines of two ranks can be mixed.
    job = [*MPIRUN, "--output-filename", f"{folder}:nocopy"]
    for at, language in enumerate(languages):
        job += [":"] * (at > 0) + ["-n", "1", *(str(part) for part in command(language, "ranks"))]
    done = subprocess.run(
        job, cwd=FOLDER, env={**os.environ, **TOLD}, capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    said = [printed_by(folder, at, "stdout") for at in range(len(languages))]
    if done.returncode != 0:
        errors = "".join(printed_by(folder, at, "stderr") for at in range(len(languages)))
        raise Failed(f"the ranks say {said}; mpirun ended with {done.returncode}:\n{done.stderr[-2000:]}{errors[-2000:]}")
    size, total = len(languages), len(languages) * (len(languages) - 1) // 2
    for at, name in enumerate(languages):
        wanted = f"rank {at} of {size} in {name}: sum {total}, largest {size - 1}\n"
        if said[at] != wanted:
            raise Failed(f"rank {at} says {said[at]!r}, expected {wanted!r}")


def printed_by(folder: Path, rank: int, stream: str) -> str:
    """What a rank wrote to a stream, by mpirun's --output-filename; "" if it never started."""
    return "".join(file.read_text() for file in folder.glob(f"*/rank.{rank}/{stream}"))


def trained_by_ranks(language: str, ranks: int) -> dict[str, np.ndarray]:
    """The weights after ten steps of data-parallel training, from those that Python trained."""
    out = FOLDER / f"ddp_{language}_{ranks}.safetensors"
    out.unlink(missing_ok=True)
    data, weights = BUILD / "digits/data.safetensors", FOLDER / "python/digits.safetensors"
    run(language, "digits_ddp", data, weights, out, ranks=ranks)
    return {name: np.array(tensor.numpy()) for name, tensor in ts.load_file(out).items()}


def check_parallel(language: str, alone: dict[str, np.ndarray]) -> None:
    found = trained_by_ranks(language, 2)
    if found.keys() != alone.keys():
        raise Failed(f"expected the tensors {sorted(alone)}, got {sorted(found)}")
    difference = max(float(np.abs(found[name].astype(np.float64) - alone[name]).max()) for name in alone)
    if not difference <= LIMIT:
        raise Failed(f"weights of two ranks differ from those of one process by {difference:.3e}, limit {LIMIT}")


def check_data_parallel(cases: Cases, languages: list[str]) -> None:
    """Two ranks with halves of the batches, in every language, against one process with whole batches in Python."""
    if shutil.which("mpirun") is None:
        return cases.skip("data_parallel", "there is no mpirun")
    alone = cases.check("data_parallel", "one_process", lambda: trained_by_ranks("python", 1))
    for name in languages if alone else []:
        cases.check("data_parallel", name, lambda: check_parallel(name, alone))


def table(languages: list[str], accuracies: dict[str, float], cells: dict[tuple[str, str], str]) -> str:
    lines = ["| model of | test accuracy | " + " | ".join(f"predicted by {name}" for name in languages) + " |"]
    lines.append("|---" * (len(languages) + 2) + "|")
    for model in languages:
        shown = [cells.get((model, name), "failed") for name in languages]
        accuracy = f"{accuracies[model]:.4f}" if model in accuracies else "failed"
        lines.append(f"| {model} | {accuracy} | " + " | ".join(shown) + " |")
    return "Largest absolute difference of the logits:\n\n" + "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=Path, help="write the cases there, as junit")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = Cases()
    left_out = os.environ.get("TESSERA_SKIP", "").split(",")
    languages = [name for name in LANGUAGES if name not in left_out]
    for name in LANGUAGES:
        if name in left_out:
            cases.skip(name, f"TESSERA_SKIP names {name}")

    cases.check("data", "write", lambda: run("python", "digits", "--only-data", "--out", BUILD / "digits"))
    cases.check("gan", "c", check_gan)
    accuracies: dict[str, float] = {}
    for seed, name in enumerate(languages):
        cases.check("tour", name, lambda: check_tour(name))
        reached = cases.check("train", name, lambda: train(name, seed, options.epochs))
        if reached is not None:
            accuracies[name] = reached
    cells: dict[tuple[str, str], str] = {}
    for model in languages:
        reference = None
        for name in languages:
            logits = cases.check("predict", f"{model}_by_{name}", lambda: compare(name, model, reference, cells))
            reference = logits if reference is None else reference
    for name in languages:
        if name != "c":
            cases.check("r16_resnet18", name, lambda: train_resnet18(name))
    check_resuming(cases, languages)
    check_sharing(cases, languages)
    if shutil.which("mpirun"):
        cases.check("ranks", "one_group", lambda: check_group(languages))
    else:
        cases.skip("ranks", "MPI's launcher is not installed")
    check_data_parallel(cases, languages)
    print(table(languages, accuracies, cells))
    if options.report:
        ET.ElementTree(cases.suite).write(options.report, encoding="unicode")
    return 1 if cases.failed else 0


if __name__ == "__main__":
    sys.exit(main())
