// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tables of as many numbers as a register holds, 8 at least, or two registers of 512 bits: a
// look-up for every lane.
#pragma once

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

// The number at the low bits of each index.
#if defined(__AVX512F__)
[[gnu::always_inline]] inline VF look_up(const float (&table)[16], VI index) {
  return VF(_mm512_permutexvar_ps(reinterpret_cast<__m512i>(index.v), _mm512_loadu_ps(table)));
}
[[gnu::always_inline]] inline VF look_up(const float (&table)[32], VI index) {
  return VF(_mm512_permutex2var_ps(_mm512_loadu_ps(table), reinterpret_cast<__m512i>(index.v),
                                   _mm512_loadu_ps(table + 16)));
}
[[gnu::always_inline]] inline VD look_up(const double (&table)[16], VL index) {
  return VD(_mm512_permutex2var_pd(_mm512_loadu_pd(table), reinterpret_cast<__m512i>(index.v),
                                   _mm512_loadu_pd(table + 8)));
}
#elif defined(__AVX2__)
[[gnu::always_inline]] inline VF look_up(const float (&table)[8], VI index) {
  return VF(_mm256_permutevar8x32_ps(_mm256_loadu_ps(table), reinterpret_cast<__m256i>(index.v)));
}
#else
[[gnu::always_inline]] inline VF look_up(const float (&table)[8], VI index) {
  return VF(_mm_setr_ps(table[index.v[0] & 7], table[index.v[1] & 7], table[index.v[2] & 7],
                        table[index.v[3] & 7]));
}
#endif

}  // namespace tsr::cpu::TSR_ISA
