# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the other scripts: the repository root, progress lines, and building one preset.

tsr_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tsr_jobs="${TSR_JOBS:-$(nproc)}"

say() {
  printf '[%3dm%02ds] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

# left_out <language>: whether TESSERA_SKIP, a list with commas, names it.
left_out() {
  [[ ",${TESSERA_SKIP:-}," == *",$1,"* ]]
}

# run_quietly <log file> <command...>: the log is shown only when the command fails.
run_quietly() {
  local log="$1"
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "failed: $* (full log: ${log#"$tsr_root"/})"
    return 1
  fi
}

# build_preset <preset> [ninja target...]: configures when needed, then builds.
build_preset() {
  local preset="$1"
  shift
  local build="$tsr_root/build/$preset"
  if [ ! -f "$build/build.ninja" ]; then
    run_quietly "$build/configure.log" cmake -S "$tsr_root" --preset "$preset" || return 1
  fi
  run_quietly "$build/build.log" cmake --build "$build" --parallel "$tsr_jobs" ${@:+--target "$@"}
}
