// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution by im2col: the windows of an image become the columns of a matrix, so that each pass
// is a matrix product. A block of the columns is written and used at a time, so that it stays in
// the second-level cache. Blocks depend on the sizes alone, so results do not on the number of
// threads.
#include <algorithm>
#include <atomic>

#include "backend/cpu/host.h"
#include "backend/cpu/linalg/blas.h"
#include "backend/cpu/nn/nn.h"
#include "backend/cpu/pointwise/strided.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

constexpr int64_t kGrain = 16384;             // numbers in the columns
constexpr int64_t kBlock = int64_t{1} << 17;  // numbers in the columns of a block
constexpr int64_t kFewestPoints = 64;         // of a block

// A dense row-major or column-major matrix. The stride of a dimension of size 1 is ignored.
template <class T>
struct Matrix {
  T* data;
  int64_t rows, columns, row_stride, column_stride;

  [[nodiscard]] Matrix transposed() const {
    return {data, columns, rows, column_stride, row_stride};
  }
  [[nodiscard]] bool row_major() const {
    return column_stride == 1 && (rows == 1 || row_stride >= columns);
  }
  [[nodiscard]] int lead() const {
    return static_cast<int>(row_major() ? std::max(rows == 1 ? 1 : row_stride, columns)
                                        : std::max(columns == 1 ? 1 : column_stride, rows));
  }
};

Blas::Gemm<float> gemm_of(const BlasUse& blas, float) {
  return blas->sgemm;
}
Blas::Gemm<double> gemm_of(const BlasUse& blas, double) {
  return blas->dgemm;
}

// C = A B + beta C.
template <class T>
void multiply(const BlasUse& blas, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
  if (!c.row_major()) {
    multiply<T>(blas, b.transposed(), a.transposed(), beta, c.transposed());
    return;
  }
  const auto side = [](const Matrix<const T>& m) {
    return m.row_major() ? BlasTranspose::kNo : BlasTranspose::kYes;
  };
  gemm_of(blas, T{})(BlasOrder::kRows, side(a), side(b), static_cast<int>(c.rows),
                     static_cast<int>(c.columns), static_cast<int>(a.columns), T{1}, a.data,
                     a.lead(), b.data, b.lead(), beta, c.data, c.lead());
}

// The plan with three spatial axes. Axes that the plan lacks come first and have size 1.
struct Shape {
  explicit Shape(const ConvPlan& plan) {
    const int missing = 3 - plan.spatial;
    for (int d = 0; d < plan.spatial; ++d) {
      in[missing + d] = plan.input_size[d];
      out[missing + d] = plan.output_size[d];
      kernel[missing + d] = plan.kernel[d];
      stride[missing + d] = plan.stride[d];
      padding[missing + d] = plan.padding[d];
      dilation[missing + d] = plan.dilation[d];
      in_stride[missing + d] = plan.input_strides[2 + d];
    }
    in_channels = plan.in_channels / plan.groups;
    out_channels = plan.out_channels / plan.groups;
    taps = kernel[0] * kernel[1] * kernel[2];
    points = out[0] * out[1] * out[2];
    out_step = step_of_points(plan);
  }
  // The output's points are contiguous. The stride of an axis of size 1 is ignored.
  static int64_t step_of_points(const ConvPlan& plan) {
    for (int d = plan.spatial; d-- > 0;) {
      if (plan.output_size[d] != 1) return plan.output_strides[2 + d];
    }
    return 1;
  }

  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1};
  int64_t padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1}, in_stride[3] = {0, 0, 0};
  int64_t in_channels, out_channels, taps, points, out_step;
};

// Points [begin, end) of the output, in the order of memory: the columns of one block.
struct Points {
  int64_t begin, end;
  [[nodiscard]] int64_t count() const { return end - begin; }
};

// Elements of a row of the columns whose points lie in one line of the output. Those before
// `inside` and from `outside` on meet the padding, the others elements of the image that are a step
// apart, the first at the offset `at`.
struct Run {
  int64_t row, point;  // the first element in the block
  int64_t count, inside, outside;
  int64_t at;
};

int64_t divide_up(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

// Calls fn(run) for every run of a block.
template <class Fn>
void each_run(const Shape& s, int64_t channel_stride, Points points, Fn fn) {
  for (int64_t row = 0; row < s.in_channels * s.taps; ++row) {
    const int64_t channel = row / s.taps;
    const int64_t tap = row % s.taps;
    const int64_t kd = tap / (s.kernel[1] * s.kernel[2]);
    const int64_t kh = tap / s.kernel[2] % s.kernel[1];
    const int64_t kw = tap % s.kernel[2];
    // The element of the image that the first point of a line meets, and the points inside.
    const int64_t start = kw * s.dilation[2] - s.padding[2];
    const int64_t inside = divide_up(-start, s.stride[2]);
    const int64_t outside = divide_up(s.in[2] - start, s.stride[2]);
    int64_t w = points.begin % s.out[2];
    int64_t h = points.begin / s.out[2] % s.out[1];
    int64_t d = points.begin / (s.out[2] * s.out[1]);
    for (int64_t point = points.begin; point < points.end;) {
      const int64_t i = d * s.stride[0] - s.padding[0] + kd * s.dilation[0];
      const int64_t j = h * s.stride[1] - s.padding[1] + kh * s.dilation[1];
      const bool crosses = i >= 0 && i < s.in[0] && j >= 0 && j < s.in[1];
      const int64_t count = std::min(s.out[2] - w, points.end - point);
      Run run{row, point - points.begin, count, count, count, 0};
      if (crosses) {
        run.inside = std::clamp<int64_t>(inside - w, 0, count);
        run.outside = std::clamp<int64_t>(outside - w, run.inside, count);
        run.at = channel * channel_stride + i * s.in_stride[0] + j * s.in_stride[1] +
                 (start + (w + run.inside) * s.stride[2]) * s.in_stride[2];
      }
      fn(run);
      point += count;
      w = 0;
      if (++h == s.out[1]) {
        h = 0;
        ++d;
      }
    }
  }
}

template <class T>
class Columns {
 public:
  explicit Columns(const ConvPlan& plan)
      : plan_(plan), s_(plan), blas_(in_turn(plan) ? BlasCalls::kInTurn : BlasCalls::kSideBySide) {}

  Status run() const {
    if (!blas_) return blas_.status();
    if (plan_.pass == ConvPass::kBackwardWeight) return backward_weight();
    // Blocks of a forward pass are independent; those of an input's gradient are added up.
    const bool forward_pass = plan_.pass == ConvPass::kForward;
    const int64_t parts = forward_pass ? blocks() : 1;
    std::atomic<bool> failed{false};
    const int64_t grain = std::max<int64_t>(1, kGrain * parts / (depth() * s_.points + 1));
    parallel_for(plan_.batch * plan_.groups * parts, grain, [&](int64_t begin, int64_t end) {
      const Workspace space(columns_bytes());
      if (space.data() == nullptr) {
        failed = true;
        return;
      }
      auto* columns = static_cast<T*>(space.data());
      for (int64_t i = begin; i < end; ++i) {
        const int64_t image = i / parts;
        if (forward_pass)
          forward(image / plan_.groups, image % plan_.groups, block(i % parts), columns);
        else
          backward_input(image / plan_.groups, image % plan_.groups, columns);
      }
    });
    return failed ? no_memory() : kernel::kOk;
  }

 private:
  // True if products are computed one after another, each with all threads.
  static bool in_turn(const ConvPlan& plan) {
    return plan.pass != ConvPass::kForward &&
           (plan.pass == ConvPass::kBackwardWeight || plan.batch * plan.groups == 1);
  }
  static Status no_memory() {
    return failure(Code::kOutOfMemory, "expected memory for the columns of an image, got none");
  }
  [[nodiscard]] int64_t depth() const { return s_.in_channels * s_.taps; }
  [[nodiscard]] int64_t points_of_block() const {
    const int64_t most = std::max<int64_t>(s_.points, 1);
    return std::clamp(kBlock / std::max<int64_t>(depth(), 1), std::min(kFewestPoints, most), most);
  }
  [[nodiscard]] int64_t blocks() const {
    return (s_.points + points_of_block() - 1) / points_of_block();
  }
  [[nodiscard]] Points block(int64_t number) const {
    const int64_t begin = number * points_of_block();
    return {begin, std::min(s_.points, begin + points_of_block())};
  }
  [[nodiscard]] int64_t columns_bytes() const {
    return depth() * points_of_block() * static_cast<int64_t>(sizeof(T));
  }
  [[nodiscard]] T* image(int64_t n, int64_t group) const {
    return static_cast<T*>(plan_.input) + n * plan_.input_strides[0] +
           group * s_.in_channels * plan_.input_strides[1];
  }
  [[nodiscard]] Matrix<T> output(int64_t n, int64_t group, Points points) const {
    return {static_cast<T*>(plan_.output) + n * plan_.output_strides[0] +
                group * s_.out_channels * plan_.output_strides[1] + points.begin * s_.out_step,
            s_.out_channels, points.count(), plan_.output_strides[1], s_.out_step};
  }
  [[nodiscard]] Matrix<T> weight(int64_t group) const {
    return {static_cast<T*>(plan_.weight) + group * s_.out_channels * depth(), s_.out_channels,
            depth(), depth(), 1};
  }
  static Matrix<const T> constant(Matrix<T> m) {
    return {m.data, m.rows, m.columns, m.row_stride, m.column_stride};
  }
  [[nodiscard]] Matrix<T> matrix(T* columns, Points points) const {
    return {columns, depth(), points.count(), points.count(), 1};
  }

  void gather(const T* source, Points points, T* columns) const {
    const int64_t step = s_.stride[2] * s_.in_stride[2];
    each_run(s_, plan_.input_strides[1], points, [&](const Run& run) {
      T* const to = columns + run.row * points.count() + run.point;
      std::fill(to, to + run.inside, T{0});
      copy_strided(run.outside - run.inside, sizeof(T), to + run.inside, sizeof(T), source + run.at,
                   step * static_cast<int64_t>(sizeof(T)));
      std::fill(to + run.outside, to + run.count, T{0});
    });
  }
  void forward(int64_t n, int64_t group, Points points, T* columns) const {
    gather(image(n, group), points, columns);
    const Matrix<T> out = output(n, group, points);
    const auto* bias = static_cast<const T*>(plan_.bias);
    if (bias != nullptr) {
      for (int64_t c = 0; c < s_.out_channels; ++c) {
        for (int64_t p = 0; p < points.count(); ++p) {
          out.data[c * out.row_stride + p * out.column_stride] = bias[group * s_.out_channels + c];
        }
      }
    }
    multiply<T>(blas_, constant(weight(group)), constant(matrix(columns, points)),
                bias == nullptr ? T{0} : T{1}, out);
  }
  void backward_input(int64_t n, int64_t group, T* columns) const {
    T* target = image(n, group);
    for (int64_t c = 0; c < s_.in_channels; ++c) zero_plane(target + c * plan_.input_strides[1]);
    for (int64_t number = 0; number < blocks(); ++number) {
      const Points points = block(number);
      multiply<T>(blas_, constant(weight(group).transposed()), constant(output(n, group, points)),
                  T{0}, matrix(columns, points));
      scatter(columns, points, target);
    }
  }
  void scatter(const T* columns, Points points, T* target) const {
    const int64_t step = s_.stride[2] * s_.in_stride[2];
    each_run(s_, plan_.input_strides[1], points, [&](const Run& run) {
      const T* const from = columns + run.row * points.count() + run.point + run.inside;
      const int64_t count = run.outside - run.inside;
      T* const to = target + run.at;
      if (step == 1) {
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) to[i] += from[i];
      } else {
        for (int64_t i = 0; i < count; ++i) to[i * step] += from[i];
      }
    });
  }
  void zero_plane(T* plane) const {
    for (int64_t d = 0; d < s_.in[0]; ++d) {
      for (int64_t h = 0; h < s_.in[1]; ++h) {
        for (int64_t w = 0; w < s_.in[2]; ++w) {
          plane[d * s_.in_stride[0] + h * s_.in_stride[1] + w * s_.in_stride[2]] = T{0};
        }
      }
    }
  }

  // Images are summed, so they are computed one after another; each product uses all threads.
  Status backward_weight() const {
    const Workspace space(columns_bytes());
    if (space.data() == nullptr) return no_memory();
    auto* columns = static_cast<T*>(space.data());
    for (int64_t n = 0; n < plan_.batch; ++n) {
      for (int64_t group = 0; group < plan_.groups; ++group) {
        for (int64_t number = 0; number < blocks(); ++number) {
          const Points points = block(number);
          gather(image(n, group), points, columns);
          multiply<T>(blas_, constant(output(n, group, points)),
                      constant(matrix(columns, points).transposed()),
                      n == 0 && number == 0 ? T{0} : T{1}, weight(group));
        }
      }
    }
    if (plan_.bias != nullptr) sum_bias();
    return kernel::kOk;
  }
  void sum_bias() const {
    auto* bias = static_cast<T*>(plan_.bias);
    for (int64_t c = 0; c < plan_.out_channels; ++c) {
      double total = 0;
      for (int64_t n = 0; n < plan_.batch; ++n) {
        const T* g = static_cast<const T*>(plan_.output) + n * plan_.output_strides[0] +
                     c * plan_.output_strides[1];
        for (int64_t p = 0; p < s_.points; ++p) total += static_cast<double>(g[p * s_.out_step]);
      }
      bias[c] = static_cast<T>(total);
    }
  }

  const ConvPlan& plan_;
  Shape s_;
  BlasUse blas_;
};

// BLAS takes sizes of 32 bits.
bool fits(const Shape& s) {
  return s.points <= INT32_MAX && s.out_channels <= INT32_MAX &&
         s.in_channels * s.taps <= INT32_MAX;
}

}  // namespace

Status conv_by_columns(const ConvPlan& plan) {
  if (!fits(Shape(plan))) {
    return failure(
        Code::kNotImplemented,
        "expected matrices of at most 2**31 - 1 rows and columns for BLAS, got larger ones");
  }
  if (plan.dtype == DType::kFloat32) return Columns<float>(plan).run();
  if (plan.dtype == DType::kFloat64) return Columns<double>(plan).run();
  return failure(Code::kNotImplemented, "expected float32 or float64 for a convolution");
}

}  // namespace tsr::cpu
