#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes a virtual environment with the newest PyTorch of the package registry, in which the benchmarks compare with it.
# It has this interpreter and this tree's package, so the set-up must have been run (scripts/setup.sh). About 6 GB.
#
# Usage: tests/bench/peer.sh [FOLDER]    (default: ../tessera-peer, beside the checkout)
#        FOLDER/bin/python tests/bench/bench_python.py

set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
folder="${1:-$root/../tessera-peer}"

if [ ! -x "$folder/bin/python" ]; then
  "${TSR_SYSTEM_PYTHON:-/usr/bin/python3}" -m venv "$folder"
fi
"$folder/bin/pip" install --quiet --upgrade torch numpy scipy cffi
site="$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
echo "$root/wrappers/python/src" >"$site/tessera-tree.pth"
"$folder/bin/python" - <<'PYTHON'
import tessera
import torch

print(f"PyTorch {torch.__version__} beside tessera {tessera.__version__}")
PYTHON
