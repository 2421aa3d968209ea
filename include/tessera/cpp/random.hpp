// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sources of random numbers. The same seed gives the same numbers in every language.
#pragma once

#include <cstdint>
#include <utility>

#include "tessera/cpp/error.hpp"
#include "tessera/random.h"

namespace tessera {

// A generator; copies share its state. Generator{} stands for the default one of the process.
class Generator {
 public:
  struct State {
    uint64_t seed;
    uint64_t offset;
  };

  Generator() noexcept = default;
  explicit Generator(uint64_t seed) { check(tsr_generator_new(seed, &handle_)); }
  Generator(const Generator& other) noexcept : handle_(other.handle_) {
    tsr_generator_retain(handle_);
  }
  Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Generator& operator=(Generator other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Generator() { tsr_generator_release(handle_); }

  // The generator of the process, as an object of its own.
  static Generator default_generator() {
    Generator made;
    check(tsr_generator_default(&made.handle_));
    return made;
  }

  void seed(uint64_t value) const { check(tsr_generator_seed(resolved().handle_, value)); }
  State state() const {
    State state{};
    check(tsr_generator_get_state(resolved().handle_, &state.seed, &state.offset));
    return state;
  }
  void set_state(State state) const {
    check(tsr_generator_set_state(resolved().handle_, state.seed, state.offset));
  }

  // The C handle, borrowed; null for the default generator.
  tsr_generator handle() const noexcept { return handle_; }

 private:
  Generator resolved() const { return handle_ == nullptr ? default_generator() : *this; }

  tsr_generator handle_ = nullptr;
};

// Seeds the generator that random functions use when none is given.
inline void manual_seed(uint64_t seed) {
  Generator().seed(seed);
}

}  // namespace tessera
