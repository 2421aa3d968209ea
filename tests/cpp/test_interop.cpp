// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DLPack in both directions, through structs that only dlpack.h knows.
#include <dlpack/dlpack.h>

#include <memory>

#include "support.hpp"

namespace test_interop {

using namespace tessera;
using namespace tessera::test;

namespace {

TEST(Interop, dlpack_round_trip_shares_memory) {
  Tensor x = arange(6).reshape({2, 3}).to(kFloat32);
  DLManagedTensor* managed = to_dlpack(x);
  EXPECT_EQ(managed->dl_tensor.ndim, 2);
  EXPECT_EQ(managed->dl_tensor.shape[1], 3);
  EXPECT_EQ(managed->dl_tensor.data, static_cast<const void*>(x.data<float>()));
  Tensor again = from_dlpack(managed);
  again += 1;
  EXPECT_EQ(numbers(x), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(Interop, strides_survive) {
  const Tensor x = arange(6).reshape({2, 3}).matrix_transpose();
  const Tensor again = from_dlpack(to_dlpack(x));
  EXPECT_EQ(again.strides(), (Shape{1, 3}));
  expect_same(again, x);
}

TEST(Interop, versioned_tensors_say_that_they_are_read_only) {
  const Tensor x = ones({2});
  DLManagedTensorVersioned* managed = to_dlpack_versioned(x, TSR_DLPACK_READ_ONLY);
  Tensor again = from_dlpack(managed);
  EXPECT_TRUE(again.is_read_only());
  EXPECT_THROW(again += 1, MemoryAccessError);
  Tensor copy = from_dlpack(to_dlpack_versioned(x, TSR_DLPACK_READ_ONLY), true);
  copy += 1;
  EXPECT_EQ(numbers(x), (Numbers{1, 1}));
}

TEST(Interop, tensors_that_require_grad_say_detach) {
  Tensor x = leaf({1});
  EXPECT_THROW(to_dlpack(x), MemoryAccessError);
  EXPECT_THROW(to_dlpack_versioned(x), MemoryAccessError);
  DLManagedTensor* managed = to_dlpack(x.detach());
  managed->deleter(managed);
}

// A tensor of another library, which counts the calls of its deleter.
struct Foreign {
  DLManagedTensor managed{};
  float data[2] = {1, 2};
  int64_t shape[1] = {2};
  int deleted = 0;

  explicit Foreign(uint8_t bits = 32) {
    managed.dl_tensor.data = data;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = 1;
    managed.dl_tensor.dtype = {kDLFloat, bits, 1};
    managed.dl_tensor.shape = shape;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
};

TEST(Interop, owners_live_as_long_as_the_memory_is_used) {
  Foreign foreign;
  {
    Tensor x = from_dlpack(&foreign.managed);
    Tensor view = x[1];
    x = Tensor();
    EXPECT_EQ(foreign.deleted, 0);
    view += 1;
  }
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(foreign.data[1], 3);
}

TEST(Interop, refused_tensors_stay_with_the_caller) {
  Foreign foreign(4);
  EXPECT_THROW(from_dlpack(&foreign.managed), Error);
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(Interop, unused_capsules_give_their_memory_back) {
  const int64_t before = live_handles();
  {
    const Tensor x = ones({4});
    DLManagedTensor* managed = to_dlpack(x);
    managed->deleter(managed);
  }
  EXPECT_EQ(live_handles(), before);
}

}  // namespace
}  // namespace test_interop
