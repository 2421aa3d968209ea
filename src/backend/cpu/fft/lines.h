// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The batch of a transform as blocks of neighbouring lines.
#pragma once

#include <algorithm>

#include "kernel/fft.h"

namespace tsr::cpu {

// A line is one transform of the batch. Its dims are sorted by the input's strides and merged, so
// that the lines of a block, which differ in the last dim only, are close to each other.
class FftLines {
 public:
  FftLines(const kernel::FftPlan& plan, int64_t width) : width_(width) {
    for (int32_t d = 0; d < plan.rank; ++d) {
      if (plan.sizes[d] > 1)
        dims_[rank_++] = {plan.sizes[d], plan.input_strides[d], plan.output_strides[d]};
    }
    std::stable_sort(dims_, dims_ + rank_, [](const Dim& a, const Dim& b) {
      return std::max(a.input, -a.input) > std::max(b.input, -b.input);
    });
    merge();
    if (rank_ == 0) dims_[rank_++] = {1, 0, 0};
    blocks_ = (last().size + width_ - 1) / width_;
    for (int32_t d = 0; d + 1 < rank_; ++d) blocks_ *= dims_[d].size;
  }

  struct Block {
    int64_t input, output;  // offsets in elements
    int64_t count;          // lines
  };
  [[nodiscard]] int64_t blocks() const { return blocks_; }
  [[nodiscard]] int64_t input_lane() const { return last().input; }
  [[nodiscard]] int64_t output_lane() const { return last().output; }

  [[nodiscard]] Block block(int64_t i) const {
    const int64_t in_row = (last().size + width_ - 1) / width_;
    const int64_t first = i % in_row * width_;
    Block found{first * last().input, first * last().output, std::min(width_, last().size - first)};
    i /= in_row;
    for (int32_t d = rank_ - 2; d >= 0; --d) {
      found.input += i % dims_[d].size * dims_[d].input;
      found.output += i % dims_[d].size * dims_[d].output;
      i /= dims_[d].size;
    }
    return found;
  }

 private:
  struct Dim {
    int64_t size, input, output;
  };

  [[nodiscard]] const Dim& last() const { return dims_[rank_ - 1]; }

  void merge() {
    int32_t kept = 0;
    for (int32_t d = 1; d < rank_; ++d) {
      Dim& outer = dims_[kept];
      const Dim& inner = dims_[d];
      if (outer.input == inner.input * inner.size && outer.output == inner.output * inner.size) {
        outer = {outer.size * inner.size, inner.input, inner.output};
      } else {
        dims_[++kept] = inner;
      }
    }
    if (rank_ > 0) rank_ = kept + 1;
  }

  int64_t width_;
  int32_t rank_ = 0;
  int64_t blocks_ = 1;
  Dim dims_[kernel::kMaxRank];
};

}  // namespace tsr::cpu
