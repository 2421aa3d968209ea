// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of optimizers: an owner, parameters, gradients that differ for each step.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "capi/abi_support.h"

namespace tsr::test {

inline constexpr tsr_optimizer_kind kAllKinds[] = {
    TSR_OPTIMIZER_SGD,     TSR_OPTIMIZER_ADAM,     TSR_OPTIMIZER_ADAMW,  TSR_OPTIMIZER_RMSPROP,
    TSR_OPTIMIZER_ADAGRAD, TSR_OPTIMIZER_ADADELTA, TSR_OPTIMIZER_ADAMAX, TSR_OPTIMIZER_NADAM,
    TSR_OPTIMIZER_RADAM,   TSR_OPTIMIZER_LAMB,     TSR_OPTIMIZER_LION,   TSR_OPTIMIZER_MUON,
    TSR_OPTIMIZER_RPROP,   TSR_OPTIMIZER_ASGD};

using Change = std::function<void(tsr_optimizer_options&)>;

inline tsr_optimizer_options options_of(tsr_optimizer_kind kind, const Change& change = {}) {
  tsr_optimizer_options options = {};
  options.struct_size = sizeof(options);
  ok(tsr_optimizer_defaults(kind, &options));
  if (change) change(options);
  return options;
}

// Owns one reference.
class Optimizer {
 public:
  Optimizer(const tsr_optimizer_options& options, const std::vector<tsr_tensor>& params) {
    ok(tsr_optimizer_new(&options, params.data(), static_cast<int32_t>(params.size()), &handle_));
  }
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  ~Optimizer() { tsr_optimizer_release(handle_); }
  operator tsr_optimizer() const { return handle_; }

 private:
  tsr_optimizer handle_ = nullptr;
};

inline Tensor parameter(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<double> values) {
  Tensor made(reals(dtype, std::move(shape), std::move(values)));
  ok(tsr_tensor_set_requires_grad(made, 1));
  return made;
}

inline void set_grad(tsr_tensor param, const Literal& values) {
  const Tensor grad(values);
  ok(tsr_tensor_set_grad(param, grad));
}

// A gradient that changes sign and size from step to step, without randomness.
inline double gradient_at(int step) {
  return std::sin(1.7 * step) + 0.3;
}

inline std::vector<double> values_of(tsr_tensor tensor) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  Tensor wide, flat;
  ok(tsr_detach(tensor, flat.slot()));
  ok(tsr_astype(flat, TSR_FLOAT64, 1, wide.slot()));
  std::vector<double> values(static_cast<size_t>(info.numel));
  ok(tsr_tensor_read(wide, values.data(), info.numel * 8));
  return values;
}

}  // namespace tsr::test
