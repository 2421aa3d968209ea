#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Compares the library with every committed baseline capi/abi/*.abi: symbols may be added, nothing may
# change or go. scripts/abi_baseline.py writes a baseline. Nothing is compared again while library, baselines and
# this script have the contents of a comparison that found nothing.
#
# Usage: check_abi.sh <repository root> <libtessera.so>

set -uo pipefail
root="$1" library="$2" status=0
command -v abidiff >/dev/null || { echo "abidiff is missing (package abigail-tools)"; exit 1; }
shopt -s nullglob
baselines=("$root"/capi/abi/*.abi)
[ ${#baselines[@]} -gt 0 ] || { echo "no baseline in capi/abi"; exit 1; }
stamp="$library.abi-checked"
key="$(cat "$library" "${baselines[@]}" "${BASH_SOURCE[0]}" | sha256sum) $(abidiff --version)"
if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then
  echo "compared before: $stamp"
  exit 0
fi
for baseline in "${baselines[@]}"; do
  echo "== $(basename "$baseline")"
  abidiff --no-added-syms "$baseline" "$library" || status=1
done
[ "$status" != 0 ] || echo "$key" >"$stamp"
exit $status
