#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sets up, builds release and trains a convolutional network on handwritten digits from Python.
#
# Usage: examples/run.sh [argument of digits.py...]

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh build </dev/null
exec .venv/bin/python examples/python/digits.py "$@"
