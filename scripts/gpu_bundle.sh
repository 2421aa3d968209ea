#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Prepares build/gpu-bundle: the files that `tests/run.sh --gpu` needs on an x86-64 machine with a GPU and
# no package registry. One archive: OpenBLAS and its dependencies, headers, wheels of cffi and pytest,
# Python's headers, the data of the digits network.
#
# Usage: scripts/gpu_bundle.sh      (TSR_GPU_PYTHON: an interpreter of that machine's version, 3.12)

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$tsr_root"

version="${TSR_GPU_PYTHON_VERSION:-3.12}"
limit_mib=50
bundle="$tsr_root/build/gpu-bundle"
area="$(mktemp -d)"
trap 'rm -rf "$area"' EXIT

if [ "$(uname -m)" != x86_64 ]; then
  echo "the bundle is for x86-64 and is made of this machine's libraries, which are for $(uname -m)"
  exit 2
fi
bash scripts/setup.sh build </dev/null
python="$tsr_root/.venv/bin/python"

# ---- Libraries, and their dependencies that a machine with GCC does not have ----

mkdir -p "$area/lib" "$area/include" "$area/wheels" "$area/data"
folder="/usr/lib/x86_64-linux-gnu/openblas-openmp"
for library in "$folder/libopenblas.so.0" \
  $(ldd "$folder/libopenblas.so.0" | awk '$1 ~ /^lib(gfortran|quadmath)/ { print $3 }'); do
  cp -L "$library" "$area/lib/"
done
ln -s libopenblas.so.0 "$area/lib/libopenblas.so"

# ---- Headers ----

cp /usr/include/x86_64-linux-gnu/openblas-openmp/{cblas,openblas_config}.h "$area/include/"
cp -r /usr/include/nlohmann /usr/include/dlpack "$area/include/"

# The interpreter of that machine may lack Python.h. The headers of any 3.12 fit every 3.12.
find_interpreter() {
  local candidate
  for candidate in "${TSR_GPU_PYTHON:-}" "python$version" /opt/python*/bin/python"$version" \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version"*/bin/python"$version"; do
    if "$candidate" -c 'import sys; assert "%d.%d" % sys.version_info[:2] == sys.argv[1]' "$version" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}
interpreter="$(find_interpreter)"
headers=""
[ -z "$interpreter" ] || headers="$("$interpreter" -c 'import sysconfig; print(sysconfig.get_path("include"))')"
if [ -r "$headers/Python.h" ]; then
  cp -r "$headers" "$area/include/python$version"
else
  say "no Python $version here: the bundle has no Python.h, so the machine with the GPU must"
fi

# ---- Wheels, and the data that examples/python/digits.py trains on ----

if ! run_quietly "$area/wheels.log" "$python" -m pip download --quiet --no-deps --only-binary=:all: \
  --implementation cp --python-version "$version" --platform manylinux_2_17_x86_64 \
  --platform manylinux2014_x86_64 --dest "$area/wheels" \
  cffi pycparser pytest pluggy iniconfig packaging pygments; then
  echo "the wheels cannot be had: no Python package index answers"
  exit 1
fi
run_quietly "$area/digits.log" "$python" examples/python/digits.py --only-data --out "$area/digits"
cp "$area/digits/data.safetensors" "$area/data/digits.safetensors"

# ---- One archive ----

mkdir -p "$bundle"
git rev-parse --short=12 HEAD >"$bundle/commit" 2>/dev/null || rm -f "$bundle/commit"
tar -C "$area" --sort=name --owner=0 --group=0 -cJf "$bundle/bundle.tar.xz" lib include wheels data
size="$(du -sk "$bundle" | cut -f1)"
say "build/gpu-bundle: $((size / 1024)).$((size % 1024 * 10 / 1024)) MiB of at most $limit_mib MiB"
[ "$size" -le $((limit_mib * 1024)) ] || { echo "the bundle is too large"; exit 1; }
