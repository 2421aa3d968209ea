// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The random numbers of one instruction-set level: a Philox block per element, so that an element's
// value does not depend on threads, vectors or levels. (A normal number may differ between levels
// in its last bits, as the logarithm and the cosine do.)
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

struct Blocks {
  PhiloxBlock<VU> low, high;
};

// The blocks of elements i to i + kStep - 1.
[[gnu::always_inline]] inline Blocks draw_blocks(const RandomPlan& plan, int64_t i) {
  uint64_t counters[VU::kSize];
  for (int k = 0; k < VU::kSize; ++k) counters[k] = static_cast<uint64_t>(k);
  const VU first = VU::load(counters) + VU(plan.offset + static_cast<uint64_t>(i));
  return {philox(plan.seed, first), philox(plan.seed, first + VU(uint64_t{VU::kSize}))};
}

// ---- Uniform ----

// The whole number in the low half of every lane (2**52 + n has the bits of n at its end).
[[gnu::always_inline]] inline VD low_word(VU a) {
  const VU bits = (a & VU(uint64_t{0xffffffff})) | bit_cast_to<uint64_t>(VD(0x1p52));
  return bit_cast_to<double>(bits) - VD(0x1p52);
}
// The first kBits of a word as a number in [0, 1).
template <int kBits>
[[gnu::always_inline]] inline VD fraction(VU word) {
  const VU kept = shift_right<32 - kBits>(word & VU(uint64_t{0xffffffff}));
  return low_word(kept) * VD(1.0 / static_cast<double>(uint64_t{1} << kBits));
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

// Numbers in [0, 1) with as many bits as T can hold exactly, so that rounding never reaches 1.
template <class T>
[[gnu::always_inline]] inline VD uniform01(const PhiloxBlock<VU>& block) {
  if constexpr (std::is_same_v<T, double>) return long_fraction(block.words[0], block.words[1]);
  constexpr int kBits = std::is_same_v<T, Half> ? 11 : std::is_same_v<T, BFloat16> ? 8 : 24;
  return fraction<kBits>(block.words[1]);
}

// ---- Numbers of the output's dtype, as pairs of float64 ----

template <class T>
[[gnu::always_inline]] inline VDPair load_numbers(const T* source) {
  if constexpr (std::is_same_v<T, double>) {
    return {VD::load(source), VD::load(source + VD::kSize)};
  } else if constexpr (std::is_same_v<T, float>) {
    return widen(VF::load(source));
  } else {
    const auto* bits = reinterpret_cast<const uint16_t*>(source);
    return widen(std::is_same_v<T, Half> ? load_half(bits) : load_bfloat(bits));
  }
}
template <class T>
[[gnu::always_inline]] inline void store_numbers(VDPair value, T* target) {
  if constexpr (std::is_same_v<T, double>) {
    value.low.store(target);
    value.high.store(target + VD::kSize);
  } else if constexpr (std::is_same_v<T, float>) {
    narrow(value).store(target);
  } else {
    auto* bits = reinterpret_cast<uint16_t*>(target);
    if constexpr (std::is_same_v<T, Half>)
      store_half(narrow(value), bits);
    else
      store_bfloat(narrow(value), bits);
  }
}

// ---- Distributions ----
// draw(plan, i, count, out) writes elements i to i + kStep - 1, of which `count` are wanted.

struct Uniform {
  // In [low, high): a value that would round to high becomes low.
  template <class T>
  [[gnu::always_inline]] static void draw(const RandomPlan& plan, int64_t i, int64_t, T* out) {
    const Blocks blocks = draw_blocks(plan, i);
    const VD low(plan.p0);
    const VD span(plan.p1 - plan.p0);
    store_numbers({low + span * uniform01<T>(blocks.low), low + span * uniform01<T>(blocks.high)},
                  out);
    if (!(plan.p1 > plan.p0)) return;
    const VDPair rounded = load_numbers(out);
    const auto inside = [&](VD value) { return select(value >= VD(plan.p1), low, value); };
    store_numbers(each_half(rounded, inside), out);
  }
};

struct Normal {
  // Box and Muller (1958): the radius from (0, 1], the angle from [0, 1) of a turn.
  template <class T>
  [[gnu::always_inline]] static void draw(const RandomPlan& plan, int64_t i, int64_t, T* out) {
    const Blocks blocks = draw_blocks(plan, i);
    VDPair value;
    if constexpr (std::is_same_v<T, double>) {
      value = {transform(blocks.low), transform(blocks.high)};
    } else {
      const auto part = [&](int word) {
        return narrow(
            {fraction<24>(blocks.low.words[word]), fraction<24>(blocks.high.words[word])});
      };
      value = widen(sqrt(VF(-2.0) * log(VF(1.0) - part(0))) * cos_of_turns(part(2)));
    }
    const auto place = [&](VD x) { return VD(plan.p0) + VD(plan.p1) * x; };
    store_numbers(each_half(value, place), out);
  }

 private:
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
    const VF value = select(odd_lanes(quadrant), short_sin(r), short_cos(r));
    return flip_by_quadrant(value, quadrant + VI(1));
  }
};

// Distributions that are functions of open numbers, in float64.
template <class Function>
struct Transformed {
  template <class T>
  [[gnu::always_inline]] static void draw(const RandomPlan& plan, int64_t i, int64_t, T* out) {
    const Blocks blocks = draw_blocks(plan, i);
    const auto value = [&](const PhiloxBlock<VU>& block) {
      return Function::of(plan, open_fraction(block.words[0], block.words[1]),
                          open_fraction(block.words[2], block.words[3]));
    };
    store_numbers({value(blocks.low), value(blocks.high)}, out);
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
  template <class T>
  [[gnu::always_inline]] static void draw(const RandomPlan& plan, int64_t i, int64_t count,
                                          T* out) {
    const Blocks blocks = draw_blocks(plan, i);
    VDPair probability{VD(plan.p0), VD(plan.p0)};
    if (plan.probabilities != nullptr) {
      T own[kStep] = {};
      std::memcpy(own, static_cast<const T*>(plan.probabilities) + i,
                  static_cast<size_t>(count) * sizeof(T));
      probability = load_numbers(own);
    }
    const auto pick = [&](const PhiloxBlock<VU>& block, VD limit) {
      return select(uniform01<double>(block) < limit, VD(plan.p1), VD(0.0));
    };
    store_numbers({pick(blocks.low, probability.low), pick(blocks.high, probability.high)}, out);
  }
};

struct Integer {
  // low + floor(u span / 2^64): the bias is below span / 2^64.
  template <class T>
  [[gnu::always_inline]] static void draw(const RandomPlan& plan, int64_t i, int64_t, T* out) {
    const Blocks blocks = draw_blocks(plan, i);
    uint64_t numbers[kStep];
    const auto join = [](const PhiloxBlock<VU>& block) {
      return (block.words[0] & VU(uint64_t{0xffffffff})) | shift_left<32>(block.words[1]);
    };
    join(blocks.low).store(numbers);
    join(blocks.high).store(numbers + VU::kSize);
    const auto place = [&](uint64_t number) {
      const auto scaled = static_cast<unsigned __int128>(number) * plan.span;
      return static_cast<int64_t>(static_cast<uint64_t>(plan.low) +
                                  static_cast<uint64_t>(scaled >> 64));
    };
    if constexpr (std::is_integral_v<T>) {
      for (int64_t k = 0; k < kStep; ++k) out[k] = static_cast<T>(place(numbers[k]));
    } else {
      double wide[kStep];
      for (int64_t k = 0; k < kStep; ++k) wide[k] = static_cast<double>(place(numbers[k]));
      store_numbers(load_numbers(wide), out);
    }
  }
};

// ---- The loop ----

template <class Distribution, class T>
void random_row(const RandomPlan& plan, int64_t begin, int64_t end) {
  T* out = static_cast<T*>(plan.output);
  int64_t i = begin;
  for (; i + kStep <= end; i += kStep) Distribution::draw(plan, i, kStep, out + i);
  if (i == end) return;
  T rest[kStep];
  Distribution::draw(plan, i, end - i, rest);
  std::memcpy(out + i, rest, static_cast<size_t>(end - i) * sizeof(T));
}

template <class T>
RandomRow find_floating(RandomOp op) {
  switch (op) {
    case RandomOp::kUniform:
      return &random_row<Uniform, T>;
    case RandomOp::kNormal:
      return &random_row<Normal, T>;
    case RandomOp::kBernoulli:
      return &random_row<Bernoulli, T>;
    case RandomOp::kInteger:
      return &random_row<Integer, T>;
    case RandomOp::kExponential:
      return &random_row<Transformed<Exponential>, T>;
    case RandomOp::kCauchy:
      return &random_row<Transformed<Cauchy>, T>;
    case RandomOp::kLogNormal:
      return &random_row<Transformed<LogNormal>, T>;
    case RandomOp::kGeometric:
      return &random_row<Transformed<Geometric>, T>;
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

}  // namespace

RandomRow find_random(RandomOp op, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(TypeTag<T>) -> RandomRow {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half> ||
                  std::is_same_v<T, BFloat16>) {
      return find_floating<T>(op);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return op == RandomOp::kInteger ? &random_row<Integer, T> : nullptr;
    }
    return nullptr;
  });
}

}  // namespace tsr::cpu::TSR_ISA
