// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent cells, which are recurrences of one step, and the checks that they share with networks.
#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/nn/recurrent.h"
#include "ops/nn/recurrent_checks.h"
#include "ops/opmath.h"
#include "ops/result.h"
#include "ops/shape/shape.h"

namespace tsr::ops {

void check_batch_sizes(const std::vector<int64_t>& sizes, const Tensor& input) {
  TSR_CHECK(!sizes.empty(), Code::kValue, "batch_sizes", "expected at least 1 number, got none");
  int64_t total = 0;
  int64_t before = input.size(0);
  for (const int64_t size : sizes) {
    TSR_CHECK(size >= 1 && size <= before, Code::kValue, "batch_sizes",
              "expected numbers from 1 to ", before, " that never rise, got ", size);
    before = size;
    total += size;
    TSR_CHECK(total <= input.size(0), Code::kShape, "batch_sizes", "expected a sum of ",
              input.size(0), " for an input of shape ", input.sizes(), ", got more");
  }
  TSR_CHECK(total == input.size(0), Code::kShape, "batch_sizes", "expected a sum of ",
            input.size(0), " for an input of shape ", input.sizes(), ", got ", total);
}

void check_weights(kernel::GatesOp op, const RecurrenceInputs& part, const char* arg,
                   int64_t features, int64_t hidden, int64_t outputs) {
  const auto check = [arg](const Tensor& tensor, DimsView shape) {
    TSR_CHECK(!tensor.defined() || tensor.sizes() == Dims(shape), Code::kShape, arg,
              "expected shape ", shape, ", got ", tensor.sizes());
  };
  const int64_t rows = weight_blocks(op) * hidden;
  check(part.w_ih, Dims{rows, features});
  check(part.w_hh, Dims{rows, outputs});
  check(part.b_ih, Dims{rows});
  check(part.b_hh, Dims{rows});
  check(part.w_hr, Dims{outputs, hidden});
}

RecurrenceInputs in_opmath(const RecurrenceInputs& part) {
  const auto wide = [](const Tensor& t) { return t.defined() ? in_opmath(t) : t; };
  return {wide(part.x),    wide(part.h),    wide(part.c),    wide(part.w_ih),
          wide(part.w_hh), wide(part.b_ih), wide(part.b_hh), wide(part.w_hr)};
}

namespace {

using kernel::GatesOp;

void check_cell(const Tensor& input, const RecurrenceInputs& in) {
  TSR_CHECK(is_floating(input.dtype()), Code::kDType, "input", "expected a floating dtype, got ",
            input.dtype());
  TSR_CHECK(input.ndim() == 1 || input.ndim() == 2, Code::kShape, "input",
            "expected (batch, features) or (features), got shape ", input.sizes());
  const struct {
    const Tensor& tensor;
    const char* arg;
  } others[] = {{in.h, "hx"},      {in.c, "hx"},      {in.w_ih, "w_ih"},
                {in.w_hh, "w_hh"}, {in.b_ih, "b_ih"}, {in.b_hh, "b_hh"}};
  for (const auto& other : others) {
    if (other.tensor.defined()) check_like(other.tensor, other.arg, input);
  }
  TSR_CHECK(in.b_ih.defined() == in.b_hh.defined(), Code::kInvalidArgument,
            in.b_ih.defined() ? "b_hh" : "b_ih", "expected both biases or none, got one");
}

RecurrenceOutputs run_cell(GatesOp op, const Tensor& input, const RecurrenceInputs& given) {
  check_cell(input, given);
  TSR_CHECK(given.w_ih.ndim() == 2, Code::kShape, "w_ih", "expected a matrix, got shape ",
            given.w_ih.sizes());
  const int64_t hidden = given.w_ih.size(0) / weight_blocks(op);
  const bool single = input.ndim() == 1;
  Dims state{hidden};
  if (!single) state.insert(0, input.size(0));
  for (const Tensor* tensor : {&given.h, &given.c}) {
    TSR_CHECK(!tensor->defined() || tensor->sizes() == state, Code::kShape, "hx", "expected shape ",
              state, " for an input of shape ", input.sizes(), ", got ", tensor->sizes());
  }
  check_weights(op, given, "w_ih", input.size(input.ndim() - 1), hidden, hidden);
  RecurrenceInputs in = in_opmath(given);
  const auto matrix = [single](const Tensor& t) {
    return t.defined() && single ? expand_dims(t, 0) : t;
  };
  in.x = matrix(in_opmath(input));
  in.h = matrix(in.h);
  in.c = matrix(in.c);
  RecurrenceSpec spec;
  spec.op = op;
  spec.sizes = {in.x.size(0)};
  RecurrenceOutputs out = recurrence(spec, in);
  const auto finished = [&](const Tensor& t) {
    return t.defined() ? astype(reshape(t, state), input.dtype()) : t;
  };
  return {{}, finished(out.h), finished(out.c)};
}

}  // namespace

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, std::span<const Tensor> hx,
                                     const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                                     const Tensor& b_hh) {
  TSR_CHECK(hx.size() == 2, Code::kValue, "hx", "expected the two states h and c, got ", hx.size(),
            " tensors");
  RecurrenceOutputs out =
      run_cell(GatesOp::kLstm, input, {{}, hx[0], hx[1], w_ih, w_hh, b_ih, b_hh, {}});
  return {out.h, out.c};
}
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh) {
  return run_cell(GatesOp::kGru, input, {{}, hx, {}, w_ih, w_hh, b_ih, b_hh, {}}).h;
}
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  return run_cell(GatesOp::kTanh, input, {{}, hx, {}, w_ih, w_hh, b_ih, b_hh, {}}).h;
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  return run_cell(GatesOp::kRelu, input, {{}, hx, {}, w_ih, w_hh, b_ih, b_hh, {}}).h;
}

}  // namespace tsr::ops
