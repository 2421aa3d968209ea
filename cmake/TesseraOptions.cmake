# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Options of the build and the language defaults that every target shares.

option(TSR_CUDA "Build the CUDA backend plugin" OFF)
option(TSR_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TSR_EXAMPLES "Build the C and C++ examples" ${PROJECT_IS_TOP_LEVEL})
option(TSR_BENCH "Build the benchmarks" OFF)
option(TSR_PRECOMPILE "Compile with precompiled headers: quicker, but a missing #include is not seen" ON)
option(TSR_BATCHES "Compile several files of a test program at a time: quicker, but not after a change of one" OFF)

# What other compilers warn of differs from version to version; a user's build does not end for that.
set(TSR_WERROR "OFF" CACHE STRING "Warnings are errors: ON, OFF, or AUTO (with GCC 12, which the tests run with)")
set_property(CACHE TSR_WERROR PROPERTY STRINGS AUTO ON OFF)
set(tsr_warnings_are_errors ${TSR_WERROR})
if(TSR_WERROR STREQUAL "AUTO")
  set(tsr_warnings_are_errors OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
    set(tsr_warnings_are_errors ON)
  endif()
endif()

set(TSR_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: 'address;undefined' or 'thread'")
option(TSR_SANITIZE_QUICK "With sanitizers, check only addresses in the rows of the CPU backend and in the tests, and make no line tables" OFF)
mark_as_advanced(TSR_SANITIZE_QUICK)
set(TSR_CPU_LEVELS "sse42;avx2;avx512"
    CACHE STRING "Instruction-set levels the CPU kernels are compiled for; one is chosen at run time")
set(TSR_BLAS_FLAVOUR "openmp" CACHE STRING "OpenBLAS build to look for: openmp or serial")
set_property(CACHE TSR_BLAS_FLAVOUR PROPERTY STRINGS openmp serial)
set(TSR_ONEDNN "AUTO" CACHE STRING "Convolution on the CPU by oneDNN: ON, OFF, or AUTO (where it is found)")
set_property(CACHE TSR_ONEDNN PROPERTY STRINGS AUTO ON OFF)

set(TSR_MPI "AUTO" CACHE STRING "Groups of processes over MPI, a plugin: ON, OFF, or AUTO (where it is found)")
set_property(CACHE TSR_MPI PROPERTY STRINGS AUTO ON OFF)
option(TSR_NCCL "Build the plugin for groups of GPUs over NCCL, which is opened when it is used" ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(TesseraCompilerCache)
endif()

set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# An installation may be moved, so its files know each other by relative paths. Some packagers give folders below the
# prefix as absolute ones.
foreach(folder IN ITEMS LIBDIR INCLUDEDIR DATADIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    file(RELATIVE_PATH tsr_below_prefix "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_${folder}}")
    if(tsr_below_prefix MATCHES "^\\.\\." OR tsr_below_prefix STREQUAL "")
      message(FATAL_ERROR "CMAKE_INSTALL_${folder}: expected a folder below the prefix ${CMAKE_INSTALL_PREFIX}, "
                          "got ${CMAKE_INSTALL_${folder}}")
    endif()
    set(CMAKE_INSTALL_${folder} "${tsr_below_prefix}")
  endif()
endforeach()
