// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Generator: where random numbers come from; a seed and how far its Philox counter has advanced.
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

// Any thread may use any generator; each call takes numbers that nobody else gets.
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
  // The state from which the next `blocks` blocks are the caller's own.
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

// The generator of threads that have set none; starts with seed 0 and lives as long as the process.
Generator& default_generator();

// ---- The current generator of a thread ----

// Whose numbers functions of this thread take that are given no generator.
[[nodiscard]] Generator& current_generator();
// Null is the default one.
void set_current_generator(IntrusivePtr<Generator> generator);

}  // namespace tsr
