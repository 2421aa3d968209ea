// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Signature: what a rank asks for in a collective, and the comparison of the signatures of all
// ranks. Shared by the transports, which link nothing of the library; all is inline.
#pragma once

#include <span>
#include <string>

#include "dist/contract.h"

namespace tsr::dist {

// 32 bytes without padding, so that ranks can exchange and hash them.
struct Signature {
  Collective kind = Collective::kBarrier;
  int32_t dtype = 0;
  int64_t count = 0;    // elements of one rank's part; 0 where ranks may differ
  int32_t reduce = -1;  // a ReduceOp
  int32_t root = -1;
  int64_t number = 0;  // how many collectives the rank started before on this context

  friend bool operator==(const Signature&, const Signature&) = default;
};
static_assert(sizeof(Signature) == 32);

inline std::string describe(const Signature& one) {
  std::string text = name(one.kind);
  if (one.kind == Collective::kBarrier || one.kind == Collective::kSplit) return text;
  text += " of ";
  if (one.kind != Collective::kAllToAll) text += std::to_string(one.count) + " ";
  text += name(static_cast<DType>(one.dtype));
  if (one.reduce >= 0)
    text.append(" (").append(name(static_cast<ReduceOp>(one.reduce))).append(")");
  if (one.root >= 0) text.append(", root ").append(std::to_string(one.root));
  return text;
}

// kOk when all are equal. Else the failure names the first two ranks that differ.
inline Status compare(std::span<const Signature> all, Failure* failure) {
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const Signature &first = all[0], &other = all[rank];
    Code code = Code::kValue;
    if (first.kind == other.kind && first.dtype != other.dtype)
      code = Code::kDType;
    else if (first.kind == other.kind && first.count != other.count)
      code = Code::kShape;
    return failure->set(code, std::string("expected the same operation on every rank, got ") +
                                  describe(first) + " on rank 0 and " + describe(other) +
                                  " on rank " + std::to_string(rank));
  }
  return kOk;
}

// Whether the transports reduce this dtype: min and max need an order, an average needs fractions,
// and bits need integers or bool.
constexpr bool reduces(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kProd:
      return true;
    case ReduceOp::kAvg:
      return is_differentiable(dtype);
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      return !is_complex(dtype);
    default:
      return is_integral_or_bool(dtype);
  }
}

}  // namespace tsr::dist
