// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "optim/owners.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr::optim {
namespace {

struct Table {
  GuardedMutex mutex;
  std::unordered_map<const TensorImpl*, uint32_t> counts;
};

Table& table() {
  return immortal<Table>();
}

void drop(const TensorImpl* tensor) noexcept {
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  const auto found = all.counts.find(tensor);
  if (found != all.counts.end() && --found->second == 0) all.counts.erase(found);
}

}  // namespace

uint32_t owners_of(const TensorImpl* tensor) noexcept {
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  const auto found = all.counts.find(tensor);
  return found == all.counts.end() ? 0 : found->second;
}

Owners::~Owners() {
  for (const TensorImpl* tensor : owned_) drop(tensor);
}

void Owners::add(std::span<const Tensor> tensors) {
  const size_t before = owned_.size();
  owned_.reserve(before + tensors.size());
  Table& all = table();
  try {
    for (const Tensor& tensor : tensors) {
      const std::lock_guard guard(all.mutex);
      ++all.counts[tensor.impl()];
      owned_.push_back(tensor.impl());
    }
  } catch (...) {
    for (; owned_.size() > before; owned_.pop_back()) drop(owned_.back());
    throw;
  }
}

void Owners::remove(const TensorImpl* tensor) noexcept {
  const auto found = std::find(owned_.begin(), owned_.end(), tensor);
  if (found == owned_.end()) return;
  owned_.erase(found);
  drop(tensor);
}

}  // namespace tsr::optim
