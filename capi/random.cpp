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

}  // namespace

extern "C" {

tsr_status tsr_generator_new(uint64_t seed, tsr_generator* generator) {
  clear(generator);
  return guard(kInfo_generator_new, [&] {
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
    Generator& shared = default_generator();
    retain(&shared);
    give_object(&shared, generator);
  });
}

tsr_status tsr_generator_seed(tsr_generator generator, uint64_t seed) {
  return guard(kInfo_generator_seed, [&] { required(generator).set_state({seed, 0}); });
}

tsr_status tsr_generator_get_state(tsr_generator generator, uint64_t* seed, uint64_t* offset) {
  return guard(kInfo_generator_get_state, [&] {
    const GeneratorState state = required(generator).state();
    *out_arg(seed, "seed") = state.seed;
    *out_arg(offset, "offset") = state.offset;
  });
}

tsr_status tsr_generator_set_state(tsr_generator generator, uint64_t seed, uint64_t offset) {
  return guard(kInfo_generator_set_state, [&] { required(generator).set_state({seed, offset}); });
}

}  // extern "C"
