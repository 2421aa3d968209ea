// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How safetensors spells dtypes, and the error of a file that does not follow the format.
#pragma once

#include <array>

#include "base/dtype.h"
#include "base/error.h"

namespace tsr::io {

struct Spelling {
  const char* text;
  DType dtype;
};
inline constexpr std::array kSpellings{
    Spelling{"BOOL", DType::kBool},     Spelling{"U8", DType::kUInt8},
    Spelling{"U16", DType::kUInt16},    Spelling{"U32", DType::kUInt32},
    Spelling{"U64", DType::kUInt64},    Spelling{"I8", DType::kInt8},
    Spelling{"I16", DType::kInt16},     Spelling{"I32", DType::kInt32},
    Spelling{"I64", DType::kInt64},     Spelling{"F16", DType::kFloat16},
    Spelling{"BF16", DType::kBFloat16}, Spelling{"F32", DType::kFloat32},
    Spelling{"F64", DType::kFloat64},   Spelling{"C64", DType::kComplex64},
};

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw_error(Code::kIo, "path", __FILE__, __LINE__, concat("not a safetensors file: ", pieces...));
}

}  // namespace tsr::io
