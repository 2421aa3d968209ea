// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms, their frequencies and shifts.
#pragma once

#include <optional>
#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// Real inputs become complex where a transform takes complex ones; integers and bools become the
// default dtype first, 16-bit floats float32. `n` (or `s`, one number for each axis, -1 to keep a
// size) crops the axis or fills it with zeros. `norm` says which direction is scaled: "backward"
// divides the backward transform by the length, "forward" the forward one, "ortho" both by its
// square root. Throws kValue for other norms, lengths below 1 and axes named twice, kShape for
// lists of different lengths and for 0-dim tensors where an axis is needed, kIndex for bad axes.

// ---- one axis ----
Tensor fft_fft(const Tensor& input, std::optional<int64_t> n = {}, int64_t axis = -1,
               std::string_view norm = "backward", Out out = {});
Tensor fft_ifft(const Tensor& input, std::optional<int64_t> n = {}, int64_t axis = -1,
                std::string_view norm = "backward", Out out = {});
// Real inputs (kDType for complex ones); the n/2 + 1 results that are not conjugates of others.
Tensor fft_rfft(const Tensor& input, std::optional<int64_t> n = {}, int64_t axis = -1,
                std::string_view norm = "backward", Out out = {});
// The reverse; n, the number of results, is 2 (size - 1) when absent.
Tensor fft_irfft(const Tensor& input, std::optional<int64_t> n = {}, int64_t axis = -1,
                 std::string_view norm = "backward", Out out = {});
// The forward transform of numbers of which the second half is the conjugate of the first, which is
// given; its results are real. And the reverse.
Tensor fft_hfft(const Tensor& input, std::optional<int64_t> n = {}, int64_t axis = -1,
                std::string_view norm = "backward", Out out = {});
Tensor fft_ihfft(const Tensor& input, std::optional<int64_t> n = {}, int64_t axis = -1,
                 std::string_view norm = "backward", Out out = {});

// ---- several axes: absent, the last ones that `s` gives sizes for, or all ----
Tensor fft_fftn(const Tensor& input, std::optional<DimsView> s = {},
                std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                Out out = {});
Tensor fft_ifftn(const Tensor& input, std::optional<DimsView> s = {},
                 std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                 Out out = {});
// The last of the axes is that of the real numbers; there must be one (kShape).
Tensor fft_rfftn(const Tensor& input, std::optional<DimsView> s = {},
                 std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                 Out out = {});
Tensor fft_irfftn(const Tensor& input, std::optional<DimsView> s = {},
                  std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                  Out out = {});

// ---- two axes: absent, the last two ----
Tensor fft_fft2(const Tensor& input, std::optional<DimsView> s = {},
                std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                Out out = {});
Tensor fft_ifft2(const Tensor& input, std::optional<DimsView> s = {},
                 std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                 Out out = {});
Tensor fft_rfft2(const Tensor& input, std::optional<DimsView> s = {},
                 std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                 Out out = {});
Tensor fft_irfft2(const Tensor& input, std::optional<DimsView> s = {},
                  std::optional<DimsView> axes = {}, std::string_view norm = "backward",
                  Out out = {});

// ---- frequencies, in cycles for each unit of the distance `d` between samples ----
// 0, 1, ..., (n-1)/2, -n/2, ..., -1, and 0, 1, ..., n/2, divided by n d. kValue unless n >= 1.
Tensor fft_fftfreq(int64_t n, double d = 1, std::optional<DType> dtype = {},
                   std::optional<Device> device = {});
Tensor fft_rfftfreq(int64_t n, double d = 1, std::optional<DType> dtype = {},
                    std::optional<Device> device = {});

// ---- the frequency 0 in the middle of the axes (all when absent), and back; copies ----
Tensor fft_fftshift(const Tensor& input, std::optional<DimsView> axes = {}, Out out = {});
Tensor fft_ifftshift(const Tensor& input, std::optional<DimsView> axes = {}, Out out = {});

}  // namespace tsr::ops
