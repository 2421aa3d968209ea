// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/record.h"

#include "autograd/gradient_ops.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

namespace tsr::detail {
namespace {

constexpr size_t kNone = SIZE_MAX;

size_t index_of(const Tensor& tensor, const TensorRefs& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (tensor.defined() && list[i].is_same(tensor)) return i;
  }
  return kNone;
}

// Outputs that are inputs: what the in-place form wrote.
bool overwrites(const TensorRefs& outputs, const TensorRefs& inputs, const Tensor& tensor) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Tensor& output = outputs[k];
    if (output.defined() && output.storage() == tensor.storage() &&
        index_of(output, inputs) != kNone) {
      return true;
    }
  }
  return false;
}

SavedTensor make_saved(const Save& save, const TensorRefs& outputs, const TensorRefs& inputs) {
  using Kind = SavedTensor::Kind;
  const Tensor& tensor = *save.tensor;
  if (!tensor.defined()) return {};
  if (save.input == nullptr) {
    const size_t k = index_of(tensor, outputs);
    TSR_ASSERT(k != kNone, "save_output of a tensor that is no output");
    return {tensor, Kind::kOutput, static_cast<uint32_t>(k)};
  }
  if (overwrites(outputs, inputs, tensor)) return {tensor, Kind::kOverwritten, 0};
  const size_t i = index_of(*save.input, inputs);
  if (i == kNone) return {tensor, Kind::kPrivate, 0};
  return {tensor, Kind::kInput, static_cast<uint32_t>(i)};
}

}  // namespace

void connect(Node* raw, TensorRefs outputs, TensorRefs inputs, Saves saves) {
  const NodePtr node = NodePtr::adopt(raw);
  for (size_t i = 0; i < inputs.size(); ++i) {
    node->add_edge(inputs[i].defined() ? gradient_edge(inputs[i]) : Edge{});
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    node->add_output(outputs[k], outputs[k].defined() && is_differentiable(outputs[k].dtype()));
  }
  for (const Save& save : saves) node->save(make_saved(save, outputs, inputs));
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!node->outputs()[k].differentiable) continue;
    const size_t input = index_of(outputs[k], inputs);
    if (input == kNone) {
      set_history(outputs[k], node, static_cast<uint32_t>(k));
    } else {
      rebase_history(outputs[k], node, static_cast<uint32_t>(k), input);
    }
  }
}

}  // namespace tsr::detail

namespace tsr {

void check_saves(Saves saves) {
  for (const Save& save : saves) {
    if (save.input != nullptr && save.tensor->defined()) check_savable(*save.tensor);
  }
}

Tensor copy_before_write(const Tensor& target) {
  const NoGrad guard;
  return gradient_ops().clone(target);
}

}  // namespace tsr
