#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# What the configuration must refuse, with its reason: a compiler for another platform, folders of the installation that
# are outside the prefix, and an unknown flavour of OpenBLAS. And what it says where it takes another flavour.
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

# warns <what it must say> <argument of CMake...>: of a configuration that succeeds.
warns() {
  local expected="$1"
  shift
  rm -rf "$area/build"
  cmake -S "$root" -B "$area/build" -G Ninja -DTSR_TESTS=OFF -DTSR_EXAMPLES=OFF "$@" >"$area/log" 2>&1 ||
    { cat "$area/log"; exit 1; }
  tr -s '\n ' ' ' <"$area/log" | grep -qF -- "$expected" || { echo "expected '$expected' from: $*"; cat "$area/log"; exit 1; }
}

# opens <flavour of OpenBLAS>: what the library will open after another configuration of the same folder.
opens() {
  cmake -S "$root" -B "$area/build" -DTSR_BLAS_FLAVOUR="$1" -UTSR_OPENBLAS_LIBRARY >"$area/log" 2>&1
  if compgen -G "/usr/lib/*/openblas-$1/libopenblas.so" >/dev/null; then
    grep -q "TSR_BLAS_CANDIDATES=.*/openblas-$1/libopenblas.so.0" "$area/build/build.ninja" ||
      { echo "TSR_BLAS_FLAVOUR=$1 has no effect on a folder that was configured for another one"; exit 1; }
  fi
}

# Nothing is linked, for which a system often lacks 32-bit libraries.
refuses "expected a compiler for Linux on x86-64" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
  -DCMAKE_C_FLAGS=-m32 -DCMAKE_CXX_FLAGS=-m32
refuses "CMAKE_INSTALL_LIBDIR: expected a folder below the prefix $area/prefix, got $area/lib" \
  -DCMAKE_INSTALL_PREFIX="$area/prefix" -DCMAKE_INSTALL_LIBDIR="$area/lib"
refuses "TSR_BLAS_FLAVOUR: expected openmp or serial, got pthread" -DTSR_BLAS_FLAVOUR=pthread

mkdir "$area/openblas-pthread"
touch "$area/openblas-pthread/libopenblas.so"
warns "TSR_BLAS_FLAVOUR=openmp: this flavour of OpenBLAS was not found" \
  -DTSR_OPENBLAS_LIBRARY="$area/openblas-pthread/libopenblas.so"
opens serial
opens openmp
opens serial
