// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running sums and products of a contiguous matrix that has few columns, along its rows or down its
// columns. The totals are those of scan.cpp, in the same order; what a line costs there beside its
// elements is more than the elements of such a line.
#include <algorithm>
#include <type_traits>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/reduce/scan.h"

namespace tsr::cpu {

using kernel::ScanOp;
using kernel::ScanPlan;

namespace {

constexpr int64_t kFewColumns = 32;

template <bool kSums, class Total>
Total with_next(Total total, Total value) {
  return kSums ? total + value : total * value;
}
// What is before the first element: of -0.0 as well, -0.0 + x is x.
template <bool kSums, class Total>
constexpr Total kNothing = kSums ? Total(-0.0) : Total(1);

// Calls scan(rows, from, to) with rows of totals: all rows at once, or blocks of them that are
// converted before and after.
template <class T, class Total, class Scan>
void for_blocks(int64_t rows, int64_t columns, const T* from, T* to, const Scan& scan) {
  if constexpr (std::is_same_v<T, Total>) {
    scan(rows, from, to);
  } else {
    constexpr int64_t kBlock = 512;
    alignas(64) Total values[kBlock];
    const CastRow widen = rows_of<CopyRows>().cast(dtype_of<T>(), dtype_of<Total>());
    const CastRow narrow = rows_of<CopyRows>().cast(dtype_of<Total>(), dtype_of<T>());
    const int64_t step = kBlock / columns;
    for (int64_t r = 0; r < rows; r += step) {
      const int64_t part = std::min(step, rows - r);
      widen(part * columns, values, from + r * columns);
      scan(part, static_cast<const Total*>(values), values);
      narrow(part * columns, to + r * columns, values);
    }
  }
}

// Rows are taken several at a time: an addition waits only for the one before it in its own row.
template <bool kSums, class Total>
void along_rows(int64_t rows, int64_t columns, const Total* from, Total* to) {
  constexpr int64_t kTogether = 4;
  constexpr Total kFirst = kNothing<kSums, Total>;
  int64_t r = 0;
  for (; r + kTogether <= rows; r += kTogether) {
    Total totals[kTogether] = {kFirst, kFirst, kFirst, kFirst};
    for (int64_t c = 0; c < columns; ++c) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < kTogether; ++k) {
        const int64_t place = (r + k) * columns + c;
        totals[k] = with_next<kSums>(totals[k], from[place]);
        to[place] = totals[k];
      }
    }
  }
  for (; r < rows; ++r) {
    Total total = kFirst;
    for (int64_t place = r * columns; place < (r + 1) * columns; ++place)
      to[place] = total = with_next<kSums>(total, from[place]);
  }
}

// kColumns: how many there are, where the totals then stay in registers; 0: more than these.
template <bool kSums, int64_t kColumns, class Total>
void down_columns_of(int64_t rows, int64_t columns, const Total* from, Total* to, Total* carried) {
  constexpr bool kFixed = kColumns != 0;
  const int64_t width = kFixed ? kColumns : columns;
  Total totals[kFixed ? kColumns : kFewColumns];
  std::copy_n(carried, width, totals);
  for (int64_t r = 0; r < rows; ++r, from += width, to += width) {
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) {
      totals[c] = with_next<kSums>(totals[c], from[c]);
      to[c] = totals[c];
    }
  }
  std::copy_n(totals, width, carried);
}
template <bool kSums, class Total>
void down_columns(int64_t rows, int64_t columns, const Total* from, Total* to, Total* carried) {
  switch (columns) {
    case 1:
      return down_columns_of<kSums, 1>(rows, columns, from, to, carried);
    case 2:
      return down_columns_of<kSums, 2>(rows, columns, from, to, carried);
    case 3:
      return down_columns_of<kSums, 3>(rows, columns, from, to, carried);
    case 4:
      return down_columns_of<kSums, 4>(rows, columns, from, to, carried);
    default:
      return down_columns_of<kSums, 0>(rows, columns, from, to, carried);
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
      for_blocks<T, Total>(end - begin, along, from + begin * along, to + begin * along,
                           [along](int64_t rows, const Total* x, Total* y) {
                             along_rows<kSums>(rows, along, x, y);
                           });
    });
    return true;
  }
  if (line_step == size && plan.axis_input_stride == lines * size && lines <= kFewColumns) {
    Total totals[kFewColumns];
    std::fill_n(totals, lines, kNothing<kSums, Total>);
    for_blocks<T, Total>(along, lines, from, to, [&](int64_t rows, const Total* x, Total* y) {
      down_columns<kSums>(rows, lines, x, y, totals);
    });
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
    case DType::kFloat16:
      return run<Half, double>(plan);
    case DType::kBFloat16:
      return run<BFloat16, double>(plan);
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
