// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/round_once.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "base/parallel.h"
#include "base/small_vector.h"
#include "ops/create/copy.h"
#include "ops/opmath.h"

namespace tsr::ops {
namespace {

// The elements of a block for each thread: some arrays of float32 fit into a second-level cache.
constexpr int64_t kBlock = int64_t{1} << 15;

bool takes_blocks(std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  if (recording_enabled() || !first.device().is_cpu() || first.numel() <= kBlock) return false;
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor* tensor) {
    return !tensor->defined() || (itemsize(tensor->dtype()) == 2 && is_floating(tensor->dtype()) &&
                                  tensor->is_contiguous() && tensor->dtype() == first.dtype() &&
                                  tensor->sizes() == first.sizes());
  });
}

}  // namespace

Tensor round_once(std::initializer_list<const Tensor*> tensors,
                  FunctionRef<Tensor(std::span<const Tensor> wide)> compute) {
  SmallVector<Tensor, 4> wide;
  if (!takes_blocks(tensors)) {
    for (const Tensor* tensor : tensors) wide.push_back(in_opmath(*tensor));
    return compute({wide.data(), wide.size()});
  }
  const Tensor& first = **tensors.begin();
  Tensor result = empty(first.sizes(), first.dtype(), first.device());
  wide.resize(tensors.size());
  const int64_t most = kBlock * num_threads();
  for (int64_t begin = 0; begin < first.numel(); begin += most) {
    const Dims count{std::min(most, first.numel() - begin)};
    const auto block_of = [&](const Tensor& tensor) {
      return make_view(tensor, count, Dims{1}, tensor.offset() + begin);
    };
    for (size_t k = 0; k < tensors.size(); ++k) {
      const Tensor& tensor = *tensors.begin()[k];
      if (tensor.defined()) wide[k] = in_opmath(block_of(tensor));
    }
    copy_memory(block_of(result), compute({wide.data(), wide.size()}));
  }
  return result;
}

}  // namespace tsr::ops
