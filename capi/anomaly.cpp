// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Anomaly mode of a thread.
#include "capi/anomaly.h"

#include "autograd/anomaly.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

int32_t flags_of(AnomalyMode mode) {
  return (mode.on ? TSR_ANOMALY_ENABLED : 0) | (mode.check_nan ? TSR_ANOMALY_CHECK_NAN : 0);
}

// Null for a thread that is not in the mode.
std::shared_ptr<const void> save_state() {
  const AnomalyMode mode = anomaly_mode();
  if (!mode.on && !mode.check_nan) return nullptr;
  return std::make_shared<const AnomalyMode>(mode);
}
void restore_state(const std::shared_ptr<const void>& saved) {
  set_anomaly_mode(saved == nullptr ? AnomalyMode{}
                                    : *static_cast<const AnomalyMode*>(saved.get()));
}

}  // namespace

namespace tsr::capi {

AmbientPart anomaly_part() noexcept {
  return {save_state, restore_state, AmbientUse::kThread};
}

}  // namespace tsr::capi

extern "C" {

int32_t tsr_anomaly_mode(void) {
  return flags_of(anomaly_mode());
}

tsr_status tsr_anomaly_mode_set(int32_t mode, int32_t* previous) {
  return guard(Call(kInfo_anomaly_mode_set, mode), [&] {
    check_flags(mode, TSR_ANOMALY_ENABLED | TSR_ANOMALY_CHECK_NAN, "mode");
    *out_arg(previous, "previous") = flags_of(anomaly_mode());
    set_anomaly_mode({(mode & TSR_ANOMALY_ENABLED) != 0, (mode & TSR_ANOMALY_CHECK_NAN) != 0});
  });
}

}  // extern "C"
