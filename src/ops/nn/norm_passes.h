// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The passes that all normalisations share: launch, derivative and record.
#pragma once

#include <array>
#include <utility>

#include "autograd/record.h"
#include "ops/nn/image.h"

namespace tsr::ops {

// The parameters of a normalisation besides its tensors; the node stores it by value.
struct NormShape {
  kernel::NormKind kind = kernel::NormKind::kChannels;
  bool use_statistics = false;
  bool channels_last = false;  // kGroups
  int64_t groups = 0;          // kGroups
  int64_t outer = 1, channels = 1, inner = 1;
  double eps = 1e-5;
  Dims view;            // the shape in which the axes below count; empty: the input's own
  Dims parameter;       // the shape of weight and bias, to broadcast with the input
  Dims statistics;      // the same for mean and rstd
  Dims axes;            // the axes that are normalised over
  Dims parameter_axes;  // the axes that the parameters lack
};

// The tensors of a launch; weight, bias and mean may be undefined. Statistics are opmath.
struct NormTensors {
  const Tensor& x;
  const Tensor& weight;
  const Tensor& bias;
  const Tensor& mean;
  const Tensor& rstd;
  const Tensor& y;
};
// How to update the running statistics; null pointers: no update.
struct Movement {
  double momentum = 0;
  void* mean = nullptr;
  void* var = nullptr;
};

// Forward mode in the pass of the forward: the tangent of the output for those of input, weight and
// bias. The CPU has that for the case of LoneTangents in which the input has a tangent; in other
// cases record_norm makes the tangent.
class NormTangent {
 public:
  // `recorded`: needs_grad of these tensors.
  NormTangent(bool recorded, const Tensor& x, const Tensor& w, const Tensor& b);

  [[nodiscard]] bool used() const noexcept { return used_; }
  // If used: allocates the tangent of an output like `dense`, and brings the others into the layout
  // of the launch.
  void allocate(const Tensor& dense);
  // After the launch.
  void give(const Tensor& output) {
    if (used_) lone_.give(output, std::move(output_));
  }

  // The tensors of the launch; undefined unless used, and those of weight and bias if they are
  // zero.
  [[nodiscard]] const Tensor& input() const noexcept { return input_; }
  [[nodiscard]] const Tensor& weight() const noexcept { return weight_; }
  [[nodiscard]] const Tensor& bias() const noexcept { return bias_; }
  [[nodiscard]] const Tensor& output() const noexcept { return output_; }

 private:
  LoneTangents lone_;
  bool used_ = false;
  Tensor input_, weight_, bias_, output_;
};

void launch_norm(const NormShape& shape, const NormTensors& of, const NormTangent& tangent,
                 const Movement& moved = {});

// The inputs that the derivative reads; `none` replaces the others.
std::array<Save, 2> norm_saves(const Tensor& x, const Tensor& w, const Tensor& none);
// RECORD, if the tangent is not used. `dense` is x in the layout that the shape describes.
void record_norm(const Tensor& output, const char* name, const NormShape& shape, const Tensor& x,
                 const Tensor& w, const Tensor& b, const Tensor& dense, const Tensor& mean,
                 const Tensor& rstd);

// Parameters have the dtype of the input or its opmath dtype: a model of 16-bit floats may keep
// them in float32. Throws kDType.
void check_parameter_dtype(const Tensor& tensor, const char* arg, const Tensor& input);
// A weight, bias or running statistic that is defined has one number per channel (axis 1 of the
// input) on the input's device. Throws kShape, kDevice.
void check_channels(const Tensor& tensor, const char* arg, const Tensor& input);

}  // namespace tsr::ops
