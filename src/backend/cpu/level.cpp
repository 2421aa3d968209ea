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

// Every lookup of a pointwise row, done once: the functions behind it are chains of switches.
struct Tables {
  const Level* level;
  Row unary[static_cast<size_t>(kernel::UnaryOp::kCount)][kDTypeCount];
  Row binary[static_cast<size_t>(kernel::BinaryOp::kCount)][kDTypeCount];
  Row ternary[static_cast<size_t>(kernel::TernaryOp::kCount)][kDTypeCount];
};
Tables g_tables;

template <class Op, class Table>
void fill_table(Table& table, Row (*find)(Op op, DType compute)) {
  for (size_t op = 0; op < static_cast<size_t>(Op::kCount); ++op) {
    for (size_t dtype = 0; dtype < kDTypeCount; ++dtype) {
      table[op][dtype] = find(static_cast<Op>(op), static_cast<DType>(dtype));
    }
  }
}

const Level* fill_tables() noexcept {
  const Level* level = choose();
  if (level == nullptr) return nullptr;
  g_tables.level = level;
  fill_table(g_tables.unary, level->unary);
  fill_table(g_tables.binary, level->binary);
  fill_table(g_tables.ternary, level->ternary);
  return level;
}

template <class Op, class Table>
Row look_up(const Table& table, Op op, DType compute) noexcept {
  const auto row = static_cast<size_t>(op);
  return row < static_cast<size_t>(Op::kCount) ? table[row][static_cast<size_t>(compute)] : nullptr;
}

}  // namespace

Row find_row(kernel::UnaryOp op, DType compute) noexcept {
  return look_up(g_tables.unary, op, compute);
}
Row find_row(kernel::BinaryOp op, DType compute) noexcept {
  return look_up(g_tables.binary, op, compute);
}
Row find_row(kernel::TernaryOp op, DType compute) noexcept {
  return look_up(g_tables.ternary, op, compute);
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
