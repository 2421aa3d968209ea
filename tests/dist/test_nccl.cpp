// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The NCCL plugin over a stand-in for NCCL, whose ranks are threads and whose memory is the host's.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "dist/collectives.h"
#include "dist/nccl/api.h"
#include "dist/signature.h"
#include "dist/transports.h"
#include "kernel/plugin.h"
#include "ops/create/copy.h"
#include "support/start_up.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>
constexpr bool same(int theirs, int ours) {
  return theirs == ours;
}
static_assert(sizeof(ncclUniqueId) == sizeof(tsr::dist::nccl::UniqueId));
static_assert(ncclSuccess == 0 && ncclInProgress == tsr::dist::nccl::kInProgress);
static_assert(same(ncclUnhandledCudaError, tsr::dist::nccl::kUnhandledCudaError));
static_assert(same(ncclInt8, tsr::dist::nccl::kInt8));
static_assert(same(ncclUint64, tsr::dist::nccl::kUint64));
static_assert(same(ncclFloat16, tsr::dist::nccl::kFloat16));
static_assert(same(ncclFloat64, tsr::dist::nccl::kFloat64));
static_assert(same(ncclBfloat16, tsr::dist::nccl::kBfloat16));
static_assert(same(ncclSum, tsr::dist::nccl::kSum) && same(ncclAvg, tsr::dist::nccl::kAvg));
static_assert(same(ncclProd, tsr::dist::nccl::kProd) && same(ncclMax, tsr::dist::nccl::kMax));
static_assert(same(ncclMin, tsr::dist::nccl::kMin) && NCCL_SPLIT_NOCOLOR == -1);
#endif

namespace tsr::dist::test_nccl {
namespace {

using Values = std::vector<float>;
constexpr int32_t kRanks = 3;
const Device kDevice{DeviceType::kCuda, 0};

// The file of a plugin; ctest sets the variables.
const char* place(const char* variable) {
  const char* file = std::getenv(variable);
  if (file == nullptr) throw std::runtime_error(std::string("ctest sets ") + variable);
  return file;
}

Buffer buffer(Values& values) {
  return {values.data(), static_cast<int64_t>(values.size()), DType::kFloat32, kDevice, nullptr};
}

// Runs body(table, context, rank) on one thread for each rank.
template <class Body>
void on_ranks(const Body& body) {
  setenv("TESSERA_NCCL", place("TSR_NCCL_ON_HOST"), 1);
  const Table& table = load_transport(place("TSR_NCCL_PLUGIN"));
  const std::string path = ::testing::TempDir() + "tessera_nccl_" + std::to_string(getpid());
  unlink(path.c_str());
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      InitOptions options;
      options.rank = rank;
      options.size = kRanks;
      options.timeout_seconds = 30;
      options.address = path.c_str();
      options.device = kDevice;
      ContextHandle context = nullptr;
      Failure failure;
      ASSERT_EQ(table.init(&options, &context, &failure), kOk) << failure.text;
      body(table, context, rank);
      table.destroy(context);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(std::filesystem::exists(path));
}

template <class Entry, class... Args>
void run(const Table& table, ContextHandle context, Entry entry, Args... args) {
  WorkHandle work = nullptr;
  Failure failure;
  ASSERT_EQ(entry(context, args..., &work, &failure), kOk) << failure.text;
  EXPECT_EQ(table.wait(context, work, 30, &failure), kOk) << failure.text;
  table.release(context, work);
}

TEST(Nccl, D9_collectives_reach_nccl_with_its_types_and_places) {
  on_ranks([](const Table& table, ContextHandle context, int32_t rank) {
    EXPECT_EQ(table.rank(context), rank);
    EXPECT_EQ(table.size(context), kRanks);
    const auto mine = static_cast<float>(rank);
    Values sum{mine, 1}, mean{mine, 6}, least{mine, mine}, sent{mine, mine + 10, mine + 20};
    run(table, context, table.all_reduce, buffer(sum), ReduceOp::kSum);
    EXPECT_EQ(sum, (Values{3, 3}));
    run(table, context, table.all_reduce, buffer(mean), ReduceOp::kAvg);
    EXPECT_EQ(mean, (Values{1, 6}));
    run(table, context, table.reduce, buffer(least), ReduceOp::kMin, 2);
    EXPECT_EQ(least, (Values{rank == 2 ? 0 : mine, rank == 2 ? 0 : mine}));
    Values copy{mine};
    run(table, context, table.broadcast, buffer(copy), 1);
    EXPECT_EQ(copy, Values{1});
    Values all(3), part(1), own{mine};
    run(table, context, table.all_gather, buffer(own), buffer(all));
    EXPECT_EQ(all, (Values{0, 1, 2}));
    run(table, context, table.reduce_scatter, buffer(sent), buffer(part), ReduceOp::kSum);
    EXPECT_EQ(part, Values{3 + 30 * mine});
    const int64_t ones[kRanks] = {1, 1, 1};
    run(table, context, table.all_to_all, buffer(sent), &ones[0], buffer(all), &ones[0]);
    EXPECT_EQ(all, (Values{10 * mine, 10 * mine + 1, 10 * mine + 2}));
    all.assign(3, -1);
    run(table, context, table.gather, buffer(own), buffer(all), 1);
    EXPECT_EQ(all, rank == 1 ? (Values{0, 1, 2}) : (Values{-1, -1, -1}));
    run(table, context, table.scatter, buffer(sent), buffer(part), 1);
    EXPECT_EQ(part, Values{1 + 10 * mine});
    run(table, context, table.barrier, buffer(own));
  });
}

TEST(Nccl, D9_flags_and_complex_numbers_are_what_nccl_can_reduce) {
  on_ranks([](const Table& table, ContextHandle context, int32_t rank) {
    uint8_t flags[2] = {rank == 1, 0};
    const Buffer of_bool{flags, 2, DType::kBool, kDevice, nullptr};
    run(table, context, table.all_reduce, of_bool, ReduceOp::kSum);
    EXPECT_TRUE(flags[0] == 1 && flags[1] == 0);
    float pair[2] = {1, static_cast<float>(rank)};
    const Buffer of_complex{pair, 1, DType::kComplex64, kDevice, nullptr};
    run(table, context, table.all_reduce, of_complex, ReduceOp::kSum);
    EXPECT_TRUE(pair[0] == 3 && pair[1] == 3);
    WorkHandle work = nullptr;
    Failure failure;
    const auto missing = static_cast<Status>(Code::kNotImplemented);
    EXPECT_EQ(table.all_reduce(context, of_complex, ReduceOp::kProd, &work, &failure), missing);
    EXPECT_STREQ(failure.text, "NCCL has no 'prod' of complex64");
    EXPECT_EQ(table.recv(context, of_complex, kAnySource, 0, &work, &failure), missing);
    EXPECT_EQ(table.send(context, of_complex, 0, 4, &work, &failure), missing);
  });
}

// The thread is the user's, who may use another device.
TEST(Nccl, D9_the_current_device_of_the_thread_stays_what_it_was) {
  setenv("TESSERA_NCCL", place("TSR_NCCL_ON_HOST"), 1);
  const Table& table = load_transport(place("TSR_NCCL_PLUGIN"));
  void* const runtime = dlopen(place("TSR_NCCL_ON_HOST"), RTLD_NOW);
  ASSERT_NE(runtime, nullptr);
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaGetDevice"));
  const auto set = reinterpret_cast<int (*)(int)>(dlsym(runtime, "cudaSetDevice"));
  ASSERT_EQ(set(2), 0);
  InitOptions options;
  options.rank = 0;
  options.size = 1;
  options.timeout_seconds = 30;
  options.device = {DeviceType::kCuda, 9};
  ContextHandle context = nullptr;
  Failure failure;
  EXPECT_EQ(table.init(&options, &context, &failure), static_cast<Status>(Code::kBackend));
  EXPECT_EQ(failure.native_code, 101) << failure.text;
  options.device.index = 1;
  ASSERT_EQ(table.init(&options, &context, &failure), kOk) << failure.text;
  Values data{3};
  run(table, context, table.all_reduce, buffer(data), ReduceOp::kSum);
  ContextHandle part = nullptr;
  ASSERT_EQ(table.split(context, 0, 0, &part, &failure), kOk) << failure.text;
  int now = -1;
  ASSERT_EQ(get(&now), 0);
  EXPECT_EQ(now, 2);
  table.destroy(part);
  table.destroy(context);
  EXPECT_EQ(set(0), 0);
}

TEST(Nccl, D9_parts_and_aborted_groups) {
  on_ranks([](const Table& table, ContextHandle context, int32_t rank) {
    ContextHandle part = nullptr;
    Failure failure;
    ASSERT_EQ(table.split(context, rank == 1 ? -1 : 5, -rank, &part, &failure), kOk);
    ASSERT_EQ(part == nullptr, rank == 1);
    if (part == nullptr) return;
    EXPECT_EQ(table.size(part), 2);
    EXPECT_EQ(table.rank(part), rank == 0 ? 1 : 0);
    Values sum{1};
    run(table, part, table.all_reduce, buffer(sum), ReduceOp::kSum);
    EXPECT_EQ(sum, Values{2});
    EXPECT_EQ(table.abort(part, "the user stopped it", &failure), 0);
    WorkHandle work = nullptr;
    EXPECT_EQ(table.all_reduce(part, buffer(sum), ReduceOp::kSum, &work, &failure),
              static_cast<Status>(Code::kCancelled));
    EXPECT_STREQ(failure.text, "the user stopped it");
    table.destroy(part);
  });
}

// The other rank comes when nobody waits any more, which also ends the thread that was left behind.
TEST(Nccl, D9_a_rank_that_does_not_come_ends_the_others_within_the_timeout) {
  setenv("TESSERA_NCCL", place("TSR_NCCL_ON_HOST"), 1);
  const Table& table = load_transport(place("TSR_NCCL_PLUGIN"));
  const std::string path = ::testing::TempDir() + "tessera_nccl_late_" + std::to_string(getpid());
  unlink(path.c_str());
  InitOptions options;
  options.rank = 0;
  options.size = 2;
  options.timeout_seconds = 0.1;
  options.address = path.c_str();
  options.device = kDevice;
  ContextHandle context = nullptr;
  Failure failure;
  EXPECT_EQ(table.init(&options, &context, &failure), static_cast<Status>(Code::kCancelled));
  EXPECT_STREQ(failure.text, "expected all 2 ranks of the group in time, got fewer on rank 0");
  options.rank = 1;
  options.timeout_seconds = 30;
  ASSERT_EQ(table.init(&options, &context, &failure), kOk) << failure.text;
  table.destroy(context);
  unlink(path.c_str());
}

#ifdef TSR_HAVE_CUDA_ON_HOST

// The whole way: tensors of the stand-in for CUDA, a stream of the group, events.
TEST(Nccl, D9_tensors_of_a_device_travel_on_a_stream_of_the_group) {
  setenv("TESSERA_NCCL", place("TSR_NCCL_ON_HOST"), 1);
  setenv("TESSERA_PLUGIN_PATH",
         std::filesystem::path(place("TSR_NCCL_PLUGIN")).parent_path().c_str(), 1);
  setenv("TESSERA_NCCL_COPIES", "1", 1);
  tsr::testing::start_up();
  kernel::load_backend(place("TSR_CUDA_ON_HOST"));
  const std::string path = ::testing::TempDir() + "tessera_nccl_group_" + std::to_string(getpid());
  unlink(path.c_str());
  const auto run_rank = [&path](int32_t rank) {
    GroupOptions options;
    options.rank = rank;
    options.size = kRanks;
    options.timeout = 30;
    options.address = path;
    options.device = kDevice;
    const GroupPtr group = Group::init("nccl", options);
    const auto on_device = [](float a, float b) {
      const Tensor host = empty(Dims{2}, DType::kFloat32);
      host.data_as<float>()[0] = a;
      host.data_as<float>()[1] = b;
      return ops::to(host, kDevice, {});
    };
    const auto expect = [](const Tensor& tensor, float a, float b) {
      const Tensor host = ops::to(tensor, Device{}, {});
      EXPECT_EQ(host.data_as<float>()[0], a);
      EXPECT_EQ(host.data_as<float>()[1], b);
    };
    const auto mine = static_cast<float>(rank);
    const Tensor sum = on_device(mine, 1), gaps = empty(Dims{2, 2}, DType::kFloat32, kDevice);
    ops::fill_(gaps, Scalar(1.0 * rank));
    const Tensor column = make_view(gaps, Dims{2}, Dims{2}, 0);
    const std::vector<Tensor> both{sum, column};
    const WorkPtr work = group->all_reduce(both, ReduceOp::kSum);
    work->wait();
    EXPECT_TRUE(work->done());
    expect(sum, 3, 3);
    expect(column, 3, 3);
    const Tensor first = on_device(9, 9), second = on_device(9, 9), third = on_device(9, 9);
    const std::vector<Tensor> all{first, second, third};
    group->all_gather(all, on_device(mine, 7))->wait(30.0);
    expect(second, 1, 7);
    expect(third, 2, 7);
    group->barrier()->wait();
    const GroupPtr part = group->split(rank == 1 ? -1 : 0, 0);
    ASSERT_EQ(static_cast<bool>(part), rank != 1);
    if (part) {
      EXPECT_EQ(part->ranks()[1], 2);
    }
  };
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < kRanks; ++rank) threads.emplace_back(run_rank, rank);
  for (std::thread& thread : threads) thread.join();
  unlink(path.c_str());
  unsetenv("TESSERA_NCCL_COPIES");
}

#endif

}  // namespace
}  // namespace tsr::dist::test_nccl
