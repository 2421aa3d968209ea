// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/create/saved_copies.h"

#include "kernel/registry.h"
#include "ops/create/copy.h"

namespace tsr::ops {
namespace {

struct Copy {
  Tensor tensor;
  Device home;
};

class CopyHooks final : public SavedTensorHooks {
 public:
  explicit CopyHooks(const SavedCopies& where) : where_(where) {}

  [[nodiscard]] bool wants(const Tensor& tensor) const override {
    if (where_.always) return true;
    return where_.device.has_value() && tensor.device() != *where_.device &&
           !tensor.requires_grad();
  }

  std::shared_ptr<void> pack(const Tensor& tensor) override {
    const Device target = where_.device.value_or(tensor.device());
    Tensor copy = to(tensor, target, {}, where_.always);
    if (where_.pinned && target.is_cpu() && !tensor.device().is_cpu()) {
      copy = pin_memory(copy, tensor.device());
    }
    return std::make_shared<Copy>(Copy{std::move(copy), tensor.device()});
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    const auto& copy = *static_cast<const Copy*>(packed.get());
    return to(copy.tensor, copy.home, {}, false, where_.pinned);
  }

 private:
  SavedCopies where_;
};

}  // namespace

std::shared_ptr<SavedTensorHooks> save_copies(const SavedCopies& where) {
  if (where.device.has_value()) static_cast<void>(kernel::backend_for(*where.device));
  return std::make_shared<CopyHooks>(where);
}

}  // namespace tsr::ops
