// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Planned runs on a device: order between streams, and calls that the device keeps as a graph.
#include <algorithm>
#include <utility>
#include <vector>

#include "capi/program/plan.h"
#include "capi/program/recorder.h"
#include "memory/allocator.h"
#include "ops/create/copy.h"

namespace tsr::capi::program {
namespace {

// While one lives, draws leave the generators of the program and of this thread as they were: what
// is queued does not run.
class DrawsNothing {
 public:
  explicit DrawsNothing(const Program& program) : program_(program) {
    Generator& current = current_generator();
    if (&current != &default_generator()) current_ = IntrusivePtr<Generator>::share(&current);
    for (const auto& generator : program.generators) states_.push_back(generator->state());
    auto apart = IntrusivePtr<Generator>::adopt(new Generator(0));
    apart->set_state(current.state());
    set_current_generator(std::move(apart));
  }
  DrawsNothing(const DrawsNothing&) = delete;
  DrawsNothing& operator=(const DrawsNothing&) = delete;
  ~DrawsNothing() {
    set_current_generator(std::move(current_));
    for (size_t i = 0; i < states_.size(); ++i) program_.generators[i]->set_state(states_[i]);
  }

 private:
  const Program& program_;
  IntrusivePtr<Generator> current_;  // null: the default one
  std::vector<GeneratorState> states_;
};

}  // namespace

// The memory of a plan is used by the runs of all streams, so each waits for the one before.
void Plan::wait_for_last_run() {
  if (done_ == nullptr || current_stream(device_) == ran_on_) return;
  stream_of_this_thread(device_, interface_of(device_))->wait(*done_);
}

void Plan::mark_run() {
  const DeviceInterface& interface = interface_of(device_);
  if (interface.event_create == nullptr) return;
  const StreamHandle stream = current_stream(device_);
  if (done_ == nullptr || stream != ran_on_) record_stream_of_run(stream);
  if (done_ == nullptr) done_ = Event::create(device_, interface);
  done_->record(*stream_of_this_thread(device_, interface));
  ran_on_ = stream;
}

// The plan's memory returns to the stream on which it was allocated: not before its use on this
// one is over.
void Plan::record_stream_of_run(StreamHandle stream) {
  const auto record = [&](const Storage& storage) {
    if (storage.device == device_) record_stream(storage, stream);
  };
  for (const StoragePtr& arena : arenas_) record(*arena);
  for (const size_t group : output_groups_)
    record(*tensors_[static_cast<size_t>(groups_[group].values.front())].storage());
  if (device_run_ == nullptr) return;
  for (const auto* list : {&device_run_->inputs, &device_run_->outputs}) {
    for (const Tensor& tensor : *list) {
      if (tensor.defined()) record(*tensor.storage());
    }
  }
}

// What a graph cannot contain, as far as the plan tells; empty if nothing.
std::string Plan::refuse_graph() const {
  const bool is_one = std::all_of(groups_.begin(), groups_.end(),
                                  [&](const Group& group) { return group.device == device_; });
  if (!is_one) return "tensors are on several devices";
  if (!written_inputs_.empty()) return "an input is written";
  for (const Call& call : calls_) {
    if (call.gives)
      return concat("call ", call.number, ", ", call.prepared->step().symbol->name,
                    ", gives new memory in every run");
  }
  return {};
}

// The graph has inputs and outputs of its own, because its addresses never change.
void Plan::try_graph() {
  graph_tried_ = true;
  graph_reason_ = refuse_graph();
  if (!graph_reason_.empty()) return;
  auto run = std::make_unique<DeviceRun>();
  for (const Named& input : program_.inputs) {
    const Tensor& stand_in = tensors_[static_cast<size_t>(input.value)];
    Storage& storage = *stand_in.storage();
    const StoragePtr own = allocate_storage(device_, storage.nbytes);
    run->inputs.push_back(Tensor::adopt(new TensorImpl(own, stand_in.dtype(), stand_in.sizes(),
                                                       stand_in.strides(), stand_in.offset())));
    storage.data = own->data;
    storage.read_only = false;
  }
  for (const size_t group : output_groups_) renew(group);
  int32_t number = 0;
  {
    const Watching watching;
    const DrawsNothing draws(program_);
    run->graph = kernel::DeviceGraph::capture(
        device_,
        [&] {
          for (Call& call : calls_) {
            number = call.number;
            make_call(call);
            if (!graph_reason_.empty()) return;
          }
        },
        graph_reason_);
  }
  if (!graph_reason_.empty()) {
    graph_reason_ =
        concat("call ", number, ", ", program_.steps[static_cast<size_t>(number)].symbol->name,
               ": ", graph_reason_);
  }
  for (const Named& named : program_.outputs) {
    const auto at = static_cast<size_t>(named.value);
    const int32_t group = group_of_[at];
    const bool is_own = group >= 0 && groups_[static_cast<size_t>(group)].memory == Memory::kOutput;
    run->outputs.push_back(is_own ? tensors_[at] : Tensor());
  }
  // Runs by calls, for a trace, must not give the graph's memory to the caller.
  for (const size_t group : output_groups_) renew(group);
  if (graph_reason_.empty() && run->graph != nullptr) device_run_ = std::move(run);
}

std::vector<Tensor> Plan::run_graph(std::span<const Tensor> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].numel() > 0) ops::copy_memory(device_run_->inputs[i], given[i].detached());
  }
  device_run_->graph->launch();
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    const Tensor& inner = device_run_->outputs[i];
    if (!inner.defined()) {
      outputs.push_back(output(program_.outputs[i], given));
      continue;
    }
    outputs.push_back(empty_strided(inner.sizes(), inner.strides(), inner.dtype(), device_));
    ops::copy_memory(outputs.back(), inner.detached());
  }
  for (const int32_t value : written_stored_) tensors_[static_cast<size_t>(value)].bump_version();
  return outputs;
}

}  // namespace tsr::capi::program
