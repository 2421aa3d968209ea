// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Elements moved between channels and positions: shuffles of images.
#pragma once

#include "ops/result.h"

namespace tsr::ops {

// (..., channels r², height, width) as (..., channels, height r, width r): each group of r²
// channels becomes a block of r by r elements. Throws kShape, kValue.
Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor);
// The reverse of pixel_shuffle.
Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor);
// Of (batch, channels, ...): channel g of group c stands where channel c of group g stood. Throws
// kShape, kValue.
Tensor channel_shuffle(const Tensor& input, int64_t groups);

}  // namespace tsr::ops
