// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The random numbers of one instruction-set level: a Philox block per element, so that an element's
// value does not depend on threads, vectors or levels. (A normal number may differ between levels
// in its last bits, as the logarithm and the cosine do.)
#include <algorithm>
#include <cstring>
#include <numbers>

#include "backend/common/math_trig_f32.h"
#include "backend/common/math_trig_f64.h"
#include "backend/common/philox.h"
#include "backend/common/random_math.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/half_vec.h"
#include "base/half.h"

namespace tsr::cpu::TSR_ISA {
namespace {

using kernel::RandomOp;
using kernel::RandomPlan;

// Elements drawn together: a register of float32, two of float64.
constexpr int64_t kStep = VF::kSize;

// Two registers of counters, whose rounds alternate: those of one alone wait for one another.
struct Pair {
  VU low, high;

  [[gnu::always_inline]] Pair(VU first, VU second) : low(first), high(second) {}
  [[gnu::always_inline]] explicit Pair(uint64_t value) : low(value), high(value) {}
};
[[gnu::always_inline]] inline Pair operator^(Pair a, Pair b) {
  return {a.low ^ b.low, a.high ^ b.high};
}
template <int kBits>
[[gnu::always_inline]] inline Pair shift_right(Pair a) {
  return {shift_right<kBits>(a.low), shift_right<kBits>(a.high)};
}
[[gnu::always_inline]] inline Pair multiply_low_words(Pair a, Pair b) {
  return {multiply_low_words(a.low, b.low), multiply_low_words(a.high, b.high)};
}

struct Blocks {
  PhiloxBlock<VU> low, high;

  [[gnu::always_inline]] explicit Blocks(const PhiloxBlock<Pair>& pairs) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      low.words[k] = pairs.words[k].low;
      high.words[k] = pairs.words[k].high;
    }
  }
};

// What the elements of a row are drawn from.
struct Source {
  const RandomPlan& plan;
  PhiloxKeys keys;
};

// 0, kDistance, 2 kDistance, ...
template <uint64_t kDistance>
[[gnu::always_inline]] inline VU counters_from(uint64_t first) {
  static constexpr uint64_t kSteps[8] = {0,
                                         kDistance,
                                         2 * kDistance,
                                         3 * kDistance,
                                         4 * kDistance,
                                         5 * kDistance,
                                         6 * kDistance,
                                         7 * kDistance};
  static_assert(VU::kSize <= 8);
  return VU::load(kSteps) + VU(first);
}

// The blocks of elements i to i + kStep - 1.
[[gnu::always_inline]] inline Blocks draw_blocks(const Source& source, int64_t i) {
  const VU first = counters_from<1>(source.plan.offset + static_cast<uint64_t>(i));
  return Blocks(philox(source.keys, Pair(first, first + VU(uint64_t{VU::kSize}))));
}
// The same blocks, those of the even elements in `low`: a word of all is then a register of 32-bit
// numbers without moving lanes.
[[gnu::always_inline]] inline Blocks draw_paired_blocks(const Source& source, int64_t i) {
  const VU first = counters_from<2>(source.plan.offset + static_cast<uint64_t>(i));
  return Blocks(philox(source.keys, Pair(first, first + VU(uint64_t{1}))));
}

// Not those of base/dtype.h, whose table would be a symbol that levels share.
constexpr bool is_real(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}
inline int64_t size_of(DType dtype) {
  return visit_dtype(dtype, []<class T>(TypeTag<T>) { return static_cast<int64_t>(sizeof(T)); });
}

// ---- Whole numbers as fractions ----

// The whole number in the low half of every lane (2**52 + n has the bits of n at its end).
[[gnu::always_inline]] inline VD low_word(VU a) {
  const VU bits = (a & VU(uint64_t{0xffffffff})) | bit_cast_to<uint64_t>(VD(0x1p52));
  return bit_cast_to<double>(bits) - VD(0x1p52);
}
// Numbers in [0, 1) from the first `kBits` bits of a word.
template <int kBits>
[[gnu::always_inline]] inline VD fraction(VU word) {
  const VU kept = shift_right<32 - kBits>(word & VU(uint64_t{0xffffffff}));
  return low_word(kept) * VD(1.0 / static_cast<double>(uint64_t{1} << kBits));
}
// The first 24 bits of a word of paired blocks.
[[gnu::always_inline]] inline VF paired_fraction(const Blocks& blocks, int word) {
  const VU both =
      (blocks.low.words[word] & VU(uint64_t{0xffffffff})) | shift_left<32>(blocks.high.words[word]);
  const VI bits(reinterpret_cast<VI::Native>(both.v));
  return convert_lanes<float>(shift_right<8>(bits) & VI(0xffffff)) * VF(0x1p-24);
}
// The same from the first 53 bits of two words.
[[gnu::always_inline]] inline VD long_fraction(VU low, VU high) {
  const VU rest = shift_right<11>(low & VU(uint64_t{0xffffffff}));
  return low_word(high) * VD(0x1p-32) + low_word(rest) * VD(0x1p-53);
}

// Numbers in (0, 1): the first 52 bits of two words, and half a unit.
[[gnu::always_inline]] inline VD open_fraction(VU low, VU high) {
  const VU rest = shift_right<12>(low & VU(uint64_t{0xffffffff}));
  return low_word(high) * VD(0x1p-32) + (low_word(rest) + VD(0.5)) * VD(0x1p-52);
}

// ---- Numbers of the output's dtype, as pairs of float64 ----
// The dtype is looked at once for kStep elements: a function for each dtype would be several times
// as large and no faster, because the numbers cost far more than their conversion.

[[gnu::always_inline]] inline VDPair load_numbers(DType dtype, const void* source) {
  switch (dtype) {
    case DType::kFloat64: {
      const auto* numbers = static_cast<const double*>(source);
      return {VD::load(numbers), VD::load(numbers + VD::kSize)};
    }
    case DType::kFloat32:
      return widen(VF::load(static_cast<const float*>(source)));
    case DType::kFloat16:
      return widen(load_half(static_cast<const uint16_t*>(source)));
    default:
      return widen(load_bfloat(static_cast<const uint16_t*>(source)));
  }
}
[[gnu::always_inline]] inline void store_numbers(DType dtype, VDPair value, void* target) {
  switch (dtype) {
    case DType::kFloat64: {
      auto* numbers = static_cast<double*>(target);
      value.low.store(numbers);
      value.high.store(numbers + VD::kSize);
      break;
    }
    case DType::kFloat32:
      narrow(value).store(static_cast<float*>(target));
      break;
    case DType::kFloat16:
      store_half(narrow(value), static_cast<uint16_t*>(target));
      break;
    default:
      store_bfloat(narrow(value), static_cast<uint16_t*>(target));
  }
}

// ---- Distributions ----
// draw(source, i, count, out) writes elements i to i + kStep - 1, of which `count` are wanted.

// Of one dtype, because it is the distribution that is drawn most and costs least.
template <class T>
struct Uniform {
  // In [low, high): a value that would round to high becomes low.
  [[gnu::always_inline]] static void draw(const Source& source, int64_t i, int64_t, void* out) {
    const RandomPlan& plan = source.plan;
    constexpr DType kDType = dtype_of<T>();
    if (std::is_same_v<T, float> && plan.p0 == 0 && plan.p1 == 1) {
      paired_fraction(draw_paired_blocks(source, i), 1).store(static_cast<float*>(out));
      return;
    }
    const Blocks blocks = draw_blocks(source, i);
    const VD low(plan.p0);
    const VD span(plan.p1 - plan.p0);
    store_numbers(kDType, {low + span * unit(blocks.low), low + span * unit(blocks.high)}, out);
    if (!(plan.p1 > plan.p0)) return;
    const VDPair rounded = load_numbers(kDType, out);
    const auto inside = [&](VD value) { return select(value >= VD(plan.p1), low, value); };
    store_numbers(kDType, each_half(rounded, inside), out);
  }

 private:
  // With as many bits as T can hold exactly, so that rounding never reaches 1.
  [[gnu::always_inline]] static VD unit(const PhiloxBlock<VU>& block) {
    if constexpr (std::is_same_v<T, double>) return long_fraction(block.words[0], block.words[1]);
    constexpr int kBits = std::is_same_v<T, Half> ? 11 : std::is_same_v<T, BFloat16> ? 8 : 24;
    return fraction<kBits>(block.words[1]);
  }
};

template <bool kDouble>
struct Normal {
  // Box and Muller (1958): the radius from (0, 1], the angle from [0, 1) of a turn.
  [[gnu::always_inline]] static void draw(const Source& source, int64_t i, int64_t, void* out) {
    const RandomPlan& plan = source.plan;
    VDPair value;
    if constexpr (kDouble) {
      const Blocks blocks = draw_blocks(source, i);
      value = {transform(blocks.low), transform(blocks.high)};
    } else {
      const Blocks blocks = draw_paired_blocks(source, i);
      const VF radius = sqrt(VF(-2.0) * log_of_part(VF(1.0) - paired_fraction(blocks, 0)));
      const VF number = radius * cos_of_turns(paired_fraction(blocks, 2));
      if (plan.dtype == DType::kFloat32 && plan.p0 == 0 && plan.p1 == 1) {
        (VF(0.0) + number).store(static_cast<float*>(out));  // no -0, as below
        return;
      }
      value = widen(number);
    }
    const auto place = [&](VD x) { return VD(plan.p0) + VD(plan.p1) * x; };
    store_numbers(plan.dtype, each_half(value, place), out);
  }

 private:
  // The logarithm of a number in [2**-24, 1], which is none of the special cases of log.
  [[gnu::always_inline]] static VF log_of_part(VF x) {
    const LogArgument argument = split_log(x);
    const VF low = fma(argument.e, VF(kLn2Low), log_rest(argument.f));
    return fma(argument.e, VF(kLn2High), argument.f + low);
  }
  [[gnu::always_inline]] static VD transform(const PhiloxBlock<VU>& block) {
    const VD u = long_fraction(block.words[0], block.words[1]);
    const VD turns = long_fraction(block.words[2], block.words[3]);
    return sqrt(VD(-2.0) * log(VD(1.0) - u)) * cos(VD(2 * std::numbers::pi) * turns);
  }
  // cos(2 pi t): quarter turns are split off exactly.
  [[gnu::always_inline]] static VF cos_of_turns(VF t) {
    const VF quarters = t * VF(4.0);
    const VF whole = round_even(quarters);
    const VF r = (quarters - whole) * VF(kHalfPi);
    const VI quadrant = convert_lanes<int32_t>(whole);
    const VF value = select_odd(quadrant, short_sin(r), short_cos(r));
    return flip_by_quadrant(value, quadrant + VI(1));
  }
};

// Distributions that are functions of open numbers, in float64.
template <class Function>
struct Transformed {
  [[gnu::always_inline]] static void draw(const Source& source, int64_t i, int64_t, void* out) {
    const RandomPlan& plan = source.plan;
    const Blocks blocks = draw_blocks(source, i);
    const auto value = [&](const PhiloxBlock<VU>& block) {
      return Function::of(plan, open_fraction(block.words[0], block.words[1]),
                          open_fraction(block.words[2], block.words[3]));
    };
    store_numbers(plan.dtype, {value(blocks.low), value(blocks.high)}, out);
  }
};
struct Exponential {
  [[gnu::always_inline]] static VD of(const RandomPlan& plan, VD u, VD) {
    return math::exponential_of(u, plan.p0);
  }
};
struct Cauchy {
  [[gnu::always_inline]] static VD of(const RandomPlan& plan, VD u, VD) {
    return math::cauchy_of(u, plan.p0, plan.p1);
  }
};
struct LogNormal {
  [[gnu::always_inline]] static VD of(const RandomPlan& plan, VD u, VD v) {
    const VD number = sqrt(VD(-2.0) * log(u)) * cos(VD(2 * std::numbers::pi) * v);
    return exp(VD(plan.p0) + VD(plan.p1) * number);
  }
};
struct Geometric {
  [[gnu::always_inline]] static VD of(const RandomPlan& plan, VD u, VD) {
    return math::geometric_of(u, plan.p0);
  }
};

struct Bernoulli {
  [[gnu::always_inline]] static void draw(const Source& source, int64_t i, int64_t count,
                                          void* out) {
    const RandomPlan& plan = source.plan;
    const Blocks blocks = draw_blocks(source, i);
    VDPair probability{VD(plan.p0), VD(plan.p0)};
    if (plan.probabilities != nullptr) {
      const int64_t size = size_of(plan.dtype);
      double own[kStep] = {};  // of any floating dtype
      std::memcpy(own, static_cast<const std::byte*>(plan.probabilities) + i * size,
                  static_cast<size_t>(count * size));
      probability = load_numbers(plan.dtype, own);
    }
    const auto pick = [&](const PhiloxBlock<VU>& block, VD limit) {
      return select(long_fraction(block.words[0], block.words[1]) < limit, VD(plan.p1), VD(0.0));
    };
    store_numbers(plan.dtype,
                  {pick(blocks.low, probability.low), pick(blocks.high, probability.high)}, out);
  }
};

struct Integer {
  // low + floor(u span / 2^64): the bias is below span / 2^64.
  [[gnu::always_inline]] static void draw(const Source& source, int64_t i, int64_t, void* out) {
    const RandomPlan& plan = source.plan;
    const Blocks blocks = draw_blocks(source, i);
    int64_t numbers[kStep];
    if (plan.span >> 32 == 0) {
      scale_words(blocks.low, plan).store(reinterpret_cast<uint64_t*>(numbers));
      scale_words(blocks.high, plan).store(reinterpret_cast<uint64_t*>(numbers) + VU::kSize);
    } else {
      uint64_t words[kStep];
      join(blocks.low).store(words);
      join(blocks.high).store(words + VU::kSize);
      for (int64_t k = 0; k < kStep; ++k) {
        const auto scaled = static_cast<unsigned __int128>(words[k]) * plan.span;
        numbers[k] = static_cast<int64_t>(static_cast<uint64_t>(plan.low) +
                                          static_cast<uint64_t>(scaled >> 64));
      }
    }
    if (is_real(plan.dtype)) {
      double wide[kStep];
      for (int64_t k = 0; k < kStep; ++k) wide[k] = static_cast<double>(numbers[k]);
      store_numbers(plan.dtype, load_numbers(DType::kFloat64, wide), out);
      return;
    }
    // The low bits of a number are the number of a narrower type.
    switch (size_of(plan.dtype)) {
      case 1:
        return store_integers<int8_t>(numbers, out);
      case 2:
        return store_integers<int16_t>(numbers, out);
      case 4:
        return store_integers<int32_t>(numbers, out);
      default:
        return store_integers<int64_t>(numbers, out);
    }
  }

 private:
  [[gnu::always_inline]] static VU join(const PhiloxBlock<VU>& block) {
    return (block.words[0] & VU(uint64_t{0xffffffff})) | shift_left<32>(block.words[1]);
  }
  // For a span below 2**32, by the products of the halves of u.
  [[gnu::always_inline]] static VU scale_words(const PhiloxBlock<VU>& block,
                                               const RandomPlan& plan) {
    const VU span(plan.span);
    const VU carry = shift_right<32>(multiply_low_words(block.words[0], span));
    const VU scaled = shift_right<32>(multiply_low_words(block.words[1], span) + carry);
    return scaled + VU(static_cast<uint64_t>(plan.low));
  }
  template <class T>
  [[gnu::always_inline]] static void store_integers(const int64_t* numbers, void* out) {
    T* target = static_cast<T*>(out);
    for (int64_t k = 0; k < kStep; ++k) target[k] = static_cast<T>(numbers[k]);
  }
};

// ---- The loop ----

template <class Distribution>
void random_row(const RandomPlan& plan, int64_t begin, int64_t end) {
  const Source source{plan, PhiloxKeys(plan.seed)};
  const int64_t size = size_of(plan.dtype);
  alignas(int64_t) std::byte rest[kStep * sizeof(int64_t)];
  auto* out = static_cast<std::byte*>(plan.output) + begin * size;
  // One call, which is inlined: a second one for the rest would double the code.
  for (int64_t i = begin; i < end; i += kStep, out += kStep * size) {
    const int64_t count = std::min(kStep, end - i);
    Distribution::draw(source, i, count, count == kStep ? out : rest);
    if (count < kStep) std::memcpy(out, rest, static_cast<size_t>(count * size));
  }
}

RandomRow find_uniform(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return &random_row<Uniform<double>>;
    case DType::kFloat32:
      return &random_row<Uniform<float>>;
    case DType::kFloat16:
      return &random_row<Uniform<Half>>;
    default:
      return &random_row<Uniform<BFloat16>>;
  }
}

}  // namespace

RandomRow find_random(RandomOp op, DType dtype) {
  if (op == RandomOp::kInteger) {
    const bool is_number = visit_dtype(dtype, []<class T>(TypeTag<T>) {
      return std::is_integral_v<T> && !std::is_same_v<T, bool>;
    });
    return is_real(dtype) || is_number ? &random_row<Integer> : nullptr;
  }
  if (!is_real(dtype)) return nullptr;
  switch (op) {
    case RandomOp::kUniform:
      return find_uniform(dtype);
    case RandomOp::kNormal:
      return dtype == DType::kFloat64 ? &random_row<Normal<true>> : &random_row<Normal<false>>;
    case RandomOp::kBernoulli:
      return &random_row<Bernoulli>;
    case RandomOp::kExponential:
      return &random_row<Transformed<Exponential>>;
    case RandomOp::kCauchy:
      return &random_row<Transformed<Cauchy>>;
    case RandomOp::kLogNormal:
      return &random_row<Transformed<LogNormal>>;
    case RandomOp::kGeometric:
      return &random_row<Transformed<Geometric>>;
    case RandomOp::kInteger:
    case RandomOp::kTruncatedNormal:  // number by number, in random/random.cpp
    case RandomOp::kPoisson:
    case RandomOp::kGamma:
    case RandomOp::kBinomial:
    case RandomOp::kPermutation:
    case RandomOp::kCount:
      break;
  }
  return nullptr;
}

}  // namespace tsr::cpu::TSR_ISA
