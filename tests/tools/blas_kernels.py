# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""One choice of OpenBLAS's kernels for all programs of a test, so that their bits can be compared: without it, a program in
which NumPy has opened OpenBLAS first keeps NumPy's choice, and the others have the library's. Import it before NumPy."""

import os
from pathlib import Path

if " avx2 " in Path("/proc/cpuinfo").read_text():
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
