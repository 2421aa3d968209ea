# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Targets for the developer: format rewrites the sources, tidy runs clang-tidy over them.

find_program(TSR_CLANG_TIDY_RUNNER NAMES run-clang-tidy-14 run-clang-tidy)
find_program(TSR_CLANG_TIDY NAMES clang-tidy-14 clang-tidy)

add_custom_target(format COMMAND python3 tests/tools/check_format.py . --fix
                  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
if(TSR_CLANG_TIDY_RUNNER AND TSR_CLANG_TIDY)
  add_custom_target(
    tidy COMMAND "${TSR_CLANG_TIDY_RUNNER}" -quiet -clang-tidy-binary "${TSR_CLANG_TIDY}"
                 -p "${PROJECT_BINARY_DIR}" "^${PROJECT_SOURCE_DIR}/(src|capi)/"
    COMMAND bash -c "ls wrappers/python/native/*.c | grep -v generated | xargs -P 2 -I {} \
                     '${TSR_CLANG_TIDY}' -quiet {} -- -Iinclude $(python3-config --includes)"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
endif()
