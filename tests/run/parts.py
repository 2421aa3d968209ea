# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of tests/run.sh and what each of them needs. Of those that could start, the first in this list does."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    name: str
    script: str  # tests/run/<script>.sh <name>
    needs: tuple[str, ...] = ()  # parts that must have succeeded
    after: tuple[str, ...] = ()  # parts that must have ended
    compiles: bool = False  # for all cores, one at a time, in the background of the others
    full: bool = False  # only with --full
    makes: str = ""  # what other parts use of it: a path in the checkout; without it an earlier run does not count
    always: bool = False  # runs also where nothing has changed since it passed (earlier.py); so does what compiles


def rust(name: str, after: str, *needs: str, makes: str = "") -> Part:
    """Cargo works for one at a time in its folder."""
    return Part(name, "rust", ("library", *needs), (after,) if after else (), makes=makes)


PARTS = (
    # Builds, in the order in which others wait for them.
    Part("library", "builds", compiles=True),
    Part("build-release", "builds", ("library",), compiles=True),
    Part("build-asan", "builds", after=("build-release",), compiles=True),
    Part("build-tsan", "builds", after=("build-asan",), compiles=True, full=True),
    Part("cuda-compile", "cuda", after=("build-asan", "build-tsan"), compiles=True),
    Part("julia-setup", "builds", always=True),
    Part("extension", "builds", ("library",), always=True),
    # The longest chains first.
    rust("rust", ""),
    Part("julia", "julia", ("julia-setup", "library")),
    rust("rust-examples", "rust", makes="build/rust/release/examples"),
    Part("python", "python", ("extension",)),
    Part("cuda-on-host", "cuda", ("extension", "build-release")),
    # The tests with most threads and processes: a run without a change is one more try for them.
    Part("release", "ctest", ("build-release",), always=True),
    Part("tools", "ctest", ("build-release",), ("release",)),
    Part("languages", "languages", ("build-release", "extension"), ("rust-examples", "julia")),
    Part("gpu-runner", "python", ("extension", "build-release")),
    Part("wheel", "python", ("extension", "build-release")),
    rust("rust-style", "rust-examples"),
    rust("rust-consumer", "rust-style", "build-release"),
    rust("rust-guide", "rust-consumer", "build-release"),
    rust("rust-ndarray", "rust-guide"),
    Part("julia-interpreted", "julia", ("julia-setup", "library"), ("julia",)),
    Part("julia-memory", "julia", ("julia-setup", "library"), ("julia",)),
    Part("julia-guide", "julia", ("julia-setup", "build-release"), ("julia",)),
    Part("types", "python"),
    Part("asan", "ctest", ("build-asan",)),
    Part("cuda", "cuda", ("cuda-compile", "extension")),
    Part("tsan", "ctest", ("build-tsan",), full=True),
    Part("long", "ctest", ("build-release",), ("tools",), full=True),
    Part("julia-compiled", "julia", ("julia-setup", "library"), ("julia-interpreted",), full=True),
    Part("random-shapes", "python", ("extension",), full=True),
    Part("random-programs", "python", ("extension",), full=True),
    Part("fuzz-functions", "fuzz", ("build-release",), full=True),
    Part("fuzz-safetensors", "fuzz", ("build-release",), full=True),
    Part("fuzz-asan", "fuzz", ("build-asan",), full=True),
    Part("numpy2", "python", ("extension",), full=True),
)
