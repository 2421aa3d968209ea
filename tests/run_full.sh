# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests/run.sh --full: thread sanitizer, long random traces, long fuzzing, NumPy 2.
# shellcheck disable=SC2154  # tsr_root and the like are of tests/run.sh

export TSAN_OPTIONS="ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}"
ctest_part tsan tsan -LE tool

TSR_TEST_LONG=1 ctest_part long release -LE tool
TSR_TEST_LONG=1 pytest_part random-shapes .venv/bin/python wrappers/python/tests/test_random_shapes.py
TSR_TEST_LONG=1 pytest_part random-programs .venv/bin/python wrappers/python/tests/test_random_programs.py

# Ten million calls and as many files, on as many processes as there are cores.
fuzz_for_long() {
  local script="$1" seed pids=() failed=0
  for seed in $(seq 101 $((100 + tsr_jobs))); do
    LD_PRELOAD="$2" .venv/bin/python -B "tests/fuzz/$script" build/release/libtessera.so \
      --calls $((10000000 / tsr_jobs)) --seed "$seed" &
    pids+=($!)
  done
  for seed in "${pids[@]}"; do wait "$seed" || failed=1; done
  return "$failed"
}
command_part fuzz-functions fuzz_for_long fuzz_functions.py "$tsr_root/build/release/tests/fuzz/libtsr_failing_malloc.so"
command_part fuzz-safetensors fuzz_for_long fuzz_safetensors.py ""

# NumPy 2 in an environment of its own: Debian's SciPy and PyTorch, which other tests compare with, are built for NumPy 1.
numpy2_part() {
  local folder="$tsr_root/build/numpy2" tests="wrappers/python/tests"
  local probe='import numpy; assert numpy.lib.NumpyVersion(numpy.__version__) >= "2.2.5"'
  if ! "$folder/bin/python" -c "$probe" 2>/dev/null; then
    rm -rf "$folder"
    if ! { "$tsr_root/.venv/bin/python" -m venv --system-site-packages "$folder" &&
      "$folder/bin/python" -m pip install --quiet --no-deps --retries 1 --timeout 15 'numpy>=2.2.5'; } \
      >"$reports/numpy2.setup.log" 2>&1; then
      rm -rf "$folder"
      skip_part numpy2 "NumPy 2 cannot be had"
      return
    fi
  fi
  PYTHONPATH="$tsr_root/wrappers/python/src" pytest_part numpy2 "$folder/bin/python" \
    "$tests/test_interop.py" "$tests/test_buffer.py" "$tests/test_exchange.py" "$tests/test_indexing.py" \
    "$tests/test_tensor.py" "$tests/test_conformance.py"
}
numpy2_part
