// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// scatter, scatter_add and scatter_reduce; the ops with one index for each slice are these with an
// index that repeats.
#include "ops/index/scatter.h"

#include "autograd/error_node.h"
#include "autograd/forward.h"
#include "base/error.h"
#include "base/scalar_range.h"
#include "ops/create/create.h"
#include "ops/index/along_axis.h"
#include "ops/index/index.h"
#include "ops/index/mask.h"
#include "ops/pointwise/complex_parts.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/read.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/sum_to.h"
#include "ops/samples.h"
#include "ops/shape/arrange.h"
#include "ops/shape/slice.h"
#include "tensor/promotion.h"

namespace tsr::ops {
namespace {

using kernel::IndexOp;

void check_scatter_source(const Tensor& input, const Tensor& source, const Tensor& index) {
  check_same_device(input, source, "source");
  TSR_CHECK(can_cast_in_place(source.dtype(), input.dtype()), Code::kDType, "source",
            "expected a dtype that casts to ", input.dtype(), ", got ", source.dtype());
  TSR_CHECK(source.ndim() == index.ndim(), Code::kShape, "source", "expected ", index.ndim(),
            " dimensions as the index, got shape ", source.sizes());
  for (int64_t d = 0; d < index.ndim(); ++d) {
    TSR_CHECK(index.size(d) <= source.size(d), Code::kShape, "source",
              "expected a source that is not shorter than the index, got shapes ", source.sizes(),
              " and ", index.sizes());
  }
}

// The part of a source that the index covers.
Tensor covered_memory(const Tensor& source, const Tensor& positions) {
  Tensor part = source.detached();
  for (int64_t d = 0; d < part.ndim(); ++d) part = narrow_memory(part, d, 0, positions.size(d));
  return part;
}
Tensor covered(const Tensor& source, const Tensor& positions) {
  Tensor part = source;
  for (int64_t d = 0; d < part.ndim(); ++d) {
    if (part.size(d) != positions.size(d)) part = narrow(part, d, 0, positions.size(d));
  }
  return part;
}

// The gradient of the whole source: what was not covered gets none.
Tensor uncovered(const Tensor& part, const Dims& sizes) {
  Dims padding;
  for (size_t d = sizes.size(); d-- > 0;) {
    padding.push_back(0);
    padding.push_back(sizes[d] - part.sizes()[d]);
  }
  return part.sizes() == sizes ? part : pad(part, padding);
}

// What is shaped like the gradient, at the saved positions.
Tensor gathered(const Backward& ctx, const Tensor& g, int64_t dim, Indices kind) {
  const Tensor positions = for_samples(ctx, ctx.saved(0));
  const Tensor found =
      gather_at(at_least_1d(ctx, g), dim + ctx.lead(), at_least_1d(ctx, positions), kind, {});
  return shaped_like(found, positions);
}

// ---- Writing ----

Tensor written_values(const Tensor& input, const Arg& source, const Tensor& positions) {
  if (source.is_tensor()) {
    check_scatter_source(input, source.tensor(), positions);
    return at_least_1d_memory(
        cast_memory(covered_memory(source.tensor(), positions), input.dtype()));
  }
  TSR_CHECK(source.scalar().category() <= category(input.dtype()), Code::kDType, "source",
            "expected a number that fits ", input.dtype(), ", got ", source.scalar());
  check_fits(source.scalar(), input.dtype(), "source");
  return full({}, source.scalar(), input.dtype(), input.device());
}

Tensor scatter_write(const Tensor& input, int64_t axis, const Tensor& index, const Arg& source,
                     const Out& out);

// What is shaped like the gradient, with zeros at the saved positions.
Tensor erased(const Backward& ctx, const Tensor& g, int64_t dim) {
  const Tensor positions = at_least_1d(ctx, for_samples(ctx, ctx.saved(0)));
  return shaped_like(scatter_write(at_least_1d(ctx, g), dim + ctx.lead(), positions, 0, {}), g);
}

// d input = g with zeros at the places, d source = g gathered.
Tensor scatter_write(const Tensor& input, int64_t axis, const Tensor& index, const Arg& source,
                     const Out& out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Tensor positions = index_array(index, input.device(), "index");
  check_gather(input, dim, positions);
  const Tensor values = written_values(input, source, positions);
  const Tensor none;
  const Tensor& given = source.is_tensor() ? source.tensor() : none;
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, given);
  if (grad) check_saves({save_input(positions)});
  Result result = allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad,
                                 {out.is_inplace() ? &none : &input, &positions, &values});
  if (!result.value().is_same(input)) copy_memory(result.value(), input);
  const Tensor array = at_least_1d_memory(result.value());
  const Tensor flat = at_least_1d_memory(positions);
  launch_index(IndexOp::kPut, gather_walk(array, dim, flat, Indices::kNotNegative), array, values);
  Tensor output = result.finish();
  if (!grad) return output;
  const Dims sizes = given.defined() ? given.sizes() : Dims();
  const TakesBatches derivative{[dim, sizes](Backward& ctx) {
    const Tensor& g = ctx.grad();
    if (ctx.needs(0)) ctx.set(0, erased(ctx, g, dim));
    if (ctx.result_count() > 1 && ctx.needs(1)) {
      ctx.set(1, uncovered(gathered(ctx, g, dim, Indices::kNotNegative), ctx.batched(sizes)));
    }
  }};
  // The same write, so of several elements in one place the same one remains.
  const auto tangent = [&](Forward& ctx) {
    const Tensor own = ctx.tangent_or_zeros(0, input);
    const Tensor pushed = given.defined() ? ctx.tangent_or_zeros(1, given) : Tensor();
    ctx.set(0, scatter_write(own, dim, positions, given.defined() ? Arg(pushed) : Arg(0), {}));
  };
  if (given.defined()) {
    record(output, "ScatterBackward", {input, given}, {save_input(positions)}, derivative, tangent);
  } else {
    record(output, "ScatterBackward", {input}, {save_input(positions)}, derivative, tangent);
  }
  return output;
}

// ---- Folding ----

enum class Fold : uint8_t { kSum, kProd, kMean, kAmax, kAmin };

Fold fold_of(std::string_view reduce) {
  if (reduce == "sum") return Fold::kSum;
  if (reduce == "prod") return Fold::kProd;
  if (reduce == "mean") return Fold::kMean;
  if (reduce == "amax") return Fold::kAmax;
  TSR_CHECK(reduce == "amin", Code::kValue, "reduce",
            "expected \"sum\", \"prod\", \"mean\", \"amax\" or \"amin\", got \"", reduce, "\"");
  return Fold::kAmin;
}

bool finds_extreme(Fold fold) {
  return fold == Fold::kAmax || fold == Fold::kAmin;
}

// A call of scatter_reduce, as its derivative needs it.
struct Reducing {
  Fold fold;
  bool include_self;
  int64_t dim;
  Dims source_sizes;

  // How many numbers each place of a tensor of shape `sizes` is the mean of; 1 where it is none.
  [[nodiscard]] Tensor counts(const Dims& sizes, const Tensor& positions, DType dtype) const;
  void fold_memory(const Tensor& target, const Tensor& positions, const Tensor& part) const;
  void differentiate(Backward& ctx) const;

 private:
  [[nodiscard]] Tensor sum_at(const Tensor& values, const Dims& sizes,
                              const Tensor& positions) const;
  // g where the own value counts, zero elsewhere.
  [[nodiscard]] Tensor own(const Backward& ctx, const Tensor& g) const;
  void differentiate_mean(Backward& ctx) const;
  void differentiate_product(Backward& ctx) const;
  void differentiate_extreme(Backward& ctx) const;
  void set_source(Backward& ctx, const Tensor& part) const;
};

Tensor Reducing::sum_at(const Tensor& values, const Dims& sizes, const Tensor& positions) const {
  return scatter_add_at(zeros_like_shape(sizes, values.dtype(), values.device()), dim, positions,
                        values, Indices::kNotNegative, {});
}

Tensor Reducing::counts(const Dims& sizes, const Tensor& positions, DType dtype) const {
  const Tensor found = sum_at(ones(positions.sizes(), dtype, positions.device()), sizes, positions);
  return include_self ? add(found, 1) : maximum(found, 1);
}

// target, which holds the input, = its fold with the part of the source.
void Reducing::fold_memory(const Tensor& target, const Tensor& positions,
                           const Tensor& part) const {
  const Tensor array = at_least_1d_memory(target);
  const Tensor flat = at_least_1d_memory(positions);
  const Tensor values = at_least_1d_memory(cast_memory(part, target.dtype()));
  const auto walk = [&](const Tensor& each) {
    return gather_walk(each, dim, flat, Indices::kNotNegative);
  };
  if (!include_self) {
    // One of the values themselves changes no maximum and no minimum.
    const Tensor start = finds_extreme(fold) ? values
                                             : full({}, fold == Fold::kProd ? 1 : 0, target.dtype(),
                                                    target.device());
    launch_index(IndexOp::kPut, walk(array), array, start);
  }
  if (fold == Fold::kSum || fold == Fold::kMean) {
    launch_accumulate(array, values, walk);
  } else {
    const IndexOp op = fold == Fold::kProd   ? IndexOp::kMultiply
                       : fold == Fold::kAmax ? IndexOp::kMaximum
                                             : IndexOp::kMinimum;
    launch_index(op, walk(array), array, values);
  }
  if (fold != Fold::kMean) return;
  const Unrecorded guard;
  const bool whole = !is_differentiable(target.dtype());
  const DType counting = whole ? DType::kInt64 : real_dtype(target.dtype());
  const Tensor number = counts(target.sizes(), positions, counting);
  const Tensor total = target.detached();
  copy_memory(target, whole ? floor_divide(total, cast_memory(number, target.dtype()))
                            : divide(total, number));
}

Tensor Reducing::own(const Backward& ctx, const Tensor& g) const {
  return include_self ? g : erased(ctx, g, dim);
}

void Reducing::set_source(Backward& ctx, const Tensor& part) const {
  ctx.set(1, uncovered(part, ctx.batched(source_sizes)));
}

// What does not depend on the gradient is the same for all samples of a batch, so these three
// compute it once.

void Reducing::differentiate(Backward& ctx) const {
  if (fold == Fold::kProd) return differentiate_product(ctx);
  if (finds_extreme(fold)) return differentiate_extreme(ctx);
  differentiate_mean(ctx);
}

// Of sums as well, where no count divides.
void Reducing::differentiate_mean(Backward& ctx) const {
  Tensor share = in_opmath(ctx.grad());
  if (fold == Fold::kMean) {
    const Dims sizes(share.sizes().begin() + ctx.lead(), share.sizes().end());
    share = divide(share, counts(sizes, ctx.saved(0), real_dtype(share.dtype())));
  }
  if (ctx.needs(0)) ctx.set(0, own(ctx, share));
  if (ctx.needs(1)) set_source(ctx, gathered(ctx, share, dim, Indices::kNotNegative));
}

// What the factors of each place have in common.
struct Factors {
  Tensor whole;     // the product of all
  Tensor nonzero;   // the product of those that are not zero
  Tensor zeros;     // how many are zero
  Tensor zero_sum;  // the sum of those that are zero; undefined if nobody differentiates it

  // At the places of a source.
  template <class At>
  [[nodiscard]] Factors gathered(const At& at) const {
    return {at(whole), at(nonzero), at(zeros), zero_sum.defined() ? at(zero_sum) : Tensor()};
  }
};

// `others` are differentiated right once (below), but twice only where at most two factors are
// zero.
Tensor differentiable_once(const Tensor& others, const Tensor& factor, const Tensor& zeros) {
  Tensor alias = others.detached();
  record(alias, "OtherFactorsBackward", {others, factor}, {save_input(factor), save_input(zeros)},
         TakesBatches{[](Backward& ctx) {
           ctx.set(0, ctx.grad());
           if (!ctx.create_graph() || !read<bool>(any(greater(ctx.saved(1), 2)))) return;
           const Tensor own = ctx.saved(0);
           const Tensor none =
               zeros_like_shape(ctx.batched(own.sizes()), own.dtype(), own.device());
           ctx.set(1, delay_error(none, {&own, 1},
                                  "scatter_reduce: expected at most two zeros among the factors of "
                                  "one place for the third derivative of a product, got more"));
         }});
  return alias;
}

// The product of all factors but this one. Of the products that a zero makes 0, those whose
// derivative is not 0 are written with the zeros in them: that of all by a factor that is not zero,
// and beside one of two zeros the other one.
Tensor other_factors(const Tensor& factor, const Factors& all) {
  const Tensor is_zero = equal(factor, 0);
  const Tensor without = divide(all.whole, where(is_zero, 1, factor));
  const Tensor beside = where(equal(all.zeros, 1), all.nonzero, 0);
  if (!all.zero_sum.defined()) return conj_of(where(is_zero, beside, without));
  const Tensor other_zero = subtract(all.zero_sum, where(is_zero, factor, 0));
  const Tensor beside_two = where(equal(all.zeros, 2), multiply(all.nonzero, other_zero), beside);
  const Tensor others = where(is_zero, beside_two, without);
  return conj_of(differentiable_once(others, factor, all.zeros));
}

void Reducing::differentiate_product(Backward& ctx) const {
  const Tensor g = in_opmath(ctx.grad());
  const Tensor positions = ctx.saved(0);
  const Tensor self = in_opmath(ctx.saved(1));
  const Tensor given = covered(in_opmath(ctx.saved(2)), positions);
  const Tensor part = astype(given, self.dtype());
  const DType counting = real_dtype(g.dtype());
  const auto folded = [&](const Tensor& own_part, const Tensor& parts, const char* reduce) {
    return scatter_reduce(own_part, dim, positions, parts, reduce, include_self);
  };
  const Tensor self_zero = equal(self, 0);
  const Tensor part_zero = equal(part, 0);
  Factors all;
  all.zeros = folded(astype(self_zero, counting), astype(part_zero, counting), "sum");
  all.nonzero = folded(where(self_zero, 1, self), where(part_zero, 1, part), "prod");
  if (ctx.create_graph() && needs_grad(self, part)) {
    all.whole = folded(self, part, "prod");
    all.zero_sum = folded(where(self_zero, self, 0), where(part_zero, part, 0), "sum");
  } else {
    all.whole = where(equal(all.zeros, 0), all.nonzero, 0);
  }
  if (ctx.needs(0)) {
    ctx.set(0, include_self ? multiply(g, other_factors(self, all)) : own(ctx, g));
  }
  if (!ctx.needs(1)) return;
  const auto at = [&](const Tensor& t) {
    return gather_at(t, dim, positions, Indices::kNotNegative, {});
  };
  set_source(ctx, multiply(gathered(ctx, g, dim, Indices::kNotNegative),
                           other_factors(part, all.gathered(at))));
}

// Each of the equal elements gets its share; what no element equals is NaN and gives none.
void Reducing::differentiate_extreme(Backward& ctx) const {
  const Tensor g = in_opmath(ctx.grad());
  const Tensor positions = ctx.saved(0);
  const Tensor result = ctx.saved(3).detached();
  const auto at = [&](const Tensor& t) {
    return gather_at(t, dim, positions, Indices::kNotNegative, {});
  };
  const Tensor part = covered(ctx.saved(2).detached(), positions);
  const Tensor same = astype(equal(ctx.saved(1).detached(), result), g.dtype());
  const Tensor own_hits = include_self ? same : scatter_write(same, dim, positions, 0, {});
  const Tensor hits = astype(equal(part, at(result)), g.dtype());
  const Tensor found = add(own_hits, sum_at(hits, result.sizes(), positions));
  const Tensor share = divide(g, maximum(found, 1));
  if (ctx.needs(0)) ctx.set(0, multiply(share, own_hits));
  if (ctx.needs(1)) {
    set_source(ctx, multiply(gathered(ctx, share, dim, Indices::kNotNegative), hits));
  }
}

bool is_short(DType dtype) {
  return kernel::opmath(dtype) != dtype;
}

void record_reduce(const Tensor& output, const Tensor& input, const Tensor& before,
                   const Tensor& source, const Tensor& positions, const Reducing& call) {
  const TakesBatches derivative{[call](Backward& ctx) { call.differentiate(ctx); }};
  const Save own = save_input(before, input);
  if (call.fold == Fold::kProd) {
    record(output, "ScatterProdBackward", {input, source},
           {save_input(positions), own, save_input(source)}, derivative);
  } else if (finds_extreme(call.fold)) {
    record(output, "ScatterExtremeBackward", {input, source},
           {save_input(positions), own, save_input(source), save_output(output)}, derivative);
  } else {
    record(output, call.fold == Fold::kSum ? "ScatterSumBackward" : "ScatterMeanBackward",
           {input, source}, {save_input(positions)}, derivative);
  }
}

}  // namespace

// d input = g, d source = g gathered.
Tensor scatter_add_at(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                      Indices kind, const Out& out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Tensor positions = index_array(index, input.device(), "index");
  check_gather(input, dim, positions);
  check_scatter_source(input, source, positions);
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, source);
  if (grad) check_saves({save_input(positions)});
  const bool inplace = out.is_inplace();
  const Tensor none;
  Result result = allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad,
                                 {inplace ? &none : &input, &positions, &source});
  if (!result.value().is_same(input)) copy_memory(result.value(), input);
  const Tensor part = covered_memory(source, positions);
  const Tensor flat = at_least_1d_memory(positions);
  launch_accumulate(at_least_1d_memory(result.value()), at_least_1d_memory(part),
                    [&](const Tensor& array) { return gather_walk(array, dim, flat, kind); });
  Tensor output = result.finish();
  if (grad) {
    record(output, "ScatterAddBackward", {input, source}, {save_input(positions)},
           TakesBatches{[sizes = source.sizes(), dim](Backward& ctx) {
             if (ctx.needs(0)) ctx.set(0, ctx.grad());
             if (!ctx.needs(1)) return;
             ctx.set(1, uncovered(gathered(ctx, ctx.grad(), dim, Indices::kFromEnd),
                                  ctx.batched(sizes)));
           }});
  }
  return output;
}

Tensor scatter_add(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                   Out out) {
  return scatter_add_at(input, axis, index, source, Indices::kNotNegative, out);
}

Tensor scatter(const Tensor& input, int64_t axis, const Tensor& index, const Arg& source,
               std::string_view reduce, Out out) {
  if (reduce == "replace") return scatter_write(input, axis, index, source, out);
  TSR_CHECK(reduce == "add" || reduce == "multiply", Code::kValue, "reduce",
            "expected \"replace\", \"add\" or \"multiply\", got \"", reduce, "\"");
  Tensor values;
  if (source.is_tensor()) {
    values = source.tensor();
  } else {
    const Tensor number = written_values(input, source, index);
    values = make_view(number, index.sizes(), Dims(index.sizes().size()), number.offset());
  }
  if (reduce == "add") return scatter_add(input, axis, index, values, out);
  return scatter_reduce(input, axis, index, values, "prod", true, out);
}

Tensor scatter_reduce(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                      std::string_view reduce, bool include_self, Out out) {
  const Reducing call{fold_of(reduce), include_self, wrap_axis(axis, input.ndim()), source.sizes()};
  TSR_CHECK(!finds_extreme(call.fold) || !is_complex(input.dtype()), Code::kDType, "input",
            "expected a real dtype for ", reduce, ", got ", input.dtype());
  const Tensor positions = index_array(index, input.device(), "index");
  check_gather(input, call.dim, positions);
  check_scatter_source(input, source, positions);
  const bool grad = is_differentiable(input.dtype()) && needs_grad(input, source);
  const bool reads_input = call.fold == Fold::kProd || finds_extreme(call.fold);
  if (grad) check_saves({save_input(positions), save_input(reads_input ? source : positions)});
  const bool inplace = out.is_inplace();
  const Tensor before = grad && inplace && reads_input ? copy_before_write(input) : input;
  const Tensor none;
  Result result = allocate_apart(out, input.sizes(), input.dtype(), input.device(), grad,
                                 {inplace ? &none : &input, &positions, &source});
  // Products and means of 16-bit floats are rounded once.
  const bool widens =
      is_short(input.dtype()) && (call.fold == Fold::kProd || call.fold == Fold::kMean);
  const Tensor target = widens ? cast_memory(input.detached(), DType::kFloat32) : result.value();
  if (!widens && !target.is_same(input)) copy_memory(target, input);
  call.fold_memory(target, positions, covered_memory(source, positions));
  if (widens) copy_memory(result.value(), target);
  Tensor output = result.finish();
  if (grad) record_reduce(output, input, before, source, positions, call);
  return output;
}

// ---- One index for each position of an axis ----

namespace {

// The index shown for every element of its slices, and the shape of those.
struct Slices {
  Tensor positions;
  Dims shape;

  Slices(const Tensor& input, int64_t dim, const Tensor& index) : shape(input.sizes()) {
    TSR_CHECK(index.ndim() <= 1, Code::kShape, "index", "expected at most 1 dimension, got shape ",
              index.sizes());
    const Tensor line = at_least_1d_memory(index_array(index, input.device(), "index"));
    TSR_CHECK(input.ndim() > 0 || line.numel() == 1, Code::kShape, "index",
              "expected one position for a 0-dim input, got shape ", index.sizes());
    Dims strides(shape.size());
    if (input.ndim() > 0) {
      shape[static_cast<size_t>(dim)] = line.numel();
      strides[static_cast<size_t>(dim)] = line.stride(0);
    }
    checked_numel(shape, static_cast<int64_t>(sizeof(int64_t)));
    positions = make_view(line, shape, strides, line.offset());
  }
  void check(const Tensor& source) const {
    TSR_CHECK(source.sizes() == shape, Code::kShape, "source", "expected shape ", shape,
              ", which is the input's with as many positions as the index, got ", source.sizes());
  }
};

}  // namespace

Tensor index_add(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                 const Scalar& alpha, Out out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Slices slices(input, dim, index);
  slices.check(source);
  const bool plain = alpha.category() <= Category::kFloating && alpha.to<double>() == 1;
  return scatter_add(input, dim, slices.positions, plain ? source : multiply(source, alpha), out);
}

Tensor index_copy(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                  Out out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Slices slices(input, dim, index);
  slices.check(source);
  return scatter_write(input, dim, slices.positions, source, out);
}

Tensor index_fill(const Tensor& input, int64_t axis, const Tensor& index, const Arg& value,
                  Out out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Slices slices(input, dim, index);
  if (!value.is_tensor()) return scatter_write(input, dim, slices.positions, value, out);
  TSR_CHECK(value.tensor().ndim() == 0, Code::kShape, "value",
            "expected a number or a 0-dim tensor, got shape ", value.tensor().sizes());
  check_same_device(input, value.tensor(), "value");
  // By a mask, so that a place that the index names twice gives the value its gradient once.
  const Tensor mask = zeros_like_shape(input.sizes(), DType::kBool, input.device());
  scatter_write(mask, dim, slices.positions, true, Out::inplace(mask));
  return masked_fill(input, mask, value, out);
}

Tensor index_reduce(const Tensor& input, int64_t axis, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self, Out out) {
  const int64_t dim = wrap_axis(axis, input.ndim());
  const Slices slices(input, dim, index);
  slices.check(source);
  return scatter_reduce(input, dim, slices.positions, source, reduce, include_self, out);
}

}  // namespace tsr::ops
