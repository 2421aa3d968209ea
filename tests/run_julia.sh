# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests/run.sh: the Julia package's tests on the release build, with a depot of their own.
# TESSERA_SKIP=julia (one of a list with commas) leaves them out, as tests/skips.txt allows.
# shellcheck disable=SC2154  # tsr_root and the like are of tests/run.sh

run_julia_tests() {
  TESSERA_BUILD_DIR="$tsr_root/build/release" JULIA_DEPOT_PATH="$tsr_root/build/julia/depot" \
    TESSERA_TEST_REPORT="$reports/julia.junit.xml" \
    build/julia/bin/julia --startup-file=no --project=wrappers/julia wrappers/julia/test/runtests.jl
}

check_julia_guide() {
  "${TSR_SYSTEM_PYTHON:-/usr/bin/python3}" tests/tools/check_guides.py "$tsr_root" build/release julia \
    --julia "$tsr_root/build/julia/bin/julia"
}

julia_part() {
  if left_out julia; then
    skip_part julia "TESSERA_SKIP names julia"
    return
  fi
  announce julia
  if [ ! -x build/julia/bin/julia ]; then
    echo "there is no Julia: see scripts/setup_julia.sh, or leave it out with TESSERA_SKIP=julia"
    return
  fi
  run_julia_tests >"$reports/julia.log" 2>&1 || tail -n 100 "$reports/julia.log"
  command_part julia-guide check_julia_guide
}

julia_part
