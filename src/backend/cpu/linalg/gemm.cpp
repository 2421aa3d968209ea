// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products: OpenBLAS for float32, float64 and complex; 16-bit floats are computed in
// float32; tiny and skinny products have loops of their own.
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/generated/entries.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <complex>
#include <cstring>
#include <optional>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/blas.h"
#include "backend/cpu/pointwise/strided.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/determinism.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::GemmPlan;
using kernel::Status;

namespace {

// Up to this many multiplications, the loops here cost less than a call of OpenBLAS.
constexpr int64_t kTiny = 100;
// Matrices of at least so many multiplications are computed one after another with all threads.
// Smaller ones of a batch are divided among the threads.
constexpr int64_t kLarge = int64_t{1} << 21;

// One operand as BLAS sees it.
struct Side {
  BlasTranspose transpose;
  int leading;
};
Side describe(const int64_t strides[2], int64_t rows, int64_t columns, bool conjugate) {
  if (strides[1] == 1 && (strides[0] >= columns || rows == 1)) {
    const auto leading = static_cast<int>(std::max({strides[0], columns, int64_t{1}}));
    return {conjugate ? BlasTranspose::kConjugateOnly : BlasTranspose::kNo, leading};
  }
  const auto leading = static_cast<int>(std::max({strides[1], rows, int64_t{1}}));
  return {conjugate ? BlasTranspose::kConjugate : BlasTranspose::kYes, leading};
}

// ---- OpenBLAS, by type ----

void blas_gemm(const BlasUse& blas, BlasOrder order, Side a, Side b, int m, int n, int k,
               const GemmPlan& plan, const void* x, const void* y, void* c, int ldc) {
  switch (plan.dtype) {
    case DType::kFloat32:
      blas->sgemm(order, a.transpose, b.transpose, m, n, k, parameter<float>(plan.alpha),
                  static_cast<const float*>(x), a.leading, static_cast<const float*>(y), b.leading,
                  parameter<float>(plan.beta), static_cast<float*>(c), ldc);
      return;
    case DType::kFloat64:
      blas->dgemm(order, a.transpose, b.transpose, m, n, k, parameter<double>(plan.alpha),
                  static_cast<const double*>(x), a.leading, static_cast<const double*>(y),
                  b.leading, parameter<double>(plan.beta), static_cast<double*>(c), ldc);
      return;
    case DType::kComplex64:
      blas->cgemm(order, a.transpose, b.transpose, m, n, k, &plan.alpha, x, a.leading, y, b.leading,
                  &plan.beta, c, ldc);
      return;
    default:
      blas->zgemm(order, a.transpose, b.transpose, m, n, k, &plan.alpha, x, a.leading, y, b.leading,
                  &plan.beta, c, ldc);
  }
}

// c = alpha op(matrix) vector + beta c for the real types.
bool blas_gemv(const BlasUse& blas, const GemmPlan& plan, Side side, int64_t rows, int64_t columns,
               const void* matrix, const void* vector, int64_t vector_stride, void* c,
               int64_t c_stride) {
  // Row-major: a transposed operand is stored as columns x rows.
  const bool plain = side.transpose == BlasTranspose::kNo;
  const auto stored_rows = static_cast<int>(plain ? rows : columns);
  const auto stored_columns = static_cast<int>(plain ? columns : rows);
  const auto step = static_cast<int>(vector_stride);
  const auto c_step = static_cast<int>(c_stride);
  if (plan.dtype == DType::kFloat32) {
    blas->sgemv(BlasOrder::kRows, side.transpose, stored_rows, stored_columns,
                parameter<float>(plan.alpha), static_cast<const float*>(matrix), side.leading,
                static_cast<const float*>(vector), step, parameter<float>(plan.beta),
                static_cast<float*>(c), c_step);
    return true;
  }
  if (plan.dtype == DType::kFloat64) {
    blas->dgemv(BlasOrder::kRows, side.transpose, stored_rows, stored_columns,
                parameter<double>(plan.alpha), static_cast<const double*>(matrix), side.leading,
                static_cast<const double*>(vector), step, parameter<double>(plan.beta),
                static_cast<double*>(c), c_step);
    return true;
  }
  return false;
}

// The element stride of a matrix that is one row or one column.
int64_t vector_stride(const int64_t strides[2], bool column) {
  return std::max<int64_t>(strides[column ? 0 : 1], 1);
}

// ---- Tiny products ----

template <class T>
void tiny_gemm(const GemmPlan& plan, const T* a, const T* b, T* c) {
  const T alpha = parameter<T>(plan.alpha);
  const T beta = parameter<T>(plan.beta);
  for (int64_t i = 0; i < plan.m; ++i) {
    for (int64_t j = 0; j < plan.n; ++j) {
      // Not as pointers: of an empty matrix `a` and `b` are null, to which nothing may be added.
      const int64_t row = i * plan.a_strides[0];
      const int64_t column = j * plan.b_strides[1];
      T sum{0};
      for (int64_t l = 0; l < plan.k; ++l)
        sum += a[row + l * plan.a_strides[1]] * b[column + l * plan.b_strides[0]];
      T& target = c[i * plan.c_strides[0] + j * plan.c_strides[1]];
      target = beta == T{0} ? alpha * sum : alpha * sum + beta * target;
    }
  }
}

// ---- One matrix ----

// If BLAS may not be called, only tiny products are computed here.
Status multiply_real_or_complex(const BlasUse* use, const GemmPlan& plan, const void* a,
                                const void* b, void* c) {
  const bool tiny = plan.m * plan.n * plan.k <= kTiny;
  if (tiny && plan.dtype == DType::kFloat32) {
    tiny_gemm(plan, static_cast<const float*>(a), static_cast<const float*>(b),
              static_cast<float*>(c));
    return kernel::kOk;
  }
  if (tiny && plan.dtype == DType::kFloat64) {
    tiny_gemm(plan, static_cast<const double*>(a), static_cast<const double*>(b),
              static_cast<double*>(c));
    return kernel::kOk;
  }
  if (lines_gemm(plan, a, b, c) || skinny_gemm(plan, a, b, c) || small_gemm(plan, a, b, c))
    return kernel::kOk;
  const BlasUse& blas = *use;
  if (!blas) return blas.status();
  const Side left = describe(plan.a_strides, plan.m, plan.k, plan.conj_a != 0);
  const Side right = describe(plan.b_strides, plan.k, plan.n, plan.conj_b != 0);
  const bool matrix_vector = plan.k > 1 && !is_complex(plan.dtype);
  if (matrix_vector && plan.n == 1 && plan.m > 1 &&
      blas_gemv(blas, plan, left, plan.m, plan.k, a, b, vector_stride(plan.b_strides, true), c,
                vector_stride(plan.c_strides, true))) {
    return kernel::kOk;
  }
  if (matrix_vector && plan.m == 1) {
    // A row times B is B transposed times a column.
    const Side flipped{
        right.transpose == BlasTranspose::kNo ? BlasTranspose::kYes : BlasTranspose::kNo,
        right.leading};
    if (blas_gemv(blas, plan, flipped, plan.n, plan.k, b, a, vector_stride(plan.a_strides, false),
                  c, vector_stride(plan.c_strides, false))) {
      return kernel::kOk;
    }
  }
  const Side target = describe(plan.c_strides, plan.m, plan.n, false);
  const auto m = static_cast<int>(plan.m);
  const auto n = static_cast<int>(plan.n);
  const auto k = static_cast<int>(plan.k);
  if (target.transpose == BlasTranspose::kNo) {
    blas_gemm(blas, BlasOrder::kRows, left, right, m, n, k, plan, a, b, c, target.leading);
    return kernel::kOk;
  }
  // C is column-major, so call BLAS in column-major order and flip each transpose flag.
  const auto turn = [](Side side) {
    switch (side.transpose) {
      case BlasTranspose::kNo:
        return Side{BlasTranspose::kYes, side.leading};
      case BlasTranspose::kYes:
        return Side{BlasTranspose::kNo, side.leading};
      case BlasTranspose::kConjugateOnly:
        return Side{BlasTranspose::kConjugate, side.leading};
      default:
        return Side{BlasTranspose::kConjugateOnly, side.leading};
    }
  };
  blas_gemm(blas, BlasOrder::kColumns, turn(left), turn(right), m, n, k, plan, a, b, c,
            target.leading);
  return kernel::kOk;
}

// ---- Deterministic mode ----

// BLAS and oneDNN divide the work by the number of their threads, and a sum that is divided in
// another way has other last bits. So a large product is divided here, by its sizes alone: into
// tiles with all of the sums over k, each of which one thread computes.
constexpr int64_t kTile = 128;  // rows or columns of the result, whichever are more

bool divides_into_tiles(const GemmPlan& plan) {
  return deterministic() && plan.m * plan.n * plan.k >= kLarge &&
         std::max(plan.m, plan.n) >= 2 * kTile;
}

Status multiply_in_tiles(const BlasUse* use, const GemmPlan& plan, const void* a, const void* b,
                         void* c) {
  const bool by_rows = plan.m >= plan.n;
  const int64_t lines = by_rows ? plan.m : plan.n;
  const int64_t tiles = lines / kTile;
  const int64_t size = itemsize(plan.dtype);
  std::atomic<Status> result{kernel::kOk};
  parallel_for(tiles, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = lines * i / tiles;
      GemmPlan tile = plan;
      (by_rows ? tile.m : tile.n) = lines * (i + 1) / tiles - begin;
      const auto* left = static_cast<const std::byte*>(a);
      const auto* right = static_cast<const std::byte*>(b);
      auto* target = static_cast<std::byte*>(c);
      if (by_rows) {
        left += begin * plan.a_strides[0] * size;
        target += begin * plan.c_strides[0] * size;
      } else {
        right += begin * plan.b_strides[1] * size;
        target += begin * plan.c_strides[1] * size;
      }
      const Status status = multiply_real_or_complex(use, tile, left, right, target);
      if (status != kernel::kOk) result.store(status, std::memory_order_relaxed);
    }
  });
  return result.load();
}

Status multiply_floats(const BlasUse* use, const GemmPlan& plan, const void* a, const void* b,
                       void* c) {
  if (divides_into_tiles(plan)) [[unlikely]]
    return multiply_in_tiles(use, plan, a, b, c);
  return multiply_real_or_complex(use, plan, a, b, c);
}

// Converts a strided matrix to a dense row-major one of another type, or back.
void cast_matrix(CastRow cast, int64_t rows, int64_t columns, void* to, int64_t to_size,
                 const int64_t to_strides[2], const void* from, int64_t from_size,
                 const int64_t from_strides[2]) {
  constexpr int64_t kPiece = 32768;
  // By construction each side has a stride of 1, in the same dimension.
  const bool by_rows = from_strides[1] == 1;
  int64_t lines = by_rows ? rows : columns;
  int64_t length = by_rows ? columns : rows;
  int64_t to_step = by_rows ? to_strides[0] : to_strides[1];
  int64_t from_step = by_rows ? from_strides[0] : from_strides[1];
  const int64_t total = lines * length;
  if (to_step == length && from_step == length) {
    // No gaps: pieces are the lines.
    length = to_step = from_step = std::min(kPiece, total);
    lines = length == 0 ? 0 : (total + length - 1) / length;
  }
  parallel_for(lines, std::max<int64_t>(1, kPiece / std::max<int64_t>(length, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   cast(std::min(length, total - i * length),
                        static_cast<std::byte*>(to) + i * to_step * to_size,
                        static_cast<const std::byte*>(from) + i * from_step * from_size);
                 }
               });
}

Status no_workspace() {
  return failure(Code::kOutOfMemory, "expected workspace for a matrix product, got none");
}

// A matrix of 16-bit floats and a dense copy of it in float32, whose strides are `strides`.
struct ShortCopy {
  const void* data;
  const int64_t* data_strides;
  float* copy;
  int64_t* strides;

  // Chooses the strides of the copy of a block of that size.
  void shape(int64_t rows, int64_t columns) const {
    const bool by_rows = data_strides[1] == 1;
    strides[0] = by_rows ? columns : 1;
    strides[1] = by_rows ? 1 : rows;
  }
  void widen(CastRow cast, int64_t rows, int64_t columns) const {
    shape(rows, columns);
    cast_matrix(cast, rows, columns, copy, 4, strides, data, 2, data_strides);
  }
};

// 16-bit floats: float32 copies of the operands, one rounding at the end. If each number of the
// longer operand or of the result takes part in few products, their copies are made a block of
// lines at a time, so that they stay in the cache.
constexpr int64_t kFewProducts = 132;
constexpr int64_t kBlockNumbers = int64_t{1} << 17;  // of a block: 512 KiB
constexpr int64_t kBlockLines = 64;                  // a block has a multiple of them

Status multiply_short(const BlasUse* blas, const GemmPlan& plan, const void* a, const void* b,
                      void* c) {
  if (widened_gemm(plan, a, b, c)) return kernel::kOk;
  if (takes_tiles(plan)) return tile_gemm(plan, a, b, c) ? kernel::kOk : no_workspace();
  const CastRow widen = rows_of<CopyRows>().cast(plan.dtype, DType::kFloat32);
  const CastRow narrow = rows_of<CopyRows>().cast(DType::kFloat32, plan.dtype);
  const bool by_rows = plan.m > plan.n || (plan.m == plan.n && plan.c_strides[1] == 1);
  const int64_t lines = by_rows ? plan.m : plan.n;
  const int64_t shorter = by_rows ? plan.n : plan.m;
  const int64_t block =
      std::min(shorter, plan.k) > kFewProducts
          ? lines
          : std::clamp(kBlockNumbers / (shorter + plan.k) / kBlockLines * kBlockLines,
                       std::min(kBlockLines, lines), lines);
  const Workspace workspace((shorter * plan.k + (plan.k + shorter) * block) * 4);
  auto* x = static_cast<float*>(workspace.data());
  if (x == nullptr) return no_workspace();
  float* y = x + plan.k * (by_rows ? block : shorter);
  float* z = y + plan.k * (by_rows ? shorter : block);
  GemmPlan wide = plan;
  wide.dtype = DType::kFloat32;
  ShortCopy left{a, plan.a_strides, x, wide.a_strides};
  ShortCopy right{b, plan.b_strides, y, wide.b_strides};
  const auto step = [&](const void* data, int64_t first, int64_t stride) {
    return static_cast<const std::byte*>(data) + first * stride * 2;
  };
  if (by_rows)
    right.widen(widen, plan.k, plan.n);
  else
    left.widen(widen, plan.m, plan.k);
  for (int64_t first = 0; first < lines; first += block) {
    const int64_t count = std::min(block, lines - first);
    if (by_rows) {
      wide.m = count;
      left.data = step(a, first, plan.a_strides[0]);
      left.widen(widen, count, plan.k);
    } else {
      wide.n = count;
      right.data = step(b, first, plan.b_strides[1]);
      right.widen(widen, plan.k, count);
    }
    auto* const to = static_cast<std::byte*>(c) + first * plan.c_strides[by_rows ? 0 : 1] * 2;
    const ShortCopy out{to, plan.c_strides, z, wide.c_strides};
    if (parameter<float>(plan.beta) != 0)
      out.widen(widen, wide.m, wide.n);
    else
      out.shape(wide.m, wide.n);
    const Status status = multiply_floats(blas, wide, x, y, z);
    if (status != kernel::kOk) return status;
    cast_matrix(narrow, wide.m, wide.n, to, 2, plan.c_strides, z, 4, wide.c_strides);
  }
  return kernel::kOk;
}

Status multiply(const BlasUse* blas, const GemmPlan& plan, const void* a, const void* b, void* c) {
  switch (plan.dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex64:
    case DType::kComplex128:
      return multiply_floats(blas, plan, a, b, c);
    case DType::kFloat16:
    case DType::kBFloat16:
      return multiply_short(blas, plan, a, b, c);
    default:
      return gemm_integer(plan, a, b, c) ? kernel::kOk : no_workspace();
  }
}

bool needs_blas(const GemmPlan& plan, int64_t work) {
  const bool real = plan.dtype == DType::kFloat32 || plan.dtype == DType::kFloat64;
  return real ? work > kTiny : is_floating(plan.dtype) || is_complex(plan.dtype);
}

}  // namespace

Status gemm(const GemmPlan& plan) {
  if (std::max({plan.m, plan.n, plan.k}) > INT_MAX) {
    return failure(Code::kNotImplemented,
                   "expected matrices of fewer than 2**31 rows and columns, got larger ones");
  }
  if (plan.m == 0 || plan.n == 0 || plan.batch == 0 || short_batch_gemm(plan)) return kernel::kOk;
  const int64_t work = plan.m * plan.n * std::max<int64_t>(plan.k, 1);
  const bool in_turn = plan.batch <= 1 || work >= kLarge;
  std::optional<BlasUse> use;
  // A matrix times a vector takes less time than to wake BLAS's threads.
  const bool brief = work < kLarge && (plan.m == 1 || plan.n == 1);
  // Tiles of one product are computed side by side, too.
  const bool one_by_one = in_turn && !brief && !deterministic();
  if (needs_blas(plan, work)) {
    use.emplace(one_by_one ? BlasCalls::kInTurn : BlasCalls::kSideBySide);
  }
  const BlasUse* blas = use ? &*use : nullptr;
  const int64_t size = itemsize(plan.dtype);
  std::atomic<Status> result{kernel::kOk};
  const auto run = [&](int64_t begin, int64_t end) {
    Cursor cursor;
    cursor.ndim = std::max(1, plan.batch_ndim);
    constexpr int64_t kOne = 1;
    cursor.sizes = plan.batch_ndim == 0 ? &kOne : plan.batch_sizes;
    cursor.seek(begin);
    for (int64_t i = begin; i < end; ++i) {
      const auto at = [&](int operand) {
        return plan.batch_ndim == 0 ? 0 : cursor.offset(plan.batch_strides[operand]) * size;
      };
      const Status status = multiply(blas, plan, static_cast<const std::byte*>(plan.a) + at(0),
                                     static_cast<const std::byte*>(plan.b) + at(1),
                                     static_cast<std::byte*>(plan.c) + at(2));
      if (status != kernel::kOk) result.store(status, std::memory_order_relaxed);
      cursor.advance_in_row(1);
    }
  };
  if (in_turn)
    run(0, plan.batch_ndim == 0 ? 1 : plan.batch);
  else
    parallel_for(plan.batch, std::max<int64_t>(1, 65536 / work), run);
  // Error messages are per thread: report the failure of a worker again on this thread.
  const bool out_of_memory = result == static_cast<Status>(Code::kOutOfMemory);
  return out_of_memory && (blas == nullptr || *blas) ? no_workspace() : result.load();
}

}  // namespace tsr::cpu
