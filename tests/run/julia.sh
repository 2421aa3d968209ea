# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: the Julia package's tests and its guide on the release build, with a depot of
# their own. TESSERA_SKIP=julia (one of a list with commas) leaves them out, as tests/skips.txt allows.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run_julia_tests() {
  local log="$reports/julia.log"
  if [ ! -x build/julia/bin/julia ]; then
    echo "there is no Julia: see scripts/setup_julia.sh, or leave it out with TESSERA_SKIP=julia"
    return 1
  fi
  TESSERA_BUILD_DIR="$tsr_root/build/release" JULIA_DEPOT_PATH="$tsr_root/build/julia/depot" \
    TESSERA_TEST_REPORT="$reports/julia.junit.xml" \
    build/julia/bin/julia --startup-file=no --project=wrappers/julia wrappers/julia/test/runtests.jl \
    >"$log" 2>&1 || { tail -n 100 "$log"; return 1; }
}

check_julia_guide() {
  "$system_python" tests/tools/check_guides.py "$tsr_root" build/release julia \
    --julia "$tsr_root/build/julia/bin/julia"
}

if left_out julia; then
  skip_part "TESSERA_SKIP names julia"
  exit
fi
case "$part" in
  julia) run_julia_tests ;;
  julia-guide) command_part check_julia_guide ;;
  *) exit 2 ;;
esac
