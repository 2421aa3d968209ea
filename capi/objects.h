// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Objects of the ABI that no layer below has: taken errors, byte buffers, scopes.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "capi/guard.h"
#include "tensor/tensor.h"

namespace tsr::capi {

// One failure. Texts are literals or owned by `message`.
struct Record {
  int32_t code = 0;
  int32_t arg_index = -1;
  int32_t line = 0;
  const char* op = "";
  const char* file = "";
  const char* fallback = nullptr;  // literal that stands in for `message` when memory is out
  std::string message;
  int64_t native_code = 0;
  std::shared_ptr<void> payload;
};

struct ErrorObject final : Object {
  explicit ErrorObject(Record from) : Object(ObjectTag::kError), record(std::move(from)) {}
  static void destroy(ErrorObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }
  Record record;
};

struct BufferObject final : Object {
  explicit BufferObject(std::string from) : Object(ObjectTag::kBuffer), bytes(std::move(from)) {}
  static void destroy(BufferObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }
  std::string bytes;
};

// The arena of tsr_scope_begin. Belongs to the thread that opened it; owns one reference per
// handle.
struct ScopeObject final : Object {
  explicit ScopeObject(ScopeObject* outside) : Object(ObjectTag::kScope), outer(outside) {}
  static void destroy(ScopeObject* object) noexcept {
    object->tag = ObjectTag::kDead;
    delete object;
  }
  std::vector<Tensor> tensors;
  ScopeObject* outer;
  bool open = true;  // until tsr_scope_end; a saved state may keep the object longer
};

// The innermost scope of this thread; null mostly.
extern constinit thread_local ScopeObject* t_scope;

}  // namespace tsr::capi
