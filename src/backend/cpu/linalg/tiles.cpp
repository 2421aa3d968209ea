// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The functions for tiles are compiled for their instructions one by one, so that nothing else of
// this file needs them.
#include "backend/cpu/linalg/tiles.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "backend/cpu/level.h"

#define TSR_TILES [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")]]

namespace tsr::cpu::tiles {
namespace {

// The registers of the tiles are saved by the system only for a process that has asked for that.
bool system_gives_tiles() {
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = 3U << 17;
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return (low & kTileState) == kTileState &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool processor_has_tiles() {
  constexpr unsigned kTile = 1U << 24;
  constexpr unsigned kTileBFloat16 = 1U << 22;
  constexpr unsigned kBFloat16 = 1U << 5;
  constexpr unsigned kSavesState = 1U << 27;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSavesState) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & kTile) == 0 || (d & kTileBFloat16) == 0) return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kBFloat16) != 0;
}

// What `ldtilecfg` reads: all tiles have 16 rows of 64 bytes.
struct alignas(64) Configuration {
  uint8_t palette = 1;
  uint8_t first_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Configuration kConfiguration;

// The instructions for tiles tell the compiler little of the memory that they read and write.
void finish_accesses() {
  asm volatile("" ::: "memory");
}

TSR_TILES void configure(uint8_t* before) {
  _tile_storeconfig(before);
  finish_accesses();
  _tile_loadconfig(&kConfiguration);
}
// A palette of 0 means that the tiles were not in use.
TSR_TILES void restore(const uint8_t* before) {
  if (before[0] == 0)
    _tile_release();
  else
    _tile_loadconfig(before);
}

constexpr int64_t kTileSize = kSide * kDepth;  // numbers

// A tile of the packed operand: its rows hold pairs of numbers that follow each other along k.
BFloat16* tile_of(BFloat16* packed, int64_t k, int64_t row, int64_t column) {
  return packed + (column / kSide * (whole(k, kDepth) / kDepth) + row / kDepth) * kTileSize;
}

__mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<int64_t>(count, 0, 16)) - 1);
}
__mmask32 first_numbers(int64_t count) {
  return static_cast<__mmask32>((uint64_t{1} << std::clamp<int64_t>(count, 0, 32)) - 1);
}

// out[r] has word r of each row.
TSR_TILES void transpose_words(const __m512i rows[16], __m512i out[16]) {
  __m512i pairs[16];
  __m512i fours[16];
  for (int i = 0; i < 8; ++i) {
    pairs[2 * i] = _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int j = 0; j < 4; ++j) {
    const __m512i a = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0xdd);
    out[j] = _mm512_shuffle_i32x4(a, c, 0x88);
    out[4 + j] = _mm512_shuffle_i32x4(b, d, 0x88);
    out[8 + j] = _mm512_shuffle_i32x4(a, c, 0xdd);
    out[12 + j] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}

struct Operands {
  Left a;
  const BFloat16* b;
  int64_t k;
  float* c;
  int64_t c_step;
  bool add;
};

// One block of c of kRows by kColumns tiles, which stay in registers over all of k. kSum: the first
// operand has two parts.
template <int kRows, int kColumns, bool kSum>
TSR_TILES void block(const Operands& o) {
  const int64_t a_bytes = o.a.step * 2;
  const int64_t c_bytes = o.c_step * 4;
  float* const below = o.c + kSide * o.c_step;
  if (o.add) {
    _tile_loadd(0, o.c, c_bytes);
    if constexpr (kColumns == 2) _tile_loadd(1, o.c + kSide, c_bytes);
    if constexpr (kRows == 2) _tile_loadd(2, below, c_bytes);
    if constexpr (kRows == 2 && kColumns == 2) _tile_loadd(3, below + kSide, c_bytes);
  } else {
    _tile_zero(0);
    if constexpr (kColumns == 2) _tile_zero(1);
    if constexpr (kRows == 2) _tile_zero(2);
    if constexpr (kRows == 2 && kColumns == 2) _tile_zero(3);
  }
  const BFloat16* b = o.b;
  for (int64_t k = 0; k < o.k; k += kDepth, b += kTileSize) {
    _tile_loadd(6, b, 64);
    if constexpr (kColumns == 2) _tile_loadd(7, b + o.k * kSide, 64);
    _tile_loadd(4, o.a.high + k, a_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kColumns == 2) _tile_dpbf16ps(1, 4, 7);
    if constexpr (kRows == 2) {
      _tile_loadd(5, o.a.high + kSide * o.a.step + k, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kRows == 2 && kColumns == 2) _tile_dpbf16ps(3, 5, 7);
    if constexpr (kSum) {
      _tile_loadd(4, o.a.low + k, a_bytes);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (kColumns == 2) _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kSum && kRows == 2) {
      _tile_loadd(5, o.a.low + kSide * o.a.step + k, a_bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (kSum && kRows == 2 && kColumns == 2) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, o.c, c_bytes);
  if constexpr (kColumns == 2) _tile_stored(1, o.c + kSide, c_bytes);
  if constexpr (kRows == 2) _tile_stored(2, below, c_bytes);
  if constexpr (kRows == 2 && kColumns == 2) _tile_stored(3, below + kSide, c_bytes);
}

}  // namespace

bool available() noexcept {
  static const bool kAvailable = std::strcmp(best_level()->name, "avx512") == 0 &&
                                 processor_has_tiles() && system_gives_tiles();
  return kAvailable;
}

Session::Session() noexcept {
  configure(before_);
}
Session::~Session() {
  restore(before_);
}

TSR_TILES bool pack(int64_t k, int64_t n, const BFloat16* from, int64_t step,
                    BFloat16* packed) noexcept {
  const __m512i exponent = _mm512_set1_epi16(0x7f80);
  __mmask32 special = 0;
  for (int64_t row = 0; row < whole(k, kDepth); row += 2) {
    const BFloat16* const first = from + row * step;
    for (int64_t column = 0; column < n; column += kSide) {
      const __mmask16 columns = first_lanes(n - column);
      const __mmask16 one = row < k ? columns : __mmask16{0};
      const __mmask16 two = row + 1 < k ? columns : __mmask16{0};
      const __m256i low = _mm256_maskz_loadu_epi16(one, first + column);
      const __m256i high = _mm256_maskz_loadu_epi16(two, first + step + column);
      const __m512i pairs = _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                                            _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
      special |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(pairs, exponent), exponent);
      BFloat16* const tile = tile_of(packed, k, row, column);
      _mm512_storeu_si512(tile + row % kDepth / 2 * kDepth, pairs);
    }
  }
  finish_accesses();
  return special == 0;
}

TSR_TILES void pack_transposed(int64_t k, int64_t n, const BFloat16* from, int64_t step,
                               BFloat16* packed) noexcept {
  for (int64_t column = 0; column < n; column += kSide) {
    for (int64_t row = 0; row < k; row += kDepth) {
      const __mmask32 numbers = first_numbers(k - row);
      __m512i lines[16];
      __m512i words[16];
      for (int64_t i = 0; i < kSide; ++i) {
        const __mmask32 present = column + i < n ? numbers : __mmask32{0};
        lines[i] = _mm512_maskz_loadu_epi16(present, from + (column + i) * step + row);
      }
      transpose_words(lines, words);
      BFloat16* const tile = tile_of(packed, k, row, column);
      for (int64_t i = 0; i < kSide; ++i) _mm512_storeu_si512(tile + i * kDepth, words[i]);
    }
  }
  finish_accesses();
}

TSR_TILES void pad(int64_t rows, int64_t columns, float factor, const BFloat16* from, int64_t step,
                   BFloat16* to) noexcept {
  for (int64_t row = 0; row < whole(rows, kSide); ++row) {
    for (int64_t column = 0; column < whole(columns, kDepth); column += kSide, to += kSide) {
      const __mmask16 present = row < rows ? first_lanes(columns - column) : __mmask16{0};
      const __m256i numbers = _mm256_maskz_loadu_epi16(present, from + row * step + column);
      const __m512 wide =
          _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(numbers), 16));
      const auto scaled = (__m256i)_mm512_cvtneps_pbh(_mm512_mul_ps(wide, _mm512_set1_ps(factor)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), scaled);
    }
  }
  finish_accesses();
}

TSR_TILES void split(int64_t count, const float* row, BFloat16* high, BFloat16* low) noexcept {
  for (int64_t i = 0; i < whole(count, kDepth); i += 16) {
    const __m512 value = _mm512_maskz_loadu_ps(first_lanes(count - i), row + i);
    const auto nearest = (__m256i)_mm512_cvtneps_pbh(value);
    const __m512 taken = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(nearest), 16));
    const auto rest = (__m256i)_mm512_cvtneps_pbh(_mm512_sub_ps(value, taken));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(high + i), nearest);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(low + i), rest);
  }
  finish_accesses();
}

void product(int64_t m, int64_t n, int64_t k, const Left& a, const BFloat16* packed, bool add,
             float* c, int64_t c_step) noexcept {
  finish_accesses();
  const bool sum = a.low != nullptr;
  for (int64_t j = 0; j < n; j += 2 * kSide) {
    const bool two_columns = j + kSide < n;
    for (int64_t i = 0; i < m; i += 2 * kSide) {
      const Left rows{a.high + i * a.step, sum ? a.low + i * a.step : nullptr, a.step};
      const Operands o{rows, packed + j * k, k, c + i * c_step + j, c_step, add};
      if (i + kSide < m && two_columns)
        sum ? block<2, 2, true>(o) : block<2, 2, false>(o);
      else if (i + kSide < m)
        sum ? block<2, 1, true>(o) : block<2, 1, false>(o);
      else if (two_columns)
        sum ? block<1, 2, true>(o) : block<1, 2, false>(o);
      else
        sum ? block<1, 1, true>(o) : block<1, 1, false>(o);
    }
  }
  finish_accesses();
}

}  // namespace tsr::cpu::tiles
