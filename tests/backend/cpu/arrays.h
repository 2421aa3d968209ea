// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers of the kernel tests: strided arrays of any dtype, plans over them, and the backend under
// test.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <vector>

#include "kernel/kernels.h"

namespace tsr::test {

using Value = std::complex<double>;
using Sizes = std::vector<int64_t>;

// The CPU backend's kernels; the host services use malloc.
const kernel::KernelTable& kernels();
// The error text of the last failed kernel.
const char* last_error();

double read_double(DType dtype, const void* data);
Value read_value(DType dtype, const void* data);
void write_value(DType dtype, void* data, Value value);

enum class Layout { kContiguous, kTransposed, kSliced, kReversed, kBroadcast };
inline constexpr Layout kLayouts[] = {Layout::kContiguous, Layout::kTransposed, Layout::kSliced,
                                      Layout::kReversed, Layout::kBroadcast};

// A strided array. Elements are addressed by their row-major number.
class Array {
 public:
  Array(DType dtype, Sizes sizes, Layout layout = Layout::kContiguous);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  [[nodiscard]] const Sizes& strides() const { return strides_; }  // bytes
  [[nodiscard]] int64_t numel() const;
  [[nodiscard]] void* data() const { return const_cast<std::byte*>(storage_.data()) + offset_; }
  [[nodiscard]] void* at(int64_t linear) const;
  [[nodiscard]] Value get(int64_t linear) const { return read_value(dtype_, at(linear)); }
  void set(int64_t linear, Value value) { write_value(dtype_, at(linear), value); }
  // Numbers between low and high; truncated for integers, random for bools.
  void randomize(double low, double high, unsigned seed);

 private:
  DType dtype_;
  Sizes sizes_;
  Sizes strides_;
  int64_t offset_ = 0;
  std::vector<std::byte> storage_;
};

// A plan over arrays of one shape. The dims are not reordered, because kernels must accept any
// order.
kernel::ElementwisePlan elementwise(std::initializer_list<const Array*> operands);
// Stores a parameter in the opmath type of `dtype`.
void set_param(kernel::Parameter& param, DType dtype, Value value);
// A plan that reduces the dims whose flag is set.
kernel::ReducePlan reduction(kernel::ReduceOp op, const Array& output, const Array& input,
                             const std::vector<bool>& reduced);

// The allowed error of a result of `dtype`, relative and absolute (docs/guide/operations.md).
double tolerance(DType dtype, double want);
// Compares `out` with f of the inputs' values, element by element.
void expect_elements(const Array& out, const std::vector<const Array*>& inputs,
                     const std::function<Value(const std::vector<Value>&)>& f, double slack = 1);

}  // namespace tsr::test
