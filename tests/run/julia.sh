# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: the Julia package's tests and its guide on the release build, with a depot of
# their own. TESSERA_SKIP=julia (one of a list with commas) leaves them out, as tests/skips.txt allows.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Nearly all the time of these tests is Julia's compiler. Most files make each call once: interpreted, they take a
# quarter of the time, and --full compiles them too. The others repeat calls, or call every function. What compiled code
# allocates is said of the default optimisation only.
repeating=(conformance autograd hooks interop layout examples)
allocating=(memory)
others=("${repeating[@]/#/-}" "${allocating[@]/#/-}")

# run_julia_tests <option of julia> <arguments of runtests.jl>
run_julia_tests() {
  local log="$reports/$part.log"
  if [ ! -x build/julia/bin/julia ]; then
    echo "there is no Julia: see scripts/setup_julia.sh, or leave it out with TESSERA_SKIP=julia"
    return 1
  fi
  TESSERA_BUILD_DIR="$tsr_root/build/release" JULIA_DEPOT_PATH="$tsr_root/build/julia/depot" \
    TESSERA_TEST_REPORT="$reports/$part.junit.xml" \
    build/julia/bin/julia "$1" --startup-file=no --project=wrappers/julia wrappers/julia/test/runtests.jl "${@:2}" \
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
  julia) run_julia_tests -O1 "${repeating[@]}" ;;
  julia-interpreted) run_julia_tests --compile=min "${others[@]}" ;;
  julia-compiled) run_julia_tests -O1 "${others[@]}" ;;
  julia-memory) run_julia_tests -O2 "${allocating[@]}" ;;
  julia-guide) command_part check_julia_guide ;;
  *) exit 2 ;;
esac
