// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Convolution by im2col: the windows of an image become the columns of a matrix, so that each pass
// is a matrix product.
#include <algorithm>
#include <atomic>

#include "backend/cpu/host.h"
#include "backend/cpu/linalg/blas.h"
#include "backend/cpu/nn/nn.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

// The grain: numbers in the columns.
constexpr int64_t kGrain = 16384;

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

// Calls fn(row of the columns, point, offset of the input element) for every window element inside
// the image.
template <class Fn>
void each_tap(const Shape& s, int64_t channel_stride, Fn fn) {
  for (int64_t row = 0; row < s.in_channels * s.taps; ++row) {
    const int64_t channel = row / s.taps;
    const int64_t tap = row % s.taps;
    const int64_t kd = tap / (s.kernel[1] * s.kernel[2]);
    const int64_t kh = tap / s.kernel[2] % s.kernel[1];
    const int64_t kw = tap % s.kernel[2];
    int64_t point = 0;
    for (int64_t d = 0; d < s.out[0]; ++d) {
      const int64_t i = d * s.stride[0] - s.padding[0] + kd * s.dilation[0];
      for (int64_t h = 0; h < s.out[1]; ++h) {
        const int64_t j = h * s.stride[1] - s.padding[1] + kh * s.dilation[1];
        const bool inside = i >= 0 && i < s.in[0] && j >= 0 && j < s.in[1];
        const int64_t base = channel * channel_stride + i * s.in_stride[0] + j * s.in_stride[1];
        for (int64_t w = 0; w < s.out[2]; ++w, ++point) {
          const int64_t k = w * s.stride[2] - s.padding[2] + kw * s.dilation[2];
          const bool hit = inside && k >= 0 && k < s.in[2];
          fn(row, point, hit ? base + k * s.in_stride[2] : -1);
        }
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
    std::atomic<bool> failed{false};
    const int64_t grain = std::max<int64_t>(1, kGrain / (depth() * s_.points + 1));
    parallel_for(plan_.batch * plan_.groups, grain, [&](int64_t begin, int64_t end) {
      const Workspace space(columns_bytes());
      if (space.data() == nullptr) {
        failed = true;
        return;
      }
      auto* columns = static_cast<T*>(space.data());
      for (int64_t i = begin; i < end; ++i) {
        if (plan_.pass == ConvPass::kForward)
          forward(i / plan_.groups, i % plan_.groups, columns);
        else
          backward_input(i / plan_.groups, i % plan_.groups, columns);
      }
    });
    return failed ? no_memory() : kernel::kOk;
  }

 private:
  // True if images are computed one after another, each with all threads.
  static bool in_turn(const ConvPlan& plan) {
    return plan.pass == ConvPass::kBackwardWeight || plan.batch * plan.groups == 1;
  }
  static Status no_memory() {
    return failure(Code::kOutOfMemory, "expected memory for the columns of an image, got none");
  }
  [[nodiscard]] int64_t depth() const { return s_.in_channels * s_.taps; }
  [[nodiscard]] int64_t columns_bytes() const {
    return depth() * s_.points * static_cast<int64_t>(sizeof(T));
  }
  [[nodiscard]] T* image(int64_t n, int64_t group) const {
    return static_cast<T*>(plan_.input) + n * plan_.input_strides[0] +
           group * s_.in_channels * plan_.input_strides[1];
  }
  [[nodiscard]] Matrix<T> output(int64_t n, int64_t group) const {
    return {static_cast<T*>(plan_.output) + n * plan_.output_strides[0] +
                group * s_.out_channels * plan_.output_strides[1],
            s_.out_channels, s_.points, plan_.output_strides[1], s_.out_step};
  }
  [[nodiscard]] Matrix<T> weight(int64_t group) const {
    return {static_cast<T*>(plan_.weight) + group * s_.out_channels * depth(), s_.out_channels,
            depth(), depth(), 1};
  }
  static Matrix<const T> constant(Matrix<T> m) {
    return {m.data, m.rows, m.columns, m.row_stride, m.column_stride};
  }
  [[nodiscard]] Matrix<T> matrix(T* columns) const {
    return {columns, depth(), s_.points, s_.points, 1};
  }

  void gather(const T* source, T* columns) const {
    each_tap(s_, plan_.input_strides[1], [&](int64_t row, int64_t point, int64_t at) {
      columns[row * s_.points + point] = at < 0 ? T{0} : source[at];
    });
  }
  void forward(int64_t n, int64_t group, T* columns) const {
    gather(image(n, group), columns);
    const Matrix<T> out = output(n, group);
    const auto* bias = static_cast<const T*>(plan_.bias);
    if (bias != nullptr) {
      for (int64_t c = 0; c < s_.out_channels; ++c) {
        for (int64_t p = 0; p < s_.points; ++p) {
          out.data[c * out.row_stride + p * out.column_stride] = bias[group * s_.out_channels + c];
        }
      }
    }
    multiply<T>(blas_, constant(weight(group)), constant(matrix(columns)),
                bias == nullptr ? T{0} : T{1}, out);
  }
  void backward_input(int64_t n, int64_t group, T* columns) const {
    multiply<T>(blas_, constant(weight(group).transposed()), constant(output(n, group)), T{0},
                matrix(columns));
    T* target = image(n, group);
    for (int64_t c = 0; c < s_.in_channels; ++c) zero_plane(target + c * plan_.input_strides[1]);
    each_tap(s_, plan_.input_strides[1], [&](int64_t row, int64_t point, int64_t at) {
      if (at >= 0) target[at] += columns[row * s_.points + point];
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
        gather(image(n, group), columns);
        multiply<T>(blas_, constant(output(n, group)), constant(matrix(columns).transposed()),
                    n == 0 ? T{0} : T{1}, weight(group));
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
