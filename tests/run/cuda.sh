# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: the CUDA backend on the host's stand-ins for CUDA, then compiled for real where the
# toolkit is, then on a device where there is one. With --full for all architectures.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# cuda_op_table <folder of the plugin> [more tests...]
cuda_op_table() {
  TESSERA_PLUGIN_PATH="$tsr_root/$1" pytest_part .venv/bin/python tests/backend/cuda "${@:2}"
}

cuda_compile() {
  local folder="build/cuda"
  [ -z "${TSR_TEST_FULL:-}" ] || rm -rf "$folder"
  if [ ! -f "$folder/build.ninja" ]; then
    cmake -S . --preset cuda ${TSR_TEST_FULL:+-DCMAKE_CUDA_ARCHITECTURES=all-major} || return 1
  fi
  cmake --build "$folder" --parallel "$tsr_jobs" --target tessera_cuda
}

case "$part" in
  cuda-on-host) cuda_op_table build/release/tests/support/cuda_on_host tests/backend/cuda_on_host ;;
  cuda-compile)
    if command -v nvcc >/dev/null; then
      command_part cuda_compile
    else
      skip_part "no nvcc"
    fi
    ;;
  cuda)
    if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then
      cuda_op_table build/cuda/src/backend/cuda
    else
      skip_part "no device"
    fi
    ;;
  *) exit 2 ;;
esac
