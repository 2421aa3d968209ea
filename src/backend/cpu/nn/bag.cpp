// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Bags of rows of a table. The threads share out what is written: bags, indices or rows of the
// table, so every sum has a fixed order.
#include "backend/cpu/nn/bag_rows.h"

#include <algorithm>
#include <atomic>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/level.h"
#include "backend/cpu/widen.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::BagPass;
using kernel::BagPlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;  // numbers that are worth a thread

Status check_index(const BagPlan& plan) {
  const auto size = static_cast<uint64_t>(plan.rows);
  if (rows_of<IndexRows>().outside_signs(plan.indices, plan.index, 0, size) >> 63 == 0)
    return kernel::kOk;
  const int64_t* wrong = std::find_if(plan.index, plan.index + plan.indices, [&](int64_t index) {
    return index < 0 || index >= plan.rows;
  });
  const std::string text = concat("expected indices in [0, ", plan.rows - 1,
                                  "] for axis 0 of size ", plan.rows, ", got ", *wrong);
  return failure(Code::kIndex, text.c_str());
}

Status check_starts(const BagPlan& plan) {
  if (plan.starts == nullptr || plan.bags == 0) return kernel::kOk;
  if (plan.starts[0] != 0) {
    const std::string text = concat("expected 0 as the first offset, got ", plan.starts[0]);
    return failure(Code::kIndex, text.c_str());
  }
  for (int64_t b = 1; b < plan.bags; ++b) {
    if (plan.starts[b - 1] <= plan.starts[b]) continue;
    const std::string text = concat("expected offsets that do not fall, got ", plan.starts[b],
                                    " after ", plan.starts[b - 1]);
    return failure(Code::kValue, text.c_str());
  }
  return kernel::kOk;
}

// The table's elements are stored as S.
template <class S>
class Bags {
 public:
  using T = Opmath<S>;

  explicit Bags(const BagPlan& plan)
      : plan_(plan),
        rows_(rows_of<BagRows<T>>()),
        table_(static_cast<S*>(plan.table)),
        factors_(static_cast<T*>(plan.factors)),
        sums_(static_cast<T*>(plan.sums)) {}

  Status run() const {
    std::atomic<bool> ok(true);
    const auto each = [&](int64_t count, int64_t cost, const auto& body) {
      parallel_for(count, std::max<int64_t>(1, kGrain / (cost + 1)),
                   [&](int64_t begin, int64_t end) {
                     const RowBuffer<S> buffer(plan_.features);
                     if (buffer.missing())
                       ok.store(false, std::memory_order_relaxed);
                     else
                       body(begin, end, buffer.at());
                   });
    };
    const int64_t bag = plan_.indices / std::max<int64_t>(plan_.bags, 1) * plan_.features;
    switch (plan_.pass) {
      case BagPass::kSums:
        each(plan_.bags, bag, [&](int64_t b, int64_t end, T* buffer) {
          for (; b < end; ++b) sum(b, buffer);
        });
        break;
      case BagPass::kMaxima:
        each(plan_.bags, bag, [&](int64_t b, int64_t end, T* buffer) {
          for (; b < end; ++b) maximum(b, buffer);
        });
        break;
      case BagPass::kFactors:
        each(plan_.bags, bag, [&](int64_t b, int64_t end, T* buffer) {
          for (; b < end; ++b) products(b, buffer);
        });
        break;
      default:
        return spread();
    }
    return ok.load(std::memory_order_relaxed)
               ? kernel::kOk
               : failure(Code::kOutOfMemory, "expected memory for a row in float32, got none");
  }

 private:
  // The indices of a bag. A start may lie behind the last index.
  [[nodiscard]] int64_t begin(int64_t bag) const {
    if (bag == plan_.bags) return plan_.indices;
    return plan_.starts == nullptr ? plan_.indices / plan_.bags * bag
                                   : std::min(plan_.starts[bag], plan_.indices);
  }
  [[nodiscard]] bool counts(int64_t i) const { return plan_.index[i] != plan_.skipped; }
  [[nodiscard]] const T* row(int64_t i, T* buffer) const {
    return widen_.read(plan_.features, table_ + plan_.index[i] * plan_.features, buffer);
  }
  // How many indices of the bag count, at least 1; 1 for sums.
  [[nodiscard]] T divisor(int64_t bag) const {
    if (plan_.mean == 0) return 1;
    int64_t count = 0;
    for (int64_t i = begin(bag); i < begin(bag + 1); ++i) count += counts(i) ? 1 : 0;
    return static_cast<T>(std::max<int64_t>(count, 1));
  }

  void sum(int64_t bag, T* buffer) const {
    const int64_t first = begin(bag);
    const int64_t last = begin(bag + 1);
    T* to = sums_ + bag * plan_.features;
    if constexpr (kIsShort<S>) {
      std::fill_n(to, plan_.features, T{0});
      for (int64_t i = first; i < last; ++i) {
        if (counts(i))
          rows_.add(plan_.features, factors_ == nullptr ? T{1} : factors_[i], row(i, buffer), to);
      }
    } else {
      rows_.sum(plan_.features, last - first, plan_.index + first, plan_.skipped,
                factors_ == nullptr ? nullptr : factors_ + first, table_, to);
    }
    const T count = divisor(bag);
    if (count == 1) return;
    for (int64_t f = 0; f < plan_.features; ++f) to[f] /= count;
  }

  void maximum(int64_t bag, T* buffer) const {
    T* to = sums_ + bag * plan_.features;
    int64_t* chosen = plan_.chosen + bag * plan_.features;
    std::fill_n(to, plan_.features, T{0});
    std::fill_n(chosen, plan_.features, int64_t{-1});
    bool empty = true;
    for (int64_t i = begin(bag); i < begin(bag + 1); ++i) {
      if (!counts(i)) continue;
      if (empty) {
        std::copy_n(row(i, buffer), plan_.features, to);
        std::fill_n(chosen, plan_.features, plan_.index[i]);
        empty = false;
      } else {
        rows_.raise(plan_.features, plan_.index[i], row(i, buffer), to, chosen);
      }
    }
  }

  void products(int64_t bag, T* buffer) const {
    const T* g = sums_ + bag * plan_.features;
    for (int64_t i = begin(bag); i < begin(bag + 1); ++i)
      factors_[i] = counts(i) ? rows_.dot(plan_.features, row(i, buffer), g) : T{0};
  }

  // Every thread goes through all indices and adds to its own rows of the table.
  Status spread() const {
    if constexpr (kIsShort<S>) {
      return failure(Code::kDType, "bag: expected a table of float32 or float64 to write");
    } else {
      const int64_t cost = plan_.features * (1 + plan_.indices / std::max<int64_t>(plan_.rows, 1));
      parallel_for(
          plan_.rows, std::max<int64_t>(1, kGrain / (cost + 1)), [&](int64_t low, int64_t high) {
            std::fill_n(table_ + low * plan_.features, (high - low) * plan_.features, T{0});
            for (int64_t bag = 0; bag < plan_.bags; ++bag) spread(bag, low, high);
          });
      return kernel::kOk;
    }
  }
  void spread(int64_t bag, int64_t low, int64_t high) const {
    const T share = T{1} / divisor(bag);
    const T* from = sums_ + bag * plan_.features;
    for (int64_t i = begin(bag); i < begin(bag + 1); ++i) {
      const int64_t at = plan_.index[i];
      if (at < low || at >= high || !counts(i)) continue;
      rows_.add(plan_.features, factors_ == nullptr ? share : factors_[i] * share, from,
                table_ + at * plan_.features);
    }
  }

  const BagPlan& plan_;
  const BagRows<T>& rows_;
  Widen<S> widen_;
  S* table_;
  T* factors_;
  T* sums_;
};

}  // namespace

Status bag(const BagPlan& plan) {
  if (const Status status = check_index(plan); status != kernel::kOk) return status;
  if (const Status status = check_starts(plan); status != kernel::kOk) return status;
  return visit_storage(plan.dtype, "expected a floating dtype for bags",
                       [&]<class S>() { return Bags<S>(plan).run(); });
}

}  // namespace tsr::cpu
