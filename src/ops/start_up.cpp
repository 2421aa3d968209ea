// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/start_up.h"

#include "autograd/gradient_ops.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

Tensor add_tensors(const Tensor& a, const Tensor& b) {
  return add(a, b);
}
void add_in_place(const Tensor& a, const Tensor& b) {
  add(a, b, Out::inplace(a));
}
// The gradient of a real tensor may be complex (from complex arithmetic); it keeps its real part.
Tensor cast(const Tensor& tensor, DType dtype) {
  return is_complex(tensor.dtype()) && !is_complex(dtype) ? astype(real_part(tensor), dtype)
                                                          : astype(tensor, dtype);
}
Tensor to_device(const Tensor& tensor, Device device) {
  return to(tensor, device, std::nullopt);
}
Tensor row_major_clone(const Tensor& tensor) {
  return tensor.is_contiguous() ? clone(tensor) : contiguous(tensor);
}
void copy_into(const Tensor& dst, const Tensor& src) {
  copy_(dst, src);
}
Tensor make_ones(DimsView sizes, DType dtype, Device device) {
  return ones(sizes, dtype, device);
}
bool has_nan(const Tensor& tensor) {
  const Tensor found = any(isnan(tensor));
  const Tensor host = empty(found.sizes(), found.dtype(), Device{});
  copy_memory(host, found);
  return *host.data_as<bool>();
}
Tensor select_first(const Tensor& tensor, int64_t index) {
  return select(tensor, 0, index);
}
Tensor stack_first(std::span<const Tensor> tensors) {
  return stack(tensors, 0);
}
Tensor conjugate(const Tensor& tensor) {
  return conj(tensor);
}

}  // namespace

void start_up() {
  set_gradient_ops({
      .add = add_tensors,
      .add_inplace = add_in_place,
      .sum_to = sum_to,
      .cast = cast,
      .to_device = to_device,
      .clone = row_major_clone,
      .copy_into = copy_into,
      .zeros = zeros_like_shape,
      .ones = make_ones,
      .has_nan = has_nan,
      .conj = conjugate,
      .as_real = view_as_real,
      .as_complex = view_as_complex,
      .select = select_first,
      .stack = stack_first,
  });
}

}  // namespace tsr::ops
