// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Threads: their number, the state of a thread and how to move it, scopes of handles.
#pragma once

#include <cstdint>
#include <thread>

#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/tensor.hpp"
#include "tessera/device.h"

namespace tessera {

// The number of threads that a function of the library may use.
inline int32_t num_threads() noexcept {
  return tsr_num_threads();
}
inline void set_num_threads(int32_t count) {
  check(tsr_set_num_threads(count));
}

// The precision of matrix products and convolutions of float32; only CUDA uses less than the
// highest.
enum class Precision : int32_t {
  kHighest = TSR_PRECISION_HIGHEST,
  kHigh = TSR_PRECISION_HIGH,      // TensorFloat-32 factors
  kMedium = TSR_PRECISION_MEDIUM,  // bfloat16 factors would be precise enough
};
inline Precision float32_matmul_precision() noexcept {
  return static_cast<Precision>(tsr_matmul_precision());
}
inline void set_float32_matmul_precision(Precision precision) {
  check(tsr_set_matmul_precision(static_cast<tsr_precision>(precision)));
}

// The number of usable devices of a type.
inline int32_t device_count(tsr_device_type type) {
  int32_t count = 0;
  check(tsr_device_count(type, &count));
  return count;
}

// Waits until all work queued on a device is done and reports its failures.
inline void synchronize(Device device = {}) {
  check(tsr_device_synchronize(device.type, device.index));
}

// The device on which functions of this thread make tensors if none is given.
inline Device default_device() {
  Device device;
  check(tsr_device_default(&device.type, &device.index));
  return device;
}

// Makes a device the default one of this thread until the guard is destroyed.
class DeviceGuard {
 public:
  [[nodiscard]] explicit DeviceGuard(Device device) {
    check(tsr_device_set_default(device.type, device.index, &before_.type, &before_.index));
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    Device ours;
    detail::ignore(tsr_device_set_default(before_.type, before_.index, &ours.type, &ours.index));
  }

 private:
  Device before_;
};

// The state that the library keeps for one thread (modes, default device, current generator and
// streams, saved-tensor hooks), for another thread that continues the same task. May be restored
// any number of times. A Scope belongs to its thread, so only there it is part of the state.
class AmbientState {
 public:
  // The state of this thread.
  AmbientState() : state_(save()) {}
  // Restores the state on this thread. Throws if it contains a Scope of this thread that has ended.
  void restore() const {
    check(tsr_ambient_restore(state_.get()));
    if (thread_ == std::this_thread::get_id()) detail::t_open_scopes = open_scopes_;
  }

 private:
  static tsr_ambient save() {
    tsr_ambient state = nullptr;
    check(tsr_ambient_save(&state));
    return state;
  }

  detail::Counted<tsr_ambient, &tsr_ambient_retain, &tsr_ambient_release> state_;
  int32_t open_scopes_ = detail::t_open_scopes;
  std::thread::id thread_ = std::this_thread::get_id();
};

// Runs with a saved state until the guard is destroyed.
class AmbientGuard {
 public:
  [[nodiscard]] explicit AmbientGuard(const AmbientState& state) { state.restore(); }
  AmbientGuard(const AmbientGuard&) = delete;
  AmbientGuard& operator=(const AmbientGuard&) = delete;
  ~AmbientGuard() {
    try {
      before_.restore();
    } catch (const Error&) {  // only by misuse: a Scope of this thread has ended
    }
  }

 private:
  AmbientState before_;
};

// Owns raw handles: handles that C functions return on this thread while the scope lives are
// released at its end. Tensor objects do not need a scope; those made inside have references of
// their own and outlive it.
class Scope {
 public:
  [[nodiscard]] Scope() {
    check(tsr_scope_begin(&scope_));
    ++detail::t_open_scopes;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    --detail::t_open_scopes;
    detail::ignore(tsr_scope_end(scope_, nullptr, 0));
  }

 private:
  tsr_scope scope_ = nullptr;
};

}  // namespace tessera
