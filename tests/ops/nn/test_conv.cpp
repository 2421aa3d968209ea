// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/conv.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "tests/ops/prelude.h"

namespace tsr::test_conv {
namespace {

struct Case {
  const char* name;
  int64_t batch, in, out, groups;
  Dims size, kernel;
  int64_t stride, padding, dilation;
  int64_t output_padding = 0;
};

const Case kCases[] = {
    {"plain", 2, 2, 3, 1, {4, 4}, {3, 3}, 1, 0, 1},
    {"padded and strided", 1, 2, 3, 1, {4, 3}, {3, 2}, 2, 1, 1},
    {"dilated", 1, 1, 2, 1, {4, 4}, {3, 3}, 1, 2, 2},
    {"grouped", 1, 4, 2, 2, {3, 3}, {2, 2}, 1, 1, 1},
    {"depthwise", 2, 3, 3, 3, {4, 3}, {3, 3}, 2, 1, 1},
    {"pointwise", 2, 3, 2, 1, {2, 3}, {1, 1}, 1, 0, 1},
    {"pointwise and strided", 1, 2, 3, 1, {5, 4}, {1, 1}, 2, 0, 1},
    {"one channel", 1, 1, 2, 1, {4, 4}, {5, 5}, 1, 2, 1},
    {"one axis", 2, 3, 2, 1, {6}, {3}, 2, 1, 1},
    {"three axes", 1, 1, 2, 1, {2, 3, 2}, {2, 2, 2}, 1, 1, 1},
    {"three axes, padded and strided", 2, 1, 2, 1, {4, 5, 8}, {4, 4, 4}, 2, 3, 1},
    {"with a rest behind", 1, 2, 2, 1, {4, 4}, {3, 3}, 2, 0, 1, 1},
    {"depthwise and dilated", 1, 2, 2, 2, {5, 6}, {3, 2}, 1, 2, 2},
    {"depthwise past a rest", 2, 2, 2, 2, {7, 8}, {2, 2}, 3, 0, 1, 1},
    {"depthwise along one axis", 2, 3, 3, 3, {9}, {5}, 2, 2, 1},
    {"depthwise with three axes", 1, 2, 2, 2, {2, 3, 2}, {2, 2, 2}, 1, 1, 1},
    {"depthwise on wide planes", 2, 3, 3, 3, {41, 45}, {5, 3}, 2, 2, 1},
    {"depthwise on long rows", 1, 2, 2, 2, {3, 2100}, {3, 3}, 1, 1, 1},
    {"pointwise on wide planes", 2, 3, 17, 1, {21, 20}, {1, 1}, 1, 0, 1},
    {"pointwise on wide planes, strided", 2, 3, 17, 1, {42, 41}, {1, 1}, 2, 0, 1},
};

// Large enough to be divided among threads: by images or, where the weight is large, its gradient
// by the channels of the output.
const Case kLargeCases[] = {
    {"images", 4, 32, 64, 1, {24, 24}, {1, 1}, 1, 0, 1},
    {"images, strided", 4, 32, 64, 1, {46, 46}, {1, 1}, 2, 0, 1},
    {"images, grouped", 4, 64, 64, 4, {20, 20}, {3, 3}, 1, 1, 1},
    {"channels", 4, 272, 256, 1, {9, 9}, {1, 1}, 1, 0, 1},
    {"channels, strided", 4, 64, 128, 1, {10, 10}, {3, 3}, 2, 1, 1},
    {"one image more", 5, 32, 64, 1, {24, 24}, {1, 1}, 1, 0, 1},
};

// Whether finite differences of all elements, twice, are fast.
bool is_small(const Case& c) {
  return numel_of(c.size) < 100;
}

Dims image(int64_t batch, int64_t channels, const Dims& size) {
  Dims sizes{batch, channels};
  for (const int64_t n : size) sizes.push_back(n);
  return sizes;
}

Tensor run(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const int64_t list[] = {c.stride, c.padding, c.dilation};
  const auto one = [&](int i) { return ops::SpatialArg(DimsView(&list[i], 1)); };
  if (c.size.size() == 1) return ops::conv1d(x, w, b, one(0), one(1), one(2), c.groups);
  if (c.size.size() == 2) return ops::conv2d(x, w, b, one(0), one(1), one(2), c.groups);
  return ops::conv3d(x, w, b, one(0), one(1), one(2), c.groups);
}

Tensor run_transposed(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const int64_t list[] = {c.stride, c.padding, c.dilation, c.output_padding};
  const auto one = [&](int i) { return ops::SpatialArg(DimsView(&list[i], 1)); };
  if (c.size.size() == 1)
    return ops::conv_transpose1d(x, w, b, one(0), one(1), one(3), c.groups, one(2));
  if (c.size.size() == 2)
    return ops::conv_transpose2d(x, w, b, one(0), one(1), one(3), c.groups, one(2));
  return ops::conv_transpose3d(x, w, b, one(0), one(1), one(3), c.groups, one(2));
}

Tensor input_of(const Case& c) {
  return random_leaf(image(c.batch, c.in, c.size), 1);
}
Tensor weight_of(const Case& c) {
  return random_leaf(image(c.out, c.in / c.groups, c.kernel), 2);
}

// Visits all index tuples of `sizes` in row-major order.
template <class Fn>
void each_index(const Dims& sizes, Fn fn) {
  Dims index(sizes.size(), 0);
  for (int64_t n = numel_of(sizes); n > 0; --n) {
    fn(index);
    for (size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
  }
}
int64_t flat(const Dims& sizes, const Dims& index) {
  int64_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
  return at;
}

// The definition of a convolution, element by element, in double.
std::vector<double> reference(const Case& c, const Tensor& x, const Tensor& w, const Tensor& b,
                              const Dims& out_sizes) {
  const std::vector<double> xs = values(x);
  const std::vector<double> ws = values(w);
  const std::vector<double> bs = values(b);
  std::vector<double> result;
  const int64_t in_group = c.in / c.groups;
  each_index(out_sizes, [&](const Dims& o) {
    double sum = bs[static_cast<size_t>(o[1])];
    Dims taps{in_group};
    for (const int64_t k : c.kernel) taps.push_back(k);
    each_index(taps, [&](const Dims& t) {
      Dims at{o[0], o[1] / (c.out / c.groups) * in_group + t[0]};
      Dims tap{o[1], t[0]};
      for (size_t d = 0; d < c.size.size(); ++d) {
        at.push_back(o[2 + d] * c.stride - c.padding + t[1 + d] * c.dilation);
        tap.push_back(t[1 + d]);
        if (at[2 + d] < 0 || at[2 + d] >= c.size[d]) return;
      }
      sum += xs[static_cast<size_t>(flat(x.sizes(), at))] *
             ws[static_cast<size_t>(flat(w.sizes(), tap))];
    });
    result.push_back(sum);
  });
  return result;
}

Tensor channels_last(const Tensor& x) {
  return ops::image_memory(x, true);
}

void expect_close(const std::vector<double>& got, const std::vector<double>& wanted,
                  double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], tolerance) << i;
}

TEST(Conv, follows_the_definition_in_every_dtype_and_layout) {
  const std::pair<DType, double> kDTypes[] = {{DType::kFloat64, 1e-12},
                                              {DType::kFloat32, 2e-5},
                                              {DType::kFloat16, 2e-2},
                                              {DType::kBFloat16, 1e-1}};
  for (const Case& c : kCases) {
    for (const auto& [dtype, tolerance] : kDTypes) {
      SCOPED_TRACE(std::string(c.name) + " " + name(dtype));
      const Tensor x = ops::cast_memory(input_of(c).detached(), dtype);
      const Tensor w = ops::cast_memory(weight_of(c).detached(), dtype);
      const Tensor b = ops::cast_memory(random_leaf(Dims{c.out}, 3).detached(), dtype);
      const Tensor y = run(c, x, w, b);
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_TRUE(y.is_contiguous());
      const std::vector<double> wanted = reference(c, x, w, b, y.sizes());
      expect_close(values(y), wanted, tolerance);
      const Tensor last = run(c, channels_last(x), w, b);
      expect_close(values(last), wanted, tolerance);
    }
  }
}

TEST(Conv, keeps_channels_last) {
  const Tensor x = channels_last(random_leaf(Dims{2, 3, 5, 5}, 1).detached());
  const Tensor w = random_leaf(Dims{4, 3, 3, 3}, 2).detached();
  EXPECT_TRUE(ops::is_channels_last(ops::conv2d(x, w, {})));
}

TEST(Conv, gradients_agree_with_differences) {
  for (const Case& c : kCases) {
    if (!is_small(c)) continue;
    SCOPED_TRACE(c.name);
    const std::vector<Tensor> inputs{input_of(c), weight_of(c), random_leaf(Dims{c.out}, 3)};
    const auto fn = [&](Inputs t) { return run(c, t[0], t[1], t[2]); };
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

TEST(Conv, gradients_of_the_transpose_agree_with_differences) {
  for (const Case& c : kCases) {
    if ((c.padding == 0 && c.output_padding == 0) || !is_small(c)) continue;
    SCOPED_TRACE(c.name);
    const Tensor x = random_leaf(image(c.batch, c.out, c.size), 1);
    const std::vector<Tensor> inputs{x, weight_of(c), random_leaf(Dims{c.in}, 3)};
    const auto fn = [&](Inputs t) { return run_transposed(c, t[0], t[1], t[2]); };
    EXPECT_TRUE(gradcheck(fn, inputs));
    EXPECT_TRUE(gradgradcheck(fn, inputs));
  }
}

// <conv(x), y> = <x, conv_transpose(y)> with the same weight.
TEST(Conv, transpose_is_the_adjoint_in_float32_and_both_layouts) {
  for (const Case& c : kCases) {
    if (c.output_padding != 0) continue;
    SCOPED_TRACE(c.name);
    const Tensor w = ops::cast_memory(weight_of(c).detached(), DType::kFloat32);
    for (const bool last : {false, true}) {
      Tensor x = ops::cast_memory(input_of(c).detached(), DType::kFloat32);
      Tensor y = run(c, x, w, {});
      Tensor g = ops::cast_memory(random_leaf(y.sizes(), 5).detached(), DType::kFloat32);
      const Tensor back = run_transposed(c, ops::image_memory(g, last), w, {});
      const double left = values(ops::sum(ops::multiply(y, g)))[0];
      // The transpose of a strided convolution may lack elements that no window has reached.
      if (back.sizes() != x.sizes()) continue;
      EXPECT_NEAR(left, values(ops::sum(ops::multiply(x, back)))[0], 1e-3 + 1e-4 * std::abs(left));
    }
  }
}

// An image with one column: it is channels last, except for the stride of the column axis, which
// has no meaning.
TEST(Conv, strides_of_single_columns_say_nothing) {
  for (const DType dtype : {DType::kFloat64, DType::kFloat32}) {
    SCOPED_TRACE(name(dtype));
    const Tensor stored = ops::cast_memory(random_leaf(Dims{2, 1, 6, 8}, 1).detached(), dtype);
    const Tensor w = ops::cast_memory(random_leaf(Dims{8, 6, 3, 2}, 2).detached(), dtype);
    const Tensor x = ops::permute_dims(stored, Dims{0, 3, 2, 1});
    const Tensor wanted = ops::conv_transpose2d(ops::contiguous(x), w, {});
    expect_close(values(ops::conv_transpose2d(x, w, {})), values(wanted), 1e-5);
  }
}

// Between the outputs, the packed rows of the depthwise kernels hold zeros: an infinity must not
// meet them. Whatever does not depend on the infinity is the gradient of the same call without it.
TEST(Conv, depthwise_gradients_keep_an_infinity_where_it_belongs) {
  constexpr int64_t kSide = 30;
  for (const int64_t stride : {1, 2}) {
    SCOPED_TRACE(stride);
    const auto gradients = [&](int64_t x_at, int64_t w_at) {
      const auto leaf = [](const Dims& sizes, uint32_t seed, int64_t at) {
        Tensor made = ops::cast_memory(random_leaf(sizes, seed).detached(), DType::kFloat32);
        if (at >= 0) made.data_as<float>()[at] = std::numeric_limits<float>::infinity();
        set_requires_grad(made, true);
        return made;
      };
      const Tensor x = leaf(Dims{1, 2, kSide, kSide}, 1, x_at);
      const Tensor w = leaf(Dims{2, 1, 3, 3}, 2, w_at);
      const Dims strides{stride, stride};
      const Dims padding{1, 1};
      const Tensor y = ops::conv2d(x, w, {}, DimsView(strides), DimsView(padding), {}, 2);
      const std::vector<Tensor> found = grad(std::array{ops::sum(y)}, std::array{x, w});
      return std::array{values(found[0]), values(found[1])};
    };
    // Whether an output reads the number `at` by the tap `tap`, along one axis.
    const auto reads = [&](int64_t tap, int64_t at) {
      const int64_t place = at + 1 - tap;
      return place >= 0 && place % stride == 0 && place / stride <= (kSide - 1) / stride;
    };
    const auto expect = [](double found, double wanted, bool is_read, size_t at) {
      if (is_read) {
        EXPECT_FALSE(std::isfinite(found)) << at;
      } else {
        EXPECT_NEAR(found, wanted, 1e-3) << at;
      }
    };
    const auto plain = gradients(-1, -1);
    const auto of_x = gradients(kSide - 1, -1);  // the last number of the first row
    EXPECT_EQ(of_x[0], plain[0]);
    for (size_t t = 0; t < plain[1].size(); ++t) {
      const auto tap = static_cast<int64_t>(t);
      const bool is_read = t < 9 && reads(tap / 3, 0) && reads(tap % 3, kSide - 1);
      expect(of_x[1][t], plain[1][t], is_read, t);
    }
    const auto of_w = gradients(-1, 0);  // the first weight
    EXPECT_EQ(of_w[1], plain[1]);
    for (size_t i = 0; i < plain[0].size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const bool is_read = at < kSide * kSide && reads(0, at / kSide) && reads(0, at % kSide);
      expect(of_w[0][i], plain[0][i], is_read, i);
    }
  }
}

// With and without a bias; some kernels compute its gradient together with the weight's.
void expect_float32_as_float64(const Case& c) {
  for (const int variant : {0, 1, 2, 3}) {
    const bool last = (variant & 1) != 0;
    const bool biased = (variant & 2) != 0;
    SCOPED_TRACE(std::string(c.name) + (last ? " last" : "") + (biased ? " biased" : ""));
    std::vector<std::vector<double>> found[2];
    for (const DType dtype : {DType::kFloat64, DType::kFloat32}) {
      const auto leaf = [&](const Tensor& t, bool image_layout) {
        Tensor cast = ops::cast_memory(t.detached(), dtype);
        if (image_layout) cast = ops::image_memory(cast, true);
        const Tensor own = cast.detached();
        set_requires_grad(own, true);
        return own;
      };
      const Tensor x = leaf(input_of(c), last && dtype == DType::kFloat32);
      const Tensor w = leaf(weight_of(c), false);
      const Tensor b = biased ? leaf(random_leaf(Dims{c.out}, 3), false) : Tensor();
      const Tensor y = run(c, x, w, b);
      const Tensor g = ops::cast_memory(random_leaf(y.sizes(), 7).detached(), dtype);
      const Tensor total = ops::sum(ops::multiply(y, g));
      std::vector<Tensor> leaves{x, w};
      if (biased) leaves.push_back(b);
      auto& mine = found[dtype == DType::kFloat32];
      mine.push_back(values(y));
      for (const Tensor& t : grad(std::vector<Tensor>{total}, leaves)) mine.push_back(values(t));
    }
    for (size_t i = 0; i < found[0].size(); ++i) {
      double largest = 1;
      for (const double value : found[0][i]) largest = std::max(largest, std::abs(value));
      expect_close(found[1][i], found[0][i], 1e-4 * largest);
    }
  }
}

TEST(Conv, float32_and_its_gradients_agree_with_float64_in_both_layouts) {
  for (const Case& c : kCases) expect_float32_as_float64(c);
}

TEST(Conv, float32_and_its_gradients_agree_with_float64_when_threads_share_the_work) {
  const int32_t before = num_threads();
  set_num_threads(2);
  for (const Case& c : kLargeCases) expect_float32_as_float64(c);
  set_num_threads(before);
}

TEST(Conv, same_padding_keeps_the_size_and_puts_an_odd_zero_behind) {
  const Tensor x = test::f64(Dims{1, 1, 1, 4}, {1, 2, 3, 4});
  const Tensor w = test::f64(Dims{1, 1, 1, 2}, {1, 10});
  const Tensor y = ops::conv2d(x, w, {}, {}, {}, {}, 1, true);
  EXPECT_EQ(values(y), (std::vector<double>{21, 32, 43, 4}));
}

TEST(Conv, takes_images_without_a_batch_and_writes_into_out) {
  const Tensor x = random_leaf(Dims{2, 4, 4}, 1).detached();
  const Tensor w = random_leaf(Dims{3, 2, 3, 3}, 2).detached();
  const Tensor y = ops::conv2d(x, w, {});
  EXPECT_EQ(y.sizes(), (Dims{3, 2, 2}));
  const Tensor out = empty(Dims{0}, DType::kFloat64);
  const Tensor same = ops::conv2d(x, w, {}, {}, {}, {}, 1, false, ops::Out::into(out));
  EXPECT_TRUE(same.is_same(out));
  EXPECT_EQ(values(out), values(y));
  const Tensor batch = ops::reshape(x, Dims{1, 2, 4, 4});
  ops::conv2d(batch, w, {}, {}, {}, {}, 1, false, ops::Out::into(out));
  EXPECT_EQ(out.sizes(), (Dims{1, 3, 2, 2}));
  EXPECT_EQ(values(out), values(y));
}

TEST(Conv, an_empty_batch_gives_an_empty_result_and_zero_gradients) {
  const Tensor x = empty(Dims{0, 2, 4, 4}, DType::kFloat32);
  const Tensor w =
      ops::cast_memory(random_leaf(Dims{3, 2, 3, 3}, 2).detached(), DType::kFloat32).detached();
  set_requires_grad(w, true);
  const Tensor y = ops::conv2d(x, w, {});
  EXPECT_EQ(y.sizes(), (Dims{0, 3, 2, 2}));
  const auto grads = grad(std::vector<Tensor>{ops::sum(y)}, std::vector<Tensor>{w});
  EXPECT_EQ(values(grads[0]), std::vector<double>(54, 0.0));
}

TEST(Conv, refuses_what_does_not_fit) {
  const Tensor x = empty(Dims{1, 3, 8, 8}, DType::kFloat32);
  const Tensor w = empty(Dims{4, 2, 3, 3}, DType::kFloat32);
  const Error channels = error_of([&] { ops::conv2d(x, w, {}); });
  EXPECT_EQ(channels.code(), Code::kShape);
  EXPECT_STREQ(channels.arg(), "input");
  EXPECT_NE(channels.message().find("2 channels"), std::string::npos);
  const Tensor small = empty(Dims{1, 2, 2, 2}, DType::kFloat32);
  EXPECT_EQ(error_of([&] { ops::conv2d(small, w, {}); }).code(), Code::kShape);
  const Tensor twice = empty(Dims{4, 2, 3, 3}, DType::kFloat64);
  EXPECT_EQ(error_of([&] { ops::conv2d(small, twice, {}); }).code(), Code::kDType);
  const Tensor whole = empty(Dims{1, 2, 4, 4}, DType::kInt32);
  EXPECT_EQ(error_of([&] { ops::conv2d(whole, w, {}); }).code(), Code::kDType);
  const Tensor fits = empty(Dims{1, 2, 4, 4}, DType::kFloat32);
  const Dims zero{0};
  const Dims three{1, 1, 1};
  const Dims huge{INT64_MAX};
  EXPECT_EQ(error_of([&] { ops::conv2d(fits, w, {}, DimsView(zero)); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::conv2d(fits, w, {}, DimsView(three)); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::conv2d(fits, w, {}, {}, DimsView(huge)); }).code(), Code::kValue);
  EXPECT_EQ(error_of([&] { ops::conv2d(fits, w, {}, {}, {}, {}, 3); }).code(), Code::kShape);
  EXPECT_EQ(error_of([&] { ops::conv2d(fits, w, empty(Dims{5}, DType::kFloat32)); }).code(),
            Code::kShape);
  EXPECT_EQ(error_of([&] { ops::conv2d(empty(Dims{3}, DType::kFloat32), w, {}); }).code(),
            Code::kShape);
}

TEST(Conv, blames_the_input_that_does_not_fit_the_weight) {
  const Tensor w = empty(Dims{1, 1, 3, 3}, DType::kFloat32);
  for (const DType dtype : {DType::kFloat64, DType::kInt64}) {
    const Error error = test::error_of([&] {
      ops::conv2d(empty(Dims{1, 1, 5, 5}, dtype), w, Tensor());
    });
    EXPECT_EQ(error.code(), Code::kDType);
    EXPECT_STREQ(error.arg(), "input");
    EXPECT_NE(error.message().find("expected float32 as the weight"), std::string::npos);
  }
}

}  // namespace
}  // namespace tsr::test_conv
