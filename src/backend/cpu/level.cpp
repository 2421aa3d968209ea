// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Chooses the instruction-set level at run time.
#include "backend/cpu/level.h"

#include <cpuid.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace tsr::cpu {

namespace sse42 {
extern const Level kLevel;
}
namespace avx2 {
extern const Level kLevel;
}
namespace avx512 {
extern const Level kLevel;
}

namespace {

// The microarchitecture levels the sources are compiled for (x86-64-v2, -v3, -v4).
bool runs_v2() {
  return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
// Asks cpuid: Clang 14's __builtin_cpu_supports does not know F16C.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
bool runs_v3() {
  return runs_v2() && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && has_f16c();
}
bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

struct Requirement {
  const char* level;
  bool (*runs)();
  const char* text;
};
constexpr Requirement kRequirements[] = {
    {"avx512", runs_v4, "AVX-512 (x86-64-v4)"},
    {"avx2", runs_v3, "AVX2 (x86-64-v3)"},
    {"sse42", runs_v2, "SSE4.2 (x86-64-v2)"},
};
// The levels of this build, best first.
const Level* const kBuilt[] = {TSR_CPU_BUILT_LEVELS};

const Requirement& requirement_of(const Level& level) noexcept {
  return *std::find_if(
      std::begin(kRequirements), std::end(kRequirements) - 1,
      [&](const Requirement& each) { return std::strcmp(each.level, level.name) == 0; });
}
bool runs(const Level& level) noexcept {
  return requirement_of(level).runs();
}

const Level* choose() noexcept {
  const char* wanted = std::getenv("TSR_CPU_LEVEL");
  if (wanted != nullptr) {
    if (const Level* named = find_level(wanted)) return named;
  }
  for (const Level* level : kBuilt) {
    if (runs(*level)) return level;
  }
  return nullptr;
}

}  // namespace

const Level* find_level(const char* name) noexcept {
  for (const Level* level : kBuilt) {
    if (std::strcmp(level->name, name) == 0) return runs(*level) ? level : nullptr;
  }
  return nullptr;
}

const char* least_processor() noexcept {
  return requirement_of(*std::end(kBuilt)[-1]).text;
}

const Level* best_level() noexcept {
  static const Level* const chosen = choose();
  return chosen;
}

}  // namespace tsr::cpu
