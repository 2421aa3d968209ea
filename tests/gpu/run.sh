#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the library and the CUDA plugin on a machine with a GPU and no package registry, tests and
# measures them, and writes one report: build/gpu-report/report.md and report.json.
#
# Usage: tests/run.sh --gpu [PART...]
#   TSR_GPU_MINUTES  time of the whole (9); what is left then is told as dropped; more also gives each part more
#   TSR_GPU_PYTHON   the interpreter to build for (python3); it must have NumPy, and PyTorch to measure against
#   TSR_GPU_BUNDLE   what scripts/gpu_bundle.sh made (build/gpu-bundle)
#   TSR_GPU_OUT      where the report goes (build/gpu-report)
#   TSR_GPU_PRETEND  1: the stand-ins for CUDA on the host, in build/release, to test all this; measures no GPU

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${TSR_GPU_PYTHON:-python3}"
if ! "$python" -c 'import sys, numpy; assert sys.version_info >= (3, 11)' 2>/dev/null; then
  echo "$python is no Python of at least 3.11 with NumPy: name one in TSR_GPU_PYTHON"
  exit 2
fi
exec "$python" "$here/runner.py" "$@"
