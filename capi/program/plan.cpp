// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Planned runs. plan_make.cpp makes plans.
#include "capi/program/plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/trace.h"
#include "capi/handle.h"
#include "capi/program/bytes.h"
#include "capi/program/recorder.h"
#include "kernel/registry.h"

namespace tsr::capi::program {
namespace {

class Keeper final : public kernel::LaunchKeeper {
 public:
  Keeper() noexcept { kernel::t_launch_keeper = this; }
  ~Keeper() override { kernel::t_launch_keeper = nullptr; }
  void take(std::unique_ptr<kernel::KeptLaunch> launch) override {
    // Random numbers are drawn anew in each run.
    if (launch == nullptr || launch->draw().seed != nullptr) complete = false;
    launches.push_back(std::move(launch));
  }
  void take_decision(const char*) noexcept override { complete = false; }
  std::vector<std::unique_ptr<kernel::KeptLaunch>> launches;
  bool complete = true;
};

using Contents = std::vector<std::vector<std::byte>>;

// The memory that a call writes to.
class Written {
 public:
  explicit Written(std::span<const Tensor> targets) {
    for (const Tensor& target : targets) {
      const Bytes bytes = bytes_of(target);
      // What has no bytes may have no memory, and memcpy and memcmp take no null pointer.
      if (bytes.size() != 0) memory_.push_back(bytes);
    }
  }

  [[nodiscard]] Contents contents() const {
    Contents found;
    for (const Bytes& bytes : memory_) found.emplace_back(bytes.low, bytes.high);
    return found;
  }
  void set(const Contents& contents) const {
    for (size_t i = 0; i < memory_.size(); ++i)
      std::memcpy(memory_[i].low, contents[i].data(), contents[i].size());
  }
  [[nodiscard]] bool equals(const Contents& contents) const {
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (std::memcmp(memory_[i].low, contents[i].data(), contents[i].size()) != 0) return false;
    }
    return true;
  }
  // Shows what is not written again.
  void spoil() const {
    for (const Bytes& bytes : memory_) std::memset(bytes.low, 0xa5, bytes.size());
  }

 private:
  std::vector<Bytes> memory_;
};

TensorImpl* impl_of(tsr_tensor handle) {
  return reinterpret_cast<TensorImpl*>(handle);
}

bool has_generator(const Symbol& symbol) {
  return letters_of(symbol).find_first_of("gG") != std::string_view::npos;
}

}  // namespace

Plan::Plan(Program& program)
    : program_(program),
      tensors_(program.values.size()),
      slots_(program.values.size()),
      group_of_(program.values.size(), -1),
      is_given_(program.values.size()) {}

Plan::~Plan() {
  drop_given();
  for (const Tensor& tensor : tensors_) {
    if (tensor.defined()) take_back(tensor.impl());
  }
}

// ---- What must not have changed ----

Layout Layout::of(const Tensor& tensor) {
  return {tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset()};
}
bool Layout::fits(const Tensor& tensor) const noexcept {
  return tensor.dtype() == dtype && tensor.offset() == offset && tensor.sizes() == sizes &&
         tensor.strides() == strides;
}

StoredAt::StoredAt(const Tensor& stored)
    : tensor(stored), storage(stored.storage()), data(storage->data), layout(Layout::of(stored)) {}
bool StoredAt::fits() const noexcept {
  return tensor.storage() == storage && storage->data == data && layout.fits(tensor);
}

bool Plan::fits(std::span<const Tensor> given, const Sizes& sizes) const noexcept {
  if (sizes != sizes_) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].strides() != input_strides_[i]) return false;
  }
  return std::all_of(stored_.begin(), stored_.end(),
                     [](const StoredAt& stored) { return stored.fits(); });
}

size_t Plan::kept_calls() const noexcept {
  return static_cast<size_t>(std::count_if(
      calls_.begin(), calls_.end(), [](const Call& call) { return !call.launches.empty(); }));
}

void Plan::set_slot(int32_t value, const Tensor& tensor) {
  const auto at = static_cast<size_t>(value);
  if (tensors_[at].defined()) take_back(tensors_[at].impl());
  tensors_[at] = tensor;
  hand_out(tensor.impl());
  slots_[at] = reinterpret_cast<tsr_tensor>(tensor.impl());
}

// ---- What moves from run to run ----

void Plan::move(size_t group) {
  const Storage& storage = *tensors_[static_cast<size_t>(groups_[group].values.front())].storage();
  if (moved_to_[group] == storage.data) return;
  moved_to_[group] = storage.data;
  for (const Moving& each : moving_[group])
    each.launch->set_address(each.at, static_cast<std::byte*>(storage.data) + each.offset);
}

void Plan::place_inputs(std::span<const Tensor> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const auto value = static_cast<size_t>(program_.inputs[i].value);
    const Tensor& stand_in = tensors_[value];
    Storage& storage = *stand_in.storage();
    storage.data = given[i].numel() == 0
                       ? nullptr
                       : given[i].data_as<std::byte>() - stand_in.offset() * stand_in.itemsize();
    storage.read_only = given[i].storage()->read_only;
    move(static_cast<size_t>(group_of_[value]));
  }
}

// New memory for the outputs on one storage.
void Plan::renew(size_t number) {
  const Group& group = groups_[number];
  const StoragePtr storage = allocate_storage(group.device, group.nbytes);
  for (const auto& [value, layout] : output_layouts_) {
    if (group_of_[static_cast<size_t>(value)] != static_cast<int32_t>(number)) continue;
    set_slot(value, Tensor::adopt(new TensorImpl(storage, layout.dtype, layout.sizes,
                                                 layout.strides, layout.offset)));
  }
}

void Plan::renew_outputs() {
  for (const size_t i : output_groups_) {
    const Group& group = groups_[i];
    const Storage& storage = *tensors_[static_cast<size_t>(group.values.front())].storage();
    bool reused = storage.refs.load(std::memory_order_acquire) == group.values.size() &&
                  !storage.read_only && storage.data == output_data_[i];
    // The caller may have changed what it had.
    for (const auto& [value, layout] : output_layouts_) {
      if (group_of_[static_cast<size_t>(value)] != static_cast<int32_t>(i)) continue;
      const Tensor& tensor = tensors_[static_cast<size_t>(value)];
      const TensorImpl& impl = *tensor.impl();
      reused = reused && impl.refs.load(std::memory_order_acquire) == 1 &&
               impl.autograd == nullptr && &*tensor.storage() == &storage && layout.fits(tensor);
    }
    if (!reused) renew(i);
    output_data_[i] = tensors_[static_cast<size_t>(group.values.front())].storage()->data;
    move(i);
  }
}

// ---- Launches that are kept ----

bool Plan::find_moving(Call& call, std::vector<std::pair<size_t, Moving>>& moving) {
  std::vector<std::pair<size_t, Bytes>> memory;
  const auto add = [&](int32_t value) {
    if (value == kAbsent) return;
    const auto at = static_cast<size_t>(value);
    memory.emplace_back(static_cast<size_t>(group_of_[at]), bytes_of(tensors_[at]));
  };
  for (const Argument& arg : call.prepared->step().args) {
    std::for_each(arg.values.begin(), arg.values.end(), add);
  }
  const auto& results = call.prepared->step().results;
  std::for_each(results.begin(), results.end(), add);
  for (const auto& launch : call.launches) {
    for (int32_t at = 0; at < launch->count(); ++at) {
      const auto* address = static_cast<const std::byte*>(launch->address(at));
      if (address == nullptr) continue;
      size_t owner = SIZE_MAX;
      for (const auto& [group, bytes] : memory) {
        if (!bytes.holds(address) || group == owner) continue;
        if (owner != SIZE_MAX) return false;  // memory of two: they could move apart
        owner = group;
      }
      if (owner == SIZE_MAX) return false;  // memory that is not the program's
      const Memory kind = groups_[owner].memory;
      if (kind != Memory::kInput && kind != Memory::kOutput) continue;
      const auto* base = static_cast<const std::byte*>(moved_to_[owner]);
      moving.push_back({owner, {launch.get(), at, address - base}});
    }
  }
  return true;
}

// Whether the memory of all operands stays where it is, and their values alone decide what is done.
bool Plan::may_keep(const Call& call) const {
  const Step& step = call.prepared->step();
  const auto is_placed = [&](const Argument& arg) {
    return std::all_of(arg.values.begin(), arg.values.end(), [&](int32_t value) {
      return value == kAbsent || tensors_[static_cast<size_t>(value)].defined();
    });
  };
  return on_cpu_ && std::all_of(step.args.begin(), step.args.end(), is_placed) && !call.gives &&
         step.symbol->signature != nullptr && !has_generator(*step.symbol) &&
         (is_inplace_form(*step.symbol) ? step.args.front().kind == TSR_VALUE_TENSOR
                                        : !step.results.empty());
}

std::vector<Tensor> Plan::targets_of(const Step& step) const {
  std::vector<Tensor> targets;
  if (is_inplace_form(*step.symbol))
    targets.push_back(tensors_[static_cast<size_t>(step.args.front().values.front())]);
  for (const int32_t value : step.results) targets.push_back(tensors_[static_cast<size_t>(value)]);
  return targets;
}

// The storages that a call only reads, as they are now. Nothing if it reads what it writes to and
// is no in-place form.
std::optional<Plan::Versions> Plan::versions_of_inputs(const Step& step,
                                                       std::span<const Tensor> targets) const {
  Versions versions;
  for (const Argument& arg : step.args) {
    for (const int32_t value : arg.values) {
      if (value == kAbsent) continue;
      const Tensor& tensor = tensors_[static_cast<size_t>(value)];
      const bool is_target = std::any_of(targets.begin(), targets.end(), [&](const Tensor& target) {
        return target.storage() == tensor.storage();
      });
      if (is_target && !is_inplace_form(*step.symbol)) return std::nullopt;
      if (!is_target) versions.emplace_back(tensor.storage().get(), tensor.version());
    }
  }
  return versions;
}

// Makes the call and takes its launches. True if they are all that it did.
bool Plan::take_launches(Call& call, const Versions& versions) {
  const Watching watching;
  Keeper keeper;
  const uint64_t allocations = watched_allocations();
  make_call(call);
  const bool are_all = keeper.complete && !keeper.launches.empty() &&
                       allocations == watched_allocations() &&
                       std::all_of(versions.begin(), versions.end(), [](const auto& each) {
                         return each.first->version.load(std::memory_order_relaxed) == each.second;
                       });
  call.launches = std::move(keeper.launches);
  return are_all;
}

void Plan::try_keeping(Call& call) {
  call.tried = true;
  if (!may_keep(call)) return make_call(call);
  const Step& step = call.prepared->step();
  const std::vector<Tensor> targets = targets_of(step);
  const auto versions = versions_of_inputs(step, targets);
  if (!versions) return make_call(call);
  const bool inplace = is_inplace_form(*step.symbol);
  const Written written(targets);
  const Contents before = inplace ? written.contents() : Contents();
  std::vector<std::pair<size_t, Moving>> moving;
  if (!take_launches(call, *versions) || !find_moving(call, moving)) {
    call.launches.clear();
    return;
  }
  const Contents after = written.contents();
  if (inplace) {
    written.set(before);
  } else {
    written.spoil();
  }
  const bool same = std::all_of(call.launches.begin(), call.launches.end(),
                                [](const auto& launch) { return launch->run() == kernel::kOk; }) &&
                    written.equals(after);
  if (!same) {
    kernel::forget_kernel_error();
    written.set(after);
    call.launches.clear();
    return;
  }
  for (const auto& [group, each] : moving) moving_[group].push_back(each);
}

// ---- Runs ----

void Plan::make_call(Call& call) {
  call.prepared->rebind(slots_);
  call.prepared->call(call.number);
  if (!call.gives) return;
  const auto& results = call.prepared->step().results;
  for (size_t i = 0; i < results.size(); ++i) {
    const tsr_tensor handle = call.prepared->results()[i];
    if (results[i] == kAbsent) {
      release_tensor(handle);
    } else {
      slots_[static_cast<size_t>(results[i])] = handle;
      is_given_[static_cast<size_t>(results[i])] = true;
    }
  }
}

void Plan::drop_given() noexcept {
  for (const auto& [call, value] : given_) {
    const auto at = static_cast<size_t>(value);
    if (!is_given_[at]) continue;
    is_given_[at] = false;
    release_tensor(std::exchange(slots_[at], nullptr));
  }
}

Tensor Plan::output(const Named& named, std::span<const Tensor> given) const {
  const auto at = static_cast<size_t>(named.value);
  const int32_t group = group_of_[at];
  if (group >= 0 && groups_[static_cast<size_t>(group)].memory == Memory::kInput) {
    const auto input = static_cast<size_t>(groups_[static_cast<size_t>(group)].input);
    const Tensor& from = given[input];
    if (named.value == program_.inputs[input].value) return from;
    const Tensor& stand_in = tensors_[static_cast<size_t>(program_.inputs[input].value)];
    const TensorImpl& view = *impl_of(slots_[at]);
    const int64_t bytes = (from.offset() - stand_in.offset()) * from.itemsize();
    const int64_t offset = view.offset + bytes / tsr::itemsize(view.dtype);
    return Tensor::adopt(
        new TensorImpl(from.storage(), view.dtype, view.sizes, view.strides, offset));
  }
  Tensor made = Tensor::share(impl_of(slots_[at]));
  const bool is_stored =
      group >= 0 && groups_[static_cast<size_t>(group)].memory == Memory::kStored;
  // The plan's own view serves later runs, so the caller gets another tensor on the memory.
  if (is_stored && !program_.values[at].stored.defined()) return made.detached();
  return made;
}

std::vector<Tensor> Plan::run(std::span<const Tensor> given) {
  // A trace sees calls.
  const bool is_watched = is_traced(TraceKind::kCall) || is_traced(TraceKind::kLaunch);
  if (on_cpu_) return run_calls(given, is_watched);
  wait_for_last_run();
  if (!graph_tried_ && !is_watched) {
    try {
      try_graph();
    } catch (const Error& error) {  // no memory for the graph: the calls need less
      graph_reason_ = error.message();
    }
  }
  std::vector<Tensor> outputs =
      device_run_ != nullptr && !is_watched ? run_graph(given) : run_calls(given, is_watched);
  mark_run();
  return outputs;
}

std::vector<Tensor> Plan::run_calls(std::span<const Tensor> given, bool is_watched) {
  place_inputs(given);
  renew_outputs();
  const bool keeps = runs_++ == 0 && !is_watched;
  auto next_given = given_.begin();
  try {
    for (size_t i = 0; i < calls_.size(); ++i) {
      Call& call = calls_[i];
      if (keeps) {
        try_keeping(call);
      } else if (call.launches.empty() || is_watched) {
        make_call(call);
      } else {
        for (const auto& launch : call.launches) {
          const kernel::Status status = launch->run();
          if (status != kernel::kOk) [[unlikely]]
            kernel::throw_kernel_error(Device{}, "program", status);
        }
      }
      for (; next_given != given_.end() && next_given->first <= static_cast<int32_t>(i);
           ++next_given) {
        const auto at = static_cast<size_t>(next_given->second);
        is_given_[at] = false;
        release_tensor(std::exchange(slots_[at], nullptr));
      }
    }
  } catch (...) {
    drop_given();
    throw;
  }
  std::vector<Tensor> outputs;
  outputs.reserve(program_.outputs.size());
  for (const Named& named : program_.outputs) outputs.push_back(output(named, given));
  for (const int32_t input : written_inputs_) given[static_cast<size_t>(input)].bump_version();
  // Launches alone do not raise versions.
  for (const int32_t value : written_stored_) tensors_[static_cast<size_t>(value)].bump_version();
  drop_given();
  return outputs;
}

}  // namespace tsr::capi::program
