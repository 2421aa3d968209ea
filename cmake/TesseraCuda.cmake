# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# The dependencies of the CUDA backend: CUDA::cudart, tsr_dep_cublas, tsr_dep_cusolver and tsr_dep_cudnn. The
# libraries may come from a toolkit or from the Python packages (in CMAKE_PREFIX_PATH: nvidia/cu13 and nvidia/cudnn),
# which have versioned names only.

find_package(CUDAToolkit 12.4 REQUIRED)
set(tsr_cuda_major "${CUDAToolkit_VERSION_MAJOR}")

add_library(tsr_dep_cublas INTERFACE)
if(TARGET CUDA::cublas)
  target_link_libraries(tsr_dep_cublas INTERFACE CUDA::cublas CUDA::cublasLt)
else()
  find_library(TSR_CUBLAS_LIBRARY NAMES cublas libcublas.so.${tsr_cuda_major} REQUIRED)
  find_library(TSR_CUBLASLT_LIBRARY NAMES cublasLt libcublasLt.so.${tsr_cuda_major} REQUIRED)
  find_path(TSR_CUBLAS_INCLUDE_DIR NAMES cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
  target_link_libraries(tsr_dep_cublas INTERFACE "${TSR_CUBLAS_LIBRARY}" "${TSR_CUBLASLT_LIBRARY}")
  target_include_directories(tsr_dep_cublas SYSTEM INTERFACE "${TSR_CUBLAS_INCLUDE_DIR}")
endif()

# cuDNN is loaded at the first convolution: only its headers are needed to build.
find_path(TSR_CUDNN_INCLUDE_DIR NAMES cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
find_path(TSR_CUDNN_FOLDER NAMES libcudnn.so.9 HINTS "${TSR_CUDNN_INCLUDE_DIR}/../lib"
                                                     ${CUDAToolkit_LIBRARY_DIR})
add_library(tsr_dep_cudnn INTERFACE)
target_include_directories(tsr_dep_cudnn SYSTEM INTERFACE "${TSR_CUDNN_INCLUDE_DIR}")

# cuSOLVER is loaded at the first factorization: only its headers are needed to build. Its major version is
# not the toolkit's.
find_path(TSR_CUSOLVER_INCLUDE_DIR NAMES cusolverDn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
find_path(TSR_CUSOLVER_FOLDER NAMES libcusolver.so.12 libcusolver.so.11
          HINTS "${TSR_CUSOLVER_INCLUDE_DIR}/../lib" ${CUDAToolkit_LIBRARY_DIR})
add_library(tsr_dep_cusolver INTERFACE)
target_include_directories(tsr_dep_cusolver SYSTEM INTERFACE "${TSR_CUSOLVER_INCLUDE_DIR}")
