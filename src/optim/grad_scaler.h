// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// GradScaler: keeps the gradients of float16 in its range (Micikevicius and others, "Mixed
// precision training", 2018). The loss is multiplied by a scale before the backward, the gradients
// are divided by it before the step; a step whose gradients are not finite is skipped, and the
// scale shrinks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/intrusive_ptr.h"
#include "optim/optimizer.h"
#include "tensor/tensor.h"

namespace tsr::optim {

inline constexpr auto kGradScalerTag = static_cast<ObjectTag>(0x54534143U);

struct ScalerState {
  bool enabled = true;       // false: losses, gradients and steps are as without a scaler
  double scale = 65536;      // rounded to float32
  double growth_factor = 2;  // after growth_interval steps in a row with finite gradients
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;
  int64_t growth_tracker = 0;  // such steps so far

  // Throws kValue.
  void check() const;
};

// Not synchronized: one thread at a time, as for an optimizer.
class GradScaler final : public Object {
 public:
  explicit GradScaler(const ScalerState& state);
  static void destroy(GradScaler* scaler) noexcept;

  // The loss times the scale, recorded. Throws kDType unless it is floating.
  [[nodiscard]] Tensor scale(const Tensor& loss);
  // Divides the gradients of the optimizer by the scale, in place, and looks whether all are
  // finite: once in each iteration, before they are clipped, say. Throws kValue for the second
  // time, after the step, before any scale(), and for gradients of float16.
  void unscale(Optimizer& optimizer);
  // Unscales unless that was done, and tells whether the optimizer may step; the caller then steps
  // it. Throws kValue for the second time in an iteration and if there are no gradients.
  [[nodiscard]] bool begin_step(Optimizer& optimizer);
  // begin_step and the step; false if it was skipped.
  bool step(Optimizer& optimizer);
  // Ends the iteration: changes the scale by what was found, or to `scale`. Throws kValue if no
  // gradients were looked at.
  void update(std::optional<double> scale);
  // Whether gradients of this optimizer that are not finite were found in this iteration.
  [[nodiscard]] bool found_inf(const Optimizer& optimizer);

  [[nodiscard]] const ScalerState& state() const noexcept { return state_; }
  void set_state(const ScalerState& state);
  // The state as JSON with PyTorch's names; {} if not enabled. load() throws kValue for a text that
  // is not such a state, and then changes nothing.
  [[nodiscard]] std::string json() const;
  void load(std::string_view text);

 private:
  enum class Stage : uint8_t { kReady, kUnscaled, kStepped };
  struct Iteration {  // of one optimizer
    IntrusivePtr<Optimizer> optimizer;
    Stage stage = Stage::kReady;
    std::vector<Tensor> found;     // on each device with gradients: float32, not 0 if not finite
    std::optional<bool> infinite;  // what `found` says, once the host knows it
  };

  ~GradScaler() = default;
  void check_scaled(const char* function) const;
  Iteration& iteration(Optimizer& optimizer);
  void look_at_gradients(Iteration& iteration) const;
  static bool is_infinite(Iteration& iteration);

  ScalerState state_;
  bool scaled_ = false;  // scale() was called
  std::unordered_map<const Optimizer*, Iteration> iterations_;
};

}  // namespace tsr::optim
