// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Mixed precision: the autocast state of the thread, and gradient scalers.
#include "capi/autocast.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/json_args.h"
#include "capi/optimizer_args.h"
#include "capi/structs.h"
#include "io/safetensors.h"
#include "optim/grad_scaler.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

using optim::GradScaler;
using optim::ScalerState;

constexpr const char* kMetadataKey = "tessera.grad_scaler";

// ---- autocast ----

AutocastState state_arg(const tsr_autocast_state* from, const char* arg) {
  const auto given = read_struct(from, arg);
  AutocastState state = autocast_state();
  AutocastMode& mode = state.of(device_type_arg(given.device_type, arg));
  mode.enabled = bool_arg(given.enabled, arg);
  if (const auto dtype = optional_dtype_arg(given.dtype, arg)) {
    TSR_CHECK(*dtype == DType::kFloat16 || *dtype == DType::kBFloat16, Code::kDType, arg,
              "expected float16 or bfloat16, got ", *dtype);
    mode.dtype = *dtype;
  }
  mode.own_lists = bool_arg(given.own_lists, arg);
  state.cache = bool_arg(given.cache_enabled, arg);
  return state;
}

void give_state(DeviceType type, tsr_autocast_state* to, const char* arg) {
  fill_struct(to, arg, [type](tsr_autocast_state& filled) {
    const AutocastMode& mode = autocast_state().of(type);
    filled.device_type = static_cast<tsr_device_type>(type);
    filled.enabled = mode.enabled ? 1 : 0;
    filled.dtype = dtype_to_abi(mode.dtype);
    filled.own_lists = mode.own_lists ? 1 : 0;
    filled.cache_enabled = autocast_state().cache ? 1 : 0;
  });
}

// ---- scalers ----

GradScaler& scaler_arg(tsr_grad_scaler handle) {
  return *object_arg<GradScaler>(handle, optim::kGradScalerTag, "gradient scaler", "scaler");
}

ScalerState numbers_arg(const tsr_grad_scaler_state* from) {
  const auto given = read_struct(from, "state");
  return {bool_arg(given.enabled, "state"),
          given.scale,
          given.growth_factor,
          given.backoff_factor,
          given.growth_interval,
          given.growth_tracker};
}

void give_numbers(const ScalerState& numbers, tsr_grad_scaler_state* to) {
  fill_struct(to, "state", [&numbers](tsr_grad_scaler_state& filled) {
    filled.enabled = numbers.enabled ? 1 : 0;
    filled.scale = numbers.scale;
    filled.growth_factor = numbers.growth_factor;
    filled.backoff_factor = numbers.backoff_factor;
    filled.growth_interval = numbers.growth_interval;
    filled.growth_tracker = numbers.growth_tracker;
  });
}

}  // namespace

extern "C" {

tsr_status tsr_autocast_get(tsr_device_type device_type, tsr_autocast_state* state) {
  return guard(Call(kInfo_autocast_get, device_type, state),
               [&] { give_state(device_type_arg(device_type, "device_type"), state, "state"); });
}

tsr_status tsr_autocast_set(const tsr_autocast_state* state) {
  return guard(Call(kInfo_autocast_set, state),
               [&] { set_autocast_state(state_arg(state, "state")); });
}

tsr_status tsr_autocast_begin(const tsr_autocast_state* state, tsr_autocast_state* previous) {
  return guard(Call(kInfo_autocast_begin, state, previous), [&] {
    const AutocastState next = state_arg(state, "state");
    const auto type = static_cast<DeviceType>(state->device_type);
    give_state(type, previous, "previous");
    begin_autocast_region(next);
  });
}

tsr_status tsr_autocast_end(const tsr_autocast_state* previous) {
  return guard(Call(kInfo_autocast_end, previous),
               [&] { end_autocast_region(state_arg(previous, "previous")); });
}

tsr_status tsr_autocast_clear_cache() {
  return guard(kInfo_autocast_clear_cache, [] { clear_autocast_cache(); });
}

tsr_status tsr_grad_scaler_defaults(tsr_grad_scaler_state* state) {
  return guard(Call(kInfo_grad_scaler_defaults, state),
               [&] { give_numbers(ScalerState(), state); });
}

tsr_status tsr_grad_scaler_new(const tsr_grad_scaler_state* state, tsr_grad_scaler* scaler) {
  clear(scaler);
  return guard(Call(kInfo_grad_scaler_new, state), [&] {
    out_arg(scaler, "scaler");
    give_object(new GradScaler(numbers_arg(state)), scaler);
  });
}

void tsr_grad_scaler_retain(tsr_grad_scaler scaler) {
  retain_handle(scaler, optim::kGradScalerTag);
}

void tsr_grad_scaler_release(tsr_grad_scaler scaler) {
  release_handle<GradScaler>(scaler, optim::kGradScalerTag);
}

tsr_status tsr_grad_scaler_scale(tsr_grad_scaler scaler, tsr_tensor loss, tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_grad_scaler_scale, scaler, loss), [&] {
    out_arg(out, "out");
    give(scaler_arg(scaler).scale(TensorArg(loss, "loss").get()), out);
  });
}

tsr_status tsr_grad_scaler_unscale(tsr_grad_scaler scaler, tsr_optimizer optimizer) {
  return guard(Call(kInfo_grad_scaler_unscale, scaler, optimizer),
               [&] { scaler_arg(scaler).unscale(optimizer_arg(optimizer)); });
}

tsr_status tsr_grad_scaler_begin_step(tsr_grad_scaler scaler, tsr_optimizer optimizer,
                                      int32_t* finite) {
  return guard(Call(kInfo_grad_scaler_begin_step, scaler, optimizer), [&] {
    out_arg(finite, "finite");
    *finite = scaler_arg(scaler).begin_step(optimizer_arg(optimizer)) ? 1 : 0;
  });
}

tsr_status tsr_grad_scaler_step(tsr_grad_scaler scaler, tsr_optimizer optimizer, int32_t* stepped) {
  return guard(Call(kInfo_grad_scaler_step, scaler, optimizer), [&] {
    out_arg(stepped, "stepped");
    *stepped = scaler_arg(scaler).step(optimizer_arg(optimizer)) ? 1 : 0;
  });
}

tsr_status tsr_grad_scaler_update(tsr_grad_scaler scaler, double new_scale, int32_t has_new_scale) {
  return guard(Call(kInfo_grad_scaler_update, scaler, MaybeOf{new_scale, has_new_scale}), [&] {
    scaler_arg(scaler).update(optional_double(new_scale, has_new_scale, "new_scale"));
  });
}

tsr_status tsr_grad_scaler_found_inf(tsr_grad_scaler scaler, tsr_optimizer optimizer,
                                     int32_t* found) {
  return guard(Call(kInfo_grad_scaler_found_inf, scaler, optimizer), [&] {
    out_arg(found, "found");
    *found = scaler_arg(scaler).found_inf(optimizer_arg(optimizer)) ? 1 : 0;
  });
}

tsr_status tsr_grad_scaler_state_get(tsr_grad_scaler scaler, tsr_grad_scaler_state* state) {
  return guard(Call(kInfo_grad_scaler_state_get, scaler, state),
               [&] { give_numbers(scaler_arg(scaler).state(), state); });
}

tsr_status tsr_grad_scaler_state_set(tsr_grad_scaler scaler, const tsr_grad_scaler_state* state) {
  return guard(Call(kInfo_grad_scaler_state_set, scaler, state),
               [&] { scaler_arg(scaler).set_state(numbers_arg(state)); });
}

tsr_status tsr_grad_scaler_save(tsr_grad_scaler scaler, const char* path, int64_t path_len) {
  return guard(Call(kInfo_grad_scaler_save, scaler, TextOf{path, path_len}), [&] {
    const std::string text = scaler_arg(scaler).json();
    io::save_archive(path_arg(path, path_len), {}, {{kMetadataKey, text}});
  });
}

tsr_status tsr_grad_scaler_load(tsr_grad_scaler scaler, const char* path, int64_t path_len) {
  return guard(Call(kInfo_grad_scaler_load, scaler, TextOf{path, path_len}), [&] {
    GradScaler& target = scaler_arg(scaler);
    const auto archive = io::Archive::open(path_arg(path, path_len));
    std::string text = "{}";
    for (const auto& [key, value] : archive->header.metadata) {
      if (key == kMetadataKey) text = value;
    }
    target.load(text);
  });
}

}  // extern "C"
