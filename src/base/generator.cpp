// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/generator.h"

#include <new>
#include <utility>

#include "base/immortal.h"
#include "base/thread_exit.h"

namespace tsr {
namespace {

// Owns a reference. See Note [Thread-local state].
constinit thread_local Generator* t_current = nullptr;

void forget_current() noexcept {
  IntrusivePtr<Generator>::adopt(std::exchange(t_current, nullptr)).reset();
}

}  // namespace

Generator& default_generator() {
  struct Default {
    Generator generator{0};
  };
  return immortal<Default>().generator;
}

Generator& current_generator() {
  return t_current != nullptr ? *t_current : default_generator();
}

void set_current_generator(IntrusivePtr<Generator> generator) {
  if (generator && !at_thread_exit(ThreadPart::kGenerator, forget_current)) throw std::bad_alloc();
  forget_current();
  t_current = generator.detach();
}

}  // namespace tsr
