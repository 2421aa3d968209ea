// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// put and masked_scatter: places in row-major order.
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/index/getitem.h"
#include "ops/index/mask.h"
#include "ops/index/scatter.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

void check_source(const Tensor& input, const Tensor& source) {
  check_same_device(input, source, "source");
  TSR_CHECK(can_cast_in_place(source.dtype(), input.dtype()), Code::kDType, "source",
            "expected a dtype that casts to ", input.dtype(), ", got ", source.dtype());
}

}  // namespace

Tensor masked_scatter(const Tensor& input, const Tensor& mask, const Tensor& source, Out out) {
  TSR_CHECK(mask.dtype() == DType::kBool, Code::kDType, "mask", "expected a bool tensor, got ",
            mask.dtype());
  check_same_device(input, mask, "mask");
  check_source(input, source);
  const Dims strides = broadcast_strides(mask.sizes(), mask.strides(), input.sizes(), "mask");
  const Tensor wide = contiguous_memory(make_view(mask, input.sizes(), strides, mask.offset()));
  const Tensor places = nonzero_memory(reshape(wide, Dims{-1}));
  const int64_t count = places.size(1);
  TSR_CHECK(count <= source.numel(), Code::kValue, "source", "expected at least ", count,
            " elements, one for each place of the mask, got ", source.numel());
  const Tensor values = narrow(reshape(source, Dims{-1}), 0, 0, count);
  return put(input, select_memory(places, 0, 0), values, false, out);
}

Tensor put(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate,
           Out out) {
  check_source(input, source);
  TSR_CHECK(source.numel() == index.numel(), Code::kShape, "source", "expected ", index.numel(),
            " elements, one for each index, got shape ", source.sizes());
  const Tensor places = reshape(index, Dims{-1});
  const Tensor values = reshape(source, Dims{-1});
  const bool whole = out.is_inplace() && input.is_contiguous();
  const bool recording = needs_grad(input, source);
  const Tensor flat = whole ? view(input, Dims{-1}) : reshape(input, Dims{-1}, true);
  index_put(flat, {&places, 1}, values, accumulate, Out::inplace(flat));
  if (whole) return input;
  const Tensor result = reshape(flat, input.sizes());
  return out.is_inplace() ? copy_(input, result) : deliver(result, out, recording);
}

}  // namespace tsr::ops
