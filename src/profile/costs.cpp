// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/costs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

#include "kernel/kernels.h"

namespace tsr::profile {
namespace {

using namespace kernel;

// Note [Costs of kernels]
// A multiply-add counts as two operations, as everywhere. An elementary function (exp, tanh, a
// division) counts as one: what it really costs depends on the processor. Bytes are those that a
// kernel must move when each element is read or written once, as if the caches held everything
// that is used twice; the real traffic is at least as large. Both are therefore lower bounds, and
// the time that the measured roof allows for them is one as well.

double bytes_of(DType dtype, double count) {
  return count * static_cast<double>(itemsize(dtype));
}
double real(int64_t n) {
  return static_cast<double>(n);
}
// Products and sums of complex numbers, each counted by its real operations.
double multiply_adds(DType dtype, double count) {
  return count * (is_complex(dtype) ? 8 : 2);
}
double product(const int64_t* sizes, int32_t n) {
  double all = 1;
  for (int32_t i = 0; i < n; ++i) all *= real(sizes[i]);
  return all;
}

// The elements of an operand: repeated ones (stride 0) count once.
double distinct(const ElementwisePlan& plan, int32_t operand) {
  double count = 1;
  for (int32_t d = 0; d < plan.ndim; ++d) {
    if (plan.strides[operand][d] != 0) count *= real(plan.sizes[d]);
  }
  return count;
}

Cost moved(const ElementwisePlan& plan) {
  Cost cost;
  for (int32_t k = 0; k < plan.operands; ++k) {
    if (((plan.host_operands >> static_cast<uint32_t>(k)) & 1U) != 0) continue;
    cost.bytes += bytes_of(plan.dtypes[k], distinct(plan, k));
  }
  return cost;
}
Cost pointwise(const ElementwisePlan& plan) {
  Cost cost = moved(plan);
  cost.flops = real(plan.numel);
  return cost;
}
// The value and its derivative; the product with the tangent; the sum over the operands.
Cost dual(const DualPlan& plan) {
  int arrays = 2;
  for (int k = 0; k < 2; ++k) {
    arrays += plan.operands[k] != nullptr ? 1 : 0;
    arrays += plan.tangents[k] != nullptr ? 1 : 0;
  }
  const bool both = plan.tangents[0] != nullptr && plan.tangents[1] != nullptr;
  return {(both ? 4 : 2) * real(plan.numel), bytes_of(plan.dtype, arrays * real(plan.numel))};
}

Cost reduce(const ReducePlan& plan) {
  const double read = real(plan.kept_numel) * real(plan.reduced_numel);
  return {read,
          bytes_of(plan.input_dtype, read) + bytes_of(plan.output_dtype, real(plan.kept_numel))};
}
Cost scan(const ScanPlan& plan) {
  const double count = real(plan.numel) * real(plan.axis_size);
  return {count, bytes_of(plan.dtype, 2 * count) + (plan.positions != nullptr ? 8 * count : 0)};
}
// Forward: the maximum, a difference, exp, the sum, a quotient.
Cost softmax(const SoftmaxPlan& plan) {
  const double count = real(plan.rows) * real(plan.columns) * real(plan.inner);
  return {5 * count, bytes_of(plan.dtype, (plan.saved != nullptr ? 3 : 2) * count)};
}

Cost gemm(const GemmPlan& plan) {
  const double m = real(plan.m), n = real(plan.n), k = real(plan.k), batch = real(plan.batch);
  return {multiply_adds(plan.dtype, batch * m * n * k),
          bytes_of(plan.dtype, batch * (m * k + k * n + m * n))};
}
Cost packed(const PackedPlan& plan) {
  const double rows = real(plan.rows), inner = real(plan.inner), columns = real(plan.columns);
  if (plan.pass == PackedPass::kPack) return {0, bytes_of(plan.dtype, 2 * inner * columns)};
  return {2 * rows * inner * columns,
          bytes_of(plan.dtype, rows * inner + inner * columns + rows * columns)};
}
Cost linear(const LinearPlan& plan) {
  const double rows = real(plan.rows), inner = real(plan.inner), columns = real(plan.columns);
  return {2 * rows * inner * columns,
          bytes_of(plan.dtype, rows * inner + inner * columns + rows * columns + columns)};
}
Cost conv(const ConvPlan& plan) {
  const double batch = real(plan.batch), in = real(plan.in_channels), out = real(plan.out_channels);
  const double outputs = batch * out * product(plan.output_size, plan.spatial);
  const double taps =
      in / real(std::max<int64_t>(plan.groups, 1)) * product(plan.kernel, plan.spatial);
  const double inputs = batch * in * product(plan.input_size, plan.spatial);
  return {2 * outputs * taps, bytes_of(plan.dtype, inputs + out * taps + outputs)};
}
Cost attention(const AttentionPlan& plan) {
  const double batch = product(plan.batch, kAttentionBatch);
  const double q = real(plan.queries), k = real(plan.keys);
  const double width = real(plan.width), values = real(plan.value_width);
  const double pairs = batch * q * k * (plan.causal != 0 ? 0.5 : 1);
  const double io = batch * (q * (width + values) + k * (width + values));
  // Backward: the scores again, and four products of gradients.
  const double passes = plan.backward != 0 ? 2.5 : 1;
  return {passes * 2 * pairs * (width + values),
          bytes_of(plan.dtype, io * (plan.backward != 0 ? 2 : 1))};
}

double cubes(double m, double n, double factor) {
  return factor * m * n * std::min(m, n);
}
// The leading terms of LAPACK's counts.
double factor_flops(const FactorPlan& plan) {
  const double m = real(plan.rows), n = real(plan.columns), others = real(plan.others);
  switch (plan.op) {
    case FactorOp::kCholesky:
      return m * m * m / 3;
    case FactorOp::kLu:
      return cubes(m, n, 2.0 / 3);
    case FactorOp::kSolve:
      return m * m * m * 2 / 3 + 2 * m * m * others;
    case FactorOp::kInverse:
      return 2 * m * m * m;
    case FactorOp::kTriangularSolve:
      return m * m * others;
    case FactorOp::kQr:
      return cubes(m, n, 4.0 / 3) * (plan.q != nullptr ? 2 : 1);
    case FactorOp::kEigh:
      return m * m * m * (plan.vectors != 0 ? 9 : 4.0 / 3);
    case FactorOp::kSvd:
      return cubes(m, n, plan.q != nullptr ? 14 : 8.0 / 3);
    case FactorOp::kEig:
      return m * m * m * (plan.q != nullptr ? 25 : 10);
    case FactorOp::kLeastSquares:
      return cubes(m, n, 4) + 4 * m * n * others;
    default:
      return 0;
  }
}
Cost factor(const FactorPlan& plan) {
  const double batch = real(plan.batch);
  const double size = real(plan.rows) * real(std::max<int64_t>(plan.columns, 1));
  const double flops = batch * factor_flops(plan) * (is_complex(plan.dtype) ? 4 : 1);
  return {flops, bytes_of(plan.dtype, 2 * batch * size)};
}
Cost fft(const FftPlan& plan) {
  const double lines = product(plan.sizes, plan.rank);
  const double n = real(plan.length);
  const double whole = plan.op == FftOp::kComplex ? 1 : 0.5;
  return {whole * 5 * lines * n * std::log2(std::max(n, 2.0)),
          bytes_of(plan.dtype, lines * n * 4 * whole)};
}
Cost distance(const DistancePlan& plan) {
  const double pairs =
      real(plan.batch) * real(plan.rows1) * real(plan.rows2) * (plan.condensed != 0 ? 0.5 : 1);
  const double read =
      real(plan.batch) * (real(plan.rows1) + real(plan.rows2)) * real(plan.components);
  return {3 * pairs * real(plan.components), bytes_of(plan.dtype, read + pairs)};
}

Cost pool(const PoolPlan& plan) {
  const double planes = real(plan.batch) * real(plan.channels);
  const double in = planes * product(plan.input_size, plan.spatial);
  const double out = planes * product(plan.output_size, plan.spatial);
  const double window =
      plan.adaptive != 0 ? in / std::max(out, 1.0) : product(plan.kernel, plan.spatial);
  return {plan.op == PoolOp::kPick ? 0 : out * window,
          bytes_of(plan.dtype, in + out) + (plan.positions != nullptr ? 8 * out : 0)};
}
Cost resample(const ResamplePlan& plan) {
  double in = real(plan.planes) * real(plan.channels), out = in, taps = 0;
  for (const ResampleAxis& axis : plan.axes) {
    in *= real(std::max<int64_t>(axis.input, 1));
    out *= real(std::max<int64_t>(axis.output, 1));
    taps += real(axis.taps);
  }
  return {2 * out * taps, bytes_of(plan.dtype, in + out)};
}
Cost weighted_gather(const WeightedGatherPlan& plan) {
  const double points = real(plan.batch) * real(plan.points), taps = real(plan.taps);
  const double channels = real(plan.channels);
  return {2 * points * taps * channels,
          bytes_of(plan.dtype, points * channels * 2 + points * taps) + 4 * points * taps};
}
// Of an axis some 10 operations for each tap, and a product for each tap of all axes.
Cost grid_taps(const GridTapsPlan& plan) {
  const double each = real(taps_of_axis(plan.interpolation)), axes = plan.axes;
  const double points = real(plan.batch) * real(plan.points), taps = std::pow(each, axes);
  return {points * (10 * each * axes + 2 * taps),
          bytes_of(plan.dtype, points * (axes + taps)) + 4 * points * taps};
}
// A row that several indices name is read once; a table that is written is written completely.
Cost bag(const BagPlan& plan) {
  const double indices = real(plan.indices), features = real(plan.features);
  const bool is_largest = plan.pass == BagPass::kMaxima;
  const double each =
      is_largest || (plan.pass != BagPass::kFactors && plan.factors == nullptr) ? 1 : 2;
  const int64_t rows = plan.pass == BagPass::kTable ? plan.rows : std::min(plan.rows, plan.indices);
  const double sums = real(plan.bags) * features;
  const DType wide = opmath(plan.dtype);
  return {each * indices * features,
          bytes_of(plan.dtype, real(rows) * features) + bytes_of(wide, sums) +
              bytes_of(wide, plan.factors != nullptr ? indices : 0) + 8 * indices +
              8 * (plan.starts != nullptr ? real(plan.bags) : 0) + 8 * (is_largest ? sums : 0)};
}
// Forward: mean and variance, the difference, two products and a sum. Backward: two sums and the
// gradient.
Cost norm(const NormPlan& plan) {
  const double count = real(plan.outer) * real(plan.channels) * real(plan.inner);
  if (plan.backward != 0) return {10 * count, bytes_of(plan.dtype, 3 * count)};
  const double parts = plan.tangent_output != nullptr ? 2 : 1;  // with the tangent of each number
  return {(plan.use_statistics != 0 ? 2 : 6) * count * parts,
          bytes_of(plan.dtype, 2 * count * parts)};
}
Cost class_loss(const ClassLossPlan& plan) {
  const double positions = real(plan.batch) * real(plan.inner);
  const double count = plan.log_probabilities != 0 && plan.backward == 0
                           ? positions
                           : positions * real(plan.classes);
  return {4 * count, bytes_of(plan.dtype, count * (plan.backward != 0 ? 2 : 1)) + 8 * positions};
}
Cost gates(const GatesPlan& plan) {
  const double count = real(plan.rows) * real(plan.hidden);
  const double width = real(gates_width(plan.op));
  return {count * (width == 1 ? 3 : 20) * (plan.backward != 0 ? 1.5 : 1),
          bytes_of(plan.dtype, count * (2 * width + 4))};
}
Cost align_loss(const AlignLossPlan& plan) {
  const double steps = real(plan.time) * real(plan.batch);
  return {6 * steps * real(plan.states),
          bytes_of(plan.dtype, steps * (real(plan.classes) + real(plan.states)))};
}

Cost index(const IndexPlan& plan) {
  Cost cost = moved(plan.walk);
  if (plan.op >= IndexOp::kAccumulate) cost.flops = real(plan.walk.numel);
  return cost;
}
Cost nonzero(const NonzeroPlan& plan) {
  return {0, bytes_of(plan.dtype, real(plan.numel))};
}
Cost sort(const SortPlan& plan) {
  const double rows = real(plan.rows);
  return {0, bytes_of(plan.dtype, rows * real(plan.columns)) +
                 rows * real(plan.keep) * static_cast<double>(8 + itemsize(plan.dtype))};
}
Cost search(const SearchPlan& plan) {
  const double values = real(plan.rows) * real(plan.count);
  return {0, bytes_of(plan.dtype, values + real(plan.rows) * real(plan.columns)) + 8 * values};
}
Cost histogram(const HistogramPlan& plan) {
  return {real(plan.count), bytes_of(plan.dtype, real(plan.count)) + 8 * real(plan.bins)};
}
Cost random(const RandomPlan& plan) {
  return {real(plan.numel), bytes_of(plan.dtype, real(plan.numel))};
}
Cost sequence(const SequencePlan& plan) {
  return {2 * real(plan.numel), bytes_of(plan.dtype, real(plan.numel))};
}
Cost triangle(const TrianglePlan& plan) {
  return {0, bytes_of(plan.dtype, 2 * real(plan.batch) * real(plan.rows) * real(plan.columns))};
}

struct OptimRule {
  double flops;     // for each element
  double accesses;  // of memory, for each element: parameter and gradient with the states
};
OptimRule optim_rule(OptimOp op, const OptimSlot& slot) {
  double states = 0;
  for (const void* state : {slot.state0, slot.state1, slot.state2})
    states += state != nullptr ? 1 : 0;
  switch (op) {
    case OptimOp::kNorm:
      return {2, 1};
    case OptimOp::kClip:
    case OptimOp::kUnscale:
      return {1, 2};
    default:
      return {2 + 5 * states, 3 + 2 * states};
  }
}
Cost optim(const OptimPlan& plan) {
  Cost cost;
  for (int64_t i = 0; i < plan.count; ++i) {
    const OptimRule rule = optim_rule(plan.op, plan.slots[i]);
    const double count = real(plan.slots[i].numel);
    cost += Cost{rule.flops * count, bytes_of(plan.dtype, rule.accesses * count)};
  }
  return cost;
}

// ---- The table ----

template <class Plan, Cost (*Rule)(const Plan&)>
Cost call(const void* plan) {
  return Rule(*static_cast<const Plan*>(plan));
}

struct Row {
  const char* family;
  Cost (*cost)(const void* plan);
};
constexpr Row kRows[] = {
    {kUnary.name, call<ElementwisePlan, pointwise>},
    {kBinary.name, call<ElementwisePlan, pointwise>},
    {kTernary.name, call<ElementwisePlan, pointwise>},
    {kSumOfProducts.name, call<ElementwisePlan, pointwise>},
    {kDualUnary.name, call<DualPlan, dual>},
    {kDualBinary.name, call<DualPlan, dual>},
    {kFill.name, call<ElementwisePlan, moved>},
    {kCopy.name, call<ElementwisePlan, moved>},
    {kReduce.name, call<ReducePlan, reduce>},
    {kGemm.name, call<GemmPlan, gemm>},
    {kConv.name, call<ConvPlan, conv>},
    {kNorm.name, call<NormPlan, norm>},
    {kPool.name, call<PoolPlan, pool>},
    {kOptim.name, call<OptimPlan, optim>},
    {kSoftmax.name, call<SoftmaxPlan, softmax>},
    {kSoftmaxBackward.name, call<SoftmaxPlan, softmax>},
    {kAttention.name, call<AttentionPlan, attention>},
    {kPacked.name, call<PackedPlan, packed>},
    {kLinear.name, call<LinearPlan, linear>},
    {kGates.name, call<GatesPlan, gates>},
    {kClassLoss.name, call<ClassLossPlan, class_loss>},
    {kIndex.name, call<IndexPlan, index>},
    {kScan.name, call<ScanPlan, scan>},
    {kRandom.name, call<RandomPlan, random>},
    {kSequence.name, call<SequencePlan, sequence>},
    {kTriangle.name, call<TrianglePlan, triangle>},
    {kSort.name, call<SortPlan, sort>},
    {kSearch.name, call<SearchPlan, search>},
    {kHistogram.name, call<HistogramPlan, histogram>},
    {kNonzero.name, call<NonzeroPlan, nonzero>},
    {kFactor.name, call<FactorPlan, factor>},
    {kFft.name, call<FftPlan, fft>},
    {kDistance.name, call<DistancePlan, distance>},
    {kResample.name, call<ResamplePlan, resample>},
    {kWeightedGather.name, call<WeightedGatherPlan, weighted_gather>},
    {kGridTaps.name, call<GridTapsPlan, grid_taps>},
    {kAlignLoss.name, call<AlignLossPlan, align_loss>},
    {kBag.name, call<BagPlan, bag>},
};

constexpr bool differ() {
  for (const Row& row : kRows) {
    if (std::count_if(std::begin(kRows), std::end(kRows), [&](const Row& other) {
          return std::string_view(other.family) == row.family;
        }) != 1)
      return false;
  }
  return true;
}
static_assert(differ() && std::size(kRows) == sizeof(KernelTable) / sizeof(void (*)()),
              "every family has one rule");

}  // namespace

Cost cost_of(const char* family, const void* plan) noexcept {
  // The name is nearly always the constant itself.
  for (const Row& row : kRows) {
    if (row.family == family) return row.cost(plan);
  }
  for (const Row& row : kRows) {
    if (std::strcmp(row.family, family) == 0) return row.cost(plan);
  }
  return {};
}

}  // namespace tsr::profile
