// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution of 16-bit floats in float32: a block of images is widened into workspace, computed
// there and rounded once. The gradient of a weight is summed over the blocks in float32.
#include <algorithm>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/nn/nn.h"
#include "backend/cpu/widen.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

constexpr int64_t kGrain = 65536;
// A block has at least kBlock numbers (or the whole batch), and at least 1 / kParts of the images.
// Neither depends on the number of threads, so neither does the gradient of a weight.
constexpr int64_t kBlock = int64_t{1} << 18;
constexpr int64_t kParts = 16;

int64_t product(int count, const int64_t* numbers) {
  int64_t result = 1;
  for (int d = 0; d < count; ++d) result *= numbers[d];
  return result;
}

class FloatSpace {
 public:
  explicit FloatSpace(int64_t count)
      : count_(count), space_(count * static_cast<int64_t>(sizeof(float))) {}
  [[nodiscard]] float* data() const { return static_cast<float*>(space_.data()); }
  [[nodiscard]] bool missing() const { return count_ > 0 && space_.data() == nullptr; }

 private:
  int64_t count_;
  Workspace space_;
};

class Blocks {
 public:
  explicit Blocks(const ConvPlan& plan)
      : plan_(plan),
        widen_(rows_of<CopyRows>().cast(plan.dtype, DType::kFloat32)),
        narrow_(rows_of<CopyRows>().cast(DType::kFloat32, plan.dtype)),
        in_size_(plan.in_channels * product(plan.spatial, plan.input_size)),
        out_size_(plan.out_channels * product(plan.spatial, plan.output_size)),
        images_(images_of_block(plan.batch, in_size_ + out_size_)),
        bias_count_(plan.bias == nullptr ? 0 : bias_channels()),
        input_(images_ * in_size_),
        output_(images_ * out_size_),
        weight_(weight_size()),
        bias_(bias_count_),
        // The weight's gradient of one block; weight_ holds the sum of the blocks before it.
        weight_part_(sums() ? weight_size() : 0),
        bias_part_(sums() ? bias_count_ : 0) {}

  Status run() const {
    for (const FloatSpace* space :
         {&input_, &output_, &weight_, &bias_, &weight_part_, &bias_part_}) {
      if (space->missing())
        return failure(Code::kOutOfMemory, "expected memory for images in float32, got none");
    }
    if (!writes_weight()) {
      cast(widen_, weight_size(), weight_.data(), plan_.weight);
      cast(widen_, bias_count_, bias_.data(), plan_.bias);
    }
    for (int64_t first = 0; first < plan_.batch; first += images_) {
      const Status status = run_block(first, std::min(images_, plan_.batch - first));
      if (status != kernel::kOk) return status;
    }
    if (writes_weight()) {
      cast(narrow_, weight_size(), plan_.weight, weight_.data());
      cast(narrow_, bias_count_, plan_.bias, bias_.data());
    }
    return kernel::kOk;
  }

 private:
  [[nodiscard]] bool writes_weight() const { return plan_.pass == ConvPass::kBackwardWeight; }
  [[nodiscard]] bool sums() const { return writes_weight() && images_ < plan_.batch; }
  [[nodiscard]] int64_t weight_size() const {
    return plan_.out_channels * (plan_.in_channels / plan_.groups) *
           product(plan_.spatial, plan_.kernel);
  }
  [[nodiscard]] int64_t bias_channels() const {
    return plan_.pass == ConvPass::kBackwardInput ? plan_.in_channels : plan_.out_channels;
  }

  // 16-bit floats to float32 or back.
  static void cast(CastRow row, int64_t count, void* to, const void* from, int64_t to_size,
                   int64_t from_size) {
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      row(end - begin, static_cast<std::byte*>(to) + begin * to_size,
          static_cast<const std::byte*>(from) + begin * from_size);
    });
  }
  void cast(CastRow row, int64_t count, void* to, const void* from) const {
    const bool widens = row == widen_;
    cast(row, count, to, from, widens ? 4 : 2, widens ? 2 : 4);
  }

  [[nodiscard]] ConvPlan block_plan(int64_t count, bool first) const {
    ConvPlan block = plan_;
    block.dtype = DType::kFloat32;
    block.batch = count;
    // Images are contiguous. Set the batch stride: that of a batch of one may be anything.
    block.input_strides[0] = in_size_;
    block.output_strides[0] = out_size_;
    block.input = input_.data();
    block.output = output_.data();
    block.weight = first || !sums() ? weight_.data() : weight_part_.data();
    block.bias = first || !sums() ? bias_.data() : bias_part_.data();
    return block;
  }

  [[nodiscard]] Status run_block(int64_t first, int64_t count) const {
    auto* input = static_cast<std::byte*>(plan_.input) + first * in_size_ * 2;
    auto* output = static_cast<std::byte*>(plan_.output) + first * out_size_ * 2;
    if (plan_.pass != ConvPass::kBackwardInput)
      cast(widen_, count * in_size_, input_.data(), input);
    if (plan_.pass != ConvPass::kForward) cast(widen_, count * out_size_, output_.data(), output);
    const Status status = conv(block_plan(count, first == 0));
    if (status != kernel::kOk) return status;
    if (plan_.pass == ConvPass::kBackwardInput)
      cast(narrow_, count * in_size_, input, input_.data());
    if (plan_.pass == ConvPass::kForward) cast(narrow_, count * out_size_, output, output_.data());
    if (first != 0 && sums()) {
      add(weight_size(), weight_.data(), weight_part_.data());
      add(bias_count_, bias_.data(), bias_part_.data());
    }
    return kernel::kOk;
  }
  static void add(int64_t count, float* to, const float* from) {
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] += from[i];
    });
  }

  const ConvPlan& plan_;
  CastRow widen_, narrow_;
  int64_t in_size_, out_size_;
  int64_t images_;  // of a block
  int64_t bias_count_;
  FloatSpace input_, output_, weight_, bias_, weight_part_, bias_part_;
};

}  // namespace

int64_t images_of_block(int64_t batch, int64_t numbers) {
  if (batch <= 0) return 1;
  const int64_t least = std::max<int64_t>(1, kBlock / std::max<int64_t>(numbers, 1));
  const int64_t most = std::max(least, (batch + kParts - 1) / kParts);
  const int64_t blocks = (batch + most - 1) / most;
  return (batch + blocks - 1) / blocks;
}

Status conv_by_blocks(const ConvPlan& plan) {
  return Blocks(plan).run();
}

}  // namespace tsr::cpu
