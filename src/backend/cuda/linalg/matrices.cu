// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/linalg/matrices.h"

#include "backend/cuda/block.cuh"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"
#include "kernel/linalg.h"

namespace tsr::cuda {

using kernel::Status;

namespace {

template <class T>
__device__ Pair<T> conjugated(Pair<T> x) {
  return {x.re, -x.im};
}
template <class T>
__device__ T conjugated(T x) {
  return x;
}
template <class T>
__device__ bool is_finite(T x) {
  return x - x == T(0);
}
template <class T>
__device__ bool is_finite(Pair<T> x) {
  return is_finite(x.re) && is_finite(x.im);
}
template <class T>
__device__ T unit(T) {
  return T(1);
}
template <class T>
__device__ Pair<T> unit(Pair<T>) {
  return {T(1), T(0)};
}

template <class T>
__global__ void turn_kernel(const T* from, T* to, int64_t rows, int64_t columns, int conjugate) {
  for (int64_t i = first_index(); i < rows * columns; i += index_step()) {
    const T x = from[i % rows * columns + i / rows];
    to[i] = conjugate != 0 ? conjugated(x) : x;
  }
}

template <class T>
__global__ void conjugate_kernel(T* numbers, int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) numbers[i] = conjugated(numbers[i]);
}

template <class T>
__global__ void identity_kernel(T* to, int64_t n) {
  for (int64_t i = first_index(); i < n * n; i += index_step())
    to[i] = i % (n + 1) == 0 ? unit(T{}) : T{};
}

template <class T>
__global__ void clear_triangle_kernel(T* a, int64_t batch, int64_t n, int upper) {
  for (int64_t i = first_index(); i < batch * n * n; i += index_step()) {
    const int64_t row = i / n % n;
    const int64_t column = i % n;
    if (upper != 0 ? column < row : column > row) a[i] = T{};
  }
}

// One thread walks one diagonal.
template <class T>
__global__ void check_diagonal_kernel(const T* a, int64_t batch, int64_t n, int32_t* info) {
  for (int64_t i = first_index(); i < batch; i += index_step()) {
    for (int64_t row = 0; row < n && info[i] == 0; ++row) {
      if (!is_finite(a[i * n * n + row * (n + 1)])) info[i] = static_cast<int32_t>(row) + 1;
    }
  }
}

// One block looks at one matrix; all threads that find something write the same.
template <class T>
__global__ void find_not_finite_kernel(const T* a, int64_t batch, int64_t rows, int64_t columns,
                                       Part part, int32_t* info) {
  for (int64_t m = blockIdx.x; m < batch; m += gridDim.x) {
    for (int64_t i = threadIdx.x; i < rows * columns; i += blockDim.x) {
      const int64_t row = i / columns;
      const int64_t column = i % columns;
      const bool counts =
          part == Part::kWhole || (part == Part::kUpper ? column >= row : column <= row);
      if (counts && !is_finite(a[m * rows * columns + i])) info[m] = kernel::kNotFinite;
    }
  }
}

template <class Fn>
Status visit(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn.template operator()<float>();
    case DType::kFloat64:
      return fn.template operator()<double>();
    case DType::kComplex64:
      return fn.template operator()<Pair<float>>();
    default:
      return fn.template operator()<Pair<double>>();
  }
}

}  // namespace

Status turn(kernel::Place place, DType dtype, const void* from, void* to, int64_t rows,
            int64_t columns, bool conjugate) {
  return visit(dtype, [&]<class T>() {
    return launch(place, rows * columns, &turn_kernel<T>, static_cast<const T*>(from),
                  static_cast<T*>(to), rows, columns, conjugate ? 1 : 0);
  });
}

Status conjugate(kernel::Place place, DType dtype, void* numbers, int64_t count) {
  if (!is_complex(dtype)) return kernel::kOk;
  return visit(dtype, [&]<class T>() {
    return launch(place, count, &conjugate_kernel<T>, static_cast<T*>(numbers), count);
  });
}

Status set_identity(kernel::Place place, DType dtype, void* to, int64_t n) {
  return visit(dtype, [&]<class T>() {
    return launch(place, n * n, &identity_kernel<T>, static_cast<T*>(to), n);
  });
}

Status finish_cholesky(kernel::Place place, DType dtype, void* a, int64_t batch, int64_t n,
                       bool upper, int32_t* info) {
  return visit(dtype, [&]<class T>() {
    const Status status = launch(place, batch * n * n, &clear_triangle_kernel<T>,
                                 static_cast<T*>(a), batch, n, upper ? 1 : 0);
    if (status != kernel::kOk) return status;
    return launch(place, batch, &check_diagonal_kernel<T>, static_cast<const T*>(a), batch, n,
                  info);
  });
}

Status find_not_finite(kernel::Place place, DType dtype, const void* a, int64_t batch, int64_t rows,
                       int64_t columns, Part part, int32_t* info) {
  const Status status = clear(place, info, batch * static_cast<int64_t>(sizeof(int32_t)));
  if (status != kernel::kOk) return status;
  return visit(dtype, [&]<class T>() {
    return launch_blocks(place, batch, kThreads, &find_not_finite_kernel<T>,
                         static_cast<const T*>(a), batch, rows, columns, part, info);
  });
}

}  // namespace tsr::cuda
