// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The Fourier family: walks over the batch, brings lines together where they are not contiguous,
// and computes real transforms by complex ones of half the length.
#include <atomic>
#include <new>

#include "backend/cpu/fft/lines.h"
#include "backend/cpu/fft/transform.h"
#include "backend/cpu/generated/entries.h"
#include "backend/cpu/host.h"
#include "backend/cpu/level.h"
#include "base/parallel.h"

namespace tsr::cpu {

using kernel::FftOp;
using kernel::FftPlan;
using kernel::Status;

namespace {

// Complex numbers that are worth a thread.
constexpr int64_t kGrain = int64_t{1} << 12;
// Between the gathered lines of a block: lines whose distance is a power of two would share few
// sets of the cache.
constexpr int64_t kGap = 16;

// `count` elements of kParts numbers from each of `lines` lines to rows, or back.
template <int kParts, class T>
void gather(int64_t count, int64_t lines, const T* source, int64_t step, int64_t lane, T* rows,
            int64_t row) {
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < lines; ++i) {
      for (int part = 0; part < kParts; ++part)
        rows[i * row + j * kParts + part] = source[(j * step + i * lane) * kParts + part];
    }
  }
}
template <int kParts, class T>
void scatter(int64_t count, int64_t lines, const T* rows, int64_t row, T* target, int64_t step,
             int64_t lane) {
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t i = 0; i < lines; ++i) {
      for (int part = 0; part < kParts; ++part)
        target[(j * step + i * lane) * kParts + part] = rows[i * row + j * kParts + part];
    }
  }
}

// One side of a plan: its numbers in a line.
struct Side {
  int64_t count;  // elements
  int64_t parts;  // numbers in an element
  int64_t step;   // between elements

  [[nodiscard]] bool contiguous() const { return step == 1 || count == 1; }
  // Numbers of a gathered line.
  [[nodiscard]] int64_t row() const { return count * parts + kGap; }
};

template <class T>
class Run {
 public:
  explicit Run(const FftPlan& plan)
      : plan_(plan),
        rows_(rows_of<FftRows<T>>()),
        lines_(plan, rows_.width),
        scale_(static_cast<T>(plan.scale)),
        even_(plan.op != FftOp::kComplex && plan.length % 2 == 0) {
    transform_ = transform_of<T>(even_ ? plan.length / 2 : plan.length);
    if (even_) half_roots_ = half_roots_of<T>(plan.length / 2);
    const int64_t half = plan.length / 2 + 1;
    const bool from_real = plan.op == FftOp::kRealToHalf;
    const bool to_real = plan.op == FftOp::kHalfToReal;
    input_ = {to_real ? half : plan.length, from_real ? 1 : 2, plan.input_step};
    output_ = {from_real ? half : plan.length, to_real ? 1 : 2, plan.output_step};
    neighbours_ = plan.op == FftOp::kComplex && transform_->takes_neighbours() &&
                  lines_.input_lane() == 1 && lines_.output_lane() == 1;
  }

  Status run() {
    // Few long lines are divided themselves.
    if (lines_.blocks() < num_threads()) return run_blocks(0, lines_.blocks());
    std::atomic<Status> result{kernel::kOk};
    const int64_t grain = std::max<int64_t>(1, kGrain / (rows_.width * plan_.length));
    parallel_for(lines_.blocks(), grain, [&](int64_t begin, int64_t end) {
      const Status status = run_blocks(begin, end);
      if (status != kernel::kOk) result.store(status, std::memory_order_relaxed);
    });
    return result;
  }

 private:
  [[nodiscard]] Status run_blocks(int64_t begin, int64_t end) const {
    const int64_t gathered_in = input_.contiguous() ? 0 : rows_.width * input_.row();
    const int64_t gathered_out = output_.contiguous() ? 0 : rows_.width * output_.row();
    const int64_t lines = plan_.op == FftOp::kComplex ? 0 : even_ ? plan_.length : 2 * plan_.length;
    const int64_t neighbours = neighbours_ ? transform_->neighbour_scratch() : 0;
    const int64_t together = transform_->takes_lines() ? transform_->line_scratch() : 0;
    const int64_t count = gathered_in + gathered_out + lines +
                          std::max({transform_->scratch(), neighbours, together});
    const Workspace memory(count * static_cast<int64_t>(sizeof(T)));
    auto* const numbers = static_cast<T*>(memory.data());
    if (numbers == nullptr) return static_cast<Status>(Code::kOutOfMemory);
    T* const outside = numbers + gathered_in;
    T* const line = outside + gathered_out;
    const Buffers buffers{numbers, outside, line, line + lines};
    for (int64_t i = begin; i < end; ++i) {
      const Status status = run_block(lines_.block(i), buffers);
      if (status != kernel::kOk) return status;
    }
    return kernel::kOk;
  }

  // Whether a block's lines are transformed in the lanes of registers: long ones if they fill them.
  [[nodiscard]] bool in_lanes(int64_t lines) const {
    if (plan_.op != FftOp::kComplex) return false;
    return transform_->is_short() || (neighbours_ && lines == rows_.width);
  }

  struct Buffers {
    T* input;   // gathered lines
    T* output;  // lines to scatter
    T* line;    // a line of complex numbers
    T* scratch;
  };

  [[nodiscard]] Status run_block(const FftLines::Block& block, const Buffers& buffers) const {
    const T* input = static_cast<const T*>(plan_.input) + block.input * input_.parts;
    T* output = static_cast<T*>(plan_.output) + block.output * output_.parts;
    if (in_lanes(block.count)) {
      transform_->run_lanes(
          {input, output, 2 * input_.step, 2 * lines_.input_lane(), 2 * output_.step,
           2 * lines_.output_lane(), block.count, scale_, plan_.inverse != 0},
          buffers.scratch);
      return kernel::kOk;
    }
    int64_t in_row = lines_.input_lane() * input_.parts;
    int64_t out_row = lines_.output_lane() * output_.parts;
    if (!input_.contiguous()) {
      in_row = input_.row();
      gather_input(input, block.count, buffers.input);
      input = buffers.input;
    }
    T* lines = output;
    if (!output_.contiguous()) {
      out_row = output_.row();
      lines = buffers.output;
    }
    const Rows rows{input, in_row, lines, out_row, block.count};
    const Status status = run_rows(rows, buffers);
    if (status != kernel::kOk) return status;
    if (!output_.contiguous()) scatter_output(block.count, lines, output);
    return kernel::kOk;
  }

  // Contiguous lines; distances in numbers.
  struct Rows {
    const T* input;
    int64_t input_row;
    T* output;
    int64_t output_row;
    int64_t count;
  };

  // Whether contiguous lines share registers: few short ones of real numbers, or as many as lanes.
  [[nodiscard]] bool share_lanes(int64_t lines) const {
    if (plan_.op != FftOp::kComplex && !even_) return false;
    return transform_->is_short() || (transform_->takes_lines() && lines == rows_.width);
  }

  [[nodiscard]] Status run_rows(const Rows& rows, const Buffers& buffers) const {
    if (share_lanes(rows.count)) {
      run_lanes(rows, buffers.scratch);
      return kernel::kOk;
    }
    for (int64_t i = 0; i < rows.count; ++i) {
      const Status status =
          run_line(rows.input + i * rows.input_row, rows.output + i * rows.output_row, buffers);
      if (status != kernel::kOk) return status;
    }
    return kernel::kOk;
  }

  [[nodiscard]] FftHalf<T> half(bool conjugate) const { return {half_roots_->data(), conjugate}; }

  void run_lanes(const Rows& rows, T* scratch) const {
    const bool inverse = plan_.inverse != 0;
    FftOperands<T> at{rows.input,      rows.output, 2,      rows.input_row, 2,
                      rows.output_row, rows.count,  scale_, false};
    if (plan_.op == FftOp::kRealToHalf) {
      transform_->run_lanes_forward(half(inverse), at, scratch);
    } else if (plan_.op == FftOp::kHalfToReal) {
      transform_->run_lanes_backward(half(!inverse), at, scratch);
    } else {
      at.swap = inverse;
      transform_->run_lanes(at, scratch);
    }
  }

  void gather_input(const T* source, int64_t lines, T* rows) const {
    const int64_t lane = lines_.input_lane();
    if (input_.parts == 2) {
      gather<2>(input_.count, lines, source, input_.step, lane, rows, input_.row());
    } else {
      gather<1>(input_.count, lines, source, input_.step, lane, rows, input_.row());
    }
  }
  void scatter_output(int64_t lines, const T* rows, T* target) const {
    const int64_t lane = lines_.output_lane();
    if (output_.parts == 2) {
      scatter<2>(output_.count, lines, rows, output_.row(), target, output_.step, lane);
    } else {
      scatter<1>(output_.count, lines, rows, output_.row(), target, output_.step, lane);
    }
  }

  [[nodiscard]] Status run_line(const T* input, T* output, const Buffers& buffers) const {
    switch (plan_.op) {
      case FftOp::kRealToHalf:
        return even_ ? even_to_half(input, output, buffers) : odd_to_half(input, output, buffers);
      case FftOp::kHalfToReal:
        return even_ ? half_to_even(input, output, buffers) : half_to_odd(input, output, buffers);
      default:
        return transform_->run(input, output, scale_, plan_.inverse != 0, buffers.scratch);
    }
  }

  // An even number of real numbers is half as many complex ones.
  [[nodiscard]] Status even_to_half(const T* input, T* output, const Buffers& buffers) const {
    const Status status = transform_->run(input, buffers.line, T{1}, false, buffers.scratch);
    rows_.real_forward(transform_->length(), buffers.line, half(plan_.inverse != 0), scale_,
                       output);
    return status;
  }
  [[nodiscard]] Status half_to_even(const T* input, T* output, const Buffers& buffers) const {
    rows_.real_backward(transform_->length(), input, half(plan_.inverse == 0), buffers.line);
    return transform_->run(buffers.line, output, scale_, true, buffers.scratch);
  }

  [[nodiscard]] Status odd_to_half(const T* input, T* output, const Buffers& buffers) const {
    T* const line = buffers.line;
    for (int64_t j = 0; j < plan_.length; ++j) {
      line[2 * j] = input[j];
      line[2 * j + 1] = 0;
    }
    const Status status = transform_->run(line, line, scale_, plan_.inverse != 0, buffers.scratch);
    std::copy(line, line + 2 * output_.count, output);
    output[1] = 0;
    return status;
  }
  [[nodiscard]] Status half_to_odd(const T* input, T* output, const Buffers& buffers) const {
    T* const line = buffers.line;
    line[0] = input[0];
    line[1] = 0;
    for (int64_t k = 1; k < input_.count; ++k) {
      const int64_t other = plan_.length - k;
      line[2 * k] = line[2 * other] = input[2 * k];
      line[2 * k + 1] = input[2 * k + 1];
      line[2 * other + 1] = -input[2 * k + 1];
    }
    const Status status = transform_->run(line, line, scale_, plan_.inverse != 0, buffers.scratch);
    for (int64_t j = 0; j < plan_.length; ++j) output[j] = line[2 * j];
    return status;
  }

  const FftPlan& plan_;
  const FftRows<T>& rows_;
  FftLines lines_;
  T scale_;
  bool even_;                // a real transform of even length
  bool neighbours_ = false;  // the lines of a block are side by side, and may share registers
  Side input_{}, output_{};
  std::shared_ptr<const Transform<T>> transform_;
  std::shared_ptr<const std::vector<T>> half_roots_;
};

}  // namespace

Status fft(const FftPlan& plan) {
  Status status = kernel::kOk;
  try {
    if (plan.dtype == DType::kFloat32) {
      status = Run<float>(plan).run();
    } else if (plan.dtype == DType::kFloat64) {
      status = Run<double>(plan).run();
    } else {
      return failure(Code::kDType, "expected float32 or float64");
    }
  } catch (const std::bad_alloc&) {
    status = static_cast<Status>(Code::kOutOfMemory);
  }
  if (status == kernel::kOk) return status;
  return failure(Code::kOutOfMemory, "expected memory for a Fourier transform, got none");
}

}  // namespace tsr::cpu
