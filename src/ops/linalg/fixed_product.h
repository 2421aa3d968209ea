// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Many products with one right matrix: those of a recurrent layer's weights.
#pragma once

#include "kernel/gemm.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// out = left right, or out += left right, for blocks of rows. The right matrix is packed once where
// the backend can do that and the rows of all blocks together pay for it; the object keeps it
// alive. No autograd.
class FixedProduct {
 public:
  // Rows of a matrix: the first one, and the distance to the next in elements. Rows are contiguous.
  struct Rows {
    void* data;
    int64_t step;
  };

  // `right` is a matrix or its transpose, without gaps, of float32 or float64; `total` is the
  // number of rows of all blocks.
  FixedProduct(const Tensor& right, int64_t total);
  // Whether such a matrix is packed.
  static bool packs(const Tensor& right, int64_t total);
  void run(Rows left, Rows out, int64_t rows, bool adds);

 private:
  Tensor right_;
  Tensor packed_;  // undefined: not packed
  kernel::GemmPlan gemm_{};
};

}  // namespace tsr::ops
