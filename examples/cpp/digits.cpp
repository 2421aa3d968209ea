// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trains a convolutional network on handwritten digits and writes its weights.
//
// Usage: digits DATA OUT [--epochs N] [--seed S]
#include "digits_model.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

using tessera::Tensor;
namespace data = tessera::data;
namespace optim = tessera::optim;

constexpr double kLearningRate = 2e-3;
constexpr double kWeightDecay = 1e-3;
constexpr int64_t kBatchSize = 64;
constexpr double kPi = 3.14159265358979323846;

struct Options {
  std::string data, out;
  int epochs = 30;
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
    throw std::invalid_argument("usage: digits DATA OUT [--epochs N] [--seed S]");
  }
  return options;
}

// Half a cosine wave, from the full rate down to almost nothing.
double rate_of(int epoch, int epochs) {
  return kLearningRate * 0.5 * (1 + std::cos(kPi * epoch / epochs));
}

// The mean of the losses of the batches during training.
double train_epoch(digits::Net& model, optim::AdamW& optimizer, const data::DataLoader& loader) {
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

void train(const Options& options) {
  const tessera::TensorMap tensors = tessera::load_file(options.data);
  tessera::manual_seed(options.seed);
  digits::Net model;
  optim::AdamWOptions settings;
  settings.weight_decay = kWeightDecay;
  optim::AdamW optimizer(model.parameters(), settings);
  const data::TensorDataset dataset({tensors.at("train_images"), tensors.at("train_classes")});
  data::LoaderOptions loading;
  loading.batch_size = kBatchSize;
  loading.shuffle = true;
  loading.generator = tessera::Generator(options.seed);
  const data::DataLoader loader(dataset, loading);

  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    optimizer.set_lr(rate_of(epoch, options.epochs));
    const double loss = train_epoch(model, optimizer, loader);
    std::fprintf(stderr, "\repoch %d of %d, loss %.4f", epoch + 1, options.epochs, loss);
  }
  std::fprintf(stderr, "\n");

  std::filesystem::create_directories(options.out);
  tessera::save_file(model.state_dict(), options.out + "/digits.safetensors");
  const Tensor logits = logits_of(model, tensors.at("test_images"));
  std::printf("test accuracy %.4f\n", digits::share_right(logits, tensors.at("test_classes")));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    train(read_options(count, arguments));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
