// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A tour of tensors from C++. The tours in C, Python, Rust and Julia print the same lines.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <tessera/tessera.hpp>
#include <vector>

using tessera::Ellipsis;
using tessera::None;
using tessera::Slice;
using tessera::Tensor;

namespace {

// A line such as "row sums: float32 [2] = 6.0000 15.0000".
void show(const char* label, const Tensor& tensor) {
  std::printf("%s: %s [", label, std::string(name(tensor.dtype())).c_str());
  const char* comma = "";
  for (const int64_t size : tensor.shape()) {
    std::printf("%s%lld", comma, static_cast<long long>(size));
    comma = ", ";
  }
  std::printf("] =");
  for (const double value : tensor.to_vector<double>()) std::printf(" %.4f", value);
  std::printf("\n");
}

void creation() {
  std::printf("-- creation\n");
  show("zeros", tessera::zeros({2, 3}));
  show("counted", tessera::arange(5));
  show("spaced", tessera::linspace(0, 1, 5));
  show("filled", tessera::full({2}, 2.5, tessera::kFloat64));
  show("numbers", tessera::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}));
  show("random", tessera::rand({3}, {}, {}, tessera::Generator(7)));
}

void views() {
  std::printf("-- views\n");
  Tensor a = tessera::arange(12).reshape({3, 4});
  show("row", a[1]);
  show("column", a.index({Slice(), 1}));
  show("every other", a.index({Ellipsis, Slice({}, {}, 2)}));
  show("new axis", a.index({None, 0}));
  show("transposed", a.matrix_transpose());
  show("above seven", a.index({a > 7}));
  a.matrix_transpose().index({0}).fill_(-1);
  show("written through a view", a);
}

void broadcasting() {
  std::printf("-- broadcasting\n");
  const Tensor a = tessera::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  show("times ten plus a row", a * 10 + tessera::tensor({0.0, 1.0, 2.0}));
  show("plus a column", a + tessera::tensor({{10.0}, {20.0}}));
  show("row sums", a.sum(1));
  show("matrix product", a.matmul(a.matrix_transpose()));
  show("integers divided", tessera::arange(1, 4) / 2);
}

void in_place() {
  std::printf("-- in place\n");
  Tensor a = tessera::tensor({1.0, 2.0, 3.0});
  const Tensor same = a;
  a += 1;
  a *= tessera::tensor({1.0, 10.0, 100.0});
  show("seen by every reference", same);
  a.set({Slice(1, {})}, 0);
  show("assigned to a part", a);
}

void autograd() {
  std::printf("-- autograd\n");
  Tensor x = tessera::tensor({1.0, 2.0, 3.0}).requires_grad_();
  const Tensor y = x.pow(3).sum();
  show("sum of cubes", y.detach());
  const Tensor first = tessera::grad(y, x, {}, {false, true})[0];
  show("3 x^2", first.detach());
  show("6 x", tessera::grad(first.sum(), x)[0]);
  {
    const tessera::NoGradGuard no_grad;
    std::printf("recorded without gradients: %s\n", (x * 2).requires_grad() ? "yes" : "no");
  }
}

void hooks() {
  std::printf("-- hooks\n");
  Tensor x = tessera::tensor({1.0, 2.0}).requires_grad_();
  tessera::HookHandle doubling =
      x.register_hook([](const Tensor& gradient) { return gradient * 2; });
  (x * x).sum().backward();
  show("doubled on the way", x.grad());
  doubling.remove();
  x.register_hook([](const Tensor&) { throw std::runtime_error("no gradient today"); });
  try {
    (x * x).sum().backward();
  } catch (const std::runtime_error& error) {
    std::printf("the hook's own error: %s\n", error.what());
  }
}

// A cube with a custom derivative.
struct Cube : tessera::Function<Cube> {
  static Tensor forward(tessera::FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * x * x;
  }
  static std::vector<Tensor> backward(tessera::FunctionContext& context,
                                      const std::vector<Tensor>& gradients) {
    const Tensor x = context.saved_tensors()[0];
    return {gradients[0] * x * x * 3};
  }
};

void custom_function() {
  std::printf("-- custom function\n");
  Tensor x = tessera::tensor({1.0, 2.0, 3.0}).requires_grad_();
  const Tensor y = Cube::apply(x);
  y.sum().backward();
  show("cubes", y.detach());
  show("their gradient", x.grad());
}

void safetensors() {
  std::printf("-- safetensors\n");
  const std::string path = "tensor_tour.safetensors";
  tessera::save_file({{"weight", tessera::ones({2, 2})}, {"bias", tessera::arange(2)}}, path,
                     {{"made by", "the tour"}});
  for (const auto& [name, tensor] : tessera::load_file(path)) show(name.c_str(), tensor);
  std::printf("made by: %s\n", tessera::load_metadata(path).at("made by").c_str());
  std::remove(path.c_str());
}

void zero_copy() {
  std::printf("-- zero copy\n");
  std::vector<float> ours{1, 2, 3, 4};
  Tensor x = tessera::from_borrowed(ours.data(), {2, 2});
  x += 1;
  ours[3] = 50;
  std::printf("our memory: %.4f %.4f %.4f %.4f\n", ours[0], ours[1], ours[2], ours[3]);
  show("the tensor on it", x);
  Tensor again = tessera::from_dlpack(tessera::to_dlpack(x));
  again.index({0}).zero_();
  show("after a round trip through DLPack", x);
}

void errors() {
  std::printf("-- errors\n");
  try {
    tessera::ones({2, 3}).matmul(tessera::ones({2, 3}));
  } catch (const tessera::ShapeError& error) {
    std::printf("%s: %s\n", std::string(name(error.kind())).c_str(), error.what());
  }
}

}  // namespace

int main() {
  creation();
  views();
  broadcasting();
  in_place();
  autograd();
  hooks();
  custom_function();
  safetensors();
  zero_copy();
  errors();
}
