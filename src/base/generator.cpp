// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/generator.h"

#include <utility>

namespace tsr {
namespace {

constinit thread_local Generator* t_current = nullptr;

// Made by the first set on a thread, so that other threads have nothing to end.
struct Owner {
  ~Owner() { t_current = nullptr; }
  IntrusivePtr<Generator> current;
};

}  // namespace

Generator& default_generator() {
  static auto* const kDefault = new Generator(0);  // never destroyed: handles may outlive main
  return *kDefault;
}

Generator& current_generator() {
  return t_current != nullptr ? *t_current : default_generator();
}

void set_current_generator(IntrusivePtr<Generator> generator) {
  if (!generator && t_current == nullptr) return;
  static thread_local Owner owner;
  owner.current = std::move(generator);
  t_current = owner.current.get();
}

}  // namespace tsr
