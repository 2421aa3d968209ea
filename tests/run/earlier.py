# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The reports of parts that passed in an earlier run, for parts of which nothing has changed since.

What the verdict of a part can depend on has a key: the contents of all files of the checkout that git does not ignore, the
options and libraries of the builds, the installed packages and tools, the processor, and the environment variables that
the builds, the tests and the languages read. A part that passed leaves its reports and its key in build/earlier. Where the
key is the same, the schedule takes these reports instead of running the part again.

Kept are only reports without a failure and without a skip: what was skipped might be there now. A tree that changes while
a part runs leaves nothing. Where git does not answer, nothing is kept or taken.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))

import summarize  # noqa: E402

# Of the environment: variables with these beginnings, and these.
BEGINNINGS = ("TSR_", "TESSERA_", "CARGO", "RUST", "JULIA", "PYTHON", "OMP_", "OPENBLAS", "MKL_", "DNNL_", "ONEDNN_", "CUDA",
              "OMPI_", "MALLOC_", "ASAN_", "UBSAN_", "LSAN_", "TSAN_", "GTEST_", "CMAKE_")  # fmt: skip
VARIABLES = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "LANG", "LC_ALL", "TZ")
# Tools that need not come from a package of the system.
TOOLS = ("gcc", "g++", "clang++", "cmake", "ninja", "nvcc", "nvidia-smi", "cargo", "rustc", "julia", "mpirun", "chromium", "valgrind")


def digest(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


class Earlier:
    def __init__(self, reports: pathlib.Path, root: pathlib.Path = ROOT):
        self.reports, self.root, self.store = reports, root, root / "build/earlier"
        self.known: dict[tuple[str, int, int], bytes] = {}  # of large files: contents by path, size and time
        self.taken: list[str] = []

    # ---- The key ----

    def key(self, builds: tuple[str, ...] = ()) -> str | None:
        """The key of a part that uses these builds; None where it cannot be told."""
        command = ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True)
        if listed.returncode != 0:
            return None
        names = sorted({os.fsdecode(name) for name in listed.stdout.split(b"\0") if name})
        files = [self.file(name) for name in names]
        for build in builds:
            folder = self.root / "build" / build
            for path in (folder / "CMakeCache.txt", *sorted(folder.glob("libtessera.so.?.?.?"))):
                files.append(self.file(str(path.relative_to(self.root))))
        return digest(*files, self.machine(), self.environment())

    def file(self, name: str) -> bytes:
        path = self.root / name
        try:
            if path.is_symlink():
                return f"{name} -> {os.readlink(path)}".encode()
            found = path.stat()
            if not path.is_file():
                return name.encode()
            mark = (name, found.st_size, found.st_mtime_ns)
            if mark not in self.known:
                with path.open("rb") as file:
                    self.known[mark] = hashlib.file_digest(file, "sha256").digest()
            return f"{name} {found.st_mode & 0o111} ".encode() + self.known[mark]
        except FileNotFoundError:
            return f"{name} is gone".encode()

    def machine(self) -> bytes:
        lines = [platform.release(), str(os.cpu_count())]
        lines += sorted(path.name for path in self.root.glob(".venv/lib/python*/site-packages/*"))
        for path in ("/proc/cpuinfo", "/var/lib/dpkg/status"):
            try:
                text = pathlib.Path(path).read_text(errors="replace")
            except OSError:
                continue
            if path == "/proc/cpuinfo":  # not the frequency of the moment
                text = "\n".join(line for line in text.splitlines() if line.startswith(("model name", "flags")))
            lines.append(digest(text.encode()))
        for tool in TOOLS:
            found = shutil.which(tool)
            status = os.stat(os.path.realpath(found)) if found else None
            lines.append(f"{tool} {found} {status.st_size if status else 0} {status.st_mtime_ns if status else 0}")
        return "\n".join(lines).encode()

    def environment(self) -> bytes:
        wanted = {name: value for name, value in os.environ.items() if name.startswith(BEGINNINGS) or name in VARIABLES}
        return "\n".join(f"{name}={value}" for name, value in sorted(wanted.items())).encode()

    # ---- Reports ----

    def files_of(self, part: str, folder: pathlib.Path) -> list[pathlib.Path]:
        return sorted(folder.glob(f"{part}.*"))

    def forget(self) -> None:
        shutil.rmtree(self.store, ignore_errors=True)

    def has(self, part: str, makes: str = "") -> bool:
        return (self.store / part).is_dir() and (self.root / makes).exists()

    def take(self, part: str, key: str | None) -> str | None:
        """Puts the reports of an earlier run with this key among today's, and says when that was."""
        folder = self.store / part
        try:
            then, time_of_run = (folder / "key").read_text().splitlines()
        except (OSError, ValueError):
            return None
        if key is None or then != key:
            return None
        for path in self.files_of(part, folder):
            copy(path, self.reports / path.name)
        self.taken.append(part)
        (self.reports / "earlier.txt").write_text("".join(f"{name}\n" for name in self.taken))
        return time_of_run

    def keep(self, part: str, key: str | None, builds: tuple[str, ...] = ()) -> None:
        """Keeps the reports of a part that began with this key and succeeded."""
        folder = self.store / part
        shutil.rmtree(folder, ignore_errors=True)
        if key is None or not self.complete(part) or self.key(builds) != key:
            return
        new = self.store / f".{part}"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        for path in self.files_of(part, self.reports):
            copy(path, new / path.name)
        (new / "key").write_text(f"{key}\n{time.strftime('%Y-%m-%d %H:%M:%S')}\n")
        new.rename(folder)

    def complete(self, part: str) -> bool:
        tally = summarize.Tally()
        summarize.add_part(tally, self.reports, part)
        return bool(tally.passed) and not tally.failed and not tally.skipped


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)
