// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The Fourier kernels at every instruction-set level that this machine can run: values against sums
// in long double, and that a line's bits depend on neither its place nor its strides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "arrays.h"
#include "backend/cpu/fft/roots.h"
#include "backend/cpu/fft/transform.h"
#include "backend/cpu/level.h"
#include "base/error.h"
#include "base/parallel.h"
#include "kernel/fft.h"
#include "support/effort.h"

namespace tsr::test::test_fft {
namespace {

using cpu::FftRows;
using cpu::Transform;
using kernel::FftOp;
using kernel::FftPlan;

const char* const kLevels[] = {"sse42", "avx2", "avx512"};
constexpr double kLimit32 = 5e-7;  // of the root mean square, over that of the values
constexpr double kLimit64 = 1e-15;

template <class T>
std::vector<T> random_numbers(int64_t count) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<T> numbers(-1, 1);
  std::vector<T> made(static_cast<size_t>(count));
  for (T& number : made) number = numbers(engine);
  return made;
}

// The sum for result k.
template <class T>
std::complex<long double> exact(const std::vector<T>& x, int64_t k, bool inverse) {
  const auto n = static_cast<int64_t>(x.size() / 2);
  std::complex<long double> sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const long double angle =
        2 * M_PIl * static_cast<long double>(j * k % n) / static_cast<long double>(n);
    const std::complex<long double> root(std::cos(angle), (inverse ? 1 : -1) * std::sin(angle));
    const auto at = static_cast<size_t>(2 * j);
    sum += root * std::complex<long double>(x[at], x[at + 1]);
  }
  return sum;
}

template <class T>
double relative_error(const std::vector<T>& x, const std::vector<T>& found, bool inverse) {
  const auto n = static_cast<int64_t>(x.size() / 2);
  long double errors = 0;
  long double sizes = 0;
  for (int64_t k = 0; k < n; k += std::max<int64_t>(1, n / effort(50, 8))) {
    const std::complex<long double> wanted = exact(x, k, inverse);
    const auto at = static_cast<size_t>(2 * k);
    errors += std::norm(wanted - std::complex<long double>(found[at], found[at + 1]));
    sizes += std::norm(wanted);
  }
  return static_cast<double>(std::sqrt(errors / sizes));
}

template <class T>
void check_lengths(double limit) {
  for (const char* name : kLevels) {
    const cpu::Level* level = cpu::find_level(name);
    if (level == nullptr) continue;
    std::vector<int64_t> lengths = {121,  128,  169,  243,  256,  257, 360,
                                    1000, 1009, 1024, 2187, 3721, 4096};
    for (int64_t n = 1; n <= 75; ++n) lengths.push_back(n);
    for (const int64_t n : lengths) {
      const Transform<T> transform(level->rows<FftRows<T>>(), n);
      const std::vector<T> x = random_numbers<T>(2 * n);
      std::vector<T> found(x.size());
      std::vector<T> scratch(static_cast<size_t>(transform.scratch()));
      for (const bool inverse : {false, true}) {
        ASSERT_EQ(transform.run(x.data(), found.data(), T{1}, inverse, scratch.data()),
                  kernel::kOk);
        EXPECT_LT(relative_error(x, found, inverse), limit) << name << " length " << n;
        std::vector<T> in_place = x;
        ASSERT_EQ(transform.run(in_place.data(), in_place.data(), T{1}, inverse, scratch.data()),
                  kernel::kOk);
        EXPECT_EQ(in_place, found) << name << " length " << n;
      }
    }
  }
}

TEST(Fft, float32_is_accurate_at_every_length_and_level) {
  check_lengths<float>(kLimit32);
}

TEST(Fft, float64_is_accurate_at_every_length_and_level) {
  check_lengths<double>(kLimit64);
}

TEST(Fft, roots_are_rounded_once) {
  for (const int64_t n : {1, 3, 8, 1000, 1 << 20, 999983}) {
    const cpu::Roots<double> roots(n);
    for (int64_t j = 0; j < n; j += std::max<int64_t>(1, n / 1000)) {
      const long double angle =
          2 * M_PIl * static_cast<long double>(j) / static_cast<long double>(n);
      EXPECT_NEAR(roots(j).real(), std::cos(angle), 0.6e-16) << j << " of " << n;
      EXPECT_NEAR(roots(j).imag(), -std::sin(angle), 0.6e-16) << j << " of " << n;
    }
  }
}

// ---- Batches ----

void launch(const FftPlan& plan) {
  ASSERT_EQ(kernels().fft(plan), kernel::kOk) << last_error();
}

// Numbers of a line: in the input and in the output.
struct Counts {
  Counts(FftOp op, int64_t length)
      : in(op == FftOp::kRealToHalf ? length
           : op == FftOp::kComplex  ? 2 * length
                                    : 2 * (length / 2 + 1)),
        out(op == FftOp::kHalfToReal ? length
            : op == FftOp::kComplex  ? 2 * length
                                     : 2 * (length / 2 + 1)),
        in_parts(op == FftOp::kRealToHalf ? 1 : 2),
        out_parts(op == FftOp::kHalfToReal ? 1 : 2) {}
  int64_t in, out, in_parts, out_parts;
};

// Contiguous rows, or the columns of a matrix with as many columns as lines.
FftPlan batch_plan(FftOp op, int64_t length, int64_t lines, bool columns, bool inverse = false) {
  const Counts counts(op, length);
  FftPlan plan{};
  plan.op = op;
  plan.dtype = DType::kFloat32;
  plan.length = length;
  plan.scale = 0.5;
  plan.inverse = inverse ? 1 : 0;
  plan.rank = 1;
  plan.sizes[0] = lines;
  plan.input_strides[0] = columns ? 1 : counts.in / counts.in_parts;
  plan.input_step = columns ? lines : 1;
  plan.output_strides[0] = columns ? 1 : counts.out / counts.out_parts;
  plan.output_step = columns ? lines : 1;
  return plan;
}

std::vector<float> run(FftPlan plan, const float* input, int64_t count) {
  std::vector<float> output(static_cast<size_t>(count));
  plan.input = input;
  plan.output = output.data();
  launch(plan);
  return output;
}

// Rows of `count` numbers, of which `parts` stay together, as columns.
std::vector<float> turned(const std::vector<float>& rows, int64_t lines, int64_t count,
                          int64_t parts) {
  std::vector<float> columns(rows.size());
  for (int64_t i = 0; i < lines; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      const int64_t place = (j / parts * lines + i) * parts + j % parts;
      columns[static_cast<size_t>(place)] = rows[static_cast<size_t>(i * count + j)];
    }
  }
  return columns;
}

TEST(Fft, a_line_has_the_same_bits_alone_in_a_batch_and_as_a_column) {
  constexpr int64_t kLines = 19;
  for (const FftOp op : {FftOp::kComplex, FftOp::kRealToHalf, FftOp::kHalfToReal}) {
    // Real ones of twice a length go through complex ones of that length.
    for (const int64_t length :
         {1, 2, 5, 8, 16, 31, 48, 64, 67, 96, 100, 128, 133, 200, 256, 320, 1000, 1024}) {
      const Counts counts(op, length);
      const bool inverse = length % 3 == 0;
      const std::vector<float> numbers = random_numbers<float>(counts.in * kLines);
      const int64_t count = counts.out * kLines;
      const std::vector<float> rows =
          run(batch_plan(op, length, kLines, false, inverse), numbers.data(), count);
      for (int64_t i = 0; i < kLines; ++i) {
        const std::vector<float> alone = run(batch_plan(op, length, 1, false, inverse),
                                             numbers.data() + i * counts.in, counts.out);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), rows.begin() + i * counts.out))
            << "length " << length << " line " << i;
      }
      const std::vector<float> columns = turned(numbers, kLines, counts.in, counts.in_parts);
      EXPECT_EQ(run(batch_plan(op, length, kLines, true, inverse), columns.data(), count),
                turned(rows, kLines, counts.out, counts.out_parts))
          << "length " << length;
    }
  }
}

TEST(Fft, strides_may_be_negative_and_dims_unordered) {
  constexpr int64_t kLength = 12;
  const std::vector<float> numbers = random_numbers<float>(2 * kLength * 6);
  std::vector<float> wanted(numbers.size());
  FftPlan plan = batch_plan(FftOp::kComplex, kLength, 6, false);
  plan.input = numbers.data();
  plan.output = wanted.data();
  launch(plan);
  // The same lines as (2, 3) backwards, to lines in the other order of dims.
  std::vector<float> found(numbers.size());
  plan.rank = 2;
  plan.sizes[0] = 2;
  plan.sizes[1] = 3;
  plan.input_strides[0] = -3 * kLength;
  plan.input_strides[1] = -kLength;
  plan.output_strides[0] = kLength;
  plan.output_strides[1] = 2 * kLength;
  plan.input = numbers.data() + 2 * 5 * kLength;
  plan.output = found.data();
  launch(plan);
  for (int64_t a = 0; a < 2; ++a) {
    for (int64_t b = 0; b < 3; ++b) {
      const int64_t from = (5 - 3 * a - b) * 2 * kLength;
      const int64_t to = (a + 2 * b) * 2 * kLength;
      for (int64_t k = 0; k < 2 * kLength; ++k)
        EXPECT_EQ(found[static_cast<size_t>(to + k)], wanted[static_cast<size_t>(from + k)]);
    }
  }
}

TEST(Fft, a_long_line_has_the_same_bits_with_every_number_of_threads) {
  constexpr int64_t kLength = 1 << 16;
  const std::vector<float> numbers = random_numbers<float>(2 * kLength);
  std::vector<float> divided(numbers.size());
  std::vector<float> serial(numbers.size());
  FftPlan plan = batch_plan(FftOp::kComplex, kLength, 1, false);
  plan.input = numbers.data();
  const int32_t before = num_threads();
  set_num_threads(4);
  plan.output = divided.data();
  launch(plan);
  set_num_threads(1);
  plan.output = serial.data();
  launch(plan);
  set_num_threads(before);
  EXPECT_EQ(divided, serial);
}

TEST(Fft, other_dtypes_are_refused) {
  FftPlan plan = batch_plan(FftOp::kComplex, 4, 1, false);
  plan.dtype = DType::kInt32;
  EXPECT_EQ(kernels().fft(plan), static_cast<kernel::Status>(Code::kDType));
}

}  // namespace
}  // namespace tsr::test::test_fft
