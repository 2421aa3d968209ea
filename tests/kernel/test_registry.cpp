// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/plugin.h"
#include "kernel/registry.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "memory/allocator.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/nn/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "support/places.h"
#include "tests/ops/tensors.h"

namespace tsr::test_registry {
namespace {

using kernel::Backend;
using kernel::HostServices;
using test::error_of;
using test::f32;
using test::values;

constexpr Device kSimulated{DeviceType::kSimulated, 0};

// ---- refusals ----

const Backend* refusing_entry(const HostServices* services) {
  services->set_error("this machine has no such device", 7);
  return nullptr;
}

const Backend* silent_entry(const HostServices*) {
  return nullptr;
}

const Backend* outdated_entry(const HostServices*) {
  static const Backend backend{kernel::kContractVersion + 1, DeviceType::kSimulated, "old", nullptr,
                               nullptr};
  return &backend;
}

const Backend* another_cpu_entry(const HostServices*) {
  static const Backend backend{kernel::kContractVersion, DeviceType::kCpu, "usurper", nullptr,
                               nullptr};
  return &backend;
}

TEST(Registry, names_the_reason_of_a_backend_that_refuses) {
  const Error error = error_of([] { kernel::register_backend(refusing_entry); });
  EXPECT_EQ(error.code(), Code::kBackend);
  EXPECT_NE(error.message().find("no such device"), std::string::npos) << error.message();
  const Error silent = error_of([] { kernel::register_backend(silent_entry); });
  EXPECT_NE(silent.message().find("refuses: it gives no reason"), std::string::npos)
      << silent.message();
}

TEST(Registry, refuses_another_contract_version_and_a_taken_device_type) {
  EXPECT_EQ(error_of([] { kernel::register_backend(outdated_entry); }).code(), Code::kBackend);
  EXPECT_EQ(error_of([] { kernel::register_backend(another_cpu_entry); }).code(), Code::kValue);
}

TEST(Registry, refuses_files_that_are_no_backends) {
  EXPECT_EQ(error_of([] { kernel::load_backend("/no/such/backend.so"); }).code(), Code::kIo);
  const std::string path = ::testing::TempDir() + "tessera_not_a_library.so";
  std::ofstream(path) << "not an ELF file";
  EXPECT_EQ(error_of([&] { kernel::load_backend(path); }).code(), Code::kIo);
}

TEST(Registry, an_unserved_device_is_a_device_error) {
  EXPECT_EQ(error_of([] {
              empty(Dims{1}, DType::kFloat32, Device{DeviceType::kCuda, 0});
            }).code(),
            Code::kDevice);
  EXPECT_EQ(error_of([] {
              kernel::backend_for(Device{DeviceType::kCpu, 1});
            }).code(),
            Code::kDevice);
}

// ---- the second backend ----

class Plugin : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kernel::load_backend(testing::simulated_backend()); }
};

TEST_F(Plugin, loads_twice_as_the_same_backend) {
  const Backend& first = kernel::load_backend(testing::simulated_backend());
  EXPECT_STREQ(first.build_id, "tessera-simulated");
  EXPECT_EQ(&first, &kernel::backend_for(kSimulated));
  EXPECT_GE(kernel::device_count(DeviceType::kSimulated), 1);
}

TEST_F(Plugin, is_entered_once_also_if_threads_load_it_while_its_kernels_run) {
  const std::string path = testing::simulated_backend();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) kernel::load_backend(path);
    });
  }
  Tensor x = ops::to(f32(Dims{2}, {0, 1}), kSimulated, std::nullopt);
  for (int round = 0; round < 20; ++round) x = ops::add(x, 1.0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values(ops::to(x, Device{}, std::nullopt)), (std::vector<double>{20, 21}));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto entries = reinterpret_cast<int (*)()>(dlsym(library, "tsr_simulated_entries"));
  EXPECT_EQ(entries(), 1);
  dlclose(library);
}

TEST_F(Plugin, computes_what_its_kernels_know) {
  const Tensor x = ops::to(f32(Dims{2, 2}, {0, 1, 2, 3}), kSimulated, std::nullopt);
  EXPECT_EQ(x.device(), kSimulated);
  const Tensor y = ops::add(ops::negative(x), 1.0);
  EXPECT_EQ(values(ops::to(y, Device{}, std::nullopt)), (std::vector<double>{1, 0, -1, -2}));
}

TEST_F(Plugin, a_family_added_to_its_table_serves_forward_and_backward) {
  const Tensor x = ops::to(f32(Dims{2, 3}, {0, 1, 2, 3, 4, 5}), kSimulated, std::nullopt);
  const Dims last{1};
  const auto here = [](const Tensor& there) {
    return values(ops::to(there, Device{}, std::nullopt));
  };
  EXPECT_EQ(here(ops::sum(x, DimsView(last))), (std::vector<double>{3, 12}));
  EXPECT_EQ(here(ops::sum(ops::permute_dims(x, Dims{1, 0}), DimsView(last), true)),
            (std::vector<double>{3, 5, 7}));
  set_requires_grad(x, true);
  const Tensor roots[] = {ops::multiply(ops::sum(x), 2.0)};
  backward(roots);
  EXPECT_EQ(here(grad_of(x)), (std::vector<double>{2, 2, 2, 2, 2, 2}));
  const Error error = error_of([&] { ops::prod(x); });
  EXPECT_EQ(error.code(), Code::kNotImplemented);
  EXPECT_NE(error.message().find("by sum only"), std::string::npos) << error.message();
}

TEST_F(Plugin, memory_comes_from_a_caching_allocator_of_its_own) {
  const uint64_t before = allocator_for(kSimulated).stats().allocated_bytes.all.current;
  {
    const Tensor x = ops::full(Dims{100}, 1.0, {}, kSimulated);
    EXPECT_EQ(allocator_for(kSimulated).stats().allocated_bytes.all.current, before + 512);
  }
  EXPECT_EQ(allocator_for(kSimulated).stats().allocated_bytes.all.current, before);
}

TEST_F(Plugin, a_null_entry_is_a_typed_error_that_names_device_and_family) {
  const Tensor x = ops::full(Dims{4}, 1.0, {}, kSimulated);
  const Error error = error_of([&] { ops::softmax(x, 0); });
  EXPECT_EQ(error.code(), Code::kNotImplemented);
  EXPECT_NE(error.message().find("simulated:0"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("softmax"), std::string::npos) << error.message();
}

TEST_F(Plugin, a_kernel_s_own_refusal_reaches_the_caller) {
  const Tensor x = ops::full(Dims{4}, 1.0, {}, kSimulated);
  const Error error = error_of([&] { ops::sin(x); });
  EXPECT_EQ(error.code(), Code::kNotImplemented);
  EXPECT_NE(error.message().find("exp and negative only"), std::string::npos) << error.message();
}

TEST_F(Plugin, devices_never_mix_in_one_op) {
  const Tensor here = f32(Dims{4}, {1, 2, 3, 4});
  const Tensor there = ops::full(Dims{4}, 1.0, {}, kSimulated);
  EXPECT_EQ(error_of([&] { ops::add(here, there); }).code(), Code::kDevice);
}

TEST_F(Plugin, an_index_beyond_the_last_device_is_refused) {
  const Device beyond{DeviceType::kSimulated, kernel::device_count(DeviceType::kSimulated)};
  EXPECT_EQ(error_of([&] { ops::zeros(Dims{1}, {}, beyond); }).code(), Code::kDevice);
}

}  // namespace
}  // namespace tsr::test_registry
