// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Group: its life, and the collectives of tensors.
#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "dist/channel.h"
#include "dist/signature.h"
#include "dist/threads.h"
#include "dist/transports.h"
#include "ops/create/copy.h"

namespace tsr::dist {
namespace {

using Parts = Work::Parts;

Parts::Preparing prepare(const ChannelPtr& channel, Collective kind, ReduceOp op = ReduceOp::kSum) {
  return Parts::Preparing(new Parts(channel, kind, op));
}

void check_reduces(ReduceOp op, DType dtype, const char* arg) {
  TSR_CHECK(reduces(op, dtype), Code::kDType, arg, "expected a dtype that '", name(op),
            "' can reduce, got ", dtype);
}

void check_count(size_t count, int32_t size, const char* arg) {
  TSR_CHECK(count == static_cast<size_t>(size), Code::kValue, arg,
            "expected one tensor for each of the ", size, " ranks, got ", count);
}

// Both sides of an operation: one dtype and device.
void check_pair(const Tensor& output, const Tensor& input, const char* arg) {
  TSR_CHECK(output.dtype() == input.dtype(), Code::kDType, arg, "expected ", output.dtype(),
            " as the output, got ", input.dtype());
  TSR_CHECK(output.device() == input.device(), Code::kDevice, arg, "expected the device ",
            output.device(), " of the output, got ", input.device());
}

void check_numel(int64_t expected, int64_t got, const char* arg) {
  TSR_CHECK(expected == got, Code::kShape, arg, "expected ", expected, " elements, got ", got);
}

// `arg` is the argument with the parts of all ranks; a repeated element makes huge parts.
void check_whole(const Tensor& whole, const Tensor& part, int32_t size, const char* arg) {
  TSR_CHECK(whole.numel() % size == 0 && whole.numel() / size == part.numel(), Code::kShape, arg,
            "expected ", size, " parts of ", part.numel(), " elements, got ", whole.numel(),
            " elements");
}

void check_parts(std::span<const Tensor> list, const Tensor& like, const char* arg) {
  for (const Tensor& tensor : list) {
    check_pair(like, tensor, arg);
    check_numel(like.numel(), tensor.numel(), arg);
  }
}

}  // namespace

int64_t sum_of_parts(std::span<const int64_t> sizes, const char* arg) {
  int64_t sum = 0;
  for (const int64_t size : sizes) {
    TSR_CHECK(size >= 0, Code::kValue, arg, "expected sizes of parts from 0, got ", size);
    TSR_CHECK(!__builtin_add_overflow(sum, size, &sum), Code::kValue, arg,
              "expected sizes of parts whose sum is an int64, got ", size, " among them");
  }
  return sum;
}

namespace {

// The elements of each rank's part along axis 0.
std::vector<int64_t> counts_of(const Tensor& tensor, std::optional<std::span<const int64_t>> splits,
                               int32_t size, const char* arg) {
  TSR_CHECK(tensor.ndim() > 0, Code::kShape, arg, "expected at least one axis, got a scalar");
  const int64_t rows = tensor.size(0);
  std::vector<int64_t> counts(static_cast<size_t>(size));
  if (splits) {
    check_count(splits->size(), size, arg);
    std::copy(splits->begin(), splits->end(), counts.begin());
    const int64_t total = sum_of_parts(counts, arg);
    TSR_CHECK(total == rows, Code::kShape, arg, "expected parts of ", rows, " rows together, got ",
              total);
  } else {
    TSR_CHECK(rows % size == 0, Code::kShape, arg, "expected a length of axis 0 that ", size,
              " divides, got ", rows);
    std::fill(counts.begin(), counts.end(), rows / size);
  }
  const int64_t row = rows == 0 ? 0 : tensor.numel() / rows;
  for (int64_t& count : counts) count *= row;
  return counts;
}

std::vector<int64_t> counts_of(std::span<const Tensor> tensors) {
  std::vector<int64_t> counts;
  for (const Tensor& tensor : tensors) counts.push_back(tensor.numel());
  return counts;
}

// Lists of tensors that can travel together.
std::vector<std::vector<Tensor>> alike(std::span<const Tensor> tensors) {
  std::vector<std::vector<Tensor>> lists;
  for (const Tensor& tensor : tensors) {
    const auto fits = [&](const std::vector<Tensor>& list) {
      return list[0].dtype() == tensor.dtype() && list[0].device() == tensor.device();
    };
    const auto found = std::find_if(lists.begin(), lists.end(), fits);
    if (found != lists.end()) {
      found->push_back(tensor);
    } else {
      lists.push_back({tensor});
    }
  }
  return lists;
}

// Takes the context, also when it throws.
ChannelPtr make_channel(const Table& table, ContextHandle context, double timeout,
                        std::optional<Device> device) {
  try {
    return std::make_shared<Channel>(table, context, timeout, device);
  } catch (...) {
    table.destroy(context);
    throw;
  }
}

}  // namespace

// ---- Life ----

Group::Group(ChannelPtr channel, std::vector<int32_t> ranks)
    : Object(kGroupTag), channel_(std::move(channel)), ranks_(std::move(ranks)) {}

GroupPtr Group::init(std::string_view backend, const GroupOptions& options) {
  TSR_CHECK(options.timeout > 0, Code::kValue, "timeout", "expected a time above 0 s, got ",
            options.timeout);
  const Table& table = find_transport(backend);
  InitOptions given;
  given.rank = options.rank;
  given.size = options.size;
  given.check = options.check ? 1 : 0;
  given.timeout_seconds = options.timeout;
  given.address = options.address.c_str();
  if (options.device) given.device = *options.device;
  ContextHandle context = nullptr;
  Failure failure;
  const Status status = table.init(&given, &context, &failure);
  if (status != kOk) throw_failure(status, failure, table.name);
  auto channel = make_channel(table, context, options.timeout, options.device);
  std::vector<int32_t> ranks(static_cast<size_t>(channel->size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return GroupPtr::adopt(new Group(std::move(channel), std::move(ranks)));
}

std::vector<GroupPtr> Group::threads(int32_t size, double timeout) {
  static std::atomic<int64_t> made{0};
  GroupOptions options;
  options.size = size;
  options.timeout = timeout;
  options.address = concat("tessera-threads-", made.fetch_add(1));
  std::vector<GroupPtr> groups(static_cast<size_t>(std::max(size, 1)));
  std::vector<std::exception_ptr> failures(groups.size());
  const auto start = [&](int32_t rank) noexcept {
    try {
      GroupOptions own = options;
      own.rank = rank;
      groups[static_cast<size_t>(rank)] = init("threads", own);
    } catch (...) {
      failures[static_cast<size_t>(rank)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;  // joined at the end, also after an exception
    for (int32_t rank = 1; rank < size; ++rank) others.emplace_back(start, rank);
    start(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return groups;
}

void Group::destroy(Group* group) noexcept {
  group->tag = ObjectTag::kDead;
  delete group;
}

int32_t Group::rank() const noexcept {
  return channel_->rank;
}
int32_t Group::size() const noexcept {
  return channel_->size;
}
const char* Group::backend() const noexcept {
  return channel_->table.name;
}
double Group::timeout() const noexcept {
  return channel_->timeout;
}
std::span<const int32_t> Group::ranks() const noexcept {
  return ranks_;
}

GroupPtr Group::split(int32_t color, int32_t key) {
  const Table& table = channel_->table;
  ContextHandle context = nullptr;
  Failure failure;
  const Status status = table.split(channel_->context, color, key, &context, &failure);
  if (status != kOk) throw_failure(status, failure, name(Collective::kSplit));
  if (context == nullptr) return nullptr;
  auto channel = make_channel(table, context, channel_->timeout, channel_->device);
  const auto size = static_cast<size_t>(channel->size);
  const GroupPtr group = GroupPtr::adopt(new Group(std::move(channel), std::vector<int32_t>(size)));
  // Every member tells the rank that it has in the first group.
  const Tensor mine = empty(Dims{1}, DType::kInt32);
  *mine.data_as<int32_t>() = ranks_[static_cast<size_t>(rank())];
  const Device device = table.stream_ordered != 0 ? channel_->device.value_or(Device{}) : Device{};
  const Tensor all = empty(Dims{group->size()}, DType::kInt32, device);
  group->all_gather(all, ops::to(mine, device, {}))->wait();
  const Tensor here = ops::to(all, Device{}, {});
  std::copy_n(here.data_as<int32_t>(), size, group->ranks_.begin());
  return group;
}

void Group::abort(std::string_view reason) {
  channel_->table.abort(channel_->context, std::string(reason).c_str(), nullptr);
}

bool Group::aborted() const noexcept {
  return channel_->table.abort(channel_->context, nullptr, nullptr) != 0;
}

int32_t Group::check_rank(int32_t rank, const char* arg) const {
  TSR_CHECK(rank >= 0 && rank < size(), Code::kIndex, arg, "expected a rank from 0 to ", size() - 1,
            ", got ", rank);
  return rank;
}

// ---- Collectives ----

WorkPtr Group::all_reduce(std::span<const Tensor> tensors, ReduceOp op) {
  for (const Tensor& tensor : tensors) check_reduces(op, tensor.dtype(), "tensors");
  auto parts = prepare(channel_, Collective::kAllReduce, op);
  // All before the first start: what this rank cannot do must not leave the others with half of it.
  std::vector<Buffer> buffers;
  for (const auto& list : alike(tensors)) {
    buffers.push_back(parts->targets(list, true, "tensors"));
    parts->divide_later(buffers.back(), list);
    parts->make_ready(parts->device, &buffers.back());
  }
  for (const Buffer& data : buffers) parts->start(channel_->table.all_reduce, data, op);
  return Parts::give(std::move(parts));
}

WorkPtr Group::reduce(const Tensor& tensor, ReduceOp op, int32_t root) {
  check_rank(root, "root");
  check_reduces(op, tensor.dtype(), "tensor");
  auto parts = prepare(channel_, Collective::kReduce, op);
  Buffer data = rank() == root ? parts->target(tensor, true) : parts->source(tensor);
  if (rank() == root) parts->divide_later(data, {&tensor, 1});
  parts->make_ready(parts->device, &data);
  parts->start(channel_->table.reduce, data, op, root);
  return Parts::give(std::move(parts));
}

WorkPtr Group::broadcast(std::span<const Tensor> tensors, int32_t root) {
  check_rank(root, "root");
  auto parts = prepare(channel_, Collective::kBroadcast);
  std::vector<Buffer> buffers;
  for (const auto& list : alike(tensors)) {
    buffers.push_back(rank() == root ? parts->sources(list, "tensors")
                                     : parts->targets(list, false, "tensors"));
    parts->make_ready(parts->device, &buffers.back());
  }
  for (const Buffer& data : buffers) parts->start(channel_->table.broadcast, data, root);
  return Parts::give(std::move(parts));
}

WorkPtr Group::all_gather(const Tensor& output, const Tensor& input) {
  check_pair(output, input, "input");
  check_whole(output, input, size(), "output");
  auto parts = prepare(channel_, Collective::kAllGather);
  Buffer send = parts->source(input, &output);
  Buffer recv = parts->target(output, false);
  parts->make_ready(parts->device, &send, &recv);
  parts->start(channel_->table.all_gather, send, recv);
  return Parts::give(std::move(parts));
}

WorkPtr Group::all_gather(std::span<const Tensor> outputs, const Tensor& input) {
  check_count(outputs.size(), size(), "outputs");
  check_parts(outputs, input, "outputs");
  auto parts = prepare(channel_, Collective::kAllGather);
  Buffer send = parts->source(input, &outputs[0]);
  Buffer recv = parts->targets(outputs, false, "outputs");
  parts->make_ready(parts->device, &send, &recv);
  parts->start(channel_->table.all_gather, send, recv);
  return Parts::give(std::move(parts));
}

WorkPtr Group::reduce_scatter(const Tensor& output, const Tensor& input, ReduceOp op) {
  check_pair(output, input, "input");
  check_reduces(op, input.dtype(), "input");
  check_whole(input, output, size(), "input");
  auto parts = prepare(channel_, Collective::kReduceScatter, op);
  Buffer send = parts->source(input, &output);
  Buffer recv = parts->target(output, false);
  parts->divide_later(recv, {&output, 1});
  parts->make_ready(parts->device, &send, &recv);
  parts->start(channel_->table.reduce_scatter, send, recv, op);
  return Parts::give(std::move(parts));
}

WorkPtr Group::reduce_scatter(const Tensor& output, std::span<const Tensor> inputs, ReduceOp op) {
  check_count(inputs.size(), size(), "inputs");
  check_parts(inputs, output, "inputs");
  check_reduces(op, output.dtype(), "inputs");
  auto parts = prepare(channel_, Collective::kReduceScatter, op);
  Buffer send = parts->sources(inputs, "inputs", &output);
  Buffer recv = parts->target(output, false);
  parts->divide_later(recv, {&output, 1});
  parts->make_ready(parts->device, &send, &recv);
  parts->start(channel_->table.reduce_scatter, send, recv, op);
  return Parts::give(std::move(parts));
}

WorkPtr Group::gather(std::span<const Tensor> outputs, const Tensor& input, int32_t root) {
  check_rank(root, "root");
  check_count(outputs.size(), rank() == root ? size() : 0, "outputs");
  check_parts(outputs, input, "outputs");
  auto parts = prepare(channel_, Collective::kGather);
  Buffer send = parts->source(input, outputs.empty() ? nullptr : &outputs[0]);
  Buffer recv = parts->targets(outputs, false, "outputs");
  parts->make_ready(input.device(), &send, &recv);
  parts->start(channel_->table.gather, send, recv, root);
  return Parts::give(std::move(parts));
}

WorkPtr Group::scatter(const Tensor& output, std::span<const Tensor> inputs, int32_t root) {
  check_rank(root, "root");
  check_count(inputs.size(), rank() == root ? size() : 0, "inputs");
  check_parts(inputs, output, "inputs");
  auto parts = prepare(channel_, Collective::kScatter);
  Buffer send = parts->sources(inputs, "inputs", &output);
  Buffer recv = parts->target(output, false);
  parts->make_ready(output.device(), &recv, &send);
  parts->start(channel_->table.scatter, send, recv, root);
  return Parts::give(std::move(parts));
}

WorkPtr Group::all_to_all(const Tensor& output, const Tensor& input,
                          std::optional<std::span<const int64_t>> output_splits,
                          std::optional<std::span<const int64_t>> input_splits) {
  check_pair(output, input, "input");
  const auto recv_counts = counts_of(output, output_splits, size(), "output");
  const auto send_counts = counts_of(input, input_splits, size(), "input");
  auto parts = prepare(channel_, Collective::kAllToAll);
  Buffer send = parts->source(input, &output);
  Buffer recv = parts->target(output, false);
  parts->make_ready(parts->device, &send, &recv);
  parts->start(channel_->table.all_to_all, send, send_counts.data(), recv, recv_counts.data());
  return Parts::give(std::move(parts));
}

WorkPtr Group::all_to_all(std::span<const Tensor> outputs, std::span<const Tensor> inputs) {
  check_count(outputs.size(), size(), "outputs");
  check_count(inputs.size(), size(), "inputs");
  check_pair(outputs[0], inputs[0], "inputs");
  auto parts = prepare(channel_, Collective::kAllToAll);
  Buffer send = parts->sources(inputs, "inputs", &outputs[0]);
  Buffer recv = parts->targets(outputs, false, "outputs");
  parts->make_ready(parts->device, &send, &recv);
  parts->start(channel_->table.all_to_all, send, counts_of(inputs).data(), recv,
               counts_of(outputs).data());
  return Parts::give(std::move(parts));
}

WorkPtr Group::barrier() {
  auto parts = prepare(channel_, Collective::kBarrier);
  Buffer data;
  if (channel_->table.stream_ordered != 0 && channel_->device) {
    const Tensor mark = empty(Dims{1}, DType::kUInt8, *channel_->device);
    data = parts->target(mark, false);
    parts->make_ready(*channel_->device, &data);
    parts->on_host = true;
  }
  parts->start(channel_->table.barrier, data);
  return Parts::give(std::move(parts));
}

WorkPtr Group::send(const Tensor& tensor, int32_t peer, int32_t number) {
  check_rank(peer, "peer");
  TSR_CHECK(number >= 0, Code::kValue, "tag", "expected a number from 0, got ", number);
  auto parts = prepare(channel_, Collective::kSend);
  Buffer data = parts->source(tensor);
  parts->make_ready(parts->device, &data);
  parts->start(channel_->table.send, data, peer, number);
  return Parts::give(std::move(parts));
}

WorkPtr Group::recv(const Tensor& tensor, std::optional<int32_t> peer, int32_t number) {
  if (peer) check_rank(*peer, "peer");
  TSR_CHECK(number >= 0, Code::kValue, "tag", "expected a number from 0, got ", number);
  auto parts = prepare(channel_, Collective::kRecv);
  Buffer data = parts->target(tensor, false);
  parts->make_ready(parts->device, &data);
  parts->start(channel_->table.recv, data, peer.value_or(kAnySource), number);
  return Parts::give(std::move(parts));
}

}  // namespace tsr::dist
