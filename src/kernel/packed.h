// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Products with one right matrix that is used many times, as the weights of a recurrent layer are.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

enum class PackedPass : int32_t { kPack, kMultiply, kCount };

// A packed matrix has memory for its columns rounded up to a multiple of this.
inline constexpr int64_t kPackedColumns = 64;

// Pack: writes the matrix (inner, columns), with strides in ELEMENTS, to `packed` in an order of
// the backend's own. Multiply: out = left packed, or out += left packed with `adds`, for `rows`
// rows, which are contiguous in left and in out. dtype is float32 or float64.
struct PackedPlan {
  PackedPass pass;
  int32_t adds;
  int64_t rows, inner, columns;
  int64_t matrix_strides[2];
  int64_t left_step, out_step;  // from one row to the next, in elements
  Place place;
  DType dtype;
  const void* matrix;
  void* packed;
  const void* left;
  void* out;
};
inline const char* name_of(const PackedPlan& plan) noexcept {
  return name_in({"pack", "packed_product"}, plan.pass);
}

}  // namespace tsr::kernel
