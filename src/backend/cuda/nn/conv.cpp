// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution around cuDNN: copies of tensors whose layout it does not take, and the bias.
#include <algorithm>
#include <new>

#include "backend/cuda/generated/entries.h"
#include "backend/cuda/nn/conv_engine.h"

namespace tsr::cuda {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::ElementwisePlan;
using kernel::Status;

namespace {

// ---- Copies of tensors that cuDNN does not take as they are ----

enum class Direction { kToWanted, kFromWanted };

// Copies the elements that both sides have: none where all windows lie in the padding.
Status copy_common(const ConvPlan& plan, const ConvTensor& tensor, int dims, void* wanted,
                   Direction direction) {
  const int64_t size = itemsize(plan.dtype);
  ElementwisePlan copy_plan;
  copy_plan.ndim = dims;
  copy_plan.operands = 2;
  copy_plan.host_operands = 0;
  copy_plan.numel = 1;
  copy_plan.place = plan.place;
  const int theirs = direction == Direction::kToWanted ? 0 : 1;
  int64_t offset = 0;
  for (int d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t reached = tensor.wanted_sizes[i] - tensor.front[i];
    copy_plan.sizes[d] = std::max<int64_t>(0, std::min(tensor.sizes[i], reached));
    copy_plan.strides[theirs][d] = tensor.wanted_strides[i] * size;
    copy_plan.strides[1 - theirs][d] = tensor.strides[i] * size;
    copy_plan.numel *= copy_plan.sizes[d];
    offset += tensor.front[i] * tensor.wanted_strides[i] * size;
  }
  copy_plan.data[theirs] = static_cast<char*>(wanted) + offset;
  copy_plan.data[1 - theirs] = tensor.data;
  copy_plan.dtypes[0] = copy_plan.dtypes[1] = plan.dtype;
  return copy(copy_plan);
}

Status fetch(const ConvPlan& plan, const ConvTensor& tensor, int dims, void* wanted) {
  if (!tensor.same_elements()) {
    const Status status =
        clear(plan.place, wanted, tensor.wanted_numel(dims) * itemsize(plan.dtype));
    if (status != kernel::kOk) return status;
  }
  return copy_common(plan, tensor, dims, wanted, Direction::kToWanted);
}

// Writes a pass's result to the caller's tensor. Elements that no window covers get the gradient 0.
Status deliver(const ConvPlan& plan, const ConvTensor& tensor, int dims, void* wanted) {
  int64_t numel = 1;
  bool reached = true;
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
    numel *= tensor.sizes[d];
    reached = reached && tensor.wanted_sizes[d] - tensor.front[d] >= tensor.sizes[d];
  }
  if (!reached) {
    const Status status = clear(plan.place, tensor.data, numel * itemsize(plan.dtype));
    if (status != kernel::kOk) return status;
  }
  return copy_common(plan, tensor, dims, wanted, Direction::kFromWanted);
}

// ---- The bias ----

// image += bias, per channel; the image is the output, or the input that a pass writes.
Status add_bias(const ConvPlan& plan, bool to_output) {
  const int64_t size = itemsize(plan.dtype);
  const int64_t* sizes = to_output ? plan.output_size : plan.input_size;
  const int64_t* strides = to_output ? plan.output_strides : plan.input_strides;
  ElementwisePlan sum;
  sum.ndim = plan.spatial + 2;
  sum.operands = 3;
  sum.host_operands = 0;
  sum.numel = 1;
  sum.place = plan.place;
  sum.data[0] = sum.data[1] = to_output ? plan.output : plan.input;
  sum.data[2] = plan.bias;
  for (int k = 0; k < 3; ++k) sum.dtypes[k] = plan.dtype;
  for (int d = 0; d < sum.ndim; ++d) {
    const int64_t channels = to_output ? plan.out_channels : plan.in_channels;
    sum.sizes[d] = d == 0 ? plan.batch : d == 1 ? channels : sizes[d - 2];
    sum.strides[0][d] = sum.strides[1][d] = strides[d] * size;
    sum.strides[2][d] = d == 1 ? size : 0;
    sum.numel *= sum.sizes[d];
  }
  return binary(kernel::BinaryOp::kAdd, sum);
}

// bias = the sum of the output's gradient over all but the channels.
Status sum_bias(const ConvPlan& plan) {
  const int64_t size = itemsize(plan.dtype);
  kernel::ReducePlan sum{};
  sum.op = kernel::ReduceOp::kSum;
  sum.place = plan.place;
  sum.input = plan.output;
  sum.output = plan.bias;
  sum.input_dtype = sum.output_dtype = plan.dtype;
  sum.kept_ndim = 1;
  sum.kept_numel = sum.kept_sizes[0] = plan.out_channels;
  sum.kept_input_strides[0] = plan.output_strides[1] * size;
  sum.kept_output_strides[0] = size;
  sum.reduced_ndim = plan.spatial + 1;
  sum.reduced_numel = 1;
  for (int d = 0; d < sum.reduced_ndim; ++d) {
    sum.reduced_sizes[d] = d == 0 ? plan.batch : plan.output_size[d - 1];
    sum.reduced_strides[d] = plan.output_strides[d == 0 ? 0 : d + 1] * size;
    sum.reduced_numel *= sum.reduced_sizes[d];
  }
  return reduce(sum);
}

// ---- A pass ----

// Memory for a copy of a tensor, if it needs one.
Workspace room_for(const ConvPlan& plan, const ConvTensor& tensor, int dims) {
  return Workspace(plan.place,
                   tensor.direct() ? 0 : tensor.wanted_numel(dims) * itemsize(plan.dtype));
}

Status run(const ConvPlan& plan) {
  const ConvShape shape(plan);
  const int dims = shape.dims();
  const ConvTensor* const tensors[3] = {&shape.input, &shape.weight, &shape.output};
  const Workspace copies[3] = {room_for(plan, shape.input, dims),
                               room_for(plan, shape.weight, dims),
                               room_for(plan, shape.output, dims)};
  const int written = plan.pass == ConvPass::kForward         ? 2
                      : plan.pass == ConvPass::kBackwardInput ? 0
                                                              : 1;
  ConvPointers pointers;
  for (int k = 0; k < 3; ++k) {
    if (copies[k].missing()) return no_workspace();
    pointers.of[k] = tensors[k]->direct() ? tensors[k]->data : copies[k].data<void>();
    if (tensors[k]->direct() || k == written) continue;
    const Status status = fetch(plan, *tensors[k], dims, pointers.of[k]);
    if (status != kernel::kOk) return status;
  }
  const Status status = run_engine(plan, shape, pointers);
  if (status != kernel::kOk || tensors[written]->direct()) return status;
  return deliver(plan, *tensors[written], dims, pointers.of[written]);
}

}  // namespace

Status conv(const ConvPlan& plan) {
  if (!is_floating(plan.dtype))
    return failure(Code::kDType, "expected a real floating dtype for a convolution");
  try {
    const Status status = run(plan);
    if (status != kernel::kOk || plan.bias == nullptr) return status;
    if (plan.pass == ConvPass::kBackwardWeight) return sum_bias(plan);
    return add_bias(plan, plan.pass == ConvPass::kForward);
  } catch (const std::bad_alloc&) {
    return failure(Code::kOutOfMemory, "expected host memory for a convolution, got none");
  }
}

}  // namespace tsr::cuda
