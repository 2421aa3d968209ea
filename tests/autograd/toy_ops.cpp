// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "toy_ops.h"

#include <array>
#include <atomic>
#include <cmath>
#include <functional>

#include "autograd/gradient_ops.h"

namespace tsr::toy {
namespace {

std::atomic<int64_t> g_mul_gradients = 0;

double load(const void* data, DType dtype, int64_t at) {
  return dtype == DType::kFloat32 ? static_cast<const float*>(data)[at]
                                  : static_cast<const double*>(data)[at];
}
void store(void* data, DType dtype, int64_t at, double value) {
  if (dtype == DType::kFloat32) {
    static_cast<float*>(data)[at] = static_cast<float>(value);
  } else {
    static_cast<double*>(data)[at] = value;
  }
}

// Offsets of all elements in row-major order; size-1 and missing dims are stretched to `sizes`.
std::vector<int64_t> offsets(const Tensor& tensor, DimsView sizes) {
  const Dims strides = broadcast_strides(tensor.sizes(), tensor.strides(), sizes);
  std::vector<int64_t> result{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t start : result) {
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(start + i * strides[d]);
    }
    result = std::move(next);
  }
  return result;
}

void map_into(const Tensor& out, const Tensor& a, const Tensor& b,
              const std::function<double(double, double)>& fn) {
  const auto to = offsets(out, out.sizes());
  const auto from_a = offsets(a, out.sizes());
  const auto from_b = offsets(b, out.sizes());
  for (size_t i = 0; i < to.size(); ++i) {
    store(out.data(), out.dtype(), to[i],
          fn(load(a.data(), a.dtype(), from_a[i]), load(b.data(), b.dtype(), from_b[i])));
  }
}

Tensor map(const Tensor& a, const Tensor& b, const std::function<double(double, double)>& fn) {
  Tensor out = empty(broadcast_shapes(a.sizes(), b.sizes()), a.dtype());
  map_into(out, a, b, fn);
  return out;
}

void fill(const Tensor& out, double value) {
  map_into(out, out, out, [=](double, double) { return value; });
}

bool has_nan(const Tensor& tensor) {
  for (const int64_t at : offsets(tensor, tensor.sizes())) {
    if (std::isnan(load(tensor.data(), tensor.dtype(), at))) return true;
  }
  return false;
}

void mul_backward(Backward& ctx) {
  for (size_t i = 0; i < 2; ++i) {
    if (!ctx.needs(i)) continue;
    ++g_mul_gradients;
    ctx.set(i, mul(ctx.grad(), ctx.saved(1 - i)));
  }
}

void add_backward(Backward& ctx) {
  for (size_t i = 0; i < 2; ++i) {
    if (ctx.needs(i)) ctx.set(i, ctx.grad());
  }
}

}  // namespace

void GraphTest::SetUp() {
  install();
  live_before_ = live_nodes();
}

std::string message_of(const std::function<void()>& call, Code code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_error(const std::function<void()>& call, const std::string& fact, Code code) {
  const std::string text = message_of(call, code);
  EXPECT_NE(text.find(fact), std::string::npos) << text;
}

void install() {
  const auto to_device = [](const Tensor& a, Device) { return a; };  // there is one
  set_gradient_ops({add, add_inplace, sum_to, cast, to_device, clone, copy_inplace, zeros, ones,
                    has_nan, nullptr, nullptr, nullptr, nullptr, nullptr});
}

int64_t mul_gradients() {
  return g_mul_gradients;
}

Tensor make(std::initializer_list<int64_t> sizes, std::vector<double> values, DType dtype) {
  Tensor out = empty(Dims(sizes), dtype);
  EXPECT_EQ(static_cast<size_t>(out.numel()), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    store(out.data(), dtype, static_cast<int64_t>(i), values[i]);
  }
  return out;
}

Tensor leaf(std::initializer_list<int64_t> sizes, std::vector<double> values, DType dtype) {
  Tensor out = make(sizes, std::move(values), dtype);
  set_requires_grad(out, true);
  return out;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  for (const int64_t at : offsets(tensor, tensor.sizes())) {
    result.push_back(load(tensor.data(), tensor.dtype(), at));
  }
  return result;
}

std::vector<double> grad_values(const Tensor& tensor) {
  const Tensor grad = grad_of(tensor);
  return grad.defined() ? values(grad) : std::vector<double>();
}

Tensor zeros(DimsView sizes, DType dtype, Device) {
  Tensor out = empty(sizes, dtype);
  fill(out, 0);
  return out;
}
Tensor ones(DimsView sizes, DType dtype, Device) {
  Tensor out = empty(sizes, dtype);
  fill(out, 1);
  return out;
}

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor out = map(a, b, std::plus<>());
  if (needs_grad(a, b)) record(out, "AddBackward", {a, b}, {}, add_backward);
  return out;
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor out = map(a, b, std::multiplies<>());
  if (needs_grad(a, b)) {
    record(out, "MulBackward", {a, b}, {save_input(a), save_input(b)}, mul_backward);
  }
  return out;
}

Tensor scale(const Tensor& a, double factor) {
  Tensor out = map(a, a, [=](double x, double) { return x * factor; });
  if (needs_grad(a)) {
    record(out, "ScaleBackward", {a}, {},
           [=](Backward& ctx) { ctx.set(0, scale(ctx.grad(), factor)); });
  }
  return out;
}

Tensor exp(const Tensor& a) {
  Tensor out = map(a, a, [](double x, double) { return std::exp(x); });
  if (needs_grad(a)) {
    record(out, "ExpBackward", {a}, {save_output(out)},
           [](Backward& ctx) { ctx.set(0, mul(ctx.grad(), ctx.saved(0))); });
  }
  return out;
}

Tensor sin(const Tensor& a) {
  Tensor out = map(a, a, [](double x, double) { return std::sin(x); });
  if (needs_grad(a)) {
    record(out, "SinBackward", {a}, {save_input(a)}, [](Backward& ctx) {
      const Tensor shifted = add(ctx.saved(0), make({}, {std::acos(0.0)}));
      ctx.set(0, mul(ctx.grad(), sin(shifted)));
    });
  }
  return out;
}

Tensor sum_to(const Tensor& a, DimsView sizes) {
  Tensor out = zeros(sizes, a.dtype());
  const auto from = offsets(a, a.sizes());
  const auto to = offsets(out, a.sizes());
  for (size_t i = 0; i < from.size(); ++i) {
    store(out.data(), out.dtype(), to[i],
          load(out.data(), out.dtype(), to[i]) + load(a.data(), a.dtype(), from[i]));
  }
  if (needs_grad(a)) {
    record(out, "SumToBackward", {a}, {},
           [whole = a.sizes()](Backward& ctx) { ctx.set(0, expand(ctx.grad(), whole)); });
  }
  return out;
}

Tensor sum(const Tensor& a) {
  return sum_to(a, {});
}

Tensor expand(const Tensor& a, DimsView sizes) {
  Tensor out = make_view(a, sizes, broadcast_strides(a.sizes(), a.strides(), sizes), a.offset());
  record_view(out, a, "ExpandBackward",
              [part = a.sizes()](Backward& ctx) { ctx.set(0, sum_to(ctx.grad(), part)); });
  return out;
}

Tensor cast(const Tensor& a, DType dtype) {
  Tensor out = empty(a.sizes(), dtype);
  map_into(out, a, a, [](double x, double) { return x; });
  if (needs_grad(a)) {
    record(out, "CastBackward", {a}, {}, [](Backward& ctx) { ctx.set(0, ctx.grad()); });
  }
  return out;
}

Tensor clone(const Tensor& a) {
  return cast(a, a.dtype());
}

Tensor slice(const Tensor& a, int64_t begin, int64_t end) {
  Dims sizes = a.sizes();
  sizes[0] = end - begin;
  Tensor out = make_view(a, sizes, a.strides(), a.offset() + begin * a.stride(0));
  record_view(out, a, "SliceBackward", [whole = a.sizes(), begin, end](Backward& ctx) {
    Tensor grad = zeros(whole, ctx.grad().dtype());
    copy_inplace(slice(grad, begin, end), ctx.grad());
    ctx.set(0, grad);
  });
  return out;
}

Tensor select(const Tensor& a, int64_t index) {
  const Tensor row = slice(a, index, index + 1);
  Dims sizes(a.sizes().begin() + 1, a.sizes().end());
  const Dims strides(a.strides().begin() + 1, a.strides().end());
  Tensor out = make_view(row, sizes, strides, row.offset());
  record_view(out, row, "SqueezeBackward", [](Backward& ctx) {
    Dims kept = ctx.grad().sizes();
    kept.insert(0, 1);
    ctx.set(0, expand(ctx.grad(), kept));
  });
  return out;
}

Tensor transpose(const Tensor& a) {
  Tensor out = make_view(a, std::array{a.size(1), a.size(0)}, std::array{a.stride(1), a.stride(0)},
                         a.offset());
  record_view(out, a, "TransposeBackward",
              [](Backward& ctx) { ctx.set(0, transpose(ctx.grad())); });
  return out;
}

std::vector<Tensor> unbind(const Tensor& a) {
  std::vector<Tensor> rows;
  const Dims sizes(a.sizes().begin() + 1, a.sizes().end());
  const Dims strides(a.strides().begin() + 1, a.strides().end());
  for (int64_t i = 0; i < a.size(0); ++i) {
    rows.push_back(make_view(a, sizes, strides, a.offset() + i * a.stride(0)));
  }
  record_views(rows, a, "UnbindBackward", [whole = a.sizes()](Backward& ctx) {
    Tensor grad = zeros(whole, ctx.node().outputs()[0].dtype);
    for (size_t k = 0; k < ctx.grad_count(); ++k) {
      if (ctx.grad(k).defined()) copy_inplace(select(grad, static_cast<int64_t>(k)), ctx.grad(k));
    }
    ctx.set(0, grad);
  });
  return rows;
}

void add_inplace(const Tensor& a, const Tensor& b) {
  const bool recording = needs_grad(a, b);
  begin_inplace(a, recording);
  map_into(a, a, b, std::plus<>());
  if (recording) record(a, "AddBackward", {a, b}, {}, add_backward);
}

void mul_inplace(const Tensor& a, const Tensor& b) {
  const bool recording = needs_grad(a, b);
  const Tensor old = recording ? copy_before_write(a) : a;
  begin_inplace(a, recording);
  map_into(a, a, b, std::multiplies<>());
  if (recording) {
    record(a, "MulBackward", {a, b}, {save_input(old, a), save_input(b)}, mul_backward);
  }
}

void scale_inplace(const Tensor& a, double factor) {
  const bool recording = needs_grad(a);
  begin_inplace(a, recording);
  map_into(a, a, a, [=](double x, double) { return x * factor; });
  if (recording) {
    record(a, "ScaleBackward", {a}, {},
           [=](Backward& ctx) { ctx.set(0, scale(ctx.grad(), factor)); });
  }
}

void exp_inplace(const Tensor& a) {
  const bool recording = needs_grad(a);
  begin_inplace(a, recording);
  map_into(a, a, a, [](double x, double) { return std::exp(x); });
  if (recording) {
    record(a, "ExpBackward", {a}, {save_output(a)},
           [](Backward& ctx) { ctx.set(0, mul(ctx.grad(), ctx.saved(0))); });
  }
}

void fill_inplace(const Tensor& a, double value) {
  const bool recording = needs_grad(a);
  begin_inplace(a, recording);
  fill(a, value);
  if (recording) record(a, "FillBackward", {a}, {}, [](Backward&) {});
}

void copy_inplace(const Tensor& a, const Tensor& b) {
  const bool recording = needs_grad(a, b);
  begin_inplace(a, recording);
  map_into(a, b, b, [](double x, double) { return x; });
  if (recording) {
    record(a, "CopyBackward", {a, b}, {}, [](Backward& ctx) {
      if (ctx.needs(1)) ctx.set(1, ctx.grad());
    });
  }
}

}  // namespace tsr::toy
