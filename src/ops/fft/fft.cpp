// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/fft/fft.h"

#include <cmath>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/fft/transforms.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/arrange.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

// ---- Arguments ----

int64_t fft_axis(const Tensor& input, int64_t axis) {
  TSR_CHECK(input.ndim() > 0, Code::kShape, "input",
            "expected at least 1 dimension, got a 0-dim tensor");
  return wrap_axis(axis, input.ndim());
}

// The factor of a transform of n elements.
double scale_of(std::string_view norm, double n, bool inverse) {
  if (norm == "backward") return inverse ? 1 / n : 1;
  if (norm == "forward") return inverse ? 1 : 1 / n;
  TSR_CHECK(norm == "ortho", Code::kValue, "norm",
            "expected \"backward\", \"ortho\" or \"forward\", got \"", norm, "\"");
  return 1 / std::sqrt(n);
}

// In a dtype that the kernels compute in: float32 or float64, or of parts of these.
Tensor ready(const Tensor& input) {
  const DType dtype = is_integral_or_bool(input.dtype()) ? default_dtype() : input.dtype();
  return in_opmath(astype(input, dtype));
}
Tensor ready_real(const Tensor& input) {
  TSR_CHECK(!is_complex(input.dtype()), Code::kDType, "input", "expected a real dtype, got ",
            input.dtype());
  return ready(input);
}
Tensor ready_complex(const Tensor& input) {
  const Tensor numbers = ready(input);
  if (is_complex(numbers.dtype())) return numbers;
  const bool single = numbers.dtype() == DType::kFloat32;
  return astype(numbers, single ? DType::kComplex64 : DType::kComplex128);
}

// The first `size` elements of an axis, with zeros behind them where it has fewer.
Tensor resized(const Tensor& input, int64_t axis, int64_t size) {
  const int64_t has = input.size(axis);
  if (has == size) return input;
  if (has > size) return narrow(input, axis, 0, size);
  Dims padding(static_cast<size_t>(2 * (input.ndim() - axis)), 0);
  padding[padding.size() - 1] = size - has;
  return pad(input, padding);
}

int64_t check_length(int64_t n, const char* arg) {
  TSR_CHECK(n >= 1, Code::kValue, arg, "expected a transform of at least 1 element, got ", n);
  return n;
}

int64_t length_of(const Tensor& input, std::optional<int64_t> n, int64_t axis) {
  if (n.has_value()) return check_length(*n, "n");
  return check_length(input.size(axis), "input");
}
// Of the real numbers that a half stands for.
int64_t whole_length_of(const Tensor& half, std::optional<int64_t> n, int64_t axis) {
  if (n.has_value()) return check_length(*n, "n");
  return check_length(2 * (half.size(axis) - 1), "input");
}

// ---- One axis ----

Tensor one_axis(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                bool inverse, Out out) {
  const int64_t along = fft_axis(input, axis);
  const int64_t length = length_of(input, n, along);
  const double scale = scale_of(norm, static_cast<double>(length), inverse);
  const Tensor numbers = ready_complex(resized(input, along, length));
  return deliver(transform_complex(numbers, Dims{along}, inverse, scale), out, needs_grad(input));
}

Tensor real_axis(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                 bool inverse, Out out) {
  const int64_t along = fft_axis(input, axis);
  const int64_t length = length_of(input, n, along);
  const double scale = scale_of(norm, static_cast<double>(length), inverse);
  const Tensor numbers = resized(ready_real(input), along, length);
  return deliver(transform_real(numbers, along, inverse, scale), out, needs_grad(input));
}

Tensor half_axis(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                 bool inverse, Out out) {
  const int64_t along = fft_axis(input, axis);
  const int64_t length = whole_length_of(input, n, along);
  const double scale = scale_of(norm, static_cast<double>(length), inverse);
  const Tensor numbers = ready_complex(resized(input, along, length / 2 + 1));
  return deliver(transform_half(numbers, along, length, inverse, scale), out, needs_grad(input));
}

// ---- Several axes ----

// The axes, and the size of each in a transform; `half`: the last axis has the half of the numbers
// of the transform.
struct Space {
  Dims axes, sizes;
  double count = 1;  // the product of the sizes
};

Dims default_axes(const Tensor& input, const std::optional<DimsView>& s) {
  const int64_t rank = input.ndim();
  const int64_t count = s.has_value() ? static_cast<int64_t>(s->size()) : rank;
  TSR_CHECK(count <= rank, Code::kShape, "s", "expected sizes for at most ", rank, " axes, got ",
            *s);
  Dims axes;
  for (int64_t d = rank - count; d < rank; ++d) axes.push_back(d);
  return axes;
}

Space space_of(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
               bool half) {
  Space space;
  space.axes = axes.has_value() ? wrap_axes(*axes, input.ndim(), "axes") : default_axes(input, s);
  const size_t count = space.axes.size();
  TSR_CHECK(!s.has_value() || s->size() == count, Code::kShape, "s", "expected as many sizes as ",
            "axes, ", count, ", got ", s.has_value() ? s->size() : 0);
  for (size_t i = 0; i < count; ++i) {
    int64_t size = input.size(space.axes[i]);
    if (half && i + 1 == count) size = 2 * (size - 1);
    const bool given = s.has_value() && (*s)[i] != -1;
    space.sizes.push_back(given ? check_length((*s)[i], "s") : check_length(size, "input"));
    space.count *= static_cast<double>(space.sizes.back());
  }
  return space;
}

void check_some_axis(const Space& space) {
  TSR_CHECK(!space.axes.empty(), Code::kShape, "axes", "expected at least 1 axis, got none");
}

Tensor resized_space(Tensor input, const Space& space, bool half) {
  for (size_t i = 0; i < space.axes.size(); ++i) {
    const bool halved = half && i + 1 == space.axes.size();
    input = resized(input, space.axes[i], halved ? space.sizes[i] / 2 + 1 : space.sizes[i]);
  }
  return input;
}

Dims without_last(const Dims& axes) {
  return Dims(axes.begin(), axes.end() - 1);
}

Tensor many_axes(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, bool inverse, Out out) {
  const Space space = space_of(input, s, axes, false);
  const double scale = scale_of(norm, space.count, inverse);
  const Tensor numbers = ready_complex(resized_space(input, space, false));
  return deliver(transform_complex(numbers, space.axes, inverse, scale), out, needs_grad(input));
}

Tensor real_axes(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, Out out) {
  const Space space = space_of(input, s, axes, false);
  check_some_axis(space);
  const double scale = scale_of(norm, space.count, false);
  const Tensor numbers = resized_space(ready_real(input), space, false);
  const Tensor half = transform_real(numbers, space.axes.back(), false, scale);
  const Dims rest = without_last(space.axes);
  const bool grad = needs_grad(half);
  // Without a history the half is nobody else's: the other axes are transformed in its memory.
  if (!grad) transform_complex_memory(half, rest, false);
  const Tensor result = grad && !rest.empty() ? transform_complex(half, rest, false, 1) : half;
  return deliver(result, out, needs_grad(input));
}

Tensor half_axes(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, Out out) {
  const Space space = space_of(input, s, axes, true);
  check_some_axis(space);
  const double scale = scale_of(norm, space.count, true);
  const Tensor numbers = ready_complex(resized_space(input, space, true));
  const Dims rest = without_last(space.axes);
  const Tensor half = rest.empty() ? numbers : transform_complex(numbers, rest, true, 1);
  const Tensor result = transform_half(half, space.axes.back(), space.sizes.back(), true, scale);
  return deliver(result, out, needs_grad(input));
}

// The axes of a transform of two.
Dims two_axes(const std::optional<DimsView>& axes) {
  if (!axes.has_value()) return Dims{-2, -1};
  TSR_CHECK(axes->size() == 2, Code::kShape, "axes", "expected 2 axes, got ", *axes);
  return Dims(*axes);
}

// ---- Shifts ----

Tensor shifted(const Tensor& input, std::optional<DimsView> axes, bool back, Out out) {
  Dims along;
  if (axes.has_value()) along = wrap_axes(*axes, input.ndim(), "axes");
  for (int64_t d = 0; !axes.has_value() && d < input.ndim(); ++d) along.push_back(d);
  if (along.empty()) return clone(input, out);
  Dims shifts;
  for (const int64_t axis : along) {
    const int64_t middle = input.size(axis) / 2;
    shifts.push_back(back ? -middle : middle);
  }
  return roll(input, shifts, along, out);
}

Tensor frequencies(const Tensor& counts, int64_t n, double d, std::optional<DType> dtype) {
  const DType wanted = dtype.value_or(default_dtype());
  TSR_CHECK(is_differentiable(wanted), Code::kDType, "dtype",
            "expected a floating or complex dtype, got ", wanted);
  const Tensor numbers = divide(astype(counts, DType::kFloat64), static_cast<double>(n) * d);
  return astype(numbers, wanted);
}

}  // namespace

Tensor fft_fft(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
               Out out) {
  return one_axis(input, n, axis, norm, false, out);
}
Tensor fft_ifft(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                Out out) {
  return one_axis(input, n, axis, norm, true, out);
}
Tensor fft_rfft(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                Out out) {
  return real_axis(input, n, axis, norm, false, out);
}
Tensor fft_irfft(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                 Out out) {
  return half_axis(input, n, axis, norm, true, out);
}
Tensor fft_hfft(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                Out out) {
  return half_axis(input, n, axis, norm, false, out);
}
Tensor fft_ihfft(const Tensor& input, std::optional<int64_t> n, int64_t axis, std::string_view norm,
                 Out out) {
  return real_axis(input, n, axis, norm, true, out);
}

Tensor fft_fftn(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                std::string_view norm, Out out) {
  return many_axes(input, s, axes, norm, false, out);
}
Tensor fft_ifftn(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, Out out) {
  return many_axes(input, s, axes, norm, true, out);
}
Tensor fft_rfftn(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, Out out) {
  return real_axes(input, s, axes, norm, out);
}
Tensor fft_irfftn(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                  std::string_view norm, Out out) {
  return half_axes(input, s, axes, norm, out);
}

Tensor fft_fft2(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                std::string_view norm, Out out) {
  return many_axes(input, s, two_axes(axes), norm, false, out);
}
Tensor fft_ifft2(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, Out out) {
  return many_axes(input, s, two_axes(axes), norm, true, out);
}
Tensor fft_rfft2(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                 std::string_view norm, Out out) {
  return real_axes(input, s, two_axes(axes), norm, out);
}
Tensor fft_irfft2(const Tensor& input, std::optional<DimsView> s, std::optional<DimsView> axes,
                  std::string_view norm, Out out) {
  return half_axes(input, s, two_axes(axes), norm, out);
}

Tensor fft_fftfreq(int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device) {
  check_length(n, "n");
  const Tensor parts[] = {arange(int64_t{0}, (n - 1) / 2 + 1, int64_t{1}, DType::kInt64, device),
                          arange(-(n / 2), int64_t{0}, int64_t{1}, DType::kInt64, device)};
  return frequencies(ops::concat(parts, 0), n, d, dtype);
}
Tensor fft_rfftfreq(int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device) {
  check_length(n, "n");
  return frequencies(arange(int64_t{0}, n / 2 + 1, int64_t{1}, DType::kInt64, device), n, d, dtype);
}

Tensor fft_fftshift(const Tensor& input, std::optional<DimsView> axes, Out out) {
  return shifted(input, axes, false, out);
}
Tensor fft_ifftshift(const Tensor& input, std::optional<DimsView> axes, Out out) {
  return shifted(input, axes, true, out);
}

}  // namespace tsr::ops
