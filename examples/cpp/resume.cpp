// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Resumes a training run that any language began: reads the files in FROM, makes five steps, and
// writes to TO.
//
// Usage: resume FROM TO      FROM contains model.safetensors and, unless the run is new,
// state.safetensors. Ranks that mpirun has started divide the optimizer's state; the files are
// those of one process.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <tessera/tessera.hpp>

namespace {

void resume(const std::filesystem::path& from, const std::filesystem::path& to) {
  tessera::TensorMap model = tessera::load_file((from / "model.safetensors").string());
  const tessera::Tensor weight = model.at("weight").requires_grad_();
  const tessera::Tensor bias = model.at("bias").requires_grad_();

  tessera::optim::AdamWOptions options;
  options.lr = 0.1;
  options.amsgrad = true;
  tessera::optim::AdamW optimizer(weight, options);
  options.lr = 0.2;
  options.weight_decay = 0;
  optimizer.add_group(bias, options);
  const std::filesystem::path state = from / "state.safetensors";
  if (std::filesystem::exists(state)) optimizer.load(state.string());

  const auto forward = [&] {
    optimizer.zero_grad();
    tessera::mse_loss(tessera::linear(model.at("x"), weight, bias), model.at("y")).backward();
  };
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
    const tessera::distributed::Group group("mpi");
    tessera::optim::ShardedOptimizer sharded(optimizer, group);
    for (int i = 0; i < 5; ++i) {
      forward();
      sharded.step();
    }
    const auto whole = sharded.gather(0);
    if (!whole) return;
    tessera::save_file(model, (to / "model.safetensors").string());
    whole->save((to / "state.safetensors").string());
    return;
  }
  for (int i = 0; i < 5; ++i) {
    forward();
    optimizer.step();
  }
  tessera::save_file(model, (to / "model.safetensors").string());
  optimizer.save((to / "state.safetensors").string());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: resume FROM TO\n");
    return EXIT_FAILURE;
  }
  try {
    resume(arguments[1], arguments[2]);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resume: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
