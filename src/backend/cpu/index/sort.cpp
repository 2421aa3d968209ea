// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sorting by keys: every value becomes an unsigned number of the same order. Many items are sorted
// by the digits of their keys, few by a network of comparisons; where items are compared, their
// positions break ties, which makes any algorithm stable.
#include "backend/cpu/generated/entries.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "backend/common/sort_key.h"
#include "backend/cpu/host.h"
#include "backend/cpu/index/sort_network.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::SortPlan;
using kernel::Status;

namespace {

template <class T>
using Key = math::SortKey<T>;

void exchange_if(bool wanted, uint64_t& a, uint64_t& b) {
  const uint64_t change = (a ^ b) & (uint64_t{0} - static_cast<uint64_t>(wanted));
  a ^= change;
  b ^= change;
}

// A key with its position. If both are short they share one number, which takes half the memory and
// one comparison.
struct ShortItem {
  uint64_t both = 0;

  ShortItem() = default;
  ShortItem(uint64_t key, int64_t position) : both(key << 32 | static_cast<uint64_t>(position)) {}
  [[nodiscard]] uint64_t key() const { return both >> 32; }
  [[nodiscard]] int64_t position() const { return static_cast<int64_t>(both & 0xffffffff); }
  friend bool operator<(const ShortItem& a, const ShortItem& b) { return a.both < b.both; }
  // Puts the lesser one into a, without a jump, which a minimum and a maximum would be compiled to.
  static void order(ShortItem& a, ShortItem& b) { exchange_if(b < a, a.both, b.both); }
};
class LongItem {
 public:
  LongItem() = default;
  LongItem(uint64_t key, int64_t position)
      : key_(key), position_(static_cast<uint64_t>(position)) {}
  [[nodiscard]] uint64_t key() const { return key_; }
  [[nodiscard]] int64_t position() const { return static_cast<int64_t>(position_); }
  friend bool operator<(const LongItem& a, const LongItem& b) {
    return a.key_ != b.key_ ? a.key_ < b.key_ : a.position_ < b.position_;
  }
  static void order(LongItem& a, LongItem& b) {
    const bool turned = (b.key_ < a.key_) | ((b.key_ == a.key_) & (b.position_ < a.position_));
    exchange_if(turned, a.key_, b.key_);
    exchange_if(turned, a.position_, b.position_);
  }

 private:
  uint64_t key_ = 0;
  uint64_t position_ = 0;
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
      : plan_(plan), flip_(plan.descending != 0 ? ~Key<T>{0} : Key<T>{0}) {
    if (uses_network(plan)) network_.build(static_cast<int>(plan.columns));
  }

  // Items of scratch memory that sorting one row takes.
  static int64_t scratch(const SortPlan& plan) {
    if (takes_few(plan)) return 0;
    if (selects(plan)) return 2 * plan.columns + 1;
    return sorts_by_digits(plan) ? 2 * plan.columns : plan.columns;
  }

  void run(int64_t row, Item* scratch) const {
    const Stored* input = static_cast<const Stored*>(plan_.input) + row * plan_.columns;
    const int64_t* ranks = plan_.ranks == nullptr ? nullptr : plan_.ranks + row * plan_.keep;
    if (takes_few(plan_)) {
      Item best[kFew] = {};
      take_few(input, best);
      return write(row, input, [&](int64_t i) { return best[i].position(); });
    }
    if (selects(plan_)) {
      int64_t positions[kFewRanks];
      select_ranks(input, ranks, scratch, positions);
      return write(row, input, [&](int64_t i) { return positions[i]; });
    }
    if constexpr (std::is_integral_v<T> && std::is_same_v<Item, LongItem>) {
      // Most integers of 64 bits are near each other: their distances from the least are short.
      const Range range = range_of([&](int64_t i) { return key(input[i]); });
      if (range.width <= 32 && plan_.columns <= kShortColumns)
        return sort_row(row, input, reinterpret_cast<ShortItem*>(scratch), range.least);
    }
    sort_row(row, input, scratch, Key<T>{0});
  }

 private:
  // Up to this many results, inserting elements one by one is faster than sorting.
  static constexpr int64_t kFew = 32;
  static constexpr int64_t kFewRanks = 16;
  static constexpr int64_t kBlock = 64;
  // Of few ranks in longer rows one finds the items without sorting the others, and a long network
  // takes as long to build as one row to sort.
  static bool uses_network(const SortPlan& plan) {
    constexpr int64_t kManyRows = 8;
    const int64_t most = plan.rows < kManyRows ? 16 : SortNetwork::kMost;
    return plan.columns <= (has_few_ranks(plan) ? std::min<int64_t>(most, 24) : most);
  }
  static bool has_few_ranks(const SortPlan& plan) {
    return plan.ranks != nullptr && plan.keep <= kFewRanks;
  }
  static bool takes_few(const SortPlan& plan) {
    return plan.ranks == nullptr && plan.keep <= kFew && plan.keep * 4 <= plan.columns;
  }
  static bool selects(const SortPlan& plan) { return has_few_ranks(plan) && !uses_network(plan); }

  // Fewer items are sorted sooner by comparing them; so are the first few of many.
  static bool sorts_by_digits(const SortPlan& plan) {
    constexpr int64_t kMany = 200;
    return plan.columns >= kMany && (plan.ranks != nullptr || plan.keep * 8 >= plan.columns);
  }

  static T value_of(Stored stored) {
    if constexpr (std::is_same_v<T, bool>) {
      return stored != 0;
    } else {
      return stored;
    }
  }
  [[nodiscard]] Key<T> key(Stored stored) const { return math::sort_key(value_of(stored)) ^ flip_; }

  // Sorts a row by the distances of its keys from `least`, which no key is below.
  template <class Any>
  void sort_row(int64_t row, const Stored* input, Any* scratch, Key<T> least) const {
    for (int64_t i = 0; i < plan_.columns; ++i)
      scratch[i] = Any(static_cast<Key<T>>(key(input[i]) - least), i);
    const Any* sorted = scratch;
    if (uses_network(plan_))
      network_.sort(scratch);
    else if (sorts_by_digits(plan_))
      sorted = sort_by_digits(scratch, scratch + plan_.columns);
    else
      sort_first(scratch);
    const int64_t* ranks = plan_.ranks == nullptr ? nullptr : plan_.ranks + row * plan_.keep;
    write(row, input,
          [&](int64_t i) { return sorted[ranks == nullptr ? i : ranks[i]].position(); });
  }

  // Sorts by one digit of the keys after the other, the lowest first, each time keeping the order
  // of equal ones; digits that all keys share are passed over. Returns where the sorted items are.
  template <class Any>
  Any* sort_by_digits(Any* items, Any* spare) const {
    constexpr int kDigits = std::min<int>(sizeof(Key<T>), std::is_same_v<Any, ShortItem> ? 4 : 8);
    constexpr int kValues = 256;
    int64_t places[kDigits][kValues] = {};
    for (int64_t i = 0; i < plan_.columns; ++i) {
      const auto whole = static_cast<Key<T>>(items[i].key());
      for (int d = 0; d < kDigits; ++d) ++places[d][whole >> (8 * d) & 255];
    }
    for (int d = 0; d < kDigits; ++d) {
      int64_t* place = places[d];
      const auto digit = [d](const Any& item) { return item.key() >> (8 * d) & 255; };
      if (place[digit(items[0])] == plan_.columns) continue;
      int64_t before = 0;
      for (int v = 0; v < kValues; ++v) before += std::exchange(place[v], before);
      for (int64_t i = 0; i < plan_.columns; ++i) spare[place[digit(items[i])]++] = items[i];
      std::swap(items, spare);
    }
    return items;
  }

  template <class Any>
  void sort_first(Any* items) const {
    const int64_t first = plan_.ranks == nullptr ? plan_.keep : plan_.columns;
    if (first < plan_.columns) std::nth_element(items, items + first, items + plan_.columns);
    std::sort(items, items + first);
  }

  // A number that no key is below, and how many bits the distance of a key from it has.
  struct Range {
    Key<T> least;
    int width;
  };
  template <class KeyAt>
  [[nodiscard]] Range range_of(const KeyAt& key_at) const {
    Key<T> least = ~Key<T>{0};
    Key<T> most = 0;
    for (int64_t i = 0; i < plan_.columns; ++i) {
      const Key<T> each = key_at(i);
      least = std::min(least, each);
      most = std::max(most, each);
    }
    return {least, static_cast<int>(std::bit_width(static_cast<Key<T>>(most - least)))};
  }
  // Writes the keys of a row. Small integers of both signs are near each other and share no bits;
  // the keys of floats are far apart, and what they share is found sooner than their extrema.
  Range write_keys(const Stored* input, Key<T>* keys) const {
    if constexpr (std::is_integral_v<T>) {
      return range_of([&](int64_t i) { return keys[i] = key(input[i]); });
    } else {
      const Key<T> some = key(input[0]);
      Key<T> differ = 0;
#pragma omp simd reduction(| : differ)
      for (int64_t i = 0; i < plan_.columns; ++i) {
        keys[i] = key(input[i]);
        differ |= keys[i] ^ some;
      }
      // All bits from the highest one that differs.
      const Key<T> mask =
          differ == 0 ? Key<T>{0} : static_cast<Key<T>>(~Key<T>{0} >> std::countl_zero(differ));
      return {static_cast<Key<T>>(some & ~mask), static_cast<int>(std::bit_width(differ))};
    }
  }

  // The positions of the elements of the ranks. The range of the keys is divided into groups, whose
  // members are counted; only the items of groups that hold a wanted rank are compared.
  void select_ranks(const Stored* input, const int64_t* ranks, Item* items,
                    int64_t* positions) const {
    constexpr int kMostBits = 11;
    // About four elements a group, if their keys were spread evenly.
    const int bits = std::min(
        kMostBits, static_cast<int>(std::bit_width(static_cast<uint64_t>(plan_.columns))) - 2);
    auto* const keys = reinterpret_cast<Key<T>*>(items + plan_.columns + 1);
    const Range range = write_keys(input, keys);
    const int shift = std::max(0, range.width - bits);
    const auto group_of = [&](Key<T> whole) {
      return static_cast<int64_t>(static_cast<Key<T>>(whole - range.least) >> shift);
    };
    int64_t counts[1 << kMostBits];
    std::fill_n(counts, int64_t{1} << bits, 0);
    for (int64_t i = 0; i < plan_.columns; ++i) ++counts[group_of(keys[i])];
    // Rising ranks, so that each group is passed once; equal ones follow each other.
    int64_t order[kFewRanks];
    for (int64_t i = 0; i < plan_.keep; ++i) order[i] = i;
    std::sort(order, order + plan_.keep, [&](int64_t a, int64_t b) { return ranks[a] < ranks[b]; });
    int64_t group = 0;
    int64_t before = 0;    // elements of lesser groups
    int64_t fetched = -1;  // the group whose items are in memory
    for (int64_t i = 0; i < plan_.keep; ++i) {
      const int64_t rank = ranks[order[i]];
      while (rank >= before + counts[group]) before += counts[group++];
      if (fetched != group) {
        fetched = group;
        Item* next = items;
        for (int64_t k = 0; k < plan_.columns; ++k) {
          *next = Item(keys[k], k);
          next += group_of(keys[k]) == group ? 1 : 0;
        }
      }
      Item* const wanted = items + (rank - before);
      std::nth_element(items, wanted, items + counts[group]);
      positions[order[i]] = wanted->position();
    }
  }

  // Keeps the best so far in order. Of a row in random order, few of the later elements are among
  // them: whole blocks are passed over after one comparison of each element.
  void take_few(const Stored* input, Item* best) const {
    for (int64_t i = 0; i < plan_.keep; ++i) insert(Item(key(input[i]), i), best, i);
    const int64_t last = plan_.keep - 1;
    auto limit = static_cast<Key<T>>(best[last].key());
    // An equal key comes later, so it does not replace the last one.
    const auto offer = [&](Key<T> each, int64_t position) {
      if (each >= limit) return;
      insert(Item(each, position), best, last);
      limit = static_cast<Key<T>>(best[last].key());
    };
    for (int64_t first = plan_.keep; first < plan_.columns; first += kBlock) {
      const int64_t count = std::min(kBlock, plan_.columns - first);
      if constexpr (std::is_floating_point_v<T>) {
        if (none_before(input[best[last].position()], input + first, count)) continue;
        for (int64_t i = 0; i < count; ++i) offer(key(input[first + i]), first + i);
      } else {
        Key<T> keys[kBlock];
        Key<T> any = 0;
#pragma omp simd reduction(| : any)
        for (int64_t i = 0; i < count; ++i) {
          keys[i] = key(input[first + i]);
          any |= static_cast<Key<T>>(keys[i] < limit ? 1 : 0);
        }
        for (int64_t i = 0; i < count && any != 0; ++i) offer(keys[i], first + i);
      }
    }
  }

  // Whether none of the elements comes before `limit`; false if one is a NaN. It takes fewer steps
  // than their keys, above all of 64 bits.
  [[nodiscard]] bool none_before(T limit, const T* elements, int64_t count) const {
    const auto none = [&](auto comes_before) {
      int any = 0;
#pragma omp simd reduction(| : any)
      for (int64_t i = 0; i < count; ++i) any |= comes_before(elements[i]) ? 1 : 0;
      return any == 0;
    };
    return flip_ == 0 ? none([limit](T x) { return !(x >= limit); })
                      : none([limit](T x) { return !(x <= limit); });
  }

  // Inserts an item into `count` sorted ones; overwrites sorted[count].
  static void insert(Item item, Item* sorted, int64_t count) {
    int64_t i = count;
    for (; i > 0 && item < sorted[i - 1]; --i) sorted[i] = sorted[i - 1];
    sorted[i] = item;
  }

  // position_of(i): where result i of the row is in the input.
  template <class PositionOf>
  void write(int64_t row, const Stored* input, PositionOf position_of) const {
    T* values = static_cast<T*>(plan_.values);
    for (int64_t i = 0; i < plan_.keep; ++i) {
      const int64_t position = position_of(i);
      if (values != nullptr) values[row * plan_.keep + i] = value_of(input[position]);
      if (plan_.positions != nullptr) plan_.positions[row * plan_.keep + i] = position;
    }
  }

  const SortPlan& plan_;
  Key<T> flip_;
  SortNetwork network_;
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
