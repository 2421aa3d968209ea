// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups of ranks as arguments.
#pragma once

#include <limits>

#include "capi/handle.h"
#include "dist/collectives.h"

namespace tsr::capi {

inline dist::Group& group_arg(tsr_group handle, const char* arg = "group") {
  return *object_arg<dist::Group>(handle, dist::kGroupTag, "group", arg);
}
inline dist::GroupPtr shared_group_arg(tsr_group handle) {
  return dist::GroupPtr::share(&group_arg(handle));
}
inline dist::Work& work_arg(tsr_work handle, const char* arg = "work") {
  return *object_arg<dist::Work>(handle, dist::kWorkTag, "work", arg);
}

inline int32_t small_arg(int64_t value, const char* arg) {
  using Limits = std::numeric_limits<int32_t>;
  TSR_CHECK(value >= Limits::min() && value <= Limits::max(), Code::kValue, arg,
            "expected a number of 32 bits, got ", value);
  return static_cast<int32_t>(value);
}

// Ranks beyond 32 bits are ranks that no group has.
inline int32_t rank_arg(int64_t value) {
  return value < 0 || value > std::numeric_limits<int32_t>::max() ? -1
                                                                  : static_cast<int32_t>(value);
}

inline dist::ReduceOp reduce_arg(tsr_reduce_op op) {
  TSR_CHECK(op >= TSR_REDUCE_OP_SUM && op <= TSR_REDUCE_OP_BIT_XOR, Code::kInvalidArgument, "op",
            "expected a constant of its enumeration, got ", op);
  return static_cast<dist::ReduceOp>(op);
}
inline int32_t tag_arg(int64_t value) {
  return small_arg(value, "tag");
}

}  // namespace tsr::capi
