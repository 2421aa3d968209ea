// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Every convolution of ResNet-50 and VGG-19 and the depthwise ones of MobileNet in the library,
// compared with oneDNN alone: one primitive on memory in its preferred layout, without reordering.
//
// Usage: bench_conv [PIXELS [BATCH]], the side of the images and their number (224 and 4);
// TSR_BENCH_MODEL chooses resnet50, vgg19 or mobilenet.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

#include "bench/backend.h"

namespace tsr::bench {
namespace {

using dnnl::memory;
using kernel::ConvPass;
using Tag = memory::format_tag;

int64_t g_batch = 4;
int64_t g_pixels = 224;

struct Shape {
  const char* model;
  int64_t in, out, at_224, kernel, stride, groups;  // at_224: the input's size for images of 224

  [[nodiscard]] int64_t size() const { return at_224 * g_pixels / 224; }
  [[nodiscard]] int64_t padding() const { return kernel / 2; }
  [[nodiscard]] int64_t out_size() const { return (size() + 2 * padding() - kernel) / stride + 1; }
};

const Shape kShapes[] = {
    {"resnet50", 3, 64, 224, 7, 2, 1},      {"resnet50", 64, 64, 56, 1, 1, 1},
    {"resnet50", 64, 64, 56, 3, 1, 1},      {"resnet50", 64, 256, 56, 1, 1, 1},
    {"resnet50", 256, 64, 56, 1, 1, 1},     {"resnet50", 256, 128, 56, 1, 1, 1},
    {"resnet50", 128, 128, 56, 3, 2, 1},    {"resnet50", 256, 512, 56, 1, 2, 1},
    {"resnet50", 128, 512, 28, 1, 1, 1},    {"resnet50", 512, 128, 28, 1, 1, 1},
    {"resnet50", 128, 128, 28, 3, 1, 1},    {"resnet50", 512, 256, 28, 1, 1, 1},
    {"resnet50", 256, 256, 28, 3, 2, 1},    {"resnet50", 512, 1024, 28, 1, 2, 1},
    {"resnet50", 256, 1024, 14, 1, 1, 1},   {"resnet50", 1024, 256, 14, 1, 1, 1},
    {"resnet50", 256, 256, 14, 3, 1, 1},    {"resnet50", 1024, 512, 14, 1, 1, 1},
    {"resnet50", 512, 512, 14, 3, 2, 1},    {"resnet50", 1024, 2048, 14, 1, 2, 1},
    {"resnet50", 512, 2048, 7, 1, 1, 1},    {"resnet50", 2048, 512, 7, 1, 1, 1},
    {"resnet50", 512, 512, 7, 3, 1, 1},     {"vgg19", 3, 64, 224, 3, 1, 1},
    {"vgg19", 64, 64, 224, 3, 1, 1},        {"vgg19", 64, 128, 112, 3, 1, 1},
    {"vgg19", 128, 128, 112, 3, 1, 1},      {"vgg19", 128, 256, 56, 3, 1, 1},
    {"vgg19", 256, 256, 56, 3, 1, 1},       {"vgg19", 256, 512, 28, 3, 1, 1},
    {"vgg19", 512, 512, 28, 3, 1, 1},       {"vgg19", 512, 512, 14, 3, 1, 1},
    {"mobilenet", 32, 32, 112, 3, 1, 32},   {"mobilenet", 64, 64, 112, 3, 2, 64},
    {"mobilenet", 128, 128, 56, 3, 1, 128}, {"mobilenet", 256, 256, 28, 3, 1, 256},
    {"mobilenet", 512, 512, 14, 3, 1, 512}, {"mobilenet", 1024, 1024, 7, 3, 1, 1024},
};

int64_t weights(const Shape& s) {
  return s.out * s.in / s.groups * s.kernel * s.kernel;
}

// ---- the library ----

void set_strides(int64_t channels, int64_t size, bool last, int64_t* strides) {
  strides[0] = channels * size * size;
  strides[1] = last ? 1 : size * size;
  strides[2] = last ? size * channels : size;
  strides[3] = last ? channels : 1;
}

kernel::ConvPlan plan_of(const Shape& s, ConvPass pass, bool last, float* x, float* w, float* y) {
  kernel::ConvPlan plan{};
  plan.pass = pass;
  plan.spatial = 2;
  plan.batch = g_batch;
  plan.in_channels = s.in;
  plan.out_channels = s.out;
  plan.groups = s.groups;
  for (int d = 0; d < 2; ++d) {
    plan.input_size[d] = s.size();
    plan.output_size[d] = s.out_size();
    plan.kernel[d] = s.kernel;
    plan.stride[d] = s.stride;
    plan.padding[d] = s.padding();
    plan.dilation[d] = 1;
  }
  set_strides(s.in, s.size(), last, plan.input_strides);
  set_strides(s.out, s.out_size(), last, plan.output_strides);
  plan.dtype = DType::kFloat32;
  plan.input = x;
  plan.weight = w;
  plan.output = y;
  return plan;
}

// ---- oneDNN alone ----

class Alone {
 public:
  Alone(const Shape& s, ConvPass pass) {
    const auto any = [](const memory::dims& dims) {
      return memory::desc(dims, memory::data_type::f32, Tag::any);
    };
    const memory::desc x = any({g_batch, s.in, s.size(), s.size()});
    const memory::desc y = any({g_batch, s.out, s.out_size(), s.out_size()});
    const memory::desc w =
        s.groups > 1 ? any({s.groups, s.out / s.groups, s.in / s.groups, s.kernel, s.kernel})
                     : any({s.out, s.in, s.kernel, s.kernel});
    const memory::dims stride{s.stride, s.stride};
    const memory::dims padding{s.padding(), s.padding()};
    const auto direct = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, direct, x, w, y, stride, padding, padding}, engine_);
    if (pass == ConvPass::kForward) {
      set(forward, {{DNNL_ARG_SRC, forward.src_desc()},
                    {DNNL_ARG_WEIGHTS, forward.weights_desc()},
                    {DNNL_ARG_DST, forward.dst_desc()}});
    } else if (pass == ConvPass::kBackwardInput) {
      const dnnl::convolution_backward_data::primitive_desc backward(
          {direct, x, w, y, stride, padding, padding}, engine_, forward);
      set(backward, {{DNNL_ARG_DIFF_SRC, backward.diff_src_desc()},
                     {DNNL_ARG_WEIGHTS, backward.weights_desc()},
                     {DNNL_ARG_DIFF_DST, backward.diff_dst_desc()}});
    } else {
      const dnnl::convolution_backward_weights::primitive_desc backward(
          {direct, x, w, y, stride, padding, padding}, engine_, forward);
      set(backward, {{DNNL_ARG_SRC, backward.src_desc()},
                     {DNNL_ARG_DIFF_WEIGHTS, backward.diff_weights_desc()},
                     {DNNL_ARG_DIFF_DST, backward.diff_dst_desc()}});
    }
  }
  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  void set(const dnnl::primitive_desc& desc,
           const std::unordered_map<int, memory::desc>& operands) {
    primitive_ = dnnl::primitive(desc);
    for (const auto& [argument, operand] : operands) {
      memory filled(operand, engine_);
      auto* numbers = static_cast<float*>(filled.get_data_handle());
      std::fill_n(numbers, operand.get_size() / sizeof(float), 0.5F);
      arguments_.emplace(argument, filled);
    }
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
};

void measure(const Shape& s, ConvPass pass, const char* name) {
  Alone alone(s, pass);
  const Floats x = floats(g_batch * s.in * s.size() * s.size());
  const Floats w = floats(weights(s));
  const Floats y = floats(g_batch * s.out * s.out_size() * s.out_size());
  const std::string shape = std::to_string(g_batch) + "x" + std::to_string(s.in) + "x" +
                            std::to_string(s.size()) + ", " + std::to_string(s.out) + " of " +
                            std::to_string(s.kernel) + ", stride " + std::to_string(s.stride) +
                            ", groups " + std::to_string(s.groups);
  for (const bool last : {false, true}) {
    const kernel::ConvPlan plan = plan_of(s, pass, last, x.get(), w.get(), y.get());
    const std::string what = std::string(s.model) + ", " + name + (last ? ", channels last" : "");
    Case c = make(what, shape, "call", 1, 0);
    c.rounds = 9;
    c.ours = [&] { kernels().conv(plan); };
    c.peer = [&] { alone.run(); };
    c.peer_name = "oneDNN alone";
    run(c);
  }
}

}  // namespace
}  // namespace tsr::bench

int main(int count, char** arguments) {
  using tsr::kernel::ConvPass;
  if (count > 1) tsr::bench::g_pixels = std::atoll(arguments[1]);
  if (count > 2) tsr::bench::g_batch = std::atoll(arguments[2]);
  const char* const model = std::getenv("TSR_BENCH_MODEL");
  for (const auto& shape : tsr::bench::kShapes) {
    if (model != nullptr && std::strcmp(model, shape.model) != 0) continue;
    tsr::bench::measure(shape, ConvPass::kForward, "forward");
    tsr::bench::measure(shape, ConvPass::kBackwardInput, "backward input");
    tsr::bench::measure(shape, ConvPass::kBackwardWeight, "backward weight");
  }
}
