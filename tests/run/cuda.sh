# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: the CUDA backend on the host's stand-ins for CUDA, then compiled for real where the
# toolkit is, then on a device where there is one. With --full for all architectures, and each file by itself, which shows
# whether it includes what it uses. Where no device will run the kernels, nvcc optimises them as little as it can.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# cuda_op_table <folder of the plugin> [more tests...]
cuda_op_table() {
  TESSERA_PLUGIN_PATH="$tsr_root/$1" pytest_part .venv/bin/python tests/backend/cuda "${@:2}"
}

has_device() {
  nvidia-smi >/dev/null 2>&1
}

cuda_compile() {
  local quick=ON
  [ -z "${TSR_TEST_FULL:-}" ] || rm -rf build/cuda
  if [ -n "${TSR_TEST_FULL:-}" ] || has_device; then quick=OFF; fi
  configure_preset cuda "TSR_CUDA_QUICK=$quick" \
    ${TSR_TEST_FULL:+-DCMAKE_CUDA_ARCHITECTURES=all-major -DTSR_BATCHES=OFF} || return
  build_preset cuda tessera_cuda
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
    if command -v nvcc >/dev/null && has_device; then
      cuda_op_table build/cuda/src/backend/cuda
    else
      skip_part "no device"
    fi
    ;;
  *) exit 2 ;;
esac
