// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Fourier transforms: passes of small radices in Stockham's order over all lines, a thread per
// result of a pass. A prime factor is one pass, whose work grows with its square.
#include "backend/cuda/generated/entries.h"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/storage.cuh"

namespace tsr::cuda {

using kernel::FftOp;
using kernel::FftPlan;
using kernel::Status;

namespace {

// exp(-2πi j/n), or +2πi: in double, with the angle reduced to an octant in integers.
template <class T>
__global__ void roots_kernel(Pair<T>* roots, int64_t n, int32_t inverse) {
  for (int64_t j = first_index(); j < n; j += index_step()) {
    int64_t x = 8 * j;  // eighths of 1/n of a turn
    const bool below = x > 4 * n;
    if (below) x = 8 * n - x;
    const bool left = x > 2 * n;
    if (left) x = 4 * n - x;
    const bool steep = x > n;
    if (steep) x = 2 * n - x;
    const double angle = 3.141592653589793 * static_cast<double>(x) / static_cast<double>(4 * n);
    const double cosine = steep ? ::sin(angle) : ::cos(angle);
    const double sine = steep ? ::cos(angle) : ::sin(angle);
    roots[j] = {static_cast<T>(left ? -cosine : cosine),
                static_cast<T>(below == (inverse == 0) ? sine : -sine)};
  }
}

struct Offsets {
  int64_t input, output;  // in elements
};
__device__ Offsets offsets_of(const FftPlan& plan, int64_t line) {
  Offsets found{0, 0};
  for (int32_t d = plan.rank - 1; d >= 0; --d) {
    const int64_t index = line % plan.sizes[d];
    found.input += index * plan.input_strides[d];
    found.output += index * plan.output_strides[d];
    line /= plan.sizes[d];
  }
  return found;
}

// Number j of the transform of a line, whatever the plan reads.
template <class T>
__device__ Pair<T> read_number(const FftPlan& plan, int64_t first, int64_t j) {
  if (plan.op == FftOp::kRealToHalf)
    return {static_cast<const T*>(plan.input)[first + j * plan.input_step], T{0}};
  const auto* numbers = static_cast<const Pair<T>*>(plan.input);
  if (plan.op == FftOp::kComplex) return numbers[first + j * plan.input_step];
  const bool mirrored = 2 * j > plan.length;
  const Pair<T> given = numbers[first + (mirrored ? plan.length - j : j) * plan.input_step];
  if (j == 0 || 2 * j == plan.length) return {given.re, T{0}};
  return {given.re, mirrored ? -given.im : given.im};
}

template <class T>
__global__ void read_kernel(FftPlan plan, int64_t count, Pair<T>* work) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t line = i / plan.length;
    work[i] = read_number<T>(plan, offsets_of(plan, line).input, i - line * plan.length);
  }
}

// What follows `inner` transforms of a part of the length: result k of butterfly p is the sum of
// x[p + m j] exp(-2πi (p + m j) k / (m radix)), m the butterflies.
struct Pass {
  int64_t length, radix, inner;
};
template <class T>
__global__ void pass_kernel(Pass pass, int64_t count, const Pair<T>* roots, const Pair<T>* from,
                            Pair<T>* to) {
  const int64_t part = pass.length / pass.inner;
  const int64_t butterflies = part / pass.radix;
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t place = i % pass.length;
    const int64_t q = place % pass.inner;
    const int64_t k = place / pass.inner % pass.radix;
    const int64_t p = place / pass.inner / pass.radix;
    const Pair<T>* line = from + (i - place) + q;
    double re = 0;
    double im = 0;
    for (int64_t j = 0; j < pass.radix; ++j) {
      const int64_t element = p + butterflies * j;
      const Pair<T> x = line[element * pass.inner];
      const Pair<T> root = roots[element * k % part * pass.inner];
      re += static_cast<double>(x.re) * root.re - static_cast<double>(x.im) * root.im;
      im += static_cast<double>(x.re) * root.im + static_cast<double>(x.im) * root.re;
    }
    to[i] = {static_cast<T>(re), static_cast<T>(im)};
  }
}

template <class T>
__global__ void write_kernel(FftPlan plan, int64_t each, int64_t count, const Pair<T>* work) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    const int64_t line = i / each;
    const int64_t k = i - line * each;
    const Pair<T> value = work[line * plan.length + k];
    const int64_t place = offsets_of(plan, line).output + k * plan.output_step;
    const T scale = static_cast<T>(plan.scale);
    if (plan.op == FftOp::kHalfToReal) {
      static_cast<T*>(plan.output)[place] = value.re * scale;
    } else {
      static_cast<Pair<T>*>(plan.output)[place] = {value.re * scale, value.im * scale};
    }
  }
}

// The smallest of the radices that divides the length, 4 before 2.
int64_t next_radix(int64_t length) {
  if (length % 4 == 0) return 4;
  for (int64_t radix = 2; radix * radix <= length; ++radix) {
    if (length % radix == 0) return radix;
  }
  return length;
}

template <class T>
Status run(const FftPlan& plan) {
  const int64_t n = plan.length;
  int64_t lines = 1;
  for (int32_t d = 0; d < plan.rank; ++d) lines *= plan.sizes[d];
  const int64_t count = lines * n;
  const Workspace memory(plan.place, (2 * count + n) * static_cast<int64_t>(sizeof(Pair<T>)));
  if (memory.missing()) return no_workspace();
  auto* from = memory.data<Pair<T>>();
  Pair<T>* to = from + count;
  Pair<T>* const roots = to + count;
  Status status = launch(plan.place, n, &roots_kernel<T>, roots, n, plan.inverse);
  if (status != kernel::kOk) return status;
  status = launch(plan.place, count, &read_kernel<T>, plan, count, from);
  for (int64_t inner = 1; inner < n && status == kernel::kOk;) {
    const Pass pass{n, next_radix(n / inner), inner};
    const Pair<T>* source = from;
    const Pair<T>* table = roots;
    status = launch(plan.place, count, &pass_kernel<T>, pass, count, table, source, to);
    std::swap(from, to);
    inner *= pass.radix;
  }
  if (status != kernel::kOk) return status;
  const int64_t each = plan.op == FftOp::kRealToHalf ? n / 2 + 1 : n;
  const Pair<T>* result = from;
  return launch(plan.place, lines * each, &write_kernel<T>, plan, each, lines * each, result);
}

}  // namespace

Status fft(const FftPlan& plan) {
  if (plan.dtype == DType::kFloat32) return run<float>(plan);
  if (plan.dtype == DType::kFloat64) return run<double>(plan);
  return failure(Code::kDType, "expected float32 or float64");
}

}  // namespace tsr::cuda
