// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The deterministic mode of the process.
#include "base/determinism.h"

#include "capi/generated/infos.h"
#include "capi/generated/nondeterministic.h"
#include "capi/handle.h"
#include "capi/log.h"

using namespace tsr;
using namespace tsr::capi;

extern "C" {

int32_t tsr_deterministic_get(void) {
  return static_cast<int32_t>(deterministic_mode());
}

tsr_status tsr_deterministic_set(tsr_deterministic_mode mode, int32_t* previous) {
  return guard(Call(kInfo_deterministic_set, mode), [&] {
    const auto wanted = enum_arg<DeterministicMode>(
        mode, {TSR_DETERMINISTIC_OFF, TSR_DETERMINISTIC_ON, TSR_DETERMINISTIC_WARN}, "mode");
    out_arg(previous, "previous");
    *previous = static_cast<int32_t>(set_deterministic_mode(wanted));
  });
}

int32_t tsr_deterministic_fill(void) {
  return deterministic_fill() ? 1 : 0;
}

tsr_status tsr_deterministic_set_fill(int32_t enabled, int32_t* previous) {
  return guard(Call(kInfo_deterministic_set_fill, enabled), [&] {
    const bool wanted = bool_arg(enabled, "enabled");
    out_arg(previous, "previous");
    *previous = set_deterministic_fill(wanted) ? 1 : 0;
  });
}

tsr_status tsr_deterministic_require(const char* operation, int64_t operation_len) {
  return guard(Call(kInfo_deterministic_require, TextOf{operation, operation_len}), [&] {
    const std::string_view name = text_arg(operation, operation_len, "operation");
    const DeterministicMode mode = deterministic_mode();
    if (mode == DeterministicMode::kOff) return;
    const std::string text =
        concat("expected deterministic operations only, because the deterministic mode is on, got ",
               name, ", which has no deterministic implementation");
    TSR_CHECK(mode == DeterministicMode::kWarn, Code::kNotImplemented, "operation", text);
    log_message(TSR_LOG_WARNING, "determinism", text);
  });
}

tsr_status tsr_deterministic_list(const char** json, int64_t* json_len) {
  return guard(kInfo_deterministic_list, [&] {
    *out_arg(json, "json") = kNondeterministic;
    *out_arg(json_len, "json") = static_cast<int64_t>(sizeof kNondeterministic - 1);
  });
}

}  // extern "C"
