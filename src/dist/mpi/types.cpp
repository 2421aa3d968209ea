// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/mpi/types.h"

#include <array>

#include "dist/reduction.h"

namespace tsr::dist::mpi {
namespace {

template <class T, ReduceOp kOp>
void combine_all(void* in, void* inout, int* count, MPI_Datatype*) {
  using A = Accumulator<T>;
  const auto* from = static_cast<const T*>(in);
  auto* to = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i) {
    to[i] = static_cast<T>(combine(kOp, static_cast<A>(from[i]), static_cast<A>(to[i])));
  }
}

using Function = MPI_User_function*;

template <class T>
Function function_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return combine_all<T, ReduceOp::kSum>;
    case ReduceOp::kMin:
      return combine_all<T, ReduceOp::kMin>;
    case ReduceOp::kMax:
      return combine_all<T, ReduceOp::kMax>;
    case ReduceOp::kProd:
      return combine_all<T, ReduceOp::kProd>;
    case ReduceOp::kBitXor:
      if constexpr (std::is_same_v<T, bool>) return combine_all<T, ReduceOp::kBitXor>;
      return nullptr;
    case ReduceOp::kBitAnd:
      return combine_all<T, ReduceOp::kMin>;
    case ReduceOp::kBitOr:
      return combine_all<T, ReduceOp::kMax>;
  }
  return nullptr;
}

// Only for dtypes and reductions that MPI does not have, or has with another meaning.
Function own_function(ReduceOp op, DType dtype) {
  const bool extreme = op == ReduceOp::kMin || op == ReduceOp::kMax;
  switch (dtype) {
    case DType::kBool:
      return function_of<bool>(op);
    case DType::kFloat16:
      return function_of<Half>(op);
    case DType::kBFloat16:
      return function_of<BFloat16>(op);
    case DType::kFloat32:
      return extreme ? function_of<float>(op) : nullptr;
    case DType::kFloat64:
      return extreme ? function_of<double>(op) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

MPI_Datatype datatype_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return MPI_UINT8_T;
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return MPI_UINT16_T;
    case DType::kUInt32:
      return MPI_UINT32_T;
    case DType::kUInt64:
      return MPI_UINT64_T;
    case DType::kInt8:
      return MPI_INT8_T;
    case DType::kInt16:
      return MPI_INT16_T;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kInt64:
      return MPI_INT64_T;
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kComplex64:
      return MPI_C_FLOAT_COMPLEX;
    case DType::kComplex128:
      break;
  }
  return MPI_C_DOUBLE_COMPLEX;
}

bool has_own_function(ReduceOp op, DType dtype) noexcept {
  return own_function(op, dtype) != nullptr;
}

MPI_Op operation_of(ReduceOp op, DType dtype) {
  if (const Function function = own_function(op, dtype); function != nullptr) {
    static std::array<std::array<MPI_Op, kDTypeCount>, kReduceOpCount> made{};
    static std::array<std::array<bool, kDTypeCount>, kReduceOpCount> known{};
    const auto row = static_cast<size_t>(op), column = static_cast<size_t>(dtype);
    if (!known[row][column]) {
      constexpr int kCommutes = 1;
      MPI_Op_create(function, kCommutes, &made[row][column]);
      known[row][column] = true;
    }
    return made[row][column];
  }
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return MPI_SUM;
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kMax:
      return MPI_MAX;
    case ReduceOp::kProd:
      return MPI_PROD;
    case ReduceOp::kBitAnd:
      return MPI_BAND;
    case ReduceOp::kBitOr:
      return MPI_BOR;
    case ReduceOp::kBitXor:
      break;
  }
  return MPI_BXOR;
}

}  // namespace tsr::dist::mpi
