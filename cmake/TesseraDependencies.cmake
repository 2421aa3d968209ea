# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Third-party libraries, all private to the library: none of them reaches a consumer's include path.
# Each becomes one tsr_dep_* target, so that a folder's CMakeLists.txt shows what it uses.

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# ---- BLAS ----
# Opened at the first product (src/backend/cpu/linalg/blas.cpp), so the build neither needs nor links a
# BLAS. The OpenMP flavour of OpenBLAS shares one thread pool with oneDNN. The distribution has a folder for
# each flavour, and the public name links to the flavour that was installed last, so the file of the wanted
# folder comes first. Nothing found is kept for the next configuration, which may want the other flavour.
if(NOT TSR_BLAS_FLAVOUR MATCHES "^(openmp|serial)$")
  message(FATAL_ERROR "TSR_BLAS_FLAVOUR: expected openmp or serial, got ${TSR_BLAS_FLAVOUR}")
endif()
set(TSR_BLAS_LIBRARIES ""
    CACHE STRING "Libraries with CBLAS functions (32-bit integers) to open, the first that is there; empty: OpenBLAS of TSR_BLAS_FLAVOUR, else others")
find_library(TSR_OPENBLAS_LIBRARY NAMES openblas libopenblas.so.0 NO_CACHE
             HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-${TSR_BLAS_FLAVOUR}")
set(tsr_blas_libraries "${TSR_BLAS_LIBRARIES}")
if(NOT tsr_blas_libraries)
  set(tsr_blas_libraries libopenblas.so.0 libmkl_rt.so.2 libblis.so.4 libcblas.so.3)
  get_filename_component(tsr_blas_folder "${TSR_OPENBLAS_LIBRARY}" DIRECTORY)
  if(TSR_OPENBLAS_LIBRARY AND EXISTS "${tsr_blas_folder}/libopenblas.so.0")
    list(PREPEND tsr_blas_libraries "${tsr_blas_folder}/libopenblas.so.0")
  endif()
  set(tsr_blas_file "")
  if(TSR_OPENBLAS_LIBRARY)
    file(REAL_PATH "${TSR_OPENBLAS_LIBRARY}" tsr_blas_file)
  endif()
  if(tsr_blas_file MATCHES "/openblas-([a-z]+)/" AND NOT CMAKE_MATCH_1 STREQUAL TSR_BLAS_FLAVOUR)
    message(WARNING "TSR_BLAS_FLAVOUR=${TSR_BLAS_FLAVOUR}: this flavour of OpenBLAS was not found, and the library "
                    "will open ${tsr_blas_file}. Debian has it as libopenblas0-${TSR_BLAS_FLAVOUR}.")
  endif()
endif()

# For benchmarks only, which compare with OpenBLAS.
find_path(TSR_OPENBLAS_INCLUDE_DIR NAMES cblas.h NO_CACHE
          HINTS "/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-${TSR_BLAS_FLAVOUR}"
          PATH_SUFFIXES openblas)
if(TSR_OPENBLAS_LIBRARY AND TSR_OPENBLAS_INCLUDE_DIR)
  add_library(tsr_dep_openblas INTERFACE)
  target_include_directories(tsr_dep_openblas SYSTEM INTERFACE "${TSR_OPENBLAS_INCLUDE_DIR}")
  target_link_libraries(tsr_dep_openblas INTERFACE "${TSR_OPENBLAS_LIBRARY}")
endif()

# ---- oneDNN ----
# Without oneDNN the CPU computes convolutions by im2col, those of 16-bit floats in float32.
add_library(tsr_dep_dnnl INTERFACE)
set(tsr_have_dnnl FALSE)
if(TSR_ONEDNN)
  find_path(TSR_DNNL_INCLUDE_DIR NAMES oneapi/dnnl/dnnl.hpp)
  find_library(TSR_DNNL_LIBRARY NAMES dnnl)
  if(TSR_DNNL_INCLUDE_DIR AND TSR_DNNL_LIBRARY)
    set(tsr_have_dnnl TRUE)
    target_include_directories(tsr_dep_dnnl SYSTEM INTERFACE "${TSR_DNNL_INCLUDE_DIR}")
    target_link_libraries(tsr_dep_dnnl INTERFACE "${TSR_DNNL_LIBRARY}")
  elseif(NOT TSR_ONEDNN STREQUAL "AUTO")
    message(FATAL_ERROR "TSR_ONEDNN=${TSR_ONEDNN}: oneDNN was not found; see CONTRIBUTING.md")
  endif()
endif()

# ---- MPI ----
# Of the plugin alone.
set(tsr_have_mpi FALSE)
if(TSR_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(TARGET MPI::MPI_C)
    set(tsr_have_mpi TRUE)
  elseif(NOT TSR_MPI STREQUAL "AUTO")
    message(FATAL_ERROR "TSR_MPI=${TSR_MPI}: MPI was not found; see CONTRIBUTING.md")
  endif()
endif()

# ---- Header-only ----
find_path(TSR_DLPACK_INCLUDE_DIR NAMES dlpack/dlpack.h REQUIRED)
add_library(tsr_dep_dlpack INTERFACE)
target_include_directories(tsr_dep_dlpack SYSTEM INTERFACE "${TSR_DLPACK_INCLUDE_DIR}")

find_path(TSR_JSON_INCLUDE_DIR NAMES nlohmann/json.hpp REQUIRED)
add_library(tsr_dep_json INTERFACE)
target_include_directories(tsr_dep_json SYSTEM INTERFACE "${TSR_JSON_INCLUDE_DIR}")

if(TSR_TESTS)
  find_package(GTest REQUIRED)
endif()
