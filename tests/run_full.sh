# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests/run.sh --full: thread sanitizer, long random traces, the CUDA backend.

export TSAN_OPTIONS="ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}"
ctest_part tsan tsan -LE tool

TSR_TEST_LONG=1 ctest_part long release -LE tool

if [ ! -d src/backend/cuda ]; then
  skip_part cuda "there is no CUDA backend yet"
elif ! command -v nvcc >/dev/null; then
  skip_part cuda "no nvcc"
elif ! nvidia-smi >/dev/null 2>&1; then
  announce cuda-compile
  build_preset cuda && touch "$reports/cuda-compile.done"
  skip_part cuda "no device"
else
  ctest_part cuda cuda -L cuda
fi
