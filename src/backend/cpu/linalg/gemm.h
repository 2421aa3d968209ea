// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The matrix products that the CPU computes itself.
#pragma once

#include <cstring>

#include "kernel/gemm.h"

namespace tsr::cpu {

// A factor of a plan, as a number of its opmath type.
template <class T>
T parameter(const kernel::Parameter& value) {
  T number;
  std::memcpy(static_cast<void*>(&number), &value, sizeof(T));
  return number;
}

// One matrix product of integers or bools; false when there was no memory for it.
bool gemm_integer(const kernel::GemmPlan& plan, const void* a, const void* b, void* c);

// A product whose cost is reading or writing one large matrix once; false for any other product.
bool skinny_gemm(const kernel::GemmPlan& plan, const void* a, const void* b, void* c);

// A product with a transposed matrix whose lines share sets of the cache; false for any other
// product.
bool lines_gemm(const kernel::GemmPlan& plan, const void* a, const void* b, void* c);

// A product of matrices that fit into the first-level cache together; false for any other product.
bool small_gemm(const kernel::GemmPlan& plan, const void* a, const void* b, void* c);

// A product of few rows or columns of 16-bit floats with a larger matrix; false for any other
// product, and when there was no memory for it.
bool widened_gemm(const kernel::GemmPlan& plan, const void* a, const void* b, void* c);

// Whether tile_gemm makes a product: of bfloat16 matrices, where the processor has tiles for them.
bool takes_tiles(const kernel::GemmPlan& plan);
// False when there was no memory for it.
bool tile_gemm(const kernel::GemmPlan& plan, const void* a, const void* b, void* c);

// The products of a whole plan of 16-bit floats whose matrices are vectors; false for any other
// plan.
bool short_batch_gemm(const kernel::GemmPlan& plan);

}  // namespace tsr::cpu
