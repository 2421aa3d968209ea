#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs a compiler behind ccache. Beside a header that it has precompiled it writes the sum of all files that this header
# was made of: ccache then puts the sum into its keys (CCACHE_PCH_EXTSUM) and not the contents, in which Clang writes the
# folder of the clone.
#
# Usage: sum_of_pch.sh ccache <compiler> <argument>...

"$@" || exit
while [ $# -gt 1 ]; do
  case "$1" in
    -o) output="$2" ;;
    -MF) read_files="$2" ;;
  esac
  shift
done
case "${output:-}" in
  *.pch) sed 's/\\$//; s/^[^ ]*: //' "$read_files" | xargs cat | sha256sum >"$output.sum" ;;
esac
