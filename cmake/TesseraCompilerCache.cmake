# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# ccache in front of the compilers, where it is found and the user has not set a launcher. What it keeps
# (in its own folder, ~/.cache/ccache unless CCACHE_DIR names another) serves every clone on the machine:
# paths below the source folder count relative to it, and the folder of the build is no part of the key.

find_program(TSR_CCACHE ccache)
if(NOT TSR_CCACHE)
  return()
endif()

set(tsr_cache_launcher "${TSR_CCACHE}")
# The user's own base folder may be wider, as for several worktrees.
if(NOT DEFINED ENV{CCACHE_BASEDIR})
  set(tsr_cache_launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${TSR_CCACHE}")
endif()
foreach(language IN ITEMS C CXX CUDA)
  if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${tsr_cache_launcher})
  endif()
endforeach()
