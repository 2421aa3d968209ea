// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Chooses the instruction-set level at run time.
#include <cpuid.h>

#include <cstdlib>
#include <cstring>

#include "backend/cpu/rows.h"

namespace tsr::cpu {

#if defined(TSR_HAVE_sse42)
namespace sse42 {
extern const Level kLevel;
}
#endif
#if defined(TSR_HAVE_avx2)
namespace avx2 {
extern const Level kLevel;
}
#endif
#if defined(TSR_HAVE_avx512)
namespace avx512 {
extern const Level kLevel;
}
#endif

namespace {

// The microarchitecture levels the sources are compiled for (x86-64-v2, -v3, -v4).
bool runs_v2() {
  return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
// Clang 14 does not know the name in __builtin_cpu_supports.
[[maybe_unused]] bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
[[maybe_unused]] bool runs_v3() {
  return runs_v2() && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && has_f16c();
}
[[maybe_unused]] bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

struct Candidate {
  const Level* level;
  bool (*runs)();
};
// Best first.
const Candidate kCandidates[] = {
#if defined(TSR_HAVE_avx512)
    {&avx512::kLevel, runs_v4},
#endif
#if defined(TSR_HAVE_avx2)
    {&avx2::kLevel, runs_v3},
#endif
#if defined(TSR_HAVE_sse42)
    {&sse42::kLevel, runs_v2},
#endif
};

const Level* choose() noexcept {
  const char* wanted = std::getenv("TSR_CPU_LEVEL");
  if (wanted != nullptr) {
    if (const Level* named = find_level(wanted)) return named;
  }
  for (const Candidate& candidate : kCandidates) {
    if (candidate.runs()) return candidate.level;
  }
  return nullptr;
}

// The kernels of a family by id and compute dtype, looked up once: the functions behind them are
// chains of comparisons.
template <class Op>
class Table {
 public:
  void fill(PointwiseKernel (*look_up)(Op op, DType compute)) {
    for (int32_t id = kFirst; id < kEnd; ++id) {
      for (size_t dtype = 0; dtype < kDTypeCount; ++dtype)
        kernels_[id - kFirst][dtype] = look_up(static_cast<Op>(id), static_cast<DType>(dtype));
    }
  }
  [[nodiscard]] const PointwiseKernel* find(Op op, DType compute) const {
    const auto id = static_cast<int32_t>(op);
    if (id < kFirst || id >= kEnd) return nullptr;
    const PointwiseKernel& found = kernels_[id - kFirst][static_cast<size_t>(compute)];
    return found.row == nullptr ? nullptr : &found;
  }

 private:
  static constexpr int32_t kFirst = kernel::OpRange<Op>::kFirst;
  static constexpr int32_t kEnd = kernel::OpRange<Op>::kEnd;
  PointwiseKernel kernels_[kEnd - kFirst][kDTypeCount];
};
constinit Table<kernel::UnaryOp> g_unary;
constinit Table<kernel::BinaryOp> g_binary;
constinit Table<kernel::TernaryOp> g_ternary;

const Level* fill_tables() noexcept {
  const Level* level = choose();
  if (level == nullptr) return nullptr;
  g_unary.fill(level->unary);
  g_binary.fill(level->binary);
  g_ternary.fill(level->ternary);
  return level;
}

}  // namespace

const PointwiseKernel* find_kernel(kernel::UnaryOp op, DType compute) noexcept {
  return g_unary.find(op, compute);
}
const PointwiseKernel* find_kernel(kernel::BinaryOp op, DType compute) noexcept {
  return g_binary.find(op, compute);
}
const PointwiseKernel* find_kernel(kernel::TernaryOp op, DType compute) noexcept {
  return g_ternary.find(op, compute);
}

const Level* find_level(const char* name) noexcept {
  for (const Candidate& candidate : kCandidates) {
    if (std::strcmp(candidate.level->name, name) == 0)
      return candidate.runs() ? candidate.level : nullptr;
  }
  return nullptr;
}

const Level* best_level() noexcept {
  static const Level* const chosen = fill_tables();
  return chosen;
}

}  // namespace tsr::cpu
