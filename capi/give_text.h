// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Texts as results.
#pragma once

#include <string>
#include <utility>

#include "capi/handle.h"
#include "capi/objects.h"

namespace tsr::capi {

// The text becomes a buffer, which the caller of the ABI releases.
inline void give_text(std::string text, tsr_buffer* out) {
  give_object(new BufferObject(std::move(text)), out);
}

}  // namespace tsr::capi
