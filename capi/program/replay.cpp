// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Replayed steps: runs. replay_capture.cpp captures them.
#include "capi/program/replay.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "autograd/accumulate_grad.h"
#include "autograd/grad_mode.h"
#include "autograd/hooks.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "capi/handle.h"
#include "capi/program/bytes.h"
#include "capi/program/runner.h"
#include "kernel/registry.h"

namespace tsr::capi::program {
namespace {

// A capture costs as much as two steps: after so many in a row that were of little use, none
// follows.
constexpr int32_t kMostCaptures = 4;
constexpr int32_t kManyReplays = 16;
constexpr int32_t kMostMisses = 2;

size_t count_hooks(const Tensor& leaf) {
  TensorRecord* record = record_of(leaf);
  if (record == nullptr) return 0;
  const auto living = [](const auto& list) {
    return static_cast<size_t>(
        std::count_if(list.begin(), list.end(), [](const auto& hook) { return !hook->removed(); }));
  };
  const std::lock_guard guard(record->lock);
  size_t count = record->hooks == nullptr
                     ? 0
                     : living(record->hooks->on_grad) + living(record->hooks->after_accumulate);
  // Somebody holds the leaf's node, and may have put hooks on it.
  const AccumulateGrad* accumulator = record->accumulator.load(std::memory_order_relaxed);
  if (accumulator != nullptr && accumulator->hooks() != nullptr) ++count;
  return count;
}

uint32_t references(const Object& object) {
  return object.refs.load(std::memory_order_acquire);
}

}  // namespace

Replay::Leaf::Leaf(const Tensor& stored)
    : at(stored),
      requires_grad(stored.requires_grad()),
      hooks(count_hooks(stored)),
      before(grad_of(stored)) {
  had_grad = before.defined();
}

Replay::Replay(Program& program, std::span<const Tensor> given, const Sizes& sizes)
    : program_(program), sizes_(sizes) {
  for (const Tensor& input : given) inputs_.push_back(Layout::of(input));
}

Replay::~Replay() {
  forget();
}

void Replay::forget() noexcept {
  items_.clear();
  live_.clear();
  leaves_.clear();
  moving_.clear();
  moved_to_.clear();
  drawings_.clear();
  sources_.clear();
  outputs_.clear();
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->drop();
  stage_ = Stage::kNew;
  misses_ = replays_ = 0;
}

bool Replay::fits(std::span<const Tensor> given, const Sizes& sizes) const noexcept {
  if (sizes != sizes_) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].strides() != inputs_[i].strides) return false;
  }
  return true;
}

size_t Replay::launch_count() const noexcept {
  return static_cast<size_t>(std::count_if(items_.begin(), items_.end(), [](const Item& item) {
    return item.launch != nullptr && item.live < 0;
  }));
}

std::vector<Tensor> Replay::run(std::span<const Tensor> given, const Calls& calls) {
  // A trace sees calls.
  const bool is_watched = is_traced(TraceKind::kCall) || is_traced(TraceKind::kLaunch);
  if (!reason_.empty() || is_watched) return calls(nullptr);
  if (stage_ == Stage::kKept) {
    if (can_replay(given)) {
      misses_ = 0;
      if (++replays_ >= kManyReplays) captures_ = 0;
      return replay(given);
    }
    // The caller may let go of what it holds.
    if (++misses_ < kMostMisses) return calls(nullptr);
    forget();
    if (captures_ >= kMostCaptures) give_up();
    return run(given, calls);
  }
  std::vector<Tensor> outputs;
  if (stage_ == Stage::kNew) {
    observe(calls, outputs);
    stage_ = Stage::kSeen;
  } else {
    capture(given, calls, outputs);
    if (stage_ != Stage::kKept) forget();
    if (captures_ >= kMostCaptures && stage_ != Stage::kKept) give_up();
  }
  return outputs;
}

void Replay::give_up() {
  if (reason_.empty()) reason_ = "what the step works on changes from run to run";
}

void Replay::observe(const Calls& calls, std::vector<Tensor>& outputs) {
  std::vector<std::pair<StoragePtr, uint32_t>> versions;
  for (const Value& value : program_.values) {
    if (value.stored.defined())
      versions.emplace_back(value.stored.storage(), value.stored.version());
  }
  outputs = calls(nullptr);
  written_.clear();
  for (const auto& [storage, version] : versions) {
    const bool is_known = std::find(written_.begin(), written_.end(), storage) != written_.end();
    if (storage->version.load(std::memory_order_relaxed) != version && !is_known)
      written_.push_back(storage);
  }
}

// ---- Whether the captured run can be made again ----

bool Replay::can_replay(std::span<const Tensor> given) const {
  for (const Tensor& input : given) {
    if (input.requires_grad() || input.has(kViewFlag) || input.has(kDualFlag)) {
      if (requires_grad(input) || input.has(kDualFlag)) return false;
    }
  }
  return std::all_of(leaves_.begin(), leaves_.end(), [](const Leaf& leaf) {
    const Tensor& stored = leaf.at.tensor;
    if (!leaf.at.fits() || stored.requires_grad() != leaf.requires_grad) return false;
    if (!leaf.requires_grad && !leaf.after.defined()) return true;
    if (count_hooks(stored) != leaf.hooks) return false;
    const Tensor now = grad_of(stored);
    if (leaf.stays) return now.is_same(leaf.after);
    // If there was a gradient, the step dropped it without reading it; then any other will do.
    if (!leaf.had_grad && now.defined()) return false;
    if (!leaf.after.defined()) return true;
    // A gradient that the caller holds stays as it is.
    const uint32_t known = leaf.holders + (now.is_same(leaf.after) ? 2 : 0);
    return references(*leaf.after.impl()) == known &&
           references(*leaf.after.storage()) == leaf.on_storage;
  });
}

// ---- Runs ----

void Replay::put_grad(const Leaf& leaf, const Tensor& grad) {
  const Tensor& stored = leaf.at.tensor;
  if (!grad_of(stored).is_same(grad)) set_grad(stored, grad);
}

void Replay::place_inputs(std::span<const Tensor> given) {
  bool moved = false;
  for (size_t i = 0; i < given.size(); ++i) moved = moved || moved_to_[i] != given[i].data();
  if (!moved) return;
  for (const Moving& each : moving_) {
    auto* first = given[each.input].data_as<std::byte>();
    if (moved_to_[each.input] != first) each.launch->set_address(each.at, first + each.offset);
  }
  for (size_t i = 0; i < given.size(); ++i) moved_to_[i] = given[i].data();
}

void Replay::call_live(Live& live) {
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (leaves_[i].requires_grad) put_grad(leaves_[i], live.grads[i]);
  }
  const Step& step = program_.steps[static_cast<size_t>(live.step)];
  const GradModeScope mode({(step.mode & kModeGrad) != 0, (step.mode & kModeInference) != 0,
                            t_grad_mode.record_outside});
  live.prepared->call(live.step);
  for (size_t i = 0; i < live.results.size(); ++i) {
    const tsr_tensor handle = live.prepared->results()[i];
    if (handle == nullptr) continue;
    if (live.results[i].defined()) {
      const Tensor made = Tensor::share(reinterpret_cast<TensorImpl*>(handle));
      const Bytes to = bytes_of(live.results[i]);
      std::memcpy(to.low, bytes_of(made).low, to.size());
    }
    release_tensor(handle);
  }
}

Tensor Replay::give(Output& output, std::span<const Tensor> given) const {
  if (output.kind == Output::Kind::kInput) return given[output.input];
  if (output.kind == Output::Kind::kStored) return output.inner;
  const Tensor& inner = output.inner;
  if (output.kind == Output::Kind::kAlias) return inner.detached();
  const Extent extent = inner.numel() == 0 ? Extent{} : extent_of(inner.sizes(), inner.strides());
  const auto is_ours = [&] {
    const TensorImpl& impl = *output.lent.impl();
    const Storage& storage = *impl.storage;
    return references(impl) == 1 && storage.refs.load(std::memory_order_acquire) == 1 &&
           impl.autograd == nullptr && storage.data == output.data && !storage.read_only &&
           impl.dtype == inner.dtype() && impl.offset == -extent.low &&
           impl.sizes == inner.sizes() && impl.strides == inner.strides();
  };
  if (!output.lent.defined() || !is_ours()) {
    const auto nbytes = static_cast<uint64_t>((extent.high - extent.low) * inner.itemsize());
    output.lent =
        Tensor::adopt(new TensorImpl(allocate_storage(inner.device(), nbytes), inner.dtype(),
                                     inner.sizes(), inner.strides(), -extent.low));
    output.data = output.lent.storage()->data;
  }
  if (inner.numel() > 0) {
    const Bytes from = bytes_of(inner);
    std::memcpy(bytes_of(output.lent).low, from.low, from.size());
  }
  return output.lent;
}

std::vector<Tensor> Replay::give_all(std::span<const Tensor> given) {
  std::vector<Tensor> outputs;
  outputs.reserve(outputs_.size());
  for (Output& output : outputs_) outputs.push_back(give(output, given));
  return outputs;
}

std::vector<Tensor> Replay::replay(std::span<const Tensor> given) {
  place_inputs(given);
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    Generator& generator = source.generator != nullptr ? *source.generator : current_generator();
    const GeneratorState now = generator.take(source.blocks);
    for (const Drawing& drawing : drawings_) {
      if (drawing.source != i) continue;
      *drawing.draw.seed = now.seed;
      *drawing.draw.offset = now.offset + drawing.offset;
    }
  }
  const NoGrad no_grad;
  for (const Item& item : items_) {
    if (item.launch == nullptr) {
      call_live(live_[static_cast<size_t>(item.live)]);
      continue;
    }
    if (item.live >= 0) continue;
    const kernel::Status status = item.launch->run();
    if (status != kernel::kOk) [[unlikely]]
      kernel::throw_kernel_error(Device{}, "program", status);
  }
  for (const Leaf& leaf : leaves_) {
    if (leaf.requires_grad && !leaf.stays) put_grad(leaf, leaf.after);
  }
  // Launches alone do not raise versions.
  for (const StoragePtr& storage : written_)
    storage->version.fetch_add(1, std::memory_order_relaxed);
  return give_all(given);
}

}  // namespace tsr::capi::program
