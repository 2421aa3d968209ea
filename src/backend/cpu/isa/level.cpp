// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What one instruction-set level offers: the tables of every family.
#include "backend/cpu/level.h"

#include "backend/cpu/isa/attention.h"
#include "backend/cpu/isa/bag.h"
#include "backend/cpu/isa/copy.h"
#include "backend/cpu/isa/depthwise.h"
#include "backend/cpu/isa/distance.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/gates.h"
#include "backend/cpu/isa/grid.h"
#include "backend/cpu/isa/index.h"
#include "backend/cpu/isa/integer_product.h"
#include "backend/cpu/isa/norm.h"
#include "backend/cpu/isa/optim.h"
#include "backend/cpu/isa/packed.h"
#include "backend/cpu/isa/pool.h"
#include "backend/cpu/isa/resample.h"
#include "backend/cpu/isa/skinny.h"
#include "backend/cpu/isa/softmax.h"

namespace tsr::cpu::TSR_ISA {
namespace {

constexpr PointwiseRows kPointwiseRows{find_unary,           find_binary, find_ternary,
                                       find_sum_of_products, find_truths, find_dual};
constexpr RandomRows kRandomRows{find_random};
constexpr ReduceRows kReduceRows{find_reduce};

}  // namespace

extern const Level kLevel;
const Level kLevel{
    TSR_ISA_NAME,
    {&kCopyRows, &kIndexRows, &kIntegerProductRows, &kPointwiseRows, &kRandomRows, &kReduceRows,
     &kShortProductRows,
     // float32
     &kAttentionRows<float>, &kBagRows<float>, &kClassLossRows<float>, &kDepthwiseRows<float>,
     &kDistanceRows<float>, &kFftRowsFloat, &kGatesRows<float>, &kGridRows<float>,
     &kNormRows<float>, &kOptimRows<float>, &kPackedRows<float>, &kPoolRows<float>,
     &kResampleRows<float>, &kSkinnyRows<float>, &kSoftmaxRows<float>, &kTriangleRowsFloat,
     &kWeightedGatherRows<float>,
     // float64
     &kAttentionRows<double>, &kBagRows<double>, &kClassLossRows<double>, &kDepthwiseRows<double>,
     &kDistanceRows<double>, &kFftRowsDouble, &kGatesRows<double>, &kGridRows<double>,
     &kNormRows<double>, &kOptimRows<double>, &kPackedRows<double>, &kPoolRows<double>,
     &kResampleRows<double>, &kSkinnyRows<double>, &kSoftmaxRows<double>, &kTriangleRowsDouble,
     &kWeightedGatherRows<double>}};

}  // namespace tsr::cpu::TSR_ISA
