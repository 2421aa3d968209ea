// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/complex_parts.h"

#include <complex>
#include <cstdint>

#include "autograd/view.h"
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

void check_complex(const Tensor& input) {
  TSR_CHECK(is_complex(input.dtype()), Code::kDType, "input", "expected a complex dtype, got ",
            input.dtype());
}

// The requirement for a view as complex numbers that the tensor does not meet; null if it meets
// all.
const char* fault_of(const Tensor& input) {
  if (input.ndim() == 0 || input.size(input.ndim() - 1) != 2) return "a last axis of size 2";
  if (input.numel() == 0) return nullptr;  // no element lies anywhere
  if (input.stride(input.ndim() - 1) != 1) return "a contiguous last axis";
  if (input.offset() % 2 != 0) return "memory that begins at an even element";
  // Kernels of other devices move a complex number with one aligned access.
  const auto address = reinterpret_cast<uintptr_t>(input.data());
  if (!input.device().is_cpu() && address % static_cast<uintptr_t>(2 * input.itemsize()) != 0)
    return "memory aligned to whole complex numbers";
  for (int64_t d = 0; d + 1 < input.ndim(); ++d) {
    if (input.size(d) > 1 && input.stride(d) % 2 != 0) return "even strides before the last axis";
  }
  return nullptr;
}

// A gradient may have any strides.
Tensor as_complex(const Tensor& parts) {
  return view_as_complex(fault_of(parts) == nullptr ? parts : clone(contiguous(parts)));
}

}  // namespace

Tensor make_cast_view(const Tensor& input, DType dtype, DimsView sizes, DimsView strides,
                      int64_t offset) {
  auto* impl = new TensorImpl(input.storage(), dtype, sizes, strides, offset);
  if (input.has(kInferenceFlag)) impl->add_flags_alone(kInferenceFlag);
  return Tensor::adopt(impl);
}

Tensor parts_memory(const Tensor& input) {
  TSR_CHECK(input.ndim() < kMaxTensorRank, Code::kShape, "input", "expected at most ",
            kMaxTensorRank - 1, " dimensions, got ", input.ndim());
  Dims sizes = input.sizes();
  Dims strides = input.strides();
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return make_cast_view(input, real_dtype(input.dtype()), sizes, strides, input.offset() * 2);
}

Tensor view_as_real(const Tensor& input) {
  check_complex(input);
  Tensor view = parts_memory(input);
  record_cast_view(view, input, "ViewAsRealBackward",
                   TakesBatches{[](Backward& ctx) { ctx.set(0, as_complex(ctx.grad())); }});
  return view;
}

Tensor view_as_complex(const Tensor& input) {
  const DType dtype = input.dtype();
  TSR_CHECK(dtype == DType::kFloat32 || dtype == DType::kFloat64, Code::kDType, "input",
            "expected float32 or float64, got ", dtype);
  const char* fault = fault_of(input);
  TSR_CHECK(fault == nullptr, Code::kShape, "input", "expected ", fault, ", got shape ",
            input.sizes(), " with strides ", input.strides(), " from element ", input.offset());
  Dims sizes(input.sizes().begin(), input.sizes().end() - 1);
  Dims strides(input.strides().begin(), input.strides().end() - 1);
  for (int64_t& stride : strides) stride /= 2;
  const DType wide = dtype == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
  Tensor view = make_cast_view(input, wide, sizes, strides, input.offset() / 2);
  record_cast_view(view, input, "ViewAsComplexBackward",
                   TakesBatches{[](Backward& ctx) { ctx.set(0, view_as_real(ctx.grad())); }});
  return view;
}

Tensor real(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  return select(view_as_real(input), -1, 0);
}

Tensor imag(const Tensor& input) {
  check_complex(input);
  return select(view_as_real(input), -1, 1);
}

Tensor conj_of(const Tensor& x) {
  return is_complex(x.dtype()) ? conj(x) : x;
}
Scalar conj_of(const Scalar& x) {
  return x.category() == Category::kComplex ? Scalar(std::conj(x.to<std::complex<double>>())) : x;
}

}  // namespace tsr::ops
