// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One backward of data-parallel training; see Note [Data-parallel step].
#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "autograd/accumulate_grad.h"
#include "autograd/engine.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "dist/data_parallel.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/pointwise/binary.h"
#include "optim/optimizer.h"

namespace tsr::dist {
namespace {

using ops::Out;
using optim::Quiet;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.strides() == b.strides();
}

// All nodes that the outputs lead to.
std::unordered_set<const Node*> reachable(std::span<const Tensor> outputs) {
  std::unordered_set<const Node*> known;
  std::vector<const Node*> pending;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && known.insert(node).second) pending.push_back(node);
  };
  for (const Tensor& output : outputs) {
    if (output.defined() && requires_grad(output)) visit(gradient_edge(output).node.get());
  }
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    for (const Edge& edge : node->next_edges()) visit(edge.node.get());
  }
  return known;
}

}  // namespace

void DataParallel::note(EventKind kind, size_t number) {
  events_.push_back({kind, number, now_ns()});
}

void DataParallel::reset() noexcept {
  expecting_ = false;
  begun_ = false;
  works_.clear();
  spared_.clear();
}

void DataParallel::find_unused(std::span<const Tensor> outputs) {
  const auto nodes = reachable(outputs);
  for (size_t i = 0; i < params_.size(); ++i) {
    TensorRecord* record = record_of(params_[i]);
    const NodePtr node = record == nullptr ? NodePtr() : existing_accumulator(*record);
    if (!node || !nodes.contains(node.get())) unused_.push_back(i);
  }
}

void DataParallel::on_gradient(size_t number) {
  const auto entry = enter();
  if (!expecting_) {
    accumulated_[number] = 1;
    return;
  }
  const Quiet quiet;
  if (!begun_) begin_reduction();
  mark_ready(number, true);
}

void DataParallel::begin_reduction() {
  begun_ = true;
  ready_.assign(params_.size(), 0);
  missing_.clear();
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.plan().members.size());
  next_bucket_ = 0;
  works_.clear();
  spared_.clear();
  events_.clear();
  if (options_.find_unused) {
    used_ = ops::zeros(Dims{static_cast<int64_t>(params_.size())}, DType::kInt32);
    for (size_t i = 0; i < params_.size(); ++i) {
      const bool used = accumulated_[i] != 0 && grad_of(params_[i]).defined();
      used_.data_as<int32_t>()[i] = used ? 1 : 0;
    }
  }
  accumulated_.assign(params_.size(), 0);
  // The object stays alive until the backward has ended.
  queue_last_callback([self = shared_from_this()] { self->finish(); });
  for (const size_t number : unused_) mark_ready(number, false);
}

void DataParallel::mark_ready(size_t number, bool reached) {
  TSR_CHECK(ready_[number] == 0, Code::kAutograd, nullptr, "expected one gradient for parameter ",
            number, " in a backward, got a second: its part of the graph ran twice");
  ready_[number] = 1;
  const Place place = places_[number];
  const Bucket& bucket = buckets_[place.bucket];
  if (reached && used_.defined()) used_.data_as<int32_t>()[number] = 1;
  // Gradients add up over backwards, so one of an earlier backward counts also if this backward
  // does not reach the parameter here: another rank may have added to it.
  const Tensor grad = grad_of(params_[number]);
  if (!reached && grad.defined() && same_memory(grad, bucket.view(place.index))) {
    spared_.emplace_back(number, ops::clone(grad));
  }
  if (reached || grad.defined()) {
    fill(bucket, place.index, grad);
  } else {
    ops::zero_(bucket.view(place.index));
  }
  note(EventKind::kReady, number);
  if (--missing_[place.bucket] == 0) launch_full();
}

// Divides before the sum, so that the sum of many large gradients stays in range.
void DataParallel::fill(const Bucket& bucket, size_t place, const Tensor& grad) {
  const Tensor& view = bucket.view(place);
  const Tensor& param = params_[bucket.plan().members[place]];
  TSR_CHECK(grad.defined() && grad.sizes() == view.sizes() && grad.device() == view.device() &&
                grad.dtype() == param.dtype(),
            Code::kAutograd, nullptr,
            "expected gradients of the shape, dtype and device that the parameters had when "
            "data-parallel training began, got another one for parameter ",
            bucket.plan().members[place]);
  const double factor = 1.0 / static_cast<double>(divisor_);
  if (same_memory(grad, view)) {
    ops::multiply(view, factor, Out::inplace(view));
  } else if (view.dtype() == grad.dtype()) {
    ops::multiply(grad, factor, Out::into(view));
  } else {
    ops::copy_(view, ops::multiply(grad, factor));
  }
  if (options_.gradient_as_bucket_view && !same_memory(grad, view)) {
    set_grad(param, make_view(view, view.sizes(), view.strides(), view.offset()));
  }
}

// Always in the order of the buckets, which is the same on all ranks.
void DataParallel::launch_full() {
  for (; next_bucket_ < buckets_.size() && missing_[next_bucket_] == 0; ++next_bucket_) {
    note(EventKind::kLaunched, next_bucket_);
    works_.push_back(group_->all_reduce(buckets_[next_bucket_].memory(), ReduceOp::kSum));
  }
}

void DataParallel::mark_missing() {
  std::string missing;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (ready_[i] != 0) continue;
    if (options_.find_unused) {
      mark_ready(i, false);
    } else {
      missing += concat(missing.empty() ? "" : ", ", i);
    }
  }
  TSR_CHECK(missing.empty(), Code::kAutograd, nullptr,
            "expected a backward that reaches every parameter, got no gradient for parameters ",
            missing, ", counted among those that require grad; find_unused allows that");
}

void DataParallel::finish() {
  const auto entry = enter();
  if (!begun_) return;
  const Quiet quiet;
  const struct Reset {
    DataParallel& self;
    ~Reset() { self.reset(); }
  } at_end{*this};
  mark_missing();
  if (used_.defined()) {
    // On the device of the gradients, because some groups know no other.
    const Tensor counts = ops::to(used_, params_[0].device(), std::nullopt);
    group_->all_reduce(counts, ReduceOp::kSum)->wait();
    used_ = ops::to(counts, Device{}, std::nullopt);
  }
  for (size_t b = 0; b < buckets_.size(); ++b) {
    works_[b]->wait();
    note(EventKind::kFinished, b);
    const std::vector<size_t>& members = buckets_[b].plan().members;
    for (size_t k = 0; k < members.size(); ++k) {
      const bool used = !used_.defined() || used_.data_as<int32_t>()[members[k]] != 0;
      if (used) give_back(buckets_[b], k);
    }
  }
  // What no rank has reached stays as it was, to the last bit.
  for (const auto& [number, before] : spared_) {
    if (used_.data_as<int32_t>()[number] == 0) ops::copy_(grad_of(params_[number]), before);
  }
  last_events_.swap(events_);
  stepped_ = true;
}

void DataParallel::give_back(const Bucket& bucket, size_t place) const {
  const Tensor& view = bucket.view(place);
  const Tensor& param = params_[bucket.plan().members[place]];
  const Tensor grad = grad_of(param);
  if (grad.defined()) {
    if (!same_memory(grad, view)) ops::copy_(grad, view);
  } else if (options_.gradient_as_bucket_view) {
    set_grad(param, make_view(view, view.sizes(), view.strides(), view.offset()));
  } else {
    set_grad(param, ops::astype(view, param.dtype(), true));
  }
}

// As a backward whose gradients are all zero; the averages are not needed here.
void DataParallel::shadow_backward() {
  std::vector<WorkPtr> works;
  for (const Bucket& bucket : buckets_) {
    ops::zero_(bucket.memory());
    works.push_back(group_->all_reduce(bucket.memory(), ReduceOp::kSum));
  }
  if (options_.find_unused) {
    const auto count = static_cast<int64_t>(params_.size());
    const Tensor none = ops::zeros(Dims{count}, DType::kInt32, params_[0].device());
    works.push_back(group_->all_reduce(none, ReduceOp::kSum));
  }
  for (const WorkPtr& work : works) work->wait();
  stepped_ = true;
}

}  // namespace tsr::dist
