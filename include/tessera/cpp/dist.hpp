// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Groups of ranks that exchange tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/tensor.hpp"
#include "tessera/dist.h"

namespace tessera::distributed {

enum class ReduceOp : tsr_reduce_op {
  Sum = TSR_REDUCE_OP_SUM,
  Avg = TSR_REDUCE_OP_AVG,
  Min = TSR_REDUCE_OP_MIN,
  Max = TSR_REDUCE_OP_MAX,
  Prod = TSR_REDUCE_OP_PROD,
  BitAnd = TSR_REDUCE_OP_BIT_AND,
  BitOr = TSR_REDUCE_OP_BIT_OR,
  BitXor = TSR_REDUCE_OP_BIT_XOR,
};

// An operation under way or done. Its tensors must not be used until wait() has returned; an
// operation that nobody waits for goes on and keeps its tensors. A copy is the same operation.
class Work {
 public:
  // Throws Cancelled when it was not done within `seconds` (absent: the timeout of the group), and
  // the failure of the operation.
  void wait(std::optional<double> seconds = std::nullopt) const {
    check(tsr_work_wait(handle(), seconds.value_or(0), seconds.has_value()));
  }
  // Whether wait() would return at once.
  bool done() const {
    int32_t done = 0;
    check(tsr_work_done(handle(), &done));
    return done != 0;
  }
  // The rank that a receive came from, after wait().
  int64_t source() const {
    int64_t source = -1;
    check(tsr_work_source(handle(), &source));
    return source;
  }

  // The C handle, borrowed.
  tsr_work handle() const noexcept { return handle_.get(); }

 private:
  friend class Group;
  explicit Work(tsr_work handle) : handle_(handle) {}
  tessera::detail::Counted<tsr_work, &tsr_work_retain, &tsr_work_release> handle_;
};

struct GroupOptions {
  int rank = -1;  // -1: the backend knows
  int size = -1;
  double timeout = 1800;     // seconds
  bool checked = true;       // ranks are asked whether they want the same
  std::string address = {};  // where the ranks meet; its meaning is the backend's
};

// Every rank calls the same collectives in the same order; each returns at once. A copy is the same
// group.
class Group {
 public:
  // Waits until all ranks are there. "mpi": processes that mpirun has started; "threads": threads
  // of this process, with rank and size in the options; "nccl": one GPU for each rank.
  explicit Group(std::string_view backend, const GroupOptions& options = {}) {
    tsr_group_options given{};
    given.struct_size = sizeof(given);
    given.rank = options.rank;
    given.size = options.size;
    given.timeout = options.timeout;
    given.unchecked = !options.checked;
    tsr_group handle = nullptr;
    check(tsr_group_init(backend.data(), tessera::detail::length(backend), options.address.data(),
                         tessera::detail::length(options.address), &given, &handle));
    handle_ = Handle(handle);
  }

  int rank() const { return info().rank; }
  int size() const { return info().size; }
  double timeout() const { return info().timeout; }
  bool aborted() const { return info().aborted != 0; }
  std::string backend() const {
    const char* name = nullptr;
    int64_t length = 0;
    check(tsr_group_backend(handle(), &name, &length));
    return std::string(name, static_cast<size_t>(length));
  }
  // The rank that a member has in the group that was not split from another one.
  int64_t first_rank(int64_t rank) const {
    int64_t found = -1;
    check(tsr_group_first_rank(handle(), rank, &found));
    return found;
  }

  // A collective of all members: those of one color form a group, in the order of (key, rank).
  // Nothing for a negative color.
  std::optional<Group> split(int64_t color, int64_t key = 0) const {
    tsr_group part = nullptr;
    check(tsr_group_split(handle(), color, key, &part));
    if (part == nullptr) return std::nullopt;
    return Group(part);
  }
  // Ends the operations under way; later ones throw Cancelled with the reason.
  void abort(std::string_view reason) const {
    check(tsr_group_abort(handle(), reason.data(), tessera::detail::length(reason)));
  }

  // In place.
  Work all_reduce(const TensorList& tensors, ReduceOp op = ReduceOp::Sum) const {
    return start(tsr_group_all_reduce, tensors.data(), tensors.size(), raw(op));
  }
  Work reduce(const Tensor& tensor, int64_t root, ReduceOp op = ReduceOp::Sum) const {
    return start(tsr_group_reduce, tensor.handle(), raw(op), root);
  }
  Work broadcast(const TensorList& tensors, int64_t root) const {
    return start(tsr_group_broadcast, tensors.data(), tensors.size(), root);
  }
  // One output for each rank, or a single one with room for all.
  Work all_gather(const TensorList& outputs, const Tensor& input) const {
    return start(tsr_group_all_gather, outputs.data(), outputs.size(), input.handle());
  }
  Work reduce_scatter(const Tensor& output, const TensorList& inputs,
                      ReduceOp op = ReduceOp::Sum) const {
    return start(tsr_group_reduce_scatter, output.handle(), inputs.data(), inputs.size(), raw(op));
  }
  // The list is empty except at the root.
  Work gather(const TensorList& outputs, const Tensor& input, int64_t root) const {
    return start(tsr_group_gather, outputs.data(), outputs.size(), input.handle(), root);
  }
  Work scatter(const Tensor& output, const TensorList& inputs, int64_t root) const {
    return start(tsr_group_scatter, output.handle(), inputs.data(), inputs.size(), root);
  }
  Work all_to_all(const TensorList& outputs, const TensorList& inputs) const {
    return start(tsr_group_all_to_all, outputs.data(), outputs.size(), inputs.data(),
                 inputs.size());
  }
  // Parts along axis 0; without sizes they are equal.
  Work all_to_all_single(const Tensor& output, const Tensor& input,
                         const std::vector<int64_t>& output_splits = {},
                         const std::vector<int64_t>& input_splits = {}) const {
    return start(tsr_group_all_to_all_single, output.handle(), input.handle(), output_splits.data(),
                 count_of(output_splits), input_splits.data(), count_of(input_splits));
  }
  Work barrier() const { return start(tsr_group_barrier); }
  Work send(const Tensor& tensor, int64_t peer, int64_t tag = 0) const {
    return start(tsr_group_send, tensor.handle(), peer, tag);
  }
  // Without a peer: from whichever rank sends first.
  Work recv(const Tensor& tensor, std::optional<int64_t> peer = std::nullopt,
            int64_t tag = 0) const {
    return start(tsr_group_recv, tensor.handle(), peer ? *peer : tsr_none(), tag);
  }

  // The C handle, borrowed.
  tsr_group handle() const noexcept { return handle_.get(); }

 private:
  using Handle = tessera::detail::Counted<tsr_group, &tsr_group_retain, &tsr_group_release>;

  explicit Group(tsr_group handle) : handle_(handle) {}
  static tsr_reduce_op raw(ReduceOp op) { return static_cast<tsr_reduce_op>(op); }
  static int32_t count_of(const std::vector<int64_t>& splits) {
    return splits.empty() ? -1 : static_cast<int32_t>(splits.size());
  }
  tsr_group_info info() const {
    tsr_group_info found{};
    found.struct_size = sizeof(found);
    check(tsr_group_describe(handle(), &found));
    return found;
  }
  template <class Function, class... Args>
  Work start(Function function, Args... args) const {
    tsr_work work = nullptr;
    check(function(handle(), args..., &work));
    return Work(work);
  }

  Handle handle_;
};

}  // namespace tessera::distributed
