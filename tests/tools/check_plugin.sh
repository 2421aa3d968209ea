#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, moves it, and asks an outside program for the device "cuda", which a plugin
# for the host plays: without the plugin, with it where it is installed, with the library opened
# through a link, with TESSERA_PLUGIN_PATH, and with a file that is no plugin.
#
# Usage: check_plugin.sh <repository root> <build folder> <file of the plugin>

set -euo pipefail
root="$1" build="$2" plugin="$3"
area="$(mktemp -d)"
trap 'rm -rf "$area"' EXIT
unset TESSERA_PLUGIN_PATH LD_LIBRARY_PATH

cmake --install "$build" --prefix "$area/first" >/dev/null
mv "$area/first" "$area/prefix"
PKG_CONFIG_PATH="$(dirname "$(find "$area/prefix" -name tessera.pc)")"
export PKG_CONFIG_PATH
lib="$(pkg-config --variable=libdir tessera)"
lib="$(cd "$lib" && pwd)"
read -ra flags < <(pkg-config --cflags --libs tessera)
${CC:-cc} -std=c99 -Wall -Wextra -Werror -pedantic "$root/tests/consumer/c/device.c" \
  -o "$area/device" "${flags[@]}"

# computes <folder of the library> [variable=value...]
computes() {
  local folder="$1"
  shift
  [ "$(env LD_LIBRARY_PATH="$folder" "$@" "$area/device")" = 2 ] || {
    echo "no device with the library in $folder, $*:"
    env LD_LIBRARY_PATH="$folder" "$@" "$area/device"
    exit 1
  }
}

# refused <expected text>... : in the one line that the program prints; further variables are exported
refused() {
  local text expected
  if text="$(LD_LIBRARY_PATH="$lib" "$area/device")"; then
    echo "a device without a plugin: $text"
    exit 1
  fi
  for expected in "$@"; do
    [[ "$text" == *"$expected"* ]] || { echo "expected: $expected"; echo "got: $text"; exit 1; }
  done
}

refused "libtessera_cuda.so is in none of $lib/tessera/, $lib/, "
TESSERA_PLUGIN_PATH="$area/no:$area/where" \
  refused "none of $area/no/ (TESSERA_PLUGIN_PATH), $area/where/ (TESSERA_PLUGIN_PATH), $lib/tessera/"

mkdir -p "$lib/tessera" "$area/elsewhere" "$area/broken"
echo "no library" >"$area/broken/libtessera_cuda.so"
cp "$plugin" "$area/elsewhere/libtessera_cuda.so"
computes "$lib" TESSERA_PLUGIN_PATH="$area/no:$area/elsewhere"

cp "$plugin" "$lib/tessera/libtessera_cuda.so"
computes "$lib"
# A link in a folder of its own, as cargo gets it, and a link to that.
mkdir "$area/link" "$area/links"
ln -s "$lib/libtessera.so.0" "$area/link/libtessera.so.0"
ln -s ../link/libtessera.so.0 "$area/links/libtessera.so.0"
computes "$area/link"
computes "$area/links"
# A farm of links: the plugin's link stands beside the library's.
mkdir -p "$area/farm/tessera"
mv "$lib/tessera/libtessera_cuda.so" "$area/apart.so"
ln -s "$lib/libtessera.so.0" "$area/farm/libtessera.so.0"
ln -s "$area/apart.so" "$area/farm/tessera/libtessera_cuda.so"
computes "$area/farm"

# What the loader says of a broken plugin, and where else was looked.
TESSERA_PLUGIN_PATH="$area/no:$area/broken" refused \
  "the CUDA plugin cannot serve it ($area/broken/libtessera_cuda.so (TESSERA_PLUGIN_PATH)" \
  "file too short" "there was none in $area/no/ (TESSERA_PLUGIN_PATH)"
