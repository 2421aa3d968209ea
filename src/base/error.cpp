// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <utility>

namespace tsr {

Error::Error(Code code, const char* arg, std::string message, const char* file, int32_t line)
    : code_(code), line_(line), arg_(arg), file_(file), message_(std::move(message)) {}

void Error::prepend(std::string_view context) {
  message_.insert(0, context);
}

void throw_error(Code code, const char* arg, const char* file, int32_t line, std::string message) {
  throw Error(code, arg, std::move(message), file, line);
}

}  // namespace tsr
