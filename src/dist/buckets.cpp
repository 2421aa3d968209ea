// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/buckets.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tsr::dist {
namespace {

DType reduced_in(DType dtype, std::optional<DType> wish) {
  return wish && is_floating(dtype) && itemsize(dtype) > itemsize(*wish) ? *wish : dtype;
}

// A bucket that is being filled, for one pair of dtype and device.
struct Open {
  BucketPlan plan;
  bool first = true;  // no bucket of this pair was closed yet
  size_t last = 0;    // position in the order of its last member
};

}  // namespace

std::vector<BucketPlan> plan_buckets(std::span<const Tensor> params, std::span<const size_t> order,
                                     int64_t first_bytes, int64_t bytes,
                                     std::optional<DType> reduce_dtype) {
  std::vector<Open> open;
  std::vector<std::pair<size_t, BucketPlan>> closed;  // with the position of the last member
  for (size_t at = 0; at < order.size(); ++at) {
    const Tensor& param = params[order[at]];
    const DType dtype = reduced_in(param.dtype(), reduce_dtype);
    auto place = std::find_if(open.begin(), open.end(), [&](const Open& one) {
      return one.plan.dtype == dtype && one.plan.device == param.device();
    });
    if (place == open.end()) {
      place = open.insert(open.end(), Open{{{}, dtype, param.device(), 0}, true, 0});
    }
    place->plan.members.push_back(order[at]);
    place->plan.numel += param.numel();
    place->last = at;
    if (place->plan.numel * itemsize(dtype) < (place->first ? first_bytes : bytes)) continue;
    closed.emplace_back(at, std::exchange(place->plan, BucketPlan{{}, dtype, param.device(), 0}));
    place->first = false;
  }
  for (Open& one : open) {
    if (!one.plan.members.empty()) closed.emplace_back(one.last, std::move(one.plan));
  }
  std::sort(closed.begin(), closed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<BucketPlan> plans;
  for (auto& [last, plan] : closed) plans.push_back(std::move(plan));
  return plans;
}

Bucket::Bucket(BucketPlan plan, std::span<const Tensor> params) : plan_(std::move(plan)) {
  const Tensor flat = empty(Dims{plan_.numel}, plan_.dtype, plan_.device);
  int64_t offset = 0;
  for (const size_t member : plan_.members) {
    const Tensor& param = params[member];
    const bool dense = is_dense(param.sizes(), param.strides());
    const Dims strides = dense ? dense_strides_like(param.sizes(), param.strides())
                               : contiguous_strides(param.sizes());
    views_.push_back(make_view(flat, param.sizes(), strides, offset));
    offset += param.numel();
  }
  const DType real = real_dtype(plan_.dtype);
  const int64_t numel = plan_.numel * (real == plan_.dtype ? 1 : 2);
  memory_ = real == plan_.dtype ? flat : make_fresh(flat.storage(), real, Dims{numel}, Dims{1});
}

}  // namespace tsr::dist
