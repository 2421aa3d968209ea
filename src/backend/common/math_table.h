// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Tables of 16 numbers, which the registers of a level hold: a look-up for every lane.
#pragma once

#include "backend/common/vec.h"

namespace tsr::cpu::TSR_ISA {

// The number at the low four bits of each index.
[[gnu::always_inline]] inline VF look_up(const float (&table)[16], VI index) {
#if defined(__AVX512F__)
  return VF(_mm512_permutexvar_ps(reinterpret_cast<__m512i>(index.v), _mm512_loadu_ps(table)));
#elif defined(__AVX2__)
  const auto places = reinterpret_cast<__m256i>(index.v);
  const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), places);
  const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), places);
  return VF(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(places, 28))));
#else
  return VF(_mm_setr_ps(table[index.v[0] & 15], table[index.v[1] & 15], table[index.v[2] & 15],
                        table[index.v[3] & 15]));
#endif
}

}  // namespace tsr::cpu::TSR_ISA
