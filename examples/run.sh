#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sets up, builds release and runs an example: a convolutional network on handwritten digits from Python, or the one
# that the first argument names.
#
# Usage: examples/run.sh [argument of digits.py...]
#        examples/run.sh table1 [argument of models/table1.py...]
#        examples/run.sh resnet18 [--epochs N] [--seed S]     ResNet-18 in four languages

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh build </dev/null
case "${1:-}" in
  table1) exec .venv/bin/python examples/models/table1.py "${@:2}" ;;
  resnet18) exec bash examples/resnet18.sh "${@:2}" ;;
  *) exec .venv/bin/python examples/python/digits.py "$@" ;;
esac
