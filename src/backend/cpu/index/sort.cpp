// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorting by keys: every value becomes an unsigned number of the same order. Many items are sorted
// by the digits of their keys; where items are compared, their positions break ties, which makes
// any algorithm stable.
#include "backend/cpu/generated/entries.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend/common/sort_key.h"
#include "backend/cpu/host.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::SortPlan;
using kernel::Status;

namespace {

template <class T>
using Key = math::SortKey<T>;

// A key with its position. If both are short they share one number, which takes half the memory and
// one comparison.
struct ShortItem {
  uint64_t both = 0;

  ShortItem() = default;
  ShortItem(uint64_t key, int64_t position) : both(key << 32 | static_cast<uint64_t>(position)) {}
  [[nodiscard]] uint64_t key() const { return both >> 32; }
  [[nodiscard]] int64_t position() const { return static_cast<int64_t>(both & 0xffffffff); }
  friend bool operator<(const ShortItem& a, const ShortItem& b) { return a.both < b.both; }
};
class LongItem {
 public:
  LongItem() = default;
  LongItem(uint64_t key, int64_t position) : key_(key), position_(position) {}
  [[nodiscard]] uint64_t key() const { return key_; }
  [[nodiscard]] int64_t position() const { return position_; }
  friend bool operator<(const LongItem& a, const LongItem& b) {
    return a.key_ != b.key_ ? a.key_ < b.key_ : a.position_ < b.position_;
  }

 private:
  uint64_t key_ = 0;
  int64_t position_ = 0;
};

// The longest rows whose positions are short.
constexpr int64_t kShortColumns = std::numeric_limits<uint32_t>::max();

template <class T, class Item>
class RowSort {
  // A bool tensor made by another program may hold bytes other than 0 and 1, which C++ must not
  // read as bool.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

 public:
  explicit RowSort(const SortPlan& plan)
      : plan_(plan), flip_(plan.descending != 0 ? ~Key<T>{0} : Key<T>{0}) {}

  // Items of scratch memory that sorting one row takes.
  static int64_t scratch(const SortPlan& plan) {
    if (takes_few(plan)) return 0;
    return sorts_by_digits(plan) ? 2 * plan.columns : plan.columns;
  }

  void run(int64_t row, Item* scratch) const {
    const Stored* input = static_cast<const Stored*>(plan_.input) + row * plan_.columns;
    if (takes_few(plan_)) {
      Item best[kFew] = {};
      take_few(input, best);
      write(row, input, best);
      return;
    }
    for (int64_t i = 0; i < plan_.columns; ++i) scratch[i] = Item(key(input[i]), i);
    if (sorts_by_digits(plan_)) {
      write(row, input, sort_by_digits(scratch, scratch + plan_.columns));
      return;
    }
    if (plan_.ranks != nullptr) {
      select_ranks(plan_.ranks + row * plan_.keep, scratch);
    } else {
      sort_first(scratch);
    }
    write(row, input, scratch);
  }

 private:
  // Up to this many results, inserting elements one by one is faster than sorting.
  static constexpr int64_t kFew = 32;
  static constexpr int64_t kFewRanks = 16;
  static constexpr int64_t kBlock = 64;
  static bool takes_few(const SortPlan& plan) {
    return plan.ranks == nullptr && plan.keep <= kFew && plan.keep * 4 <= plan.columns;
  }

  // Fewer items are sorted sooner by comparing them; so are the first few of many.
  static bool sorts_by_digits(const SortPlan& plan) {
    constexpr int64_t kMany = 200;
    return plan.columns >= kMany &&
           (plan.ranks != nullptr ? plan.keep > kFewRanks : plan.keep * 8 >= plan.columns);
  }

  static T value_of(Stored stored) {
    if constexpr (std::is_same_v<T, bool>) {
      return stored != 0;
    } else {
      return stored;
    }
  }
  [[nodiscard]] Key<T> key(Stored stored) const { return math::sort_key(value_of(stored)) ^ flip_; }

  // Sorts by one digit of the keys after the other, the lowest first, each time keeping the order
  // of equal ones; digits that all keys share are passed over. Returns where the sorted items are.
  Item* sort_by_digits(Item* items, Item* spare) const {
    constexpr int kDigits = sizeof(Key<T>);
    constexpr int kValues = 256;
    int64_t places[kDigits][kValues] = {};
    for (int64_t i = 0; i < plan_.columns; ++i) {
      const auto whole = static_cast<Key<T>>(items[i].key());
      for (int d = 0; d < kDigits; ++d) ++places[d][whole >> (8 * d) & 255];
    }
    for (int d = 0; d < kDigits; ++d) {
      int64_t* place = places[d];
      const auto digit = [d](const Item& item) { return item.key() >> (8 * d) & 255; };
      if (place[digit(items[0])] == plan_.columns) continue;
      int64_t before = 0;
      for (int v = 0; v < kValues; ++v) before += std::exchange(place[v], before);
      for (int64_t i = 0; i < plan_.columns; ++i) spare[place[digit(items[i])]++] = items[i];
      std::swap(items, spare);
    }
    return items;
  }

  void sort_first(Item* items) const {
    if (plan_.keep < plan_.columns) {
      std::nth_element(items, items + plan_.keep, items + plan_.columns);
    }
    std::sort(items, items + plan_.keep);
  }

  // Puts the items of the ranks where a sort would put them.
  void select_ranks(const int64_t* ranks, Item* items) const {
    Item* const end = items + plan_.columns;
    if (plan_.keep > kFewRanks) return std::sort(items, end);
    int64_t rising[kFewRanks];
    std::partial_sort_copy(ranks, ranks + plan_.keep, rising, rising + plan_.keep);
    Item* begin = items;  // what is before it is smaller
    for (int64_t i = 0; i < plan_.keep; ++i) {
      Item* const wanted = items + rising[i];
      if (wanted < begin) continue;
      std::nth_element(begin, wanted, end);
      begin = wanted + 1;
    }
  }

  // Keeps the best so far in order. Of a row in random order, few of the later elements are among
  // them: whole blocks are passed over after one comparison of each key.
  void take_few(const Stored* input, Item* best) const {
    for (int64_t i = 0; i < plan_.keep; ++i) insert(Item(key(input[i]), i), best, i);
    const int64_t last = plan_.keep - 1;
    auto limit = static_cast<Key<T>>(best[last].key());
    for (int64_t first = plan_.keep; first < plan_.columns; first += kBlock) {
      const int64_t count = std::min(kBlock, plan_.columns - first);
      Key<T> keys[kBlock];
      Key<T> any = 0;
#pragma omp simd reduction(| : any)
      for (int64_t i = 0; i < count; ++i) {
        keys[i] = key(input[first + i]);
        any |= static_cast<Key<T>>(keys[i] < limit ? 1 : 0);
      }
      if (any == 0) continue;
      for (int64_t i = 0; i < count; ++i) {
        // An equal key comes later, so it does not replace the last one.
        if (keys[i] >= limit) continue;
        insert(Item(keys[i], first + i), best, last);
        limit = static_cast<Key<T>>(best[last].key());
      }
    }
  }

  // Inserts an item into `count` sorted ones; overwrites sorted[count].
  static void insert(Item item, Item* sorted, int64_t count) {
    int64_t i = count;
    for (; i > 0 && item < sorted[i - 1]; --i) sorted[i] = sorted[i - 1];
    sorted[i] = item;
  }

  void write(int64_t row, const Stored* input, const Item* items) const {
    T* values = static_cast<T*>(plan_.values);
    const int64_t* ranks = plan_.ranks == nullptr ? nullptr : plan_.ranks + row * plan_.keep;
    for (int64_t i = 0; i < plan_.keep; ++i) {
      const int64_t position = items[ranks == nullptr ? i : ranks[i]].position();
      if (values != nullptr) values[row * plan_.keep + i] = value_of(input[position]);
      if (plan_.positions != nullptr) plan_.positions[row * plan_.keep + i] = position;
    }
  }

  const SortPlan& plan_;
  Key<T> flip_;
};

// Divides the rows into as many parts as there are threads; each part has its own scratch memory.
template <class T, class Item>
Status sort_rows(const SortPlan& plan) {
  const int64_t parts =
      std::min<int64_t>(plan.rows, plan.rows * plan.columns < 4096 ? 1 : num_threads());
  const int64_t each = RowSort<T, Item>::scratch(plan);
  const Workspace scratch(parts * each * static_cast<int64_t>(sizeof(Item)));
  if (each != 0 && scratch.data() == nullptr)
    return failure(Code::kOutOfMemory, "sort: no scratch memory");
  const RowSort<T, Item> sorter(plan);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      Item* items = static_cast<Item*>(scratch.data()) + part * each;
      const int64_t last = plan.rows * (part + 1) / parts;
      for (int64_t row = plan.rows * part / parts; row < last; ++row) sorter.run(row, items);
    }
  });
  return kernel::kOk;
}

}  // namespace

Status sort(const SortPlan& plan) {
  if (plan.rows == 0 || plan.keep == 0) return kernel::kOk;
  return visit_dtype(plan.dtype, [&]<class T>(TypeTag<T>) -> Status {
    if constexpr (std::is_class_v<T> && sizeof(T) > 2) {
      return failure(Code::kDType, "sort: expected a real dtype");
    } else {
      if (sizeof(T) <= 4 && plan.columns <= kShortColumns) return sort_rows<T, ShortItem>(plan);
      return sort_rows<T, LongItem>(plan);
    }
  });
}

}  // namespace tsr::cpu
