# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests/run.sh: the CUDA backend on the host's stand-ins for CUDA, then compiled for real
# where the toolkit is, then on a device where there is one. With --full for all architectures. And the
# runner for machines with a GPU, over the stand-ins.
# shellcheck disable=SC2154  # tsr_root and the like are of tests/run.sh

# cuda_op_table <part> <folder of the plugin> [more tests...]
cuda_op_table() {
  TESSERA_PLUGIN_PATH="$tsr_root/$2" pytest_part "$1" .venv/bin/python tests/backend/cuda "${@:3}"
}

cuda_compile() {
  local folder="build/cuda"
  if [ ! -f "$folder/build.ninja" ]; then
    cmake -S . --preset cuda ${full:+-DCMAKE_CUDA_ARCHITECTURES=all-major} || return 1
  fi
  cmake --build "$folder" --parallel "$tsr_jobs" --target tessera_cuda
}

cuda_op_table cuda-on-host build/release/tests/support/cuda_on_host tests/backend/cuda_on_host
pytest_part gpu-runner .venv/bin/python tests/gpu

if ! command -v nvcc >/dev/null; then
  skip_part cuda-compile "no nvcc"
  skip_part cuda "no device"
else
  [ -z "$full" ] || rm -rf build/cuda
  command_part cuda-compile cuda_compile
  if nvidia-smi >/dev/null 2>&1; then
    cuda_op_table cuda build/cuda/src/backend/cuda
  else
    skip_part cuda "no device"
  fi
fi
