// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/fft/stft.h"

#include <algorithm>

#include "base/error.h"
#include "ops/create/create.h"
#include "ops/fft/fft.h"
#include "ops/index/scatter.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "ops/shape/strided.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

struct Frames {
  int64_t size, hop, window;
};

Frames frames_of(int64_t n_fft, std::optional<int64_t> hop_length,
                 std::optional<int64_t> win_length) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  TSR_CHECK(n_fft >= 1 && n_fft < kLimit, Code::kValue, "n_fft", "expected a number in [1, 2^31), ",
            "got ", n_fft);
  const Frames frames{n_fft, hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)};
  TSR_CHECK(frames.hop >= 1 && frames.hop < kLimit, Code::kValue, "hop_length",
            "expected a number in [1, 2^31), got ", frames.hop);
  TSR_CHECK(frames.window >= 1 && frames.window <= n_fft, Code::kValue, "win_length",
            "expected a length in [1, ", n_fft, "], got ", frames.window);
  return frames;
}

// The window function, filled with zeros at both ends to the size of a frame.
Tensor full_window(const Tensor& window, const Frames& frames, DType dtype, Device device) {
  if (window.defined()) {
    TSR_CHECK(window.ndim() == 1 && window.size(0) == frames.window, Code::kShape, "window",
              "expected a vector of ", frames.window, " numbers, got shape ", window.sizes());
    TSR_CHECK(is_differentiable(window.dtype()), Code::kDType, "window",
              "expected a floating or complex dtype, got ", window.dtype());
    TSR_CHECK(window.device() == device, Code::kDevice, "window", "expected ", device, ", got ",
              window.device());
  }
  const Tensor values =
      window.defined() ? window : ones(Dims{frames.window}, real_dtype(dtype), device);
  const int64_t before = (frames.size - frames.window) / 2;
  const Dims padding{before, frames.size - frames.window - before};
  return frames.window == frames.size ? values : pad(values, padding);
}

Tensor drop_axis(const Tensor& input, bool drop) {
  return drop ? squeeze(input, Dims{0}) : input;
}

// Frames (batch, frames, size), `hop` apart, added where they overlap: (batch, samples).
Tensor overlap_add(const Tensor& frames, int64_t hop) {
  const int64_t batch = frames.size(0);
  const int64_t count = frames.size(1);
  const int64_t size = frames.size(2);
  const int64_t samples = size + hop * (count - 1);  // below 2^63: see frames_of
  const Tensor starts = arange(int64_t{0}, count, int64_t{1}, DType::kInt64, frames.device());
  const Tensor within = arange(int64_t{0}, size, int64_t{1}, DType::kInt64, frames.device());
  const Tensor places = add(expand_dims(multiply(starts, hop), 1), within);
  const Tensor base = zeros(Dims{batch, samples}, frames.dtype(), frames.device());
  return index_add(base, 1, reshape(places, Dims{count * size}),
                   reshape(frames, Dims{batch, count * size}));
}

// Where the signal lies among the samples that the frames cover.
struct Range {
  int64_t start, count, missing;
};

Range signal_range(int64_t covered, const Frames& frames, bool center,
                   std::optional<int64_t> length) {
  const int64_t start = center ? frames.size / 2 : 0;
  if (!length.has_value())
    return {start, std::max<int64_t>(0, covered - start - (center ? frames.size / 2 : 0)), 0};
  TSR_CHECK(*length >= 0, Code::kValue, "length", "expected a length that is not negative, got ",
            *length);
  const int64_t count = std::min(*length, std::max<int64_t>(0, covered - start));
  return {start, count, *length - count};
}

void check_cover(const Tensor& cover) {
  constexpr double kLeast = 1e-11;  // PyTorch's
  if (cover.numel() == 0) return;
  const auto least = read<double>(min(abs(cover)));
  TSR_CHECK(!(least < kLeast), Code::kValue, "window",
            "expected windows that cover every sample, got a sum of squares of ", least);
}

}  // namespace

Tensor stft(const Tensor& input, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length, const Tensor& window, bool center,
            std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            bool return_complex) {
  TSR_CHECK(is_differentiable(input.dtype()), Code::kDType, "input",
            "expected a floating or complex dtype, got ", input.dtype());
  TSR_CHECK(input.ndim() == 1 || input.ndim() == 2, Code::kShape, "input",
            "expected (samples) or (batch, samples), got shape ", input.sizes());
  const Frames frames = frames_of(n_fft, hop_length, win_length);
  const bool one = input.ndim() == 1;
  Tensor signal = one ? expand_dims(input, 0) : input;
  if (center) signal = pad(signal, Dims{n_fft / 2, n_fft / 2}, pad_mode);
  TSR_CHECK(signal.size(1) >= n_fft, Code::kShape, "input", "expected at least ", n_fft,
            " samples with the padding, got ", signal.size(1));
  Tensor parts = unfold(signal, 1, n_fft, frames.hop);
  if (window.defined() || frames.window < n_fft)
    parts = multiply(parts, full_window(window, frames, input.dtype(), input.device()));
  const bool wide = is_complex(parts.dtype());
  const bool half = onesided.value_or(!wide);
  TSR_CHECK(!(half && wide), Code::kValue, "onesided",
            "expected a two-sided transform of complex signals or windows, got a one-sided one");
  const std::string_view norm = normalized ? "ortho" : "backward";
  const Tensor spectrum = half ? fft_rfft(parts, {}, -1, norm) : fft_fft(parts, {}, -1, norm);
  const Tensor turned = drop_axis(transpose(spectrum, 1, 2), one);
  return return_complex ? turned : view_as_real(turned);
}

Tensor istft(const Tensor& input, int64_t n_fft, std::optional<int64_t> hop_length,
             std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized,
             std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) {
  TSR_CHECK(is_complex(input.dtype()), Code::kDType, "input", "expected a complex dtype, got ",
            input.dtype());
  TSR_CHECK((input.ndim() == 2 || input.ndim() == 3) && input.numel() > 0, Code::kShape, "input",
            "expected (frequencies, windows) or (batch, frequencies, windows) with elements, got ",
            "shape ", input.sizes());
  const Frames frames = frames_of(n_fft, hop_length, win_length);
  const bool one = input.ndim() == 2;
  const Tensor spectrum = transpose(one ? expand_dims(input, 0) : input, 1, 2);
  const int64_t frequencies = spectrum.size(2);
  const bool half = onesided.value_or(frequencies != n_fft);
  const int64_t expected = half ? n_fft / 2 + 1 : n_fft;
  TSR_CHECK(frequencies == expected, Code::kShape, "input", "expected ", expected,
            " frequencies, got ", frequencies);
  TSR_CHECK(!(half && return_complex), Code::kValue, "return_complex",
            "expected a real result of a one-sided transform, got a complex one");
  const std::string_view norm = normalized ? "ortho" : "backward";
  // A real signal has a symmetric spectrum: the first half of a two-sided one is enough.
  const Tensor first = half || return_complex ? spectrum : narrow(spectrum, 2, 0, n_fft / 2 + 1);
  const Tensor parts =
      return_complex ? fft_ifft(spectrum, {}, -1, norm) : fft_irfft(first, n_fft, -1, norm);
  const Tensor weights = full_window(window, frames, input.dtype(), input.device());
  TSR_CHECK(return_complex || !is_complex(weights.dtype()), Code::kDType, "window",
            "expected a real window for a real result, got ", weights.dtype());
  const int64_t count = parts.size(1);
  const Tensor squares = broadcast_to(multiply(weights, weights), Dims{1, count, n_fft});
  const Tensor sums = overlap_add(multiply(parts, weights), frames.hop);
  const Range range = signal_range(sums.size(1), frames, center, length);
  const Tensor cover = narrow(overlap_add(squares, frames.hop), 1, range.start, range.count);
  check_cover(cover);
  const Tensor signal = divide(narrow(sums, 1, range.start, range.count), cover);
  const Tensor whole = range.missing > 0 ? pad(signal, Dims{0, range.missing}) : signal;
  return drop_axis(whole, one);
}

}  // namespace tsr::ops
