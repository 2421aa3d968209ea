// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pointwise/walk.h"
#include "backend/cpu/create/copy_rows.h"
#include "backend/cpu/level.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "backend/cpu/host.h"
#include "backend/cpu/pointwise/direct.h"
#include "backend/cpu/pointwise/past_caches.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ElementwisePlan;
using kernel::Status;

constexpr int kMaxInputs = 3;
constexpr int64_t kBlockBytes =
    8192;  // of each operand: the buffers of a block stay in the first-level cache
constexpr int64_t kShortRow = 128;         // rows shorter than this are gathered, several per block
constexpr int64_t kShortPlainRow = 16;     // the same for rows that need no buffers
constexpr int64_t kCastBlockBytes = 4096;  // with casts there are up to four buffers
constexpr int64_t kStreamBlockBytes = 2048;  // small, so that memory reads and writes alternate
constexpr int64_t kLine = 64;

// How the elements of an operand get from memory to the row, or back.
struct Operand {
  std::byte* data;
  const int64_t* strides;
  int64_t size;      // bytes of an element in memory
  int64_t row_size;  // bytes of an element as the row sees it
  bool dense;        // contiguous over the whole plan
  bool constant;     // one element for the whole plan
  bool unit;         // innermost stride is the element's size
  int64_t run;       // elements that are contiguous, each time as many: those of the innermost dims
  bool transposed;   // contiguous along the second innermost dim: transposed by tiles
  int64_t period;    // the operand repeats after so many elements; numel if it does not repeat
  CastRow cast;      // null: memory holds the row's dtype
};

// The buffers of one thread. `raw` holds elements before a cast in or after a cast out.
struct Buffers {
  alignas(kLine) std::byte input[kMaxInputs][kBlockBytes];
  alignas(kLine) std::byte output[kBlockBytes];
  alignas(kLine) std::byte raw[kBlockBytes];
  alignas(16) std::byte element[16];
};

Operand describe(const ElementwisePlan& plan, int slot, DType row_dtype) {
  const DType dtype = plan.dtypes[slot];
  Operand operand{static_cast<std::byte*>(plan.data[slot]),
                  plan.strides[slot],
                  itemsize(dtype),
                  itemsize(row_dtype),
                  true,
                  true,
                  true,
                  1,
                  false,
                  1,
                  nullptr};
  operand.unit = operand.strides[plan.ndim - 1] == operand.size;
  int64_t expected = operand.size;
  for (int32_t d = plan.ndim - 1; d >= 0; --d) {
    if (plan.sizes[d] == 1) continue;
    operand.dense &= operand.strides[d] == expected;
    if (operand.dense) operand.run *= plan.sizes[d];
    operand.constant &= operand.strides[d] == 0;
    expected *= plan.sizes[d];
    if (operand.strides[d] != 0) operand.period = expected / operand.size;
  }
  const int32_t inner = plan.ndim - 1;
  operand.transposed = plan.ndim > 1 && !operand.unit && operand.strides[inner] != 0 &&
                       operand.strides[inner - 1] == operand.size &&
                       plan.sizes[inner] >= kTransposeTile &&
                       plan.sizes[inner - 1] >= kTransposeTile;
  if (dtype != row_dtype)
    operand.cast = slot == 0 ? rows_of<CopyRows>().cast(row_dtype, dtype)
                             : rows_of<CopyRows>().cast(dtype, row_dtype);
  return operand;
}

// Whether input k is a number in opmath beside 16-bit floats (Note [Numbers beside tensors] in
// kernel/numbers.h). A buffer of their dtype would round it, but rows that compute take a number as
// it is; those that look at bits have none beside them.
bool is_wide_number(const ElementwisePlan& plan, const RowTypes& types, int k) {
  const bool number = (plan.host_operands >> static_cast<uint32_t>(k + 1) & 1U) != 0;
  return number && plan.dtypes[k + 1] != types.inputs[k] &&
         plan.dtypes[k + 1] == kernel::opmath(types.inputs[k]);
}

class Walk {
 public:
  Walk(const ElementwisePlan& plan, const PointwiseKernel& kernel, const RowTypes& types)
      : plan_(plan),
        kernel_(kernel),
        inputs_(plan.operands - 1),
        output_(describe(plan, 0, types.output)) {
    int64_t widest = std::max(output_.size, output_.row_size);
    for (int k = 0; k < inputs_; ++k) {
      const bool wide = kernel.beside != nullptr && is_wide_number(plan, types, k);
      input_[k] = describe(plan, k + 1, wide ? plan.dtypes[k + 1] : types.inputs[k]);
      if (wide)
        lone_ = k;
      else
        widest = std::max({widest, input_[k].size, input_[k].row_size});
    }
    bool casts = output_.cast != nullptr;
    for (int k = 0; k < inputs_; ++k) {
      tiled_ |= input_[k].transposed;
      casts |= input_[k].cast != nullptr;
    }
    by_row_ = plan.ndim > 1 && plan.sizes[plan.ndim - 1] >= kShortPlainRow;
    stream_ = output_.dense && !in_place() && !tiled_ && past_caches(plan);
    block_ = (stream_ ? kStreamBlockBytes : casts ? kCastBlockBytes : kBlockBytes) / widest;
    if (!tiled_) {
      find_period();
      if (lone_ < 0) find_lone(types);
    }
    if (needs_no_buffers()) block_ = std::max<int64_t>(plan.numel, 1);
    plain_rows_ = has_plain_rows();
    lone_rows_ = has_lone_rows();
    if (!plain_rows_ && !lone_rows_) gather_short_rows();
  }

  // Runs the whole plan, on as many threads as are worth it.
  [[nodiscard]] bool run() const;

 private:
  [[nodiscard]] bool run_part(int64_t begin, int64_t end) const;
  [[nodiscard]] bool run_rows(int64_t begin, int64_t end) const;
  [[nodiscard]] bool run_lone_rows(int64_t begin, int64_t end) const;
  [[nodiscard]] bool run_bands(int64_t begin, int64_t end) const;
  bool run_tile(Cursor& cursor, int64_t linear, int64_t height, int64_t width, const void** in,
                Buffers& buffers) const;
  void prepare_constants(int64_t count, const void** in, Buffers& buffers) const;
  void find_period();
  void find_lone(const RowTypes& types);
  [[nodiscard]] bool needs_no_buffers() const;
  [[nodiscard]] bool has_plain_rows() const;
  [[nodiscard]] bool has_lone_rows() const;
  void gather_short_rows();
  // Whether one element is that of a whole row, for which a buffer has room.
  [[nodiscard]] bool fills_row(const Operand& operand) const {
    const int32_t inner = plan_.ndim - 1;
    return operand.strides[inner] == 0 && plan_.sizes[inner] <= block_;
  }
  const void* lone_element(const Cursor& cursor, Buffers& buffers) const;
  bool apply(int64_t count, void* out, const void* const* in) const {
    if (lone_ < 0) return kernel_.row(count, out, in, plan_.params);
    if (inputs_ == 3) return kernel_.alone(count, out, in, plan_.params);
    kernel_.beside({count, out, in[1 - lone_], in[lone_], lone_ == 0});
    return true;
  }
  bool apply_filled(int64_t count, void* out, const void* const* sources, Buffers& buffers) const;
  // Whether a buffer is filled once and then used for all blocks.
  [[nodiscard]] bool repeats(const Operand& operand) const {
    return operand.constant || (period_ != 0 && operand.period <= period_);
  }

  [[nodiscard]] bool in_place() const {
    for (int k = 0; k < inputs_; ++k) {
      if (input_[k].data == output_.data) return true;
    }
    return false;
  }

  // The address of `count` elements from the cursor on if they are contiguous, else null.
  static std::byte* in_memory(const Operand& operand, const Cursor& cursor, int64_t linear,
                              int64_t count) {
    if (operand.dense) return operand.data + linear * operand.size;
    if (operand.run > 1 && count <= operand.run - linear % operand.run)
      return operand.data + cursor.offset(operand.strides);
    return nullptr;
  }

  const void* fetch(int k, const Cursor& cursor, int64_t linear, int64_t count,
                    Buffers& buffers) const;
  static void repeat(const Operand& operand, const std::byte* element, int64_t count,
                     std::byte* buffer);
  bool emit(const Cursor& cursor, int64_t linear, int64_t count, const void* const* in,
            Buffers& buffers) const;

  const ElementwisePlan& plan_;
  const PointwiseKernel& kernel_;
  int inputs_;
  int64_t block_ = 0;   // elements
  int64_t period_ = 0;  // of the inputs that repeat within a block; 0: none does
  bool by_row_ = false;
  bool stream_ = false;
  bool plain_rows_ = false;
  bool lone_rows_ = false;
  bool tiled_ = false;  // some input is transposed
  int lone_ = -1;       // the input that is one element for each call of the row, if the kernel has
                        // a form for that
  CastRow lone_cast_ = nullptr;
  Operand output_;
  Operand input_[kMaxInputs];
};

// If an input repeats every `period` elements (a bias), expand it once and round block sizes to
// whole periods, so that every block uses the same buffer.
void Walk::find_period() {
  int64_t period = 1;
  for (int k = 0; k < inputs_; ++k) {
    if (input_[k].dense) continue;
    if (input_[k].period > block_ / 2) return;
    period = std::max(period, input_[k].period);
  }
  if (period == 1 || !output_.dense) return;
  for (int k = 0; k < inputs_; ++k) {
    if (!input_[k].dense && period % input_[k].period != 0) return;
  }
  // Blocks written with non-temporal stores are whole cache lines, too.
  const int64_t unit = stream_ ? std::lcm(period, kLine / output_.size) : period;
  if (unit > block_) return;
  period_ = period;
  block_ = block_ / unit * unit;
  by_row_ = false;
}

// An input that is one element for a row, or for all, needs no buffer where the kernel takes such
// an element.
void Walk::find_lone(const RowTypes& types) {
  const int32_t inner = plan_.ndim - 1;
  const auto is_lone = [&](int k) {
    if (input_[k].strides[inner] != 0) return false;
    return input_[k].constant || (plan_.ndim > 1 && period_ == 0);
  };
  if (inputs_ == 3) {
    const bool row_of_its_own = input_[1].constant || by_row_;
    if (kernel_.alone != nullptr && is_lone(1) && row_of_its_own && input_[1].cast == nullptr)
      lone_ = 1;
    return;
  }
  if (kernel_.beside == nullptr || inputs_ != 2) return;
  for (int k = 0; k < 2; ++k) {
    if (!is_lone(k) || input_[1 - k].strides[inner] == 0) continue;
    lone_ = k;
    const DType dtype = kernel::opmath(types.inputs[k]);
    if (plan_.dtypes[k + 1] != dtype)
      lone_cast_ = rows_of<CopyRows>().cast(plan_.dtypes[k + 1], dtype);
  }
}

const void* Walk::lone_element(const Cursor& cursor, Buffers& buffers) const {
  const Operand& operand = input_[lone_];
  const std::byte* element = operand.data + cursor.offset(operand.strides);
  if (lone_cast_ == nullptr) return element;
  lone_cast_(1, buffers.element, element);
  return buffers.element;
}

// All operands are contiguous and of the row's dtypes, so that blocks would only cost calls.
bool Walk::needs_no_buffers() const {
  if (stream_ || !output_.dense || output_.cast != nullptr) return false;
  for (int k = 0; k < inputs_; ++k) {
    if (k != lone_ && (!input_[k].dense || input_[k].cast != nullptr)) return false;
  }
  return lone_ < 0 || input_[lone_].constant;
}

// Rows are taken from memory and written there as they are, but for inputs that are one element for
// a row.
bool Walk::has_plain_rows() const {
  if (!by_row_ || stream_ || tiled_ || lone_cast_ != nullptr) return false;
  if (!output_.unit || output_.cast != nullptr) return false;
  for (int k = 0; k < inputs_; ++k) {
    if (k == lone_) continue;
    if (input_[k].cast != nullptr || input_[k].constant) return false;
    if (!input_[k].unit && !fills_row(input_[k])) return false;
  }
  return true;
}

// Several short rows a block, in buffers.
void Walk::gather_short_rows() {
  by_row_ &= plan_.sizes[plan_.ndim - 1] >= kShortRow;
  if (by_row_ || lone_ < 0 || input_[lone_].constant) return;
  lone_ = -1;
  lone_cast_ = nullptr;
}

// The two innermost dims are rows of one operand, as they lie in memory, each beside an element of
// the other one. A row fills at least a line of the cache, and a thread has several rows.
bool Walk::has_lone_rows() const {
  const int32_t inner = plan_.ndim - 1;
  if (lone_ < 0 || inputs_ != 2 || inner == 0 || stream_ || lone_cast_ != nullptr) return false;
  const Operand& many = input_[1 - lone_];
  if (!output_.unit || output_.cast != nullptr || !many.unit || many.cast != nullptr) return false;
  const int64_t columns = plan_.sizes[inner];
  return !input_[lone_].constant && columns * output_.size >= kLine && columns <= kGrain;
}

// Returns the input elements as the row needs them: contiguous and of its dtype.
const void* Walk::fetch(int k, const Cursor& cursor, int64_t linear, int64_t count,
                        Buffers& buffers) const {
  const Operand& operand = input_[k];
  const std::byte* source = in_memory(operand, cursor, linear, count);
  if (source == nullptr && operand.strides[plan_.ndim - 1] == 0 && count <= cursor.left_in_row()) {
    repeat(operand, operand.data + cursor.offset(operand.strides), count, buffers.input[k]);
    return buffers.input[k];
  }
  if (source == nullptr) {
    std::byte* buffer = operand.cast == nullptr ? buffers.input[k] : buffers.raw;
    gather(cursor, count, operand.size, buffer, operand.data, operand.strides);
    source = buffer;
  }
  if (operand.cast == nullptr) return source;
  operand.cast(count, buffers.input[k], source);
  return buffers.input[k];
}

// Fills a buffer with one element as the row needs it.
void Walk::repeat(const Operand& operand, const std::byte* element, int64_t count,
                  std::byte* buffer) {
  alignas(16) std::byte converted[16];
  if (operand.cast != nullptr) {
    operand.cast(1, converted, element);
    element = converted;
  }
  rows_of<CopyRows>().repeat(count, operand.row_size, buffer, element);
}

// Runs the row and writes its results to the output.
bool Walk::emit(const Cursor& cursor, int64_t linear, int64_t count, const void* const* in,
                Buffers& buffers) const {
  std::byte* target = in_memory(output_, cursor, linear, count);
  const bool stream = stream_ && (count * output_.size) % kLine == 0 &&
                      reinterpret_cast<uintptr_t>(target) % kLine == 0;
  if (target != nullptr && output_.cast == nullptr && !stream) return apply(count, target, in);
  const bool ok = apply(count, buffers.output, in);
  const std::byte* result = buffers.output;
  if (output_.cast != nullptr) {
    std::byte* to = target != nullptr && !stream ? target : buffers.raw;
    output_.cast(count, to, buffers.output);
    if (to == target) return ok;
    result = buffers.raw;
  }
  if (stream)
    rows_of<CopyRows>().stream(target, result, count * output_.size);
  else
    scatter(cursor, count, output_.size, output_.data, output_.strides, result);
  return ok;
}

void Walk::prepare_constants(int64_t count, const void** in, Buffers& buffers) const {
  for (int k = 0; k < inputs_; ++k) {
    if (!input_[k].constant || k == lone_) continue;
    repeat(input_[k], input_[k].data, std::min(block_, count), buffers.input[k]);
    in[k] = buffers.input[k];
  }
}

bool Walk::run_part(int64_t begin, int64_t end) const {
  Buffers buffers;
  const void* in[kMaxInputs] = {};
  Cursor cursor;
  cursor.ndim = plan_.ndim;
  cursor.sizes = plan_.sizes;
  cursor.seek(begin);
  prepare_constants(end - begin, in, buffers);
  for (int k = 0; k < inputs_; ++k) {
    if (k == lone_)
      in[k] = lone_element(cursor, buffers);
    else if (!input_[k].constant && repeats(input_[k]))
      in[k] = fetch(k, cursor, begin, std::min(block_, end - begin), buffers);
  }
  bool ok = true;
  for (int64_t linear = begin; linear < end;) {
    int64_t count = std::min(block_, end - linear);
    if (by_row_) count = std::min(count, cursor.left_in_row());
    for (int k = 0; k < inputs_; ++k) {
      if (repeats(input_[k])) continue;
      in[k] = k == lone_ ? lone_element(cursor, buffers) : fetch(k, cursor, linear, count, buffers);
    }
    ok &= emit(cursor, linear, count, in, buffers);
    linear += count;
    if (period_ == 0) cursor.advance(count);  // else it is not read: rows may be short
  }
  // Once, not for each block: a fence waits until all pending lines are in memory.
  if (stream_) _mm_sfence();
  return ok;
}

// As run_part, without what a row costs there beside its elements.
bool Walk::run_rows(int64_t begin, int64_t end) const {
  Buffers buffers;
  const int32_t inner = plan_.ndim - 1;
  const int32_t outer = inner - 1;
  Cursor cursor;
  cursor.ndim = plan_.ndim;
  cursor.sizes = plan_.sizes;
  cursor.seek(begin);
  bool fills = false;
  int64_t steps[kMaxInputs] = {};
  for (int k = 0; k < inputs_; ++k) {
    steps[k] = input_[k].strides[outer];
    fills |= k != lone_ && input_[k].strides[inner] == 0;
  }
  bool ok = true;
  for (int64_t linear = begin; linear < end;) {
    // Rows whose addresses are steps apart: up to the end of the second innermost dim, or what is
    // left of the first or the last row alone.
    const int64_t left = cursor.left_in_row();
    const int64_t count = std::min(left, end - linear);
    int64_t rows = 1;
    if (left == plan_.sizes[inner] && count == left)
      rows = std::min((end - linear) / count, plan_.sizes[outer] - cursor.index[outer]);
    std::byte* out = output_.data + cursor.offset(output_.strides);
    const void* in[kMaxInputs] = {};
    for (int k = 0; k < inputs_; ++k) in[k] = input_[k].data + cursor.offset(input_[k].strides);
    for (int64_t r = 0; r < rows; ++r, out += output_.strides[outer]) {
      ok &= fills ? apply_filled(count, out, in, buffers) : apply(count, out, in);
      for (int k = 0; k < kMaxInputs; ++k) in[k] = static_cast<const std::byte*>(in[k]) + steps[k];
    }
    cursor.index[outer] += rows - 1;
    cursor.advance_in_row(count);
    linear += rows * count;
  }
  return ok;
}

// apply() for a row of which some inputs are one element.
bool Walk::apply_filled(int64_t count, void* out, const void* const* sources,
                        Buffers& buffers) const {
  const void* in[kMaxInputs] = {};
  for (int k = 0; k < inputs_; ++k) {
    in[k] = sources[k];
    if (k == lone_ || input_[k].strides[plan_.ndim - 1] != 0) continue;
    repeat(input_[k], static_cast<const std::byte*>(sources[k]), count, buffers.input[k]);
    in[k] = buffers.input[k];
  }
  return apply(count, out, in);
}

// Rows [begin, end) of all, in blocks along the last dim but one.
bool Walk::run_lone_rows(int64_t begin, int64_t end) const {
  const int32_t last = plan_.ndim - 2;
  const Operand& many = input_[1 - lone_];
  const Operand& lone = input_[lone_];
  Cursor cursor{plan_.ndim - 1, plan_.sizes, {}};
  cursor.seek(begin);
  while (begin < end) {
    const int64_t rows = std::min(end - begin, cursor.left_in_row());
    kernel_.beside({plan_.sizes[last + 1], output_.data + cursor.offset(output_.strides),
                    many.data + cursor.offset(many.strides),
                    lone.data + cursor.offset(lone.strides), lone_ == 0, rows,
                    output_.strides[last], many.strides[last], lone.strides[last]});
    cursor.advance_in_row(rows);
    begin += rows;
  }
  return true;
}

// ---- Transposed inputs: tiles of the two innermost dims ----

// Transposes the inputs of a tile into row buffers, then runs the tile row by row.
bool Walk::run_tile(Cursor& cursor, int64_t linear, int64_t height, int64_t width, const void** in,
                    Buffers& buffers) const {
  const int32_t inner = plan_.ndim - 1;
  for (int k = 0; k < inputs_; ++k) {
    const Operand& operand = input_[k];
    if (!operand.transposed) continue;
    std::byte* tile = operand.cast == nullptr ? buffers.input[k] : buffers.raw;
    transpose(height, width, operand.size, tile, width * operand.size,
              operand.data + cursor.offset(operand.strides), operand.strides[inner]);
    if (operand.cast != nullptr) operand.cast(height * width, buffers.input[k], tile);
  }
  bool ok = true;
  const int64_t column = cursor.index[inner];
  for (int64_t r = 0; r < height; ++r) {
    for (int k = 0; k < inputs_; ++k) {
      if (input_[k].transposed) {
        in[k] = buffers.input[k] + r * width * input_[k].row_size;
      } else if (!input_[k].constant) {
        in[k] = fetch(k, cursor, linear, width, buffers);
      }
    }
    ok &= emit(cursor, linear, width, in, buffers);
    linear += plan_.sizes[inner];
    ++cursor.index[inner - 1];
    cursor.index[inner] = column;
  }
  return ok;
}

// A band is kTransposeTile rows of one matrix.
bool Walk::run_bands(int64_t begin, int64_t end) const {
  Buffers buffers;
  const void* in[kMaxInputs] = {};
  const int64_t rows = plan_.sizes[plan_.ndim - 2];
  const int64_t columns = plan_.sizes[plan_.ndim - 1];
  const int64_t bands = (rows + kTransposeTile - 1) / kTransposeTile;
  const int64_t step = block_ / kTransposeTile;
  prepare_constants(step, in, buffers);
  if (lone_ >= 0) in[lone_] = input_[lone_].data;  // a number
  Cursor cursor;
  cursor.ndim = plan_.ndim;
  cursor.sizes = plan_.sizes;
  bool ok = true;
  for (int64_t band = begin; band < end; ++band) {
    const int64_t row = band % bands * kTransposeTile;
    const int64_t first = (band / bands * rows + row) * columns;
    for (int64_t column = 0; column < columns; column += step) {
      cursor.seek(first + column);
      ok &= run_tile(cursor, first + column, std::min(kTransposeTile, rows - row),
                     std::min(step, columns - column), in, buffers);
    }
  }
  return ok;
}

bool Walk::run() const {
  const int64_t inner = plan_.sizes[plan_.ndim - 1];
  int64_t count = plan_.numel;
  int64_t grain = kGrain;
  if (tiled_) {
    const int64_t rows = plan_.sizes[plan_.ndim - 2];
    count = plan_.numel / (rows * inner) * ((rows + kTransposeTile - 1) / kTransposeTile);
    grain = std::max<int64_t>(1, kGrain / (kTransposeTile * inner));
  } else if (lone_rows_) {
    count = plan_.numel / inner;
    grain = kGrain / inner;
  }
  const auto run = [this](int64_t begin, int64_t end) {
    if (lone_rows_) return run_lone_rows(begin, end);
    if (plain_rows_) return run_rows(begin, end);
    return tiled_ ? run_bands(begin, end) : run_part(begin, end);
  };
  if (count <= grain) return run(0, count);
  std::atomic<bool> ok{true};
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if (!run(begin, end)) ok.store(false, std::memory_order_relaxed);
  });
  return ok.load();
}

}  // namespace

Status walk_rows(const ElementwisePlan& plan, const PointwiseKernel& kernel,
                 const RowTypes& types) {
  if (plan.numel == 0) return kernel::kOk;
  bool ok = true;
  if (is_direct(plan, types)) {
    ok = kernel.row(plan.numel, plan.data[0], plan.data + 1, plan.params);
  } else if (const int alone = element_beside(plan, kernel, types); alone != 0) {
    const int other = 3 - alone;
    kernel.beside({plan.numel, plan.data[0], plan.data[other], plan.data[alone], alone == 1});
  } else if (is_few(plan, types)) {
    ok = run_few(plan, kernel.row);
  } else {
    ok = Walk(plan, kernel, types).run();
  }
  return ok ? kernel::kOk : failure(Code::kValue, "expected operands that the op is defined for");
}

}  // namespace tsr::cpu
