// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/image.h"

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/shape/shape.h"

namespace tsr::ops {

Spatial spatial_list(const SpatialArg& list, int32_t spatial, int64_t fallback, int64_t low,
                     const char* arg) {
  Spatial result{};
  const size_t count = static_cast<size_t>(spatial);
  if (list.has_value()) {
    TSR_CHECK(list->size() == 1 || list->size() == count, Code::kValue, arg, "expected 1 or ",
              count, " numbers, got ", *list);
  }
  for (size_t d = 0; d < count; ++d) {
    result[d] = list.has_value() ? (*list)[list->size() == 1 ? 0 : d] : fallback;
    TSR_CHECK(result[d] >= low && result[d] <= INT32_MAX, Code::kValue, arg,
              "expected numbers of at least ", low, " and below 2147483648, got ", result[d]);
  }
  return result;
}

Dims channels_last_strides(DimsView sizes) {
  Dims strides(sizes.size());
  int64_t stride = 1;
  const auto place = [&](size_t d) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  };
  place(1);
  for (size_t d = sizes.size(); d-- > 2;) place(d);
  place(0);
  return strides;
}

bool is_channels_last(const Tensor& image) {
  if (image.ndim() < 3 || image.is_contiguous()) return false;
  const Dims wanted = channels_last_strides(image.sizes());
  for (int64_t d = 0; d < image.ndim(); ++d) {
    if (image.size(d) != 1 && image.stride(d) != wanted[static_cast<size_t>(d)]) return false;
  }
  return true;
}

Tensor empty_image(DimsView sizes, DType dtype, Device device, bool channels_last) {
  if (!channels_last) return empty(sizes, dtype, device);
  checked_numel(sizes, itemsize(dtype));
  return empty_strided(sizes, channels_last_strides(sizes), dtype, device);
}

Tensor image_memory(const Tensor& image, bool channels_last) {
  if (channels_last ? is_channels_last(image) : image.is_contiguous()) return image;
  Tensor result = empty_image(image.sizes(), image.dtype(), image.device(), channels_last);
  copy_memory(result, image);
  return result;
}

Result allocate_image(const Out& out, DimsView sizes, DType dtype, Device device, bool recording,
                      std::initializer_list<const Tensor*> inputs, bool channels_last) {
  if (out.is_fresh()) return Result(empty_image(sizes, dtype, device, channels_last));
  if (!channels_last) return allocate_apart(out, sizes, dtype, device, recording, inputs, true);
  // Kernels need one layout for all images of a call.
  return allocate_detour(out, empty_image(sizes, dtype, device, true), recording);
}

Tensor add_batch(const Tensor& input) {
  Dims sizes = input.sizes();
  sizes.insert(0, 1);
  return reshape(input, sizes);
}

Tensor drop_batch(const Tensor& output) {
  return reshape(output, DimsView(output.sizes().data() + 1, output.sizes().size() - 1));
}

void check_image(const Tensor& input, int32_t spatial) {
  TSR_CHECK(input.ndim() == spatial + 1 || input.ndim() == spatial + 2, Code::kShape, "input",
            "expected ", spatial + 2, " dimensions (batch, channels, spatial...) or ", spatial + 1,
            " without a batch, got shape ", input.sizes());
}

}  // namespace tsr::ops
