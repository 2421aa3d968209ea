// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A backend in one file: a device whose memory is ordinary memory, with four kernels. It compiles
// to a shared library that includes two folders of headers, links nothing of Tessera, and is loaded
// with tsr_plugin_load. The library reports everything that the backend does not implement as "not
// implemented on this device".
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernel/kernels.h"

namespace {

using namespace tsr;
using kernel::ElementwisePlan;
using kernel::Status;

// The services of the library for a backend: scratch memory, and the text of an error.
const kernel::HostServices* g_host = nullptr;

constexpr Status kNotImplemented = 10;  // of tsr_code; the library then names the op and the device

Status refuse(const char* text) {
  g_host->set_error(text, 0);
  return kNotImplemented;
}

// ---- The device: memory and copies. Null entries mean "not offered" ----

constexpr uint64_t kAlignment = 256;

int32_t count_devices() {
  return 1;
}

int32_t allocate(int32_t, uint64_t nbytes, void** out) {
  *out = std::aligned_alloc(kAlignment, (nbytes + kAlignment - 1) / kAlignment * kAlignment);
  return *out == nullptr ? kDeviceOutOfMemory : kDeviceOk;
}

int32_t release(int32_t, void* data, uint64_t) {
  std::free(data);
  return kDeviceOk;
}

int32_t memory_info(int32_t, uint64_t* free_bytes, uint64_t* total_bytes) {
  *free_bytes = *total_bytes = uint64_t{1} << 32;
  return kDeviceOk;
}

// A real device would queue the copy on `stream`.
int32_t copy_bytes(int32_t, void* dst, const void* src, uint64_t nbytes, CopyKind, StreamHandle) {
  std::memcpy(dst, src, nbytes);
  return kDeviceOk;
}

const char* error_text(int32_t code) {
  return code == kDeviceOutOfMemory ? "out of memory" : "no error";
}

DeviceInterface make_device() {
  DeviceInterface device{};
  device.device_count = count_devices;
  device.raw_allocate = allocate;
  device.raw_free = release;
  device.memory_info = memory_info;
  device.copy = copy_bytes;
  device.allocation_granularity = kAlignment;
  device.error_text = error_text;
  return device;
}

// ---- Kernels: they get a plan of plain data. Operand 0 is the output, strides are in bytes ----

// Calls visit(pointers to the operands' elements) for every element of the plan.
template <class Visit>
void for_each_element(const ElementwisePlan& plan, Visit visit) {
  int64_t index[kernel::kMaxRank] = {};
  char* at[kernel::kMaxOperands];
  for (int32_t k = 0; k < plan.operands; ++k) at[k] = static_cast<char*>(plan.data[k]);
  for (int64_t i = 0; i < plan.numel; ++i) {
    visit(at);
    for (int32_t d = plan.ndim - 1; d >= 0; --d) {
      const bool carry = ++index[d] == plan.sizes[d];
      for (int32_t k = 0; k < plan.operands; ++k) {
        at[k] += carry ? -plan.strides[k][d] * (plan.sizes[d] - 1) : plan.strides[k][d];
      }
      if (!carry) break;
      index[d] = 0;
    }
  }
}

Status fill(const ElementwisePlan& plan) {
  const auto size = static_cast<size_t>(itemsize(plan.dtypes[0]));
  for_each_element(plan, [&](char* const* at) { std::memcpy(at[0], plan.params[0].bytes, size); });
  return kernel::kOk;
}

Status copy(const ElementwisePlan& plan) {
  if (plan.dtypes[0] != plan.dtypes[1]) return refuse("expected one dtype: this device casts none");
  const auto size = static_cast<size_t>(itemsize(plan.dtypes[0]));
  for_each_element(plan, [&](char* const* at) { std::memcpy(at[0], at[1], size); });
  return kernel::kOk;
}

float& number(char* at) {
  return *reinterpret_cast<float*>(at);
}

Status unary(kernel::UnaryOp op, const ElementwisePlan& plan) {
  if (op != kernel::UnaryOp::kExp || plan.dtypes[1] != DType::kFloat32) {
    return refuse("expected exp of float32");
  }
  for_each_element(plan, [](char* const* at) { number(at[0]) = std::exp(number(at[1])); });
  return kernel::kOk;
}

Status binary(kernel::BinaryOp op, const ElementwisePlan& plan) {
  if (op != kernel::BinaryOp::kMultiply || plan.dtypes[1] != DType::kFloat32) {
    return refuse("expected a product of float32");
  }
  for_each_element(plan, [](char* const* at) { number(at[0]) = number(at[1]) * number(at[2]); });
  return kernel::kOk;
}

}  // namespace

// The one exported function. Null says that the backend cannot serve this library or machine.
extern "C" [[gnu::visibility("default")]] const kernel::Backend* tsr_backend_entry(
    const kernel::HostServices* services) {
  if (services == nullptr || services->contract_version != kernel::kContractVersion) return nullptr;
  g_host = services;
  static const DeviceInterface device = make_device();
  static kernel::KernelTable table{};
  table.fill = fill;
  table.copy = copy;
  table.unary = unary;
  table.binary = binary;
  // Device type 12 is the one that DLPack leaves to extensions.
  static const kernel::Backend backend{kernel::kContractVersion, DeviceType::kSimulated,
                                       "example-backend", &device, &table};
  return &backend;
}
