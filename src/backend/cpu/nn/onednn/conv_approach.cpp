// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/nn/onednn/conv_approach.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tsr::cpu::onednn {

using dnnl::memory;
using kernel::ConvPass;
using kernel::ConvPlan;
using Tag = memory::format_tag;

namespace {

// From this number of output points on, a pointwise kernel (one matrix product per image) is faster
// on row-major memory than in oneDNN's own layout, which needs reorders (measured with the shapes
// of ResNet-50; with fewer points the matrices are too narrow).
constexpr int64_t kManyPoints = 400;
// Gradients of images with at most this many channels are faster row-major, too.
constexpr int64_t kFewChannels = 4;
// Winograd's algorithm computes blocks of 4 by 4 points from products of all channels. It is faster
// from these numbers on.
constexpr int64_t kWinogradChannels = 64;
constexpr int64_t kWinogradPoints = 6;

bool read_winograd() {
  const char* chosen = std::getenv("TSR_WINOGRAD");
  return chosen == nullptr || std::strcmp(chosen, "0") != 0;
}
// Not a static that its first use makes: see base/immortal.h.
bool winograd_is_allowed() {
  constinit static std::atomic<int8_t> known{-1};
  int8_t allowed = known.load(std::memory_order_relaxed);
  if (allowed < 0) {
    allowed = read_winograd() ? 1 : 0;
    known.store(allowed, std::memory_order_relaxed);
  }
  return allowed == 1;
}

bool winograd_pays(const ConvPlan& plan) {
  if (plan.spatial != 2 || plan.groups != 1 || plan.dtype != DType::kFloat32) return false;
  if (std::min(plan.in_channels, plan.out_channels) < kWinogradChannels) return false;
  for (int d = 0; d < 2; ++d) {
    if (plan.kernel[d] != 3 || plan.stride[d] != 1 || plan.dilation[d] != 1) return false;
    if (plan.padding[d] > 1 || plan.output_size[d] < kWinogradPoints) return false;
  }
  return winograd_is_allowed();
}

}  // namespace

int64_t product(int count, const int64_t* numbers) {
  int64_t result = 1;
  for (int d = 0; d < count; ++d) result *= numbers[d];
  return result;
}

Approach approach_to(const ConvPlan& plan, bool input_last, bool output_last) {
  Approach way;
  way.last = input_last && output_last;
  if (way.last || plan.groups > 1) return way;
  const bool pointwise = product(plan.spatial, plan.kernel) == 1;
  const bool padded = std::any_of(plan.padding, plan.padding + plan.spatial,
                                  [](int64_t padding) { return padding != 0; });
  // oneDNN supports reorders of few views of bfloat16.
  way.view = pointwise && !padded && product(plan.spatial, plan.stride) != 1 &&
             plan.dtype == DType::kFloat32;
  const bool exact =
      way.view || std::equal(plan.input_size, plan.input_size + plan.spatial, plan.output_size);
  const bool narrow = product(plan.spatial, plan.output_size) < kManyPoints;
  way.swapped = pointwise && !padded && exact && narrow && plan.pass == ConvPass::kBackwardWeight &&
                plan.bias == nullptr;
  way.plain = pointwise ? !narrow || (plan.pass == ConvPass::kBackwardWeight && !way.swapped)
                        : plan.pass == ConvPass::kBackwardInput && plan.in_channels <= kFewChannels;
  way.winograd = winograd_pays(plan);
  return way;
}

namespace {

// With one channel or one point the layout is ambiguous.
bool free_layout(const ConvPlan& plan, int64_t channels, const int64_t* size) {
  return channels == 1 || product(plan.spatial, size) == 1;
}

}  // namespace

ChannelsLast last_of(const ConvPlan& plan) {
  const bool input_free = free_layout(plan, plan.in_channels, plan.input_size);
  const bool output_free = free_layout(plan, plan.out_channels, plan.output_size);
  const bool input = !input_free && plan.input_strides[1] == 1;
  const bool output = !output_free && plan.output_strides[1] == 1;
  return {input || (input_free && output), output || (output_free && input)};
}

int64_t output_step(const ConvPlan& plan) {
  const int64_t dense = plan.out_channels * product(plan.spatial, plan.output_size);
  return plan.batch == 1 ? dense : plan.output_strides[0];
}

namespace {

memory::dims image_sizes(const ConvPlan& plan, int64_t channels, const int64_t* size) {
  memory::dims dims{plan.batch, channels};
  dims.insert(dims.end(), size, size + plan.spatial);
  return dims;
}

}  // namespace

memory::desc image(const ConvPlan& plan, int64_t channels, const int64_t* size,
                   memory::data_type type, bool last) {
  constexpr Tag kPlain[] = {Tag::ncw, Tag::nchw, Tag::ncdhw};
  constexpr Tag kLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  return {image_sizes(plan, channels, size), type, (last ? kLast : kPlain)[plan.spatial - 1]};
}

memory::desc output_image(const ConvPlan& plan, memory::data_type type, bool last) {
  const memory::dims dims = image_sizes(plan, plan.out_channels, plan.output_size);
  const int64_t points = product(plan.spatial, plan.output_size);
  const int64_t step = output_step(plan);
  if (last || step == plan.out_channels * points)
    return image(plan, plan.out_channels, plan.output_size, type, last);
  memory::dims strides(dims.size());
  strides[0] = step;
  strides[1] = points;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 2; stride *= dims[d]) strides[d] = stride;
  return {dims, type, strides};
}

memory::desc wanted_image(const ConvPlan& plan, int64_t channels, const int64_t* size,
                          memory::data_type type, const Approach& way) {
  if (way.last || way.plain) return image(plan, channels, size, type, way.last);
  return {image_sizes(plan, channels, size), type, Tag::any};
}

memory::desc input_view(const ConvPlan& plan, memory::data_type type, bool last) {
  memory::dims strides(static_cast<size_t>(plan.spatial) + 2);
  int64_t stride = last ? plan.in_channels : 1;
  for (int d = plan.spatial; d-- > 0;) {
    strides[static_cast<size_t>(d) + 2] = stride * plan.stride[d];
    stride *= plan.input_size[d];
  }
  strides[1] = last ? 1 : stride;
  strides[0] = last ? stride : stride * plan.in_channels;
  return {image_sizes(plan, plan.in_channels, plan.output_size), type, strides};
}

namespace {

// The sizes of the weight; `swapped` exchanges input and output channels.
memory::dims weight_sizes(const ConvPlan& plan, bool swapped) {
  memory::dims dims;
  if (plan.groups > 1) dims.push_back(plan.groups);
  dims.push_back(plan.out_channels / plan.groups);
  dims.push_back(plan.in_channels / plan.groups);
  dims.insert(dims.end(), plan.kernel, plan.kernel + plan.spatial);
  if (swapped) std::swap(dims[0], dims[1]);
  return dims;
}

}  // namespace

memory::desc weight(const ConvPlan& plan, memory::data_type type, bool swapped) {
  constexpr Tag kOne[] = {Tag::oiw, Tag::oihw, Tag::oidhw};
  constexpr Tag kGroups[] = {Tag::goiw, Tag::goihw, Tag::goidhw};
  constexpr Tag kSwapped[] = {Tag::bac, Tag::bacd, Tag::bacde};
  const Tag* tags = swapped ? kSwapped : plan.groups > 1 ? kGroups : kOne;
  return {weight_sizes(plan, swapped), type, tags[plan.spatial - 1]};
}

memory::desc wanted_weight(const ConvPlan& plan, memory::data_type type, bool swapped) {
  return {weight_sizes(plan, swapped), type, Tag::any};
}

}  // namespace tsr::cpu::onednn
