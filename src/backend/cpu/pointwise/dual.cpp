// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forward mode: a pointwise op and its tangent in one pass. A product, a quotient, a sine or a
// cosine has a row for both; the others' rows run over a block while it is in the first-level
// cache. So memory is read once.
#include <immintrin.h>

#include <algorithm>
#include <type_traits>

#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/past_caches.h"
#include "backend/cpu/pointwise/pointwise.h"
#include "backend/cpu/pointwise/walk.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::BinaryOp;
using kernel::DualPlan;
using kernel::Status;
using kernel::UnaryOp;

namespace {

constexpr int64_t kBlockBytes = 4096;  // of each of up to six operands
constexpr int64_t kStreamBlockBytes = 2048;
constexpr int64_t kLine = 64;

// The operands of a block, as in the plan.
struct Block {
  [[nodiscard]] const void* const* tangents() const { return in + 2; }

  int64_t count;
  const void* in[4];  // the operands and their tangents, as a DualRow takes them
  void* value;
  void* tangent;
};

template <class T>
T* moved(T* data, int64_t nbytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return data == nullptr ? nullptr : static_cast<Byte*>(data) + nbytes;
}

Block block_of(const DualPlan& plan, int64_t begin, int64_t count) {
  const int64_t shift = begin * itemsize(plan.dtype);
  return {count,
          {moved(plan.operands[0], shift), moved(plan.operands[1], shift),
           moved(plan.tangents[0], shift), moved(plan.tangents[1], shift)},
          moved(plan.value, shift),
          moved(plan.tangent, shift)};
}

bool streams(const DualPlan& plan) {
  const auto aligned = [](const void* data) {
    return reinterpret_cast<uintptr_t>(data) % kLine == 0;
  };
  int64_t inputs = 0;
  for (int k = 0; k < 2; ++k) {
    inputs += plan.operands[k] != nullptr ? 1 : 0;
    inputs += plan.tangents[k] != nullptr ? 1 : 0;
  }
  if (plan.operands[0] == plan.operands[1]) --inputs;
  const int64_t nbytes = plan.numel * itemsize(plan.dtype);
  return past_caches(2 * nbytes, inputs * nbytes) && aligned(plan.value) && aligned(plan.tangent);
}

// As the walk's blocks that are written past the caches.
template <class Rows>
void run_streamed(const DualPlan& plan, int64_t begin, int64_t end, const Rows& rows) {
  alignas(kLine) std::byte value[kStreamBlockBytes];
  alignas(kLine) std::byte tangent[kStreamBlockBytes];
  const int64_t size = itemsize(plan.dtype);
  const int64_t most = kStreamBlockBytes / size;
  const auto stream = rows_of<CopyRows>().stream;
  for (int64_t at = begin; at < end; at += most) {
    Block block = block_of(plan, at, std::min(most, end - at));
    const int64_t nbytes = block.count * size;
    if (nbytes % kLine != 0) {  // the end of the array
      rows(block);
      continue;
    }
    void* to[] = {block.value, block.tangent};
    block.value = value;
    block.tangent = tangent;
    rows(block);
    stream(to[0], value, nbytes);
    stream(to[1], tangent, nbytes);
  }
  _mm_sfence();
}

// Up to five arrays often do not fit into the second-level cache. So each call begins at the end at
// which the last call of the thread has ended: what that has written last is still in the cache.
constinit thread_local bool t_backwards = false;

template <class Rows>
void walk(const DualPlan& plan, const Rows& rows) {
  const int64_t size = itemsize(plan.dtype);
  if (plan.numel * size <= kBlockBytes) return rows(block_of(plan, 0, plan.numel));
  const int64_t most = kBlockBytes / size;
  const bool stream = streams(plan);
  const bool backwards = t_backwards;
  t_backwards = !backwards;
  const auto run = [&](int64_t begin, int64_t end) {
    if (stream) return run_streamed(plan, begin, end, rows);
    const int64_t last = (end - begin - 1) / most;
    for (int64_t k = 0; k <= last; ++k) {
      const int64_t at = begin + (backwards ? last - k : k) * most;
      rows(block_of(plan, at, std::min(most, end - at)));
    }
  };
  if (plan.numel <= kGrain) return run(0, plan.numel);
  parallel_for(plan.numel, kGrain, run);
}

Status missing() {
  return failure(Code::kNotImplemented,
                 "expected an op with a tangent in one pass, got one that has none");
}

// The op itself gives the tangent.
Status linear(const DualPlan& plan, Row row) {
  if (row == nullptr) return missing();
  walk(plan, [&](const Block& block) {
    row(block.count, block.value, block.in, plan.params);
    row(block.count, block.tangent, block.tangents(), plan.params);
  });
  return kernel::kOk;
}

// With a number as one operand, whose tangent is zero.
Status with_number(BinaryOp op, const DualPlan& plan, BesideRow beside, DualRow row) {
  if (beside == nullptr) return missing();
  const bool first = plan.operands[0] == nullptr;  // the number
  const int k = first ? 1 : 0;
  const void* number = &plan.params[0];
  if (op == BinaryOp::kMultiply || !first) {
    walk(plan, [&](const Block& block) {
      beside({block.count, block.value, block.in[k], number, first});
      beside({block.count, block.tangent, block.tangents()[k], number, first});
    });
    return kernel::kOk;
  }
  walk(plan, [&](const Block& block) {
    beside({block.count, block.value, block.in[1], number, true});
    row(block.count, block.value, block.tangent, block.in);
  });
  return kernel::kOk;
}

}  // namespace

Status dual_unary(UnaryOp op, const DualPlan& plan) {
  const PointwiseKernel* function = find_kernel(op, plan.dtype);
  if (function == nullptr || function->result != plan.dtype) return missing();
  if (op == UnaryOp::kNegative) return linear(plan, function->row);
  if (op == UnaryOp::kSin || op == UnaryOp::kCos) {
    const DualRow row = rows_of<PointwiseRows>().dual(plan.derivative, plan.dtype, true, false);
    if (row == nullptr) return missing();
    walk(plan, [&](const Block& block) { row(block.count, block.value, block.tangent, block.in); });
    return kernel::kOk;
  }
  const PointwiseKernel* derivative = find_kernel(plan.derivative, plan.dtype);
  if (derivative == nullptr) return missing();
  walk(plan, [&](const Block& block) {
    function->row(block.count, block.value, block.in, plan.params);
    const void* saved = plan.reads_value != 0 ? block.value : block.in[0];
    const void* in[] = {block.tangents()[0], saved};
    derivative->row(block.count, block.tangent, in, plan.params);
  });
  return kernel::kOk;
}

Status dual_binary(BinaryOp op, const DualPlan& plan) {
  const PointwiseKernel* kernel = find_kernel(op, plan.dtype);
  if (kernel == nullptr) return missing();
  const bool first = plan.tangents[0] != nullptr;
  const bool second = plan.tangents[1] != nullptr;
  if (op == BinaryOp::kAdd || op == BinaryOp::kSubtract)
    return first && second ? linear(plan, kernel->row) : missing();
  const DualRow row = rows_of<PointwiseRows>().dual(op, plan.dtype, first, second);
  if (row == nullptr) return missing();
  if (plan.operands[0] == nullptr || plan.operands[1] == nullptr)
    return with_number(op, plan, kernel->beside, row);
  walk(plan, [&](const Block& block) { row(block.count, block.value, block.tangent, block.in); });
  return kernel::kOk;
}

}  // namespace tsr::cpu
