# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh --full: ten million calls and as many files, on as many processes as there are cores; a
# twentieth of both with the address sanitizer.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# fuzz_for_long <script> <library to preload>
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

# The loader preloads the sanitizer's runtime: LD_PRELOAD would also tell the fuzzer that it can make memory scarce.
fuzz_sanitized() {
  local compiler runtime python seed pids=() failed=0
  compiler="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/asan/CMakeCache.txt)"
  runtime="$("$compiler" -print-file-name="libclang_rt.asan-$(uname -m).so")"
  python="$(readlink -f .venv/bin/python)"
  for seed in $(seq 101 $((100 + tsr_jobs))); do
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1 \
      /lib64/ld-linux-x86-64.so.2 --preload "$runtime" --argv0 "$tsr_root/.venv/bin/python" "$python" -B \
      "tests/fuzz/$1" build/asan/libtessera.so --calls $((500000 / tsr_jobs)) --seed "$seed" &
    pids+=($!)
  done
  for seed in "${pids[@]}"; do wait "$seed" || failed=1; done
  return "$failed"
}

fuzz_all_sanitized() { fuzz_sanitized fuzz_functions.py && fuzz_sanitized fuzz_safetensors.py; }

case "$part" in
  fuzz-functions)
    command_part fuzz_for_long fuzz_functions.py "$tsr_root/build/release/tests/fuzz/libtsr_failing_malloc.so"
    ;;
  fuzz-safetensors) command_part fuzz_for_long fuzz_safetensors.py "" ;;
  fuzz-asan) command_part fuzz_all_sanitized ;;
  *) exit 2 ;;
esac
