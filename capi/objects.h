// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Objects that exist only in the ABI: taken errors and byte buffers.
#pragma once

#include <string>

#include "capi/guard.h"

namespace tsr::capi {

// A failure without its message and payload. Texts are literals.
struct ErrorHead {
  int32_t code = 0;
  int32_t arg_index = -1;
  int32_t line = 0;
  const char* op = "";
  const char* file = "";
  int64_t native_code = 0;
};

struct ErrorObject final : Object {
  ErrorObject(const ErrorHead& from, std::string_view text)
      : Object(ObjectTag::kError), head(from), message(text) {}
  static void destroy(ErrorObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }
  ErrorHead head;
  std::string message;
  std::shared_ptr<void> payload;
};

struct BufferObject final : Object {
  explicit BufferObject(std::string from) : Object(ObjectTag::kBuffer), bytes(std::move(from)) {}
  static void destroy(BufferObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }
  std::string bytes;
};

}  // namespace tsr::capi
