// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/data_parallel.h"

#include <numeric>
#include <unordered_set>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "base/json.h"
#include "dist/agreement.h"
#include "optim/optimizer.h"

namespace tsr::dist {
namespace {

using optim::Quiet;

void check_params(std::span<const Tensor> params) {
  std::unordered_set<const TensorImpl*> known;
  bool any = false;
  for (size_t i = 0; i < params.size(); ++i) {
    TSR_CHECK(is_leaf(params[i]), Code::kAutograd, "params",
              "expected leaves, got a computed tensor at position ", i);
    TSR_CHECK(known.insert(params[i].impl()).second, Code::kValue, "params",
              "expected each parameter once, got one again at position ", i);
    any |= params[i].requires_grad();
  }
  TSR_CHECK(any, Code::kValue, "params",
            "expected at least one parameter that requires grad, got none");
}

}  // namespace

void DataParallelOptions::check() const {
  TSR_CHECK(bucket_bytes > 0, Code::kValue, "options", "expected bucket_bytes above 0, got ",
            bucket_bytes);
  TSR_CHECK(first_bucket_bytes > 0, Code::kValue, "options",
            "expected first_bucket_bytes above 0, got ", first_bucket_bytes);
  TSR_CHECK(!reduce_dtype || is_floating(*reduce_dtype), Code::kValue, "options",
            "expected a floating reduce_dtype, got ", *reduce_dtype);
  TSR_CHECK(!reduce_dtype || !gradient_as_bucket_view, Code::kValue, "options",
            "expected buckets of the parameters' dtype for gradients that are views of them, got "
            "also a reduce_dtype");
}

std::shared_ptr<DataParallel> DataParallel::create(GroupPtr group, std::span<const Tensor> params,
                                                   std::span<const Tensor> buffers,
                                                   const DataParallelOptions& options) {
  std::shared_ptr<DataParallel> one(new DataParallel(std::move(group), params, buffers, options));
  one->add_hooks();
  return one;
}

DataParallel::DataParallel(GroupPtr group, std::span<const Tensor> params,
                           std::span<const Tensor> buffers, const DataParallelOptions& options)
    : group_(std::move(group)), options_(options), buffers_(buffers.begin(), buffers.end()) {
  options_.check();
  check_params(params);
  for (const Tensor& param : params) {
    (param.requires_grad() ? params_ : frozen_).push_back(param);
  }
  const Quiet quiet;
  check_model(params);
  broadcast_model(0);
  std::vector<size_t> order(params_.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  make_buckets(order);
  owned_.add(params);
  accumulated_.assign(params_.size(), 0);
}

DataParallel::Hooks::~Hooks() {
  for (const HookHandle& hook : list) hook.remove();
}

void DataParallel::check_model(std::span<const Tensor> params) const {
  std::vector<std::string> described;
  const auto describe = [&described](const char* kind, std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors) {
      described.push_back(concat(kind, " ", described.size(), " of shape ", tensor.sizes(),
                                 " and dtype ", tensor.dtype(),
                                 tensor.requires_grad() ? "" : " without gradient"));
    }
  };
  describe("parameter", params);
  describe("buffer", buffers_);
  check_equal_lists(*group_, params_[0].device(), described, "params");
}

void DataParallel::add_hooks() {
  hooks_.list.reserve(params_.size());
  for (size_t i = 0; i < params_.size(); ++i) {
    // A backward on another thread may call it after the object is gone.
    hooks_.list.push_back(
        add_accumulate_hook(params_[i], [weak = weak_from_this(), i](const Tensor&) {
          if (const auto self = weak.lock()) self->on_gradient(i);
        }));
  }
}

void DataParallel::make_buckets(std::span<const size_t> order) {
  buckets_.clear();  // before the new ones need memory
  places_.assign(params_.size(), {});
  for (BucketPlan& plan : plan_buckets(params_, order, options_.first_bucket_bytes,
                                       options_.bucket_bytes, options_.reduce_dtype)) {
    for (size_t k = 0; k < plan.members.size(); ++k) {
      places_[plan.members[k]] = {buckets_.size(), k};
    }
    buckets_.emplace_back(std::move(plan), params_);
  }
}

void DataParallel::broadcast_model(int32_t source) const {
  std::vector<Tensor> all(params_);
  all.insert(all.end(), frozen_.begin(), frozen_.end());
  all.insert(all.end(), buffers_.begin(), buffers_.end());
  group_->broadcast(all, source)->wait();
}

void DataParallel::broadcast_buffers(int32_t source) const {
  group_->broadcast(buffers_, source)->wait();
}

// ---- forward ----

bool DataParallel::set_sync(bool sync) {
  const auto entry = enter();
  return std::exchange(sync_, sync);
}

// With find_unused the order may differ from step to step, and between ranks.
bool DataParallel::wants_rebuild() const noexcept {
  return !rebuilt_ && !options_.find_unused && stepped_;
}

void DataParallel::rebuild() {
  std::vector<int64_t> order;
  if (group_->rank() == order_source_) {
    for (const Event& event : last_events_) {
      if (event.kind == EventKind::kReady) order.push_back(static_cast<int64_t>(event.number));
    }
  }
  order.resize(params_.size());
  broadcast_numbers(*group_, params_[0].device(), order, order_source_);
  make_buckets(std::vector<size_t>(order.begin(), order.end()));
  rebuilt_ = true;
}

// The collectives before a forward, also on a rank that only takes part in that of others.
void DataParallel::prepare(const Step& step) {
  if (step.rebuilds) rebuild();
  if (step.broadcasts) broadcast_buffers(step.lowest);
  if (step.syncs) order_source_ = step.lowest;
}

void DataParallel::begin_forward() {
  const auto entry = enter();
  const bool records = grad_enabled();
  const bool syncs = records && sync_;
  if (records && begun_) {
    TSR_CHECK(current_backward() == nullptr, Code::kAutograd, nullptr,
              "expected the end of the backward that averages gradients before a new forward, got "
              "a forward inside it");
    reset();  // that backward has thrown
  }
  const Quiet quiet;
  Step step;
  step.active = group_->size();
  step.syncs = syncs;
  step.rebuilds = syncs && wants_rebuild();
  // As before any forward: nothing changed since the last time if no step was taken between.
  step.broadcasts = forward_synced_ && options_.broadcast_buffers && !buffers_.empty();
  divisor_ = group_->size();
  if (join_) {
    step = announce(step);
    check_even(step);
    last_active_ = step.lowest;
    if (!join_->divide_by_initial_size) divisor_ = step.active;
  }
  prepare(step);
  forward_synced_ = syncs;
  // A forward without gradients (a target, a validation) says nothing about the next backward.
  if (!records) return;
  expecting_ = syncs;
  unused_.clear();
}

void DataParallel::end_forward(std::span<const Tensor> outputs) {
  const auto entry = enter();
  if (expecting_ && grad_enabled() && options_.find_unused) find_unused(outputs);
}

std::string DataParallel::report() const {
  const auto entry = enter();
  constexpr const char* kKinds[] = {"ready", "launched", "finished"};
  Json buckets = Json::array();
  for (const Bucket& bucket : buckets_) {
    const BucketPlan& plan = bucket.plan();
    buckets.push_back({{"dtype", concat(plan.dtype)},
                       {"bytes", plan.numel * itemsize(plan.dtype)},
                       {"params", plan.members}});
  }
  Json events = Json::array();
  for (const Event& event : last_events_) {
    events.push_back({{"kind", kKinds[static_cast<size_t>(event.kind)]},
                      {"number", event.number},
                      {"ns", event.time}});
  }
  const Json tree = {
      {"rebuilt", rebuilt_}, {"buckets", std::move(buckets)}, {"events", std::move(events)}};
  return tree.dump_in_order();
}

// ---- uneven inputs ----

void DataParallel::begin_join(JoinOptions options) {
  const auto entry = enter();
  TSR_CHECK(!join_, Code::kValue, nullptr, "expected the end of a join before the next, got none");
  join_ = options;
  last_active_ = -1;
}

// `mine.active` is 0 on a rank that has no more samples.
DataParallel::Step DataParallel::announce(const Step& mine) const {
  const auto size = static_cast<size_t>(group_->size());
  std::vector<int64_t> numbers(size + 3, 0);
  numbers[static_cast<size_t>(group_->rank())] = mine.active > 0 ? 1 : 0;
  numbers[size] = mine.syncs ? 1 : 0;
  numbers[size + 1] = mine.rebuilds ? 1 : 0;
  numbers[size + 2] = mine.broadcasts ? 1 : 0;
  sum_numbers(*group_, params_[0].device(), numbers);
  Step found;
  for (size_t rank = size; rank-- > 0;) {
    if (numbers[rank] == 0) continue;
    ++found.active;
    found.lowest = static_cast<int32_t>(rank);
  }
  found.syncs = numbers[size] > 0;
  found.rebuilds = numbers[size + 1] > 0;
  found.broadcasts = numbers[size + 2] > 0;
  return found;
}

// All ranks come here with the same numbers; the error ends the join on each.
void DataParallel::check_even(const Step& step) {
  if (!join_->fail_when_uneven || step.active == 0 || step.active == group_->size()) return;
  leave_join();
  fail(Code::kValue, nullptr, __FILE__, __LINE__,
       "expected the same number of forwards on all ranks, got only ", step.active, " of ",
       group_->size(), " ranks that have one more");
}

// Ranks that made different numbers of forwards go on alike.
void DataParallel::leave_join() noexcept {
  join_.reset();
  forward_synced_ = true;
  expecting_ = false;
}

void DataParallel::end_join() {
  const auto entry = enter();
  TSR_CHECK(join_, Code::kValue, nullptr, "expected the begin of a join before its end, got none");
  const Quiet quiet;
  const struct End {
    DataParallel& self;
    ~End() { self.leave_join(); }
  } end{*this};
  for (;;) {
    const Step step = announce({});
    if (step.active == 0) break;
    check_even(step);
    last_active_ = step.lowest;
    prepare(step);
    if (step.syncs) shadow_backward();
  }
  if (last_active_ >= 0) broadcast_model(last_active_);
}

}  // namespace tsr::dist
