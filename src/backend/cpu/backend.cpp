// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/backend.h"

#include "backend/cpu/create/creation.h"
#include "backend/cpu/host.h"
#include "backend/cpu/index/index.h"
#include "backend/cpu/index/sort.h"
#include "backend/cpu/level.h"
#include "backend/cpu/linalg/gemm.h"
#include "backend/cpu/nn/nn.h"
#include "backend/cpu/pointwise/pointwise.h"
#include "backend/cpu/reduce/reduce.h"
#include "base/cpu_device.h"

namespace tsr::cpu {
namespace {

constexpr kernel::KernelTable make_kernels() {
  kernel::KernelTable table{};
  table.fill = fill;
  table.copy = copy;
  table.unary = unary;
  table.binary = binary;
  table.ternary = ternary;
  table.reduce = reduce;
  table.scan = scan;
  table.softmax = softmax;
  table.softmax_backward = softmax_backward;
  table.gemm = gemm;
  table.sort = sort;
  table.random = random;
  table.sequence = sequence;
  table.index = index;
  table.nonzero = nonzero;
  table.triangle = triangle;
  table.conv = conv;
  table.pool = pool;
  table.norm = norm;
  table.class_loss = class_loss;
  table.optim = optim;
  return table;
}
constexpr kernel::KernelTable kKernels = make_kernels();

}  // namespace

const kernel::Backend* backend_entry(const kernel::HostServices* services) {
  if (services == nullptr || services->contract_version != kernel::kContractVersion) return nullptr;
  set_host(services);
  if (best_level() == nullptr) {
    failure(Code::kBackend, "expected a processor with SSE4.2, got an older one");
    return nullptr;
  }
  fill_pointwise_tables();
  static const kernel::Backend backend{kernel::kContractVersion, DeviceType::kCpu, "tessera-cpu",
                                       &cpu_device_interface(), &kKernels};
  return &backend;
}

}  // namespace tsr::cpu
