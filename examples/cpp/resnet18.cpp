// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trains ResNet-18 (He and others, 2015) on scikit-learn's scanned digits, enlarged, and writes its
// weights under torchvision's names. DATA is the file that digits.py writes.
//
// Usage: resnet18 DATA OUT [--epochs N] [--seed S]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <tessera/tessera.hpp>

namespace {

using tessera::Tensor;
namespace data = tessera::data;
namespace nn = tessera::nn;
namespace optim = tessera::optim;

constexpr int64_t kSize = 32;  // pixels along a side
constexpr int64_t kBatchSize = 32;
constexpr double kLearningRate = 0.02;
constexpr double kMomentum = 0.9;
constexpr double kWeightDecay = 5e-4;
constexpr double kPi = 3.14159265358979323846;

nn::ConvOptions without_bias(int64_t stride, int64_t padding) {
  nn::ConvOptions options;
  options.stride = stride;
  options.padding = padding;
  options.bias = false;
  return options;
}

// Two convolutions beside a shortcut.
struct Block : nn::Module {
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample;

  Block(int64_t inputs, int64_t outputs, int64_t stride)
      : conv1(inputs, outputs, 3, without_bias(stride, 1)),
        bn1(outputs),
        conv2(outputs, outputs, 3, without_bias(1, 1)),
        bn2(outputs) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride == 1 && inputs == outputs) return;
    downsample.append<nn::Conv2d>(inputs, outputs, 1, without_bias(stride, 0));
    downsample.append<nn::BatchNorm2d>(outputs);
    register_module("downsample", downsample);
  }

  Tensor forward(const Tensor& x) override {
    const Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    return relu(y + downsample(x));  // empty, it is the identity
  }
};

struct Stage : nn::Sequential {
  Stage(int64_t inputs, int64_t outputs, int64_t stride) {
    append<Block>(inputs, outputs, stride);
    append<Block>(outputs, outputs, int64_t{1});
  }
};

struct ResNet18 : nn::Module {
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1{64};
  Stage layer1{64, 64, 1}, layer2{64, 128, 2}, layer3{128, 256, 2}, layer4{256, 512, 2};
  nn::Linear fc;

  ResNet18(int64_t channels, int64_t classes)
      : conv1(channels, 64, 7, without_bias(2, 3)), fc(512, classes) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("layer1", layer1);
    register_module("layer2", layer2);
    register_module("layer3", layer3);
    register_module("layer4", layer4);
    register_module("fc", fc);
  }

  Tensor forward(const Tensor& input) override {
    Tensor x = max_pool2d(relu(bn1(conv1(input))), 3, 2, 1);
    x = layer4(layer3(layer2(layer1(x))));
    return fc(flatten(adaptive_avg_pool2d(x, 1), 1));
  }
};

struct Options {
  std::string data, out;
  int epochs = 10;
  uint64_t seed = 0;
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const bool has_value = i + 1 < count;
    if (argument == "--epochs" && has_value) {
      options.epochs = std::stoi(arguments[++i]);
    } else if (argument == "--seed" && has_value) {
      options.seed = std::stoull(arguments[++i]);
    } else if (options.data.empty()) {
      options.data = argument;
    } else if (options.out.empty()) {
      options.out = argument;
    } else {
      throw std::invalid_argument("unexpected argument " + argument);
    }
  }
  if (options.out.empty() || options.epochs < 1) {
    throw std::invalid_argument("usage: resnet18 DATA OUT [--epochs N] [--seed S]");
  }
  return options;
}

Tensor enlarged(const Tensor& images) {
  return interpolate(images, {}, {{kSize, kSize}}, "bilinear");
}

// Half a cosine wave, from the full rate down to almost nothing.
double rate_of(int epoch, int epochs) {
  return kLearningRate * 0.5 * (1 + std::cos(kPi * epoch / epochs));
}

// The mean of the losses of the batches during training.
double train_epoch(ResNet18& model, optim::SGD& optimizer, const data::DataLoader& loader) {
  double total = 0;
  int64_t count = 0;
  for (const data::Batch& batch : loader) {
    const Tensor &images = batch[0], &classes = batch[1];
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(images), classes);
    loss.backward();
    optimizer.step();
    total += loss.item<double>() * static_cast<double>(classes.numel());
    count += classes.numel();
  }
  return total / static_cast<double>(count);
}

double accuracy(ResNet18& model, const Tensor& images, const Tensor& classes) {
  const tessera::NoGradGuard no_grad;
  model.eval();
  return (model(images).argmax(1) == classes).to(tessera::kFloat64).mean().item<double>();
}

void train(const Options& options) {
  const tessera::TensorMap tensors = tessera::load_file(options.data);
  tessera::manual_seed(options.seed);
  ResNet18 model(1, 10);
  optim::SGDOptions settings;
  settings.lr = kLearningRate;
  settings.momentum = kMomentum;
  settings.weight_decay = kWeightDecay;
  optim::SGD optimizer(model.parameters(), settings);
  const data::TensorDataset dataset(
      {enlarged(tensors.at("train_images")), tensors.at("train_classes")});
  data::LoaderOptions loading;
  loading.batch_size = kBatchSize;
  loading.shuffle = true;
  loading.generator = tessera::Generator(options.seed);
  const data::DataLoader loader(dataset, loading);

  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    optimizer.set_lr(rate_of(epoch, options.epochs));
    const double loss = train_epoch(model, optimizer, loader);
    std::fprintf(stderr, "epoch %d of %d, loss %.4f\n", epoch + 1, options.epochs, loss);
  }

  std::filesystem::create_directories(options.out);
  tessera::save_file(model.state_dict(), options.out + "/resnet18.safetensors");
  std::printf("test accuracy %.4f\n",
              accuracy(model, enlarged(tensors.at("test_images")), tensors.at("test_classes")));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    train(read_options(count, arguments));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resnet18: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
