// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running sums and products of a contiguous matrix that has few columns, along its rows or down its
// columns. The totals are those of scan.cpp, in the same order; what a line costs there beside its
// elements is more than the elements of such a line.
#include <algorithm>

#include "backend/cpu/host.h"
#include "backend/cpu/reduce/scan.h"

namespace tsr::cpu {

using kernel::ScanOp;
using kernel::ScanPlan;

namespace {

constexpr int64_t kFewColumns = 32;

template <bool kSums, class Total, class T>
Total with_next(Total total, T value) {
  return kSums ? total + static_cast<Total>(value) : total * static_cast<Total>(value);
}

template <bool kSums, class T, class Total>
void along_rows(int64_t rows, int64_t columns, const T* from, T* to) {
  for (int64_t r = 0; r < rows; ++r, from += columns, to += columns) {
    Total total = kSums ? Total(-0.0) : Total(1);  // of -0.0 as well, -0.0 + x is x
    for (int64_t c = 0; c < columns; ++c) {
      total = with_next<kSums>(total, from[c]);
      to[c] = static_cast<T>(total);
    }
  }
}

// kColumns: how many there are, where the totals then stay in registers; 0: more than these.
template <bool kSums, int64_t kColumns, class T, class Total>
void down_columns_of(int64_t rows, int64_t columns, const T* from, T* to) {
  constexpr bool kFixed = kColumns != 0;
  const int64_t width = kFixed ? kColumns : columns;
  Total totals[kFixed ? kColumns : kFewColumns];
  std::fill_n(totals, width, kSums ? Total(-0.0) : Total(1));
  for (int64_t r = 0; r < rows; ++r, from += width, to += width) {
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) {
      totals[c] = with_next<kSums>(totals[c], from[c]);
      to[c] = static_cast<T>(totals[c]);
    }
  }
}
template <bool kSums, class T, class Total>
void down_columns(int64_t rows, int64_t columns, const T* from, T* to) {
  switch (columns) {
    case 1:
      return down_columns_of<kSums, 1, T, Total>(rows, columns, from, to);
    case 2:
      return down_columns_of<kSums, 2, T, Total>(rows, columns, from, to);
    case 3:
      return down_columns_of<kSums, 3, T, Total>(rows, columns, from, to);
    default:
      return down_columns_of<kSums, 0, T, Total>(rows, columns, from, to);
  }
}

template <bool kSums, class T, class Total>
bool run(const ScanPlan& plan) {
  const auto size = static_cast<int64_t>(sizeof(T));
  if (plan.ndim > 1) return false;
  const int64_t lines = plan.numel;
  const int64_t line_step = plan.input_strides[0];
  if (plan.axis_input_stride != plan.axis_output_stride || plan.output_strides[0] != line_step)
    return false;
  const T* from = static_cast<const T*>(plan.input);
  T* to = static_cast<T*>(plan.output);
  const int64_t along = plan.axis_size;
  if (plan.axis_input_stride == size && line_step == along * size && along <= kFewColumns) {
    parallel_for(lines, std::max<int64_t>(1, kGrain / along), [&](int64_t begin, int64_t end) {
      along_rows<kSums, T, Total>(end - begin, along, from + begin * along, to + begin * along);
    });
    return true;
  }
  if (line_step == size && plan.axis_input_stride == lines * size && lines <= kFewColumns) {
    down_columns<kSums, T, Total>(along, lines, from, to);
    return true;
  }
  return false;
}

template <class T, class Total>
bool run(const ScanPlan& plan) {
  return plan.op == ScanOp::kSum ? run<true, T, Total>(plan) : run<false, T, Total>(plan);
}

}  // namespace

bool scan_short(const ScanPlan& plan) {
  switch (plan.dtype) {
    case DType::kFloat32:
      return run<float, double>(plan);
    case DType::kFloat64:
      return run<double, double>(plan);
    case DType::kInt64:
      return run<uint64_t, uint64_t>(plan);
    default:
      return false;
  }
}

}  // namespace tsr::cpu
