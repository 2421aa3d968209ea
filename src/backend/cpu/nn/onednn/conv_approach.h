// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How a convolution is passed to oneDNN: which layouts are fixed, which it may choose, and which
// views it gets.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernel/nn.h"

namespace tsr::cpu::onednn {

// How a plan is passed to oneDNN.
struct Approach {
  bool last = false;   // images with channels last, in place
  bool plain = false;  // row-major images, in place; neither: oneDNN chooses
  // A pointwise kernel with strides reads only every stride-th point of the input. It runs with
  // stride 1 over a view of these points, whose reorder moves a fraction of the image.
  bool view = false;
  // For a pointwise kernel's gradient, input and output exchange roles, which transposes the
  // result: its blocks then hold runs of the weight's rows, and their reorder does not scatter
  // single numbers.
  bool swapped = false;
  // Winograd's algorithm, where oneDNN has it and the memory that it needs is bounded
  // (docs/adr/0031-winograd.md).
  bool winograd = false;
};

// `input_last`, `output_last`: whether these images have channels last.
Approach approach_to(const kernel::ConvPlan& plan, bool input_last, bool output_last);

int64_t product(int count, const int64_t* numbers);
// Which images have channels innermost. A tensor that is both row-major and channels last takes the
// other tensor's layout.
struct ChannelsLast {
  bool input, output;
};
ChannelsLast last_of(const kernel::ConvPlan& plan);
// The elements from one image of the output to the next.
int64_t output_step(const kernel::ConvPlan& plan);

// The caller's layouts of images and weights.
dnnl::memory::desc image(const kernel::ConvPlan& plan, int64_t channels, const int64_t* size,
                         dnnl::memory::data_type type, bool last);
// The output; row-major images may be some channels of larger ones.
dnnl::memory::desc output_image(const kernel::ConvPlan& plan, dnnl::memory::data_type type,
                                bool last);
dnnl::memory::desc weight(const kernel::ConvPlan& plan, dnnl::memory::data_type type, bool swapped);
// The points of the input that a view shows.
dnnl::memory::desc input_view(const kernel::ConvPlan& plan, dnnl::memory::data_type type,
                              bool last);
// The layouts that the primitive gets, or "any" where oneDNN chooses.
dnnl::memory::desc wanted_image(const kernel::ConvPlan& plan, int64_t channels, const int64_t* size,
                                dnnl::memory::data_type type, const Approach& way);
dnnl::memory::desc wanted_weight(const kernel::ConvPlan& plan, dnnl::memory::data_type type,
                                 bool swapped);

}  // namespace tsr::cpu::onednn
