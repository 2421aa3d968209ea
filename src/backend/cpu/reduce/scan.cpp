// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running sums and products of real numbers: along an axis with contiguous elements, or across
// neighbouring lines.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "backend/cpu/reduce/scan.h"

namespace tsr::cpu {

using kernel::ScanOp;
using kernel::ScanPlan;
using kernel::Status;

namespace {

constexpr int64_t kBlock = kScanBlock;
// Lines scanned at the same time: an addition waits only for the one before it in its own line.
constexpr int64_t kLines = 4;
// The distance of their buffers in elements. Not a whole page: buffers a page apart would use the
// same sets of the first-level cache.
constexpr int64_t kPitch = kBlock + 8;

// Running totals are kept in the widest type of the category and rounded once per element.
// (Unsigned totals have the same bits as signed ones.)
DType wide(DType dtype) {
  return category(dtype) == Category::kFloating ? DType::kFloat64 : DType::kInt64;
}

struct Scan {
  explicit Scan(const ScanPlan& p) : plan(p), size(itemsize(p.dtype)), total(wide(p.dtype)) {
    const kernel::BinaryOp op =
        p.op == ScanOp::kSum ? kernel::BinaryOp::kAdd : kernel::BinaryOp::kMultiply;
    step = rows_of<PointwiseRows>().binary(op, total).row;
    widen = rows_of<CopyRows>().cast(p.dtype, total);
    narrow = rows_of<CopyRows>().cast(total, p.dtype);
  }

  void along(int64_t first, int64_t lines) const;
  void across(int64_t first, int64_t width) const;

  const ScanPlan& plan;
  int64_t size;
  DType total;
  Row step;
  CastRow widen;
  CastRow narrow;
};

// Writes the running totals of `count` values of each of kTogether lines.
template <bool kSums, int64_t kTogether, class T>
void run_lines(int64_t count, const void* const* from, void* const* to, T* carries) {
  const T* source[kTogether];
  T* target[kTogether];
  T carry[kTogether];
  for (int64_t line = 0; line < kTogether; ++line) {
    source[line] = static_cast<const T*>(from[line]);
    target[line] = static_cast<T*>(to[line]);
    carry[line] = carries[line];
  }
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 4
    for (int64_t line = 0; line < kTogether; ++line) {
      const T value = source[line][i];
      carry[line] =
          kSums ? static_cast<T>(carry[line] + value) : static_cast<T>(carry[line] * value);
      target[line][i] = carry[line];
    }
  }
  std::copy_n(carry, kTogether, carries);
}
template <class T>
void run(ScanOp op, int64_t lines, int64_t count, const void* const* from, void* const* to,
         T* carries) {
  const bool sums = op == ScanOp::kSum;
  // Additions of integers take one cycle, and one line after the other is read faster.
  if (lines == kLines && !(sums && std::is_integral_v<T>)) {
    return sums ? run_lines<true, kLines>(count, from, to, carries)
                : run_lines<false, kLines>(count, from, to, carries);
  }
  for (int64_t line = 0; line < lines; ++line) {
    if (sums)
      run_lines<true, 1>(count, from + line, to + line, carries + line);
    else
      run_lines<false, 1>(count, from + line, to + line, carries + line);
  }
}

// Lines [first, first + lines), at most kLines.
void Scan::along(int64_t first, int64_t lines) const {
  alignas(64) std::byte raw[kBlock * 8];
  alignas(64) std::byte values[kLines][kPitch * 8];
  const std::byte* from[kLines];
  std::byte* to[kLines];
  Cursor cursor = other_dims(plan, first);
  for (int64_t line = 0; line < lines; ++line) {
    from[line] = static_cast<const std::byte*>(plan.input) + cursor.offset(plan.input_strides);
    to[line] = static_cast<std::byte*>(plan.output) + cursor.offset(plan.output_strides);
    cursor.advance_in_row(1);
  }
  double carries[kLines];
  uint64_t integers[kLines];
  // Of -0.0 as well, -0.0 + x is x.
  std::fill_n(carries, kLines, plan.op == ScanOp::kSum ? -0.0 : 1.0);
  std::fill_n(integers, kLines, plan.op == ScanOp::kSum ? 0U : 1U);
  const bool reads_run = plan.axis_input_stride == size;
  const bool writes_run = plan.axis_output_stride == size;
  const bool reads_in_place = reads_run && plan.dtype == total;
  const bool writes_in_place = writes_run && plan.dtype == total;
  for (int64_t i = 0; i < plan.axis_size; i += kBlock) {
    const int64_t count = std::min(kBlock, plan.axis_size - i);
    const void* sources[kLines];
    void* targets[kLines];
    for (int64_t line = 0; line < lines; ++line) {
      const std::byte* source = from[line] + i * plan.axis_input_stride;
      std::byte* target = to[line] + i * plan.axis_output_stride;
      sources[line] = reads_in_place ? source : values[line];
      targets[line] = writes_in_place ? target : values[line];
      if (reads_in_place) continue;
      if (!reads_run) {
        copy_strided(count, size, raw, size, source, plan.axis_input_stride);
        source = raw;
      }
      widen(count, values[line], source);
    }
    if (total == DType::kFloat64)
      run(plan.op, lines, count, sources, targets, carries);
    else
      run(plan.op, lines, count, sources, targets, integers);
    for (int64_t line = 0; line < lines && !writes_in_place; ++line) {
      std::byte* target = to[line] + i * plan.axis_output_stride;
      narrow(count, writes_run ? target : raw, values[line]);
      if (!writes_run) copy_strided(count, size, target, plan.axis_output_stride, raw, size);
    }
  }
}

void Scan::across(int64_t first, int64_t width) const {
  alignas(64) std::byte raw[kBlock * 8];
  alignas(64) std::byte values[kBlock * 8];
  alignas(64) std::byte totals[kBlock * 8];
  const Cursor cursor = other_dims(plan, first);
  for (int64_t i = 0; i < plan.axis_size; ++i) {
    const auto* from = static_cast<const std::byte*>(plan.input) + i * plan.axis_input_stride;
    auto* to = static_cast<std::byte*>(plan.output) + i * plan.axis_output_stride;
    gather(cursor, width, size, raw, from, plan.input_strides);
    if (i == 0) {
      widen(width, totals, raw);
    } else {
      widen(width, values, raw);
      const void* operands[2] = {totals, values};
      const kernel::Parameter none[2] = {};
      step(width, totals, operands, none);
    }
    narrow(width, raw, totals);
    scatter(cursor, width, size, to, plan.output_strides, raw);
  }
}

}  // namespace

Status scan(const ScanPlan& plan) {
  if (plan.numel == 0 || plan.axis_size == 0) return kernel::kOk;
  if (plan.op == ScanOp::kMax || plan.op == ScanOp::kMin) return scan_extrema(plan);
  if (plan.op == ScanOp::kLogSumExp) return scan_log_sum_exp(plan);
  if (category(plan.dtype) == Category::kComplex) {
    scan_complex(plan);
    return kernel::kOk;
  }
  if (scan_short(plan)) return kernel::kOk;
  const Scan scan_of(plan);
  deal_lines(
      plan, {.few_neighbours = 16, .few_elements = 16},
      [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; line += kLines)
          scan_of.along(line, std::min(kLines, end - line));
      },
      [&](int64_t first, int64_t width) { scan_of.across(first, width); });
  return kernel::kOk;
}

}  // namespace tsr::cpu
