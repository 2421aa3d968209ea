// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products against three loops, over dtypes, storage orders, sizes, batches and factors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "arrays.h"
#include "base/parallel.h"
#include "support/effort.h"

namespace tsr::test::test_gemm {
namespace {

struct Shape {
  int64_t m, n, k;
};

kernel::GemmPlan plan_for(const Array& c, const Array& a, const Array& b, Shape s) {
  kernel::GemmPlan plan{};
  plan.dtype = c.dtype();
  plan.m = s.m;
  plan.n = s.n;
  plan.k = s.k;
  plan.a = a.data();
  plan.b = b.data();
  plan.c = c.data();
  const int64_t size = itemsize(c.dtype());
  for (size_t d = 0; d < 2; ++d) {
    plan.a_strides[d] = a.strides()[d] / size;
    plan.b_strides[d] = b.strides()[d] / size;
    plan.c_strides[d] = c.strides()[d] / size;
  }
  plan.batch = 1;
  set_param(plan.alpha, c.dtype(), 1);
  set_param(plan.beta, c.dtype(), 0);
  return plan;
}

void check(DType dtype, Shape s, Layout la, Layout lb, Layout lc, double alpha, double beta,
           bool conj = false) {
  SCOPED_TRACE(testing::Message() << name(dtype) << " " << s.m << "x" << s.n << "x" << s.k
                                  << " layouts " << static_cast<int>(la) << static_cast<int>(lb)
                                  << static_cast<int>(lc));
  Array a(dtype, {s.m, s.k}, la);
  Array b(dtype, {s.k, s.n}, lb);
  Array c(dtype, {s.m, s.n}, lc);
  const double low = info(dtype).is_signed ? -2 : 0;
  a.randomize(low, 3, 1);
  b.randomize(low, 3, 2);
  c.randomize(low, 3, 3);
  if (beta == 0) c.set(0, is_integral_or_bool(dtype) ? 1 : NAN);
  std::vector<Value> old;
  for (int64_t i = 0; i < c.numel(); ++i) old.push_back(c.get(i));
  kernel::GemmPlan plan = plan_for(c, a, b, s);
  set_param(plan.alpha, dtype, alpha);
  set_param(plan.beta, dtype, beta);
  plan.conj_a = conj ? 1 : 0;
  ASSERT_EQ(kernels().gemm(plan), kernel::kOk) << last_error();
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      Value want = 0;
      double scale = 1;
      for (int64_t l = 0; l < s.k; ++l) {
        const Value x = conj ? std::conj(a.get(i * s.k + l)) : a.get(i * s.k + l);
        want += x * b.get(l * s.n + j);
        scale += std::abs(x * b.get(l * s.n + j));
      }
      want *= alpha;
      if (beta != 0) want += beta * old[static_cast<size_t>(i * s.n + j)];
      ASSERT_LE(std::abs(c.get(i * s.n + j) - want), tolerance(dtype, scale))
          << "at " << i << ", " << j;
    }
  }
}

const DType kBlas[] = {DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};
const Layout kOrders[] = {Layout::kContiguous, Layout::kTransposed};

TEST(Gemm, matches_three_loops_for_every_storage_order) {
  for (const DType dtype : kBlas) {
    for (const Shape s : {Shape{3, 4, 5}, Shape{33, 17, 29}, Shape{1, 40, 50}, Shape{40, 1, 50},
                          Shape{1, 1, 2000}, Shape{20, 30, 1}}) {
      for (const Layout a : kOrders) {
        for (const Layout b : kOrders) {
          for (const Layout c : kOrders) check(dtype, s, a, b, c, 1, 0);
        }
      }
      check(dtype, s, Layout::kContiguous, Layout::kTransposed, Layout::kContiguous, 0.5, 2);
    }
  }
}

// Matrices that fit into the first-level cache together, with rests of tiles and panels.
TEST(Gemm, small_products_match_three_loops) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const Shape s : {Shape{40, 70, 21}, Shape{64, 32, 32}, Shape{8, 16, 1}}) {
      for (const Layout a : kOrders) {
        for (const Layout b : kOrders) {
          for (const Layout c : kOrders) check(dtype, s, a, b, c, 1, 1);
        }
      }
      check(dtype, s, Layout::kContiguous, Layout::kTransposed, Layout::kContiguous, 1, 0);
    }
  }
}

// Lines of a transposed matrix that are a multiple of 4096 bytes apart; several blocks of them.
TEST(Gemm, lines_a_page_apart) {
  for (const double beta : {0.0, 1.0}) {
    check(DType::kFloat32, {37, 70, 1024}, Layout::kContiguous, Layout::kTransposed,
          Layout::kContiguous, 1, beta);
    check(DType::kFloat64, {6, 40, 512}, Layout::kContiguous, Layout::kTransposed,
          Layout::kContiguous, 1, beta);
  }
  for (const Layout c : kOrders) {
    check(DType::kFloat32, {3, 280, 1024}, Layout::kContiguous, Layout::kTransposed, c, 1, 0);
    check(DType::kFloat32, {3, 280, 1024}, Layout::kTransposed, Layout::kTransposed, c, 0.5, 2);
    check(DType::kFloat64, {3, 150, 1024}, Layout::kContiguous, Layout::kTransposed, c, 1, 0);
  }
}

// Few rows, few columns or a short inner dimension with one large matrix; also sizes that do not
// fill registers or groups.
TEST(Gemm, skinny_products_match_three_loops) {
  const auto contiguous = Layout::kContiguous;
  const auto transposed = Layout::kTransposed;
  for (const Layout a : kOrders) {
    for (const Layout b : kOrders) {
      if (kSanitized && a != b) continue;
      check(DType::kFloat32, {3, 1030, 1021}, a, b, contiguous, 1, 0);
      check(DType::kFloat32, {1030, 2, 1021}, a, b, transposed, 0.5, 0);
      check(DType::kFloat32, {1030, 1021, 3}, a, b, a == b ? contiguous : transposed, 2, 0);
    }
  }
  check(DType::kFloat32, {9, 1030, 1021}, contiguous, transposed, contiguous, 2, 3);
  check(DType::kFloat32, {9, 1030, 1021}, transposed, contiguous, contiguous, 2, 3);
  check(DType::kFloat32, {2100, 1008, 9}, contiguous, contiguous, contiguous, 1, 0);
  check(DType::kFloat64, {2, 1030, 1021}, contiguous, transposed, contiguous, 1, 0);
  check(DType::kFloat64, {2, 1030, 1021}, contiguous, contiguous, contiguous, 1, 0);
  check(DType::kFloat64, {1030, 1021, 3}, contiguous, contiguous, contiguous, 1, 0);
}

TEST(Gemm, conjugates_its_operands) {
  for (const Layout a : kOrders)
    check(DType::kComplex64, {12, 13, 14}, a, Layout::kContiguous, Layout::kContiguous, 1, 0, true);
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    for (const Shape s : {Shape{1, 1, 5}, Shape{1, 1, 10001}, Shape{1, 1, 140000}}) {
      check(dtype, s, Layout::kContiguous, Layout::kContiguous, Layout::kContiguous, 2, 3, true);
    }
  }
}

TEST(Gemm, short_floats_accumulate_in_float32) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const Layout a : kOrders) {
      for (const Layout b : kOrders) check(dtype, {33, 17, 300}, a, b, Layout::kContiguous, 1, 0);
    }
    check(dtype, {9, 8, 7}, Layout::kContiguous, Layout::kContiguous, Layout::kTransposed, 2, 1);
  }
}

// Few rows or few columns: the larger matrix is widened by stretches, whose rests are here, too.
TEST(Gemm, few_rows_of_short_floats_match_three_loops) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const Layout a : kOrders) {
      for (const Layout b : kOrders) {
        check(dtype, {1, 131, 1030}, a, b, Layout::kContiguous, 1, 1);
        check(dtype, {3, 530, 525}, a, b, Layout::kContiguous, 1, 0);
        check(dtype, {530, 2, 70}, a, b, Layout::kTransposed, 1, 1);
        check(dtype, {530, 1, 70}, a, b, Layout::kContiguous, 1, 0);
      }
    }
    check(dtype, {11, 70, 600}, Layout::kContiguous, Layout::kTransposed, Layout::kContiguous, 1,
          1);
    check(dtype, {3, 70, 600}, Layout::kContiguous, Layout::kTransposed, Layout::kContiguous, 2, 3);
  }
  // A line whose sums are those of several blocks.
  check(DType::kBFloat16, {1, 6, 8192 + 77}, Layout::kContiguous, Layout::kTransposed,
        Layout::kContiguous, 1, 0);
}

// The copy of the right matrix is made by blocks of columns.
TEST(Gemm, blocks_of_short_floats_match_three_loops) {
  for (const Layout b : kOrders) {
    for (const Layout c : kOrders)
      check(DType::kBFloat16, {17, 70, 2000}, Layout::kContiguous, b, c, 1, 1);
  }
  check(DType::kFloat16, {1050, 70, 18}, Layout::kTransposed, Layout::kContiguous,
        Layout::kContiguous, 1, 0);
}

// Where the processor has tiles for bfloat16: several blocks of rows, columns and terms, and what
// is left of tiles in each direction.
TEST(Gemm, products_of_bfloat16_in_tiles_match_three_loops) {
  for (const Layout a : kOrders) {
    for (const Layout b : kOrders) {
      for (const Layout c : kOrders) {
        check(DType::kBFloat16, {33, 49, 70}, a, b, c, 1, 0);
        check(DType::kBFloat16, {48, 32, 96}, a, b, c, 1, 0);
        if (a == b) check(DType::kBFloat16, {35, 37, 65}, a, b, c, 0.5, 2);
      }
      check(DType::kBFloat16, {20, 270, 530}, a, b, Layout::kContiguous, 1, 1);
      check(DType::kBFloat16, {32, 18, 1056}, a, b, Layout::kContiguous, 1, 0);
      check(DType::kBFloat16, {300, 18, 60}, a, b, Layout::kContiguous, 1, 0);
    }
  }
}

TEST(Gemm, special_bfloat16_numbers_reach_their_rows_and_columns_only) {
  const Shape s{35, 37, 65};
  Array a(DType::kBFloat16, {s.m, s.k});
  Array b(DType::kBFloat16, {s.k, s.n});
  const Array c(DType::kBFloat16, {s.m, s.n});
  a.randomize(1, 2, 1);
  b.randomize(1, 2, 2);
  a.set(3 * s.k + 64, NAN);
  b.set(64 * s.n + 36, INFINITY);
  ASSERT_EQ(kernels().gemm(plan_for(c, a, b, s)), kernel::kOk);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      const double got = c.get(i * s.n + j).real();
      EXPECT_EQ(std::isnan(got), i == 3) << i << " " << j;
      EXPECT_EQ(std::isinf(got), i != 3 && j == 36) << i << " " << j;
    }
  }
}

TEST(Gemm, bfloat16_has_the_same_bits_for_any_number_of_threads) {
  const Shape s{300, 300, 64};
  Array a(DType::kBFloat16, {s.m, s.k});
  Array b(DType::kBFloat16, {s.k, s.n});
  a.randomize(-1, 1, 1);
  b.randomize(-1, 1, 2);
  const Array one(DType::kBFloat16, {s.m, s.n});
  const Array many(DType::kBFloat16, {s.m, s.n});
  const int32_t before = num_threads();
  set_num_threads(1);
  ASSERT_EQ(kernels().gemm(plan_for(one, a, b, s)), kernel::kOk);
  set_num_threads(4);
  ASSERT_EQ(kernels().gemm(plan_for(many, a, b, s)), kernel::kOk);
  set_num_threads(before);
  EXPECT_EQ(std::memcmp(one.data(), many.data(), static_cast<size_t>(s.m * s.n * 2)), 0);
}

TEST(Gemm, integers_are_exact) {
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt8}) {
    for (const Layout b : kOrders)
      check(dtype, {5, 6, 9}, Layout::kTransposed, b, Layout::kContiguous, 1, 0);
  }
  check(DType::kInt32, {5, 6, 9}, Layout::kContiguous, Layout::kContiguous, Layout::kTransposed, 2,
        3);
  // Several tiles, and what is left beside and below them.
  for (const DType dtype :
       {DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt64})
    check(dtype, {11, 83, 30}, Layout::kTransposed, Layout::kContiguous, Layout::kContiguous, 1, 0);
}

TEST(Gemm, products_of_64_bit_integers_wrap) {
  const Shape s{7, 45, 19};
  Array a(DType::kInt64, {s.m, s.k});
  Array b(DType::kInt64, {s.k, s.n});
  Array c(DType::kInt64, {s.m, s.n});
  uint64_t state = 1;
  for (const Array* array : {&a, &b}) {
    for (int64_t i = 0; i < array->numel(); ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      static_cast<uint64_t*>(array->data())[i] = state;
    }
  }
  ASSERT_EQ(kernels().gemm(plan_for(c, a, b, s)), kernel::kOk);
  const auto at = [](const Array& array, int64_t i) {
    return static_cast<const uint64_t*>(array.data())[i];
  };
  for (int64_t i = 0; i < s.m * s.n; ++i) {
    uint64_t want = 0;
    for (int64_t l = 0; l < s.k; ++l) want += at(a, i / s.n * s.k + l) * at(b, l * s.n + i % s.n);
    ASSERT_EQ(at(c, i), want) << i;
  }
}

TEST(Gemm, an_empty_inner_dimension_scales_c) {
  for (const DType dtype : {DType::kFloat32, DType::kComplex64, DType::kFloat16}) {
    check(dtype, {4, 5, 0}, Layout::kContiguous, Layout::kContiguous, Layout::kContiguous, 1, 0);
    check(dtype, {4, 5, 0}, Layout::kContiguous, Layout::kContiguous, Layout::kContiguous, 1, 2);
  }
}

TEST(Gemm, batches_broadcast_their_operands) {
  const Shape s{7, 9, 11};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    Array a(dtype, {6, s.m, s.k});
    Array b(dtype, {2, s.k, s.n});
    Array c(dtype, {2, 3, s.m, s.n});
    a.randomize(-1, 1, 1);
    b.randomize(-1, 1, 2);
    Array one_a(dtype, {s.m, s.k});
    Array one_b(dtype, {s.k, s.n});
    Array one_c(dtype, {s.m, s.n});
    kernel::GemmPlan plan = plan_for(one_c, one_a, one_b, s);
    plan.a = a.data();
    plan.b = b.data();
    plan.c = c.data();
    plan.batch_ndim = 2;
    plan.batch = 6;
    plan.batch_sizes[0] = 2;
    plan.batch_sizes[1] = 3;
    const int64_t strides[3][2] = {
        {3 * s.m * s.k, s.m * s.k}, {s.k * s.n, 0}, {3 * s.m * s.n, s.m * s.n}};
    for (int operand = 0; operand < 3; ++operand) {
      for (int d = 0; d < 2; ++d) plan.batch_strides[operand][d] = strides[operand][d];
    }
    ASSERT_EQ(kernels().gemm(plan), kernel::kOk);
    for (int64_t batch = 0; batch < 6; ++batch) {
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
          Value want = 0;
          for (int64_t l = 0; l < s.k; ++l) {
            want += a.get((batch * s.m + i) * s.k + l) * b.get((batch / 3 * s.k + l) * s.n + j);
          }
          ASSERT_LE(std::abs(c.get((batch * s.m + i) * s.n + j) - want), tolerance(dtype, 11));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tsr::test::test_gemm
