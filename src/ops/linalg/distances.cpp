// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/distances.h"

#include <algorithm>
#include <cstdint>

#include "autograd/forward.h"
#include "base/error.h"
#include "base/parallel.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/create/indices.h"
#include "ops/index/index.h"
#include "ops/index/scatter.h"
#include "ops/linalg/gemm.h"
#include "ops/linalg/matmul.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

constexpr int64_t kManyRows = 25;
// Bytes of differences that are made at a time for each thread: they stay in the second-level cache
// of its core.
constexpr int64_t kDifferences = int64_t{1} << 20;

void check_order(double p) {
  TSR_CHECK(p >= 0, Code::kValue, "p", "expected a number of at least 0, got ", p);
}

void check_vectors(const Tensor& x, const char* arg) {
  TSR_CHECK(is_floating(x.dtype()), Code::kDType, arg, "expected a floating dtype, got ",
            x.dtype());
  TSR_CHECK(x.ndim() >= 2, Code::kShape, arg, "expected at least 2 dimensions, got shape ",
            x.sizes());
}

bool wants_product(std::string_view mode, double p, int64_t rows) {
  if (mode == "use_mm_for_euclid_dist") return p == 2;
  if (mode == "donot_use_mm_for_euclid_dist") return false;
  TSR_CHECK(mode == "use_mm_for_euclid_dist_if_necessary", Code::kValue, "compute_mode",
            "expected use_mm_for_euclid_dist_if_necessary, use_mm_for_euclid_dist or ",
            "donot_use_mm_for_euclid_dist, got \"", mode, "\"");
  return p == 2 && rows > kManyRows;
}

// ---- distances; the leading axes agree ----

// The distances by their differences, without autograd: of all pairs or, `condensed`, of the rows
// of one list.
Tensor by_differences(const Tensor& x1, const Tensor& x2, double p, bool condensed) {
  const Tensor a = contiguous_memory(x1);
  const Tensor b = condensed ? a : contiguous_memory(x2);
  Dims sizes(a.sizes().begin(), a.sizes().end() - 1);
  sizes.push_back(b.size(b.ndim() - 2));
  kernel::DistancePlan plan{};
  plan.condensed = condensed ? 1 : 0;
  plan.rows1 = a.size(a.ndim() - 2);
  plan.rows2 = b.size(b.ndim() - 2);
  plan.components = a.size(a.ndim() - 1);
  plan.p = p;
  plan.place = kernel::place_on(a.device());
  plan.dtype = a.dtype();
  if (condensed) sizes = Dims{plan.rows1 * std::max<int64_t>(plan.rows1 - 1, 0) / 2};
  const Tensor distances = empty(sizes, a.dtype(), a.device());
  if (distances.numel() == 0) return distances;
  plan.batch = condensed ? 1 : distances.numel() / (plan.rows1 * plan.rows2);
  plan.x1 = a.data();
  plan.x2 = b.data();
  plan.output = distances.data();
  kernel::launch(kernel::kDistance, a.device(), plan);
  return distances;
}

// sqrt(|a|² - 2 a b + |b|²) as one matrix product: (-2 a, |a|², 1) (b, 1, |b|²).
Tensor by_product(const Tensor& x1, const Tensor& x2) {
  const Dims last{-1};
  const auto squares = [&](const Tensor& x) { return sum(multiply(x, x), DimsView(last), true); };
  const Tensor square1 = squares(x1);
  const Tensor square2 = squares(x2);
  const Tensor left[] = {multiply(x1, -2), square1, ones_like(square1)};
  const Tensor right[] = {x2, ones_like(square2), square2};
  const Tensor squared = matmul(ops::concat(left, -1), matrix_transpose(ops::concat(right, -1)));
  maximum(squared, 0, Out::inplace(squared));
  return sqrt(squared, Out::inplace(squared));
}

// Σ_j q_ij (a_i - b_j), where q are the gradients over the distances.
Tensor pull(const Tensor& q, const Tensor& a, const Tensor& b) {
  const Dims last{-1};
  return subtract(multiply(a, sum(q, DimsView(last), true)), matmul(q, b));
}

// g / r, and 0 where the distance r is 0.
Tensor over_distances(const Tensor& g, const Tensor& r) {
  const Tensor same = equal(r, 0);
  return where(same, 0, divide(g, where(same, 1, r)));
}

// The derivatives of p = 2, which are matrix products and need no differences of all pairs.
void pull_euclidean(Backward& ctx) {
  const Tensor q = over_distances(ctx.grad(), ctx.saved(2));
  if (ctx.needs(0)) ctx.set(0, pull(q, ctx.saved(0), ctx.saved(1)));
  if (ctx.needs(1)) ctx.set(1, pull(matrix_transpose(q), ctx.saved(1), ctx.saved(0)));
}

Tensor all_pairs(const Tensor& x1, const Tensor& x2, double p, bool product) {
  Tensor distances;
  {
    const Unrecorded guard;
    distances = product ? by_product(x1, x2) : by_differences(x1, x2, p, false);
  }
  if (needs_grad(x1, x2)) {
    record(distances, "CdistBackward", {x1, x2},
           {save_input(x1), save_input(x2), save_output(distances)},
           TakesBatches{[p](Backward& ctx) {
             if (p == 2) return pull_euclidean(ctx);
             const Tensor differences =
                 subtract(expand_dims(ctx.saved(0), -2), expand_dims(ctx.saved(1), -3));
             const Dims last{-1};
             const Tensor g = norm_gradient(expand_dims(ctx.grad(), -1), differences,
                                            expand_dims(ctx.saved(2), -1), p, DimsView(last));
             const Dims rows{-3};
             const Dims others{-2};
             if (ctx.needs(0)) ctx.set(0, sum(g, DimsView(others)));
             if (ctx.needs(1)) ctx.set(1, negative(sum(g, DimsView(rows))));
           }});
  }
  return distances;
}

// The numbers of the rows of each pair i < j.
Tensor pairs_of(const Tensor& input) {
  return triu_indices(input.size(0), input.size(0), 1, DType::kInt64, input.device());
}

// The derivative of p = 2 without a graph, a few rows at a time: the differences of all pairs would
// take the memory of as many rows as there are pairs. Each sample's row is a row of one product.
Tensor pulled_rows(const Backward& ctx) {
  const Unrecorded guard;
  const Tensor rows = contiguous_memory(ctx.saved(0).detached());
  const int64_t count = rows.size(0);
  const int64_t samples = ctx.lead() == 0 ? 1 : ctx.samples();
  const Tensor pairs = pairs_of(rows);
  const Tensor places = add(multiply(select(pairs, 0, 0), count), select(pairs, 0, 1));
  const Tensor slopes = over_distances(ctx.grad().detached(), ctx.saved(1).detached());
  const Tensor none = zeros(Dims{samples, count * count}, rows.dtype(), rows.device());
  const Dims for_each{samples, places.numel()};
  const Tensor flat = scatter(none, 1, broadcast_to(places, for_each), reshape(slopes, for_each));
  const Tensor above = reshape(flat, Dims{samples, count, count});
  const Tensor q = add(above, matrix_transpose(above));
  const Tensor result = empty(Dims{samples, count, rows.size(1)}, rows.dtype(), rows.device());
  const int64_t step =
      std::max<int64_t>(1, num_threads() * kDifferences / (rows.numel() * rows.itemsize()));
  for (int64_t first = 0; first < count; first += step) {
    const int64_t some = std::min(step, count - first);
    const auto of_rows = [&](const Tensor& all) {
      return make_view(all, Dims{some, samples, all.size(2)}, Dims{all.stride(1), all.stride(0), 1},
                       all.offset() + first * all.stride(1));
    };
    const Tensor away = subtract(expand_dims(narrow_memory(rows, 0, first, some), 1), rows);
    const Tensor target = of_rows(result);
    if (target.stride(1) <= INT32_MAX) {
      launch_gemm(target, of_rows(q), away);
    } else {  // too far for BLAS
      const Tensor near = empty(target.sizes(), rows.dtype(), rows.device());
      launch_gemm(near, of_rows(q), away);
      copy_memory(target, near);
    }
  }
  return reshape(result, ctx.batched(rows.sizes()));
}

Tensor each_pair(const Tensor& x, double p) {
  const Tensor distances = by_differences(x, x, p, true);
  if (needs_grad(x)) {
    record(
        distances, "PdistBackward", {x}, {save_input(x), save_output(distances)},
        TakesBatches{[p](Backward& ctx) {
          if (p == 2 && !ctx.create_graph() && ctx.saved(0).numel() != 0 && ctx.grad().numel() != 0)
            return ctx.set(0, pulled_rows(ctx));
          const Tensor rows = ctx.saved(0);
          const Tensor pairs = pairs_of(rows);
          const Tensor first = select(pairs, 0, 0);
          const Tensor second = select(pairs, 0, 1);
          const Tensor differences =
              subtract(index_select(rows, 0, first), index_select(rows, 0, second));
          const Dims last{-1};
          const Tensor g = norm_gradient(expand_dims(ctx.grad(), -1), differences,
                                         expand_dims(ctx.saved(1), -1), p, DimsView(last));
          const Tensor none = zeros(ctx.batched(rows.sizes()), rows.dtype(), rows.device());
          const Tensor towards = index_add(none, ctx.lead(), first, g);
          ctx.set(0, index_add(towards, ctx.lead(), second, g, -1));
        }});
  }
  return distances;
}

Tensor with_leading(const Tensor& x, DimsView leading) {
  Dims sizes(leading.begin(), leading.end());
  sizes.push_back(x.size(x.ndim() - 2));
  sizes.push_back(x.size(x.ndim() - 1));
  return broadcast_to(x, sizes);
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode) {
  check_vectors(x1, "x1");
  check_vectors(x2, "x2");
  check_same_device(x1, x2, "x2");
  check_order(p);
  const int64_t rows1 = x1.size(x1.ndim() - 2);
  const int64_t rows2 = x2.size(x2.ndim() - 2);
  const int64_t components = x1.size(x1.ndim() - 1);
  TSR_CHECK(x2.size(x2.ndim() - 1) == components, Code::kShape, "x2", "expected vectors of ",
            components, " components, as x1 has, got shape ", x2.sizes());
  const bool product = wants_product(compute_mode, p, std::max(rows1, rows2));
  const DType dtype = promote_types(x1.dtype(), x2.dtype());
  const Dims leading = broadcast_shapes(DimsView(x1.sizes()).first(x1.sizes().size() - 2),
                                        DimsView(x2.sizes()).first(x2.sizes().size() - 2), "x2");
  const DType opmath = kernel::opmath(dtype);
  const Tensor a = with_leading(astype(x1, opmath), leading);
  const Tensor b = with_leading(astype(x2, opmath), leading);
  return astype(all_pairs(a, b, p, product), dtype);
}

Tensor pdist(const Tensor& input, double p) {
  check_vectors(input, "input");
  check_order(p);
  TSR_CHECK(input.ndim() == 2, Code::kShape, "input", "expected a matrix, got shape ",
            input.sizes());
  return astype(each_pair(in_opmath(input), p), input.dtype());
}

}  // namespace tsr::ops
