// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The exchange table, used by a library that got the pointer and does not link this library.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/dlpack.h"
#include "capi/example_support.h"

namespace test_exchange {

using namespace tsr::test;

static_assert(offsetof(tsr_exchange_table, struct_size) == 0);
static_assert(offsetof(tsr_exchange_table, from_managed) == 16);
static_assert(sizeof(tsr_exchange_table) == 80, "grows at its end only");

namespace {

const tsr_exchange_table& api() {
  return *tsr_exchange_api();
}

std::string last_op() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  EXPECT_EQ(api().last_error(&view), TSR_OK);
  return {view.op, static_cast<size_t>(view.op_len)};
}

// A DLTensor that describes float32 [2, 3] on the CPU.
struct Prototype {
  int64_t shape[2] = {2, 3};
  DLTensor tensor = {};
  Prototype() {
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape;
  }
};

}  // namespace

TEST(Exchange, every_entry_is_there_and_the_table_is_one) {
  EXPECT_EQ(tsr_exchange_api(), tsr_exchange_api());
  EXPECT_EQ(api().struct_size, sizeof(tsr_exchange_table));
  EXPECT_EQ(api().abi_version, tsr_abi_version());
  EXPECT_EQ(api().dlpack_major, 1U);
  void* entries[8];
  const char* first = reinterpret_cast<const char*>(&api()) + 16;
  static_assert(sizeof(tsr_exchange_table) == 16 + sizeof(entries));
  std::memcpy(entries, first, sizeof(entries));
  for (void* entry : entries) EXPECT_NE(entry, nullptr);
}

TEST(Exchange, tensor_goes_out_and_comes_back_on_the_same_memory) {
  const int64_t before = tsr_live_handles();
  const Tensor tensor(reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4}));
  struct DLManagedTensorVersioned* managed = nullptr;
  ok(api().to_managed(tensor, &managed));
  EXPECT_EQ(managed->version.major, api().dlpack_major);
  EXPECT_EQ(managed->flags, 0U);
  static_cast<float*>(managed->dl_tensor.data)[3] = 40;
  tsr_tensor back = nullptr;
  ok(api().from_managed(managed, &back));
  same(tensor, reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 40}));
  same(back, reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 40}));
  api().retain(back);
  api().release(back);
  EXPECT_EQ(tsr_live_handles(), before + 2);
  api().release(back);
  api().release(nullptr);
  EXPECT_EQ(tsr_live_handles(), before + 1);
}

TEST(Exchange, view_borrows_also_from_a_tensor_that_requires_grad) {
  const Tensor tensor(reals(TSR_FLOAT32, {3}, {1, 2, 3}));
  ok(tsr_tensor_set_requires_grad(tensor, 1));
  DLTensor view = {};
  ok(api().view(tensor, &view));
  EXPECT_EQ(static_cast<const float*>(view.data)[2], 3.0F);
  EXPECT_EQ(view.strides[0], 1);
}

TEST(Exchange, failure_leaves_what_it_was_given_to_the_caller) {
  int deletions = 0;
  DLManagedTensorVersioned managed = {};
  managed.version = {api().dlpack_major + 1, 0};
  managed.manager_ctx = &deletions;
  managed.deleter = [](DLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager_ctx); };
  tsr_tensor out = wrong_kind();
  refused(api().from_managed(&managed, &out), TSR_ABI);
  EXPECT_EQ(out, nullptr);
  managed.version.major = api().dlpack_major;
  managed.dl_tensor.device = {kDLCPU, 0};
  managed.dl_tensor.dtype = {kDLFloat, 4, 1};
  refused(api().from_managed(&managed, &out), TSR_BUFFER);
  managed.dl_tensor.dtype = {kDLFloat, 32, 1};
  refused(api().from_managed(&managed, nullptr), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(deletions, 0);

  const Tensor leaf_tensor(reals(TSR_FLOAT32, {1}, {1}));
  ok(tsr_tensor_set_requires_grad(leaf_tensor, 1));
  auto* exported = &managed;
  refused(api().to_managed(leaf_tensor, &exported), TSR_BUFFER);
  EXPECT_EQ(exported, nullptr);
  refused(api().to_managed(wrong_kind(), &exported), TSR_INVALID_ARGUMENT);
  refused(api().view(leaf_tensor, nullptr), TSR_INVALID_ARGUMENT);
}

TEST(Exchange, allocates_in_the_image_of_a_prototype) {
  Prototype like;
  struct DLManagedTensorVersioned* managed = nullptr;
  ok(api().allocate_like(&like.tensor, &managed));
  const DLTensor& made = managed->dl_tensor;
  EXPECT_EQ(made.ndim, 2);
  EXPECT_EQ(made.shape[1], 3);
  EXPECT_EQ(made.strides[0], 3);
  EXPECT_EQ(made.dtype.bits, 32);
  ASSERT_NE(made.data, nullptr);
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::memcpy(made.data, values.data(), sizeof(float) * values.size());
  Tensor tensor;
  ok(api().from_managed(managed, tensor.slot()));
  same(tensor, reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(Exchange, allocation_refuses_what_it_cannot_hold) {
  Prototype like;
  const auto refuses = [&](auto spoil, tsr_status expected) {
    Prototype spoiled;
    spoil(spoiled.tensor);
    DLManagedTensorVersioned stale = {};
    auto* managed = &stale;
    refused(api().allocate_like(&spoiled.tensor, &managed), expected);
    EXPECT_EQ(managed, nullptr);
    EXPECT_EQ(last_op(), "exchange.allocate_like");
  };
  refuses([](DLTensor& t) { t.dtype.lanes = 2; }, TSR_BUFFER);
  refuses([](DLTensor& t) { t.dtype.code = kDLOpaqueHandle; }, TSR_BUFFER);
  refuses([](DLTensor& t) { t.device.device_type = kDLMetal; }, TSR_BUFFER);
  refuses([](DLTensor& t) { t.ndim = -1; }, TSR_BUFFER);
  refuses([](DLTensor& t) { t.ndim = 65; }, TSR_BUFFER);
  refuses([](DLTensor& t) { t.shape = nullptr; }, TSR_BUFFER);
  static int64_t negative[2] = {2, -3};
  refuses([](DLTensor& t) { t.shape = negative; }, kAnyError);
  static int64_t huge[2] = {std::numeric_limits<int64_t>::max(), 3};
  refuses([](DLTensor& t) { t.shape = huge; }, kAnyError);
  struct DLManagedTensorVersioned* managed = nullptr;
  refused(api().allocate_like(nullptr, &managed), TSR_INVALID_ARGUMENT);
  refused(api().allocate_like(&like.tensor, nullptr), TSR_INVALID_ARGUMENT);
}

TEST(Exchange, cpu_works_on_no_stream) {
  void* stream = &stream;
  ok(api().current_stream(TSR_DEVICE_CPU, 0, &stream));
  EXPECT_EQ(stream, nullptr);
  refused(api().current_stream(TSR_DEVICE_CPU, 7, &stream), TSR_DEVICE);
  refused(api().current_stream(12345, 0, &stream));
  EXPECT_EQ(last_op(), "exchange.current_stream");
  refused(api().current_stream(TSR_DEVICE_CPU, 0, nullptr), TSR_INVALID_ARGUMENT);
}

TEST(Exchange, memory_outlives_the_thread_that_gave_it) {
  struct DLManagedTensorVersioned* managed = nullptr;
  std::thread([&] {
    const Tensor tensor(reals(TSR_FLOAT32, {2}, {5, 6}));
    ok(api().to_managed(tensor, &managed));
  }).join();
  EXPECT_EQ(static_cast<const float*>(managed->dl_tensor.data)[1], 6.0F);
  managed->deleter(managed);
}

}  // namespace test_exchange
