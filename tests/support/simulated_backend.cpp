// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The simulated device as a backend plugin, loaded with dlopen: the tests check the backend
// contract with a second backend. It includes headers of base/ and kernel/ only and links nothing
// of the library. Its kernels are simple loops; each keeps its stream busy for some simulated time.
#include <cmath>
#include <cstring>

#include "kernel/kernels.h"
#include "support/simulated_device.h"
#include "support/simulated_graphs.h"

namespace {

using namespace tsr;
using kernel::ElementwisePlan;
using kernel::Status;

constexpr Status kNotImplemented =
    10;  // tsr::Code::kNotImplemented; base/error.h needs link symbols

const kernel::HostServices* g_host = nullptr;
int g_entries = 0;

Status refuse(const char* text) {
  g_host->set_error(text, 0);
  return kNotImplemented;
}

// Calls visit(offsets of all operands) for every element.
template <class Visit>
void walk(const ElementwisePlan& plan, Visit visit) {
  int64_t index[kernel::kMaxRank] = {};
  int64_t offset[kernel::kMaxOperands] = {};
  for (int64_t i = 0; i < plan.numel; ++i) {
    visit(offset);
    for (int32_t d = plan.ndim - 1; d >= 0; --d) {
      const bool carry = ++index[d] == plan.sizes[d];
      for (int32_t k = 0; k < plan.operands; ++k) {
        offset[k] += carry ? -plan.strides[k][d] * (plan.sizes[d] - 1) : plan.strides[k][d];
      }
      if (!carry) break;
      index[d] = 0;
    }
  }
}

template <class T>
T& at(const ElementwisePlan& plan, int operand, const int64_t* offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(plan.data[operand]) + offset[operand]);
}

// Queues the kernel that calls visit(plan, offsets) for every element.
template <class Visit>
Status run(const char* name, const ElementwisePlan& plan, Visit visit) {
  sim::launch_kernel(
      plan.place.stream,
      [plan, visit] { walk(plan, [&](const int64_t* offset) { visit(plan, offset); }); },
      plan.place.device, name);
  return kernel::kOk;
}

Status fill(const ElementwisePlan& plan) {
  const auto size = static_cast<size_t>(itemsize(plan.dtypes[0]));
  return run("fill_kernel", plan, [size](const ElementwisePlan& p, const int64_t* offset) {
    std::memcpy(&at<char>(p, 0, offset), p.params[0].bytes, size);
  });
}

Status copy(const ElementwisePlan& plan) {
  if (plan.dtypes[0] != plan.dtypes[1])
    return refuse("the simulated device copies one dtype to itself only");
  const auto size = static_cast<size_t>(itemsize(plan.dtypes[0]));
  return run("copy_kernel", plan, [size](const ElementwisePlan& p, const int64_t* offset) {
    std::memcpy(&at<char>(p, 0, offset), &at<char>(p, 1, offset), size);
  });
}

Status unary(kernel::UnaryOp op, const ElementwisePlan& plan) {
  if (plan.dtypes[1] != DType::kFloat32)
    return refuse("the simulated device computes in float32 only");
  switch (op) {
    case kernel::UnaryOp::kExp:
      return run("exp_kernel", plan, [](const ElementwisePlan& p, const int64_t* offset) {
        at<float>(p, 0, offset) = std::exp(at<float>(p, 1, offset));
      });
    case kernel::UnaryOp::kNegative:
      return run("negative_kernel", plan, [](const ElementwisePlan& p, const int64_t* offset) {
        at<float>(p, 0, offset) = -at<float>(p, 1, offset);
      });
    default:
      return refuse("the simulated device knows exp and negative only");
  }
}

// Operands in host memory are read when the kernel is queued.
Status binary(kernel::BinaryOp op, const ElementwisePlan& plan) {
  if (plan.dtypes[1] != DType::kFloat32)
    return refuse("the simulated device computes in float32 only");
  const bool add = op == kernel::BinaryOp::kAdd;
  if (!add && op != kernel::BinaryOp::kMultiply)
    return refuse("the simulated device knows add and multiply only");
  float numbers[kernel::kMaxOperands] = {};
  for (int k = 1; k < plan.operands; ++k) {
    if (((plan.host_operands >> k) & 1U) != 0) {
      std::memcpy(&numbers[k], plan.data[k], sizeof(float));
    }
  }
  return run(
      add ? "add_kernel" : "multiply_kernel", plan,
      [add, a = numbers[1], b = numbers[2]](const ElementwisePlan& p, const int64_t* offset) {
        const auto value = [&](int k, float number) {
          return ((p.host_operands >> k) & 1U) != 0 ? number : at<float>(p, k, offset);
        };
        const float left = value(1, a);
        const float right = value(2, b);
        at<float>(p, 0, offset) = add ? left + right : left * right;
      });
}

int64_t offset_of(int64_t linear, int32_t ndim, const int64_t* sizes, const int64_t* strides) {
  int64_t offset = 0;
  for (int32_t d = ndim - 1; d >= 0; --d) {
    offset += linear % sizes[d] * strides[d];
    linear /= sizes[d];
  }
  return offset;
}

void sum(const kernel::ReducePlan& plan) {
  for (int64_t i = 0; i < plan.kept_numel; ++i) {
    const auto* from = static_cast<const char*>(plan.input) +
                       offset_of(i, plan.kept_ndim, plan.kept_sizes, plan.kept_input_strides);
    double total = 0;
    for (int64_t j = 0; j < plan.reduced_numel; ++j) {
      total += static_cast<double>(*reinterpret_cast<const float*>(
          from + offset_of(j, plan.reduced_ndim, plan.reduced_sizes, plan.reduced_strides)));
    }
    char* to = static_cast<char*>(plan.output) +
               offset_of(i, plan.kept_ndim, plan.kept_sizes, plan.kept_output_strides);
    *reinterpret_cast<float*>(to) = static_cast<float>(total);
  }
}

Status reduce(const kernel::ReducePlan& plan) {
  if (plan.op != kernel::ReduceOp::kSum) return refuse("the simulated device reduces by sum only");
  if (plan.input_dtype != DType::kFloat32 || plan.output_dtype != DType::kFloat32)
    return refuse("the simulated device computes in float32 only");
  sim::launch_kernel(
      plan.place.stream, [plan] { sum(plan); }, plan.place.device, "sum_kernel");
  return kernel::kOk;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const kernel::Backend* tsr_backend_entry(
    const kernel::HostServices* services) {
  if (services == nullptr || services->contract_version != kernel::kContractVersion) return nullptr;
  ++g_entries;
  g_host = services;
  static kernel::KernelTable table{};
  table.fill = fill;
  table.copy = copy;
  table.unary = unary;
  table.binary = binary;
  table.reduce = reduce;
  static const kernel::Backend backend{kernel::kContractVersion, DeviceType::kSimulated,
                                       "tessera-simulated", &sim::device_interface(), &table};
  return &backend;
}

// How often the library entered the backend.
extern "C" [[gnu::visibility("default")]] int tsr_simulated_entries() {
  return g_entries;
}

extern "C" [[gnu::visibility("default")]] const GraphInterface* tsr_backend_graphs() {
  return &sim::graph_interface();
}
