// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The reductions of one instruction-set level. float32 folds in float64: the conversion hides
// behind the memory and makes a sum right to its last bit.
#include "backend/cpu/reduce_fold.h"

namespace tsr::cpu::TSR_ISA {
namespace {

template <class F, class T, class S>
ReduceRow fold_row() {
  return {&fold_along<F, T, S>, &fold_across<F, T, S>};
}

template <class F>
ReduceRow for_floats(DType element) {
  if (element == DType::kFloat32) return fold_row<F, float, VD>();
  if (element == DType::kFloat64) return fold_row<F, double, VD>();
  return {};
}
template <class F>
ReduceRow for_ordered(DType element) {
  if (element == DType::kInt64) return fold_row<F, int64_t, VL>();
  if (element == DType::kUInt64) return fold_row<F, uint64_t, Vec<uint64_t>>();
  return for_floats<F>(element);
}
template <class F>
ReduceRow for_numbers(DType element) {
  if (element == DType::kInt64 || element == DType::kUInt64) return fold_row<F, int64_t, VL>();
  if (element == DType::kComplex128) return {&complex_along<F>, &complex_across<F>};
  return for_floats<F>(element);
}

template <bool kLargest>
ReduceRow for_positions(DType element) {
  switch (element) {
    case DType::kFloat32:
      return {&position_along<kLargest, float, VD>, &position_across<kLargest, float, VD>};
    case DType::kFloat64:
      return {&position_along<kLargest, double, VD>, &position_across<kLargest, double, VD>};
    case DType::kInt64:
      return {&position_along<kLargest, int64_t, VL>, &position_across<kLargest, int64_t, VL>};
    case DType::kUInt64:
      return {&position_along<kLargest, uint64_t, Vec<uint64_t>>,
              &position_across<kLargest, uint64_t, Vec<uint64_t>>};
    default:
      return {};
  }
}

ReduceRow for_variance(DType element) {
  if (element == DType::kFloat32) return {&variance_along<float>, &variance_across<float>};
  if (element == DType::kFloat64) return {&variance_along<double>, &variance_across<double>};
  return {};
}
ReduceRow for_logsumexp(DType element) {
  if (element == DType::kFloat32)
    return {&logsumexp_along<float, VF>, &logsumexp_across<float, VF>};
  if (element == DType::kFloat64)
    return {&logsumexp_along<double, VD>, &logsumexp_across<double, VD>};
  return {};
}

}  // namespace

ReduceRow find_reduce(Fold fold, DType element) {
  switch (fold) {
    case Fold::kSum:
      return for_numbers<SumFold>(element);
    case Fold::kProd:
      return for_numbers<ProdFold>(element);
    case Fold::kMax:
      return for_ordered<MaxFold>(element);
    case Fold::kMin:
      return for_ordered<MinFold>(element);
    case Fold::kArgMax:
      return for_positions<true>(element);
    case Fold::kArgMin:
      return for_positions<false>(element);
    case Fold::kCountTrue:
      if (element != DType::kBool) return {};
      return {&count_along, &count_across};
    case Fold::kVariance:
      return for_variance(element);
    case Fold::kSumAbs:
      return for_floats<SumAbsFold>(element);
    case Fold::kSumSquares:
      return for_floats<SumSquaresFold>(element);
    case Fold::kMaxAbs:
      return for_floats<MaxAbsFold>(element);
    case Fold::kMinAbs:
      return for_floats<MinAbsFold>(element);
    case Fold::kSumPowers:
      return for_floats<SumPowersFold>(element);
    case Fold::kLogSumExp:
      return for_logsumexp(element);
    default:
      return {};
  }
}

}  // namespace tsr::cpu::TSR_ISA
