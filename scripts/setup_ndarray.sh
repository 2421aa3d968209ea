#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Puts the sources of ndarray and its dependencies at build/rust/crates, for the tests of the crate
# tessera-ndarray. Debian 12 has no ndarray, so packages of Debian's testing suite are unpacked there.
# Dependencies that the system has are taken from the system.
#
# Usage: scripts/setup_ndarray.sh      (TSR_TESTING_MIRROR names a mirror that has Debian's testing suite)

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

crates="$tsr_root/build/rust/crates"
installed=/usr/share/cargo/registry
! compgen -G "$crates/ndarray-*" >/dev/null || exit 0

area="$(mktemp -d)"
trap 'rm -rf "$area"' EXIT
use_suite "$area/apt" testing "${TSR_TESTING_MIRROR:-}"
mkdir -p "$area/packages"
(cd "$area/packages" && apt-get "${apt_options[@]}" download librust-{ndarray,matrixmultiply,rawpointer}-dev \
  librust-num-{complex,integer,traits}-dev librust-autocfg-dev)
for package in "$area"/packages/*.deb; do
  dpkg-deb --extract "$package" "$area/root"
done
cp -rL "$installed"/half-* "$area/root$installed"
rm -rf "$crates"
mkdir -p "$(dirname "$crates")"
mv "$area/root$installed" "$crates"
