// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What all factorizations share: checks, copies in the order that the kernel wants, the launch, and
// the error of a matrix that has no result.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "kernel/linalg.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// Throws kShape below two dims, kDType unless float32, float64 or complex.
void check_matrices(const Tensor& input, const char* arg);
// As check_matrices; also kShape unless the last two dims are equal.
void check_square_matrices(const Tensor& input, const char* arg);
// Throws kShape unless there are two dims and the last two are equal; any dtype.
void check_square(const Tensor& input, const char* arg);
// Throws kShape, for the argument "pivots", unless they are integers, one for each row of the
// square `factors`. Looks at no value.
void check_row_exchanges(const Tensor& pivots, const Tensor& factors);

// The batch dims, and how many matrices they hold.
Dims batch_of(const Tensor& matrices);
int64_t batch_count(const Tensor& matrices);
// The batch dims followed by more.
Dims with_batch(const Tensor& matrices, std::initializer_list<int64_t> sizes);

// Fresh memory for matrices whose rows, or whose columns, are contiguous, without gaps.
Tensor empty_columns(DimsView sizes, DType dtype, Device device);
// Fresh copies in these orders.
Tensor copy_by_rows(const Tensor& matrices);
Tensor copy_by_columns(const Tensor& matrices);

// One launch: set the plan's numbers and the operands that its op names (dense memory in the order
// that the op wants), then run. Sizes, dtype and status are those of `matrices`.
class Factoring {
 public:
  // `batch`: how many times, when `matrices` is one for all.
  Factoring(kernel::FactorOp op, const Tensor& matrices, int64_t others = 0,
            std::optional<int64_t> batch = {});

  kernel::FactorPlan plan{};
  Tensor a, b, q, v, values, pivots;

  // Nothing is launched for matrices without elements. What the device's backend cannot factor
  // is factored by the CPU, in copies.
  void run();
  // The first matrix of the batch with a status other than 0; -1 when there is none.
  [[nodiscard]] int64_t first_failure() const;
  [[nodiscard]] int32_t status_of(int64_t i) const { return status_.data_as<int32_t>()[i]; }

  // Throw kLinalg for the first failure, with its place in the batch.
  void check_positive_definite(const char* arg) const;
  void check_invertible(const char* arg) const;
  void check_converged(const char* arg) const;

 private:
  // False if the backend cannot.
  bool try_on(Device device);
  void run_on_cpu();
  [[noreturn]] void fail_at(int64_t i, const char* arg, const char* expected,
                            std::string got) const;

  Device device_;
  Tensor status_;
};

}  // namespace tsr::ops
