// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Factorizations of matrices: one plan for solving, inverting, eigenvalues, singular values and
// least squares.
#pragma once

#include "kernel/contract.h"

namespace tsr::kernel {

// What is computed of every matrix A of the batch. "Rows" says that the rows of an operand are
// contiguous, "columns" that its columns are; k is min(rows, columns) of A.
enum class FactorOp : int32_t {
  // a (rows): Hermitian, of which one triangle is read; becomes its Cholesky factor, zero in the
  // other triangle. `upper`: A = Uᴴ U, else A = L Lᴴ.
  kCholesky,
  // a (columns): becomes the L (unit diagonal, not stored) and U of A = P L U; pivots (k): row i
  // was swapped with row pivots[i], counted from 1. status: the first zero on the diagonal of U.
  kLu,
  // a (rows): destroyed; b (rows, columns-of-A x others): becomes A⁻¹ B; pivots: scratch.
  kSolve,
  // a (rows): becomes A⁻¹; pivots: scratch.
  kInverse,
  // a (rows, or columns when `transposed`): triangular and not written; b (rows): becomes A⁻¹ B.
  // `upper`, `unit` describe A. Zeros on the diagonal give infinities.
  kTriangularSolve,
  // a (columns): becomes R in its upper triangle and, below it, the reflectors; values (k): their
  // scalars, or null; q (columns, rows-of-A x others): Q, or null.
  kQr,
  // a (rows): Hermitian, of which one triangle (`upper`) is read; destroyed, or becomes the
  // eigenvectors (columns) when `vectors`; values (real): ascending.
  kEigh,
  // a (rows): destroyed; values (k, real): descending; q (rows, rows-of-A x others) and v (rows,
  // others' x columns-of-A): the left vectors and the adjoint of the right ones, or both null.
  // `full`: all vectors, else k.
  kSvd,
  // a (columns): destroyed; values (complex); q (complex, columns): right eigenvectors of length 1,
  // or null.
  kEig,
  // a (columns): destroyed; b (columns, max(rows, columns) x others): becomes the solution of least
  // norm in its first rows; values (k, real): singular values, or null; pivots (1): the rank, which
  // counts the values above `tolerance` times the largest one, also if `values` is null.
  kLeastSquares,
  kCount
};

// Matrices of float32, float64 or complex numbers. All operands are dense, matrix after matrix;
// only a of kTriangularSolve may be one matrix for the whole batch (a_step 0). No size is 0. A
// matrix that has no such result leaves numbers without meaning and a status other than 0; the call
// succeeds.
struct FactorPlan {
  FactorOp op;
  DType dtype;
  Place place;
  int64_t batch;
  int64_t rows, columns;  // of A
  int64_t others;         // columns of b or q
  int64_t a_step;         // from one A to the next, in elements
  void* a;
  void* b;
  void* q;
  void* v;
  void* values;
  int32_t* pivots;
  // In the host's memory, one for each matrix: 0, kNotFinite, or LAPACK's number (the first zero
  // pivot, the first minor that is not positive, how much did not converge).
  int32_t* status;
  double tolerance;
  int32_t upper, unit, transposed, vectors, full;
};
inline const char* name_of(const FactorPlan& plan) noexcept {
  return name_in({"cholesky", "lu", "solve", "inverse", "solve_triangular", "qr", "eigh", "svd",
                  "eig", "lstsq"},
                 plan.op);
}

// The status of a matrix with NaN or infinities, where the method would not end or mean nothing.
inline constexpr int32_t kNotFinite = -1;

}  // namespace tsr::kernel
