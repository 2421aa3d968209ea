// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running maxima and minima with their positions.
#include "backend/common/scan_step.h"
#include "backend/cpu/host.h"
#include "backend/cpu/reduce/scan.h"

namespace tsr::cpu {
namespace {

using kernel::ScanOp;
using kernel::ScanPlan;
using kernel::Status;

template <class T, bool kLargest>
class ExtremumScan {
  using Step = math::RunningExtremum<T, kLargest>;
  // A bool from elsewhere may be a byte other than 0 and 1, which must not be read as a bool.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

 public:
  explicit ExtremumScan(const ScanPlan& plan) : plan_(plan) {}

  void along(int64_t begin, int64_t end) const {
    for (int64_t line = begin; line < end; ++line) {
      const Cursor cursor = other_dims(plan_, line);
      const char* from = input() + cursor.offset(plan_.input_strides);
      char* to = output() + cursor.offset(plan_.output_strides);
      char* place = positions() + cursor.offset(plan_.position_strides);
      // From one extremum to the next: what lies between is passed over, then filled.
      for (int64_t i = 0; i < plan_.axis_size;) {
        const T best = value_at(from, i);
        int64_t next = pass_over(from, best, i + 1);
        while (next < plan_.axis_size && !Step::takes_over(best, value_at(from, next))) ++next;
        fill(next - i, best, to + i * plan_.axis_output_stride, plan_.axis_output_stride);
        fill(next - i, i, place + i * plan_.axis_position_stride, plan_.axis_position_stride);
        i = next;
      }
    }
  }

  void across(int64_t first, int64_t width) const {
    Stored values[kScanBlock];
    T extrema[kScanBlock];
    int64_t places[kScanBlock];
    const Cursor cursor = other_dims(plan_, first);
    for (int64_t i = 0; i < plan_.axis_size; ++i) {
      gather(cursor, width, sizeof(T), values, input() + i * plan_.axis_input_stride,
             plan_.input_strides);
      for (int64_t k = 0; k < width; ++k) {
        const T value = value_of(values[k]);
        if (i != 0 && !Step::takes_over(extrema[k], value)) continue;
        extrema[k] = value;
        places[k] = i;
      }
      scatter(cursor, width, sizeof(T), output() + i * plan_.axis_output_stride,
              plan_.output_strides, extrema);
      scatter(cursor, width, sizeof(int64_t), positions() + i * plan_.axis_position_stride,
              plan_.position_strides, places);
    }
  }

 private:
  // Blocks of which no element takes over are passed over whole, with comparisons side by side.
  [[nodiscard]] int64_t pass_over(const char* from, T best, int64_t next) const {
    constexpr int64_t kBlock = 32;
    if (plan_.axis_input_stride != sizeof(T)) return next;
    const auto* line = reinterpret_cast<const Stored*>(from);
    for (; next + kBlock <= plan_.axis_size; next += kBlock) {
      int any = 0;
#pragma omp simd reduction(| : any)
      for (int64_t k = 0; k < kBlock; ++k)
        any |= Step::takes_over(best, value_of(line[next + k])) ? 1 : 0;
      if (any != 0) break;
    }
    return next;
  }
  template <class V>
  static void fill(int64_t count, V value, char* to, int64_t stride) {
    if (stride == sizeof(V)) {
      std::fill_n(reinterpret_cast<V*>(to), count, value);
      return;
    }
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<V*>(to + i * stride) = value;
  }
  [[nodiscard]] T value_at(const char* from, int64_t i) const {
    return value_of(*reinterpret_cast<const Stored*>(from + i * plan_.axis_input_stride));
  }
  static T value_of(Stored stored) {
    if constexpr (std::is_same_v<T, bool>) {
      return stored != 0;
    } else {
      return stored;
    }
  }
  [[nodiscard]] const char* input() const {
    return static_cast<const char*>(plan_.input);
  }
  [[nodiscard]] char* output() const {
    return static_cast<char*>(plan_.output);
  }
  [[nodiscard]] char* positions() const {
    return reinterpret_cast<char*>(plan_.positions);
  }

  const ScanPlan& plan_;
};

template <class T, bool kLargest>
Status run(const ScanPlan& plan) {
  const ExtremumScan<T, kLargest> scan(plan);
  deal_lines(
      plan, [&](int64_t begin, int64_t end) { scan.along(begin, end); },
      [&](int64_t first, int64_t width) { scan.across(first, width); });
  return kernel::kOk;
}

}  // namespace

Status scan_extrema(const ScanPlan& plan) {
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_class_v<T> && sizeof(T) > 2) {
      return failure(Code::kDType, "scan: expected a real dtype");
    } else {
      return plan.op == ScanOp::kMax ? run<T, true>(plan) : run<T, false>(plan);
    }
  });
}

}  // namespace tsr::cpu
