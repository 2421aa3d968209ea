// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/nn/onednn/conv.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>

#include "backend/cpu/foreign_call.h"
#include "backend/cpu/host.h"
#include "backend/cpu/nn/onednn/conv_approach.h"
#include "backend/cpu/nn/onednn/conv_key.h"
#include "backend/cpu/nn/onednn/conv_shares.h"
#include "backend/cpu/nn/onednn/describe.h"
#include "base/determinism.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/parallel.h"

namespace tsr::cpu::onednn {
namespace {

using dnnl::memory;
using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

constexpr int64_t kAlignment = 64;

// Sleeping threads take 10 to 50 µs to wake, for every primitive. Up to these sizes one thread
// finishes the work sooner (docs/adr/0011-waiting-threads.md).
constexpr int64_t kSerialProducts = int64_t{1} << 22;
constexpr size_t kSerialReorder = size_t{128} << 10;

// The largest memory of a run of Winograd's algorithm; beyond it is the direct algorithm's turn.
constexpr size_t kWinogradMemory = size_t{256} << 20;

// So many threads at once find a prepared convolution's objects from the run before.
constexpr size_t kSpares = 4;

// If `alone`, oneDNN creates and runs primitives for the calling thread only, while this object
// lives.
class MaybeAlone {
 public:
  explicit MaybeAlone(bool alone) {
    if (alone) one_.emplace(true);
  }

 private:
  std::optional<OpenMpThreads> one_;
};

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// ---- a prepared convolution ----

// One tensor of the plan: the caller's layout and the layout of the primitive.
struct Operand {
  int argument = 0;  // DNNL_ARG_*
  bool written = false;
  memory::desc user, wanted;
  dnnl::reorder reorder;  // towards the primitive, or back for a written one
  bool alone = false;     // the reorder is too small for several threads
  int64_t offset = -1;    // of its scratch memory; -1: none, the layouts agree

  [[nodiscard]] bool direct() const { return offset < 0; }
};

struct Prepared;

// oneDNN's objects for one run at a time: making them takes longer than a small convolution. They
// point to the memory of the run that used them last.
struct Runner {
  explicit Runner(const Prepared& prepared);
  dnnl::stream stream;
  memory inside[4], outside[4];  // of the operands
  memory scratchpad;
  dnnl_exec_arg_t arguments[5] = {};
};

struct Prepared {
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    for (auto& spare : spares) delete spare.load();
  }

  dnnl::primitive primitive;
  Operand operands[4];  // input, weight, output, bias
  int count = 3;
  memory::desc scratchpad;
  int64_t scratchpad_offset = 0;
  int64_t scratch_bytes = 0;
  bool clears_input = false;  // it is written, but not everywhere
  // Of runs that have ended, for the next; a run that finds none makes its own.
  mutable std::atomic<Runner*> spares[kSpares] = {};
};

Runner::Runner(const Prepared& prepared)
    : stream(cpu_engine()), scratchpad(prepared.scratchpad, cpu_engine(), nullptr) {
  for (int i = 0; i < prepared.count; ++i) {
    const Operand& operand = prepared.operands[i];
    inside[i] = memory(operand.wanted, cpu_engine(), nullptr);
    if (!operand.direct()) outside[i] = memory(operand.user, cpu_engine(), nullptr);
    arguments[i] = {operand.argument, inside[i].get()};
  }
  arguments[prepared.count] = {DNNL_ARG_SCRATCHPAD, scratchpad.get()};
}

// A runner, which goes back when the run has ended well.
class Lent {
 public:
  explicit Lent(const Prepared& prepared) : prepared_(prepared) {
    for (auto& spare : prepared.spares) {
      runner_.reset(spare.exchange(nullptr, std::memory_order_acquire));
      if (runner_ != nullptr) return;
    }
    runner_ = std::make_unique<Runner>(prepared);
  }
  Runner* operator->() const { return runner_.get(); }
  void give_back() {
    for (auto& spare : prepared_.spares) {
      runner_.reset(spare.exchange(runner_.release(), std::memory_order_acq_rel));
      if (runner_ == nullptr) return;
    }
  }

 private:
  const Prepared& prepared_;
  std::unique_ptr<Runner> runner_;
};

void run(const dnnl::primitive& primitive, const dnnl::stream& stream, int count,
         const dnnl_exec_arg_t* arguments) {
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream.get(), count, arguments),
                          "oneDNN could not run a primitive");
}

void reorder(const Operand& operand, const dnnl::stream& stream, const memory& from,
             const memory& to) {
  const MaybeAlone threads(operand.alone);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
  run(operand.reorder, stream, 2, arguments);
}

int64_t take(int64_t& total, size_t nbytes) {
  const int64_t offset = total;
  total += (static_cast<int64_t>(nbytes) + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

Window window_of(const ConvPlan& plan, bool view) {
  Window w;
  for (int d = 0; d < plan.spatial; ++d) {
    if (view) {
      w.stride.push_back(1);
      for (memory::dims* zeros : {&w.dilation, &w.left, &w.right}) zeros->push_back(0);
      continue;
    }
    const int64_t reach = (plan.kernel[d] - 1) * plan.dilation[d] + 1;
    w.stride.push_back(plan.stride[d]);
    w.dilation.push_back(plan.dilation[d] - 1);
    w.left.push_back(plan.padding[d]);
    w.right.push_back((plan.output_size[d] - 1) * plan.stride[d] + reach - plan.input_size[d] -
                      plan.padding[d]);
  }
  return w;
}

// The primitive and the layouts it wants, in the order input, weight, output, bias.
struct Chosen {
  dnnl::primitive primitive;
  memory::desc wanted[4];
  memory::desc scratchpad;
};

// `read` is the input of the forward pass that is the hint, which has images of one dtype.
Chosen choose(ConvPass pass, dnnl::algorithm algorithm, const Window& w, const memory::desc& read,
              const memory::desc& input, const memory::desc& filter, const memory::desc& output,
              const memory::desc& bias) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto hint_bias = pass == ConvPass::kForward ? bias : memory::desc();
  const auto hint =
      describe_forward(cpu_engine(), attributes, algorithm, read, filter, hint_bias, output, w);
  if (pass == ConvPass::kForward) {
    return {Forward(hint),
            {hint.src_desc(), hint.weights_desc(), hint.dst_desc(), hint.bias_desc()},
            hint.scratchpad_desc()};
  }
  if (pass == ConvPass::kBackwardInput) {
    const auto pd = describe_backward_input(cpu_engine(), attributes, algorithm, input, filter,
                                            output, w, hint);
    return {BackwardInput(pd),
            {pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc(), memory::desc()},
            pd.scratchpad_desc()};
  }
  const auto pd = describe_backward_weight(cpu_engine(), attributes, algorithm, input, filter, bias,
                                           output, w, hint);
  return {BackwardWeight(pd),
          {pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc(), pd.diff_bias_desc()},
          pd.scratchpad_desc()};
}

// DNNL_ARG_* of input, weight, output, bias, and which of them the pass writes.
struct Arguments {
  int number[4];
  bool written[4];
};
Arguments arguments_of(ConvPass pass, bool swapped) {
  switch (pass) {
    case ConvPass::kBackwardInput:
      return {{DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, 0}, {true}};
    case ConvPass::kBackwardWeight:
      if (swapped)
        return {{DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_SRC, 0}, {false, true}};
      return {{DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_BIAS},
              {false, true, false, true}};
    default:
      return {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS},
              {false, false, true, false}};
  }
}

void add_operand(Prepared& prepared, int slot, const Arguments& arguments, const memory::desc& user,
                 const memory::desc& wanted) {
  Operand& operand = prepared.operands[slot];
  operand.argument = arguments.number[slot];
  operand.written = arguments.written[slot];
  operand.user = user;
  operand.wanted = wanted;
  if (user == wanted) return;
  operand.offset = take(prepared.scratch_bytes, wanted.get_size());
  operand.alone = wanted.get_size() <= kSerialReorder;
  const MaybeAlone threads(operand.alone);
  operand.reorder = operand.written ? dnnl::reorder({cpu_engine(), wanted, cpu_engine(), user})
                                    : dnnl::reorder({cpu_engine(), user, cpu_engine(), wanted});
}

// The dtype in which the primitive has the plan's input; `type` is that of the other operands.
memory::data_type input_type(const ConvPlan& plan, memory::data_type type) {
  const bool wide = plan.pass == ConvPass::kBackwardInput && plan.bias != nullptr;
  return wide ? memory::data_type::f32 : type;
}

Chosen choose(const ConvPlan& plan, const Approach& way, dnnl::algorithm algorithm,
              memory::data_type type, const memory::desc& bias) {
  const int64_t* size = way.view ? plan.output_size : plan.input_size;
  const memory::desc input =
      wanted_image(plan, plan.in_channels, size, input_type(plan, type), way);
  const memory::desc output = wanted_image(plan, plan.out_channels, plan.output_size, type, way);
  const memory::desc filter = wanted_weight(plan, type, way.swapped);
  const Window window = window_of(plan, way.view);
  if (!way.swapped) {
    const memory::desc read = wanted_image(plan, plan.in_channels, size, type, way);
    return choose(plan.pass, algorithm, window, read, input, filter, output, bias);
  }
  Chosen chosen = choose(plan.pass, algorithm, window, output, output, filter, input, bias);
  std::swap(chosen.wanted[0], chosen.wanted[2]);
  return chosen;
}

Chosen choose(const ConvPlan& plan, const Approach& way, memory::data_type type,
              const memory::desc& bias) {
  if (way.winograd) {
    try {
      const Chosen chosen = choose(plan, way, dnnl::algorithm::convolution_winograd, type, bias);
      if (chosen.scratchpad.get_size() <= kWinogradMemory) return chosen;
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
  }
  return choose(plan, way, dnnl::algorithm::convolution_direct, type, bias);
}

std::shared_ptr<Prepared> prepare(const ConvPlan& plan, bool input_last, bool output_last) {
  const auto type =
      plan.dtype == DType::kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
  const Approach way = approach_to(plan, input_last, output_last);
  const bool has_bias = plan.bias != nullptr && plan.pass != ConvPass::kBackwardInput;
  const memory::dims bias_dims{plan.out_channels};
  const Chosen chosen =
      choose(plan, way, type,
             has_bias ? memory::desc(bias_dims, type, memory::format_tag::x) : memory::desc());
  auto prepared = std::make_shared<Prepared>();
  prepared->primitive = chosen.primitive;
  prepared->scratchpad = chosen.scratchpad;
  prepared->clears_input = way.view && plan.pass == ConvPass::kBackwardInput;
  const Arguments arguments = arguments_of(plan.pass, way.swapped);
  add_operand(
      *prepared, 0, arguments,
      way.view ? input_view(plan, type, input_last)
               : image(plan, plan.in_channels, plan.input_size, input_type(plan, type), input_last),
      chosen.wanted[0]);
  add_operand(*prepared, 1, arguments, weight(plan, type, way.swapped), chosen.wanted[1]);
  add_operand(*prepared, 2, arguments, output_image(plan, type, output_last), chosen.wanted[2]);
  if (has_bias) {
    add_operand(*prepared, 3, arguments, memory::desc(bias_dims, type, memory::format_tag::x),
                chosen.wanted[3]);
    prepared->count = 4;
  }
  prepared->scratchpad_offset = take(prepared->scratch_bytes, chosen.scratchpad.get_size());
  return prepared;
}

bool is_missing(const dnnl::error& error) {
  return error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments;
}

// Null if oneDNN has no implementation, such as for bfloat16 on some machines.
std::shared_ptr<Prepared> prepare_if_able(const ConvPlan& plan, bool input_last, bool output_last) {
  try {
    return prepare(plan, input_last, output_last);
  } catch (const dnnl::error& error) {
    if (!is_missing(error)) throw;
    return nullptr;
  }
}

// ---- the cache ----

class Cache {
 public:
  // Returns the convolution prepared for that many threads; null if oneDNN has no implementation.
  std::shared_ptr<Prepared> find(const ConvPlan& plan, int32_t threads) {
    const auto [in, out] = last_of(plan);
    const ConvKey key(plan, in, out, threads);
    {
      const std::lock_guard lock(mutex_);
      const auto found = map_.find(key);
      if (found != map_.end()) return found->second;
    }
    if (!can_map(kRoomToPrepare)) throw std::bad_alloc();
    std::shared_ptr<Prepared> made;
    {
      const std::lock_guard lock(preparing_);
      made = prepare_if_able(plan, in, out);
    }
    // oneDNN has registered exit handlers that destroy its objects; ours must run before them.
    static std::atomic<bool> first{true};
    if (first.exchange(false)) end_foreign_calls_early();
    const std::lock_guard lock(mutex_);
    // Bounds the memory when shapes keep changing; shapes in use are prepared again.
    if (map_.size() >= kCapacity) map_.clear();
    map_.emplace(key, made);
    return made;
  }

 private:
  static constexpr size_t kCapacity = 1024;
  // oneDNN compiles code and does not check its allocation.
  static constexpr size_t kRoomToPrepare = size_t{64} << 20;

  // oneDNN has its own cache, in which a second thread waits until the first has created the
  // primitive. No fork may happen meanwhile: the child would wait for a thread that it does not
  // have.
  GuardedMutex preparing_{LockLevel::kOuter};
  GuardedMutex mutex_;  // guards the map
  std::unordered_map<ConvKey, std::shared_ptr<Prepared>, ConvKeyHash> map_;
};

Cache& cache() {
  return immortal<Cache>();
}

void clear_input(const ConvPlan& plan) {
  const int64_t numel = plan.batch * plan.in_channels * product(plan.spatial, plan.input_size);
  auto* bytes = static_cast<char*>(plan.input);
  parallel_for(numel * itemsize(plan.dtype), int64_t{1} << 16, [&](int64_t begin, int64_t end) {
    std::memset(bytes + begin, 0, static_cast<size_t>(end - begin));
  });
}

// How a run has ended. An error message belongs to a thread, so the calling thread sets it.
struct Outcome {
  Code code = Code::kOk;
  const char* text = nullptr;  // lives for ever
};

constexpr Outcome kNoMemory{Code::kOutOfMemory, "expected memory for a convolution, got none"};

Outcome execute(const Prepared& prepared, const ConvPlan& plan) {
  const Workspace space(prepared.scratch_bytes);
  auto* scratch = static_cast<char*>(space.data());
  if (scratch == nullptr && prepared.scratch_bytes > 0) {
    return {Code::kOutOfMemory, "expected memory for a convolution's layouts, got none"};
  }
  Lent runner(prepared);
  const dnnl::stream& stream = runner->stream;
  void* const data[4] = {plan.input, plan.weight, plan.output, plan.bias};
  for (int i = 0; i < prepared.count; ++i) {
    const Operand& operand = prepared.operands[i];
    runner->inside[i].set_data_handle(operand.direct() ? data[i] : scratch + operand.offset);
    if (operand.direct()) continue;
    runner->outside[i].set_data_handle(data[i]);
    if (!operand.written) reorder(operand, stream, runner->outside[i], runner->inside[i]);
  }
  runner->scratchpad.set_data_handle(scratch + prepared.scratchpad_offset);
  run(prepared.primitive, stream, prepared.count + 1, runner->arguments);
  if (prepared.clears_input) clear_input(plan);
  for (int i = 0; i < prepared.count; ++i) {
    const Operand& operand = prepared.operands[i];
    if (operand.direct() || !operand.written) continue;
    reorder(operand, stream, runner->inside[i], runner->outside[i]);
  }
  runner->stream.wait();
  runner.give_back();
  return {};
}

bool is_small(const ConvPlan& plan) {
  const int64_t sums = plan.batch * plan.out_channels * product(plan.spatial, plan.output_size);
  const int64_t window = plan.in_channels / plan.groups * product(plan.spatial, plan.kernel);
  return sums <= kSerialProducts / std::max<int64_t>(window, 1);
}

// True for the gradients of a first layer for which oneDNN 2.6 picks a broken kernel: with padding
// and strides it leaves parts of the gradient unwritten, or does not return.
bool is_broken(const ConvPlan& plan) {
  constexpr int64_t kFirstLayer = 3;
  return plan.pass == ConvPass::kBackwardWeight && plan.spatial == 3 && plan.groups == 1 &&
         plan.in_channels <= kFirstLayer && plan.dtype == DType::kFloat32;
}

// ---- running ----

Outcome execute_safely(const Prepared& prepared, const ConvPlan& plan) noexcept {
  try {
    return execute(prepared, plan);
  } catch (const dnnl::error& error) {
    return {is_missing(error) ? Code::kNotImplemented : Code::kBackend, error.message};
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

// nullopt if oneDNN lacks the implementation after all.
std::optional<Status> status_of(const Outcome& outcome) {
  if (outcome.code == Code::kNotImplemented) return std::nullopt;
  return outcome.code == Code::kOk ? kernel::kOk : failure(outcome.code, outcome.text);
}

// Adds `count` arrays, which follow one another, to the first numbers of `sum`.
void add_arrays(int64_t numel, int64_t count, const float* arrays, float* sum) {
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t i = 0; i < numel; ++i) sum[i] += arrays[k * numel + i];
  }
}

// nullopt when oneDNN has no implementation. See Note [Shares].
std::optional<Status> run_shares(const ConvPlan& plan, const Shares& shares) {
  const int64_t extra = shares.sums ? shares.count - 1 : 0;
  const int64_t weight = weight_numel(plan);
  const int64_t bias = plan.bias == nullptr ? 0 : plan.out_channels;
  const Workspace space(extra * (weight + bias) * static_cast<int64_t>(sizeof(float)));
  auto* const weights = static_cast<float*>(space.data());
  if (weights == nullptr && extra > 0) return status_of(kNoMemory);
  float* const biases = weights + extra * weight;
  // All shares are of one size, and so are prepared as one.
  const std::shared_ptr<Prepared> prepared = cache().find(share_of(plan, shares, 0), 1);
  if (prepared == nullptr) return std::nullopt;
  std::atomic<bool> failed{false};
  Outcome outcome;
  parallel_for(shares.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ConvPlan share = share_of(plan, shares, i);
      if (shares.sums && i > 0) {
        share.weight = weights + (i - 1) * weight;
        if (bias > 0) share.bias = biases + (i - 1) * bias;
      }
      const Outcome mine = execute_safely(*prepared, share);
      if (mine.code != Code::kOk && !failed.exchange(true)) outcome = mine;
    }
  });
  if (outcome.code != Code::kOk) return status_of(outcome);
  add_arrays(weight, extra, weights, static_cast<float*>(plan.weight));
  add_arrays(bias, extra, biases, static_cast<float*>(plan.bias));
  return kernel::kOk;
}

std::optional<Status> run_whole(const ConvPlan& plan, int32_t threads) {
  const std::shared_ptr<Prepared> prepared = cache().find(plan, threads);
  if (prepared == nullptr) return std::nullopt;
  return status_of(execute_safely(*prepared, plan));
}

// In deterministic mode a sum may not depend on the number of shares.
Shares shares_for_threads(const ConvPlan& plan) {
  if (is_small(plan) || deterministic() || in_parallel_region()) return {};
  const auto [in, out] = last_of(plan);
  return shares_of(plan, approach_to(plan, in, out), num_threads());
}

}  // namespace

std::optional<Status> conv(const ConvPlan& plan) {
  if (is_broken(plan)) return std::nullopt;
  const ForeignCall call;
  if (call.refused()) return ForeignCall::refuse();
  const Shares shares = shares_for_threads(plan);
  const OpenMpThreads threads(shares.count > 1 || is_small(plan));
  try {
    return shares.count > 1 ? run_shares(plan, shares) : run_whole(plan, threads.count());
  } catch (const dnnl::error& error) {
    return failure(Code::kBackend, error.what());
  } catch (const std::bad_alloc&) {
    return status_of(kNoMemory);
  }
}

}  // namespace tsr::cpu::onednn
