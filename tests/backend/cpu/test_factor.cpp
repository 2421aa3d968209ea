// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of factorizations: what they leave where, by the products that give the matrix back.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/error.h"
#include "kernel/linalg.h"

namespace tsr::test::test_factor {
namespace {

using kernel::FactorOp;
using kernel::FactorPlan;

const DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};

// Dense matrices of a batch, addressed by row and column whatever the order in memory.
struct Matrices {
  Matrices(DType dtype, int64_t count, int64_t m, int64_t n, bool columns = false)
      : array(dtype, {count, m, n}), rows(m), cols(n), by_columns(columns) {}

  [[nodiscard]] int64_t place(int64_t b, int64_t i, int64_t j) const {
    return b * rows * cols + (by_columns ? j * rows + i : i * cols + j);
  }
  [[nodiscard]] Value get(int64_t b, int64_t i, int64_t j) const {
    return array.get(place(b, i, j));
  }
  void set(int64_t b, int64_t i, int64_t j, Value value) { array.set(place(b, i, j), value); }

  Array array;
  int64_t rows, cols;
  bool by_columns;
};

void randomize(Matrices& matrices, double diagonal) {
  matrices.array.randomize(-1, 1, 5);
  for (int64_t b = 0; b < matrices.array.sizes()[0]; ++b) {
    for (int64_t i = 0; i < std::min(matrices.rows, matrices.cols); ++i) {
      matrices.set(b, i, i, matrices.get(b, i, i) + diagonal * (static_cast<double>(i) + 1));
    }
  }
}

struct Call {
  explicit Call(FactorOp op, Matrices& a, int64_t others = 0)
      : status(static_cast<size_t>(a.array.sizes()[0]), 77) {
    plan.op = op;
    plan.dtype = a.array.dtype();
    plan.batch = a.array.sizes()[0];
    plan.rows = a.rows;
    plan.columns = a.cols;
    plan.others = others;
    plan.a_step = a.rows * a.cols;
    plan.a = a.array.data();
    plan.status = status.data();
  }
  void operator()() { ASSERT_EQ(kernels().factor(plan), kernel::kOk) << last_error(); }

  FactorPlan plan{};
  std::vector<int32_t> status;
};

void expect_close(DType dtype, Value got, Value want) {
  const double slack = dtype == DType::kFloat32 || dtype == DType::kComplex64 ? 2e-4 : 1e-11;
  EXPECT_LE(std::abs(got - want), slack * (1 + std::abs(want))) << name(dtype);
}

TEST(Factor, lu_gives_back_the_rows_in_the_order_of_the_pivots) {
  for (const DType dtype : kDTypes) {
    Matrices a(dtype, 3, 4, 3, true);
    randomize(a, 0);
    const Matrices before = a;
    std::vector<int32_t> pivots(9);
    Call run(FactorOp::kLu, a);
    run.plan.pivots = pivots.data();
    run();
    for (int64_t b = 0; b < 3; ++b) {
      std::vector<int64_t> order{0, 1, 2, 3};
      for (int64_t i = 0; i < 3; ++i) {
        const auto other = static_cast<size_t>(pivots[static_cast<size_t>(b * 3 + i)] - 1);
        std::swap(order[static_cast<size_t>(i)], order[other]);
      }
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 3; ++j) {
          Value sum = i <= j ? a.get(b, i, j) : 0;
          for (int64_t l = 0; l < std::min(i, j + 1); ++l) sum += a.get(b, i, l) * a.get(b, l, j);
          expect_close(dtype, sum, before.get(b, order[static_cast<size_t>(i)], j));
        }
      }
      EXPECT_EQ(run.status[static_cast<size_t>(b)], 0);
    }
  }
}

TEST(Factor, solve_leaves_the_solution_for_one_column_and_for_several) {
  for (const DType dtype : kDTypes) {
    for (const int64_t others : {1, 3}) {
      Matrices a(dtype, 2, 5, 5);
      Matrices x(dtype, 2, 5, others);
      randomize(a, 2);
      x.array.randomize(-1, 1, 9);
      const Matrices before = a;
      const Matrices sides = x;
      std::vector<int32_t> pivots(10);
      Call run(FactorOp::kSolve, a, others);
      run.plan.b = x.array.data();
      run.plan.pivots = pivots.data();
      run();
      for (int64_t i = 0; i < 2 * 5 * others; ++i) {
        const int64_t b = i / (5 * others), row = i / others % 5, column = i % others;
        Value sum = 0;
        for (int64_t l = 0; l < 5; ++l) sum += before.get(b, row, l) * x.get(b, l, column);
        expect_close(dtype, sum, sides.get(b, row, column));
      }
    }
  }
}

// ---- Sizes of several blocks and panels ----

// A value of max |P L U - A|, by the definition.
double lu_defect(const Matrices& lu, const Matrices& before, const std::vector<int32_t>& pivots) {
  std::vector<int64_t> order(static_cast<size_t>(lu.rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[i], order[static_cast<size_t>(pivots[i] - 1)]);
  double worst = 0;
  for (int64_t i = 0; i < lu.rows; ++i) {
    for (int64_t j = 0; j < lu.cols; ++j) {
      Value sum = i <= j ? lu.get(0, i, j) : 0;
      for (int64_t l = 0; l < std::min(i, j + 1); ++l) sum += lu.get(0, i, l) * lu.get(0, l, j);
      worst = std::max(worst, std::abs(sum - before.get(0, order[static_cast<size_t>(i)], j)));
    }
  }
  return worst;
}

TEST(Factor, lu_of_many_panels_has_multipliers_up_to_1) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{16, 16}, {17, 33}, {70, 45}, {45, 70}}) {
      Matrices a(dtype, 1, m, n, true);
      a.array.randomize(-1, 1, 5);
      const Matrices before = a;
      std::vector<int32_t> pivots(static_cast<size_t>(std::min(m, n)));
      Call run(FactorOp::kLu, a);
      run.plan.pivots = pivots.data();
      run();
      EXPECT_LE(lu_defect(a, before, pivots), dtype == DType::kFloat32 ? 1e-5 : 1e-13) << m << n;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < std::min(i, n); ++j) EXPECT_LE(std::abs(a.get(0, i, j)), 1);
      }
      EXPECT_EQ(run.status[0], 0);
    }
  }
}

TEST(Factor, lu_names_the_first_zero_pivot_behind_the_first_panel) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    Matrices a(dtype, 1, 60, 60, true);
    for (int64_t i = 0; i < 60; ++i) {
      for (int64_t j = 0; j < 60; ++j) a.set(0, i, j, i == j && i != 40 && i != 50 ? 2 : 0);
    }
    std::vector<int32_t> pivots(60);
    Call run(FactorOp::kLu, a);
    run.plan.pivots = pivots.data();
    run();
    EXPECT_EQ(run.status[0], 41);
    for (int32_t i = 0; i < 60; ++i) EXPECT_EQ(pivots[static_cast<size_t>(i)], i + 1);
  }
}

TEST(Factor, lu_takes_the_first_of_equal_pivots) {
  Matrices a(DType::kFloat32, 1, 40, 1, true);
  for (int64_t i = 0; i < 40; ++i) a.set(0, i, 0, i == 21 || i == 37 ? -3.0 : 1.0);
  std::vector<int32_t> pivots(1);
  Call run(FactorOp::kLu, a);
  run.plan.pivots = pivots.data();
  run();
  EXPECT_EQ(pivots[0], 22);
}

TEST(Factor, large_triangles_are_solved_for_every_form) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (int flags = 0; flags < 16; ++flags) {
      const bool upper = (flags & 1) != 0, unit = (flags & 2) != 0, columns = (flags & 4) != 0;
      const int64_t n = 75, others = (flags & 8) != 0 ? 37 : 9;
      Matrices a(dtype, 1, n, n, columns);
      Matrices x(dtype, 1, n, others);
      a.array.randomize(-0.05, 0.05, 5);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          // What is not read must not count.
          const bool read = upper ? i < j : i > j;
          if (i == j || !read) a.set(0, i, j, i == j && !unit ? 1.5 + 0.1 * (i % 7) : NAN);
        }
      }
      x.array.randomize(-1, 1, 9);
      const Matrices sides = x;
      Call run(FactorOp::kTriangularSolve, a, others);
      run.plan.b = x.array.data();
      run.plan.upper = upper ? 1 : 0;
      run.plan.unit = unit ? 1 : 0;
      run.plan.transposed = columns ? 1 : 0;
      run();
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t column = 0; column < others; ++column) {
          Value sum = unit ? x.get(0, i, column) : a.get(0, i, i) * x.get(0, i, column);
          for (int64_t l = upper ? i + 1 : 0; l < (upper ? n : i); ++l)
            sum += a.get(0, i, l) * x.get(0, l, column);
          const double slack = dtype == DType::kFloat32 ? 3e-6 : 1e-14;
          ASSERT_LE(std::abs(sum - sides.get(0, i, column)), slack) << flags << " " << i;
        }
      }
    }
  }
}

// The reciprocal of such a number overflows, or has lost bits.
TEST(Factor, triangles_divide_by_numbers_without_a_normal_reciprocal) {
  for (const double number : {1e-40, 2e38, 0.0}) {
    Matrices a(DType::kFloat32, 1, 20, 20);
    Matrices x(DType::kFloat32, 1, 20, 16);
    for (int64_t i = 0; i < 20; ++i) {
      for (int64_t j = 0; j < 20; ++j) a.set(0, i, j, i == j ? (i == 7 ? number : 2.0) : 0.0);
      for (int64_t j = 0; j < 16; ++j) x.set(0, i, j, i == 7 && number > 0 ? number : 2.0);
    }
    Call run(FactorOp::kTriangularSolve, a, 16);
    run.plan.b = x.array.data();
    run();
    // Behind an infinity, 0 times it is NaN.
    for (int64_t i = 0; i < (number > 0 ? 20 : 8); ++i) {
      const bool infinite = i == 7 && number == 0;
      EXPECT_EQ(x.get(0, i, 3).real(), infinite ? HUGE_VAL : 1.0) << number << " " << i;
    }
  }
}

TEST(Factor, solutions_and_inverses_of_many_blocks_give_the_sides_back) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const int64_t n = 83, others = 21;
    Matrices a(dtype, 1, n, n);
    Matrices x(dtype, 1, n, others);
    randomize(a, 0.5);
    x.array.randomize(-1, 1, 9);
    const Matrices before = a;
    const Matrices sides = x;
    std::vector<int32_t> pivots(static_cast<size_t>(n));
    Call run(FactorOp::kSolve, a, others);
    run.plan.b = x.array.data();
    run.plan.pivots = pivots.data();
    run();
    Matrices inverse = before;
    Call invert(FactorOp::kInverse, inverse);
    invert.plan.pivots = pivots.data();
    invert();
    const double slack = dtype == DType::kFloat32 ? 2e-3 : 1e-11;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Value sum = 0, one = 0;
        for (int64_t l = 0; l < n; ++l) {
          one += before.get(0, i, l) * inverse.get(0, l, j);
          if (j < others) sum += before.get(0, i, l) * x.get(0, l, j);
        }
        EXPECT_LE(std::abs(one - (i == j ? 1.0 : 0.0)), slack);
        if (j < others) {
          EXPECT_LE(std::abs(sum - sides.get(0, i, j)), slack);
        }
      }
    }
  }
}

TEST(Factor, triangles_are_read_by_rows_and_by_columns) {
  for (const DType dtype : kDTypes) {
    for (int flags = 0; flags < 16; ++flags) {
      const bool upper = (flags & 1) != 0, unit = (flags & 2) != 0, columns = (flags & 4) != 0;
      const int64_t others = (flags & 8) != 0 ? 3 : 1;
      Matrices a(dtype, 1, 4, 4, columns);
      Matrices x(dtype, 2, 4, others);
      randomize(a, 2);
      x.array.randomize(-1, 1, 9);
      const Matrices sides = x;
      Call run(FactorOp::kTriangularSolve, a, others);
      std::vector<int32_t> status(2, 77);
      run.plan.batch = 2;
      run.plan.a_step = 0;
      run.plan.status = status.data();
      run.plan.b = x.array.data();
      run.plan.upper = upper ? 1 : 0;
      run.plan.unit = unit ? 1 : 0;
      run.plan.transposed = columns ? 1 : 0;
      run();
      for (int64_t i = 0; i < 2 * 4 * others; ++i) {
        const int64_t b = i / (4 * others), row = i / others % 4, column = i % others;
        Value sum = unit ? x.get(b, row, column) : a.get(0, row, row) * x.get(b, row, column);
        for (int64_t l = upper ? row + 1 : 0; l < (upper ? 4 : row); ++l)
          sum += a.get(0, row, l) * x.get(b, l, column);
        expect_close(dtype, sum, sides.get(b, row, column));
      }
    }
  }
}

TEST(Factor, singular_vectors_give_the_matrix_back_in_both_forms) {
  for (const DType dtype : kDTypes) {
    for (const bool full : {false, true}) {
      for (const auto& [m, n] : {std::pair<int64_t, int64_t>{5, 3}, {3, 5}, {4, 4}}) {
        const int64_t k = std::min(m, n);
        Matrices a(dtype, 2, m, n);
        randomize(a, 1);
        const Matrices before = a;
        Matrices u(dtype, 2, m, full ? m : k), vh(dtype, 2, full ? n : k, n);
        Array s(real_dtype(dtype), {2, k});
        Call run(FactorOp::kSvd, a, full ? m : k);
        run.plan.q = u.array.data();
        run.plan.v = vh.array.data();
        run.plan.values = s.data();
        run.plan.full = full ? 1 : 0;
        run();
        for (int64_t i = 0; i < 2 * m * n; ++i) {
          const int64_t b = i / (m * n), row = i / n % m, column = i % n;
          Value sum = 0;
          for (int64_t l = 0; l < k; ++l)
            sum += u.get(b, row, l) * s.get(b * k + l) * vh.get(b, l, column);
          expect_close(dtype, sum, before.get(b, row, column));
        }
      }
    }
  }
}

TEST(Factor, eigenvectors_of_a_triangle_are_those_of_the_hermitian_matrix) {
  for (const DType dtype : kDTypes) {
    for (const bool upper : {false, true}) {
      Matrices a(dtype, 2, 4, 4);
      randomize(a, 1);
      const auto entry = [&, before = a](int64_t b, int64_t i, int64_t j) {
        if (i == j) return Value(before.get(b, i, i).real());
        return (i < j) == upper ? before.get(b, i, j) : std::conj(before.get(b, j, i));
      };
      Array values(real_dtype(dtype), {2, 4});
      Call run(FactorOp::kEigh, a);
      run.plan.values = values.data();
      run.plan.upper = upper ? 1 : 0;
      run.plan.vectors = 1;
      run();
      a.by_columns = true;
      for (int64_t i = 0; i < 2 * 4 * 4; ++i) {
        const int64_t b = i / 16, row = i / 4 % 4, column = i % 4;
        Value product = 0;
        for (int64_t l = 0; l < 4; ++l) product += entry(b, row, l) * a.get(b, l, column);
        expect_close(dtype, product, values.get(b * 4 + column) * a.get(b, row, column));
      }
    }
  }
}

TEST(Factor, eigenvectors_of_real_matrices_come_in_conjugate_pairs) {
  Matrices a(DType::kFloat64, 1, 3, 3, true);
  const double turn[] = {0, 1, 0, -1, 0, 0, 0, 0, 2};
  for (int64_t i = 0; i < 9; ++i) a.array.set(i, turn[i]);
  const Matrices before = a;
  Matrices v(DType::kComplex128, 1, 3, 3, true);
  Array values(DType::kComplex128, {3});
  Call run(FactorOp::kEig, a);
  run.plan.values = values.data();
  run.plan.q = v.array.data();
  run();
  EXPECT_EQ(values.get(0), std::conj(values.get(1)));
  for (int64_t i = 0; i < 9; ++i) {
    Value product = 0;
    for (int64_t l = 0; l < 3; ++l) product += before.get(0, i / 3, l) * v.get(0, l, i % 3);
    expect_close(DType::kFloat64, product, values.get(i % 3) * v.get(0, i / 3, i % 3));
  }
}

TEST(Factor, a_status_tells_the_matrix_that_has_no_result) {
  Matrices a(DType::kFloat64, 3, 2, 2);
  for (int64_t b = 0; b < 3; ++b) {
    a.set(b, 0, 0, 1);
    a.set(b, 1, 1, b == 1 ? -1 : 1);
  }
  Call cholesky(FactorOp::kCholesky, a);
  cholesky();
  EXPECT_EQ(cholesky.status, (std::vector<int32_t>{0, 2, 0}));

  Matrices z(DType::kFloat64, 2, 2, 2);
  z.set(0, 0, 0, NAN);
  std::vector<double> values(4);
  Call svd(FactorOp::kSvd, z);
  svd.plan.values = values.data();
  svd();
  EXPECT_EQ(svd.status, (std::vector<int32_t>{kernel::kNotFinite, 0}));

  std::vector<int32_t> pivots(4);
  Matrices zeros(DType::kFloat64, 2, 2, 2);
  Call inverse(FactorOp::kInverse, zeros);
  inverse.plan.pivots = pivots.data();
  inverse();
  EXPECT_EQ(inverse.status, (std::vector<int32_t>{1, 1}));
}

TEST(Factor, other_dtypes_are_refused) {
  Matrices a(DType::kFloat16, 1, 2, 2);
  Call run(FactorOp::kCholesky, a);
  EXPECT_EQ(kernels().factor(run.plan), static_cast<kernel::Status>(Code::kDType));
}

}  // namespace
}  // namespace tsr::test::test_factor
