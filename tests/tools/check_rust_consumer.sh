#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, moves the installed tree, and lets an outside crate find it through
# pkg-config. Then takes the library away: the build must fail with a text that says what to do, and
# the documentation must build without it.
#
# A plugin for the host plays the device "cuda": it is installed, and must be found by a program that
# cargo starts with a link of its own to the library.
#
# Usage: check_rust_consumer.sh <repository root> <build folder> <folder for results> <cargo config>
#        <file of the plugin>

set -euo pipefail
root="$1" build="$2" target="$3" config="$4" plugin="$5"
area="$(mktemp -d)"
trap 'rm -rf "$area"' EXIT
unset TESSERA_LIB_DIR TESSERA_BUILD_DIR TESSERA_PLUGIN_PATH LD_LIBRARY_PATH PKG_CONFIG

cmake --install "$build" --prefix "$area/first" >/dev/null
mv "$area/first" "$area/second"
PKG_CONFIG_PATH="$(dirname "$(find "$area/second" -name tessera.pc)")"
export PKG_CONFIG_PATH
manifest="$root/tests/consumer/rust/Cargo.toml"
export CARGO_TARGET_DIR="$target/consumer"

plugins="$(dirname "$(find "$area/second" -name libtessera.so)")/tessera"
mkdir -p "$plugins"
cp "$plugin" "$plugins/libtessera_cuda.so"
cargo run --quiet --config "$config" --manifest-path "$manifest"

# As a user would start it: by the run path of its build.rs.
"$CARGO_TARGET_DIR/debug/consumer"

# refused <expected text> [variable=value...]
refused() {
  local expected="$1" log="$area/refused.log"
  shift
  if env "$@" cargo check --quiet --config "$config" --manifest-path "$manifest" >"$log" 2>&1; then
    echo "built with $*"
    exit 1
  fi
  grep -q "$expected" "$log" || { cat "$log"; echo "expected: $expected"; exit 1; }
}

mkdir -p "$area/none" "$area/old" "$area/other"
printf 'Name: tessera\nDescription: -\nVersion: 0.0.9\nlibdir=%s\n' "$area/old" >"$area/old/tessera.pc"
echo "not a library of ours" >"$area/other/libtessera.so"
refused "libtessera was not found" PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR="$area/none"
refused "does not run" PKG_CONFIG="$area/no-such-program"
refused "libtessera was not found" TESSERA_LIB_DIR="$area/none"
refused "libtessera is too old" PKG_CONFIG_PATH="$area/old"
refused "libtessera is too old" TESSERA_BUILD_DIR="$area/other"

PKG_CONFIG_PATH="" PKG_CONFIG_LIBDIR="$area/none" cargo doc --quiet --no-deps --config "$config" \
  --manifest-path "$root/wrappers/rust/Cargo.toml" --features tessera/doc-only
