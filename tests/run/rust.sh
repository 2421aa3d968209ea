# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: the Rust crates on the release build: their tests, examples, lints and an outside
# crate. Debian's crates serve where they are installed, else the registry. Everything cargo makes goes to
# build/rust. TESSERA_SKIP=rust (one of a list with commas) leaves them out, as tests/skips.txt allows.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rust_target="$tsr_root/build/rust"
rust_config="$rust_target/cargo.toml"

# How the tests build, said to cargo on its command line and nowhere in the crates: the source of crates, no
# files for later builds, and no debug information in the optimised examples. The tests need theirs: they look at stacks.
write_cargo_config() {
  mkdir -p "$rust_target"
  write_profiles >"$rust_config"
  if compgen -G "/usr/share/cargo/registry/half-*" >/dev/null &&
    compgen -G "/usr/share/cargo/registry/num-complex-*" >/dev/null; then
    take_crates_from /usr/share/cargo/registry >>"$rust_config"
  fi
}

write_profiles() {
  printf '%s\n' '[profile.dev]' 'incremental = false' '[profile.release]' 'debug = false'
}

take_crates_from() {
  printf '%s\n' '[source.crates-io]' 'replace-with = "folder"' '[source.folder]' "directory = \"$1\"" \
    '[net]' 'offline = true'
}

# rust_cargo <subcommand> [argument...]: in the workspace, against the release build.
rust_cargo() {
  local subcommand="$1"
  shift
  (cd "$tsr_root/wrappers/rust" && CARGO_TARGET_DIR="$rust_target" CARGO_TERM_COLOR=never \
    TESSERA_BUILD_DIR="$tsr_root/build/release" cargo "$subcommand" --config "$rust_config" "$@")
}

run_rust_tests() {
  local log="$reports/rust.log"
  # A lock file of before may name crates that this source does not have.
  # Without --tests cargo would build the examples too, which the part rust-examples does.
  local status=0
  rust_cargo generate-lockfile >"$log" 2>&1 && rust_cargo test --no-fail-fast --lib --tests >>"$log" 2>&1 || status=$?
  rust_cargo test --no-fail-fast --doc >>"$log" 2>&1 || status=$?
  [ "$status" = 0 ] || grep -vE '^test .* \.\.\. ok$' "$log" | tail -n 100
  "$system_python" tests/tools/cargo_junit.py "$log" "$status" "$reports/rust.junit.xml"
  return "$status"
}

# The tour prints what it prints in every language; the others are built, and trained elsewhere.
check_rust_examples() {
  rust_cargo build --release --examples || return
  (cd "$rust_target" && release/examples/tensor_tour >tensor_tour.txt &&
    diff tensor_tour.txt "$tsr_root/examples/tensor_tour.txt")
}

check_rust_style() {
  (cd "$tsr_root/wrappers/rust" && cargo fmt --all --check) &&
    rustfmt --check --edition 2021 wrappers/rust/tessera-ndarray/src/lib.rs tests/consumer/rust/*.rs \
      tests/consumer/rust/src/*.rs &&
    rust_cargo clippy --all-targets -- -D warnings &&
    rust_cargo clippy --no-default-features -- -D warnings &&
    RUSTDOCFLAGS="-D warnings" rust_cargo doc --no-deps
}

# In the consumer's target folder, which has the crates compiled.
check_rust_guide() {
  "$system_python" tests/tools/check_guides.py "$tsr_root" build/release rust \
    --target "$rust_target/consumer" --cargo-config "$rust_config"
}

check_rust_consumer() {
  bash tests/tools/check_rust_consumer.sh "$tsr_root" build/release "$rust_target" "$rust_config" \
    build/release/tests/support/cuda_on_host/libtessera_cuda.so
}

check_rust_ndarray() {
  local manifest=tessera-ndarray/Cargo.toml
  rust_cargo test --manifest-path "$manifest" &&
    rust_cargo clippy --manifest-path "$manifest" --all-targets -- -D warnings
}

# ndarray comes from Debian's testing suite where Debian's crates serve the others, else from the registry.
rust_ndarray() {
  local log="$reports/rust-ndarray.setup.log" rust_config="$rust_config" folder="$rust_target/crates"
  : >"$log"
  if grep -q replace-with "$rust_config"; then
    bash scripts/setup_ndarray.sh >"$log" 2>&1
    rust_config="$rust_target/ndarray.toml"
    { write_profiles; take_crates_from "$folder"; } >"$rust_config"
  fi
  if rust_cargo generate-lockfile --manifest-path tessera-ndarray/Cargo.toml >>"$log" 2>&1; then
    command_part check_rust_ndarray
  else
    tail -n 20 "$log"
    skip_part "no ndarray that fits can be had"
  fi
}

if left_out rust; then
  skip_part "TESSERA_SKIP names rust"
  exit
fi
if ! command -v cargo >/dev/null; then
  echo "there is no cargo: install Rust 1.80 or newer, or leave it out with TESSERA_SKIP=rust"
  exit 1
fi
write_cargo_config
case "$part" in
  rust) run_rust_tests ;;
  rust-examples) command_part check_rust_examples ;;
  rust-style) command_part check_rust_style ;;
  rust-consumer) command_part check_rust_consumer ;;
  rust-guide) command_part check_rust_guide ;;
  rust-ndarray) rust_ndarray ;;
  *) exit 2 ;;
esac
