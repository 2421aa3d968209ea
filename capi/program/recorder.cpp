// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/recorder.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "autograd/grad_mode.h"
#include "base/host_stack.h"
#include "base/trace.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/optimizer_args.h"
#include "ops/create/copy.h"

namespace tsr::capi::program {

constinit thread_local Recorder* t_recorder = nullptr;

namespace {

// ---- The hook that makes the guard take its cold path, and sees memory ----

std::atomic<int32_t> g_watching{0};
constinit thread_local uint64_t t_allocations = 0;

void see_event(const TraceEvent& event, void**) noexcept {
  if (event.kind == TraceKind::kAllocate) ++t_allocations;
  if (t_recorder == nullptr) return;
  if (event.kind == TraceKind::kAllocate) t_recorder->note_memory(event.object, true);
  if (event.kind == TraceKind::kFree) t_recorder->note_memory(event.object, false);
}

constexpr uint32_t kKinds =
    static_cast<uint32_t>(TraceKind::kCall) | static_cast<uint32_t>(TraceKind::kLaunch) |
    static_cast<uint32_t>(TraceKind::kAllocate) | static_cast<uint32_t>(TraceKind::kFree);

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool makes_uninitialised(const Symbol& symbol) {
  return !is_out_form(symbol) &&
         is_one_of(symbol.info->name,
                   {"empty", "empty_like", "empty_strided", "tsr_tensor_empty_strided"});
}

// Whether a call overwrites all of its first argument without reading it.
bool overwrites(const Symbol& symbol) {
  return is_inplace_form(symbol) &&
         is_one_of(symbol.info->name,
                   {"fill", "zero", "copy", "uniform", "exponential", "normal", "log_normal",
                    "cauchy", "geometric", "bernoulli_fill", "random_integers", "trunc_normal",
                    "orthogonal", "sparse_normal", "eye_fill", "dirac"});
}

// ---- Arguments ----

std::span<const tsr_tensor> handles_of(const tsr_value& value) {
  if (value.kind == TSR_VALUE_TENSOR) {
    const auto* handle =
        reinterpret_cast<const tsr_tensor*>(const_cast<void* const*>(&value.pointer));
    return {handle, 1};
  }
  if (value.kind != TSR_VALUE_TENSORS || value.pointer == nullptr || value.n <= 0 ||
      value.n > kMaxListLength) {
    return {};
  }
  return {static_cast<const tsr_tensor*>(value.pointer), static_cast<size_t>(value.n)};
}

template <class T>
std::span<const T> numbers_of(const tsr_value& value) {
  if (value.pointer == nullptr || value.n <= 0 || value.n > kMaxListLength) return {};
  return {static_cast<const T*>(value.pointer), static_cast<size_t>(value.n)};
}

Tensor tensor_of(tsr_tensor handle) {
  return is_live(handle, ObjectTag::kTensor) ? Tensor::share(reinterpret_cast<TensorImpl*>(handle))
                                             : Tensor();
}

Integers integers_of(std::span<const int64_t> numbers) {
  Integers list;
  for (const int64_t number : numbers) list.push_back({number});
  return list;
}

uint8_t mode_now() {
  return static_cast<uint8_t>((t_grad_mode.record ? kModeGrad : 0) |
                              (t_grad_mode.inference ? kModeInference : 0));
}

const Symbol& symbol_named(std::string_view name) {
  const Symbol* found = find_symbol(name);
  TSR_ASSERT(found != nullptr, "a function of the schema");
  return *found;
}

}  // namespace

Watching::Watching() noexcept {
  if (g_watching.fetch_add(1) == 0) set_trace_hook(TraceListener::kProgram, see_event, kKinds);
}
Watching::~Watching() {
  if (g_watching.fetch_sub(1) == 1) set_trace_hook(TraceListener::kProgram, nullptr, 0);
}
uint64_t watched_allocations() noexcept {
  return t_allocations;
}

// ---- Life ----

Recorder::Recorder(std::span<const Tensor> inputs, std::span<const std::string> input_names,
                   std::span<const Tensor> parameters, std::span<const std::string> parameter_names)
    : program_(ProgramPtr::adopt(new Program)) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    TSR_CHECK(known_.find(inputs[i].impl()) == known_.end(), Code::kValue, "inputs",
              "expected different tensors, got the same as '", input_names[i], "' twice");
    check_name(input_names[i], "input_names");
    program_->inputs.push_back(
        {input_names[i], add_value(inputs[i], Source::kInput, input_names[i])});
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (known_.find(parameters[i].impl()) != known_.end()) continue;  // tied, or also an input
    check_name(parameter_names[i], "parameter_names");
    add_value(parameters[i], Source::kParameter, parameter_names[i]);
  }
}

void Recorder::check_name(const std::string& name, const char* arg) const {
  TSR_CHECK(program_->find(name) == kAbsent, Code::kValue, arg, "expected names that differ, got '",
            name, "' twice");
}

int32_t Recorder::add_value(const Tensor& tensor, Source source, std::string name) {
  const auto number = static_cast<int32_t>(program_->values.size());
  Value value;
  value.source = source;
  value.name = std::move(name);
  value.dtype = tensor.dtype();
  value.device = tensor.device();
  value.sizes = integers_of({tensor.sizes().data(), tensor.sizes().size()});
  if (source == Source::kParameter || source == Source::kConstant) value.stored = tensor;
  program_->values.push_back(std::move(value));
  kept_.push_back(tensor);
  known_[tensor.impl()] = number;
  storages_.emplace(tensor.storage().get(), number);
  return number;
}

void Recorder::refuse(const std::string& what) const {
  // What an earlier failure left out of the recording looks like the work of something else.
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  std::string place;
  {
    const Unrecorded unrecorded;
    place = with_source_lines(host_stack_or_none());
  }
  throw_error(Code::kNotImplemented, nullptr, __FILE__, __LINE__,
              concat("a recording of a program cannot contain this call: ", what,
                     place.empty() ? "" : "\nCalled from:\n", place));
}

// The first one is that of the recording.
void Recorder::keep_failure() noexcept {
  if (failure_ == nullptr) failure_ = std::current_exception();
}

void Recorder::note_memory(const void* block, bool allocated) noexcept {
  try {
    if (allocated) {
      blocks_.insert(block);
    } else {
      blocks_.erase(block);
    }
  } catch (...) {
    keep_failure();
  }
}

// ---- Values ----

int32_t Recorder::value_of(const Tensor& tensor, const char* arg, bool reads) {
  const auto found = known_.find(tensor.impl());
  if (found != known_.end()) {
    if (reads) keep_host_data(found->second);
    return found->second;
  }
  const auto same = storages_.find(tensor.storage().get());
  const bool is_alias =
      same != storages_.end() &&
      program_->values[static_cast<size_t>(same->second)].stored.impl() == nullptr;
  if (is_alias || blocks_.count(tensor.storage()->data) != 0) {
    refuse(concat(running_->name, " gets as `", arg, "` a tensor of shape ",
                  DimsView(tensor.sizes()),
                  ", which was computed during the recording by something that is not recorded"));
  }
  size_t number = 0;
  for (const Value& value : program_->values) number += value.source == Source::kConstant ? 1 : 0;
  std::string name;
  do name = concat("constant", number++);
  while (program_->find(name) != kAbsent);
  return add_value(tensor, Source::kConstant, std::move(name));
}

// The host has filled fresh memory: the step that made it becomes the copy of a constant.
void Recorder::keep_host_data(int32_t value) {
  const auto found = fresh_.find(value);
  if (found == fresh_.end()) return;
  const size_t step = found->second;
  fresh_.erase(found);
  Tensor copy;
  {
    const Unrecorded unrecorded;
    const NoGrad no_grad;
    copy = ops::clone(kept_[static_cast<size_t>(value)].detached());
  }
  const int32_t constant = value_of(copy, "out", false);
  Step& clone = program_->steps[step];
  clone.symbol = &symbol_named("tsr_clone");
  Argument argument;
  argument.kind = TSR_VALUE_TENSOR;
  argument.values = {constant};
  clone.args = {std::move(argument)};
  host_data_.emplace_back(value, step);
}

// Host data that nothing writes needs no copy.
void Recorder::settle_host_data() {
  std::vector<bool> dropped(program_->steps.size());
  for (const auto& [value, step] : host_data_) {
    const Tensor& tensor = kept_[static_cast<size_t>(value)];
    if (written_.count(tensor.storage().get()) != 0) continue;
    const auto constant = static_cast<size_t>(program_->steps[step].args[0].values[0]);
    Value& from = program_->values[constant];
    Value& to = program_->values[static_cast<size_t>(value)];
    to.source = Source::kConstant;
    to.name = std::move(from.name);
    to.stored = std::move(from.stored);
    from = Value{};
    dropped[step] = true;
  }
  std::vector<Step> left;
  for (size_t i = 0; i < dropped.size(); ++i) {
    if (!dropped[i]) left.push_back(std::move(program_->steps[i]));
  }
  program_->steps = std::move(left);
}

int32_t Recorder::generator_of(const void* handle) {
  const auto [place, is_new] =
      generators_.try_emplace(handle, static_cast<int32_t>(program_->generators.size()));
  if (is_new) {
    auto* generator =
        generator_arg(static_cast<tsr_generator>(const_cast<void*>(handle)), "generator");
    program_->generators.push_back(IntrusivePtr<Generator>::share(generator));
  }
  return place->second;
}

int32_t Recorder::optimizer_of(const void* handle) {
  auto* optimizer = &optimizer_arg(static_cast<tsr_optimizer>(const_cast<void*>(handle)));
  const auto [place, is_new] =
      optimizers_.try_emplace(handle, static_cast<int32_t>(program_->optimizers.size()));
  if (is_new) {
    program_->optimizers.push_back(IntrusivePtr<optim::Optimizer>::share(optimizer));
    for (const optim::Group& group : optimizer->groups()) {
      for (const Tensor& param : group.params) static_cast<void>(value_of(param, "params", false));
    }
  }
  return place->second;
}

Argument Recorder::argument_of(const tsr_value& value, char letter, const char* arg, bool reads) {
  Argument found;
  found.kind = value.kind;
  switch (value.kind) {
    case TSR_VALUE_TENSOR:
    case TSR_VALUE_TENSORS:
      for (const tsr_tensor handle : handles_of(value)) {
        const Tensor tensor = tensor_of(handle);
        found.values.push_back(tensor.defined() ? value_of(tensor, arg, reads) : kAbsent);
      }
      break;
    case TSR_VALUE_INTS:
      found.integers = integers_of(numbers_of<int64_t>(value));
      break;
    case TSR_VALUE_REALS:
      found.reals.assign(numbers_of<double>(value).begin(), numbers_of<double>(value).end());
      break;
    case TSR_VALUE_TEXT:
      found.text = text_arg(static_cast<const char*>(value.pointer), value.integer, arg);
      break;
    case TSR_VALUE_GENERATOR:
      found.n = generator_of(value.pointer);
      break;
    case TSR_VALUE_POINTER:
      if (letter != arg_type::kOther)
        refuse(concat(running_->name, " has the argument `", arg, "`"));
      found.n = optimizer_of(value.pointer);
      break;
    default:
      found.n = value.n;
      found.integer = {value.integer};
      found.real = value.real;
      found.imaginary = value.imaginary;
  }
  return found;
}

// ---- Calls ----

void Recorder::refuse_access(Policy policy, std::span<const tsr_value> args) {
  for (const tsr_value& value : args) {
    for (const tsr_tensor handle : handles_of(value)) {
      const Tensor tensor = tensor_of(handle);
      if (!tensor.defined()) continue;
      const auto found = known_.find(tensor.impl());
      // Fresh memory that the host fills becomes a constant at its first use.
      if (found != known_.end() && fresh_.count(found->second) != 0) continue;
      refuse(policy == Policy::kHostRead
                 ? concat(running_->name,
                          " gives elements to the host, and what the host makes of "
                          "them would not be computed again in a run")
                 : concat(running_->name, " writes elements of the host"));
    }
  }
}

void Recorder::before(const CallInfo& info, int32_t function, std::span<const tsr_value> args) {
  if (depth_ > 0) {
    ++depth_;
    return;
  }
  running_ = &info;
  has_pending_ = false;
  is_host_data_ = false;
  in_backward_ = false;
  versions_.clear();
  const Symbol* symbol = find_symbol(function == 0 ? info.id : function);
  // A function of the exchange table is not in the schema.
  const Policy policy = symbol == nullptr ? Policy::kHostRead : policy_of(*symbol);
  switch (policy) {
    case Policy::kIgnore:
      break;
    case Policy::kRefuse:
      refuse(concat(info.name, ", whose effect a run could not repeat"));
    case Policy::kHostRead:
    case Policy::kHostWrite:
      refuse_access(policy, args);
      break;
    case Policy::kHostData:
      is_host_data_ = true;
      break;
    case Policy::kRecord: {
      const std::string_view letters = letters_of(*symbol);
      const size_t inputs = letters.size() - count_results(letters);
      TSR_ASSERT(args.size() == inputs, "every argument is traced");
      pending_ = Step();
      pending_.symbol = symbol;
      pending_.mode = mode_now();
      for (size_t i = 0; i < inputs; ++i) {
        const char* name = static_cast<int32_t>(i) < info.n ? info.args[i].name : "dst";
        const bool is_target = is_out_form(*symbol) && static_cast<int32_t>(i) < info.n &&
                               is_result(info.args[i].type);
        const bool reads = !is_target && !(i == 0 && overwrites(*symbol));
        pending_.args.push_back(argument_of(args[i], letters[i], name, reads));
        for (const tsr_tensor handle : handles_of(args[i])) {
          const Tensor tensor = tensor_of(handle);
          if (tensor.defined()) versions_.emplace_back(tensor, tensor.version());
        }
        if (is_target || (i == 0 && is_inplace_form(*symbol))) {
          for (const int32_t value : pending_.args.back().values) {
            if (value == kAbsent) continue;
            fresh_.erase(value);
            written_.insert(kept_[static_cast<size_t>(value)].storage().get());
          }
        }
      }
      in_backward_ = info.id == kInfo_backward.id || info.id == kInfo_grad.id;
      has_pending_ = true;
    }
  }
  depth_ = 1;
}

// A run would call the host only in the process that recorded.
void Recorder::see_host_code(const char* callback) const {
  if (depth_ == 0 || !in_backward_) return;
  refuse(concat(running_->name, " runs code of the host: a callback of the kind '", callback,
                "' (a hook or a custom function)"));
}

void Recorder::see_writes() {
  for (const auto& [tensor, version] : versions_) {
    if (tensor.version() != version) written_.insert(tensor.storage().get());
  }
}

void Recorder::give_results(std::span<const tsr_value> results) {
  for (const tsr_value& value : results) {
    if (value.kind == TSR_VALUE_NONE) {
      pending_.results.push_back(kAbsent);
      continue;
    }
    for (const tsr_tensor handle : handles_of(value)) {
      const Tensor tensor = tensor_of(handle);
      pending_.results.push_back(tensor.defined() ? add_value(tensor, Source::kResult, {})
                                                  : kAbsent);
    }
  }
}

void Recorder::after(bool succeeded, std::span<const tsr_value> results) noexcept {
  if (depth_ == 0 || --depth_ > 0) return;
  in_backward_ = false;
  if (!succeeded) return;  // the host got the error; the call had no effect
  try {
    if (is_host_data_) {
      pending_ = Step();
      pending_.symbol = &symbol_named("tsr_clone");
      has_pending_ = true;
    }
    if (!has_pending_) return;
    see_writes();
    give_results(results);
    const bool is_fresh = is_host_data_ || makes_uninitialised(*pending_.symbol);
    if (is_fresh && pending_.results.size() == 1 && pending_.results[0] != kAbsent)
      fresh_.emplace(pending_.results[0], program_->steps.size());
    program_->steps.push_back(std::move(pending_));
    // The memory of the host may be gone later.
    if (is_host_data_ && !results.empty()) keep_host_data(program_->steps.back().results[0]);
  } catch (...) {
    keep_failure();
  }
  is_host_data_ = false;
}

void Recorder::note(int32_t function, std::span<const tsr_value> args, const Tensor& result) {
  if (known_.find(result.impl()) != known_.end()) return;
  const Symbol* symbol = find_symbol(function);
  TSR_ASSERT(symbol != nullptr, "a function of the schema");
  before(*symbol->info, function, args);
  const tsr_value made = to_value(reinterpret_cast<tsr_tensor>(result.impl()), arg_type::kTensor);
  after(true, {&made, 1});
}

ProgramPtr Recorder::finish(std::span<const Tensor> outputs, std::span<const std::string> names) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  static constexpr CallInfo kOutputs{0, 0, "the recorded function"};
  running_ = &kOutputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    TSR_CHECK(known_.find(outputs[i].impl()) != known_.end(), Code::kValue, "outputs",
              "expected what the recorded calls made or used, got another tensor as '", names[i],
              "'");
    const int32_t value = value_of(outputs[i], "outputs", true);
    for (const Named& earlier : program_->outputs) {
      TSR_CHECK(earlier.name != names[i], Code::kValue, "output_names",
                "expected names that differ, got '", names[i], "' twice");
    }
    program_->outputs.push_back({names[i], value});
  }
  // Uninitialised memory that the host filled and only an optimizer or a list saw.
  settle_host_data();
  program_->check();
  return std::move(program_);
}

// ---- The guard's side ----

void before_host_code(const char* callback) {
  if (t_recorder != nullptr) t_recorder->see_host_code(callback);
}

tsr_status before_call(const CallInfo& info, int32_t function,
                       std::span<const tsr_value> args) noexcept {
  try {
    t_recorder->before(info, function, args);
    return TSR_OK;
  } catch (...) {
    return record_failure(info);
  }
}

void after_call(tsr_status status, std::span<const tsr_value> results) noexcept {
  t_recorder->after(status == TSR_OK, results);
}

}  // namespace tsr::capi::program
