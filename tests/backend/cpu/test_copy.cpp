// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// fill and copy: every dtype to every dtype, every layout, and copies that must be bit-exact.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "arrays.h"

namespace tsr::test::test_copy {
namespace {

DType dtype_at(int k) {
  return static_cast<DType>(k);
}

double as_stored(DType dtype, double value) {
  Array cell(dtype, {1});
  cell.set(0, value);
  return cell.get(0).real();
}

TEST(Copy, converts_every_dtype_to_every_dtype) {
  for (int from = 0; from < kDTypeCount; ++from) {
    for (int to = 0; to < kDTypeCount; ++to) {
      SCOPED_TRACE(testing::Message() << name(dtype_at(from)) << " to " << name(dtype_at(to)));
      Array input(dtype_at(from), {3, 301});
      Array output(dtype_at(to), {3, 301});
      input.randomize(0, 100, 11);
      ASSERT_EQ(kernels().copy(elementwise({&output, &input})), kernel::kOk) << last_error();
      for (int64_t i = 0; i < input.numel(); ++i) {
        const Value value = input.get(i);
        if (output.dtype() == DType::kBool) {
          ASSERT_EQ(output.get(i).real(), value != 0.0 ? 1 : 0);
          continue;
        }
        ASSERT_EQ(output.get(i).real(), as_stored(output.dtype(), value.real())) << "element " << i;
        double imag = 0;
        if (is_complex(output.dtype())) imag = as_stored(real_dtype(output.dtype()), value.imag());
        ASSERT_EQ(output.get(i).imag(), imag) << "element " << i;
      }
    }
  }
}

TEST(Copy, gives_integers_the_low_bits_of_large_floats) {
  const float numbers[] = {-1.5F,      2147483520.0F, 2147483648.0F, -2147483648.0F, 4294967296.0F,
                           6442450944, -3e9F,         1e20F,         -INFINITY,      NAN};
  const auto truncated = [](float value) {
    const bool fits = value >= -0x1p63F && value < 0x1p63F;
    return fits ? static_cast<int64_t>(value) : INT64_MIN;
  };
  for (const DType dtype : {DType::kInt32, DType::kUInt32, DType::kInt16, DType::kUInt8}) {
    // In registers of all sizes, with and without others that fit.
    for (int64_t count = 1; count < 70; ++count) {
      Array input(DType::kFloat32, {count});
      Array output(dtype, {count});
      for (int64_t i = 0; i < count; ++i) {
        const auto k = static_cast<size_t>(i + count) % (3 * std::size(numbers));
        input.set(i, k < std::size(numbers) ? numbers[k] : static_cast<double>(k));
      }
      ASSERT_EQ(kernels().copy(elementwise({&output, &input})), kernel::kOk) << last_error();
      for (int64_t i = 0; i < count; ++i) {
        const int64_t whole = truncated(static_cast<const float*>(input.data())[i]);
        ASSERT_EQ(std::memcmp(output.at(i), &whole, static_cast<size_t>(itemsize(dtype))), 0)
            << name(dtype) << " of " << input.get(i).real();
      }
    }
  }
}

TEST(Copy, moves_every_layout_to_every_layout) {
  for (const DType dtype :
       {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex128}) {
    for (const Layout from : kLayouts) {
      for (const Layout to :
           {Layout::kContiguous, Layout::kTransposed, Layout::kSliced, Layout::kReversed}) {
        Array input(dtype, {5, 67, 43}, from);
        Array output(dtype, {5, 67, 43}, to);
        input.randomize(-50, 50, 13);
        ASSERT_EQ(kernels().copy(elementwise({&output, &input})), kernel::kOk) << last_error();
        for (int64_t i = 0; i < input.numel(); ++i) {
          ASSERT_EQ(std::memcmp(output.at(i), input.at(i), static_cast<size_t>(itemsize(dtype))), 0)
              << name(dtype) << " layouts " << static_cast<int>(from) << " " << static_cast<int>(to)
              << " at " << i;
        }
      }
    }
  }
}

TEST(Copy, takes_rows_backwards_or_with_gaps_of_any_length) {
  for (const DType dtype :
       {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex128}) {
    for (const Layout layout : {Layout::kReversed, Layout::kSliced}) {
      for (int64_t length = 0; length < 140; ++length) {
        Array input(dtype, {3, length}, layout);
        Array output(dtype, {3, length});
        input.randomize(-50, 50, 13);
        ASSERT_EQ(kernels().copy(elementwise({&output, &input})), kernel::kOk) << last_error();
        for (int64_t i = 0; i < input.numel(); ++i)
          ASSERT_EQ(output.get(i), input.get(i)) << length;
      }
    }
  }
}

TEST(Copy, turns_every_half_into_the_float_it_stands_for_and_back) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Array halves(dtype, {65536});
    Array floats(DType::kFloat32, {65536});
    Array back(dtype, {65536});
    auto* bits = static_cast<uint16_t*>(halves.data());
    for (int i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
    ASSERT_EQ(kernels().copy(elementwise({&floats, &halves})), kernel::kOk);
    ASSERT_EQ(kernels().copy(elementwise({&back, &floats})), kernel::kOk);
    for (int i = 0; i < 65536; ++i) {
      const double value = halves.get(i).real();
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(floats.get(i).real()) && std::isnan(back.get(i).real())) << i;
        continue;
      }
      ASSERT_EQ(floats.get(i).real(), value) << i;
      ASSERT_EQ(static_cast<uint16_t*>(back.data())[i], bits[i]) << i;
    }
  }
}

TEST(Copy, rounds_floats_to_halves_to_nearest_even) {
  constexpr int64_t kCount = 200000;
  Array floats(DType::kFloat32, {kCount});
  auto* words = static_cast<uint32_t*>(floats.data());
  for (int64_t i = 0; i < kCount; ++i) words[i] = static_cast<uint32_t>(i) * 21473U;
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Array halves(dtype, {kCount});
    ASSERT_EQ(kernels().copy(elementwise({&halves, &floats})), kernel::kOk);
    for (int64_t i = 0; i < kCount; ++i) {
      const float value = static_cast<float*>(floats.data())[i];
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(halves.get(i).real()));
        continue;
      }
      const uint16_t want =
          dtype == DType::kFloat16 ? Half::from_float(value) : BFloat16::from_float(value);
      ASSERT_EQ(static_cast<uint16_t*>(halves.data())[i], want) << value;
    }
  }
}

TEST(Copy, moves_large_arrays_past_the_caches) {
  constexpr int64_t kCount = (int64_t{7} << 20) + 5;
  Array input(DType::kFloat32, {kCount});
  Array output(DType::kFloat32, {kCount});
  auto* source = static_cast<float*>(input.data());
  for (int64_t i = 0; i < kCount; ++i) source[i] = static_cast<float>(i);
  ASSERT_EQ(kernels().copy(elementwise({&output, &input})), kernel::kOk);
  EXPECT_EQ(std::memcmp(output.data(), input.data(), kCount * sizeof(float)), 0);
}

TEST(Fill, writes_the_parameter_in_the_outputs_dtype) {
  for (int k = 0; k < kDTypeCount; ++k) {
    for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kSliced}) {
      Array output(dtype_at(k), {9, 31}, layout);
      kernel::ElementwisePlan plan = elementwise({&output});
      write_value(dtype_at(k), &plan.params[0], 1);
      ASSERT_EQ(kernels().fill(plan), kernel::kOk);
      expect_elements(output, {}, [](const std::vector<Value>&) { return Value(1); });
    }
  }
}

TEST(Fill, long_rows_get_all_their_elements_and_nothing_beside_them) {
  for (int k = 0; k < kDTypeCount; ++k) {
    for (const int64_t count : {64, 65, 127, 1031, 100003}) {
      SCOPED_TRACE(testing::Message() << name(dtype_at(k)) << ", " << count << " elements");
      Array output(dtype_at(k), {count + 2});
      for (int64_t i = 0; i < count + 2; ++i) output.set(i, 0);
      kernel::ElementwisePlan plan = elementwise({&output});
      plan.data[0] = output.at(1);
      plan.sizes[0] = plan.numel = count;
      write_value(dtype_at(k), &plan.params[0], 1);
      ASSERT_EQ(kernels().fill(plan), kernel::kOk);
      ASSERT_EQ(output.get(0), Value(0));
      ASSERT_EQ(output.get(count + 1), Value(0));
      for (int64_t i = 1; i <= count; ++i) ASSERT_EQ(output.get(i), Value(1)) << "element " << i;
    }
  }
}

TEST(Fill, empty_arrays_are_left_alone) {
  Array output(DType::kFloat32, {0});
  EXPECT_EQ(kernels().fill(elementwise({&output})), kernel::kOk);
}

}  // namespace
}  // namespace tsr::test::test_copy
