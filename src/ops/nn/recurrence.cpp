// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/recurrence.h"

#include <algorithm>
#include <array>

#include "autograd/engine.h"
#include "autograd/forward.h"
#include "autograd/record.h"
#include "autograd/tensor_grad.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/fixed_product.h"
#include "ops/linalg/gemm.h"
#include "ops/opmath.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/join.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::GatesOp;
using kernel::GatesPlan;

// Rows [first, first + count) of a matrix, and its transpose, without a node.
Tensor rows_of(const Tensor& matrix, int64_t first, int64_t count) {
  return make_view(matrix, Dims{count, matrix.size(1)}, matrix.strides(),
                   matrix.offset() + first * matrix.stride(0));
}
Tensor turned(const Tensor& matrix) {
  return make_view(matrix, Dims{matrix.size(1), matrix.size(0)},
                   Dims{matrix.stride(1), matrix.stride(0)}, matrix.offset());
}

// The time steps in the order in which a pass visits them: calls visit(first row, rows).
template <class Visit>
void for_steps(const std::vector<int64_t>& sizes, bool from_the_end, const Visit& visit) {
  int64_t first = 0;
  if (!from_the_end) {
    for (const int64_t rows : sizes) {
      visit(first, rows);
      first += rows;
    }
    return;
  }
  for (const int64_t rows : sizes) first += rows;
  for (size_t t = sizes.size(); t-- > 0;) {
    first -= sizes[t];
    visit(first, sizes[t]);
  }
}

std::byte* at_row(const Tensor& matrix, int64_t row) {
  return static_cast<std::byte*>(matrix.data()) + row * matrix.stride(0) * itemsize(matrix.dtype());
}
void* row_or_null(const Tensor& matrix, int64_t row) {
  return matrix.defined() ? at_row(matrix, row) : nullptr;
}

FixedProduct::Rows whole(const Tensor& matrix) {
  return {matrix.data(), matrix.stride(0)};
}

// What the forward keeps for the backward. With a projection, `raw` has the outputs before it.
struct Kept {
  Tensor gates, h_before, c_before, raw;
};

GatesPlan plan_of(const RecurrenceSpec& spec, const Tensor& gates, int64_t hidden) {
  GatesPlan plan{};
  plan.op = spec.op;
  plan.hidden = hidden;
  plan.place = kernel::place_on(gates.device());
  plan.dtype = gates.dtype();
  return plan;
}

// One bias per block of a row of gates. The GRU's last block has the state's own bias of n.
Tensor joined_bias(const RecurrenceSpec& spec, const RecurrenceInputs& in, int64_t hidden) {
  if (!in.b_ih.defined()) return {};
  if (spec.op != GatesOp::kGru) return add(in.b_ih, in.b_hh);
  const Tensor shared = add(narrow(in.b_ih, 0, 0, 2 * hidden), narrow(in.b_hh, 0, 0, 2 * hidden));
  const Tensor parts[] = {shared, narrow(in.b_ih, 0, 2 * hidden, hidden),
                          narrow(in.b_hh, 0, 2 * hidden, hidden)};
  return ops::concat(parts, 0);
}

RecurrenceInputs without_history(const RecurrenceInputs& in) {
  const auto plain = [](const Tensor& t) {
    return t.defined() ? contiguous_memory(t.detached()) : t;
  };
  return {plain(in.x),    plain(in.h),    plain(in.c),    plain(in.w_ih),
          plain(in.w_hh), plain(in.b_ih), plain(in.b_hh), plain(in.w_hr)};
}

// ---- forward ----

RecurrenceOutputs run_forward(const RecurrenceSpec& spec, const RecurrenceInputs& given,
                              Kept* kept) {
  const Unrecorded pause;
  const RecurrenceInputs in = without_history(given);
  const int64_t blocks = weight_blocks(spec.op);
  const int64_t hidden = in.w_ih.size(0) / blocks;
  const int64_t width = kernel::gates_width(spec.op) * hidden;
  const int64_t total = in.x.size(0);
  const DType dtype = in.x.dtype();
  const Device device = in.x.device();
  const bool gru = spec.op == GatesOp::kGru;
  const bool projected = in.w_hr.defined();

  // The input's products of all steps.
  const Tensor gates = empty(Dims{total, width}, dtype, device);
  FixedProduct(turned(in.w_ih), total).run(whole(in.x), whole(gates), total, false);
  const Tensor bias = joined_bias(spec, in, hidden);

  RecurrenceOutputs out;
  out.y = empty(Dims{total, in.h.size(1)}, dtype, device);
  out.h = clone(in.h);
  if (in.c.defined()) out.c = clone(in.c);
  Kept keep{gates, {}, {}, {}};
  if (kept != nullptr) {
    keep.h_before = empty(out.y.sizes(), dtype, device);
    if (in.c.defined()) keep.c_before = empty(Dims{total, hidden}, dtype, device);
  }
  if (projected) keep.raw = empty(Dims{total, hidden}, dtype, device);
  const Tensor product =
      gru ? empty(Dims{out.h.size(0), blocks * hidden}, dtype, device) : Tensor();

  FixedProduct by_state(turned(in.w_hh), total);
  GatesPlan plan = plan_of(spec, gates, hidden);
  plan.bias = data_or_null(bias);
  plan.product = data_or_null(product);
  plan.c = data_or_null(out.c);
  plan.h = projected ? nullptr : out.h.data();
  const Tensor& y = projected ? keep.raw : out.y;
  plan.y_step = y.stride(0);
  for_steps(spec.sizes, spec.reverse, [&](int64_t first, int64_t rows) {
    const FixedProduct::Rows target =
        gru ? whole(product) : FixedProduct::Rows{at_row(gates, first), width};
    by_state.run(whole(out.h), target, rows, !gru);
    plan.rows = rows;
    plan.gates = at_row(gates, first);
    plan.y = at_row(y, first);
    plan.h_before = projected ? nullptr : row_or_null(keep.h_before, first);
    plan.c_before = row_or_null(keep.c_before, first);
    kernel::launch(kernel::kGates, device, plan);
    if (!projected) return;
    const Tensor state = rows_of(out.h, 0, rows);
    if (keep.h_before.defined()) copy_memory(rows_of(keep.h_before, first, rows), state);
    launch_gemm(state, rows_of(keep.raw, first, rows), turned(in.w_hr));
    copy_memory(rows_of(out.y, first, rows), state);
  });
  if (kept != nullptr) *kept = keep;
  return out;
}

// ---- backward ----

// What a backward reads: the inputs, what the forward kept, and the gradients, which may be
// undefined.
struct Upstream {
  Tensor y, h, c;
};

// The gradients that pass through time.
struct Through {
  Tensor gates;    // of the input's products, (total, blocks hidden)
  Tensor product;  // of the state's products; the same tensor for all but the GRU
  Tensor outputs;  // of the projected outputs, if there is a projection
  Tensor h, c;     // of the first state
};

// A copy of a gradient in rows one behind the other, whatever its strides; zeros if it is
// undefined.
Tensor started(const Tensor& gradient, const Tensor& like) {
  if (!gradient.defined()) return zeros(like.sizes(), like.dtype(), like.device());
  Tensor copy = empty(like.sizes(), like.dtype(), like.device());
  copy_memory(copy, gradient);
  return copy;
}

Through through_time(const RecurrenceSpec& spec, const RecurrenceInputs& in, const Kept& kept,
                     const Upstream& up, bool needs_first_state) {
  const int64_t blocks = weight_blocks(spec.op);
  const int64_t hidden = in.w_ih.size(0) / blocks;
  const int64_t total = in.x.size(0);
  const DType dtype = in.x.dtype();
  const Device device = in.x.device();
  const bool gru = spec.op == GatesOp::kGru;
  const bool projected = in.w_hr.defined();

  Through result;
  result.gates = empty(Dims{total, blocks * hidden}, dtype, device);
  result.product = gru ? empty(result.gates.sizes(), dtype, device) : result.gates;
  result.h = started(up.h, in.h);
  if (in.c.defined()) result.c = started(up.c, in.c);
  const Tensor grad_y = up.y.defined() ? contiguous_memory(up.y) : up.y;
  if (projected) result.outputs = started(up.y, kept.h_before);
  const Tensor raw = projected ? empty(Dims{in.h.size(0), hidden}, dtype, device) : Tensor();

  FixedProduct to_state(in.w_hh, total);
  GatesPlan plan = plan_of(spec, result.gates, hidden);
  plan.backward = 1;
  plan.y_step = projected ? hidden : in.h.size(1);
  plan.grad_c = data_or_null(result.c);
  plan.grad_h = projected ? nullptr : result.h.data();
  int64_t left = total;
  for_steps(spec.sizes, !spec.reverse, [&](int64_t first, int64_t rows) {
    if (projected) {
      const Tensor outputs = rows_of(result.outputs, first, rows);
      add(outputs, rows_of(result.h, 0, rows), Out::inplace(outputs));
      launch_gemm(rows_of(raw, 0, rows), outputs, in.w_hr);
    }
    plan.rows = rows;
    plan.gates = at_row(kept.gates, first);
    plan.h_before = at_row(kept.h_before, first);
    plan.c_before = row_or_null(kept.c_before, first);
    plan.grad_y = projected ? raw.data() : row_or_null(grad_y, first);
    plan.grad_gates = at_row(result.gates, first);
    plan.grad_product = gru ? at_row(result.product, first) : nullptr;
    kernel::launch(kernel::kGates, device, plan);
    left -= rows;
    if (left > 0 || needs_first_state)
      to_state.run({at_row(result.product, first), blocks * hidden}, whole(result.h), rows, gru);
  });
  return result;
}

// leftᵀ right for matrices of one height, in parts of the height whose panels stay in a cache.
// `columns` keeps leftᵀ for a further product.
Tensor crossed(const Tensor& left, const Tensor& right, Tensor& columns) {
  constexpr int64_t kHeight = 4096;
  const int64_t height = left.size(0);
  const int64_t rows = left.size(1);
  Tensor result = empty(Dims{rows, right.size(1)}, left.dtype(), left.device());
  if (height == 0) {
    fill_memory(result, 0);
  } else if (!FixedProduct::packs(right, rows)) {
    if (result.numel() != 0) launch_gemm(result, turned(left), right);
  } else {
    if (!columns.defined()) columns = contiguous_memory(turned(left));
    for (int64_t first = 0; first < height; first += kHeight) {
      const int64_t count = std::min(kHeight, height - first);
      auto* start = static_cast<std::byte*>(columns.data()) + first * itemsize(left.dtype());
      FixedProduct(rows_of(right, first, count), rows)
          .run({start, height}, whole(result), rows, first > 0);
    }
  }
  return result;
}

void set_fused(Backward& ctx, const RecurrenceSpec& spec, const RecurrenceInputs& given,
               const Kept& kept) {
  const Unrecorded pause;
  const RecurrenceInputs in = without_history(given);
  const Upstream up{ctx.grad(0), ctx.grad(1), ctx.grad_count() > 2 ? ctx.grad(2) : Tensor()};
  const Through through = through_time(spec, in, kept, up, ctx.needs(1));
  if (ctx.needs(0)) {
    const Tensor dx = empty(in.x.sizes(), in.x.dtype(), in.x.device());
    FixedProduct(in.w_ih, dx.size(0)).run(whole(through.gates), whole(dx), dx.size(0), false);
    ctx.set(0, dx);
  }
  if (ctx.needs(1)) ctx.set(1, through.h);
  if (ctx.needs(2)) ctx.set(2, through.c);
  Tensor columns;
  if (ctx.needs(3)) ctx.set(3, crossed(through.gates, in.x, columns));
  if (spec.op == GatesOp::kGru) columns = {};
  if (ctx.needs(4)) ctx.set(4, crossed(through.product, kept.h_before, columns));
  const Dims steps{0};
  if (ctx.needs(5)) ctx.set(5, sum(through.gates, DimsView(steps)));
  if (ctx.needs(6)) ctx.set(6, sum(through.product, DimsView(steps)));
  columns = {};
  if (ctx.needs(7)) ctx.set(7, crossed(through.outputs, kept.raw, columns));
}

// A level of forward mode for a scope.
class OwnLevel {
 public:
  OwnLevel() : id_(enter_forward_level()) {}
  OwnLevel(const OwnLevel&) = delete;
  OwnLevel& operator=(const OwnLevel&) = delete;
  ~OwnLevel() { exit_forward_level(id_); }
  [[nodiscard]] int64_t id() const noexcept { return id_; }

 private:
  int64_t id_;
};

// The gradients of the composed form, which are recorded. An alias of each input cuts the history:
// an input may depend on another one.
void set_differentiable(Backward& ctx, const RecurrenceSpec& spec, const RecurrenceInputs& in) {
  const bool recorded = grad_enabled();
  const EnableGrad record_all;
  std::array<Tensor, kRecurrenceInputs> alias{in.x,    in.h,    in.c,    in.w_ih,
                                              in.w_hh, in.b_ih, in.b_hh, in.w_hr};
  std::vector<Tensor> wanted;
  for (size_t i = 0; i < alias.size(); ++i) {
    if (!alias[i].defined()) continue;
    alias[i] = multiply(alias[i], 1);
    if (!ctx.needs(i)) continue;
    if (!requires_grad(alias[i])) set_requires_grad(alias[i], true);
    wanted.push_back(alias[i]);
  }
  const RecurrenceOutputs out = composed_recurrence(
      spec, {alias[0], alias[1], alias[2], alias[3], alias[4], alias[5], alias[6], alias[7]});
  const Tensor results[] = {out.y, out.h, out.c};
  std::vector<Tensor> roots;
  std::vector<Tensor> grads;
  for (size_t k = 0; k < ctx.grad_count(); ++k) {
    if (!ctx.grad(k).defined() || !results[k].requires_grad()) continue;
    roots.push_back(results[k]);
    grads.push_back(ctx.grad(k));
  }
  const std::vector<Tensor> found = grad(roots, wanted, grads, {.create_graph = true}, true);
  size_t next = 0;
  for (size_t i = 0; i < alias.size(); ++i) {
    if (!alias[i].defined() || !ctx.needs(i)) continue;
    // Without grad mode only the tangents of the gradients are wanted.
    ctx.set(i, recorded || !found[next].defined() ? found[next] : ops::detach(found[next]));
    ++next;
  }
}

// The composed form with dual numbers at a level of its own, so that one pass gives all tangents.
void push_composed(Forward& ctx, const RecurrenceSpec& spec, const RecurrenceInputs& in) {
  const OwnLevel level;
  const auto dual = [&](const Tensor& value, size_t i) {
    return ctx.has(i) ? make_dual(value, ctx.tangent(i), level.id()) : value;
  };
  const RecurrenceOutputs out = composed_recurrence(
      spec, {dual(in.x, 0), dual(in.h, 1), dual(in.c, 2), dual(in.w_ih, 3), dual(in.w_hh, 4),
             dual(in.b_ih, 5), dual(in.b_hh, 6), dual(in.w_hr, 7)});
  const Tensor* results[] = {&out.y, &out.h, &out.c};
  for (size_t k = 0; k < 3; ++k) {
    if (results[k]->defined()) ctx.set(k, unpack_dual(*results[k], level.id()).tangent);
  }
}

}  // namespace

int64_t weight_blocks(GatesOp op) {
  switch (op) {
    case GatesOp::kLstm:
      return 4;
    case GatesOp::kGru:
      return 3;
    default:
      return 1;
  }
}

RecurrenceOutputs recurrence(const RecurrenceSpec& spec, const RecurrenceInputs& in) {
  const bool recording = needs_grad(in.x, in.h, in.c, in.w_ih, in.w_hh, in.b_ih, in.b_hh, in.w_hr);
  Kept kept;
  RecurrenceOutputs out = run_forward(spec, in, recording ? &kept : nullptr);
  if (!recording) return out;
  const auto derivative = [spec](Backward& ctx) {
    const auto saved = [&ctx](size_t i) { return ctx.saved(i); };
    const RecurrenceInputs inputs{saved(0), saved(1), saved(2), saved(3),
                                  saved(4), saved(5), saved(6), saved(7)};
    if (ctx.create_graph())
      set_differentiable(ctx, spec, inputs);
    else
      set_fused(ctx, spec, inputs, {saved(8), saved(9), saved(10), saved(11)});
  };
  const Tensor inputs[] = {in.x, in.h, in.c, in.w_ih, in.w_hh, in.b_ih, in.b_hh, in.w_hr};
  std::array<Save, kRecurrenceInputs + 4> saves{};
  for (size_t i = 0; i < kRecurrenceInputs; ++i) saves[i] = save_input(inputs[i]);
  const Tensor* others[] = {&kept.gates, &kept.h_before, &kept.c_before, &kept.raw};
  for (size_t i = 0; i < 4; ++i) saves[kRecurrenceInputs + i] = save_input(*others[i]);
  record_outputs({out.y, out.h, out.c}, "RecurrenceBackward", inputs, saves, derivative,
                 [&](Forward& ctx) { push_composed(ctx, spec, in); });
  return out;
}

}  // namespace tsr::ops
