// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Another thread may write an argument while an op runs. The result may then be any, but the op
// stays inside its memory: no number that it has checked is read again where it matters. Here the
// write happens when the op allocates, so that every run has it at the same place.
#include <functional>

#include "base/trace.h"
#include "ops/create/create.h"
#include "ops/index/search.h"
#include "ops/reduce/quantile.h"
#include "ops/shape/arrange.h"
#include "tests/ops/prelude.h"

namespace tsr::test_changing_arguments {
namespace {

// Calls `change` at each allocation of so many bytes while it lives. Only one may exist at a time.
class OnAllocation {
 public:
  OnAllocation(int64_t nbytes, std::function<void()> change) {
    nbytes_ = nbytes;
    change_ = std::move(change);
    calls_ = 0;
    set_trace_hook(TraceListener::kTests, note, static_cast<uint32_t>(TraceKind::kAllocate));
  }
  OnAllocation(const OnAllocation&) = delete;
  OnAllocation& operator=(const OnAllocation&) = delete;
  ~OnAllocation() { set_trace_hook(TraceListener::kTests, nullptr, 0); }
  [[nodiscard]] static int calls() { return calls_; }

 private:
  static void note(const TraceEvent& event, void**) noexcept {
    if (event.value != nbytes_) return;
    ++calls_;
    change_();
  }
  static inline int64_t nbytes_;
  static inline std::function<void()> change_;
  static inline int calls_;
};

TEST(ChangingArguments, repeat_counts_are_read_once) {
  const Tensor x = f64(Dims{3}, {1, 2, 3});
  const Tensor counts = i64(Dims{3}, {1, 100, 2});
  const OnAllocation guard(103 * 8, [&] { counts.data_as<int64_t>()[0] = 1 << 20; });
  const Numbers found = values(ops::repeat(x, counts, 0));
  EXPECT_GT(OnAllocation::calls(), 0);
  ASSERT_EQ(found.size(), 103U);
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(found[100], 2);
  EXPECT_EQ(found[102], 3);
}

TEST(ChangingArguments, searchsorted_reads_the_sorter_that_it_has_checked) {
  const Tensor sorted = f64(Dims{3}, {30, 10, 20});
  const Tensor sorter = i64(Dims{3}, {1, 2, 0});
  const Tensor wanted = ops::full(Dims{101}, 15, DType::kFloat64);
  const OnAllocation guard(101 * 8, [&] { sorter.data_as<int64_t>()[1] = int64_t{1} << 45; });
  const Numbers found = values(ops::searchsorted(sorted, wanted, "left", sorter));
  EXPECT_GT(OnAllocation::calls(), 0);
  EXPECT_EQ(found, Numbers(101, 1));
}

TEST(ChangingArguments, quantile_limits_its_ranks) {
  const Tensor x = ops::arange(0, 101, 1, DType::kFloat64);
  const Tensor q = f64(Dims{1}, {0.5});
  // The mask of what is NaN is made after q has been checked.
  const OnAllocation guard(101, [&] { *q.data_as<double>() = 1e12; });
  const Tensor found = ops::quantile(x, q, {}, false, "higher");
  EXPECT_GT(OnAllocation::calls(), 0);
  EXPECT_EQ(values(found), Numbers{100});
}

}  // namespace
}  // namespace tsr::test_changing_arguments
