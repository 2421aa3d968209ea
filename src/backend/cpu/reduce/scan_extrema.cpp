// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Running maxima and minima with their positions.
#include "backend/common/scan_step.h"
#include "backend/common/sort_key.h"
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
  using Key = math::SortKey<T>;
  // A bool from elsewhere may be a byte other than 0 and 1, which must not be read as a bool.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

 public:
  explicit ExtremumScan(const ScanPlan& plan) : plan_(plan) {}

  void along(int64_t begin, int64_t end) const {
    const int64_t inner = plan_.ndim - 1;
    Cursor cursor = other_dims(plan_, begin);
    for (int64_t line = begin; line < end;) {
      const int64_t lines = std::min(end - line, cursor.left_in_row());
      const char* from = input() + cursor.offset(plan_.input_strides);
      char* to = output() + cursor.offset(plan_.output_strides);
      char* place_to = positions() + cursor.offset(plan_.position_strides);
      for (int64_t k = 0; k < lines; ++k) {
        scan_line(from + k * plan_.input_strides[inner], to + k * plan_.output_strides[inner],
                  place_to + k * plan_.position_strides[inner]);
      }
      cursor.advance_in_row(lines);
      line += lines;
    }
  }

  void across(int64_t first, int64_t width) const {
    Stored gathered[kScanBlock];
    T extrema[kScanBlock];
    int64_t places[kScanBlock];
    const Cursor cursor = other_dims(plan_, first);
    const bool in_place = width <= cursor.left_in_row() &&
                          plan_.input_strides[plan_.ndim - 1] == static_cast<int64_t>(sizeof(T));
    const int64_t offset = cursor.offset(plan_.input_strides);
    for (int64_t i = 0; i < plan_.axis_size; ++i) {
      const char* from = input() + i * plan_.axis_input_stride;
      if (!in_place) gather(cursor, width, sizeof(T), gathered, from, plan_.input_strides);
      const auto* values = in_place ? reinterpret_cast<const Stored*>(from + offset) : gathered;
      if (i == 0) {
        for (int64_t k = 0; k < width; ++k) extrema[k] = value_of(values[k]);
        std::fill_n(places, width, 0);
      } else {
#pragma omp simd
        for (int64_t k = 0; k < width; ++k) {
          const T value = value_of(values[k]);
          const bool taken = Step::takes_over(extrema[k], value);
          extrema[k] = taken ? value : extrema[k];
          places[k] = taken ? i : places[k];
        }
      }
      scatter(cursor, width, sizeof(T), output() + i * plan_.axis_output_stride,
              plan_.output_strides, extrema);
      scatter(cursor, width, sizeof(int64_t), positions() + i * plan_.axis_position_stride,
              plan_.position_strides, places);
    }
  }

 private:
  // Blocks of which no element takes over are filled, after comparisons side by side; that is rare
  // among the first elements. In the others an element takes over without a jump, which could not
  // be foreseen: keys are compared, and the value is read again.
  void scan_line(const char* from, char* to, char* place_to) const {
    constexpr int64_t kBlock = 32;
    const int64_t size = plan_.axis_size;
    const int64_t from_step = plan_.axis_input_stride;
    const int64_t to_step = plan_.axis_output_stride;
    const int64_t place_step = plan_.axis_position_stride;
    const auto value_at = [=](int64_t i) {
      return value_of(*reinterpret_cast<const Stored*>(from + i * from_step));
    };
    int64_t place = 0;
    Key best = key_of(value_at(0));
    for (int64_t i = 0; i < size; i += kBlock) {
      const int64_t end = std::min(i + kBlock, size);
      if (i >= 2 * kBlock && end - i == kBlock && from_step == sizeof(T) &&
          stays_over(value_at(place), kBlock, from + i * from_step)) {
        fill(kBlock, value_at(place), to + i * to_step, to_step);
        fill(kBlock, place, place_to + i * place_step, place_step);
        continue;
      }
      for (int64_t k = i; k < end; ++k) {
        const Key key = key_of(value_at(k));
        place = __builtin_expect_with_probability(key >= best, 1, 0.5) ? k : place;
        best = std::max(best, key);
        *reinterpret_cast<T*>(to + k * to_step) = value_at(place);
        *reinterpret_cast<int64_t*>(place_to + k * place_step) = place;
      }
    }
  }
  // Whether none of `count` contiguous elements takes over.
  static bool stays_over(T best, int64_t count, const char* from) {
    const auto* line = reinterpret_cast<const Stored*>(from);
    int any = 0;
#pragma omp simd reduction(| : any)
    for (int64_t k = 0; k < count; ++k) any |= Step::takes_over(best, value_of(line[k])) ? 1 : 0;
    return any == 0;
  }
  // A number that is larger the better the element: a NaN has the largest one.
  static Key key_of(T value) {
    if constexpr (kLargest)
      return math::sort_key(value);
    else if constexpr (std::is_integral_v<T>)
      return ~math::sort_key(value);
    else if constexpr (std::is_same_v<T, double>)
      return math::sort_key(-value);
    else
      return math::sort_key(-static_cast<float>(value));
  }
  template <class V>
  static void fill(int64_t count, V value, char* to, int64_t stride) {
    if (stride == sizeof(V)) {
      std::fill_n(reinterpret_cast<V*>(to), count, value);
      return;
    }
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<V*>(to + i * stride) = value;
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
      plan, {.few_neighbours = 32, .few_elements = 0},
      [&](int64_t begin, int64_t end) { scan.along(begin, end); },
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
