# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m tessera.torch script.py, or -m module: runs a program whose `import torch` gets this package."""

from __future__ import annotations

import os
import runpy
import sys

from tessera.torch._as_torch import install


def main() -> None:
    as_module = sys.argv[1:2] == ["-m"]
    del sys.argv[0 : 2 if as_module else 1]
    if not sys.argv or sys.argv[0].startswith("-"):
        raise SystemExit("usage: python -m tessera.torch script.py [arguments of the script]\n       python -m tessera.torch -m module ...")
    install()
    if as_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
