// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DLPack: which tensors are accepted, what consumers get, and who calls the deleter.
#include <cstring>
#include <vector>

#include "capi/abi_support.h"
#include "capi/dlpack.h"
#include "capi/example_support.h"
#include "support/places.h"

namespace test_dlpack {

using namespace tsr::test;

namespace {

// A producer of float32 [2, 3] whose deleter counts its calls.
struct Producer {
  Producer() {
    managed.dl_tensor.data = data;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = 2;
    managed.dl_tensor.dtype = {kDLFloat, 32, 1};
    managed.dl_tensor.shape = shape;
    managed.dl_tensor.strides = nullptr;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Producer*>(self->manager_ctx)->deletions;
    };
  }
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {1, 2};
  DLManagedTensor managed = {};
  int deletions = 0;
};

}  // namespace

TEST(FromDlpack, null_strides_mean_row_major) {
  Producer producer;
  {
    Tensor tensor;
    ok(tsr_from_dlpack(&producer.managed, 0, tensor.slot()));
    same(tensor, reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(producer.deletions, 0);
  }
  EXPECT_EQ(producer.deletions, 1);
}

TEST(FromDlpack, shares_memory_with_any_strides) {
  Producer producer;
  producer.managed.dl_tensor.strides = producer.strides;
  Tensor tensor;
  ok(tsr_from_dlpack(&producer.managed, 0, tensor.slot()));
  producer.data[1] = 20;
  same(tensor, reals(TSR_FLOAT32, {2, 3}, {1, 3, 5, 20, 4, 6}));
}

TEST(FromDlpack, negative_strides_and_byte_offset) {
  Producer producer;
  producer.managed.dl_tensor.ndim = 1;
  producer.shape[0] = 3;
  producer.strides[0] = -2;
  producer.managed.dl_tensor.strides = producer.strides;
  producer.managed.dl_tensor.byte_offset = 4 * sizeof(float);
  Tensor tensor;
  ok(tsr_from_dlpack(&producer.managed, 0, tensor.slot()));
  same(tensor, reals(TSR_FLOAT32, {3}, {5, 3, 1}));
}

TEST(FromDlpack, copy_deletes_the_original_at_once) {
  Producer producer;
  Tensor tensor;
  ok(tsr_from_dlpack(&producer.managed, TSR_DLPACK_COPY, tensor.slot()));
  EXPECT_EQ(producer.deletions, 1);
  producer.data[0] = 99;
  same(tensor, reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(FromDlpack, refusal_leaves_the_original_to_the_caller) {
  Producer producer;
  Tensor tensor;
  const auto refuses = [&](auto spoil) {
    const DLManagedTensor good = producer.managed;
    spoil(producer.managed.dl_tensor);
    refused(tsr_from_dlpack(&producer.managed, 0, tensor.slot()));
    producer.managed = good;
  };
  refuses([](DLTensor& t) { t.dtype.lanes = 4; });
  refuses([](DLTensor& t) { t.dtype.bits = 4; });
  refuses([](DLTensor& t) { t.dtype.code = kDLOpaqueHandle; });
  refuses([](DLTensor& t) { t.device.device_type = kDLMetal; });
  refuses([](DLTensor& t) { t.ndim = -1; });
  refuses([](DLTensor& t) { t.ndim = 65; });
  refuses([](DLTensor& t) { t.shape = nullptr; });
  refuses([](DLTensor& t) { t.data = nullptr; });
  refuses([](DLTensor& t) { t.byte_offset = 1; });
  refuses([](DLTensor& t) { t.byte_offset = UINT64_MAX - 3; });
  for (const int32_t type : {-1, 0, 99, INT32_MAX, INT32_MIN}) {
    refuses([&](DLTensor& t) { std::memcpy(&t.device.device_type, &type, sizeof(type)); });
  }
  static int64_t huge[2] = {INT64_MAX, INT64_MAX};
  refuses([](DLTensor& t) { t.shape = huge; });
  refuses([](DLTensor& t) { t.strides = huge; });
  EXPECT_EQ(producer.deletions, 0);
  refused(tsr_from_dlpack(nullptr, 0, tensor.slot()), TSR_INVALID_ARGUMENT);
  tsr_error_view error = {};
  error.struct_size = sizeof error;
  ok(tsr_error_last(&error));
  EXPECT_STREQ(error.message, "tsr_from_dlpack: managed: expected a DLPack tensor, got NULL");
}

// A device accesses a complex number at once, so both parts together must be aligned; a CPU
// accesses the parts separately.
TEST(FromDlpack, complex_memory_of_a_device_must_be_aligned_to_whole_numbers) {
  ok(tsr_plugin_load(tsr::testing::simulated_backend().c_str(), -1));
  alignas(16) float parts[7] = {0, 1, 2, 3, 4, 5, 6};
  Producer producer;
  DLTensor& view = producer.managed.dl_tensor;
  view.data = parts;
  view.byte_offset = sizeof(float);
  view.ndim = 1;
  view.dtype = {kDLComplex, 64, 1};
  producer.shape[0] = 3;
  Tensor tensor;
  ok(tsr_from_dlpack(&producer.managed, TSR_DLPACK_COPY, tensor.slot()));
  same(tensor, complexes(TSR_COMPLEX64, {3}, {1, 2, 3, 4, 5, 6}));
  view.device = {static_cast<DLDeviceType>(TSR_DEVICE_SIMULATED), 0};
  refused(tsr_from_dlpack(&producer.managed, 0, tensor.slot()), TSR_BUFFER);
  EXPECT_EQ(producer.deletions, 1);
  producer.strides[0] = -1;
  view.strides = producer.strides;
  view.byte_offset = 5 * sizeof(float);
  ok(tsr_from_dlpack(&producer.managed, TSR_DLPACK_COPY, tensor.slot()));
  same(tensor, complexes(TSR_COMPLEX64, {3}, {5, 6, 3, 4, 1, 2}));
  EXPECT_EQ(producer.deletions, 2);
  const int64_t shape = 3;
  refused(tsr_tensor_from_data(parts + 1, TSR_COMPLEX64, TSR_DEVICE_SIMULATED, 0, &shape, 1,
                               nullptr, -1, 0, nullptr, nullptr, tensor.slot()),
          TSR_BUFFER);
}

// LAPACK's kernels end the process where a number begins between two bytes of its kind.
TEST(FromDlpack, memory_of_the_cpu_must_be_aligned_to_its_numbers) {
  alignas(16) char bytes[64] = {};
  const int64_t shape = 2;
  const auto begins_at = [&](int first, tsr_dtype dtype) {
    Tensor tensor;
    return tsr_tensor_from_data(bytes + first, dtype, TSR_DEVICE_CPU, 0, &shape, 1, nullptr, -1, 0,
                                nullptr, nullptr, tensor.slot());
  };
  refused(begins_at(1, TSR_INT16), TSR_BUFFER);
  refused(begins_at(2, TSR_FLOAT32), TSR_BUFFER);
  refused(begins_at(4, TSR_COMPLEX128), TSR_BUFFER);
  ok(begins_at(1, TSR_INT8));
  ok(begins_at(4, TSR_COMPLEX64));
  ok(begins_at(8, TSR_COMPLEX128));
  Tensor odd, shown;
  ok(tsr_tensor_from_data(bytes + 4, TSR_FLOAT32, TSR_DEVICE_CPU, 0, &shape, 1, nullptr, -1, 0,
                          nullptr, nullptr, odd.slot()));
  refused(tsr_view_dtype(odd, TSR_FLOAT64, shown.slot()), TSR_SHAPE);
  ok(tsr_view_dtype(odd, TSR_INT32, shown.slot()));
}

// Memory that is aligned to its real elements can be imported, but not viewed as complex numbers.
TEST(FromDlpack, parts_of_a_device_become_complex_only_where_whole_numbers_are_aligned) {
  ok(tsr_plugin_load(tsr::testing::simulated_backend().c_str(), -1));
  alignas(16) float parts[5] = {0, 1, 2, 3, 4};
  const int64_t shape[] = {2, 2};
  const auto as_complex = [&](int first, int32_t device) {
    Tensor pairs, numbers;
    ok(tsr_tensor_from_data(parts + first, TSR_FLOAT32, device, 0, shape, 2, nullptr, -1, 0,
                            nullptr, nullptr, pairs.slot()));
    return tsr_view_as_complex(pairs, numbers.slot());
  };
  ok(as_complex(1, TSR_DEVICE_CPU));
  ok(as_complex(0, TSR_DEVICE_SIMULATED));
  refused(as_complex(1, TSR_DEVICE_SIMULATED), TSR_SHAPE);
}

TEST(FromDlpack, versioned_read_only_is_enforced) {
  Producer producer;
  DLManagedTensorVersioned managed = {};
  managed.version = {1, 0};
  managed.flags = tsr::capi::kDlReadOnly;
  managed.dl_tensor = producer.managed.dl_tensor;
  Tensor tensor;
  ok(tsr_from_dlpack_versioned(&managed, 0, tensor.slot()));
  void* data = nullptr;
  refused(tsr_tensor_mutable_data(tensor, &data), TSR_BUFFER);
  refused(tsr_add_scalar_inplace(tensor, TSR_F64(1)), TSR_BUFFER);
  refused(tsr_tensor_write(tensor, producer.data, sizeof(producer.data)), TSR_BUFFER);
  struct DLManagedTensor* legacy = nullptr;
  refused(tsr_to_dlpack(tensor, 0, &legacy), TSR_BUFFER);
  struct DLManagedTensorVersioned* again = nullptr;
  ok(tsr_to_dlpack_versioned(tensor, 1, 0, nullptr, &again));
  EXPECT_EQ(again->flags, tsr::capi::kDlReadOnly);
  again->deleter(again);
  ok(tsr_to_dlpack_versioned(tensor, 1, TSR_DLPACK_COPY, nullptr, &again));
  EXPECT_EQ(again->flags, tsr::capi::kDlIsCopied);
  again->deleter(again);
}

TEST(FromDlpack, unknown_major_version_is_refused_unread) {
  DLManagedTensorVersioned managed = {};
  managed.version = {2, 0};
  managed.dl_tensor.ndim = 77;
  Tensor tensor;
  refused(tsr_from_dlpack_versioned(&managed, 0, tensor.slot()), TSR_ABI);
}

TEST(ToDlpack, says_everything_about_the_tensor) {
  const Tensor tensor(ints(TSR_INT16, {2, 1}, {7, 8}));
  struct DLManagedTensor* managed = nullptr;
  ok(tsr_to_dlpack(tensor, 0, &managed));
  const DLTensor& view = managed->dl_tensor;
  EXPECT_EQ(view.ndim, 2);
  EXPECT_EQ(view.shape[0], 2);
  ASSERT_NE(view.strides, nullptr) << "version 1.2 requires strides";
  EXPECT_EQ(view.strides[0], 1);
  EXPECT_EQ(view.dtype.code, kDLInt);
  EXPECT_EQ(view.dtype.bits, 16);
  EXPECT_EQ(view.dtype.lanes, 1);
  EXPECT_EQ(view.byte_offset, 0U);
  EXPECT_EQ(static_cast<const int16_t*>(view.data)[1], 8);
  managed->deleter(managed);
}

TEST(ToDlpack, tensor_of_no_elements_has_no_data) {
  const Tensor tensor(reals(TSR_FLOAT32, {0, 3}, {}));
  DLTensor view = {};
  ok(tsr_dltensor_view(tensor, &view));
  EXPECT_EQ(view.data, nullptr);
  EXPECT_EQ(view.shape[1], 3);
}

TEST(ToDlpack, keeps_the_memory_after_the_tensor_is_gone) {
  int drops = 0;
  tsr_tensor tensor = wrapped(&drops);
  struct DLManagedTensorVersioned* managed = nullptr;
  ok(tsr_to_dlpack_versioned(tensor, 1, 0, nullptr, &managed));
  tsr_tensor_release(tensor);
  EXPECT_EQ(drops, 0);
  EXPECT_EQ(static_cast<const float*>(managed->dl_tensor.data)[1], 2.0F);
  managed->deleter(managed);
  EXPECT_EQ(drops, 1);
}

TEST(ToDlpack, bool_has_its_own_code) {
  const Tensor tensor(ints(TSR_BOOL, {2}, {1, 0}));
  struct DLManagedTensor* managed = nullptr;
  ok(tsr_to_dlpack(tensor, 0, &managed));
  EXPECT_EQ(managed->dl_tensor.dtype.code, tsr::capi::kDlBool);
  Tensor back;
  ok(tsr_from_dlpack(managed, 0, back.slot()));
  same(back, ints(TSR_BOOL, {2}, {1, 0}));
}

TEST(FromData, checks_layouts_before_it_believes_them) {
  float data[4] = {1, 2, 3, 4};
  const int64_t shape[2] = {2, 2}, wild[2] = {INT64_MAX, 1}, negative[1] = {-1}, three[1] = {4};
  int drops = 0;
  tsr_tensor out = nullptr;
  const auto from = [&](void* memory, const int64_t* sizes, int32_t n, const int64_t* strides,
                        int32_t m) {
    return tsr_tensor_from_data(memory, TSR_FLOAT32, TSR_DEVICE_CPU, 0, sizes, n, strides, m, 0,
                                &drops, count_drop, &out);
  };
  refused(from(data, shape, 2, wild, 2), TSR_SHAPE);
  refused(from(data, shape, 2, wild, 1), TSR_SHAPE);
  refused(from(data, negative, 1, nullptr, -1), TSR_SHAPE);
  refused(from(data, kHuge, 2, nullptr, -1), TSR_SHAPE);
  refused(from(data, kMany, 70, nullptr, -1), TSR_SHAPE);
  refused(from(nullptr, three, 1, nullptr, -1), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 6) << "drop runs also when the call fails";
  const int64_t none[1] = {0};
  ok(from(nullptr, none, 1, nullptr, -1));
  tsr_tensor_release(out);
  EXPECT_EQ(drops, 7);
}

TEST(FromData, negative_strides_show_memory_backwards) {
  float data[3] = {1, 2, 3};
  const int64_t shape[1] = {3}, strides[1] = {-1};
  Tensor tensor;
  ok(tsr_tensor_from_data(data + 2, TSR_FLOAT32, TSR_DEVICE_CPU, 0, shape, 1, strides, 1, 0,
                          nullptr, nullptr, tensor.slot()));
  same(tensor, reals(TSR_FLOAT32, {3}, {3, 2, 1}));
}

}  // namespace test_dlpack
