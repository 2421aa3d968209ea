// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The run of a training step that is captured, and the proof that its launches are all of it.
#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_set>

#include "autograd/tensor_grad.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/program/bytes.h"
#include "capi/program/recorder.h"
#include "capi/program/replay.h"
#include "kernel/registry.h"

namespace tsr::capi::program {
namespace {

// What depends on numbers that the host keeps or reads, and works on parameters and gradients only.
bool is_live(const Symbol& symbol) {
  const std::string_view name = symbol.info->name;
  return symbol.id == kInfo_optimizer_step.id ||
         (symbol.signature != nullptr && (name == "clip_grad_norm" || name == "clip_grad_value"));
}

// What changes the state of tensors in ways that a replay does not repeat.
bool is_refused(const Symbol& symbol) {
  return symbol.id == kInfo_optimizer_step_with.id || symbol.id == kInfo_tensor_set_data.id;
}

// The memory of an optimizer's states, without numbers that state() makes for the caller.
std::set<const Storage*> state_memory(const optim::Optimizer& optimizer,
                                      std::vector<StoragePtr>* kept = nullptr) {
  const optim::NamedState first = optimizer.state();
  const optim::NamedState second = optimizer.state();
  std::set<const Storage*> again, found;
  for (const Tensor& tensor : second.tensors) again.insert(tensor.storage().get());
  for (const Tensor& tensor : first.tensors) {
    if (again.count(tensor.storage().get()) == 0) continue;
    if (found.insert(tensor.storage().get()).second && kept != nullptr)
      kept->push_back(tensor.storage());
  }
  return found;
}

void copy_out(const Storage& from, std::vector<std::byte>& to) {
  to.resize(from.nbytes);
  if (from.nbytes > 0) std::memcpy(to.data(), from.data, from.nbytes);
}
void copy_in(const std::vector<std::byte>& from, const Storage& to) {
  if (!from.empty()) std::memcpy(to.data, from.data(), from.size());
}

}  // namespace

class Replay::Capture final : public StepWatcher, public kernel::LaunchKeeper {
 public:
  Capture(Replay& replay, std::span<const Tensor> given) : replay_(replay), given_(given) {}

  std::vector<Tensor> make(const Calls& calls) {
    look_at_state();
    replay_.pool_ = Pool::make(Device{});
    std::vector<Tensor> outputs;
    {
      const Watching watching;
      const AllocatorScope pooled(Device{}, *replay_.pool_);
      const Keeping keeping(*this);
      outputs = calls(this);
    }
    if (fits_so_far()) keep_outputs(outputs);
    // Outputs in the pool would change in the next run.
    std::vector<Tensor> given_out = copies_of(outputs);
    outputs.clear();
    if (why_.empty() && retry_.empty()) finish();
    if (!why_.empty()) replay_.reason_ = why_;
    if (why_.empty() && retry_.empty()) replay_.stage_ = Stage::kKept;
    return given_out;
  }

  // ---- Called while the run is made ----

  void take(std::unique_ptr<kernel::KeptLaunch> launch) override {
    if (launch == nullptr) {
      never(concat("call ", step_, ", ", name_of_step(), ", uses a kernel that cannot be kept"));
      return;
    }
    replay_.items_.push_back({std::move(launch), in_live_ ? last_live() : -1});
  }
  void take_decision(const char* what) noexcept override {
    if (in_live_) return;
    try {
      never(concat("call ", step_, ", ", name_of_step(), ", decides on the host: ", what));
    } catch (...) {
      out_of_memory_ = true;
    }
  }
  void before_step(size_t step) override {
    step_ = step;
    const Symbol& symbol = *replay_.program_.steps[step].symbol;
    if (is_refused(symbol)) never(concat("call ", step, ", ", symbol.name, ", is not replayed"));
    in_live_ = is_live(symbol);
    if (!in_live_) return;
    Live live{};
    live.step = static_cast<int32_t>(step);
    for (const Leaf& leaf : replay_.leaves_) live.grads.push_back(grad_of(leaf.at.tensor));
    replay_.live_.push_back(std::move(live));
    replay_.items_.push_back({nullptr, last_live()});
  }
  void after_step(size_t step, const Slots& slots) override {
    if (!std::exchange(in_live_, false)) return;
    for (const int32_t value : replay_.program_.steps[step].results) {
      const tsr_tensor handle = value == kAbsent ? nullptr : slots[static_cast<size_t>(value)];
      replay_.live_.back().results.push_back(
          handle == nullptr ? Tensor() : Tensor::share(reinterpret_cast<TensorImpl*>(handle)));
    }
  }

 private:
  // Bytes that a run may change and that outlive it.
  struct Region {
    StoragePtr storage;
    bool existed;
    std::vector<std::byte> before, after;
  };
  struct Keeping {
    explicit Keeping(LaunchKeeper& keeper) noexcept { kernel::t_launch_keeper = &keeper; }
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;
    ~Keeping() { kernel::t_launch_keeper = nullptr; }
  };
  // Memory that the launches may name.
  struct Known {
    const std::byte *low, *high;
    size_t input;  // SIZE_MAX: none
    [[nodiscard]] bool holds(const void* address) const { return address >= low && address < high; }
  };

  void never(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  void later(std::string why) {
    if (retry_.empty()) retry_ = std::move(why);
  }
  [[nodiscard]] int32_t last_live() const { return static_cast<int32_t>(replay_.live_.size()) - 1; }
  [[nodiscard]] const char* name_of_step() const {
    return replay_.program_.steps[step_].symbol->name;
  }

  // ---- Before ----

  void add_region(const StoragePtr& storage, bool existed) {
    const bool is_known = std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
      return region.storage == storage;
    });
    if (is_known) return;
    regions_.push_back({storage, existed, {}, {}});
    if (existed) copy_out(*storage, regions_.back().before);
  }

  void look_at_state() {
    const Program& program = replay_.program_;
    for (const Value& value : program.values) {
      if (!value.stored.defined()) continue;
      replay_.leaves_.emplace_back(value.stored);
      const Leaf& leaf = replay_.leaves_.back();
      versions_.emplace_back(value.stored.storage(), value.stored.version());
      if (!value.stored.device().is_cpu()) never("a tensor is not on the CPU");
      if (leaf.before.defined() && leaf.before.device().is_cpu())
        add_region(leaf.before.storage(), true);
    }
    for (const Tensor& input : given_) {
      input_versions_.push_back(input.version());
      if (!input.device().is_cpu()) never("an input is not on the CPU");
      if (requires_grad(input) || input.has(kDualFlag))
        later("an input requires grad or has a tangent");
      replay_.moved_to_.push_back(input.data());
    }
    if (!why_.empty()) return;
    for (const StoragePtr& storage : replay_.written_) add_region(storage, true);
    for (const auto& optimizer : program.optimizers) {
      std::vector<StoragePtr> kept;
      states_.push_back(state_memory(*optimizer, &kept));
      for (const StoragePtr& storage : kept) add_region(storage, true);
    }
    replay_.sources_.push_back({nullptr, current_generator().state()});
    for (const auto& generator : program.generators)
      replay_.sources_.push_back({generator.get(), generator->state()});
  }

  // ---- After ----

  bool fits_so_far() {
    if (out_of_memory_) later("out of memory");
    if (!why_.empty() || !retry_.empty()) return false;
    const Program& program = replay_.program_;
    for (Leaf& leaf : replay_.leaves_) {
      const Tensor& stored = leaf.at.tensor;
      leaf.after = grad_of(stored);
      leaf.stays = leaf.after.defined() && leaf.after.is_same(leaf.before);
      if (!leaf.at.fits() || stored.requires_grad() != leaf.requires_grad)
        never("the step changes what a parameter is");
      if (leaf.after.defined() && leaf.after.requires_grad())
        never("the step makes gradients that have a history");
      if (leaf.hooks != 0) later("a parameter has hooks");
    }
    for (const auto& [storage, version] : versions_) {
      const bool is_known = std::find(replay_.written_.begin(), replay_.written_.end(), storage) !=
                            replay_.written_.end();
      if (storage->version.load(std::memory_order_relaxed) == version || is_known) continue;
      later("the step wrote other tensors than before");
    }
    for (size_t i = 0; i < given_.size(); ++i) {
      if (given_[i].version() != input_versions_[i]) never("the step writes into an input");
      if (requires_grad(given_[i])) never("the step changes what an input is");
    }
    for (size_t i = 0; i < program.optimizers.size(); ++i) {
      if (state_memory(*program.optimizers[i]) != states_[i]) later("an optimizer has got states");
    }
    return why_.empty() && retry_.empty();
  }

  void keep_outputs(const std::vector<Tensor>& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      Output output{};
      const int32_t value = replay_.program_.outputs[i].value;
      const Value& from = replay_.program_.values[static_cast<size_t>(value)];
      output.inner = outputs[i];
      if (from.source == program::Source::kInput) {
        output.kind = Output::Kind::kInput;
        output.inner.reset();
        for (size_t k = 0; k < replay_.program_.inputs.size(); ++k) {
          if (replay_.program_.inputs[k].value == value) output.input = k;
        }
      } else if (from.stored.defined()) {
        output.kind = Output::Kind::kStored;
      } else if (outputs[i].numel() == 0 || replay_.pool_->holds(outputs[i].data())) {
        output.kind = Output::Kind::kCopy;
      } else if (is_stored(*outputs[i].storage())) {
        output.kind = Output::Kind::kAlias;
      } else {
        never(concat("output '", replay_.program_.outputs[i].name, "' is a view of an input"));
      }
      replay_.outputs_.push_back(std::move(output));
    }
  }

  [[nodiscard]] bool is_stored(const Storage& storage) const {
    return std::any_of(replay_.leaves_.begin(), replay_.leaves_.end(),
                       [&](const Leaf& leaf) { return leaf.at.storage.get() == &storage; });
  }

  // The caller's outputs: what lies in the pool, copied.
  std::vector<Tensor> copies_of(const std::vector<Tensor>& outputs) {
    std::vector<Tensor> given;
    for (const Tensor& from : outputs) {
      if (from.numel() == 0 || !replay_.pool_->holds(from.data())) {
        given.push_back(from);
        continue;
      }
      const Extent extent = extent_of(from.sizes(), from.strides());
      const auto nbytes = static_cast<uint64_t>((extent.high - extent.low) * from.itemsize());
      given.push_back(
          Tensor::adopt(new TensorImpl(allocate_storage(from.device(), nbytes), from.dtype(),
                                       from.sizes(), from.strides(), -extent.low)));
      std::memcpy(bytes_of(given.back()).low, bytes_of(from).low, nbytes);
    }
    return given;
  }

  void finish() {
    for (Leaf& leaf : replay_.leaves_) leaf.before.reset();
    prepare_live();
    find_draws();
    if (!why_.empty() || !retry_.empty()) return;
    find_memory();
    if (!why_.empty() || !retry_.empty()) return;
    check_holders();
    if (!why_.empty() || !retry_.empty()) return;
    prove();
  }

  void prepare_live() {
    const Program& program = replay_.program_;
    Slots slots(program.values.size());
    for (size_t i = 0; i < slots.size(); ++i) {
      if (program.values[i].stored.defined())
        slots[i] = reinterpret_cast<tsr_tensor>(program.values[i].stored.impl());
    }
    for (Live& live : replay_.live_) {
      const Step& step = program.steps[static_cast<size_t>(live.step)];
      for (const Argument& arg : step.args) {
        for (const int32_t value : arg.values) {
          if (value != kAbsent && slots[static_cast<size_t>(value)] == nullptr)
            never(concat("call ", live.step, ", ", step.symbol->name,
                         ", works on more than parameters"));
        }
      }
      live.prepared = std::make_unique<Prepared>(program, step, *step.symbol, replay_.sizes_);
      live.prepared->bind(slots);
    }
  }

  // Every draw must lie in what exactly one generator has given in this run.
  void find_draws() {
    for (Source& source : replay_.sources_) {
      const GeneratorState now =
          source.generator != nullptr ? source.generator->state() : current_generator().state();
      if (now.seed != source.before.seed) never("the step seeds a generator");
      source.blocks = now.offset - source.before.offset;
    }
    // The current generator may be one of the program's.
    for (size_t i = 1; i < replay_.sources_.size(); ++i) {
      if (replay_.sources_[i].generator == &current_generator()) replay_.sources_[0].blocks = 0;
    }
    for (const Item& item : replay_.items_) {
      if (item.launch == nullptr) continue;
      const kernel::Draw draw = item.launch->draw();
      if (draw.seed == nullptr) continue;
      size_t found = SIZE_MAX;
      for (size_t i = 0; i < replay_.sources_.size(); ++i) {
        const Source& source = replay_.sources_[i];
        const bool is_here = *draw.seed == source.before.seed &&
                             *draw.offset >= source.before.offset &&
                             *draw.offset - source.before.offset < source.blocks;
        if (!is_here) continue;
        if (found != SIZE_MAX) later("two generators give the same numbers");
        found = i;
      }
      if (found == SIZE_MAX) {
        never("the step draws from a generator that it does not name");
        return;
      }
      replay_.drawings_.push_back(
          {draw, found, *draw.offset - replay_.sources_[found].before.offset});
    }
  }

  void find_memory() {
    std::vector<Known> known;
    const auto add = [&](const void* data, uint64_t nbytes, size_t input) {
      if (data == nullptr || nbytes == 0) return;
      const auto* low = static_cast<const std::byte*>(data);
      known.push_back({low, low + nbytes, input});
    };
    std::unordered_set<const Storage*> seen;
    const auto add_storage = [&](const Storage& storage) {
      if (!replay_.pool_->holds(storage.data) && seen.insert(&storage).second)
        add(storage.data, storage.nbytes, SIZE_MAX);
    };
    for (const Leaf& leaf : replay_.leaves_) {
      add_storage(*leaf.at.storage);
      if (leaf.stays) add_storage(*leaf.after.storage());
    }
    for (size_t i = 0; i < given_.size(); ++i) {
      if (given_[i].numel() == 0) continue;
      const Bytes bytes = bytes_of(given_[i]);
      add(bytes.low, bytes.size(), i);
    }
    for (const Item& item : replay_.items_) {
      if (item.launch == nullptr || item.live >= 0) continue;
      for (int32_t at = 0; at < item.launch->count(); ++at) {
        const void* address = item.launch->address(at);
        if (address == nullptr || replay_.pool_->holds(address)) continue;
        const Known* owner = nullptr;
        bool is_one = true;
        for (const Known& each : known) {
          if (!each.holds(address)) continue;
          is_one = is_one && owner == nullptr;
          owner = &each;
        }
        if (owner == nullptr)
          return later("a kernel works on memory that the program does not know");
        if (!is_one) return later("inputs and parameters share memory");
        if (owner->input == SIZE_MAX) continue;
        const auto* first = given_[owner->input].data_as<const std::byte>();
        replay_.moving_.push_back(
            {item.launch.get(), at, owner->input, static_cast<const std::byte*>(address) - first});
      }
    }
  }

  // Only the replay and the leaves may have memory of the pool: what else had some would change.
  void check_holders() {
    std::unordered_set<const Storage*> ours;
    const auto add = [&](const Tensor& tensor) {
      if (tensor.defined() && tensor.numel() > 0 && replay_.pool_->holds(tensor.data()))
        ours.insert(tensor.storage().get());
    };
    for (Leaf& leaf : replay_.leaves_) add(leaf.after);
    for (const Live& live : replay_.live_) {
      std::for_each(live.grads.begin(), live.grads.end(), add);
      std::for_each(live.results.begin(), live.results.end(), add);
    }
    for (const Output& output : replay_.outputs_) add(output.inner);
    if (replay_.pool_->live_blocks() != ours.size())
      return never("something keeps memory of the step after it");
    for (Leaf& leaf : replay_.leaves_) {
      if (!leaf.after.defined() || leaf.stays) continue;
      if (leaf.after.numel() > 0 && !replay_.pool_->holds(leaf.after.data()))
        return later("a gradient is not memory of the step");
      const uint32_t attached = grad_of(leaf.at.tensor).is_same(leaf.after) ? 1 : 0;
      leaf.holders = leaf.after.impl()->refs.load(std::memory_order_acquire) - attached;
      leaf.on_storage = leaf.after.storage()->refs.load(std::memory_order_acquire);
    }
  }

  // The launches alone, from the state of before, must leave everything as the calls did.
  void prove() {
    const auto add = [&](const Tensor& tensor) {
      if (tensor.defined() && tensor.numel() > 0) add_region(tensor.storage(), false);
    };
    for (const Leaf& leaf : replay_.leaves_) add(leaf.after);
    for (const Output& output : replay_.outputs_) {
      if (output.kind == Output::Kind::kCopy) add(output.inner);
    }
    for (Region& region : regions_) copy_out(*region.storage, region.after);
    for (const Region& region : regions_) {
      if (region.existed) copy_in(region.before, *region.storage);
    }
    replay_.pool_->poison();
    bool same = true;
    for (Item& item : replay_.items_) {
      if (item.launch == nullptr) continue;
      const kernel::Status status = item.launch->run();
      // The operator asked for a kernel that does not exist, and went another way.
      const bool is_missing = status == static_cast<kernel::Status>(Code::kNotImplemented);
      if (status != kernel::kOk) kernel::forget_kernel_error();
      same = same && (status == kernel::kOk || is_missing);
      if (is_missing) drop(item);
    }
    std::erase_if(replay_.items_,
                  [](const Item& item) { return item.launch == nullptr && item.live < 0; });
    for (const Region& region : regions_) {
      same = same && (region.after.empty() || std::memcmp(region.storage->data, region.after.data(),
                                                          region.after.size()) == 0);
    }
    if (same) return;
    for (const Region& region : regions_) copy_in(region.after, *region.storage);
    never("the kernels are not all that the step does");
  }

  void drop(Item& item) {
    std::erase_if(replay_.moving_,
                  [&](const Moving& each) { return each.launch == item.launch.get(); });
    item.launch.reset();
    item.live = -1;
  }

  Replay& replay_;
  std::span<const Tensor> given_;
  std::vector<Region> regions_;
  std::vector<std::pair<StoragePtr, uint32_t>> versions_;
  std::vector<uint32_t> input_versions_;
  std::vector<std::set<const Storage*>> states_;
  std::string why_, retry_;  // it is not kept, never or this time
  size_t step_ = 0;
  bool in_live_ = false;
  bool out_of_memory_ = false;
};

void Replay::capture(std::span<const Tensor> given, const Calls& calls,
                     std::vector<Tensor>& outputs) {
  ++captures_;
  try {
    outputs = Capture(*this, given).make(calls);
  } catch (...) {  // a call of the step failed
    forget();
    throw;
  }
}

}  // namespace tsr::capi::program
