// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Texts that the library returns in buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/error.hpp"
#include "tessera/types.h"

namespace tessera::detail {

using Buffer = Owned<tsr_buffer, &tsr_buffer_release>;

inline std::string text_of(const Buffer& buffer) {
  const char* text = nullptr;
  int64_t length = 0;
  check(tsr_buffer_data(buffer.get(), &text, &length));
  return {text, static_cast<size_t>(length)};
}

// Takes over the buffer.
inline std::string take_text(tsr_buffer buffer) {
  return text_of(Buffer(buffer));
}

}  // namespace tessera::detail
