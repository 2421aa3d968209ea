# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: everything that CMake builds, and the Python extension.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Python's tests start a C program that runs programs, and may come before the rest of build-release.
build_library() {
  bash scripts/setup.sh test library && build_preset release example_c_run_program
}

# The rows of the CPU backend and the tests themselves are checked for undefined behaviour with --full.
build_asan() {
  local quick=ON
  [ -z "${TSR_TEST_FULL:-}" ] || quick=OFF
  configure_preset asan "TSR_SANITIZE_QUICK=$quick" && build_preset asan
}

case "$part" in
  library) command_part build_library ;;
  extension) command_part bash scripts/setup.sh test extension ;;
  julia-setup) command_part bash scripts/setup.sh test julia ;;
  build-asan) command_part build_asan ;;
  build-*) command_part build_preset "${part#build-}" ;;
  *) exit 2 ;;
esac
