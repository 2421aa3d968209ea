// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The types that every kernel plan shares: status, ranks, scalar parameters. Part of the backend
// contract: plain data, no link symbols, no Tensor, no exception.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/device.h"
#include "base/device_interface.h"
#include "base/dtype.h"

namespace tsr::kernel {

// 0, or the value of a tsr::Code. Before it returns a failure, the kernel describes it with
// HostServices::set_error.
using Status = int32_t;
inline constexpr Status kOk = 0;

inline constexpr int kMaxRank = 64;      // dims of a tensor
inline constexpr int kMaxOperands = 10;  // an output, an input and up to eight index arrays

// One number in the opmath type of the plan's compute dtype (float16 and bfloat16 compute in
// float32).
struct Parameter {
  alignas(16) std::byte bytes[16];
};

// Where a kernel runs. On the CPU the stream is null and the call returns when the work is done.
struct Place {
  int32_t device = 0;
  StreamHandle stream = nullptr;
};

// What a launch does, for traces: the name of `op` in a list with one for each of its enumeration.
template <size_t N, class Op>
const char* name_in(const char* const (&names)[N], Op op) noexcept {
  static_assert(N == static_cast<size_t>(Op::kCount), "one name for each");
  const auto at = static_cast<size_t>(op);
  return at < N ? names[at] : "none";
}

constexpr DType opmath(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}

}  // namespace tsr::kernel
