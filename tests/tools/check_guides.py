#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the code blocks of a language's guide, then its blocks in README.md and in the guide's other pages, as a reader
would: outside the checkout, with an installed library that was moved, without our environment variables, in order.

Words in capitals are the reader's folders: PREFIX is the installation, CHECKOUT the repository. The build at the start of
a page is the caller's build. A ```text block after a program is the program's output. A block that cannot run has a line
"*Not run by the tests: <reason>.*" above it. All `sh` blocks share one shell: exported variables and the current folder
stay. `sh` blocks of pages without a language run with the C page, whose language has no other tool.

Usage: check_guides.py <repository root> <build folder> c|cpp|python|rust|julia [--folder <to work in, empty>]
       [--julia <program>] [--target <cargo's results>] [--cargo-config <file>]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

BLOCK = re.compile(r"(?:^\*Not run by the tests: (?P<reason>[^\n]+)\*\n\n?)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.M | re.S)
LANGUAGES = ("c", "cpp", "python", "rust", "julia")
BUILD = "cmake --preset release && cmake --build --preset release && cmake --install build/release "
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror", "-pedantic"]
HEADER = re.compile(r'^#include [<"]tessera/tessera\.hpp[>"]$', re.M)
OURS = ("TESSERA_", "LD_LIBRARY_PATH", "PYTHONPATH", "PKG_CONFIG", "JULIA_", "CARGO_", "VIRTUAL_ENV", "OPENBLAS_")


@dataclass
class Block:
    place: str  # README.md:12
    kind: str
    body: str
    prints: str | None  # the contents of the text block after it
    reason: str | None  # the reason if it is not run


class Failure(Exception):
    """A block whose result differs from its page."""


def blocks_of(root, page):
    """The blocks of a page; text blocks are the output of the block before."""
    text = (root / page).read_text("utf-8")
    found = []
    for match in BLOCK.finditer(text):
        place = f"{page}:{text.count(chr(10), 0, match.start('kind')) + 1}"
        if match["kind"] != "text":
            found.append(Block(place, match["kind"], match["body"], None, match["reason"]))
        elif match["reason"] is None and found and found[-1].prints is None:
            found[-1].prints = match["body"]
        else:
            raise Failure(f"{place}: a text block is the output of the block before it, and stands directly behind it")
    if len(found) != sum(1 for line in text.splitlines() if re.match(r"```\w", line)) - text.count("```text"):
        raise Failure(f"{page}: a block has no language, or does not end")
    return found


class Reader:
    """A reader of a page: a folder, the variables of a shell, and the tools of the language."""

    def __init__(self, options, folder, prefix):
        self.options, self.folder, self.prefix = options, folder, prefix
        self.libdir = next(prefix.rglob("libtessera.so")).parent
        self.cwd = folder
        self.variables = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        self.variables |= {"HOME": str(folder), "TMPDIR": str(folder)}
        # pip without a network uses the installed packages.
        self.variables |= {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_QUIET": "1"}

    def run(self, command, **variables):
        done = subprocess.run(
            command, cwd=self.cwd, env=self.variables | variables, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise Failure(f"exit {done.returncode} of {command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def follow(self, blocks):
        """Runs the blocks and returns their number."""
        printed = {}
        for number, block in enumerate(blocks):
            run = getattr(self, block.kind, None)
            if run is None:
                raise Failure(f"{block.place}: nobody here runs {block.kind}")
            try:
                printed[number] = run(self.filled(block.body), number)
            except Failure as failure:
                raise Failure(f"{block.place}: {failure}\n{block.body}") from None
        printed |= self.finish()
        for number, block in enumerate(blocks):
            if block.prints is not None and printed[number] != block.prints:
                raise Failure(f"{block.place}: expected\n{block.prints}\ngot\n{printed[number]}")
        return len(blocks)

    def filled(self, text):
        """The page's words for the reader's folders."""
        # The build is the caller's; the library is installed already.
        text = text.replace(BUILD + "--prefix PREFIX\n", f"test -e {self.libdir}/libtessera.so\n")
        places = {"CHECKOUT": self.options.root, "PREFIX": self.prefix}
        return re.sub(r"\b(CHECKOUT|PREFIX)\b", lambda match: str(places[match[1]]), text)

    def sh(self, body, _):
        state = self.folder / "state"
        text = self.run(["bash", "-euo", "pipefail", "-c", f"{body}\n{{ pwd && env -0; }} >{state}"])
        where, variables = state.read_text().split("\n", 1)
        self.cwd = pathlib.Path(where)
        self.variables = dict(entry.split("=", 1) for entry in variables.split("\0") if "=" in entry)
        return text

    def begin(self, blocks):
        """Prepares a language, once, before the first block."""

    def finish(self):
        """Runs what a language runs together, after the last block; returns what each of these blocks printed."""
        return {}


class Native(Reader):
    """C and C++: the page's first program is the program.c of its commands.

    Other programs in C++ that include tessera.hpp find it precompiled: one takes less than half the time.
    """

    def begin(self, blocks):
        language = self.options.language
        first = next(b for b in blocks if b.kind == language and "int main(" in b.body)
        (self.folder / f"program.{language}").write_text(first.body, "utf-8")

    def c(self, body, number):
        return self.program(["cc", "-std=c99"], body, f"program{number}.c")

    def cpp(self, body, number):
        standard = "20" if body.startswith("// C++20") else "17"
        compiler = ["c++", f"-std=c++{standard}"]
        if not HEADER.search(body):
            return self.program(compiler, body, f"program{number}.cpp")
        header = self.folder / f"precompiled{standard}.hpp"
        if not header.exists():
            header.write_text("#include <tessera/tessera.hpp>\n", "utf-8")
            self.compile([*compiler, "-x", "c++-header"], header, f"{header}.gch")
        precompiled = ["-include", str(header), "-fpch-preprocess", "-Winvalid-pch"]
        return self.program([*compiler, *precompiled], body, f"program{number}.cpp")

    def cmake(self, body, _):
        (self.cwd / "CMakeLists.txt").write_text(body, "utf-8")

    def program(self, compiler, body, name):
        file = self.folder / name
        file.write_text(body, "utf-8")
        program, unit = str(file.with_suffix("")), str(file.with_suffix(".o"))
        self.compile(compiler, file, unit)
        self.run([compiler[0], unit, "-o", program, *self.flags("libs"), f"-Wl,-rpath,{self.libdir}"])
        return self.run([program])

    def compile(self, compiler, file, result):
        # ccache uses the caller's home, and ignores this folder, whose name differs each time, in its keys.
        cache = ["ccache"] if shutil.which("ccache") else []
        settings = {"CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "1", "HOME": os.environ.get("HOME", "")}
        settings |= {"CCACHE_DEPEND": "1", "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
        listed = ["-MD", "-MF", str(self.folder / "unit.d")]
        self.run([*cache, *compiler, *WARNINGS, *self.flags("cflags"), *listed, "-c", str(file), "-o", result], **settings)

    def flags(self, kind):
        self.variables.setdefault("PKG_CONFIG_PATH", str(self.libdir / "pkgconfig"))
        return self.run(["pkg-config", f"--{kind}", "tessera"]).split()


class Python(Reader):
    """Uses the environment that the page makes; each block is a program."""

    def begin(self, _):
        # The caller's interpreter has the packages, so that no network is needed.
        self.variables["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{self.variables['PATH']}"

    def python(self, body, number):
        file = self.folder / f"program{number}.py"
        file.write_text(body, "utf-8")
        return self.run(["python", str(file)])


class Rust(Reader):
    """Uses the crate that the page makes; each block is one of its programs or its build script."""

    def begin(self, _):
        (self.folder / ".cargo").mkdir()
        if self.options.cargo_config:
            shutil.copy(self.options.cargo_config, self.folder / ".cargo" / "config.toml")
        if self.options.target:
            self.variables["CARGO_TARGET_DIR"] = str(pathlib.Path(self.options.target).resolve())
        # The tool chain of the caller, whose home folder is another one.
        home = pathlib.Path.home()
        self.variables["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(home / ".rustup"))
        self.variables["CARGO_HOME"] = os.environ.get("CARGO_HOME", str(home / ".cargo"))
        self.numbers = []

    def rust(self, body, number):
        if "cargo:rustc" in body:
            (self.cwd / "build.rs").write_text(body, "utf-8")
            return
        if "fn main()" not in body:
            body = "fn main() {\n" + body + "}\n"
        self.numbers.append(number)
        (self.cwd / "src" / "bin").mkdir(parents=True, exist_ok=True)
        (self.cwd / "src" / "bin" / f"block{number}.rs").write_text(body, "utf-8")

    def finish(self):
        self.run(["cargo", "build", "--quiet", "--bins"])
        target = pathlib.Path(self.variables.get("CARGO_TARGET_DIR", self.cwd / "target"))
        # The programs find the library by the run path of build.rs.
        return {number: self.run([str(target / "debug" / f"block{number}")]) for number in self.numbers}


class Julia(Reader):
    """One session for the page, as at the prompt, because loading the package takes most of the time."""

    def begin(self, _):
        self.files = {}
        self.variables["JULIA_DEPOT_PATH"] = str(self.folder / "depot")  # nothing is installed for this user
        self.variables["JULIA_PKG_SERVER"] = ""

    def julia(self, body, number):
        file = self.folder / f"block{number}.jl"
        file.write_text(body, "utf-8")
        self.files[number] = file

    def finish(self):
        # A zero byte ends what a block prints.
        session = "".join(f'include("{file}"); print(\'\\0\')\n' for file in self.files.values())
        (self.folder / "session.jl").write_text(session, "utf-8")
        printed = self.run([self.options.julia, "--startup-file=no", str(self.folder / "session.jl")])
        return dict(zip(self.files, printed.split("\0")))


READERS = {"c": Native, "cpp": Native, "python": Python, "rust": Rust, "julia": Julia}


def check(options, folder):
    language, root = options.language, options.root
    first = folder / "first"
    subprocess.run(["cmake", "--install", options.build, "--prefix", str(first)], check=True, stdout=subprocess.DEVNULL)
    prefix = first.rename(folder / "prefix")
    blocks = blocks_of(root, f"docs/guide/{language}.md")
    kinds = {language, "sh"} if language == "c" else {language}
    pages = sorted(str(p.relative_to(root)) for p in (root / "docs" / "guide").glob("*.md") if p.stem not in LANGUAGES)
    for block in (b for page in ("README.md", *pages) for b in blocks_of(root, page)):
        if block.kind not in (*LANGUAGES, "sh"):
            raise Failure(f"{block.place}: nobody runs {block.kind} on this page")
        if block.kind in kinds:
            blocks.append(block)
    chosen = [b for b in blocks if b.reason is None]
    reader = READERS[language](options, folder, prefix)
    reader.begin(chosen)
    count = reader.follow(chosen)
    for block in blocks:
        if block.reason is not None:
            print(f"{block.place} is not run: {block.reason}")
    print(f"check_guides: {count} blocks of {language} run, {len(blocks) - count} not")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("--folder", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--julia", default="julia")
    parser.add_argument("--target")
    parser.add_argument("--cargo-config", dest="cargo_config")
    options = parser.parse_args()
    try:
        if options.folder is not None:
            check(options, options.folder)
        else:
            with tempfile.TemporaryDirectory() as folder:
                check(options, pathlib.Path(folder).resolve())
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
