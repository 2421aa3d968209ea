// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/saved_tensor.h"

#include <utility>

#include "autograd/forward.h"
#include "autograd/node.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

// Note [Saved tensors make no cycles]
// A tensor owns its grad_fn, and a node owns what it saved. A node that saved its own output as it
// is would own itself. The same happens with an input when the input is later written in place with
// something computed from it (h.add_(f(h))): its new grad_fn leads to the node that saved it. So
// everything that can still get a new history is saved as an alias that has none; the history it
// had is the node itself (outputs) or the node's edge (inputs). Leaves that require grad cannot be
// written in place in grad mode, integers have no history, and what only the op knows nobody can
// write: these are kept as they are.

namespace tsr {
namespace {

constinit thread_local const std::shared_ptr<SavedTensorHooks>* t_hooks = nullptr;
constinit thread_local bool t_packing = false;

bool keeps_its_history(const Tensor& tensor, SavedTensor::Kind kind) {
  if (kind == SavedTensor::Kind::kPrivate || !is_differentiable(tensor.dtype())) return true;
  if (kind != SavedTensor::Kind::kInput || !tensor.requires_grad()) return false;
  const TensorRecord* record = record_of(tensor);
  return !record->grad_fn && !record->base.defined();
}

std::string packed_text(const Tensor& tensor) {
  return concat(tensor.dtype(), " ", tensor.sizes(), " on ", tensor.device());
}

}  // namespace

SavedTensorHooksOff::SavedTensorHooksOff() noexcept : before_(std::exchange(t_packing, true)) {}
SavedTensorHooksOff::~SavedTensorHooksOff() {
  t_packing = before_;
}

void set_saved_tensor_hooks(const std::shared_ptr<SavedTensorHooks>* hooks) noexcept {
  t_hooks = hooks;
}

void check_savable(const Tensor& tensor) {
  TSR_CHECK(!tensor.has(kInferenceFlag), Code::kAutograd, nullptr,
            "expected tensors that can be saved for backward, got one made in inference mode; save "
            "a clone of it that was made outside inference mode");
}

struct SavedTensor::Packed {
  std::shared_ptr<SavedTensorHooks> hooks;
  std::shared_ptr<void> value;
  Dims sizes;
  Device device;
  DType dtype;
  Tensor tangents;  // a tensor without memory that has those of the packed one; may be undefined

  const Tensor& carrier() {
    if (tangents.defined()) return tangents;
    const StoragePtr none = wrap_storage(device, nullptr, 0, nullptr, nullptr);
    tangents = make_fresh(none, dtype, sizes, contiguous_strides(sizes));
    return tangents;
  }
};

SavedTensor::SavedTensor(const Tensor& tensor, Kind kind, uint32_t index) {
  if (!tensor.defined()) return;
  check_savable(tensor);
  TSR_ASSERT(index <= UINT16_MAX, "a node saves its input or output ", index);
  kind_ = kind;
  index_ = static_cast<uint16_t>(index);
  version_ = tensor.version();
  if (kind == Kind::kOverwritten) {
    version_ -= 1;
    return;
  }
  original_ = keeps_its_history(tensor, kind);
  data_ = original_ ? tensor : detached_dual(tensor);
  if (t_hooks == nullptr || *t_hooks == nullptr || t_packing) return;
  if (kind == Kind::kPrivate && requires_grad(tensor)) return;
  if ((*t_hooks)->wants(data_)) pack(*t_hooks);
}

void SavedTensor::pack(const std::shared_ptr<SavedTensorHooks>& hooks) {
  auto packed = std::make_shared<Packed>(
      Packed{hooks, nullptr, data_.sizes(), data_.device(), data_.dtype(), {}});
  if (has_tangent(data_)) copy_tangents(data_, packed->carrier());
  const SavedTensorHooksOff packing;  // pack may push hooks of its own
  const NoGrad guard;
  packed->value = packed->hooks->pack(data_.detached());
  TSR_CHECK(data_.version() == version_, Code::kAutograd, nullptr,
            "expected the pack hook to leave the tensor that it gets unchanged, got one that "
            "modified it in place: ",
            packed_text(data_), "; write to a clone of it instead");
  packed_ = std::move(packed);
  data_.reset();
}

void SavedTensor::pack_by(const std::shared_ptr<SavedTensorHooks>& hooks, const Node& owner) {
  TSR_CHECK(kind_ != Kind::kNone, Code::kAutograd, nullptr,
            "expected a saved tensor, got one that the derivative does not need (None)");
  TSR_CHECK(!packed_, Code::kAutograd, nullptr,
            "expected a saved tensor without hooks, got one that has some already");
  check_version(owner);
  TSR_CHECK(kind_ != Kind::kPrivate || !requires_grad(data_), Code::kAutograd, nullptr,
            "expected an input, an output or a tensor without history, got one with a history that "
            "only the node knows");
  pack(hooks);
}

SavedTensor::Origin SavedTensor::origin() const {
  Origin origin{kind_, index_, {}, DType::kBool};
  if (packed_) {
    origin.sizes = packed_->sizes;
    origin.dtype = packed_->dtype;
  } else if (data_.defined()) {
    origin.sizes = data_.sizes();
    origin.dtype = data_.dtype();
  }
  return origin;
}

const std::shared_ptr<SavedTensorHooks>* SavedTensor::hooks() const noexcept {
  return packed_ ? &packed_->hooks : nullptr;
}

HostData SavedTensor::packed_data() const noexcept {
  return packed_.use_count() == 1 ? packed_->hooks->host_data_of(packed_->value) : HostData{};
}

Tensor SavedTensor::unpack_by_hooks() const {
  Tensor value = packed_->hooks->unpack(packed_->value);
  TSR_CHECK(value.defined(), Code::kAutograd, nullptr,
            "expected the unpack hook to return a tensor, got none");
  TSR_CHECK(value.sizes() == packed_->sizes && value.dtype() == packed_->dtype &&
                value.device() == packed_->device,
            Code::kAutograd, nullptr, "expected the unpack hook to return what was packed, ",
            packed_->dtype, " ", packed_->sizes, " on ", packed_->device, ", got ", value.dtype(),
            " ", value.sizes(), " on ", value.device());
  if (requires_grad(value) || packed_->tangents.defined()) value = value.detached();
  if (packed_->tangents.defined()) copy_tangents(packed_->tangents, value);
  return value;
}

void SavedTensor::check_version(const Node& owner) const {
  const bool destroyed = kind_ == Kind::kOverwritten;
  const uint32_t found = destroyed ? version_ + 1 : data_.version();
  if (found == version_) return;
  const OutputMeta* output = owner.outputs().empty() ? nullptr : &owner.outputs()[0];
  const bool known = !destroyed || (output != nullptr && output->exists);
  std::string what = known ? concat(destroyed ? output->dtype : data_.dtype(), " ",
                                    destroyed ? output->sizes : data_.sizes())
                           : std::string("tensor");
  std::string origin;
  if (kind_ == Kind::kOutput) {
    origin = concat("output ", index_, " of ", owner.name());
  } else {
    origin = concat("saved by ", owner.name());
    const Edge* edge = kind_ == Kind::kInput ? &owner.next_edge(index_) : nullptr;
    if (edge != nullptr && edge->node && !edge->node->is_accumulator()) {
      append_text(origin, concat(", output ", edge->output, " of ", edge->node->name()));
    }
  }
  fail(Code::kAutograd, nullptr, __FILE__, __LINE__,
       "one of the tensors needed for the gradient has been modified by an in-place operation: ",
       what, ", ", origin, ", is at version ", found, "; expected version ", version_,
       "; write to a clone instead, or after the backward");
}

Edge SavedTensor::history(const Node& owner) const {
  if (kind_ == Kind::kInput) return owner.next_edge(index_);
  if (kind_ != Kind::kOutput) return {};
  return owner.outer_ != nullptr ? owner.outer_->output_edge(index_) : owner.output_edge(index_);
}

Tensor SavedTensor::unpack(const Node& owner) const {
  if (kind_ == Kind::kNone) return {};
  if (!packed_) check_version(owner);
  Tensor value = packed_ ? unpack_by_hooks() : data_;
  if (!packed_ && original_) return value;
  if (!grad_enabled()) return value;
  Edge edge = history(owner);
  if (!edge.node) return value;
  Tensor result = detached_dual(value);
  set_history(result, std::move(edge.node), edge.output);
  return result;
}

void SavedTensor::copy_output_tangents(uint32_t index, const Tensor& output) {
  if (kind_ != Kind::kOutput || index_ != index) return;
  copy_tangents(output, packed_ ? packed_->carrier() : data_);
}

}  // namespace tsr
