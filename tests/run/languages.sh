# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# A part of tests/run.sh: the same programs in every language, and every language's predictions with every
# language's model. The languages' own parts have built the programs. TESSERA_SKIP (a list with commas)
# leaves languages out, as tests/skips.txt allows.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

log="$reports/languages.log"
if env -u PYTHONPATH .venv/bin/python tests/tools/check_languages.py \
  --report "$reports/languages.junit.xml" >"$log" 2>&1; then
  sed -n '/^Largest/,$p' "$log"
else
  tail -n 60 "$log"
  exit 1
fi
