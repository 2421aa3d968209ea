// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows of depthwise convolution of one plane; T is float or double.
#pragma once

#include <cstdint>

namespace tsr::cpu {

// One axis of a depthwise convolution. Only the numbers that a window covers are packed.
struct DepthwiseAxis {
  int64_t input, output, stride, padding;
  int64_t packed;  // rows or columns of each remainder modulo the stride
};
inline constexpr int kMaxTaps = 49;
// See Note [Packed planes]; sizes are in elements.
struct DepthwiseShape {
  DepthwiseAxis height, width;
  int taps;
  int64_t offsets[kMaxTaps];  // from an output's position to the number that the tap reads for it
  int64_t length;             // of a packed row
  int64_t part;               // from one remainder's rows to the next one's
  int64_t margin;             // zeros before a packed gradient
  int64_t block_rows;         // rows computed at a time
  int64_t input_room, output_room, block_room;  // for packed planes, and for a block
};

template <class T>
struct DepthwiseRows {
  // The caller zeroes `scratch` once (input_room or output_room, then block_room); calls of the
  // same kind can share it.
  void (*forward)(const DepthwiseShape& shape, const T* x, const T* weight, T bias, T* y,
                  T* scratch);
  void (*backward_input)(const DepthwiseShape& shape, const T* g, const T* weight, T* dx,
                         T* scratch);
  // Adds to the taps' and the bias' gradient (may be null); scratch: input_room and output_room.
  void (*backward_weight)(const DepthwiseShape& shape, const T* x, const T* g, double* dw,
                          double* db, T* scratch);
};

}  // namespace tsr::cpu
