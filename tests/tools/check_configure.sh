#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the configuration must refuse, with its reason, before it looks for anything else: a compiler for another
# platform, and folders of the installation that are outside the prefix.
#
# Usage: check_configure.sh <repository root>

set -euo pipefail
root="$1"
area="$(mktemp -d)"
trap 'rm -rf "$area"' EXIT

# refuses <what it must say> <argument of CMake...>
refuses() {
  local expected="$1"
  shift
  rm -rf "$area/build"
  if cmake -S "$root" -B "$area/build" -G Ninja "$@" >"$area/log" 2>&1; then
    echo "expected a refusal of: $*"
    exit 1
  fi
  # CMake breaks the lines of a message.
  tr -s '\n ' ' ' <"$area/log" | grep -qF -- "$expected" || {
    echo "expected '$expected' from: $*"
    cat "$area/log"
    exit 1
  }
}

# Nothing is linked, for which a system often lacks 32-bit libraries.
refuses "expected a compiler for Linux on x86-64" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
  -DCMAKE_C_FLAGS=-m32 -DCMAKE_CXX_FLAGS=-m32
refuses "CMAKE_INSTALL_LIBDIR: expected a folder below the prefix $area/prefix, got $area/lib" \
  -DCMAKE_INSTALL_PREFIX="$area/prefix" -DCMAKE_INSTALL_LIBDIR="$area/lib"
