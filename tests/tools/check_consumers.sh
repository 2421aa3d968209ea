#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, moves the installed tree to another prefix, and builds and runs outside projects
# from there: programs in C and C++ that ask only pkg-config, a CMake project, and the program of
# examples/languages in languages that have no wrapper. What pkg-config says of the ABI and the schema must
# be what the running library says.
#
# Usage: check_consumers.sh <repository root> <build folder> pkgconfig|cmake|go|lua|php|r|ruby
# Exit status 77 if the language is not installed.

set -euo pipefail
root="$1" build="$2" kind="$3"
case "$kind" in
  lua) needs=luajit ;;
  r) needs=Rscript ;;
  go | php | ruby) needs="$kind" ;;
  *) needs=bash ;;
esac
command -v "$needs" >/dev/null || { echo "$needs is not installed"; exit 77; }
area="$(mktemp -d)"
trap 'rm -rf "$area"' EXIT

cmake --install "$build" --prefix "$area/first" >/dev/null
mv "$area/first" "$area/second"
pc="$(find "$area/second" -name tessera.pc)"

# What is installed is stripped, looks for libraries beside itself only, and is bound when loaded.
library="$(find "$area/second" -name 'libtessera.so.*.*.*' ! -name '*.debug')"
run_path="$(readelf -d "$library" | sed -n 's/.*\(RPATH\|RUNPATH\).*\[\(.*\)\]/\2/p')"
[ "$run_path" = "\$ORIGIN" ] || { echo "the run path is '$run_path'"; exit 1; }
readelf -d "$library" | grep -q 'FLAGS.*NOW' || { echo "symbols are bound late"; exit 1; }
readelf -d "$library" | grep -q 'FLAGS_1.*NODELETE' || { echo "the library can be unloaded"; exit 1; }
if readelf -S "$library" | grep -q '\.debug_info'; then
  echo "the installed library is not stripped"
  exit 1
fi
debug="$(find "$area/second" -name 'libtessera.so.*.debug')"
readelf -S "$debug" | grep -q '\.debug_info' || { echo "no debug information beside it"; exit 1; }

PKG_CONFIG_PATH="$(dirname "$pc")"
export PKG_CONFIG_PATH

# fits_a_line <command...>: the program prints what it prints in every language.
fits_a_line() {
  "$@" | diff "$root/examples/languages/line.txt" -
}

case "$kind" in
  pkgconfig)
    read -ra flags < <(pkg-config --cflags --libs tessera)
    ${CC:-cc} -std=c99 -Wall -Wextra -Werror -pedantic "$root/tests/consumer/c/consumer.c" \
      -o "$area/consumer" "${flags[@]}"
    ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -pedantic "$root/tests/consumer/cpp/consumer.cpp" \
      -o "$area/consumer_cpp" "${flags[@]}"
    LD_LIBRARY_PATH="$(pkg-config --variable=libdir tessera)"
    export LD_LIBRARY_PATH
    [ "$("$area/consumer")" = "$(pkg-config --variable=tsr_abi tessera)" ] || {
      echo "pkg-config's tsr_abi is not the library's"
      exit 1
    }
    "$area/consumer" schema | cmp - "$(pkg-config --variable=schema tessera)" || {
      echo "pkg-config's schema is not the library's"
      exit 1
    }
    "$area/consumer_cpp"
    ;;
  cmake)
    cmake -S "$root/tests/consumer/cmake" -B "$area/build" -G Ninja \
      -DCMAKE_PREFIX_PATH="$area/second" >/dev/null
    cmake --build "$area/build" >/dev/null
    "$area/build/consumer"
    "$area/build/consumer_cpp"
    ;;
  lua) fits_a_line luajit "$root/examples/languages/line.lua" "$library" "$(pkg-config --variable=ffi_header tessera)" ;;
  php) fits_a_line php -d ffi.enable=1 "$root/examples/languages/line.php" "$library" "$(pkg-config --variable=ffi_header tessera)" ;;
  ruby) fits_a_line ruby "$root/examples/languages/line.rb" "$library" ;;
  go)
    LD_LIBRARY_PATH="$(pkg-config --variable=libdir tessera)"
    export LD_LIBRARY_PATH GOCACHE="$area/go" GOFLAGS=-mod=mod GO111MODULE=off
    go build -o "$area/line" "$root/examples/languages/line.go"
    fits_a_line "$area/line"
    ;;
  r)
    cp "$root/examples/languages/line_r.c" "$area"
    LD_LIBRARY_PATH="$(pkg-config --variable=libdir tessera)"
    PKG_CPPFLAGS="$(pkg-config --cflags tessera)"
    PKG_LIBS="$(pkg-config --libs tessera)"
    export LD_LIBRARY_PATH PKG_CPPFLAGS PKG_LIBS
    (cd "$area" && R CMD SHLIB line_r.c >shlib.log 2>&1) || { cat "$area/shlib.log"; exit 1; }
    fits_a_line Rscript "$root/examples/languages/line.R" "$area/line_r.so"
    ;;
  *) echo "unknown kind $kind"; exit 2 ;;
esac
if grep -rIl "$area/first" "$area/second"; then
  echo "the files above name the prefix they were installed to"
  exit 1
fi
