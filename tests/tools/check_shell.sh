#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# No script has a finding of shellcheck (.shellcheckrc).
#
# Usage: check_shell.sh <repository root>

set -euo pipefail
shopt -s globstar
cd "$1"
command -v shellcheck >/dev/null || { echo "shellcheck is missing (package shellcheck)"; exit 1; }
shellcheck scripts/*.sh tests/**/*.sh examples/**/*.sh
