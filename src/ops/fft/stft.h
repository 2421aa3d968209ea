// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Short-time Fourier transforms, with PyTorch's arguments and layout.
#pragma once

#include <optional>
#include <string_view>

#include "ops/result.h"

namespace tsr::ops {

// The transforms of windows of n_fft samples, `hop_length` apart (n_fft / 4 when absent), of
// signals (samples) or (batch, samples): (batch, frequencies, windows). A window function of
// win_length (n_fft when absent) numbers, ones when undefined, is filled with zeros at both ends.
// `center`: the signal is padded by n_fft / 2 at both ends, in a mode of `pad`. `normalized`:
// divided by sqrt(n_fft). `onesided` (absent: for real signals and windows): the frequencies
// 0 ... n_fft / 2. Unless `return_complex`, a last axis has the two parts. Throws kShape, kValue.
Tensor stft(const Tensor& input, int64_t n_fft, std::optional<int64_t> hop_length = {},
            std::optional<int64_t> win_length = {}, const Tensor& window = {}, bool center = true,
            std::string_view pad_mode = "reflect", bool normalized = false,
            std::optional<bool> onesided = {}, bool return_complex = true);

// The signal whose stft with the same arguments is nearest, in the sense of least squares: windows
// are added where they overlap and divided by the sum of the squares of the window function, which
// must not vanish (kValue). `length`: of the signal, with zeros at the end where there is no
// window. `return_complex`: for two-sided transforms of complex signals.
Tensor istft(const Tensor& input, int64_t n_fft, std::optional<int64_t> hop_length = {},
             std::optional<int64_t> win_length = {}, const Tensor& window = {}, bool center = true,
             bool normalized = false, std::optional<bool> onesided = {},
             std::optional<int64_t> length = {}, bool return_complex = false);

}  // namespace tsr::ops
