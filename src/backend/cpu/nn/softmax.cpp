// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax: divides the rows among the threads.
#include <algorithm>
#include <atomic>

#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "backend/cpu/nn/softmax_rows.h"
#include "backend/cpu/widen.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::SoftmaxPlan;
using kernel::Status;

// The grain, in numbers.
constexpr int64_t kGrain = 16384;
// Numbers that are widened at a time, of one row at least.
constexpr int64_t kBuffered = 2048;
// Neighbouring positions taken together along a strided axis: whole cache lines. 16-bit numbers are
// widened into a buffer, which has to stay small.
template <class S>
constexpr int64_t kLine = kIsShort<S> ? 32 : 256;

template <class S>
bool run_rows(const SoftmaxPlan& plan, bool backward) {
  using T = Opmath<S>;
  const SoftmaxRows<T>& rows = rows_of<SoftmaxRows<T>>();
  const Widen<S> widen;
  const auto* in = static_cast<const S*>(plan.input);
  const auto* saved = static_cast<const S*>(plan.saved);
  auto* out = static_cast<S*>(plan.output);
  const int64_t columns = plan.columns;
  const bool log = plan.log != 0;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(columns, 1));
  std::atomic<bool> ok{true};
  parallel_for(plan.rows, grain, [&](int64_t begin, int64_t end) {
    // Rows that need no buffer are passed all at once.
    const int64_t buffered = std::max<int64_t>(1, kBuffered / columns);
    const int64_t step = kIsShort<S> ? std::min(buffered, end - begin) : end - begin;
    // Separate buffers: rows shorter than a register are read sooner where the one before them has
    // not just been written.
    const int64_t room = step * columns;
    const RowBuffer<S> buffer((backward ? 3 : 2) * room);
    if (buffer.missing()) {
      ok = false;
      return;
    }
    for (int64_t row = begin; row < end; row += step) {
      const int64_t count = std::min(step, end - row);
      const int64_t numel = count * columns;
      const int64_t at = row * columns;
      const T* x = widen.read(numel, in + at, buffer.at());
      T* y = widen.target(out + at, buffer.at(room));
      if (backward) {
        const T* kept = widen.read(numel, saved + at, buffer.at(2 * room));
        rows.backward(count, columns, log, x, kept, y);
      } else {
        rows.forward(count, columns, log, x, y);
      }
      widen.write(numel, out + at, y);
    }
  });
  return ok;
}

// A block of `width` neighbouring positions with all their columns, in the type that the rows take.
template <class S>
class Block {
 public:
  using T = Opmath<S>;

  Block(const SoftmaxPlan& plan, int64_t width)
      : columns_(plan.columns), inner_(plan.inner), width_(width) {}

  // The distance of two columns in the memory that read and target return.
  [[nodiscard]] int64_t step() const { return kIsShort<S> ? width_ : inner_; }
  const T* read(const S* from, T* buffer) const {
    if constexpr (!kIsShort<S>) return from;
    for (int64_t c = 0; c < columns_; ++c)
      widen_.read(width_, from + c * inner_, buffer + c * width_);
    return buffer;
  }
  T* target(S* to, T* buffer) const { return widen_.target(to, buffer); }
  void write(S* to, const T* buffer) const {
    if constexpr (!kIsShort<S>) return;
    for (int64_t c = 0; c < columns_; ++c)
      widen_.write(width_, to + c * inner_, buffer + c * width_);
  }

 private:
  Widen<S> widen_;
  int64_t columns_, inner_, width_;
};

template <class S>
bool run_strided(const SoftmaxPlan& plan, bool backward) {
  using T = Opmath<S>;
  const SoftmaxRows<T>& rows = rows_of<SoftmaxRows<T>>();
  const auto* in = static_cast<const S*>(plan.input);
  const auto* saved = static_cast<const S*>(plan.saved);
  auto* out = static_cast<S*>(plan.output);
  const int64_t lines = (plan.inner + kLine<S> - 1) / kLine<S>;
  const int64_t grain = std::max<int64_t>(1, kGrain / (plan.columns * kLine<S>));
  const bool log = plan.log != 0;
  std::atomic<bool> ok{true};
  parallel_for(plan.rows * lines, grain, [&](int64_t begin, int64_t end) {
    const int64_t room = plan.columns * kLine<S>;
    const RowBuffer<S> buffer(2 * room);
    if (buffer.missing()) {
      ok = false;
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % lines * kLine<S>;
      const int64_t width = std::min(plan.inner - first, kLine<S>);
      const int64_t at = i / lines * plan.columns * plan.inner + first;
      const Block<S> block(plan, width);
      const T* x = block.read(in + at, buffer.at());
      T* y = block.target(out + at, buffer.at());
      if (backward) {
        const T* kept = block.read(saved + at, buffer.at(room));
        rows.strided_backward(plan.columns, block.step(), 0, width, log, x, kept, y);
      } else {
        rows.strided(plan.columns, block.step(), 0, width, log, x, y);
      }
      block.write(out + at, y);
    }
  });
  return ok;
}

Status run(const SoftmaxPlan& plan, bool backward) {
  return visit_storage(plan.dtype, "expected a real floating dtype for softmax", [&]<class S>() {
    if (plan.rows * plan.columns * plan.inner == 0) return kernel::kOk;
    const bool ok = plan.inner == 1 ? run_rows<S>(plan, backward) : run_strided<S>(plan, backward);
    return ok ? kernel::kOk
              : failure(Code::kOutOfMemory, "expected memory for rows in float32, got none");
  });
}

}  // namespace

Status softmax(const SoftmaxPlan& plan) {
  return run(plan, false);
}
Status softmax_backward(const SoftmaxPlan& plan) {
  return run(plan, true);
}

}  // namespace tsr::cpu
