// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// See Note [Derivatives between ranks].
#include "dist/functional.h"

#include "autograd/forward.h"
#include "autograd/record.h"
#include "base/error.h"
#include "dist/agreement.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/ternary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "optim/optimizer.h"

namespace tsr::dist::functional {
namespace {

using optim::Quiet;

// Whether a rank has an input that requires grad or has a tangent. Asked while the data move.
class AnyNeeds {
 public:
  AnyNeeds(Group& group, const Tensor& input) : own_(need_of(input)) {
    if (!recording_enabled() || !is_differentiable(input.dtype()) || group.size() == 1) return;
    const Quiet quiet;
    flag_ = ops::full(Dims{1}, Scalar(int64_t{own_}), DType::kInt32, input.device());
    work_ = group.all_reduce(flag_, ReduceOp::kMax);
  }
  // Undefined: nothing is to be recorded. Else the input to record, with zeros for the tangents
  // that it has not if another rank has some: the derivative is an operation of all ranks.
  [[nodiscard]] Tensor recorded(const Tensor& input) {
    const int32_t largest = answer();
    if (largest == kNothing) return {};
    return largest == kTangent && work_ ? with_tangents(input) : input;
  }

 private:
  static constexpr int32_t kNothing = 0, kGradient = 1, kTangent = 2;

  static int32_t need_of(const Tensor& input) {
    if (!needs_grad(input)) return kNothing;
    return has_tangent(input) ? kTangent : kGradient;
  }
  static Tensor with_tangents(Tensor input) {
    const int64_t innermost = current_forward_level();
    TSR_CHECK(innermost != kInnermostLevel, Code::kAutograd, nullptr,
              "expected a level of forward mode on each rank when one has an input with a tangent, "
              "got none on this rank");
    for (ForwardLevel* level = find_level(innermost); level != nullptr;
         level = outer_level(*level)) {
      if (tangent_of(input, *level).defined()) continue;
      const Tensor zeros = ops::zeros(input.sizes(), input.dtype(), input.device());
      input = make_dual(input, zeros, number_of(*level));
    }
    return input;
  }
  [[nodiscard]] int32_t answer() {
    if (!work_) return own_;
    const Quiet quiet;
    work_->wait();
    return *ops::to(flag_, Device{}, std::nullopt).data_as<int32_t>();
  }

  int32_t own_;
  Tensor flag_;
  WorkPtr work_;
};

// Starts an operation that writes no tensor of the caller, and waits for it. Returns the input to
// record; undefined: nothing is to be recorded. What this rank refuses is refused before anything
// is asked.
template <class Start>
Tensor run(Group& group, const Tensor& input, Start&& start) {
  WorkPtr work;
  {
    const Quiet quiet;
    work = start();
  }
  AnyNeeds any(group, input);
  {
    const Quiet quiet;
    work->wait();
  }
  return any.recorded(input);
}

Dims with_rows(const Tensor& tensor, int64_t rows) {
  Dims sizes(tensor.sizes().begin(), tensor.sizes().end());
  sizes[0] = rows;
  return sizes;
}

void check_rows(const Tensor& tensor) {
  TSR_CHECK(tensor.ndim() > 0, Code::kShape, "input", "expected at least one axis, got a scalar");
}

// The product of the other ranks' inputs.
Tensor product_of_others(const GroupPtr& group, const Tensor& input) {
  const Dims flat{1, input.numel()};
  const Tensor all = all_gather(group, ops::reshape(input, flat));
  Tensor product = ops::ones(Dims{input.numel()}, input.dtype(), input.device());
  for (int32_t rank = 0; rank < group->size(); ++rank) {
    if (rank != group->rank()) product = ops::multiply(product, ops::select(all, 0, rank));
  }
  return ops::reshape(product, Dims(input.sizes().begin(), input.sizes().end()));
}

void record_all_reduce(const GroupPtr& group, const Tensor& output, const Tensor& input,
                       ReduceOp op) {
  if (op == ReduceOp::kSum || op == ReduceOp::kAvg) {
    record(
        output, "AllReduceBackward", {input}, {},
        [group, op](Backward& ctx) { ctx.set(0, all_reduce(group, ctx.grad(), op)); },
        [&](Forward& ctx) { ctx.add(0, all_reduce(group, ctx.tangent(), op)); });
    return;
  }
  if (op == ReduceOp::kProd) {
    record(output, "AllReduceBackward", {input}, {save_input(input)}, [group](Backward& ctx) {
      const Tensor sum = all_reduce(group, ctx.grad(), ReduceOp::kSum);
      ctx.set(0, ops::multiply(sum, ops::conj(product_of_others(group, ctx.saved(0)))));
    });
    return;
  }
  record(output, "AllReduceBackward", {input}, {save_input(input), save_output(output)},
         [group](Backward& ctx) {
           const Tensor sum = all_reduce(group, ctx.grad(), ReduceOp::kSum);
           const Tensor chosen =
               ops::astype(ops::equal(ctx.saved(0), ctx.saved(1)), ctx.grad().dtype());
           Tensor count = all_reduce(group, chosen, ReduceOp::kSum);
           // A NaN equals nothing.
           count = ops::maximum(count, 1.0);
           ctx.set(0, ops::multiply(sum, ops::divide(chosen, count)));
         });
}

void record_reduce(const GroupPtr& group, const Tensor& output, const Tensor& input, ReduceOp op,
                   int32_t root) {
  TSR_CHECK(op == ReduceOp::kSum || op == ReduceOp::kAvg, Code::kNotImplemented, "op",
            "expected sum or avg of tensors that require grad, got ", name(op));
  const double factor = op == ReduceOp::kAvg ? 1.0 / group->size() : 1.0;
  record(
      output, "ReduceBackward", {input}, {},
      [group, root, factor](Backward& ctx) {
        ctx.set(0, ops::multiply(broadcast(group, ctx.grad(), root), factor));
      },
      [&](Forward& ctx) { ctx.add(0, reduce(group, ctx.tangent(), op, root)); });
}

std::vector<int64_t> equal_rows(const Tensor& tensor, int32_t size, const char* arg) {
  const int64_t rows = tensor.size(0);
  TSR_CHECK(rows % size == 0, Code::kShape, arg, "expected a length of axis 0 that ", size,
            " divides, got ", rows);
  return std::vector<int64_t>(static_cast<size_t>(size), rows / size);
}

std::vector<int64_t> rows_from_others(const GroupPtr& group, const Tensor& input,
                                      std::span<const int64_t> sent) {
  const Quiet quiet;
  const auto size = static_cast<size_t>(group->size());
  TSR_CHECK(sent.size() == size, Code::kValue, "input_splits", "expected one for each of the ",
            size, " ranks, got ", sent.size());
  // As tensors, on the device that the group knows.
  const Tensor mine = empty(Dims{group->size()}, DType::kInt64);
  std::copy(sent.begin(), sent.end(), mine.data_as<int64_t>());
  const Tensor there = ops::to(mine, input.device(), std::nullopt);
  const Tensor all = empty(Dims{group->size()}, DType::kInt64, input.device());
  group->all_to_all(all, there)->wait();
  const Tensor here = ops::to(all, Device{}, std::nullopt);
  return {here.data_as<int64_t>(), here.data_as<int64_t>() + size};
}

}  // namespace

Tensor all_reduce(const GroupPtr& group, const Tensor& input, ReduceOp op) {
  Tensor output;
  const Tensor recorded = run(*group, input, [&] {
    output = ops::clone(input);
    return group->all_reduce(output, op);
  });
  if (recorded.defined()) record_all_reduce(group, output, recorded, op);
  return output;
}

Tensor reduce(const GroupPtr& group, const Tensor& input, ReduceOp op, int32_t root) {
  Tensor output;
  const Tensor recorded = run(*group, input, [&] {
    output = ops::clone(input);
    return group->reduce(output, op, root);
  });
  if (group->rank() != root) {
    const Quiet quiet;
    ops::zero_(output);
  }
  if (recorded.defined()) record_reduce(group, output, recorded, op, root);
  return output;
}

Tensor broadcast(const GroupPtr& group, const Tensor& input, int32_t root) {
  Tensor output;
  const Tensor recorded = run(*group, input, [&] {
    output = group->rank() == root ? ops::clone(input) : ops::empty_like(input);
    return group->broadcast(output, root);
  });
  if (recorded.defined()) {
    record(
        output, "BroadcastBackward", {recorded}, {},
        [group, root](Backward& ctx) {
          ctx.set(0, reduce(group, ctx.grad(), ReduceOp::kSum, root));
        },
        [&](Forward& ctx) { ctx.add(0, broadcast(group, ctx.tangent(), root)); });
  }
  return output;
}

Tensor all_gather(const GroupPtr& group, const Tensor& input) {
  check_rows(input);
  Tensor output;
  const Tensor recorded = run(*group, input, [&] {
    output = empty(with_rows(input, input.size(0) * group->size()), input.dtype(), input.device());
    return group->all_gather(output, input);
  });
  if (recorded.defined()) {
    record(
        output, "AllGatherBackward", {recorded}, {},
        [group](Backward& ctx) { ctx.set(0, reduce_scatter(group, ctx.grad(), ReduceOp::kSum)); },
        [&](Forward& ctx) { ctx.add(0, all_gather(group, ctx.tangent())); });
  }
  return output;
}

Tensor reduce_scatter(const GroupPtr& group, const Tensor& input, ReduceOp op) {
  check_rows(input);
  const int64_t rows = equal_rows(input, group->size(), "input")[0];
  const bool linear = op == ReduceOp::kSum || op == ReduceOp::kAvg;
  // The derivative of the others needs all results.
  if (!linear && recording_enabled() && is_differentiable(input.dtype())) {
    return ops::narrow(all_reduce(group, input, op), 0, rows * group->rank(), rows);
  }
  Tensor output;
  const Tensor recorded = run(*group, input, [&] {
    output = empty(with_rows(input, rows), input.dtype(), input.device());
    return group->reduce_scatter(output, input, op);
  });
  if (recorded.defined()) {
    const double factor = op == ReduceOp::kAvg ? 1.0 / group->size() : 1.0;
    record(
        output, "ReduceScatterBackward", {recorded}, {},
        [group, factor](Backward& ctx) {
          ctx.set(0, ops::multiply(all_gather(group, ctx.grad()), factor));
        },
        [&](Forward& ctx) { ctx.add(0, reduce_scatter(group, ctx.tangent(), op)); });
  }
  return output;
}

Tensor all_to_all(const GroupPtr& group, const Tensor& input,
                  std::optional<std::span<const int64_t>> output_splits,
                  std::optional<std::span<const int64_t>> input_splits) {
  check_rows(input);
  std::vector<int64_t> out, in;
  if (input_splits) {
    out.assign(input_splits->begin(), input_splits->end());
  } else {
    out = equal_rows(input, group->size(), "input");
  }
  if (output_splits) {
    in.assign(output_splits->begin(), output_splits->end());
  } else {
    in = input_splits ? rows_from_others(group, input, out) : out;
  }
  Tensor output;
  const Tensor recorded = run(*group, input, [&] {
    output =
        empty(with_rows(input, sum_of_parts(in, "output_splits")), input.dtype(), input.device());
    return group->all_to_all(output, input, in, out);
  });
  if (recorded.defined()) {
    record(
        output, "AllToAllBackward", {recorded}, {},
        [group, in, out](Backward& ctx) { ctx.set(0, all_to_all(group, ctx.grad(), out, in)); },
        [&](Forward& ctx) { ctx.add(0, all_to_all(group, ctx.tangent(), in, out)); });
  }
  return output;
}

namespace {

void refuse_second_derivative(const Backward& ctx) {
  TSR_CHECK(!ctx.create_graph(), Code::kNotImplemented, nullptr,
            "expected a backward without create_graph through messages, got one with it");
}

}  // namespace

Tensor send(const GroupPtr& group, const Tensor& input, int32_t peer, int32_t tag) {
  Tensor token;
  {
    const Quiet quiet;
    // A copy of its own, which the operation keeps until the receiver has it.
    const WorkPtr sent = group->send(ops::clone(input), peer, tag);
    token = ops::zeros(Dims{}, input.dtype(), input.device());
  }
  if (is_differentiable(input.dtype()) && needs_grad(input)) {
    const Dims sizes(input.sizes().begin(), input.sizes().end());
    record(token, "SendBackward", {input}, {}, [group, peer, tag, sizes](Backward& ctx) {
      refuse_second_derivative(ctx);
      const Tensor like = ops::empty(sizes, ctx.grad().dtype(), ctx.grad().device());
      ctx.set(0, recv(group, like, peer, tag, false));
    });
  }
  return token;
}

Tensor recv(const GroupPtr& group, const Tensor& like, int32_t peer, int32_t tag,
            bool requires_grad) {
  TSR_CHECK(!requires_grad || is_differentiable(like.dtype()), Code::kDType, "like",
            "expected a floating or complex dtype of a tensor that requires grad, got ",
            like.dtype());
  Tensor output;
  {
    const Quiet quiet;
    output = empty(Dims(like.sizes().begin(), like.sizes().end()), like.dtype(), like.device());
    group->recv(output, peer, tag)->wait();
  }
  if (requires_grad && grad_enabled()) {
    record(output, "RecvBackward", {}, {}, [group, peer, tag](Backward& ctx) {
      refuse_second_derivative(ctx);
      send(group, ctx.grad(), peer, tag);
    });
  }
  return output;
}

}  // namespace tsr::dist::functional
