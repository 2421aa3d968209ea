// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Binary search by keys, whose order is that of the sort.
#include <algorithm>

#include "backend/common/search_row.h"
#include "backend/common/sort_key.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::SearchPlan;
using kernel::Status;

namespace {

constexpr int64_t kGrain = 2048;  // values

template <class T>
class Search {
  using Key = math::SortKey<T>;
  // A bool from elsewhere may be a byte other than 0 and 1, which must not be read as a bool.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

 public:
  explicit Search(const SearchPlan& plan) : plan_(plan) {}

  void run(int64_t begin, int64_t end) const {
    const int64_t each = plan_.count / plan_.rows;
    while (begin < end) {
      const int64_t row = begin / each;
      const int64_t last = std::min(end, (row + 1) * each);
      for (; begin < last; ++begin) {
        plan_.output[begin] = math::search_row(plan_.columns, value_key(begin), plan_.right != 0,
                                               [&](int64_t i) { return row_key(row, i); });
      }
    }
  }

  // For one row that serves many values: the keys of the row lie side by side.
  void run_on(const Key* keys, int64_t begin, int64_t end) const {
    for (; begin < end; ++begin) {
      plan_.output[begin] = math::search_row(plan_.columns, value_key(begin), plan_.right != 0,
                                             [&](int64_t i) { return keys[i]; });
    }
  }
  void write_keys(Key* keys) const {
    for (int64_t i = 0; i < plan_.columns; ++i) keys[i] = row_key(0, i);
  }

 private:
  [[nodiscard]] static Key key(Stored stored) {
    if constexpr (std::is_same_v<T, bool>) {
      return math::sort_key(stored != 0);
    } else {
      return math::sort_key(stored);
    }
  }
  [[nodiscard]] Key value_key(int64_t i) const {
    return key(static_cast<const Stored*>(plan_.values)[i]);
  }
  [[nodiscard]] Key row_key(int64_t row, int64_t i) const {
    const int64_t first = row * plan_.columns;
    const int64_t place = plan_.sorter == nullptr ? i : plan_.sorter[first + i];
    return key(static_cast<const Stored*>(plan_.sorted)[first + place]);
  }

  const SearchPlan& plan_;
};

template <class T>
Status run(const SearchPlan& plan) {
  using Key = math::SortKey<T>;
  const Search<T> search(plan);
  if (plan.rows == 1 && plan.columns <= plan.count) {
    const Workspace space(plan.columns * static_cast<int64_t>(sizeof(Key)));
    auto* keys = static_cast<Key*>(space.data());
    if (keys == nullptr && plan.columns != 0)
      return failure(Code::kOutOfMemory, "expected scratch memory, got none");
    search.write_keys(keys);
    parallel_for(plan.count, kGrain,
                 [&](int64_t begin, int64_t end) { search.run_on(keys, begin, end); });
    return kernel::kOk;
  }
  parallel_for(plan.count, kGrain, [&](int64_t begin, int64_t end) { search.run(begin, end); });
  return kernel::kOk;
}

}  // namespace

Status search(const SearchPlan& plan) {
  if (plan.count == 0) return kernel::kOk;
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_class_v<T> && sizeof(T) > 2) {
      return failure(Code::kDType, "expected a real dtype");
    } else {
      return run<T>(plan);
    }
  });
}

}  // namespace tsr::cpu
