#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Puts a working Julia at build/julia/bin/julia. A Julia 1.6 or newer on PATH is used as it is. Otherwise
# Debian 11's julia 1.5.3 is unpacked into build/julia/root, with the libraries that this system lacks and
# Debian 11's libunwind: with the libunwind of Debian 12 every exception in compiled Julia code crashes. apt
# uses separate package lists here, so that nothing on the system is installed or changed, and root is not
# needed.
#
# Usage: scripts/setup_julia.sh      (TSR_BULLSEYE_MIRROR names a mirror that has Debian 11)

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

home="$tsr_root/build/julia"
launcher="$home/bin/julia"

die() {
  echo "setup_julia: $*" >&2
  exit 1
}

# Starts, throws, catches and compiles: these fail if the libraries do not fit.
works() {
  [ -x "$1" ] && "$1" --startup-file=no -e '
    thrown = try; parse(Int, "x"); false; catch; true; end
    exit(thrown && (isempty(ARGS) || VERSION >= VersionNumber(ARGS[1])) ? 0 : 1)' \
    ${2:+"$2"} >/dev/null 2>&1
}

write_launcher() {
  mkdir -p "$home/bin"
  printf '#!/bin/sh\n# Written by scripts/setup_julia.sh.\n%s\n' "$1" >"$launcher.new"
  chmod +x "$launcher.new"
  mv "$launcher.new" "$launcher"
}

use_newer_julia() {
  local found
  found="$(command -v julia)" && [ "$found" != "$launcher" ] && works "$found" 1.6 || return 1
  write_launcher "exec '$found' \"\$@\""
}

fetch_packages() {
  local apt="$home/apt"
  use_suite "$apt" bullseye "${TSR_BULLSEYE_MIRROR:-}" &&
    apt-get "${apt_options[@]}" install --yes --no-install-recommends --download-only julia &&
    (cd "$apt/cache/archives" && apt-get "${apt_options[@]}" download libunwind8=1.3.2-2)
}

unpack_packages() {
  local root="$home/root" package link
  rm -rf "$root"
  mkdir -p "$root"
  for package in "$home"/apt/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$root" || return 1
  done
  # Links to libraries that the system already has would be broken inside this folder.
  local folder="$root/usr/lib/x86_64-linux-gnu"
  while IFS= read -r link; do
    ln -sfn "/usr/lib/x86_64-linux-gnu/$(basename "$(readlink "$link")")" "$link"
  done < <(find -L "$folder" -type l)
  rm -rf "$home/apt"
  # libunwind has functions with the names of libgcc's, which C++ exceptions must not find first.
  # shellcheck disable=SC2016  # the launcher expands it
  write_launcher 'root="$(dirname "$(readlink -f "$0")")/../root/usr"
LD_LIBRARY_PATH="$root/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu/julia${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
LD_PRELOAD="libgcc_s.so.1${LD_PRELOAD:+:$LD_PRELOAD}"
export LD_LIBRARY_PATH LD_PRELOAD
exec "$root/bin/julia" "$@"'
}

if ! works "$launcher" && ! use_newer_julia; then
  { command -v apt-get && command -v dpkg-deb; } >/dev/null ||
    die "no julia >= 1.6 on PATH, and this is no Debian system to fetch 1.5.3 for"
  [ "$(dpkg --print-architecture)" = amd64 ] || die "julia 1.5.3 is fetched for amd64 only"
  say "unpacking Julia 1.5.3 under build/julia"
  run_quietly "$home/setup.log" fetch_packages || die "Debian 11's julia could not be fetched"
  run_quietly "$home/setup.log" unpack_packages || die "Debian 11's julia could not be unpacked"
  works "$launcher" || die "the unpacked julia does not run; see build/julia/setup.log"
fi
