// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// SavedTensor: what a node keeps of a tensor for its backward, checked against in-place writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/tensor.h"

namespace tsr {

struct Edge;
class Node;

// What a callable of the host language owns; hosts with a tracing collector ask for it
// (host_data.h).
struct HostData {
  void* user = nullptr;
  void (*drop)(void*) = nullptr;
};

// Somebody else's way of keeping saved tensors (compressed, on disk, on another device). While one
// is set on the thread that records, what is saved there goes through it: inputs, outputs, and what
// an op made for itself, unless that has a history of its own. Nothing that pack does is recorded
// or itself packed.
class SavedTensorHooks {
 public:
  SavedTensorHooks() = default;
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;
  virtual ~SavedTensorHooks() = default;
  // False: the tensor is saved as it is, with the check against later writes.
  [[nodiscard]] virtual bool wants(const Tensor& tensor) const {
    static_cast<void>(tensor);
    return true;
  }
  // Keeps `tensor` in any form; the result is given to unpack, possibly more than once. Must not
  // write to it; kAutograd otherwise, since the function's result may share its memory.
  virtual std::shared_ptr<void> pack(const Tensor& tensor) = 0;
  // Returns a tensor of the packed one's shape, dtype and device; kAutograd otherwise.
  virtual Tensor unpack(const std::shared_ptr<void>& packed) = 0;
  // What the hooks, and what pack returned, own of the host language.
  [[nodiscard]] virtual HostData host_data() const noexcept { return {}; }
  [[nodiscard]] virtual HostData host_data_of(const std::shared_ptr<void>& /*packed*/) const {
    return {};
  }
};

// Sets the hooks of the calling thread; null: none. Whoever sets them keeps the pointer alive until
// the next set.
void set_saved_tensor_hooks(const std::shared_ptr<SavedTensorHooks>* hooks) noexcept;

// Keeps the hooks from seeing what is saved in a scope: while a pack callback runs, and in graphs
// that only the library itself knows.
class SavedTensorHooksOff {
 public:
  SavedTensorHooksOff() noexcept;
  SavedTensorHooksOff(const SavedTensorHooksOff&) = delete;
  SavedTensorHooksOff& operator=(const SavedTensorHooksOff&) = delete;
  ~SavedTensorHooksOff();

 private:
  bool before_;
};

// Throws kAutograd for a tensor made in inference mode.
void check_savable(const Tensor& tensor);

// Never owns the history of what it saved, so that no node can come to own itself: outputs and
// inputs are kept as aliases without history, which is attached again when the gradient is itself
// recorded (Note [Saved tensors make no cycles] in saved_tensor.cpp).
class SavedTensor {
 public:
  enum class Kind : uint8_t {
    kNone,         // an undefined tensor
    kInput,        // input `index` of the node
    kOutput,       // output `index` of the node
    kPrivate,      // made by the op itself and known to nobody else
    kOverwritten,  // an input that the op's own in-place form has destroyed
  };

  SavedTensor() noexcept = default;
  // Throws as check_savable does.
  SavedTensor(const Tensor& tensor, Kind kind, uint32_t index);
  // The tensor as it was saved. Throws kAutograd when its memory was written since; `owner` is the
  // node that holds this. With grad mode on the result carries its history.
  [[nodiscard]] Tensor unpack(const Node& owner) const;
  // Lets `hooks` keep the tensor from now on. Throws kAutograd if it is undefined, was written
  // since, is kept by hooks already, or has a history that only this knows.
  void pack_by(const std::shared_ptr<SavedTensorHooks>& hooks, const Node& owner);
  // If output `index` is what was saved: gives it the tangents of `output`.
  void copy_output_tangents(uint32_t index, const Tensor& output);

  // What was saved, without its value.
  struct Origin {
    Kind kind = Kind::kNone;
    uint32_t index = 0;  // of the input or output that it is; 0 for other kinds
    Dims sizes;          // not known of an overwritten tensor
    DType dtype = DType::kBool;
  };
  [[nodiscard]] Origin origin() const;

  // The hooks that packed it; null if none did. The pointer is valid while this is.
  [[nodiscard]] const std::shared_ptr<SavedTensorHooks>* hooks() const noexcept;
  // What pack returned, of the host language, if nobody else is using it at the moment.
  [[nodiscard]] HostData packed_data() const noexcept;
  // The memory that it keeps; null if none, or if hooks keep it.
  [[nodiscard]] const Storage* memory() const noexcept {
    return data_.defined() ? data_.storage().get() : nullptr;
  }

  // Starts to fetch the tensor's memory, without its elements.
  [[gnu::always_inline]] void prefetch() const noexcept {
    const auto* impl = reinterpret_cast<const std::byte*>(data_.impl());
    if (impl == nullptr) return;
    for (size_t at = 0; at < sizeof(TensorImpl); at += 64) __builtin_prefetch(impl + at);
  }

 private:
  struct Packed;

  void pack(const std::shared_ptr<SavedTensorHooks>& hooks);
  [[nodiscard]] Tensor unpack_by_hooks() const;
  void check_version(const Node& owner) const;
  [[nodiscard]] Edge history(const Node& owner) const;

  Tensor data_;
  std::shared_ptr<Packed> packed_;
  uint32_t version_ = 0;
  uint16_t index_ = 0;
  Kind kind_ = Kind::kNone;
  bool original_ = false;  // data_ is the tensor itself
};

}  // namespace tsr
