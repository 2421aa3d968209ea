#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Trains ResNet-18 on scikit-learn's scanned digits from Python, C++, Rust and Julia, as far as their tools are there, and
# ends with 1 if a language stays below 97 % of the test images. examples/run.sh calls it after the set-up.
#
# Usage: examples/resnet18.sh [--epochs N] [--seed S]

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root="$PWD"
data="$root/build/digits/data.safetensors" out="$root/build/resnet18"
least=0.97
failed=0

# train LANGUAGE COMMAND...: the last line that the program prints is its accuracy.
train() {
  local language="$1" last
  shift
  last="$("$@" "$data" "$out/$language" "${options[@]}" | tail -n 1)"
  echo "$language: $last"
  awk -v least="$least" '{ exit !($3 >= least) }' <<<"$last" || failed=1
}

options=("$@")
.venv/bin/python examples/python/digits.py --only-data --out build/digits
train python .venv/bin/python examples/python/resnet18.py

if [ "$(sed -n 's/^TSR_EXAMPLES:BOOL=//p' build/release/CMakeCache.txt)" = ON ]; then
  cmake --build build/release --target example_cpp_resnet18 >/dev/null
  train cpp build/release/examples/cpp/resnet18
else
  echo "cpp: left out, the release build has no examples (TSR_EXAMPLES)"
fi

if command -v cargo >/dev/null; then
  mkdir -p build/rust
  : >build/rust/cargo.toml
  if compgen -G "/usr/share/cargo/registry/half-*" >/dev/null; then  # Debian's crates
    printf '%s\n' '[source.crates-io]' 'replace-with = "folder"' '[source.folder]' \
      'directory = "/usr/share/cargo/registry"' '[net]' 'offline = true' >build/rust/cargo.toml
  fi
  (cd wrappers/rust && CARGO_TARGET_DIR="$root/build/rust" TESSERA_BUILD_DIR="$root/build/release" \
    cargo build --quiet --config "$root/build/rust/cargo.toml" --release --example resnet18)
  train rust build/rust/release/examples/resnet18
else
  echo "rust: left out, there is no cargo"
fi

if [ -x build/julia/bin/julia ]; then
  export TESSERA_BUILD_DIR="$root/build/release" JULIA_DEPOT_PATH="$root/build/julia/depot"
  train julia build/julia/bin/julia --startup-file=no --project=wrappers/julia examples/julia/resnet18.jl
else
  echo "julia: left out, there is no Julia (scripts/setup_julia.sh)"
fi
exit "$failed"
