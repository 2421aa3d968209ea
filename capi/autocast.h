// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Autocast: the state of a thread, and the way around it that the functions of listed operators
// take (capi/schema/autocast.yaml).
//
// Note [Autocast at the door]
// A function of a listed operator asks is_autocast_used() before anything else. If this thread has
// autocast on and a tensor must be cast, autocast() casts it and calls the function again; the
// second call finds nothing to cast. The operators below the ABI know nothing of autocast:
// what a composition or a derivative computes is never cast, what code of the host computes is,
// also in a custom function. Casts are recorded, so that a gradient returns to the dtype of the
// tensor that was given.
#pragma once

#include <array>
#include <atomic>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/small_vector.h"
#include "capi/handle.h"

namespace tsr::capi {

// ---- The state of a thread ----

struct AutocastMode {
  bool enabled = false;
  DType dtype = DType::kBFloat16;  // float16 or bfloat16
  bool own_lists = false;          // the lists of this kind of device, else those for CUDA
};

struct AutocastState {
  AutocastMode cpu, cuda{false, DType::kFloat16, false}, simulated;
  bool cache = true;  // keep the casts of leaves that require grad

  [[nodiscard]] AutocastMode& of(DeviceType type) noexcept {
    return type == DeviceType::kCpu ? cpu : type == DeviceType::kCuda ? cuda : simulated;
  }
  [[nodiscard]] const AutocastMode& of(DeviceType type) const noexcept {
    return const_cast<AutocastState*>(this)->of(type);
  }
  [[nodiscard]] bool on() const noexcept {
    return cpu.enabled || cuda.enabled || simulated.enabled;
  }
};

[[nodiscard]] const AutocastState& autocast_state() noexcept;
// Throws bad_alloc if the thread's end cannot be noticed; then nothing has changed.
void set_autocast_state(const AutocastState& state);
// Regions of this thread; the end of the outermost one drops its casts. Ending none throws kValue.
void begin_autocast_region(const AutocastState& state);
void end_autocast_region(const AutocastState& previous);
void clear_autocast_cache() noexcept;

// ---- Calls of listed operators ----

// The number of threads that have autocast on.
extern std::atomic<int32_t> g_autocast_threads;
inline bool is_autocast_used() noexcept {
  return g_autocast_threads.load(std::memory_order_relaxed) != 0;
}

// The casts of one call: see() every tensor, then, if some cast is wanted(), cast() every tensor.
class Casts {
 public:
  explicit Casts(const CallInfo& info) noexcept : info_(info), state_(autocast_state()) {}
  Casts(const Casts&) = delete;
  Casts& operator=(const Casts&) = delete;
  ~Casts();

  void see(tsr_tensor handle) noexcept;
  void see(const tsr_tensor* handles, int32_t count) noexcept;
  // Throws kDType for an operator that autocast refuses.
  [[nodiscard]] bool wanted() const;
  // The handle itself, or one of a cast that this object owns.
  [[nodiscard]] tsr_tensor cast(tsr_tensor handle);
  [[nodiscard]] const tsr_tensor* cast(const tsr_tensor* handles, int32_t count);

 private:
  [[nodiscard]] bool is_eligible(const TensorImpl& impl) const noexcept;
  [[nodiscard]] Autocast list() const noexcept {
    return own_lists_ ? info_.autocast_cpu : info_.autocast;
  }

  const CallInfo& info_;
  const AutocastState& state_;
  bool wide_ = false;       // float64 or complex was seen
  bool differs_ = false;    // an eligible tensor has not the dtype of its device's region
  bool own_lists_ = false;  // the lists of the CPU are in use
  uint8_t seen_ = 0;        // dtypes of eligible tensors, as bits
  SmallVector<Tensor, 6> casts_;
  std::vector<std::vector<tsr_tensor>> lists_;
};

struct Recast {
  bool called = false;  // false: the function goes on with the tensors that it was given
  tsr_status status = TSR_OK;
};

namespace detail {

// Calls one(tensor) for each parameter that is a tensor, many(list, count) for each list of them.
template <class Params, class One, class Many>
[[gnu::always_inline]] inline void each_tensor(Params& params, const One& one, const Many& many) {
  const auto visit = [&]<size_t I>(std::integral_constant<size_t, I>) {
    using Param = std::tuple_element_t<I, Params>;
    if constexpr (std::is_same_v<Param, tsr_tensor>) {
      one(std::get<I>(params));
    } else if constexpr (std::is_same_v<Param, const tsr_tensor*>) {
      many(std::get<I>(params), std::get<I + 1>(params));
    }
  };
  [&]<size_t... I>(std::index_sequence<I...>) {
    (visit(std::integral_constant<size_t, I>()), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Params>>());
}

}  // namespace detail

// One instance for each list of parameter types, not for each function.
template <class... Params>
[[gnu::noinline]] Recast autocast(const CallInfo& info, tsr_status (*function)(Params...),
                                  std::type_identity_t<Params>... given) noexcept {
  if (!autocast_state().on()) return {};
  std::tuple<Params...> params(given...);
  try {
    Casts casts(info);
    detail::each_tensor(
        params, [&](tsr_tensor handle) { casts.see(handle); },
        [&](const tsr_tensor* handles, int32_t count) { casts.see(handles, count); });
    if (!casts.wanted()) return {};
    detail::each_tensor(
        params, [&](tsr_tensor& handle) { handle = casts.cast(handle); },
        [&](const tsr_tensor*& handles, int32_t count) { handles = casts.cast(handles, count); });
    return {true, std::apply(function, params)};
  } catch (...) {
    const auto clear_place = [](auto param) {
      if constexpr (std::is_same_v<decltype(param), tsr_tensor*>) clear(param);
    };
    (clear_place(given), ...);
    return {true, record_failure(info)};
  }
}

}  // namespace tsr::capi
