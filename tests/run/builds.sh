# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: everything that CMake builds, and the Python extension.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Python's tests start a C program that runs programs, and may come before the rest of build-release.
build_library() {
  bash scripts/setup.sh test library && build_preset release example_c_run_program
}

case "$part" in
  library) command_part build_library ;;
  extension) command_part bash scripts/setup.sh test extension ;;
  julia-setup) command_part bash scripts/setup.sh test julia ;;
  build-*) command_part build_preset "${part#build-}" ;;
  *) exit 2 ;;
esac
