// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorting by keys: every value becomes an unsigned number of the same order, ties are broken by
// position, which makes any sorting algorithm stable.
#include "backend/cpu/sort.h"

#include <algorithm>
#include <bit>

#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::SortPlan;
using kernel::Status;

namespace {

// Floats: negative numbers have all bits flipped, others the sign bit, which orders them as
// integers; NaN is largest and -0 equals 0.
template <class Bits, class Float>
Bits float_key(Float value) {
  if (value != value) return ~Bits{0};
  const Bits bits = std::bit_cast<Bits>(value + Float{0});
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

template <class T>
uint64_t key_of(T value) {
  if constexpr (std::is_same_v<T, float>)
    return float_key<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return float_key<uint64_t>(value);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return float_key<uint32_t>(static_cast<float>(value));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ (uint64_t{1} << 63);
  } else {
    return static_cast<uint64_t>(value);
  }
}

struct Item {
  uint64_t key;
  int64_t position;
  friend bool operator<(const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  }
};

template <class T>
void sort_row(const SortPlan& plan, int64_t row, Item* items) {
  const T* input = static_cast<const T*>(plan.input) + row * plan.columns;
  const uint64_t flip = plan.descending != 0 ? ~uint64_t{0} : 0;
  for (int64_t i = 0; i < plan.columns; ++i) items[i] = {key_of(input[i]) ^ flip, i};
  if (plan.keep < plan.columns) {
    std::nth_element(items, items + plan.keep, items + plan.columns);
  }
  std::sort(items, items + plan.keep);
  T* values = static_cast<T*>(plan.values);
  for (int64_t i = 0; i < plan.keep; ++i) {
    if (values != nullptr) values[row * plan.keep + i] = input[items[i].position];
    if (plan.positions != nullptr) plan.positions[row * plan.keep + i] = items[i].position;
  }
}

}  // namespace

Status sort(const SortPlan& plan) {
  if (plan.rows == 0 || plan.keep == 0) return kernel::kOk;
  // Rows are dealt out in as many parts as there are threads; each part sorts in scratch memory of
  // its own.
  const int64_t parts =
      std::min<int64_t>(plan.rows, plan.rows * plan.columns < 4096 ? 1 : num_threads());
  const Workspace scratch(parts * plan.columns * static_cast<int64_t>(sizeof(Item)));
  if (scratch.data() == nullptr) return failure(Code::kOutOfMemory, "sort: no scratch memory");
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_class_v<T> && sizeof(T) > 2) {
      return failure(Code::kDType, "sort: expected a real dtype");
    } else {
      parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          Item* items = static_cast<Item*>(scratch.data()) + part * plan.columns;
          const int64_t last = plan.rows * (part + 1) / parts;
          for (int64_t row = plan.rows * part / parts; row < last; ++row)
            sort_row<T>(plan, row, items);
        }
      });
      return kernel::kOk;
    }
  });
}

}  // namespace tsr::cpu
