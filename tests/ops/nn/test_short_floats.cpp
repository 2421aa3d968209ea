// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 in the families that compute in float32: the values of float32 rounded once,
// for every layout, with the memory use of 16 bits; and the fallback for a backend without such
// kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "base/parallel.h"
#include "kernel/registry.h"
#include "memory/allocator.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/nn/conv.h"
#include "ops/nn/loss.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"
#include "ops/nn/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/arrange.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "support/effort.h"
#include "support/gradcheck.h"
#include "tests/ops/tensors.h"

namespace tsr::test_short_floats {
namespace {

using test::error_of;
using test::values;
using testing::random_leaf;
using List = std::vector<Tensor>;

constexpr DType kShort[] = {DType::kFloat16, DType::kBFloat16};
const Tensor kNone;

// Half the distance between neighbouring numbers, relative to them.
double rounding(DType dtype) {
  return dtype == DType::kFloat16 ? 0x1p-11 : 0x1p-8;
}

// One op over floating inputs; the first input is the large one.
struct Op {
  const char* name;
  std::vector<Dims> sizes;
  std::vector<Dims> large;  // for peak memory; empty: not measured
  std::function<Tensor(const List&)> run;
  // Additional rounding errors of the backward, because it reads the 16-bit result of the forward;
  // in units of the largest gradient.
  double slack = 0;
  // int64 elements that the op keeps, in units of the first input's elements; they do not shrink
  // with 16 bits.
  double integers = 0;
  // Additional rounding errors of the result: a bias may be added after rounding.
  double value_slack = 0;
};

Tensor numbers_mod(DimsView sizes, int64_t modulus) {
  const Tensor result = empty(sizes, DType::kInt64);
  for (int64_t i = 0; i < result.numel(); ++i)
    result.data_as<int64_t>()[i] = (i * 7 + i / 5) % modulus;
  return result;
}

Tensor conv(const List& t, int64_t groups, bool padded = true) {
  const Dims one{1};
  return ops::conv2d(t[0], t[1], t.size() > 2 ? t[2] : kNone, {},
                     padded ? ops::SpatialArg(DimsView(one)) : ops::SpatialArg(), {}, groups);
}
Tensor batch_norm(const List& t) {
  return ops::batch_norm(t[0], kNone, kNone, t[1], t[2], true);
}
const Dims kThree{3};
const Dims kTwo{2};
const Dims kOne{1};

const std::vector<Op>& table() {
  static const std::vector<Op> kTable{
      {"softmax of the last axis",
       {{3, 5, 37}},
       {{512, 2048}},
       [](const List& t) { return ops::softmax(t[0], -1); },
       4},
      {"softmax of an inner axis",
       {{3, 35, 37}},
       {{64, 128, 128}},
       [](const List& t) { return ops::softmax(t[0], 1); },
       4},
      {"log_softmax",
       {{4, 37}},
       {{512, 2048}},
       [](const List& t) { return ops::log_softmax(t[0], -1); },
       4},
      {"log_softmax of the first axis",
       {{21, 40}},
       {{128, 8192}},
       [](const List& t) { return ops::log_softmax(t[0], 0); },
       4},
      {"layer_norm",
       {{3, 4, 37}, {37}, {37}},
       {{512, 2048}, {2048}, {2048}},
       [](const List& t) {
         const Dims last{t[0].size(-1 + t[0].ndim())};
         return ops::layer_norm(t[0], last, t[1], t[2]);
       }},
      {"batch_norm of images",
       {{3, 5, 7, 9}, {5}, {5}},
       {{16, 32, 48, 48}, {32}, {32}},
       batch_norm},
      {"batch_norm of rows", {{170, 70}, {70}, {70}}, {{4096, 256}, {256}, {256}}, batch_norm},
      {"group_norm of images",
       {{3, 6, 70, 71}, {6}, {6}},
       {{16, 32, 48, 48}, {32}, {32}},
       [](const List& t) { return ops::group_norm(t[0], 2, t[1], t[2]); }},
      {"group_norm of rows",
       {{17, 70}, {70}, {70}},
       {},
       [](const List& t) { return ops::group_norm(t[0], 7, t[1], t[2]); }},
      {"instance_norm",
       {{3, 5, 7, 9}, {5}, {5}},
       {},
       [](const List& t) { return ops::instance_norm(t[0], kNone, kNone, t[1], t[2]); }},
      {"rms_norm",
       {{3, 4, 37}, {37}},
       {{512, 2048}, {2048}},
       [](const List& t) {
         const Dims last{t[0].size(-1 + t[0].ndim())};
         return ops::rms_norm(t[0], last, t[1], 1e-5);
       }},
      {"local_response_norm",
       {{2, 5, 7, 9}},
       {},
       [](const List& t) { return ops::local_response_norm(t[0], 3, 0.5); }},
      {"max_pool3d",
       {{2, 2, 5, 6, 7}},
       {},
       [](const List& t) {
         return ops::max_pool<3>(t[0], kThree, DimsView(kTwo), DimsView(kOne));
       }},
      {"adaptive_max_pool2d",
       {{2, 5, 9, 11}},
       {},
       [](const List& t) { return ops::adaptive_max_pool<2>(t[0], kThree); }},
      {"lp_pool2d",
       {{2, 5, 9, 11}},
       {},
       [](const List& t) { return ops::lp_pool<2>(t[0], 2, kThree, DimsView(kTwo)); }},
      {"max_pool2d",
       {{2, 5, 9, 11}},
       {{16, 32, 64, 64}},
       [](const List& t) { return ops::max_pool<2>(t[0], kThree, DimsView(kTwo), DimsView(kOne)); },
       0,
       0.25},
      {"avg_pool2d",
       {{2, 5, 9, 11}},
       {{16, 32, 64, 64}},
       [](const List& t) {
         return ops::avg_pool<2>(t[0], kThree, DimsView(kTwo), DimsView(kOne), true, false);
       }},
      {"overlapping avg_pool2d of long rows",
       {{1, 2, 70, 600}},
       {},
       [](const List& t) { return ops::avg_pool<2>(t[0], kThree, DimsView(kOne)); }},
      {"overlapping max_pool2d of long rows",
       {{1, 2, 70, 600}},
       {},
       [](const List& t) { return ops::max_pool<2>(t[0], kThree, DimsView(kOne)); }},
      {"dilated max_pool2d",
       {{1, 2, 90, 300}},
       {},
       [](const List& t) {
         return ops::max_pool<2>(t[0], kThree, DimsView(kTwo), DimsView(kOne), DimsView(kTwo),
                                 true);
       }},
      {"dilated max_pool2d of every row",
       {{1, 2, 90, 300}},
       {},
       [](const List& t) {
         return ops::max_pool<2>(t[0], kThree, DimsView(kOne), DimsView(kOne), DimsView(kTwo));
       }},
      {"max_pool2d of single columns with windows that begin out of order",
       {{2, 3, 17, 1}},
       {},
       [](const List& t) {
         const Dims window{5, 1};
         const Dims padding{2, 0};
         const Dims dilation{4, 1};
         return ops::max_pool<2>(t[0], window, DimsView(kOne), DimsView(padding),
                                 DimsView(dilation));
       }},
      {"adaptive_avg_pool2d",
       {{2, 5, 9, 11}},
       {{16, 32, 64, 64}},
       [](const List& t) {
         return ops::adaptive_avg_pool<2>(t[0], t[0].size(2) > 20 ? Dims{33, 40} : Dims{4, 13});
       }},
      {"conv2d",
       {{3, 4, 9, 8}, {6, 4, 3, 3}, {6}},
       {{32, 16, 64, 64}, {16, 16, 3, 3}, {16}},
       [](const List& t) { return conv(t, 1); }},
      {"pointwise conv2d",
       {{3, 4, 9, 8}, {6, 4, 1, 1}, {6}},
       {{32, 16, 64, 64}, {16, 16, 1, 1}, {16}},
       [](const List& t) { return conv(t, 1, false); }},
      {"conv2d of groups without a bias",
       {{3, 4, 9, 8}, {6, 2, 3, 3}},
       {},
       [](const List& t) { return conv(t, 2); }},
      {"depthwise conv2d",
       {{2, 3, 30, 31}, {3, 1, 3, 3}, {3}},
       {{32, 16, 64, 64}, {16, 1, 3, 3}, {16}},
       [](const List& t) { return conv(t, t[0].size(1)); }},
      {"conv_transpose2d",
       {{3, 4, 9, 8}, {4, 5, 3, 3}, {5}},
       {{32, 16, 64, 64}, {16, 16, 3, 3}, {16}},
       [](const List& t) { return ops::conv_transpose2d(t[0], t[1], t[2]); },
       0,
       0,
       1},
      {"cross_entropy",
       {{40, 37}},
       {{512, 2048}},
       [](const List& t) {
         const Tensor target = numbers_mod(Dims{t[0].size(0)}, t[0].size(1));
         return ops::cross_entropy(t[0], target, kNone, 3);
       }},
      {"weighted, smoothed cross_entropy of images",
       {{2, 7, 5, 9}, {7}},
       {},
       [](const List& t) {
         const Tensor target = numbers_mod(Dims{t[0].size(0), t[0].size(2), t[0].size(3)}, 7);
         return ops::cross_entropy(t[0], target, ops::abs(t[1].detached()), -100, "none", 0.1);
       }},
      {"nll_loss",
       {{40, 37}},
       {{512, 2048}},
       [](const List& t) {
         return ops::nll_loss(t[0], numbers_mod(Dims{t[0].size(0)}, t[0].size(1)), kNone);
       }},
      {"embedding",
       {{50, 37}},
       {{4096, 512}},
       [](const List& t) {
         return ops::embedding(numbers_mod(Dims{120}, t[0].size(0) / 9), t[0]);
       }},
      {"scatter_add",
       {{60, 37}, {60, 37}},
       {{1024, 1024}, {1024, 1024}},
       [](const List& t) {
         return ops::scatter_add(t[0], 1, numbers_mod(t[1].sizes(), t[0].size(1) / 4), t[1]);
       },
       0,
       1},
      {"scatter_add along the first axis",
       {{60, 37}, {60, 37}},
       {{1024, 1024}, {1024, 1024}},
       [](const List& t) {
         return ops::scatter_add(t[0], 0, numbers_mod(t[1].sizes(), t[0].size(0) / 4), t[1]);
       },
       0,
       1},
  };
  return kTable;
}

// ---- layouts of the first input ----

struct Layout {
  const char* name;
  std::function<Tensor(const Tensor&)> lay;
};
const Layout kLayouts[] = {
    {"contiguous", [](const Tensor& t) { return t; }},
    {"channels last",
     [](const Tensor& t) { return t.ndim() == 4 ? ops::image_memory(t, true) : t; }},
    {"transposed",
     [](const Tensor& t) {
       return ops::transpose(ops::contiguous_memory(ops::transpose(t, 0, t.ndim() - 1)), 0,
                             t.ndim() - 1);
     }},
    {"sliced",
     [](const Tensor& t) {
       const Tensor twice = ops::repeat(t, Scalar(int64_t{2}), t.ndim() - 1);
       return ops::slice(twice, t.ndim() - 1, 0, twice.size(t.ndim() - 1), 2);
     }},
    {"expanded",
     [](const Tensor& t) { return ops::broadcast_to(ops::slice(t, 0, 0, 1, 1), t.sizes()); }},
};

// ---- running one op ----

struct Outcome {
  Tensor value;
  List gradients;
};

// The gradient of the result: multiples of 1/8 that differ between neighbours.
Tensor upstream_of(const Tensor& y) {
  const Tensor g = empty(y.sizes(), DType::kFloat32);
  for (int64_t i = 0; i < g.numel(); ++i)
    g.data_as<float>()[i] = static_cast<float>((i * 5 + i / 3) % 16 - 7) / 8;
  return ops::cast_memory(g, y.dtype());
}

Outcome run(const Op& op, const List& leaves) {
  for (const Tensor& leaf : leaves) set_requires_grad(leaf, true);
  Outcome outcome;
  outcome.value = op.run(leaves);
  backward(std::array{ops::sum(ops::multiply(outcome.value, upstream_of(outcome.value)))});
  for (const Tensor& leaf : leaves) outcome.gradients.push_back(grad_of(leaf));
  return outcome;
}

List numbers_for(const std::vector<Dims>& sizes, DType dtype) {
  List result;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const auto seed = static_cast<uint32_t>(k + 1);
    result.push_back(ops::cast_memory(random_leaf(sizes[k], seed).detached(), dtype));
  }
  return result;
}

void expect_rounded_once(const Tensor& found, const Tensor& wanted, DType dtype, double slack) {
  ASSERT_EQ(found.dtype(), dtype);
  ASSERT_EQ(found.sizes(), wanted.sizes());
  const std::vector<double> got = values(found);
  const std::vector<double> want = values(wanted);
  double largest = 0;
  for (const double x : want) largest = std::max(largest, std::abs(x));
  const double around = (1e-5 + slack * rounding(dtype)) * largest + 0x1p-24;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], 1.01 * rounding(dtype) * std::abs(want[i]) + around)
        << "element " << i;
  }
}

void expect_float32_rounded_once(const Op& op, const Layout& layout, DType dtype) {
  List inputs = numbers_for(op.sizes, dtype);
  inputs[0] = layout.lay(inputs[0]);
  List wide;
  for (const Tensor& input : inputs)
    wide.push_back(ops::contiguous_memory(ops::cast_memory(input, DType::kFloat32)));
  const Outcome found = run(op, inputs);
  const Outcome wanted = run(op, wide);
  expect_rounded_once(found.value.detached(), wanted.value.detached(), dtype, op.value_slack);
  for (size_t k = 0; k < inputs.size(); ++k) {
    SCOPED_TRACE("gradient " + std::to_string(k));
    if (wanted.gradients[k].defined())
      expect_rounded_once(found.gradients[k], wanted.gradients[k], dtype, op.slack);
  }
}

TEST(ShortFloats, give_the_values_of_float32_rounded_once_in_every_layout) {
  for (const Op& op : table()) {
    for (const Layout& layout : kLayouts) {
      for (const DType dtype : kShort) {
        SCOPED_TRACE(std::string(op.name) + ", " + layout.name + ", " + name(dtype));
        expect_float32_rounded_once(op, layout, dtype);
      }
    }
  }
}

TEST(ShortFloats, take_empty_batches) {
  for (const Op& op : table()) {
    std::vector<Dims> sizes = op.sizes;
    if (sizes.size() == 2 && sizes[1] == sizes[0]) continue;  // scatter_add's index is not empty
    if (std::string(op.name) == "embedding" || std::string(op.name).starts_with("batch_norm"))
      continue;
    sizes[0][0] = 0;
    for (const DType dtype : kShort) {
      SCOPED_TRACE(std::string(op.name) + ", " + name(dtype));
      const Tensor y = op.run(numbers_for(sizes, dtype));
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_EQ(y.sizes(), op.run(numbers_for(sizes, DType::kFloat32)).sizes());
    }
  }
}

// The gradient of a sum of the gradients; empty if the op is linear in each input alone.
List second_gradients(const Op& op, const List& leaves) {
  for (const Tensor& leaf : leaves) set_requires_grad(leaf, true);
  const Tensor y = op.run(leaves);
  const BackwardOptions keep{.create_graph = true};
  Tensor total;
  for (const Tensor& g : grad(std::array{y}, leaves, std::array{upstream_of(y)}, keep, true)) {
    if (!g.defined() || !needs_grad(g)) continue;
    const Tensor part = ops::sum(ops::multiply(g, upstream_of(g)));
    total = total.defined() ? ops::add(total, part) : part;
  }
  if (!total.defined()) return {};
  return grad(std::array{total}, leaves, {}, {}, true);
}

TEST(ShortFloats, have_second_derivatives_that_follow_those_of_float32) {
  int found = 0;
  for (const Op& op : table()) {
    for (const DType dtype : kShort) {
      SCOPED_TRACE(std::string(op.name) + ", " + name(dtype));
      const List inputs = numbers_for(op.sizes, dtype);
      List wide;
      for (const Tensor& input : inputs) wide.push_back(ops::cast_memory(input, DType::kFloat32));
      const List got = second_gradients(op, inputs);
      const List wanted = second_gradients(op, wide);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(got[k].defined(), wanted[k].defined());
        if (!got[k].defined()) continue;
        expect_rounded_once(got[k], wanted[k], dtype, 4);
        ++found;
      }
    }
  }
  EXPECT_GT(found, 0);
}

TEST(ShortFloats, find_maxima_in_windows_that_begin_out_of_order) {
  const Dims window{2, 1};
  const Dims padding{1, 0};
  const Dims dilation{2, 1};
  for (const DType dtype : kShort) {
    const Tensor x = ops::cast_memory(test::f32(Dims{1, 1, 4, 1}, {5, 1, 2, 0}), dtype);
    set_requires_grad(x, true);
    const Tensor y =
        ops::max_pool<2>(x, window, DimsView(kOne), DimsView(padding), DimsView(dilation));
    EXPECT_EQ(values(y.detached()), (std::vector<double>{1, 5, 1, 2}));
    const Tensor g = ops::cast_memory(test::f32(Dims{1, 1, 4, 1}, {1, 2, 4, 8}), dtype);
    backward(std::array{ops::sum(ops::multiply(y, g))});
    EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 5, 8, 0}));
  }
}

// ---- pooling of volumes, which no op uses yet ----

constexpr int64_t kVolume[] = {2, 3, 7, 30, 40};
constexpr int64_t kPooled[] = {2, 3, 4, 30, 20};

struct Pooled {
  Tensor input, output, positions;
};

// Runs one pass on numbers of that dtype; overwrites tensors that the pass does not read.
Pooled pool_volume(kernel::PoolOp op, bool backward, bool last, DType dtype,
                   const Tensor& positions) {
  const auto numbers = [&](const int64_t* sizes, uint32_t seed) {
    const Dims dims(sizes, sizes + 5);
    const Tensor short_numbers =
        ops::cast_memory(random_leaf(dims, seed).detached(), DType::kBFloat16);
    return ops::cast_memory(short_numbers, dtype);
  };
  Pooled of{numbers(kVolume, 1), numbers(kPooled, 2), positions};
  if (!positions.defined()) of.positions = ops::zeros(of.output.sizes(), DType::kInt64);
  kernel::PoolPlan plan{};
  plan.op = op;
  plan.backward = backward ? 1 : 0;
  plan.spatial = 3;
  plan.channels_last = last ? 1 : 0;
  plan.batch = kVolume[0];
  plan.channels = kVolume[1];
  const int64_t kernel[] = {3, 3, 2};
  const int64_t stride[] = {2, 1, 2};
  const int64_t padding[] = {1, 1, 0};
  for (int d = 0; d < 3; ++d) {
    plan.input_size[d] = kVolume[d + 2];
    plan.output_size[d] = kPooled[d + 2];
    plan.kernel[d] = kernel[d];
    plan.stride[d] = stride[d];
    plan.padding[d] = padding[d];
    plan.dilation[d] = 1;
  }
  plan.dtype = dtype;
  plan.input = of.input.data();
  plan.output = of.output.data();
  plan.positions = of.positions.data_as<int64_t>();
  kernel::launch(kernel::kPool, Device{}, plan);
  return of;
}

TEST(ShortFloats, pool_volumes_as_float32_does) {
  using kernel::PoolOp;
  for (const bool last : {false, true}) {
    SCOPED_TRACE(last);
    const auto both = [&](PoolOp op, bool backward, const Tensor& positions) {
      const Pooled wide = pool_volume(op, backward, last, DType::kFloat32, positions);
      const Pooled found = pool_volume(op, backward, last, DType::kBFloat16, positions);
      expect_rounded_once(found.input, wide.input, DType::kBFloat16, 0);
      expect_rounded_once(found.output, wide.output, DType::kBFloat16, 0);
      EXPECT_EQ(values<int64_t>(found.positions), values<int64_t>(wide.positions));
      return found.positions;
    };
    both(PoolOp::kAverage, false, Tensor());
    both(PoolOp::kAverage, true, Tensor());
    const Tensor positions = both(PoolOp::kMax, false, Tensor());
    both(PoolOp::kPick, true, positions);
    both(PoolOp::kPick, false, positions);
  }
}

// ---- memory ----

// The memory that a forward and a backward pass need besides their inputs.
int64_t peak_of(const Op& op, DType dtype) {
  List inputs;
  for (const Dims& sizes : op.large) {
    inputs.push_back(ops::full(sizes, 0.5, dtype));
    set_requires_grad(inputs.back(), true);
  }
  Allocator& allocator = allocator_for(Device{});
  const int64_t before = allocator.stats().allocated_bytes.all.current;
  allocator.reset_peak();
  const Tensor y = op.run(inputs);
  backward(std::array{y}, std::array{ops::ones(y.sizes(), dtype)});
  return allocator.stats().allocated_bytes.all.peak - before;
}

TEST(ShortFloats, need_half_the_memory_of_float32) {
  constexpr int64_t kRows = int64_t{5} << 18;  // for the part that is widened at a time
  // Whether the buffers of two threads exist at the same time depends on the load of the machine.
  const int32_t before = num_threads();
  set_num_threads(1);
  for (const Op& op : table()) {
    if (op.large.empty()) continue;
    const int64_t wide = peak_of(op, DType::kFloat32);
    const auto fixed =
        static_cast<int64_t>(op.integers * 8.0 * static_cast<double>(numel_of(op.large[0])));
    for (const DType dtype : kShort) {
      if (kSanitized && dtype != kShort[0]) continue;
      SCOPED_TRACE(std::string(op.name) + ", " + name(dtype));
      const int64_t peak = peak_of(op, dtype);
      EXPECT_LE(peak, (wide - fixed) / 2 + fixed + kRows);
    }
  }
  set_num_threads(before);
}

// ---- a backend without such kernels ----

const kernel::Backend* g_whole = nullptr;
bool is_short(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}
constexpr auto kNotImplemented = static_cast<kernel::Status>(Code::kNotImplemented);

template <auto kMember, class Plan>
kernel::Status refuse_short(const Plan& plan) {
  DType dtype;
  if constexpr (requires { plan.walk; })
    dtype = plan.walk.dtypes[1];
  else
    dtype = plan.dtype;
  return is_short(dtype) ? kNotImplemented : (g_whole->kernels->*kMember)(plan);
}
kernel::Status refuse_short_sums(const kernel::IndexPlan& plan) {
  if (plan.op == kernel::IndexOp::kAccumulate)
    return refuse_short<&kernel::KernelTable::index>(plan);
  return g_whole->kernels->index(plan);
}

// While this object lives, the CPU has no kernels for 16-bit floats in these families.
class Poorer {
 public:
  Poorer() {
    using kernel::KernelTable;
    g_whole = kernel::find_backend(DeviceType::kCpu);
    table_ = *g_whole->kernels;
    table_.softmax = refuse_short<&KernelTable::softmax, kernel::SoftmaxPlan>;
    table_.softmax_backward = refuse_short<&KernelTable::softmax_backward, kernel::SoftmaxPlan>;
    table_.conv = refuse_short<&KernelTable::conv, kernel::ConvPlan>;
    table_.pool = refuse_short<&KernelTable::pool, kernel::PoolPlan>;
    table_.norm = refuse_short<&KernelTable::norm, kernel::NormPlan>;
    table_.class_loss = refuse_short<&KernelTable::class_loss, kernel::ClassLossPlan>;
    table_.index = refuse_short_sums;
    backend_ = *g_whole;
    backend_.kernels = &table_;
    slot().store(&backend_);
  }
  ~Poorer() { slot().store(g_whole); }
  Poorer(const Poorer&) = delete;
  Poorer& operator=(const Poorer&) = delete;

 private:
  static std::atomic<const kernel::Backend*>& slot() {
    return kernel::g_backends[static_cast<size_t>(DeviceType::kCpu)];
  }
  kernel::KernelTable table_{};
  kernel::Backend backend_{};
};

TEST(ShortFloats, are_computed_in_float32_where_a_backend_has_no_kernels_for_them) {
  const Poorer poorer;
  for (const Op& op : table()) {
    for (const Layout& layout : kLayouts) {
      SCOPED_TRACE(std::string(op.name) + ", " + layout.name);
      expect_float32_rounded_once(op, layout, DType::kBFloat16);
    }
  }
}

}  // namespace
}  // namespace tsr::test_short_floats
