// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Traces: the fields of records, and that a recorder always ends its trace.
#include <algorithm>
#include <limits>

#include "support.hpp"

namespace test_tracing {

using namespace tessera;
using namespace tessera::test;

namespace {

const TraceRecord& only(const std::vector<TraceRecord>& records, tsr_trace_kind kind,
                        std::string_view name) {
  const auto fits = [&](const TraceRecord& r) { return r.kind == kind && r.name == name; };
  EXPECT_EQ(std::count_if(records.begin(), records.end(), fits), 1) << name;
  return *std::find_if(records.begin(), records.end(), fits);
}

TEST(Tracing, a_call_has_its_kernel_and_its_arguments) {
  const Tensor x = ones({2, 3});
  TraceRecorder recorder(TSR_TRACE_EVERYTHING | TSR_TRACE_ARGUMENTS);
  const Tensor y = exp(x);
  const Tensor joined = concat({x, x});
  const auto records = recorder.stop();
  const TraceRecord& call = only(records, TSR_TRACE_CALL, "exp");
  const TraceRecord& kernel = only(records, TSR_TRACE_LAUNCH, "exp");
  EXPECT_EQ(kernel.family, "unary");
  EXPECT_EQ(kernel.parent, call.correlation);
  EXPECT_TRUE(call.begin <= kernel.begin && kernel.begin <= kernel.end && kernel.end <= call.end);
  const auto& input = std::get<DescribedTensor>(call.args.at(0));
  EXPECT_EQ(input.dtype, TSR_FLOAT32);
  EXPECT_EQ(input.shape, (std::vector<int64_t>{2, 3}));
  const TraceRecord& list = only(records, TSR_TRACE_CALL, "concat");
  EXPECT_EQ(std::get<std::vector<DescribedTensor>>(list.args.at(0)).size(), 2U);
  EXPECT_EQ(recorder.lost(), 0);
}

TEST(Tracing, functions_that_are_no_operators_show_their_arguments) {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  const Tensor total = sum(x);
  TraceRecorder recorder(TSR_TRACE_CALL | TSR_TRACE_ARGUMENTS);
  total.backward();
  const optim::SGD optimizer({x}, optim::SGDOptions());
  const auto records = recorder.stop();
  const TraceRecord& backward = only(records, TSR_TRACE_CALL, "tsr_backward");
  EXPECT_EQ(std::get<std::vector<DescribedTensor>>(backward.args.at(0)).size(), 1U);
  const TraceRecord& made = only(records, TSR_TRACE_CALL, "tsr_optimizer_new");
  EXPECT_NE(std::get<const void*>(made.args.at(0)), nullptr);
}

TEST(Tracing, an_integer_that_only_uint64_can_hold_is_shown_whole) {
  const Tensor x = zeros({1}, kUInt64);
  TraceRecorder recorder(TSR_TRACE_CALL | TSR_TRACE_ARGUMENTS);
  const Tensor y = x + std::numeric_limits<uint64_t>::max();
  const auto records = recorder.stop();
  const TraceRecord& call = only(records, TSR_TRACE_CALL, "add");
  EXPECT_EQ(std::get<uint64_t>(call.args.at(1)), std::numeric_limits<uint64_t>::max());
}

TEST(Tracing, a_recorder_that_goes_out_of_scope_ends_its_trace) {
  {
    TraceRecorder recorder;
    EXPECT_THROW(TraceRecorder(), InvalidValueError);
  }
  TraceRecorder again(TSR_TRACE_LAUNCH, 1);
  static_cast<void>(exp(ones({1})));
  static_cast<void>(exp(ones({1})));
  EXPECT_EQ(again.stop().size(), 1U);
  EXPECT_GE(again.lost(), 1);
}

}  // namespace
}  // namespace test_tracing
