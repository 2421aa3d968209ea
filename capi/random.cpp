// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Generators of random numbers.
#include "base/generator.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"

using namespace tsr;
using namespace tsr::capi;

namespace tsr::capi {

Generator* generator_arg(tsr_generator handle, const char* arg) {
  if (handle == nullptr) return nullptr;
  return object_arg<Generator>(handle, ObjectTag::kGenerator, "generator", arg);
}

}  // namespace tsr::capi

namespace {

Generator& required(tsr_generator handle) {
  return *object_arg<Generator>(handle, ObjectTag::kGenerator, "generator", "generator");
}

IntrusivePtr<Generator> share(Generator& generator) {
  return IntrusivePtr<Generator>::share(&generator);
}

}  // namespace

extern "C" {

tsr_status tsr_generator_new(uint64_t seed, tsr_generator* generator) {
  clear(generator);
  return guard(Call(kInfo_generator_new, seed), [&] {
    out_arg(generator, "generator");
    give_object(new Generator(seed), generator);
  });
}

void tsr_generator_retain(tsr_generator generator) {
  retain_handle(generator, ObjectTag::kGenerator);
}

void tsr_generator_release(tsr_generator generator) {
  release_handle<Generator>(generator, ObjectTag::kGenerator);
}

tsr_status tsr_generator_default(tsr_generator* generator) {
  clear(generator);
  return guard(kInfo_generator_default, [&] {
    out_arg(generator, "generator");
    give_object(share(default_generator()).detach(), generator);
  });
}

tsr_status tsr_generator_current(tsr_generator* generator) {
  clear(generator);
  return guard(kInfo_generator_current, [&] {
    out_arg(generator, "generator");
    give_object(share(current_generator()).detach(), generator);
  });
}

tsr_status tsr_generator_set_current(tsr_generator generator, tsr_generator* previous) {
  clear(previous);
  return guard(Call(kInfo_generator_set_current, generator), [&] {
    IntrusivePtr<Generator> next;
    if (generator != nullptr) next = share(required(generator));
    out_arg(previous, "previous");
    IntrusivePtr<Generator> before = share(current_generator());
    set_current_generator(std::move(next));
    give_object(before.detach(), previous);
  });
}

tsr_status tsr_generator_seed(tsr_generator generator, uint64_t seed) {
  return guard(Call(kInfo_generator_seed, generator, seed), [&] {
    required(generator).set_state({seed, 0});
  });
}

tsr_status tsr_generator_get_state(tsr_generator generator, uint64_t* seed, uint64_t* offset) {
  return guard(Call(kInfo_generator_get_state, generator), [&] {
    const GeneratorState state = required(generator).state();
    *out_arg(seed, "seed") = state.seed;
    *out_arg(offset, "offset") = state.offset;
  });
}

tsr_status tsr_generator_set_state(tsr_generator generator, uint64_t seed, uint64_t offset) {
  return guard(Call(kInfo_generator_set_state, generator, seed, offset), [&] {
    required(generator).set_state({seed, offset});
  });
}

}  // extern "C"
