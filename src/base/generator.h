// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Generator: the source of random numbers: a seed and the position of its Philox counter.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/guarded_mutex.h"
#include "base/intrusive_ptr.h"

namespace tsr {

struct GeneratorState {
  uint64_t seed = 0;
  uint64_t offset = 0;  // in blocks of four 32-bit numbers
};

// Any thread may use any generator; no two calls get the same numbers.
class Generator final : public Object {
 public:
  explicit Generator(uint64_t seed) : Object(ObjectTag::kGenerator), state_{seed, 0} {}
  static void destroy(Generator* generator) noexcept {
    generator->tag = ObjectTag::kDead;
    delete generator;
  }

  [[nodiscard]] GeneratorState state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  void set_state(GeneratorState state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  // Reserves `blocks` blocks for the caller and returns the state at the first of them.
  GeneratorState take(uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    const GeneratorState before = state_;
    state_.offset += blocks;
    return before;
  }

 private:
  mutable GuardedMutex mutex_;
  GeneratorState state_;
};

// The generator of threads that have set none. Starts with seed 0 and is never destroyed.
Generator& default_generator();

// ---- The current generator of a thread ----

// The generator used by functions of this thread that get none as an argument.
[[nodiscard]] Generator& current_generator();
// Null selects the default generator.
void set_current_generator(IntrusivePtr<Generator> generator);

}  // namespace tsr
