# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the compilers behind ccache, if it is found and the user has not set another launcher. All clones on
# the machine share its cache (~/.cache/ccache unless CCACHE_DIR names another folder): paths below the
# source folder are made relative, and the build folder is not part of the key.

find_program(TSR_CCACHE ccache)
if(NOT TSR_CCACHE)
  return()
endif()

# ccache needs this sloppiness to cache compilations with precompiled headers.
set(tsr_cache_slack "$ENV{CCACHE_SLOPPINESS}")
if(tsr_cache_slack)
  string(APPEND tsr_cache_slack ",")
endif()
# CCACHE_DEPEND: on a miss a file is compiled once, instead of preprocessed first; the compiler says what it has read.
set(tsr_cache_settings CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 "CCACHE_SLOPPINESS=${tsr_cache_slack}pch_defines,time_macros")
# The user may have set a wider base folder, for example for several worktrees.
if(NOT DEFINED ENV{CCACHE_BASEDIR})
  list(APPEND tsr_cache_settings "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}")
endif()
foreach(language IN ITEMS C CXX CUDA)
  get_filename_component(launcher "${CMAKE_${language}_COMPILER_LAUNCHER}" NAME)
  if(launcher STREQUAL "" OR launcher STREQUAL "ccache")
    set(CMAKE_${language}_COMPILER_LAUNCHER env ${tsr_cache_settings} "${TSR_CCACHE}")
  endif()
endforeach()

# Clang writes the folder of the clone into precompiled headers. The objects that use them are the same in all clones if
# ccache is told what the headers were made of, and sees the path of the header, which CMake hides behind -Xclang.
# A macro, for folders that use Clang in a build of another compiler.
set(tsr_sum_of_pch "${CMAKE_CURRENT_LIST_DIR}/sum_of_pch.sh")
macro(tsr_cache_clang)
  list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 1 CCACHE_PCH_EXTSUM=1)
  list(INSERT CMAKE_CXX_COMPILER_LAUNCHER -1 sh "${tsr_sum_of_pch}")
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER>)
endmacro()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  tsr_cache_clang()
endif()
