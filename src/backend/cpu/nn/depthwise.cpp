// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of row-major images: every channel has its own kernel, so that planes are
// computed one by one, in place.
#include <algorithm>
#include <atomic>

#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/depthwise_rows.h"
#include "backend/cpu/nn/nn.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;
constexpr int64_t kBlock = 2048;  // numbers computed at a time: they stay in the first-level cache
constexpr int64_t kTile = 64;     // a multiple of what a row function processes at a time
// Smaller planes are faster in oneDNN's layout, whose vectors run over channels (measured).
constexpr int64_t kSmallPlane = 400;
// A packed plane may be so many times as large as the planes themselves, or have so many numbers:
// windows of a large dilation reach far into padding.
constexpr int64_t kMostPacked = 16;
constexpr int64_t kFewPacked = 65536;

bool is_row_major(const ConvPlan& plan, const int64_t* size, const int64_t* strides) {
  int64_t stride = 1;
  for (int d = plan.spatial; d-- > 0; stride *= size[d]) {
    if (size[d] != 1 && strides[d + 2] != stride) return false;
  }
  return plan.in_channels == 1 || strides[1] == stride;
}

int64_t room(int64_t count) {
  return (count + kTile - 1) / kTile * kTile + kTile;
}

// An axis before the plan's first (d < 0) has size 1.
DepthwiseAxis axis_of(const ConvPlan& plan, int d) {
  if (d < 0) return {1, 1, 1, 0, 1};
  const int64_t reach = (plan.kernel[d] - 1) * plan.dilation[d] / plan.stride[d];
  return {plan.input_size[d], plan.output_size[d], plan.stride[d], plan.padding[d],
          plan.output_size[d] + reach};
}

bool packs_well(const ConvPlan& plan) {
  double packed = 1, planes = 1;
  for (int d = 0; d < plan.spatial; ++d) {
    const DepthwiseAxis axis = axis_of(plan, d);
    packed *= static_cast<double>(axis.packed) * static_cast<double>(axis.stride);
    planes *= static_cast<double>(std::max(axis.input, axis.output));
  }
  return packed <= kFewPacked || packed <= kMostPacked * planes;
}

DepthwiseShape shape_of(const ConvPlan& plan) {
  DepthwiseShape s{};
  const int h = plan.spatial - 2;
  const int w = plan.spatial - 1;
  s.height = axis_of(plan, h);
  s.width = axis_of(plan, w);
  s.length = s.width.packed;
  s.part = room(s.height.packed * s.length + s.length);
  const int64_t rows = h < 0 ? 1 : plan.kernel[h];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < plan.kernel[w]; ++j) {
      const int64_t y = h < 0 ? 0 : i * plan.dilation[h];
      const int64_t x = j * plan.dilation[w];
      const int64_t remainder = y % s.height.stride * s.width.stride + x % s.width.stride;
      const int64_t place = y / s.height.stride * s.length + x / s.width.stride;
      s.margin = std::max(s.margin, place);
      s.offsets[s.taps++] = remainder * s.part + place;
    }
  }
  s.block_rows = std::max<int64_t>(1, kBlock / s.length);
  s.block_room = room(s.block_rows * s.length);
  s.input_room = s.height.stride * s.width.stride * s.part;
  s.output_room = room(s.margin + s.height.packed * s.length + s.length);
  return s;
}

template <class T>
class Depthwise {
 public:
  explicit Depthwise(const ConvPlan& plan)
      : plan_(plan),
        s_(shape_of(plan)),
        rows_(rows_of<DepthwiseRows<T>>()),
        x_(static_cast<T*>(plan.input)),
        w_(static_cast<T*>(plan.weight)),
        bias_(static_cast<T*>(plan.bias)),
        y_(static_cast<T*>(plan.output)) {}

  // Work items are planes, or for the gradient of the weight channels with all their planes.
  Status run() const {
    const bool weight = plan_.pass == ConvPass::kBackwardWeight;
    const int64_t planes = weight ? plan_.batch : 1;
    const int64_t grain = std::max<int64_t>(1, kGrain / (s_.part * s_.taps * planes + 1));
    std::atomic<bool> failed{false};
    parallel_for(weight ? plan_.in_channels : plan_.batch * plan_.in_channels, grain,
                 [&](int64_t begin, int64_t end) {
                   if (!run_part(begin, end)) failed = true;
                 });
    if (!failed) return kernel::kOk;
    return failure(Code::kOutOfMemory, "expected memory for a padded plane, got none");
  }

 private:
  bool run_part(int64_t begin, int64_t end) const {
    const int64_t count = scratch_size();
    const Workspace space(count * static_cast<int64_t>(sizeof(T)));
    auto* scratch = static_cast<T*>(space.data());
    if (scratch == nullptr) return false;
    std::fill_n(scratch, count, T{0});
    for (int64_t i = begin; i < end; ++i) {
      if (plan_.pass == ConvPass::kForward)
        forward(i, scratch);
      else if (plan_.pass == ConvPass::kBackwardInput)
        backward_input(i, scratch);
      else
        backward_weight(i, scratch);
    }
    return true;
  }
  [[nodiscard]] int64_t scratch_size() const {
    if (plan_.pass == ConvPass::kBackwardInput) return s_.output_room + s_.block_room;
    return s_.input_room + (plan_.pass == ConvPass::kForward ? s_.block_room : s_.output_room);
  }
  [[nodiscard]] T* input(int64_t plane) const {
    return x_ + plane * s_.height.input * s_.width.input;
  }
  [[nodiscard]] T* output(int64_t plane) const {
    return y_ + plane * s_.height.output * s_.width.output;
  }

  void forward(int64_t plane, T* scratch) const {
    const int64_t c = plane % plan_.in_channels;
    rows_.forward(s_, input(plane), w_ + c * s_.taps, bias_ == nullptr ? T{0} : bias_[c],
                  output(plane), scratch);
  }
  void backward_input(int64_t plane, T* scratch) const {
    const int64_t c = plane % plan_.in_channels;
    rows_.backward_input(s_, output(plane), w_ + c * s_.taps, input(plane), scratch);
  }
  void backward_weight(int64_t c, T* scratch) const {
    double dw[kMaxTaps] = {};
    double db = 0;
    for (int64_t n = 0; n < plan_.batch; ++n) {
      const int64_t plane = n * plan_.in_channels + c;
      rows_.backward_weight(s_, input(plane), output(plane), dw, bias_ == nullptr ? nullptr : &db,
                            scratch);
    }
    for (int t = 0; t < s_.taps; ++t) w_[c * s_.taps + t] = static_cast<T>(dw[t]);
    if (bias_ != nullptr) bias_[c] = static_cast<T>(db);
  }

  const ConvPlan& plan_;
  DepthwiseShape s_;
  const DepthwiseRows<T>& rows_;
  T* x_;
  T* w_;
  T* bias_;
  T* y_;
};

}  // namespace

bool prefers_depthwise(const ConvPlan& plan) {
  const bool single = plan.dtype == DType::kFloat32;
  if ((!single && plan.dtype != DType::kFloat64) || plan.spatial > 2) return false;
  if (plan.groups != plan.in_channels || plan.groups != plan.out_channels) return false;
  int64_t taps = 1;
  int64_t points = 1;
  for (int d = 0; d < plan.spatial; ++d) {
    taps *= plan.kernel[d];
    points *= plan.output_size[d];
    if (plan.kernel[d] > kMaxTaps || taps > kMaxTaps) return false;
  }
  if ((single && points < kSmallPlane) || !packs_well(plan)) return false;
  return is_row_major(plan, plan.input_size, plan.input_strides) &&
         is_row_major(plan, plan.output_size, plan.output_strides);
}

Status depthwise(const ConvPlan& plan) {
  if (plan.dtype == DType::kFloat32) return Depthwise<float>(plan).run();
  return Depthwise<double>(plan).run();
}

}  // namespace tsr::cpu
