// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Sources of random numbers. The same seed gives the same numbers in every language.
#pragma once

#include <cstdint>

#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/error.hpp"
#include "tessera/random.h"

namespace tessera {

// A generator; copies share its state. Generator{} means the thread's current one.
class Generator {
 public:
  struct State {
    uint64_t seed;
    uint64_t offset;
  };

  Generator() noexcept = default;
  explicit Generator(uint64_t seed) {
    tsr_generator handle = nullptr;
    check(tsr_generator_new(seed, &handle));
    handle_ = Handle(handle);
  }

  // The generator of threads that have set none, one for the process.
  static Generator default_generator() {
    tsr_generator handle = nullptr;
    check(tsr_generator_default(&handle));
    return Generator(Handle(handle));
  }
  // The generator that random functions of this thread use if none is given.
  static Generator current() {
    tsr_generator handle = nullptr;
    check(tsr_generator_current(&handle));
    return Generator(Handle(handle));
  }

  void seed(uint64_t value) const { check(tsr_generator_seed(resolved().handle(), value)); }
  State state() const {
    State state{};
    check(tsr_generator_get_state(resolved().handle(), &state.seed, &state.offset));
    return state;
  }
  void set_state(State state) const {
    check(tsr_generator_set_state(resolved().handle(), state.seed, state.offset));
  }

  // The C handle, borrowed; null for the current generator.
  tsr_generator handle() const noexcept { return handle_.get(); }

 private:
  friend class GeneratorGuard;
  using Handle = detail::Counted<tsr_generator, &tsr_generator_retain, &tsr_generator_release>;

  explicit Generator(Handle handle) noexcept : handle_(std::move(handle)) {}
  Generator resolved() const { return handle() == nullptr ? current() : *this; }

  Handle handle_;
};

// Seeds the default generator of the process.
inline void manual_seed(uint64_t seed) {
  Generator::default_generator().seed(seed);
}

// Makes a generator the current one of this thread until the guard is destroyed.
class GeneratorGuard {
 public:
  [[nodiscard]] explicit GeneratorGuard(const Generator& generator)
      : before_(exchange(generator)) {}
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;
  ~GeneratorGuard() {
    tsr_generator ours = nullptr;
    detail::ignore(tsr_generator_set_current(before_.handle(), &ours));
    tsr_generator_release(ours);
  }

 private:
  static Generator exchange(const Generator& generator) {
    tsr_generator before = nullptr;
    check(tsr_generator_set_current(generator.handle(), &before));
    return Generator(Generator::Handle(before));
  }

  Generator before_;
};

}  // namespace tessera
