// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Mixed precision: regions of autocast, and the scaler of a loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tessera/amp.h"
#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/optim.hpp"

namespace tessera {

struct AutocastOptions {
  std::optional<DType> dtype = {};  // float16 or bfloat16; else the thread's for the device
  bool enabled = true;              // false: a region in the dtypes of its tensors
  std::optional<bool> cache_enabled =
      {};  // keep the casts of parameters; else as around the region
  tsr_device_type device = TSR_DEVICE_CPU;  // whose tensors are cast
  bool own_lists = false;  // PyTorch's lists for this kind of device, else those for CUDA
};

// Until the guard is destroyed, operators of this thread get tensors of 16 bits, or of float32
// where they need it. Guards must be destroyed in reverse order, as variables are by themselves.
class AutocastGuard {
 public:
  [[nodiscard]] explicit AutocastGuard(const AutocastOptions& options = {}) {
    tsr_autocast_state state = state_of(options.device);
    before_ = state;
    state.enabled = options.enabled;
    state.dtype = options.dtype ? static_cast<tsr_dtype>(*options.dtype) : -1;
    state.own_lists = options.own_lists;
    if (options.cache_enabled) state.cache_enabled = *options.cache_enabled;
    check(tsr_autocast_begin(&state, &before_));
  }
  [[nodiscard]] explicit AutocastGuard(DType dtype, tsr_device_type device = TSR_DEVICE_CPU)
      : AutocastGuard(with(dtype, device)) {}
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;
  ~AutocastGuard() { detail::ignore(tsr_autocast_end(&before_)); }

  static tsr_autocast_state state_of(tsr_device_type device) {
    tsr_autocast_state state{};
    state.struct_size = sizeof(state);
    check(tsr_autocast_get(device, &state));
    return state;
  }

 private:
  static AutocastOptions with(DType dtype, tsr_device_type device) {
    AutocastOptions options;
    options.dtype = dtype;
    options.device = device;
    return options;
  }

  tsr_autocast_state before_{};
};

inline bool is_autocast_enabled(tsr_device_type device = TSR_DEVICE_CPU) {
  return AutocastGuard::state_of(device).enabled != 0;
}
inline DType autocast_dtype(tsr_device_type device = TSR_DEVICE_CPU) {
  return static_cast<DType>(AutocastGuard::state_of(device).dtype);
}
inline void clear_autocast_cache() {
  check(tsr_autocast_clear_cache());
}

// The numbers of a scaler; PyTorch's state_dict has the same names.
struct GradScalerOptions {
  double scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;
  int64_t growth_tracker = 0;
  bool enabled = true;
};

// Multiplies a loss by a scale and divides the gradients by it; a step whose gradients are not
// finite is skipped, and the scale shrinks. A copy is the same scaler. One thread at a time may use
// it.
class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options = {}) {
    const tsr_grad_scaler_state state = to_c(options);
    tsr_grad_scaler handle = nullptr;
    check(tsr_grad_scaler_new(&state, &handle));
    handle_ = Handle(handle);
  }

  // The loss times the scale, for backward.
  Tensor scale(const Tensor& loss) {
    tsr_tensor out = nullptr;
    check(tsr_grad_scaler_scale(handle(), loss.handle(), &out));
    return Tensor::take(out);
  }
  // Divides the gradients of the optimizer, for example before they are clipped.
  template <class Options>
  void unscale(const optim::Optimizer<Options>& optimizer) {
    check(tsr_grad_scaler_unscale(handle(), optimizer.handle()));
  }
  // Steps the optimizer if its gradients are finite, and returns whether it did.
  template <class Options>
  bool step(const optim::Optimizer<Options>& optimizer) {
    int32_t stepped = 0;
    check(tsr_grad_scaler_step(handle(), optimizer.handle(), &stepped));
    return stepped != 0;
  }
  // Ends an iteration: changes the scale by what the steps found, or to `scale`.
  void update(std::optional<double> scale = std::nullopt) {
    check(tsr_grad_scaler_update(handle(), scale.value_or(0), scale.has_value()));
  }
  // Whether gradients of this optimizer that are not finite were found since the last update.
  template <class Options>
  bool found_inf(const optim::Optimizer<Options>& optimizer) {
    int32_t found = 0;
    check(tsr_grad_scaler_found_inf(handle(), optimizer.handle(), &found));
    return found != 0;
  }

  GradScalerOptions state() const {
    tsr_grad_scaler_state found{};
    found.struct_size = sizeof(found);
    check(tsr_grad_scaler_state_get(handle(), &found));
    GradScalerOptions options;
    options.scale = found.scale;
    options.growth_factor = found.growth_factor;
    options.backoff_factor = found.backoff_factor;
    options.growth_interval = found.growth_interval;
    options.growth_tracker = found.growth_tracker;
    options.enabled = found.enabled != 0;
    return options;
  }
  void load_state(const GradScalerOptions& options) {
    const tsr_grad_scaler_state state = to_c(options);
    check(tsr_grad_scaler_state_set(handle(), &state));
  }

  // Writes a file that every language can load.
  void save(std::string_view path) const {
    check(tsr_grad_scaler_save(handle(), path.data(), detail::length(path)));
  }
  void load(std::string_view path) {
    check(tsr_grad_scaler_load(handle(), path.data(), detail::length(path)));
  }

  // The C handle, borrowed.
  tsr_grad_scaler handle() const noexcept { return handle_.get(); }

 private:
  using Handle =
      detail::Counted<tsr_grad_scaler, &tsr_grad_scaler_retain, &tsr_grad_scaler_release>;

  static tsr_grad_scaler_state to_c(const GradScalerOptions& options) {
    tsr_grad_scaler_state state{};
    state.struct_size = sizeof(state);
    state.enabled = options.enabled;
    state.scale = options.scale;
    state.growth_factor = options.growth_factor;
    state.backoff_factor = options.backoff_factor;
    state.growth_interval = options.growth_interval;
    state.growth_tracker = options.growth_tracker;
    return state;
  }

  Handle handle_;
};

}  // namespace tessera
