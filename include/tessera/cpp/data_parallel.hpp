// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Data-parallel training, optimizers whose state is divided among ranks, and checkpoints that ranks
// write together. All ranks of a group call the functions together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/cpp/buffer.hpp"
#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/optim.hpp"
#include "tessera/ddp.h"

namespace tessera::distributed {

struct DataParallelOptions {
  bool find_unused = false;  // in some steps some parameters get no gradient
  int64_t bucket_bytes = 25 << 20;
  int64_t first_bucket_bytes = 1 << 20;
  bool broadcast_buffers = true;           // rank 0's buffers before each forward
  bool gradient_as_bucket_view = false;    // gradients are memory of the buckets
  std::optional<DType> reduce_dtype = {};  // in which wider gradients travel
};

// Averages the gradients of the parameters over the ranks of a group while the backward runs:
//
//   DataParallel parallel(group, model);  // or: (group, model.parameters(), model.buffers())
//   Tensor output = parallel.forward([&] { return model.forward(images); });
//   backward(cross_entropy(output, classes));
//
// At first all ranks get the parameters and buffers of rank 0. A copy is the same object.
class DataParallel {
 public:
  // `Group` is anything whose handle() is a tsr_group.
  template <class Group>
  DataParallel(const Group& group, const TensorList& parameters, const TensorList& buffers = {},
               const DataParallelOptions& options = {}) {
    tsr_data_parallel_options given{};
    given.struct_size = sizeof(given);
    given.find_unused = options.find_unused;
    given.bucket_bytes = options.bucket_bytes;
    given.first_bucket_bytes = options.first_bucket_bytes;
    given.broadcast_buffers = options.broadcast_buffers;
    given.gradient_as_bucket_view = options.gradient_as_bucket_view;
    given.reduce_dtype = options.reduce_dtype ? static_cast<tsr_dtype>(*options.reduce_dtype) : -1;
    tsr_data_parallel handle = nullptr;
    check(tsr_data_parallel_new(group.handle(), parameters.data(), parameters.size(),
                                buffers.data(), buffers.size(), &given, &handle));
    handle_ = Handle(handle);
  }

  // Of the parameters and buffers of a module.
  template <class Group, class Model,
            class = decltype(std::declval<Model&>().parameters(), std::declval<Model&>().buffers())>
  DataParallel(const Group& group, Model& model, const DataParallelOptions& options = {})
      : DataParallel(group, model.parameters(), model.buffers(), options) {}

  // Calls a function that computes the output; the backward from it averages the gradients.
  template <class Forward>
  Tensor forward(Forward compute) {
    begin_forward();
    Tensor output = compute();
    end_forward({output});
    return output;
  }
  // The two halves of forward, for several outputs.
  void begin_forward() { check(tsr_data_parallel_forward_begin(handle())); }
  void end_forward(const TensorList& outputs) {
    check(tsr_data_parallel_forward_end(handle(), outputs.data(), outputs.size()));
  }

  // With false, backwards of forwards from now on only add to the gradients of this rank; the next
  // one that averages takes the sums. Returns what held before.
  bool set_sync(bool sync) {
    int32_t before = 0;
    check(tsr_data_parallel_sync_set(handle(), sync, &before));
    return before != 0;
  }

  // Between both, ranks may have different numbers of forwards. end_join takes part in what the
  // others still do, and gives all ranks the model of one that ran to the end.
  void begin_join(bool divide_by_initial_size = true, bool fail_when_uneven = false) {
    check(tsr_data_parallel_join_begin(handle(), divide_by_initial_size, fail_when_uneven));
  }
  void end_join() { check(tsr_data_parallel_join_end(handle())); }

  // The buckets and the events of the last backward that averaged, as JSON.
  std::string report() const {
    tsr_buffer json = nullptr;
    check(tsr_data_parallel_report(handle(), &json));
    return tessera::detail::take_text(json);
  }

  // The C handle, borrowed.
  tsr_data_parallel handle() const noexcept { return handle_.get(); }

 private:
  using Handle = tessera::detail::Counted<tsr_data_parallel, &tsr_data_parallel_retain,
                                          &tsr_data_parallel_release>;
  Handle handle_;
};

// While it lives, backwards only add to the gradients of this rank.
class NoSyncGuard {
 public:
  [[nodiscard]] explicit NoSyncGuard(DataParallel parallel)
      : parallel_(std::move(parallel)), before_(parallel_.set_sync(false)) {}
  NoSyncGuard(const NoSyncGuard&) = delete;
  NoSyncGuard& operator=(const NoSyncGuard&) = delete;
  ~NoSyncGuard() {
    int32_t ignored = 0;
    tessera::detail::ignore(tsr_data_parallel_sync_set(parallel_.handle(), before_, &ignored));
  }

 private:
  DataParallel parallel_;
  bool before_;
};

}  // namespace tessera::distributed

namespace tessera::optim {

// Each rank keeps the state of its share of the parameters, updates them, and then all get the new
// values. The gradients must be equal on all ranks, as DataParallel makes them. Options, zero_grad
// and loading are those of optimizer().
template <class Options>
class ShardedOptimizer {
 public:
  template <class Group>
  ShardedOptimizer(Optimizer<Options> optimizer, const Group& group)
      : optimizer_(std::move(optimizer)) {
    tsr_sharded_optimizer handle = nullptr;
    check(tsr_optimizer_shard(optimizer_.handle(), group.handle(), &handle));
    handle_ = Handle(handle);
  }

  Optimizer<Options>& optimizer() noexcept { return optimizer_; }
  void step() { check(tsr_sharded_optimizer_step(handle())); }
  // An optimizer with the states of all parameters, on rank `to` (-1: on all) only.
  std::optional<Optimizer<Options>> gather(int64_t to = 0) {
    tsr_optimizer whole = nullptr;
    check(tsr_sharded_optimizer_gather(handle(), to, &whole));
    if (whole == nullptr) return std::nullopt;
    return Optimizer<Options>::take(whole);
  }
  // The rank of each parameter and the bytes of this rank's states, as JSON.
  std::string report() const {
    tsr_buffer json = nullptr;
    check(tsr_sharded_optimizer_report(handle(), &json));
    return tessera::detail::take_text(json);
  }

  // The C handle, borrowed.
  tsr_sharded_optimizer handle() const noexcept { return handle_.get(); }

 private:
  using Handle = tessera::detail::Counted<tsr_sharded_optimizer, &tsr_sharded_optimizer_retain,
                                          &tsr_sharded_optimizer_release>;
  Optimizer<Options> optimizer_;
  Handle handle_;
};

}  // namespace tessera::optim

namespace tessera::distributed {

// ---- checkpoints ----

// The part of a tensor that a rank has: where it begins in the whole.
struct ShardSlice {
  std::vector<int64_t> offset, shape;
};
using ShardSliceMap = std::map<std::string, ShardSlice>;

namespace detail {

struct ShardLists {
  ShardLists(const TensorMap& tensors, const ShardSliceMap& slices) {
    std::vector<std::string> listed;
    for (const auto& [name, tensor] : tensors) {
      listed.push_back(name);
      values.push_back(tensor);
    }
    names = tessera::detail::write_texts(listed);
    for (const auto& [name, slice] : slices) {
      const std::string quoted = tessera::detail::write_texts(std::vector<std::string>{name});
      parts += (parts.empty() ? "{" : ",") + quoted.substr(1, quoted.size() - 2) +
               ":{\"offset\":" + numbers(slice.offset) + ",\"shape\":" + numbers(slice.shape) + "}";
    }
    parts += parts.empty() ? "{}" : "}";
  }
  static std::string numbers(const std::vector<int64_t>& list) {
    std::string text = "[";
    for (const int64_t number : list) {
      text += (text.size() > 1 ? "," : "") + std::to_string(number);
    }
    return text + "]";
  }

  std::vector<Tensor> values;
  std::string names, parts;
};

inline void save_shards(const TensorMap& tensors, std::string_view path, tsr_group group,
                        const ShardSliceMap& slices, const TextMap& metadata) {
  const ShardLists lists(tensors, slices);
  const TensorList values(lists.values);
  const std::string texts = tessera::detail::write_texts(metadata);
  check(tsr_shards_save(path.data(), tessera::detail::length(path), lists.names.data(),
                        tessera::detail::length(lists.names), values.data(), values.size(),
                        lists.parts.data(), tessera::detail::length(lists.parts), texts.data(),
                        tessera::detail::length(texts), group));
}

}  // namespace detail

// Writes tensors into a folder, on all ranks together; one that several ranks have completely is
// written once. `slices`: the tensors of which this rank has a part.
template <class Group>
void save_shards(const TensorMap& tensors, std::string_view path, const Group& group,
                 const ShardSliceMap& slices = {}, const TextMap& metadata = {}) {
  detail::save_shards(tensors, path, group.handle(), slices, metadata);
}
// The same for a single process.
inline void save_shards(const TensorMap& tensors, std::string_view path,
                        const TextMap& metadata = {}) {
  detail::save_shards(tensors, path, nullptr, {}, metadata);
}
// Copies the saved values into the tensors; the number of ranks that saved does not matter.
inline void load_shards(const TensorMap& tensors, std::string_view path,
                        const ShardSliceMap& slices = {}) {
  const detail::ShardLists lists(tensors, slices);
  const TensorList values(lists.values);
  check(tsr_shards_load(path.data(), tessera::detail::length(path), lists.names.data(),
                        tessera::detail::length(lists.names), values.data(), values.size(),
                        lists.parts.data(), tessera::detail::length(lists.parts)));
}
// What a folder contains, as JSON.
inline std::string shards_index(std::string_view path) {
  tsr_buffer json = nullptr;
  check(tsr_shards_index(path.data(), tessera::detail::length(path), &json));
  return tessera::detail::take_text(json);
}

}  // namespace tessera::distributed
