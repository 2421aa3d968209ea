# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# ccache in front of the compilers, where it is found and the user has not set another launcher. What it
# keeps (in its own folder, ~/.cache/ccache unless CCACHE_DIR names another) serves every clone on the
# machine: paths below the source folder count relative to it, and the folder of the build is no part of
# the key.

find_program(TSR_CCACHE ccache)
if(NOT TSR_CCACHE)
  return()
endif()

# ccache asks for this slack to keep what was compiled with precompiled headers.
set(tsr_cache_slack "$ENV{CCACHE_SLOPPINESS}")
if(tsr_cache_slack)
  string(APPEND tsr_cache_slack ",")
endif()
set(tsr_cache_settings CCACHE_NOHASHDIR=1 "CCACHE_SLOPPINESS=${tsr_cache_slack}pch_defines,time_macros")
# The user's own base folder may be wider, as for several worktrees.
if(NOT DEFINED ENV{CCACHE_BASEDIR})
  list(APPEND tsr_cache_settings "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}")
endif()
foreach(language IN ITEMS C CXX CUDA)
  get_filename_component(launcher "${CMAKE_${language}_COMPILER_LAUNCHER}" NAME)
  if(launcher STREQUAL "" OR launcher STREQUAL "ccache")
    set(CMAKE_${language}_COMPILER_LAUNCHER env ${tsr_cache_settings} "${TSR_CCACHE}")
  endif()
endforeach()
