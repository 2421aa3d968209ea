// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The plugin's entry: the table of kernels, and whether there is a device to run them on.
#include "backend/cuda/create/creation.h"
#include "backend/cuda/device.h"
#include "backend/cuda/host.h"
#include "backend/cuda/index/index.h"
#include "backend/cuda/linalg/gemm.h"
#include "backend/cuda/nn/nn.h"
#include "backend/cuda/pointwise/pointwise.h"
#include "backend/cuda/reduce/reduce.h"

namespace tsr::cuda {
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
  table.index = index;
  table.nonzero = nonzero;
  table.sort = sort;
  table.random = random;
  table.sequence = sequence;
  table.triangle = triangle;
  table.class_loss = class_loss;
  table.conv = conv;
  table.norm = norm;
  table.optim = optim;
  table.pool = pool;
  return table;
}
constexpr kernel::KernelTable kKernels = make_kernels();

}  // namespace
}  // namespace tsr::cuda

extern "C" [[gnu::visibility("default")]] const tsr::kernel::Backend* tsr_backend_entry(
    const tsr::kernel::HostServices* services) {
  using namespace tsr;
  if (services == nullptr || services->contract_version != kernel::kContractVersion) return nullptr;
  cuda::set_host(services);
  if (cuda::device_count() == 0) {
    char text[256];
    cuda::missing_devices(text, sizeof text);
    cuda::failure(Code::kBackend, text);
    return nullptr;
  }
  static const kernel::Backend backend{kernel::kContractVersion, DeviceType::kCuda, "tessera-cuda",
                                       &cuda::device_interface(), &cuda::kKernels};
  return &backend;
}
