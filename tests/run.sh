#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sets up, builds and runs every test. The last line printed is
#   N passed, N failed, N skipped
# over all parts. Exit status 0 only if nothing failed and every skip stands in tests/skips.txt.
#
# Usage: tests/run.sh [--full]     (--full adds thread sanitizer, long random traces, CUDA)
#        tests/run.sh --gpu [PART...]     (tests and measures on a machine with a GPU: tests/gpu/run.sh)

set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$tsr_root" || exit 1

if [ "${1:-}" = --gpu ]; then
  exec bash tests/gpu/run.sh "${@:2}"
fi
full=""
for argument in "$@"; do
  case "$argument" in
    --full) full=1 ;;
    *) echo "usage: tests/run.sh [--full | --gpu [PART...]]"; exit 2 ;;
  esac
done

reports="$tsr_root/build/reports"
rm -rf "$reports"
mkdir -p "$reports"

# Every part announces itself here before it runs: one that dies without a report is a failure.
announce() {
  say "$1"
  echo "$1" >>"$reports/parts.txt"
}

# ctest_part <part> <preset> [ctest argument...]
ctest_part() {
  local part="$1" preset="$2"
  shift 2
  announce "$part"
  rm -rf "build/$preset/reports"
  build_preset "$preset" || return
  ctest --test-dir "build/$preset" -j "$tsr_jobs" --no-tests=error --output-on-failure \
    --output-junit "$reports/$part.ctest.xml" "$@" >"$reports/$part.log" 2>&1 ||
    cat "$reports/$part.log"
  [ ! -d "build/$preset/reports" ] || cp -r "build/$preset/reports" "$reports/$part.gtest"
}

# pytest_part <part> <interpreter> <pytest argument...>
pytest_part() {
  local part="$1" python="$2"
  shift 2
  announce "$part"
  "$python" -m pytest -q -p no:cacheprovider --junitxml "$reports/$part.junit.xml" "$@" \
    >"$reports/$part.log" 2>&1 || tail -n 200 "$reports/$part.log"
}

# skip_part <part> <reason>: recorded as a skipped case, so that tests/skips.txt must name it.
skip_part() {
  announce "$1"
  printf '<testsuite><testcase classname="part" name="%s"><skipped message="%s"/></testcase></testsuite>' \
    "$1" "$2" >"$reports/$1.junit.xml"
}

# command_part <part> <command...>: one case, passed when the command succeeds.
command_part() {
  local part="$1"
  shift
  announce "$part"
  if ("$@") >"$reports/$part.log" 2>&1; then
    touch "$reports/$part.done"
  else
    tail -n 60 "$reports/$part.log"
  fi
}

check_types() {
  local python="$tsr_root/.venv/bin/python"
  (cd wrappers/python && "$python" -m mypy && "$python" -m mypy tests/test_types.py) &&
    cd capi && "$python" -m mypy --strict --no-warn-unused-ignores -p generator
}

# The wheel, and the guide's programs in an environment that has nothing but it.
check_wheel() {
  bash tests/tools/check_wheel.sh "$tsr_root" "$tsr_root/build/release" \
    "$tsr_root/build/release/tests/support/cuda_on_host/libtessera_cuda.so"
}

main() {
  announce setup
  if bash scripts/setup.sh "$([ -n "$full" ] && echo full || echo test)" </dev/null; then
    touch "$reports/setup.done"
  fi
  ctest_part release release
  export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
  ctest_part asan asan -LE tool
  PYTHONPATH="" pytest_part python .venv/bin/python wrappers/python/tests
  command_part types check_types
  command_part wheel check_wheel
  source tests/run_rust.sh
  source tests/run_julia.sh
  source tests/run_languages.sh
  source tests/run_cuda.sh

  if [ -n "$full" ]; then
    source tests/run_full.sh
  fi

  "${TSR_SYSTEM_PYTHON:-/usr/bin/python3}" tests/tools/summarize.py "$reports" tests/skips.txt
}

# Called on the last line: the shell has then read the whole file, which may change while it runs.
main
