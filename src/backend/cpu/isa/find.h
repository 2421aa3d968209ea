// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The functions of one level that look up rows by op and dtype; each is defined in the file of its
// name.
#pragma once

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/fft/fft_rows.h"
#include "backend/cpu/linalg/triangle_rows.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "backend/cpu/random/random_rows.h"
#include "backend/cpu/reduce/reduce_rows.h"

namespace tsr::cpu::TSR_ISA {

PointwiseKernel find_unary(kernel::UnaryOp op, DType compute);
PointwiseKernel find_binary(kernel::BinaryOp op, DType compute);
PointwiseKernel find_ternary(kernel::TernaryOp op, DType compute);
PointwiseKernel find_sum_of_products(DType compute);
Row find_truths(kernel::BinaryOp op);
DualRow find_dual(kernel::BinaryOp op, DType dtype, bool first, bool second);
CastRow find_cast(DType from, DType to);
ReduceKernel find_reduce(kernel::ReduceOp op, DType input);
RandomRow find_random(kernel::RandomOp op, DType dtype);
void stream_copy(void* to, const void* from, int64_t nbytes);
extern const FftRows<float> kFftRowsFloat;
extern const FftRows<double> kFftRowsDouble;
extern const TriangleRows<float> kTriangleRowsFloat;
extern const TriangleRows<double> kTriangleRowsDouble;

}  // namespace tsr::cpu::TSR_ISA
