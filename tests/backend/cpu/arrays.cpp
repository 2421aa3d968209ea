// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "backend/cpu/backend.h"

namespace tsr::test {
namespace {

std::string g_error;

void* allocate(DeviceType, kernel::Place, uint64_t nbytes) {
  return std::aligned_alloc(64, (nbytes + 63) / 64 * 64);
}
void release(DeviceType, kernel::Place, void* data, uint64_t) {
  std::free(data);
}
void release_cached(DeviceType, kernel::Place) {}
void keep_error(const char* text, int64_t) {
  g_error = text;
}

const kernel::HostServices kServices{kernel::kContractVersion, allocate, release, release_cached,
                                     keep_error};

}  // namespace

const kernel::KernelTable& kernels() {
  static const kernel::Backend* backend = cpu::backend_entry(&kServices);
  return *backend->kernels;
}
const char* last_error() {
  return g_error.c_str();
}

Value read_value(DType dtype, const void* data) {
  return visit_dtype(dtype, [&]<class T>(TypeTag<T>) -> Value {
    T value;
    std::memcpy(&value, data, sizeof(T));
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      return Value(value);
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return static_cast<float>(value);
    else
      return static_cast<double>(value);
  });
}
double read_double(DType dtype, const void* data) {
  return read_value(dtype, data).real();
}

void write_value(DType dtype, void* data, Value value) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    T stored;
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      stored = T(value);
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      stored = T(static_cast<float>(value.real()));
    else if constexpr (std::is_same_v<T, bool>)
      stored = value.real() != 0;
    else
      stored = static_cast<T>(value.real());
    std::memcpy(data, &stored, sizeof(T));
  });
}

Array::Array(DType dtype, Sizes sizes, Layout layout)
    : dtype_(dtype), sizes_(std::move(sizes)), strides_(sizes_.size()) {
  const int64_t size = itemsize(dtype);
  const auto ndim = static_cast<int>(sizes_.size());
  int64_t step = size * (layout == Layout::kSliced ? 2 : 1);
  for (int d = ndim - 1; d >= 0; --d) {
    const auto k = static_cast<size_t>(layout == Layout::kTransposed ? ndim - 1 - d : d);
    strides_[k] = step;
    step *= std::max<int64_t>(sizes_[k], 1);
  }
  storage_.resize(static_cast<size_t>(step + 16));
  if (layout == Layout::kBroadcast && ndim > 0) strides_[0] = 0;
  if (layout == Layout::kReversed && ndim > 0) {
    offset_ = strides_.back() * std::max<int64_t>(sizes_.back() - 1, 0);
    strides_.back() = -strides_.back();
  }
}

int64_t Array::numel() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), int64_t{1}, std::multiplies<>());
}

void* Array::at(int64_t linear) const {
  int64_t offset = 0;
  for (size_t d = sizes_.size(); d-- > 0;) {
    offset += linear % sizes_[d] * strides_[d];
    linear /= sizes_[d];
  }
  return static_cast<std::byte*>(data()) + offset;
}

void Array::randomize(double low, double high, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> draw(low, high);
  for (int64_t i = 0; i < numel(); ++i) {
    const Value value(draw(engine), draw(engine));
    set(i, dtype_ == DType::kBool ? Value(value.real() > (low + high) / 2 ? 1 : 0) : value);
  }
}

kernel::ElementwisePlan elementwise(std::initializer_list<const Array*> operands) {
  kernel::ElementwisePlan plan{};
  const Array& out = **operands.begin();
  plan.ndim = std::max<int32_t>(1, static_cast<int32_t>(out.sizes().size()));
  plan.operands = static_cast<int32_t>(operands.size());
  plan.numel = out.numel();
  plan.sizes[0] = 1;
  std::copy(out.sizes().begin(), out.sizes().end(), plan.sizes);
  int slot = 0;
  for (const Array* operand : operands) {
    plan.data[slot] = operand->data();
    plan.dtypes[slot] = operand->dtype();
    plan.strides[slot][0] = itemsize(operand->dtype());
    std::copy(operand->strides().begin(), operand->strides().end(), plan.strides[slot]);
    ++slot;
  }
  // As the planner does: merge the dims of contiguous operands, so that the fast path is tested
  // too.
  bool dense = plan.ndim > 1;
  for (int k = 0; k < plan.operands; ++k) {
    int64_t step = itemsize(plan.dtypes[k]);
    for (int d = plan.ndim - 1; d >= 0; --d) {
      dense &= plan.strides[k][d] == step;
      step *= plan.sizes[d];
    }
  }
  if (dense) {
    for (int k = 0; k < plan.operands; ++k) plan.strides[k][0] = itemsize(plan.dtypes[k]);
    plan.sizes[0] = plan.numel;
    plan.ndim = 1;
  }
  return plan;
}

void set_param(kernel::Parameter& param, DType dtype, Value value) {
  write_value(kernel::opmath(dtype), &param, value);
}

kernel::ReducePlan reduction(kernel::ReduceOp op, const Array& output, const Array& input,
                             const std::vector<bool>& reduced) {
  kernel::ReducePlan plan{};
  plan.op = op;
  plan.kept_numel = plan.reduced_numel = 1;
  plan.input = input.data();
  plan.output = output.data();
  plan.input_dtype = input.dtype();
  plan.output_dtype = output.dtype();
  for (size_t d = 0; d < input.sizes().size(); ++d) {
    if (reduced[d]) {
      plan.reduced_sizes[plan.reduced_ndim] = input.sizes()[d];
      plan.reduced_strides[plan.reduced_ndim++] = input.strides()[d];
      plan.reduced_numel *= input.sizes()[d];
    } else {
      const auto k = static_cast<size_t>(plan.kept_ndim);
      plan.kept_sizes[k] = input.sizes()[d];
      plan.kept_input_strides[k] = input.strides()[d];
      plan.kept_output_strides[k] = output.strides()[k];
      ++plan.kept_ndim;
      plan.kept_numel *= input.sizes()[d];
    }
  }
  if (plan.kept_ndim == 0) plan.kept_sizes[plan.kept_ndim++] = 1;
  if (plan.reduced_ndim == 0) plan.reduced_sizes[plan.reduced_ndim++] = 1;
  return plan;
}

double tolerance(DType dtype, double want) {
  const double size = std::abs(want);
  switch (dtype) {
    case DType::kFloat16:
      return 1e-3 * size + 1e-5;
    case DType::kBFloat16:
      return 1.6e-2 * size + 1e-5;
    case DType::kFloat32:
    case DType::kComplex64:
      return 1.3e-6 * size + 1e-6;
    case DType::kFloat64:
    case DType::kComplex128:
      return 1e-11 * size + 1e-12;
    default:
      return 0;
  }
}

void expect_elements(const Array& out, const std::vector<const Array*>& inputs,
                     const std::function<Value(const std::vector<Value>&)>& f, double slack) {
  for (int64_t i = 0; i < out.numel(); ++i) {
    std::vector<Value> values;
    for (const Array* input : inputs) values.push_back(input->get(i));
    const Value want = f(values);
    const Value got = out.get(i);
    if (std::isnan(want.real())) {
      ASSERT_TRUE(std::isnan(got.real())) << "element " << i << ": expected NaN, got " << got;
      continue;
    }
    if (want == got) continue;  // also equal infinities
    ASSERT_LE(std::abs(got - want), slack * tolerance(out.dtype(), std::abs(want)))
        << "element " << i << " of " << name(out.dtype()) << ": expected " << want << ", got "
        << got << " from " << (values.empty() ? Value() : values[0])
        << (values.size() > 1 ? values[1] : Value());
  }
}

}  // namespace tsr::test
