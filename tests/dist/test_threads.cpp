// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups of threads: every collective, mismatches, time limits, ranks that leave, parts of groups.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <thread>

#include "dist/collective_checks.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "support/simulated_device.h"
#include "support/start_up.h"

extern "C" const tsr::kernel::Backend* tsr_backend_entry(const tsr::kernel::HostServices* services);

namespace tsr::dist::test_threads {
namespace {

class Threads : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    tsr::testing::start_up();
    kernel::register_backend(tsr_backend_entry);
  }
};

// Runs body(group) on one thread for each rank.
template <class Body>
void on_ranks(int32_t size, Body&& body, double timeout = 60) {
  auto groups = Group::threads(size, timeout);
  std::vector<std::thread> threads;
  for (GroupPtr& group : groups) {
    threads.emplace_back([&body, mine = std::move(group)]() mutable { body(*mine); });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class Body>
Error error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::kOk, nullptr, "no error");
}

bool has(const Error& error, const char* text) {
  return error.message().find(text) != std::string::npos;
}

class Sizes : public ::testing::TestWithParam<int32_t> {
 protected:
  static void SetUpTestSuite() { tsr::testing::start_up(); }
};

TEST_P(Sizes, D9_every_collective_equals_the_plain_computation) {
  std::vector<std::string> problems(static_cast<size_t>(GetParam()));
  on_ranks(GetParam(), [&](Group& group) {
    problems[static_cast<size_t>(group.rank())] = CollectiveChecks(group).run();
  });
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}
INSTANTIATE_TEST_SUITE_P(Ranks, Sizes, ::testing::Values(1, 2, 3, 4));

TEST_F(Threads, D9_ranks_that_ask_for_different_things_get_a_typed_error) {
  std::vector<Error> errors(9, Error(Code::kOk, nullptr, ""));
  on_ranks(3, [&](Group& group) {
    const auto at = static_cast<size_t>(group.rank());
    const Tensor odd = empty(Dims{group.rank() == 1 ? 3 : 2}, DType::kFloat32);
    errors[at] = error_of([&] { group.all_reduce(odd, ReduceOp::kSum)->wait(); });
    const Tensor typed = empty(Dims{2}, group.rank() == 2 ? DType::kInt32 : DType::kFloat32);
    errors[3 + at] = error_of([&] { group.broadcast(typed, 0)->wait(); });
    const Tensor same = empty(Dims{2}, DType::kFloat32);
    errors[6 + at] = error_of([&] {
      (group.rank() == 1 ? group.all_reduce(same, ReduceOp::kMax) : group.broadcast(same, 0))
          ->wait();
    });
    // The group goes on.
    const Tensor data = filled(2, DType::kFloat32, [](int64_t) { return 1; });
    group.all_reduce(data, ReduceOp::kSum)->wait();
    EXPECT_EQ(get_value(data, 0), 3);
  });
  for (size_t i = 0; i < 9; ++i) {
    const Code codes[] = {Code::kShape, Code::kDType, Code::kValue};
    EXPECT_EQ(errors[i].code(), codes[i / 3]) << errors[i].what();
  }
  EXPECT_TRUE(has(errors[0], "2 float32 (sum) on rank 0")) << errors[0].what();
  EXPECT_TRUE(has(errors[0], "3 float32 (sum) on rank 1")) << errors[0].what();
}

TEST_F(Threads, D9_arguments_are_checked_before_anything_is_sent) {
  on_ranks(2, [&](Group& group) {
    const Tensor reals = empty(Dims{3}, DType::kComplex64), whole = empty(Dims{3}, DType::kInt32);
    EXPECT_EQ(error_of([&] { group.all_reduce(reals, ReduceOp::kMax); }).code(), Code::kDType);
    EXPECT_EQ(error_of([&] { group.all_reduce(whole, ReduceOp::kAvg); }).code(), Code::kDType);
    EXPECT_EQ(error_of([&] { group.broadcast(whole, 2); }).code(), Code::kIndex);
    EXPECT_EQ(error_of([&] { group.all_gather(whole, whole); }).code(), Code::kShape);
    EXPECT_EQ(error_of([&] { group.all_to_all(whole, whole); }).code(), Code::kShape);
    EXPECT_EQ(error_of([&] { group.scatter(whole, {}, group.rank()); }).code(), Code::kValue);
    EXPECT_EQ(error_of([&] { group.send(whole, 0, -1); }).code(), Code::kValue);
    const Tensor spread = make_view(whole, Dims{3}, Dims{0}, 0);
    EXPECT_EQ(error_of([&] { group.all_reduce(spread, ReduceOp::kSum); }).code(), Code::kValue);
  });
}

TEST_F(Threads, D9_a_rank_that_does_not_come_ends_the_others_within_the_timeout) {
  on_ranks(
      3,
      [&](Group& group) {
        const Tensor data = empty(Dims{2}, DType::kFloat32);
        if (group.rank() == 1) {
          // Comes only when the others have given up.
          while (!group.aborted()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          const Error late = error_of([&] { group.all_reduce(data, ReduceOp::kSum); });
          EXPECT_EQ(late.code(), Code::kCancelled);
          return;
        }
        const Error error = error_of([&] { group.all_reduce(data, ReduceOp::kSum)->wait(); });
        EXPECT_EQ(error.code(), Code::kCancelled);
        EXPECT_TRUE(has(error, "these did not come: 1")) << error.what();
        EXPECT_TRUE(has(error, "0.3 s")) << error.what();
      },
      0.3);
}

TEST_F(Threads, D9_a_split_waits_no_longer_than_the_timeout_of_the_group) {
  on_ranks(
      2,
      [&](Group& group) {
        if (group.rank() == 1) {
          while (!group.aborted()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          return;
        }
        const Error error = error_of([&] { static_cast<void>(group.split(0, 0)); });
        EXPECT_EQ(error.code(), Code::kCancelled);
        EXPECT_TRUE(has(error, "these did not come: 1")) << error.what();
      },
      0.3);
}

TEST_F(Threads, D9_a_wait_for_a_time_that_is_no_number_ends_at_once) {
  on_ranks(2, [&](Group& group) {
    if (group.rank() == 1) {
      while (!group.aborted()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    const Tensor data = empty(Dims{2}, DType::kFloat32);
    const WorkPtr work = group.recv(data, 1);
    const Error error = error_of([&] { work->wait(std::nan("")); });
    EXPECT_EQ(error.code(), Code::kCancelled) << error.what();
  });
}

TEST_F(Threads, a_start_that_fails_on_every_rank_is_an_error) {
  EXPECT_EQ(error_of([] { Group::threads(3, -1); }).code(), Code::kValue);
  EXPECT_EQ(error_of([] { Group::threads(0); }).code(), Code::kValue);
}

TEST_F(Threads, D9_integers_wrap_around) {
  on_ranks(2, [&](Group& group) {
    const Tensor sum = empty(Dims{1}, DType::kInt32), product = empty(Dims{1}, DType::kUInt16);
    const Tensor wide = empty(Dims{1}, DType::kInt64), small = empty(Dims{1}, DType::kInt8);
    *sum.data_as<int32_t>() = INT32_MAX;
    *product.data_as<uint16_t>() = UINT16_MAX;
    *wide.data_as<int64_t>() = INT64_MIN;
    *small.data_as<int8_t>() = -128;
    group.all_reduce(sum, ReduceOp::kSum)->wait();
    group.all_reduce(product, ReduceOp::kProd)->wait();
    group.all_reduce(wide, ReduceOp::kSum)->wait();
    group.all_reduce(small, ReduceOp::kProd)->wait();
    EXPECT_EQ(*sum.data_as<int32_t>(), -2);
    EXPECT_EQ(*product.data_as<uint16_t>(), 1);
    EXPECT_EQ(*wide.data_as<int64_t>(), 0);
    EXPECT_EQ(*small.data_as<int8_t>(), 0);
  });
}

TEST_F(Threads, D9_only_a_receive_has_a_source) {
  on_ranks(2, [&](Group& group) {
    const Tensor data = filled(2, DType::kFloat32, [](int64_t) { return 1; });
    const bool sends = group.rank() == 1;
    const WorkPtr work = sends ? group.send(data, 0) : group.recv(data, std::nullopt);
    work->wait();
    EXPECT_EQ(work->source(), sends ? -1 : 1);
    const WorkPtr all = group.all_reduce(data, ReduceOp::kSum);
    all->wait();
    EXPECT_EQ(all->source(), -1);
  });
}

// The number of elements of all ranks together, here 2^64, is no int64_t.
TEST_F(Threads, D9_sizes_of_all_ranks_that_overflow_are_refused) {
  on_ranks(4, [&](Group& group) {
    const Tensor one = empty(Dims{1}, DType::kUInt8), none = empty(Dims{0}, DType::kUInt8);
    const Tensor huge = make_view(one, Dims{int64_t{1} << 62}, Dims{0}, 0);
    EXPECT_EQ(error_of([&] { group.all_gather(none, huge); }).code(), Code::kShape);
    EXPECT_EQ(error_of([&] { group.reduce_scatter(huge, none, ReduceOp::kSum); }).code(),
              Code::kShape);
  });
}

TEST_F(Threads, D9_a_rank_that_leaves_ends_the_others_at_once) {
  on_ranks(2, [&](Group& group) {
    if (group.rank() == 1) return;
    const Error error = error_of([&] { group.barrier()->wait(); });
    EXPECT_EQ(error.code(), Code::kCancelled);
    EXPECT_TRUE(has(error, "rank 1 has left the group")) << error.what();
  });
}

TEST_F(Threads, an_aborted_group_fails_with_the_first_reason) {
  on_ranks(2, [&](Group& group) {
    const Tensor data = empty(Dims{2}, DType::kFloat32);
    if (group.rank() == 0) group.abort("the user stopped it");
    const Error error = error_of([&] { group.recv(data, 1 - group.rank())->wait(); });
    EXPECT_EQ(error.code(), Code::kCancelled);
    EXPECT_TRUE(has(error, "the user stopped it")) << error.what();
    EXPECT_TRUE(group.aborted());
  });
}

TEST_F(Threads, D9_groups_split_by_color_and_order_by_key) {
  on_ranks(4, [&](Group& group) {
    const int32_t color = group.rank() == 3 ? -1 : group.rank() % 2;
    const GroupPtr part = group.split(color, -group.rank());
    ASSERT_EQ(static_cast<bool>(part), group.rank() != 3);
    if (!part) return;
    const int32_t even = group.rank() % 2 == 0 ? 1 : 0;
    EXPECT_EQ(part->size(), even == 1 ? 2 : 1);
    EXPECT_EQ(part->rank(), group.rank() == 0 ? 1 : 0);
    EXPECT_EQ(part->ranks()[0], even == 1 ? 2 : 1);
    const Tensor sum = filled(1, DType::kInt32, [&](int64_t) { return group.rank() + 1; });
    part->all_reduce(sum, ReduceOp::kSum)->wait();
    EXPECT_EQ(get_value(sum, 0), even == 1 ? 4 : 2);
  });
}

TEST_F(Threads, D9_tensors_of_a_device_travel_through_the_host) {
  on_ranks(2, [&](Group& group) {
    const Device device{DeviceType::kSimulated, 0};
    const Tensor data = empty(Dims{3}, DType::kFloat32, device);
    ops::fill_(data, Scalar(1.0 + group.rank()));
    group.all_reduce(data, ReduceOp::kSum)->wait();
    EXPECT_EQ(get_value(ops::to(data, Device{}, {}), 2), 3);
  });
}

TEST_F(Threads, messages_of_other_lengths_get_a_typed_error_on_both_sides) {
  on_ranks(2, [&](Group& group) {
    const Tensor data = empty(Dims{2 + group.rank()}, DType::kFloat32);
    const Error error =
        error_of([&] { (group.rank() == 0 ? group.send(data, 1) : group.recv(data, 0))->wait(); });
    EXPECT_EQ(error.code(), Code::kShape) << error.what();
  });
}

TEST_F(Threads, an_operation_may_be_dropped_while_it_runs) {
  on_ranks(2, [&](Group& group) {
    const Tensor data = filled(4, DType::kFloat32, [](int64_t) { return 1; });
    { const WorkPtr dropped = group.all_reduce(data, ReduceOp::kSum); }
    group.barrier()->wait();
    EXPECT_EQ(get_value(data, 3), 2);
  });
}

TEST_F(Threads, D9_a_list_ends_as_a_whole_also_when_one_part_fails) {
  on_ranks(2, [&](Group& group) {
    // Of two dtypes: two operations of the transport.
    const std::vector<Tensor> list{empty(Dims{2 + group.rank()}, DType::kFloat32),
                                   filled(2, DType::kInt64, [](int64_t) { return 1; })};
    const WorkPtr work = group.all_reduce(list, ReduceOp::kSum);
    EXPECT_EQ(error_of([&] { work->wait(); }).code(), Code::kShape);
    EXPECT_EQ(get_value(list[1], 1), 2);
    EXPECT_EQ(error_of([&] { work->wait(); }).code(), Code::kShape);
  });
}

TEST_F(Threads, D9_a_list_that_cannot_be_reduced_starts_nothing) {
  on_ranks(2, [&](Group& group) {
    const Tensor whole = filled(2, DType::kFloat32, [](int64_t) { return 1; });
    const Tensor flags = empty(Dims{3}, DType::kInt64);
    const std::vector<Tensor> list{whole, make_view(flags, Dims{3}, Dims{0}, 0)};
    EXPECT_EQ(error_of([&] { group.all_reduce(list, ReduceOp::kSum); }).code(), Code::kValue);
    EXPECT_EQ(error_of([&] { group.broadcast(list, 1 - group.rank()); }).code(), Code::kValue);
    group.barrier()->wait();
    EXPECT_EQ(get_value(whole, 0), 1);
  });
}

TEST_F(Threads, D9_an_operation_that_is_dropped_goes_on_after_its_group_is_gone) {
  Tensor sums[2];
  on_ranks(2, [&](Group& group) {
    const Tensor sum = filled(4, DType::kFloat32, [](int64_t) { return 1; });
    sums[group.rank()] = sum;
    static_cast<void>(group.all_reduce(sum, ReduceOp::kSum));
  });
  EXPECT_EQ(get_value(sums[0], 3), 2);
  EXPECT_EQ(get_value(sums[1], 3), 2);
}

TEST_F(Threads, D9_tensors_without_elements_travel) {
  on_ranks(2, [&](Group& group) {
    const Tensor none = empty(Dims{0, 3}, DType::kFloat32), also = empty(Dims{0}, DType::kInt64);
    const std::vector<Tensor> list{none, also, filled(1, DType::kInt64, [](int64_t) { return 1; })};
    group.all_reduce(list, ReduceOp::kMax)->wait();
    group.broadcast(none, 1)->wait();
    group.all_gather(none, none)->wait();
    group.reduce_scatter(none, none, ReduceOp::kAvg)->wait();
    group.all_to_all(none, none)->wait();
    (group.rank() == 0 ? group.send(none, 1) : group.recv(none, 0))->wait();
    EXPECT_EQ(get_value(list[2], 0), 1);
  });
}

TEST_F(Threads, a_write_raises_the_version) {
  on_ranks(1, [&](Group& group) {
    const Tensor data = filled(4, DType::kFloat32, [](int64_t) { return 1; });
    const uint32_t before = data.version();
    group.all_reduce(data, ReduceOp::kSum)->wait();
    EXPECT_GT(data.version(), before);
  });
}

TEST_F(Threads, a_group_refuses_what_cannot_be_one) {
  const auto init = [](const char* backend, int32_t rank, int32_t size, double timeout = 0.05) {
    GroupOptions options;
    options.rank = rank;
    options.size = size;
    options.timeout = timeout;
    options.address = "test-init";
    return error_of([&] { Group::init(backend, options); });
  };
  EXPECT_EQ(init("threads", 2, 2).code(), Code::kValue);
  EXPECT_EQ(init("threads", 0, -1).code(), Code::kValue);
  EXPECT_EQ(init("threads", 0, 1, -1).code(), Code::kValue);
  EXPECT_EQ(init("../x", 0, 1).code(), Code::kValue);
  const Error missing = init("nothing", 0, 1);
  EXPECT_EQ(missing.code(), Code::kIo);
  EXPECT_TRUE(has(missing, "libtessera_nothing.so is in none of")) << missing.what();
  const Error alone = init("threads", 0, 2);
  EXPECT_EQ(alone.code(), Code::kCancelled);
  EXPECT_TRUE(has(alone, "of 2 ranks only 1 came within 0.05 s")) << alone.what();
  EXPECT_EQ(init("threads", 0, 1).code(), Code::kOk);  // the name is free again
}

}  // namespace
}  // namespace tsr::dist::test_threads
