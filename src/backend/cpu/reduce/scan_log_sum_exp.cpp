// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running logarithms of sums of exponentials, in double precision.
#include <cmath>

#include "backend/common/scan_step.h"
#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "backend/cpu/reduce/scan.h"

namespace tsr::cpu {
namespace {

using kernel::ScanPlan;
using kernel::Status;
using Step = math::RunningLogSumExp;

class LogSumExpScan {
 public:
  explicit LogSumExpScan(const ScanPlan& plan)
      : plan_(plan),
        size_(itemsize(plan.dtype)),
        exp_(rows_of<PointwiseRows>().unary(kernel::UnaryOp::kExp, DType::kFloat64).row),
        log_(rows_of<PointwiseRows>().unary(kernel::UnaryOp::kLog, DType::kFloat64).row),
        widen_(rows_of<CopyRows>().cast(plan.dtype, DType::kFloat64)),
        narrow_(rows_of<CopyRows>().cast(DType::kFloat64, plan.dtype)) {}

  void along(int64_t begin, int64_t end) const {
    alignas(64) std::byte raw[kScanBlock * 8];
    alignas(64) double values[kScanBlock];
    for (int64_t line = begin; line < end; ++line) {
      const Cursor cursor = other_dims(plan_, line);
      const char* from = input() + cursor.offset(plan_.input_strides);
      char* to = output() + cursor.offset(plan_.output_strides);
      Step::State state = Step::none();
      for (int64_t i = 0; i < plan_.axis_size; i += kScanBlock) {
        const int64_t count = std::min(kScanBlock, plan_.axis_size - i);
        copy_strided(count, size_, raw, size_, from + i * plan_.axis_input_stride,
                     plan_.axis_input_stride);
        widen_(count, values, raw);
        run_block(count, values, state);
        narrow_(count, raw, values);
        copy_strided(count, size_, to + i * plan_.axis_output_stride, plan_.axis_output_stride, raw,
                     size_);
      }
    }
  }

  void across(int64_t first, int64_t width) const {
    alignas(64) std::byte raw[kScanBlock * 8];
    alignas(64) double values[kScanBlock];
    alignas(64) double largest[kScanBlock];
    alignas(64) double sums[kScanBlock];
    alignas(64) double work[kScanBlock];
    const Step::State none = Step::none();
    std::fill_n(largest, width, none.largest);
    std::fill_n(sums, width, none.sum);
    const Cursor cursor = other_dims(plan_, first);
    for (int64_t i = 0; i < plan_.axis_size; ++i) {
      gather(cursor, width, size_, raw, input() + i * plan_.axis_input_stride, plan_.input_strides);
      widen_(width, values, raw);
      add_row(width, values, largest, sums, work);
      row(log_, width, work, sums);
      for (int64_t k = 0; k < width; ++k) work[k] += largest[k];
      narrow_(width, raw, work);
      scatter(cursor, width, size_, output() + i * plan_.axis_output_stride, plan_.output_strides,
              raw);
    }
  }

 private:
  static void row(Row function, int64_t count, double* out, const double* in) {
    const void* operands[1] = {in};
    const kernel::Parameter none[2] = {};
    function(count, out, operands, none);
  }

  // Joins one more term to the states of `width` lines: what is smaller shrinks by exp(-|x - m|).
  void add_row(int64_t width, const double* values, double* largest, double* sums,
               double* work) const {
    for (int64_t k = 0; k < width; ++k) {
      const bool same = values[k] == largest[k];  // also infinities, whose difference is NaN
      work[k] = same ? 0 : -std::abs(values[k] - largest[k]);
    }
    row(exp_, width, work, work);
    for (int64_t k = 0; k < width; ++k) {
      const bool grows = values[k] > largest[k];
      sums[k] = grows ? sums[k] * work[k] + 1 : sums[k] + work[k];
      largest[k] = grows ? values[k] : largest[k];
    }
  }

  // Replaces the values of one line by their running results. With one divisor for the whole block
  // the exponentials and the logarithms are vectors; that is exact enough while the first result is
  // not much smaller than the divisor, since the later ones are not smaller than the first.
  void run_block(int64_t count, double* values, Step::State& state) const {
    const double before = Step::value(state);
    double divisor = before;
    for (int64_t i = 0; i < count; ++i) divisor = values[i] > divisor ? values[i] : divisor;
    const double first = std::max(before, values[0]);
    // What the logarithm is off by, in parts of its own size, ends up in the result.
    const double reach = plan_.dtype == DType::kFloat64 ? 4 : 600;
    if (!(divisor - first < reach) || !std::isfinite(first)) {
      run_block_by_steps(count, values, state);
      return;
    }
    alignas(64) double terms[kScanBlock];
    for (int64_t i = 0; i < count; ++i) terms[i] = values[i] - divisor;
    row(exp_, count, terms, terms);
    double sum = std::exp(before - divisor);
    for (int64_t i = 0; i < count; ++i) {
      sum += terms[i];
      terms[i] = sum;
    }
    row(log_, count, terms, terms);
    for (int64_t i = 0; i < count; ++i) values[i] = terms[i] + divisor;
    state = {divisor, sum};
  }

  static void run_block_by_steps(int64_t count, double* values, Step::State& state) {
    for (int64_t i = 0; i < count; ++i) {
      state = Step::join(state, Step::of(values[i], i));
      values[i] = Step::value(state);
    }
  }

  [[nodiscard]] const char* input() const { return static_cast<const char*>(plan_.input); }
  [[nodiscard]] char* output() const { return static_cast<char*>(plan_.output); }

  const ScanPlan& plan_;
  int64_t size_;
  Row exp_;
  Row log_;
  CastRow widen_;
  CastRow narrow_;
};

}  // namespace

Status scan_log_sum_exp(const ScanPlan& plan) {
  if (!is_floating(plan.dtype)) return failure(Code::kDType, "expected a floating dtype");
  const LogSumExpScan scan(plan);
  deal_lines(
      plan, {.few_neighbours = 8, .few_elements = 16},
      [&](int64_t begin, int64_t end) { scan.along(begin, end); },
      [&](int64_t first, int64_t width) { scan.across(first, width); });
  return kernel::kOk;
}

}  // namespace tsr::cpu
