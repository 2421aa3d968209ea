// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The sum Σ weight[n, k, p] input[n, c, index[n, k, p]] output[n, c, p] is linear in each of three
// tensors. The derivative with respect to one of them is a pass over the other two, and so are the
// derivatives of that pass: three passes serve every order.
#include "ops/nn/weighted_gather.h"

#include <array>

#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/samples.h"

namespace tsr::ops {
namespace {

using kernel::WeightedGatherPlan;
using kernel::WeightedPass;

// The three tensors, and the pass that writes each.
enum Role : size_t { kInput, kWeight, kOutput, kRoles };
constexpr WeightedPass kPasses[kRoles] = {WeightedPass::kBackwardInput,
                                          WeightedPass::kBackwardWeight, WeightedPass::kForward};
constexpr const char* kNodes[kRoles] = {"WeightedGatherInputBackward",
                                        "WeightedGatherWeightBackward", "WeightedGatherBackward"};

struct Sizes {
  int64_t batch, channels, elements, points, taps;

  [[nodiscard]] Dims of(size_t role) const {
    if (role == kInput) return {batch, channels, elements};
    if (role == kWeight) return {batch, taps, points};
    return {batch, channels, points};
  }
};

using Three = std::array<Tensor, kRoles>;

void launch_pass(size_t written, const Three& tensors, const Tensor& index, const Sizes& sizes) {
  if (tensors[written].numel() == 0) return;
  WeightedGatherPlan plan{};
  plan.pass = kPasses[written];
  plan.batch = sizes.batch;
  plan.channels = sizes.channels;
  plan.elements = sizes.elements;
  plan.points = sizes.points;
  plan.taps = sizes.taps;
  plan.place = kernel::place_on(index.device());
  plan.dtype = tensors[written].dtype();
  plan.input = tensors[kInput].data();
  plan.index = index.data_as<int32_t>();
  plan.weight = tensors[kWeight].data();
  plan.output = tensors[kOutput].data();
  kernel::launch(kernel::kWeightedGather, index.device(), plan);
}

// `tensors` has all but the one that is written.
Tensor run_pass(size_t written, const Three& tensors, const Tensor& index, const Sizes& sizes) {
  const size_t first = written == kInput ? kWeight : kInput;
  const size_t second = written == kOutput ? kWeight : kOutput;
  Three memory;
  memory[first] = contiguous_memory(tensors[first]);
  memory[second] = contiguous_memory(tensors[second]);
  memory[written] = empty(sizes.of(written), memory[first].dtype(), index.device());
  launch_pass(written, memory, index, sizes);
  const Tensor result = memory[written];
  if (needs_grad(tensors[first], tensors[second])) {
    record(result, kNodes[written], {tensors[first], tensors[second]},
           {save_input(tensors[first]), save_input(tensors[second]), save_input(index)},
           TakesBatches{[written, first, second, sizes](Backward& ctx) {
             const size_t roles[] = {first, second};
             const auto spread = [&](const Tensor& saved) {
               return join_samples(ctx, for_samples(ctx, saved));
             };
             const Tensor index_of_all = contiguous_memory(spread(ctx.saved(2)));
             Sizes all = sizes;
             if (ctx.lead() == 1) all.batch *= ctx.samples();
             for (size_t k = 0; k < 2; ++k) {
               if (!ctx.needs(k)) continue;
               Three given;
               given[roles[1 - k]] = spread(ctx.saved(1 - k));
               given[written] = join_samples(ctx, ctx.grad());
               const Tensor found = run_pass(roles[k], given, index_of_all, all);
               ctx.set(k, split_samples(ctx, found));
             }
           }});
  }
  return result;
}

}  // namespace

Tensor weighted_gather(const Tensor& input, const Tensor& weight, const Tensor& index) {
  const Sizes sizes{input.size(0), input.size(1), input.size(2), weight.size(2), weight.size(1)};
  return run_pass(kOutput, {input, weight, Tensor()}, contiguous_memory(index), sizes);
}

}  // namespace tsr::ops
