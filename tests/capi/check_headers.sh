#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Every public header compiles alone, as C99 and as C++, before and after dlpack.h and with an older
# TSR_TARGET; tessera_ffi.h has no preprocessor line and cffi reads it.
#
# Usage: check_headers.sh <repository root> <python> <folder to work in>
#
# The folder is inside the build, so that the compiler cache sees the same relative paths in every clone.

set -euo pipefail
root="$1" python="$2" work="$3"
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
gcc=(gcc)
if command -v ccache >/dev/null; then
  gcc=(env "CCACHE_BASEDIR=$root" CCACHE_NOHASHDIR=1 ccache gcc)
fi

compile() { # compile <language flags> -- <text>
  local flags="${1}" text="${2}"
  printf '%b\nint tessera_header_test;\n' "$text" >unit
  # shellcheck disable=SC2086
  "${gcc[@]}" $flags -Wall -Wextra -Werror -pedantic -I"$root/include" -c unit -o unit.o
}

c99="-x c -std=c99"
cxx="-x c++ -std=c++11"
for header in "$root"/include/tessera/*.h; do
  name="tessera/$(basename "$header")"
  include="#include \"$name\""
  # The preprocessor-free header leaves the integer types to whoever reads it.
  [ "$name" != tessera/tessera_ffi.h ] || include="#include <stdint.h>\n$include"
  compile "$c99" "$include"
  [ "$name" = tessera/tessera_ffi.h ] || compile "$cxx" "$include\n$include"
done

dlpack='#include <dlpack/dlpack.h>'
all='#include "tessera/tessera.h"'
for language in "$c99" "$cxx"; do
  compile "$language" "$dlpack\n$all"
  compile "$language" "$all\n$dlpack"
  compile "$language -DTSR_TARGET=0x00000001" "$all"
done

if grep -n '^[[:space:]]*#' "$root/include/tessera/tessera_ffi.h"; then
  echo "tessera_ffi.h has a preprocessor line" >&2
  exit 1
fi
"$python" - "$root/include/tessera/tessera_ffi.h" <<'PYTHON'
import sys

import cffi

ffi = cffi.FFI()
ffi.cdef(open(sys.argv[1], encoding="utf-8").read())
assert ffi.sizeof("tsr_info") == 72, ffi.sizeof("tsr_info")
assert ffi.typeof("tsr_tensor").kind == "pointer"
print("cffi", cffi.__version__, "reads tessera_ffi.h")
PYTHON

# The C++ headers: each alone, in both standards, with the warnings that strict projects turn on.
strict="-Wshadow -Wconversion"
for header in "$root"/include/tessera/tessera.hpp "$root"/include/tessera/cpp/*.hpp \
  "$root"/include/tessera/cpp/nn/*.hpp; do
  compile "-x c++ -std=c++17 $strict" "#include \"${header#"$root"/include/}\""
done
compile "-x c++ -std=c++20 $strict" "$dlpack\n#include \"tessera/tessera.hpp\""
