#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Set-up shared by examples/run.sh and tests/run.sh: Debian packages, the virtual environment .venv,
# the release build, the Python package inside that environment, and Julia for the tests. Finished steps are
# skipped.
#
# Usage: scripts/setup.sh [build|test|full] [STEP...]
#   build, test, full  the groups of packages.txt to install
#   STEP               packages, environment, library, extension or julia (all of them, without julia for build)

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# ---- Debian packages ----

wanted_packages() {
  local groups="build"
  case "$1" in
    test) groups="build|test" ;;
    full) groups="build|test|full" ;;
  esac
  awk -v groups="^($groups)\$" '$1 ~ groups { print $2 }' "$tsr_root/scripts/packages.txt"
}

missing_packages() {
  local package
  for package in $(wanted_packages "$1"); do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null || { say "not Debian: packages are taken as present"; return; }
  local missing sudo=""
  mapfile -t missing < <(missing_packages "$1")
  [ "${#missing[@]}" -gt 0 ] || return 0
  say "installing: ${missing[*]}"
  [ "$(id -u)" = 0 ] || sudo="sudo"
  local log="$tsr_root/build/setup-apt.log"
  mkdir -p "$tsr_root/build"
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update >"$log" 2>&1 || say "apt-get update failed; trying with the lists there are"
  if ! $sudo apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
    # If one package is not available, the others are still installed.
    local package
    for package in "${missing[@]}"; do
      $sudo apt-get install -y --no-install-recommends "$package" >>"$log" 2>&1 ||
        say "could not install $package (log: build/setup-apt.log)"
    done
  fi
}

# ---- Virtual environment ----
# The system's interpreter finds Debian's packages, so nothing comes from a Python registry. Another
# interpreter that is first on PATH would not find them.

tsr_system_python="${TSR_SYSTEM_PYTHON:-/usr/bin/python3}"
tsr_venv="$tsr_root/.venv"

make_environment() {
  if [ ! -x "$tsr_venv/bin/python" ] || ! "$tsr_venv/bin/python" -c 'import sys' 2>/dev/null; then
    say "making the virtual environment .venv"
    rm -rf "$tsr_venv"
    "$tsr_system_python" -m venv --system-site-packages "$tsr_venv"
  fi
  local site pth
  site="$("$tsr_venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  pth="$site/tessera-tree.pth"
  local package_folder="$tsr_root/wrappers/python/src"
  [ -d "$package_folder" ] || package_folder="$tsr_root/wrappers/python"
  [ "$(cat "$pth" 2>/dev/null)" = "$package_folder" ] || echo "$package_folder" >"$pth"
}

# ---- Library and Python extension ----

build_python() {
  [ -f "$tsr_root/wrappers/python/setup.py" ] || return 0
  # The library itself is not part of the key: the extension finds it by its run path.
  local stamp="$tsr_root/build/python.stamp" key
  key="$(cat "$tsr_root"/include/tessera/*.h "$tsr_root"/wrappers/python/native/* \
         "$tsr_root"/wrappers/python/*.py | sha256sum) $tsr_root"
  if [ "$(cat "$stamp" 2>/dev/null)" != "$key" ] ||
    ! compgen -G "$tsr_root/wrappers/python/src/tessera/_core.*.so" >/dev/null ||
    ! compgen -G "$tsr_root/wrappers/python/src/tessera/_native.*.so" >/dev/null; then
    say "building the Python extensions"
    (cd "$tsr_root/wrappers/python" &&
      TESSERA_BUILD_DIR="$tsr_root/build/release" CC="$(cached_compiler "$tsr_root")" \
        run_quietly "$tsr_root/build/python.log" "$tsr_venv/bin/python" setup.py build_ext --inplace)
    echo "$key" >"$stamp"
  fi
  # This tree's package, also where the environment is another worktree's.
  PYTHONPATH="$tsr_root/wrappers/python/src" "$tsr_venv/bin/python" -c 'import tessera'
}

# ---- Julia, for the tests ----
# Without Julia the run continues; tests/run/julia.sh then fails and says what is missing.

setup_julia() {
  [ "$1" = build ] || left_out julia || bash "$tsr_root/scripts/setup_julia.sh" || true
}

build_library() {
  say "building release"
  build_preset release tessera
}

main() {
  local groups="${1:-build}" step
  local steps=("${@:2}")
  [ "${#steps[@]}" -gt 0 ] || steps=(packages environment library extension julia)
  for step in "${steps[@]}"; do
    case "$step" in
      packages) install_packages "$groups" ;;
      environment) make_environment ;;
      library) build_library ;;
      extension) build_python ;;
      julia) setup_julia "$groups" ;;
      *) echo "setup.sh: unknown step $step"; exit 2 ;;
    esac
  done
}

main "$@"
