# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the other scripts: the repository root, progress lines, and building one preset.

tsr_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tsr_jobs="${TSR_JOBS:-$(nproc)}"

say() {
  printf '[%3dm%02ds] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

# left_out <language>: true if TESSERA_SKIP, a comma-separated list, contains the language.
left_out() {
  [[ ",${TESSERA_SKIP:-}," == *",$1,"* ]]
}

# run_quietly <log file> <command...>: shows the log only if the command fails.
run_quietly() {
  local log="$1"
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "failed: $* (full log: ${log#"$tsr_root"/})"
    return 1
  fi
}

# The mirror of this system's main archive.
debian_mirror() {
  local codename
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
  # shellcheck disable=SC2016  # apt-get expands it
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' |
    awk -v codename="$codename" '$2 == codename { print $1; exit }'
}

# use_suite <folder> <suite> [mirror]: fetches the package lists of a Debian suite into the folder, and sets
# apt_options, with which apt-get uses only these lists: nothing on the system is installed or changed, and
# root is not needed. The status of the system is only read, so that installed packages are not fetched
# again.
use_suite() {
  local apt="$1" suite="$2" mirror="${3:-}" keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "this is no Debian system"
    return 1
  fi
  [ -r "$keyring" ] || { echo "$keyring is missing (package debian-archive-keyring)"; return 1; }
  [ -n "$mirror" ] || mirror="$(debian_mirror)"
  [ -n "$mirror" ] || { echo "no Debian mirror found in this system's apt sources"; return 1; }
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
  apt_options=(
    -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Debug::NoLocking=1
    -o "APT::Sandbox::User=$(id -un)"
  )
  apt-get "${apt_options[@]}" update
}

# cached_compiler <folder>: prints the C compiler of the Python extension (the user's, or the interpreter's
# own) behind ccache, as in cmake/TesseraCompilerCache.cmake. Paths below the folder are made relative.
cached_compiler() {
  local compiler="${CC:-$("$tsr_root/.venv/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("CC"))')}"
  if [ -z "${CC:-}" ] && command -v ccache >/dev/null; then
    compiler="env $(printf 'HOME=%q CCACHE_BASEDIR=%q' "$HOME" "${CCACHE_BASEDIR:-$1}") CCACHE_NOHASHDIR=1 ccache $compiler"
  fi
  echo "$compiler"
}

# configure_preset <preset> [<option>=<ON or OFF> [argument of CMake...]]: configures if there is no build yet, or its
# option is another one. (Every build has the empty line that is looked for without an option.)
configure_preset() {
  local preset="$1" setting="${2:-}"
  local build="$tsr_root/build/$preset"
  if [ ! -f "$build/build.ninja" ] || ! grep -qx "${setting/=/:BOOL=}" "$build/CMakeCache.txt"; then
    run_quietly "$build/configure.log" cmake -S "$tsr_root" --preset "$preset" ${setting:+"-D$setting"} "${@:3}"
  fi
}

# build_preset <preset> [ninja target...]: configures if needed, then builds.
build_preset() {
  local preset="$1"
  shift
  configure_preset "$preset" || return
  run_quietly "$tsr_root/build/$preset/build.log" cmake --build "$tsr_root/build/$preset" --parallel "$tsr_jobs" \
    ${@:+--target "$@"}
}
