// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Random numbers. Uniform numbers, Bernoulli's and integers are those of the CPU; of the others the
// last bits may differ, as CUDA's own logarithm and cosine do.
//
// Note [One block per element]
// Element i of a call takes the Philox block of counter offset + i, on every device, and no other
// element takes it. So a number depends on the seed and its place alone: dropout in attention finds
// its mask again in the backward pass, a tensor that is split among devices gets the numbers of the
// whole, and a call advances the offset by numel whatever its dtype. A block would hold four
// float32, which would quarter the work of Philox (about 70 integer instructions per block); but
// every number of the CPU, of attention and of saved states would become another one. A kernel that
// draws and uses numbers, as dropout does, is limited by the memory also with a block for each.
#include <bit>

#include "backend/common/philox.h"
#include "backend/common/random_math.h"
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::RandomOp;
using kernel::RandomPlan;
using kernel::Status;

namespace {

// Numbers of a block as the distributions take them.
struct Words {
  PhiloxBlock<uint64_t> block;
  __device__ uint32_t word(int k) const { return static_cast<uint32_t>(block.words[k]); }
  __device__ uint64_t low() const { return word(0) | static_cast<uint64_t>(word(1)) << 32; }
  __device__ uint64_t high() const { return word(2) | static_cast<uint64_t>(word(3)) << 32; }
};

// The bits of a fraction below 1 that a dtype holds exactly, so that rounding never gives 1.
__device__ int exact_bits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    default:
      return 53;
  }
}
// 2^-bits, from its exponent.
__device__ double power_of_half(int bits) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 - bits) << 52);
}
__device__ double unit(uint64_t word, int bits) {
  return static_cast<double>(word >> (64 - bits)) * power_of_half(bits);
}

__device__ double rounded_to(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat16:
      return static_cast<float>(Half(static_cast<float>(value)));
    case DType::kBFloat16:
      return static_cast<float>(BFloat16(static_cast<float>(value)));
    case DType::kFloat32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

// In [low, high): a value that would round to high becomes low.
__device__ double uniform(const RandomPlan& plan, const Words& block) {
  const double value = plan.p0 + (plan.p1 - plan.p0) * unit(block.low(), exact_bits(plan.dtype));
  return rounded_to(plan.dtype, value) >= plan.p1 && plan.p1 > plan.p0 ? plan.p0 : value;
}

// The cosine of 2 pi v. cospi needs no reduction of its argument, which costs more than the cosine.
__device__ float cosine_of_turns(float v) {
#if defined(__CUDA_ARCH__)
  return cospif(2 * v);
#else
  return std::cos(6.2831853F * v);
#endif
}

// Box and Muller (1958): the radius from (0, 1], the angle from [0, 1).
__device__ double normal(const RandomPlan& plan, const Words& block) {
  constexpr double kTwoPi = 6.283185307179586;
  if (plan.dtype == DType::kFloat64) {
    const double radius = std::sqrt(-2 * std::log1p(-unit(block.low(), 53)));
    return plan.p0 + plan.p1 * radius * std::cos(kTwoPi * unit(block.high(), 53));
  }
  const float u = static_cast<float>(block.word(0) >> 8) * 0x1p-24F;
  const float v = static_cast<float>(block.word(2) >> 8) * 0x1p-24F;
  const float radius = std::sqrt(-2 * std::log1p(-u));
  return plan.p0 + plan.p1 * static_cast<double>(radius * cosine_of_turns(v));
}

// The upper half of a 128-bit product.
__device__ uint64_t multiply_high(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
#endif
}

// What the other distributions are functions of: the first number of the block, open at both ends.
__device__ double log_normal(const RandomPlan& plan, const Words& block) {
  constexpr double kTwoPi = 6.283185307179586;
  const double u = math::open_unit(block.low());
  const double v = math::open_unit(block.high());
  return std::exp(plan.p0 + plan.p1 * (std::sqrt(-2 * std::log(u)) * std::cos(kTwoPi * v)));
}
__device__ double truncated_normal(const RandomPlan& plan, double u) {
  return plan.p0 + plan.p1 * math::normal_quantile(plan.p2 + u * (plan.p3 - plan.p2));
}

__device__ double draw(const RandomPlan& plan, const Words& block, int64_t i, int64_t size) {
  const auto at = [&](const void* list) {
    return load_as<double>(plan.dtype, static_cast<const char*>(list) + i * size);
  };
  const auto own = [&] { return at(plan.probabilities); };
  const uint64_t counter = plan.offset + static_cast<uint64_t>(i);
  const double u = math::open_unit(block.low());
  switch (plan.op) {
    case RandomOp::kUniform:
      return uniform(plan, block);
    case RandomOp::kNormal:
      return normal(plan, block);
    case RandomOp::kBernoulli: {
      const double p = plan.probabilities == nullptr ? plan.p0 : own();
      return unit(block.low(), 53) < p ? plan.p1 : 0.0;
    }
    case RandomOp::kExponential:
      return math::exponential_of(u, plan.p0);
    case RandomOp::kCauchy:
      return math::cauchy_of(u, plan.p0, plan.p1);
    case RandomOp::kLogNormal:
      return log_normal(plan, block);
    case RandomOp::kGeometric:
      return math::geometric_of(u, plan.p0);
    case RandomOp::kTruncatedNormal:
      return truncated_normal(plan, u);
    case RandomOp::kGamma:
      return math::gamma_of(own(), math::Draws(plan.seed, counter));
    case RandomOp::kBinomial:
      return math::binomial_of(at(plan.counts), own(), math::Draws(plan.seed, counter));
    default:
      return math::poisson_of(own(), math::Draws(plan.seed, counter));
  }
}

__global__ void random_kernel(RandomPlan plan, int64_t size) {
  for (int64_t i = first_index(); i < plan.numel; i += index_step()) {
    const Words block{philox<uint64_t>(plan.seed, plan.offset + static_cast<uint64_t>(i))};
    char* at = static_cast<char*>(plan.output) + i * size;
    if (plan.op == RandomOp::kInteger) {
      // low + floor(u span / 2^64): the bias is below span / 2^64
      store_as(plan.dtype, at,
               static_cast<int64_t>(static_cast<uint64_t>(plan.low) +
                                    multiply_high(block.low(), plan.span)));
    } else {
      store_as(plan.dtype, at, draw(plan, block, i, size));
    }
  }
}

}  // namespace

Status random(const RandomPlan& plan) {
  const bool integers = is_integral(plan.dtype) && plan.op == RandomOp::kInteger;
  if (!is_floating(plan.dtype) && !integers) {
    return failure(Code::kDType,
                   "random: expected a floating dtype, or an integer one for integers");
  }
  return launch(plan.place, plan.numel, &random_kernel, plan, itemsize(plan.dtype));
}

}  // namespace tsr::cuda
