# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: what ctest runs, per build. Tests labelled `tool` look at sources, at the release's
# binaries and at what the compilers make of the headers: a part of their own, which says nothing new under a
# sanitizer.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "$part" in
  release) ctest_part release -LE tool ;;
  tools) ctest_part release -L tool ;;
  asan)
    export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
    export LSAN_OPTIONS="suppressions=$tsr_root/tests/support/leaks.txt:print_suppressions=0:${LSAN_OPTIONS:-}"
    ctest_part asan -LE tool
    ;;
  tsan)
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}"
    # oneDNN 2.6 reads one element behind a vector of its own while it makes code for AMX, which this allocator shows.
    export ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16
    ctest_part tsan -LE tool
    ;;
  long) TSR_TEST_LONG=1 ctest_part release -LE tool ;;
  *) exit 2 ;;
esac
