// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How a convolution is put to oneDNN: which layouts it gets or may choose, and which views.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernel/nn.h"

namespace tsr::cpu::onednn {

// How a plan is put to oneDNN.
struct Approach {
  bool last = false;   // images with channels last as they are
  bool plain = false;  // row-major images as they are; neither: oneDNN chooses
  // A pointwise kernel with strides sees every stride-th point of the input: with stride 1 over a
  // view of these, whose reorder moves a fraction of the image.
  bool view = false;
  // Input and output change roles in a pointwise kernel's gradient, which comes out transposed: its
  // blocks then hold runs of the weight's rows, and their reorder does not scatter single numbers.
  bool swapped = false;
};

// `input_last`, `output_last`: whether these images have channels last.
Approach approach_to(const kernel::ConvPlan& plan, bool input_last, bool output_last);

int64_t product(int count, const int64_t* numbers);
// Whether channels are innermost; a tensor that is both counts as row-major.
bool channels_last(const kernel::ConvPlan& plan, int64_t channels, const int64_t* size,
                   const int64_t* strides);

// Images and weights as the caller has them.
dnnl::memory::desc image(const kernel::ConvPlan& plan, int64_t channels, const int64_t* size,
                         dnnl::memory::data_type type, bool last);
dnnl::memory::desc weight(const kernel::ConvPlan& plan, dnnl::memory::data_type type, bool swapped);
// The points of the input that a view shows.
dnnl::memory::desc input_view(const kernel::ConvPlan& plan, dnnl::memory::data_type type,
                              bool last);
// What the primitive gets, as far as that is not its own choice.
dnnl::memory::desc wanted_image(const kernel::ConvPlan& plan, int64_t channels, const int64_t* size,
                                dnnl::memory::data_type type, const Approach& way);
dnnl::memory::desc wanted_weight(const kernel::ConvPlan& plan, dnnl::memory::data_type type,
                                 bool swapped);

}  // namespace tsr::cpu::onednn
