# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Parts of tests/run.sh: the Python package, its types, its wheel.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python="$tsr_root/.venv/bin/python"
tests="wrappers/python/tests"

check_types() {
  (cd wrappers/python && "$python" -m mypy && "$python" -m mypy tests/test_types.py) &&
    cd capi && "$python" -m mypy --strict --no-warn-unused-ignores -p generator
}

# The wheel, and the guide's programs in an environment that has nothing but it.
check_wheel() {
  CC="$(cached_compiler "$tsr_root")" bash tests/tools/check_wheel.sh "$tsr_root" "$tsr_root/build/release" \
    "$tsr_root/build/release/tests/support/cuda_on_host/libtessera_cuda.so"
}

# NumPy 2 in an environment of its own: Debian's SciPy and PyTorch, which other tests compare with, are built for NumPy 1.
numpy2() {
  local folder="$tsr_root/build/numpy2"
  local probe='import numpy; assert numpy.lib.NumpyVersion(numpy.__version__) >= "2.2.5"'
  if ! "$folder/bin/python" -c "$probe" 2>/dev/null; then
    rm -rf "$folder"
    if ! { "$python" -m venv --system-site-packages "$folder" &&
      "$folder/bin/python" -m pip install --quiet --no-deps --retries 1 --timeout 15 'numpy>=2.2.5'; } \
      >"$reports/numpy2.setup.log" 2>&1; then
      rm -rf "$folder"
      skip_part "NumPy 2 cannot be had"
      return
    fi
  fi
  PYTHONPATH="$tsr_root/wrappers/python/src" pytest_part "$folder/bin/python" \
    "$tests/test_interop.py" "$tests/test_buffer.py" "$tests/test_exchange.py" "$tests/test_indexing.py" \
    "$tests/test_tensor.py" "$tests/test_conformance.py"
}

case "$part" in
  python) PYTHONPATH="" pytest_part "$python" "$tests" ;;
  types) command_part check_types ;;
  wheel) command_part check_wheel ;;
  gpu-runner) pytest_part "$python" tests/gpu ;;
  random-shapes) TSR_TEST_LONG=1 pytest_part "$python" "$tests/test_random_shapes.py" "$tests/test_op_shapes.py" ;;
  random-programs) TSR_TEST_LONG=1 pytest_part "$python" "$tests/test_random_programs.py" ;;
  numpy2) numpy2 ;;
  *) exit 2 ;;
esac
