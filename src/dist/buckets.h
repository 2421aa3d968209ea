// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Buckets: flat memory in which the gradients of several parameters are reduced by one collective.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace tsr::dist {

// Which parameters share a bucket, by their numbers, and in which dtype it is reduced.
struct BucketPlan {
  std::vector<size_t> members;
  DType dtype = DType::kFloat32;
  Device device;
  int64_t numel = 0;
};

// Divides `order`, numbers of parameters in the order in which their gradients are expected, into
// buckets that are closed as soon as they have `bytes` (the first ones of each dtype and device:
// `first_bytes`). A bucket has one dtype and one device; buckets are in the order in which they
// become full. With `reduce_dtype` gradients of wider floating dtypes are reduced in that dtype.
std::vector<BucketPlan> plan_buckets(std::span<const Tensor> params, std::span<const size_t> order,
                                     int64_t first_bytes, int64_t bytes,
                                     std::optional<DType> reduce_dtype);

// A plan with memory. Views have the strides of their parameters where these are dense.
class Bucket {
 public:
  // Throws kOutOfMemory.
  Bucket(BucketPlan plan, std::span<const Tensor> params);

  [[nodiscard]] const BucketPlan& plan() const noexcept { return plan_; }
  // All elements, of a real dtype: a complex bucket has two for each of its own.
  [[nodiscard]] const Tensor& memory() const noexcept { return memory_; }
  // The part of member `place`.
  [[nodiscard]] const Tensor& view(size_t place) const noexcept { return views_[place]; }

 private:
  BucketPlan plan_;
  Tensor memory_;
  std::vector<Tensor> views_;
};

}  // namespace tsr::dist
