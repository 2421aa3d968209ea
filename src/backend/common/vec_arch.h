// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Operations that the compiler's vector types lack: fused multiply-add, rounding, square roots and
// changes of width, by the intrinsics of each level. Included by vec.h only.
#pragma once

namespace tsr::cpu::TSR_ISA {

// Whether fma() rounds once.
#if defined(__FMA__)
inline constexpr bool kFusedMultiplyAdd = true;
#else
inline constexpr bool kFusedMultiplyAdd = false;
#endif

// Whether any NaN was among the vectors that it looked at, two at a time.
class NanSeen {
 public:
  [[gnu::always_inline]] void look(VF a, VF b) {
#if defined(__AVX512F__)
    seen_ |= _mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q);
#else
    const Mask<float> unordered = (a != a) | (b != b);
    seen_ = seen_ | VL(reinterpret_cast<VL::Native>(unordered.v));
#endif
  }
  [[gnu::always_inline]] void look(VD a, VD b) {
#if defined(__AVX512F__)
    seen_ |= _mm512_cmp_pd_mask(a.v, b.v, _CMP_UNORD_Q);
#else
    const Mask<double> unordered = (a != a) | (b != b);
    seen_ = seen_ | VL(unordered.v);
#endif
  }
  [[nodiscard]] [[gnu::always_inline]] bool any_seen() const {
#if defined(__AVX512F__)
    return seen_ != 0;
#else
    return any(Mask<int64_t>{seen_.v});
#endif
  }

 private:
#if defined(__AVX512F__)
  __mmask16 seen_ = 0;
#else
  VL seen_ = VL(0);
#endif
};

// Whether the bits of every lane are in [least, end), both positive. One comparison: without a
// sign, numbers below the least one are far above the end.
[[gnu::always_inline]] inline bool all_between(VF x, int32_t least, int32_t end) {
  using U = Vec<uint32_t>;
  const U above = bit_cast_to<uint32_t>(x) - U(least);
  const U count(end - least);
#if defined(__AVX512F__)
  return _mm512_cmpge_epu32_mask(reinterpret_cast<__m512i>(above.v),
                                 reinterpret_cast<__m512i>(count.v)) == 0;
#else
  return !any(Mask<float>{above.v >= count.v});
#endif
}

// The two halves of a VF's lanes in double.
struct VDPair {
  VD low, high;
};

#if defined(__AVX512F__)

[[gnu::always_inline]] inline VF fma(VF a, VF b, VF c) {
  return VF(_mm512_fmadd_ps(a.v, b.v, c.v));
}
[[gnu::always_inline]] inline VD fma(VD a, VD b, VD c) {
  return VD(_mm512_fmadd_pd(a.v, b.v, c.v));
}
// a > b ? a : b and a < b ? a : b.
[[gnu::always_inline]] inline VF greater_of(VF a, VF b) {
  return VF(_mm512_max_ps(a.v, b.v));
}
[[gnu::always_inline]] inline VD greater_of(VD a, VD b) {
  return VD(_mm512_max_pd(a.v, b.v));
}
[[gnu::always_inline]] inline VF less_of(VF a, VF b) {
  return VF(_mm512_min_ps(a.v, b.v));
}
[[gnu::always_inline]] inline VD less_of(VD a, VD b) {
  return VD(_mm512_min_pd(a.v, b.v));
}
// From an estimate of 1 / sqrt a, twice as fast as the instruction, which computes other lanes than
// those of [2**-95, 2**128). The last step is exact before it rounds (Markstein, Computation of
// elementary functions on the IBM RISC System/6000 processor, 1990): the result is the
// instruction's for every estimate to 13 bits.
[[gnu::always_inline]] inline VF sqrt(VF a) {
  if (__builtin_expect(!all_between(a, 0x10000000, 0x7f800000), 0)) return VF(_mm512_sqrt_ps(a.v));
  const VF inverse(_mm512_rsqrt14_ps(a.v));
  const VF half = VF(0.5) * inverse;
  const VF root = a * inverse;
  const VF error = fma(-half, root, VF(0.5));
  const VF better = fma(root, error, root);
  return fma(fma(-better, better, a), fma(half, error, half), better);
}
// The same with one step more, for lanes of [2**-900, infinity). The errors of its last step are
// far below the distance of any root from the middle between two numbers.
[[gnu::always_inline]] inline VD sqrt(VD a) {
  const __mmask8 served = _mm512_cmp_pd_mask(a.v, VD(0x1p-900).v, _CMP_GE_OQ) &
                          _mm512_cmp_pd_mask(a.v, VD(__builtin_inf()).v, _CMP_LT_OQ);
  if (__builtin_expect(served != 0xff, 0)) return VD(_mm512_sqrt_pd(a.v));
  const VD inverse(_mm512_rsqrt14_pd(a.v));
  VD half = VD(0.5) * inverse;
  VD root = a * inverse;
  for (int step = 0; step < 2; ++step) {
    const VD error = fma(-half, root, VD(0.5));
    root = fma(root, error, root);
    half = fma(half, error, half);
  }
  return fma(fma(-root, root, a), half, root);
}
template <int kMode>
[[gnu::always_inline]] inline VF round_to(VF a) {
  return VF(_mm512_roundscale_ps(a.v, kMode));
}
template <int kMode>
[[gnu::always_inline]] inline VD round_to(VD a) {
  return VD(_mm512_roundscale_pd(a.v, kMode));
}
[[gnu::always_inline]] inline VDPair widen(VF a) {
  return {VD(_mm512_cvtps_pd(_mm512_castps512_ps256(a.v))),
          VD(_mm512_cvtps_pd(_mm512_extractf32x8_ps(a.v, 1)))};
}
// Loads as many float32 as a VD has lanes. (GCC 12 turns __builtin_convertvector into two
// conversions of half the width.)
[[gnu::always_inline]] inline VD load_widened(const float* source) {
  return VD(_mm512_cvtps_pd(_mm256_loadu_ps(source)));
}
[[gnu::always_inline]] inline VF narrow(VDPair a) {
  return VF(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a.low.v)),
                               _mm512_cvtpd_ps(a.high.v), 1));
}
// Nearest int32 of every lane.
[[gnu::always_inline]] inline VI round_to_int(VDPair a) {
  return VI(reinterpret_cast<VI::Native>(_mm512_inserti64x4(
      _mm512_castsi256_si512(_mm512_cvtpd_epi32(a.low.v)), _mm512_cvtpd_epi32(a.high.v), 1)));
}
// The products of the low 32 bits of every lane.
[[gnu::always_inline]] inline VU multiply_low_words(VU a, VU b) {
  return VU(reinterpret_cast<VU::Native>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a.v), reinterpret_cast<__m512i>(b.v))));
}
// The same of signed words.
[[gnu::always_inline]] inline VU multiply_signed_words(VU a, VU b) {
  return VU(reinterpret_cast<VU::Native>(
      _mm512_mul_epi32(reinterpret_cast<__m512i>(a.v), reinterpret_cast<__m512i>(b.v))));
}
// value * 2**exponent, rounded once; the exponent is a whole number. (At this level: of another
// number the next smaller one.)
[[gnu::always_inline]] inline VF scale_by_power(VF value, VF exponent) {
  return VF(_mm512_scalef_ps(value.v, exponent.v));
}
[[gnu::always_inline]] inline VD scale_by_power(VD value, VD exponent) {
  return VD(_mm512_scalef_pd(value.v, exponent.v));
}

#elif defined(__AVX2__)

[[gnu::always_inline]] inline VF fma(VF a, VF b, VF c) {
  return VF(_mm256_fmadd_ps(a.v, b.v, c.v));
}
[[gnu::always_inline]] inline VD fma(VD a, VD b, VD c) {
  return VD(_mm256_fmadd_pd(a.v, b.v, c.v));
}
[[gnu::always_inline]] inline VF greater_of(VF a, VF b) {
  return VF(_mm256_max_ps(a.v, b.v));
}
[[gnu::always_inline]] inline VD greater_of(VD a, VD b) {
  return VD(_mm256_max_pd(a.v, b.v));
}
[[gnu::always_inline]] inline VF less_of(VF a, VF b) {
  return VF(_mm256_min_ps(a.v, b.v));
}
[[gnu::always_inline]] inline VD less_of(VD a, VD b) {
  return VD(_mm256_min_pd(a.v, b.v));
}
[[gnu::always_inline]] inline VF sqrt(VF a) {
  return VF(_mm256_sqrt_ps(a.v));
}
[[gnu::always_inline]] inline VD sqrt(VD a) {
  return VD(_mm256_sqrt_pd(a.v));
}
template <int kMode>
[[gnu::always_inline]] inline VF round_to(VF a) {
  return VF(_mm256_round_ps(a.v, kMode));
}
template <int kMode>
[[gnu::always_inline]] inline VD round_to(VD a) {
  return VD(_mm256_round_pd(a.v, kMode));
}
[[gnu::always_inline]] inline VDPair widen(VF a) {
  return {VD(_mm256_cvtps_pd(_mm256_castps256_ps128(a.v))),
          VD(_mm256_cvtps_pd(_mm256_extractf128_ps(a.v, 1)))};
}
[[gnu::always_inline]] inline VD load_widened(const float* source) {
  return VD(_mm256_cvtps_pd(_mm_loadu_ps(source)));
}
[[gnu::always_inline]] inline VF narrow(VDPair a) {
  return VF(_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(a.low.v)),
                                 _mm256_cvtpd_ps(a.high.v), 1));
}
[[gnu::always_inline]] inline VI round_to_int(VDPair a) {
  return VI(reinterpret_cast<VI::Native>(_mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm256_cvtpd_epi32(a.low.v)), _mm256_cvtpd_epi32(a.high.v), 1)));
}
[[gnu::always_inline]] inline VU multiply_low_words(VU a, VU b) {
  return VU(reinterpret_cast<VU::Native>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a.v), reinterpret_cast<__m256i>(b.v))));
}
[[gnu::always_inline]] inline VU multiply_signed_words(VU a, VU b) {
  return VU(reinterpret_cast<VU::Native>(
      _mm256_mul_epi32(reinterpret_cast<__m256i>(a.v), reinterpret_cast<__m256i>(b.v))));
}

#else

// No fused form at this level: the functors do not rely on the single rounding.
[[gnu::always_inline]] inline VF fma(VF a, VF b, VF c) {
  return a * b + c;
}
[[gnu::always_inline]] inline VD fma(VD a, VD b, VD c) {
  return a * b + c;
}
[[gnu::always_inline]] inline VF greater_of(VF a, VF b) {
  return VF(_mm_max_ps(a.v, b.v));
}
[[gnu::always_inline]] inline VD greater_of(VD a, VD b) {
  return VD(_mm_max_pd(a.v, b.v));
}
[[gnu::always_inline]] inline VF less_of(VF a, VF b) {
  return VF(_mm_min_ps(a.v, b.v));
}
[[gnu::always_inline]] inline VD less_of(VD a, VD b) {
  return VD(_mm_min_pd(a.v, b.v));
}
[[gnu::always_inline]] inline VF sqrt(VF a) {
  return VF(_mm_sqrt_ps(a.v));
}
[[gnu::always_inline]] inline VD sqrt(VD a) {
  return VD(_mm_sqrt_pd(a.v));
}
template <int kMode>
[[gnu::always_inline]] inline VF round_to(VF a) {
  return VF(_mm_round_ps(a.v, kMode));
}
template <int kMode>
[[gnu::always_inline]] inline VD round_to(VD a) {
  return VD(_mm_round_pd(a.v, kMode));
}
[[gnu::always_inline]] inline VDPair widen(VF a) {
  return {VD(_mm_cvtps_pd(a.v)), VD(_mm_cvtps_pd(_mm_movehl_ps(a.v, a.v)))};
}
[[gnu::always_inline]] inline VD load_widened(const float* source) {
  return VD(
      _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(source)))));
}
[[gnu::always_inline]] inline VF narrow(VDPair a) {
  return VF(_mm_movelh_ps(_mm_cvtpd_ps(a.low.v), _mm_cvtpd_ps(a.high.v)));
}
[[gnu::always_inline]] inline VI round_to_int(VDPair a) {
  return VI(reinterpret_cast<VI::Native>(
      _mm_unpacklo_epi64(_mm_cvtpd_epi32(a.low.v), _mm_cvtpd_epi32(a.high.v))));
}
[[gnu::always_inline]] inline VU multiply_low_words(VU a, VU b) {
  return VU(reinterpret_cast<VU::Native>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a.v), reinterpret_cast<__m128i>(b.v))));
}
[[gnu::always_inline]] inline VU multiply_signed_words(VU a, VU b) {
  return VU(reinterpret_cast<VU::Native>(
      _mm_mul_epi32(reinterpret_cast<__m128i>(a.v), reinterpret_cast<__m128i>(b.v))));
}

#endif

#if !defined(__AVX512F__)
// In two steps, because 2**exponent alone may be out of range where the result is not.
[[gnu::always_inline]] inline VF scale_by_power(VF value, VF exponent) {
  const VI whole = convert_lanes<int32_t>(exponent);
  const VI half = shift_right<1>(whole);
  const VI bias(127);
  const VF first = bit_cast_to<float>(shift_left<23>(half + bias));
  const VF second = bit_cast_to<float>(shift_left<23>(whole - half + bias));
  return value * first * second;
}
#endif

template <class T>
requires std::is_floating_point_v<T>
[[gnu::always_inline]] inline Vec<T> round_even(Vec<T> a) {
  return round_to<_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC>(a);
}
template <class T>
requires std::is_floating_point_v<T>
[[gnu::always_inline]] inline Vec<T> floor(Vec<T> a) {
  return round_to<_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC>(a);
}
template <class T>
requires std::is_floating_point_v<T>
[[gnu::always_inline]] inline Vec<T> ceil(Vec<T> a) {
  return round_to<_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC>(a);
}
template <class T>
requires std::is_floating_point_v<T>
[[gnu::always_inline]] inline Vec<T> trunc(Vec<T> a) {
  return round_to<_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC>(a);
}

// ---- Pairs ----

[[gnu::always_inline]] inline VDPair operator*(VDPair a, VDPair b) {
  return {a.low * b.low, a.high * b.high};
}
template <class Fn>
[[gnu::always_inline]] inline VDPair each_half(VDPair a, Fn fn) {
  return {fn(a.low), fn(a.high)};
}
template <class Fn>
[[gnu::always_inline]] inline VDPair each_half(VDPair a, VDPair b, Fn fn) {
  return {fn(a.low, b.low), fn(a.high, b.high)};
}

}  // namespace tsr::cpu::TSR_ISA
