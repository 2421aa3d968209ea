# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests/run.sh and by the scripts of this folder, which tests/run/schedule.py starts once for
# each part: `bash tests/run/<script>.sh <part>`. The functions here run the part named $part and leave its
# report in $reports (tests/tools/summarize.py says which files count). What a script prints is shown when
# its part has ended; its exit status says whether the part may serve those that need it.

source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$tsr_root" || exit 1

reports="$tsr_root/build/reports"
# shellcheck disable=SC2034  # for those who source this
system_python="${TSR_SYSTEM_PYTHON:-/usr/bin/python3}"
part="${1:-}"

# ctest_part <preset> [ctest argument...]: the tests of a build that is there.
ctest_part() {
  local preset="$1"
  shift
  rm -rf "build/$preset/reports"
  local status=0
  ctest --test-dir "build/$preset" -j "$tsr_jobs" --no-tests=error --output-on-failure \
    --output-junit "$reports/$part.ctest.xml" "$@" >"$reports/$part.log" 2>&1 || status=$?
  [ "$status" = 0 ] || cat "$reports/$part.log"
  [ ! -d "build/$preset/reports" ] || cp -r "build/$preset/reports" "$reports/$part.gtest"
  return "$status"
}

# pytest_part <interpreter> <pytest argument...>
pytest_part() {
  local python="$1" status=0
  shift
  "$python" -m pytest -q -p no:cacheprovider --junitxml "$reports/$part.junit.xml" "$@" \
    >"$reports/$part.log" 2>&1 || status=$?
  [ "$status" = 0 ] || tail -n 200 "$reports/$part.log"
  return "$status"
}

# skip_part <reason>: recorded as a skipped case, so that tests/skips.txt must name it.
skip_part() {
  printf '<testsuite><testcase classname="part" name="%s"><skipped message="%s"/></testcase></testsuite>' \
    "$part" "$1" >"$reports/$part.junit.xml"
}

# command_part <command...>: one case, passed when the command succeeds.
command_part() {
  if ("$@") >"$reports/$part.log" 2>&1; then
    touch "$reports/$part.done"
  else
    tail -n 60 "$reports/$part.log"
    return 1
  fi
}
