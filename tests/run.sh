#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sets up, builds and runs every test, several parts at a time (tests/run/parts.py). The last line printed is
#   N passed, N failed, N skipped
# over all parts. Exit status 0 only if nothing failed and every skip stands in tests/skips.txt.
#
# Usage: tests/run.sh [--full] [--again]
#            --full adds thread sanitizer, long random traces, CUDA; --again also runs parts that passed before,
#            and of which nothing has changed since (tests/run/earlier.py), as --full does
#        tests/run.sh --gpu [PART...]     (tests and measures on a machine with a GPU: tests/gpu/run.sh)

set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/run/common.sh"

if [ "${1:-}" = --gpu ]; then
  exec bash tests/gpu/run.sh "${@:2}"
fi
full="" again="" groups=test
for argument in "$@"; do
  case "$argument" in
    --full) full=--full groups=full ;;
    --again) again=--again ;;
    *) echo "usage: tests/run.sh [--full] [--again] | --gpu [PART...]"; exit 2 ;;
  esac
done

main() {
  rm -rf "$reports"
  mkdir -p "$reports"
  echo setup >>"$reports/parts.txt"
  say setup
  # Packages and environment first: the other parts are scheduled by Python.
  if bash scripts/setup.sh "$groups" packages environment </dev/null; then
    touch "$reports/setup.done"
  fi
  # A schedule that broke off is a part without a report, which fails.
  "$system_python" tests/run/schedule.py "$reports" --jobs "$tsr_jobs" --since "$SECONDS" ${full:+"$full"} ${again:+"$again"} ||
    echo schedule >>"$reports/parts.txt"
  "$system_python" tests/tools/summarize.py "$reports" tests/skips.txt
}

# Called on the last line: the shell has then read the whole file, which may change while it runs.
main
