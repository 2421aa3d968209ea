# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by tests/run.sh after the languages' own parts, which build their programs: the same programs
# in every language, and every language's predictions with every language's model. TESSERA_SKIP (a list
# with commas) leaves languages out, as tests/skips.txt allows.
# shellcheck disable=SC2154  # tsr_root and the like are of tests/run.sh

languages_part() {
  announce languages
  local report="$reports/languages.junit.xml" log="$reports/languages.log"
  if env -u PYTHONPATH .venv/bin/python tests/tools/check_languages.py --report "$report" >"$log" 2>&1
  then
    sed -n '/^Largest/,$p' "$log"
  else
    tail -n 60 "$log"
  fi
}

languages_part
