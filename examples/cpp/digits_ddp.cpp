// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Trains the digits network on several ranks: mpirun -n 4 digits_ddp DATA WEIGHTS OUT
// It begins with the weights of a file, each rank has a part of every batch, and rank 0 writes the
// weights. Layers run as in evaluation, so that the parts together are the whole batch.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "digits_model.hpp"

namespace {

using tessera::Tensor;
namespace distributed = tessera::distributed;

constexpr int kSteps = 10;
constexpr int64_t kBatch = 240;

void train(digits::Net& net, const distributed::Group& group, const Tensor& images,
           const Tensor& classes) {
  std::vector<Tensor> statistics;  // of the normalization, which the weights' file has too
  for (const auto& [name, buffer] : net.named_buffers()) statistics.push_back(buffer);
  distributed::DataParallel parallel(group, net.parameters(), statistics);
  tessera::optim::SGDOptions options;
  options.lr = 0.05;
  options.momentum = 0.9;
  tessera::optim::SGD optimizer(net.parameters(), options);
  const int64_t rows = kBatch / group.size();
  net.eval();
  for (int step = 0; step < kSteps; ++step) {
    const int64_t first = kBatch * (step % 5) + rows * group.rank();
    optimizer.zero_grad();
    const Tensor logits = parallel.forward([&] { return net(images.narrow(0, first, rows)); });
    const Tensor loss = cross_entropy(logits, classes.narrow(0, first, rows));
    backward(loss);
    optimizer.step();
    if (step == kSteps - 1) {
      std::printf("rank %d of %d: loss %.6f\n", group.rank(), group.size(), loss.item<double>());
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 4) throw std::invalid_argument("usage: digits_ddp DATA WEIGHTS OUT");
    distributed::GroupOptions options;
    options.timeout = 300;
    const distributed::Group group("mpi", options);
    digits::Net net;
    if (group.rank() == 0) net.load_state_dict(tessera::load_file(arguments[2]));
    const tessera::TensorMap data = tessera::load_file(arguments[1]);
    train(net, group, data.at("train_images"), data.at("train_classes"));
    if (group.rank() == 0) tessera::save_file(net.state_dict(), arguments[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
