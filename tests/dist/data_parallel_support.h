// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the tests of data-parallel training share: ranks as threads, and a small network.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "dist/data_parallel.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/linalg/linalg.h"
#include "ops/nn/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"
#include "optim/optimizer.h"
#include "support/start_up.h"

namespace tsr::dist::test {

// Ranks make tensors at the same time; the start-up itself is of one thread.
inline void start_up_once() {
  static const bool kReady = [] {
    testing::start_up();
    return true;
  }();
  static_cast<void>(kReady);
}

using RankBody = std::function<void(const GroupPtr& group)>;

// Runs the body on a thread for each rank. Returns the error of each rank. `aborts`: an error on
// one rank ends the others.
inline std::vector<std::optional<Error>> errors_of(int32_t size, const RankBody& body,
                                                   double timeout = 60, bool aborts = false) {
  start_up_once();
  std::vector<GroupPtr> groups = Group::threads(size, timeout);
  std::vector<std::optional<Error>> errors(groups.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < groups.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(groups[rank]);
      } catch (const Error& error) {
        errors[rank] = error;
        if (aborts) groups[rank]->abort(error.message());
      }
      groups[rank].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline void on_ranks(int32_t size, const RankBody& body) {
  const auto errors = errors_of(size, body, 60, true);
  for (size_t rank = 0; rank < errors.size(); ++rank) {
    EXPECT_FALSE(errors[rank]) << "rank " << rank << ": " << errors[rank]->message();
  }
}

inline std::vector<float> floats(const Tensor& tensor) {
  const Tensor here = ops::contiguous(ops::to(tensor, Device{}, DType::kFloat32));
  const auto* first = here.data_as<float>();
  return {first, first + here.numel()};
}

inline float largest_difference(std::span<const Tensor> a, std::span<const Tensor> b) {
  float largest = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto x = floats(a[i]), y = floats(b[i]);
    for (size_t k = 0; k < x.size(); ++k) largest = std::max(largest, std::fabs(x[k] - y[k]));
  }
  return largest;
}

// Numbers that look random and are the same on all ranks.
inline Tensor numbers(Dims shape, int64_t seed, DType dtype = DType::kFloat32) {
  start_up_once();  // a test may begin with these, before any ranks
  const Tensor made = ops::empty(shape, DType::kFloat32, std::nullopt);
  auto* values = made.data_as<float>();
  auto state = static_cast<uint64_t>(seed) * 2654435761U + 12345U;
  for (int64_t i = 0; i < made.numel(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    values[i] = static_cast<float>(static_cast<double>(state >> 33) / 2147483648.0 - 0.5);
  }
  return ops::astype(made, dtype);
}
inline Tensor parameter(Dims shape, int64_t seed, DType dtype = DType::kFloat32) {
  const Tensor made = numbers(std::move(shape), seed, dtype);
  set_requires_grad(made, true);
  return made;
}

// Two layers of 12 -> 16 -> 4 with a normalization between them.
struct Network {
  explicit Network(int64_t seed = 0)
      : params{parameter({16, 12}, seed + 1), parameter({16}, seed + 2),
               parameter({16}, seed + 3),     parameter({16}, seed + 4),
               parameter({4, 16}, seed + 5),  parameter({4}, seed + 6)},
        buffers{ops::zeros(Dims{16}), ops::ones(Dims{16})} {}

  [[nodiscard]] Tensor operator()(const Tensor& input, bool normalized = false) const {
    Tensor hidden = ops::linear(input, params[0], params[1]);
    if (normalized) {
      hidden = ops::batch_norm(hidden, buffers[0], buffers[1], params[2], params[3], true);
    } else {
      hidden = ops::add(ops::multiply(hidden, params[2]), params[3]);
    }
    return ops::linear(ops::tanh(hidden), params[4], params[5]);
  }

  std::vector<Tensor> params, buffers;
};

inline Tensor mean_of_squares(const Tensor& output) {
  return ops::mean(ops::multiply(output, output));
}

// Step `step` of 12 samples, and the share of a rank.
inline Tensor batch(int64_t step, int64_t rows = 12) {
  return numbers({rows, 12}, 1000 + step);
}
inline Tensor share(const Tensor& whole, const Group& group) {
  const int64_t rows = whole.size(0) / group.size();
  return ops::slice(whole, 0, rows * group.rank(), rows * (group.rank() + 1), 1);
}

inline optim::Options sgd(double lr = 0.1, double momentum = 0.9) {
  optim::Options options(optim::Kind::kSgd);
  options.set(optim::Option::kLr, lr);
  options.set(optim::Option::kMomentum, momentum);
  return options;
}
inline optim::Options adam() {
  optim::Options options(optim::Kind::kAdam);
  options.set(optim::Option::kLr, 0.01);
  return options;
}
using OptimizerPtr = IntrusivePtr<optim::Optimizer>;
inline OptimizerPtr make_optimizer(const optim::Options& options, std::span<const Tensor> params) {
  return OptimizerPtr::adopt(new optim::Optimizer(options, params));
}
using ParallelPtr = std::shared_ptr<DataParallel>;
inline ParallelPtr make_parallel(const GroupPtr& group, std::span<const Tensor> params,
                                 std::span<const Tensor> buffers = {},
                                 DataParallelOptions options = {}) {
  return DataParallel::create(group, params, buffers, options);
}
// Buckets of 128 bytes, so that the small network has more than two in any order of its gradients
// in which those of the last layer come first.
inline DataParallelOptions small_buckets() {
  DataParallelOptions options;
  options.bucket_bytes = options.first_bucket_bytes = 128;
  return options;
}

// What one process with whole batches ends with.
inline std::vector<Tensor> trained_alone(const optim::Options& options, int64_t steps,
                                         int64_t seed = 0) {
  Network network(seed);
  const OptimizerPtr optimizer = make_optimizer(options, network.params);
  for (int64_t step = 0; step < steps; ++step) {
    optimizer->zero_grad(true);
    const Tensor loss = mean_of_squares(network(batch(step)));
    backward({&loss, 1});
    optimizer->step();
  }
  return network.params;
}

}  // namespace tsr::dist::test
