# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh --full: ten million calls and as many files, on as many processes as there are cores.

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

case "$part" in
  fuzz-functions)
    command_part fuzz_for_long fuzz_functions.py "$tsr_root/build/release/tests/fuzz/libtsr_failing_malloc.so"
    ;;
  fuzz-safetensors) command_part fuzz_for_long fuzz_safetensors.py "" ;;
  *) exit 2 ;;
esac
