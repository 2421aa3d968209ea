// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/optim/optim.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/pointwise/ternary.h"

namespace tsr::ops {
namespace {

using kernel::OptimOp;
using kernel::OptimPlan;
using kernel::OptimSlot;

// ---- CHECK ----

struct Named {
  TensorList list;
  const char* arg;
  bool written = true;  // the step changes it
};

void check_constants(TensorList list, const char* arg) {
  for (size_t i = 0; i < list.size(); ++i) {
    TSR_CHECK(!needs_grad(list[i]), Code::kAutograd, arg,
              "expected tensors that do not require grad, or no_grad mode, because writing to them "
              "is not recorded, got one that does at position ",
              i);
  }
}

// If `needed`, the list must have an item for each parameter; otherwise it may also be empty.
void check_list(const Named& list, TensorList params, bool needed) {
  if (!needed && list.list.empty()) return;
  if (list.written) check_constants(list.list, list.arg);
  TSR_CHECK(list.list.size() == params.size(), Code::kInvalidArgument, list.arg, "expected ",
            params.size(), " tensors, one per parameter, got ", list.list.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor& tensor = list.list[i];
    const Tensor& param = params[i];
    check_same_device(param, tensor, list.arg);
    TSR_CHECK(tensor.dtype() == param.dtype(), Code::kDType, list.arg, "expected ", param.dtype(),
              " at position ", i, ", got ", tensor.dtype());
    TSR_CHECK(tensor.sizes() == param.sizes(), Code::kShape, list.arg, "expected shape ",
              param.sizes(), " at position ", i, ", got ", tensor.sizes());
  }
}

void check_written(const Tensor& tensor, const char* arg, size_t position) {
  TSR_CHECK(is_floating(tensor.dtype()), Code::kDType, arg,
            "expected a floating dtype at position ", position, ", got ", tensor.dtype());
  TSR_CHECK(!may_overlap_itself(tensor.sizes(), tensor.strides()), Code::kValue, arg,
            "expected a tensor without overlapping elements at position ", position,
            ", got strides ", tensor.strides(), " for shape ", tensor.sizes());
}

// A step may write to leaves even in grad mode. It must not write to a computed tensor, because
// that write would have to be recorded.
void check_params(TensorList params) {
  for (size_t i = 0; i < params.size(); ++i) {
    check_written(params[i], "params", i);
    TSR_CHECK(!needs_grad(params[i]) || is_leaf(params[i]), Code::kAutograd, "params",
              "expected leaves, because a step is not recorded, got a computed tensor that "
              "requires grad at position ",
              i);
  }
}

void check_range(bool inside, const char* arg, const char* range, double value) {
  TSR_CHECK(inside, Code::kValue, arg, "expected a number ", range, ", got ", value);
}

// ---- memory in the layout of the kernel ----

// Copies of tensors whose order of dims differs from the parameter's.
class Copies {
 public:
  // The address of the tensor's elements in the order of `strides`; makes a copy if needed.
  void* dense(const Tensor& tensor, const Dims& strides, bool written) {
    const Dims& own = tensor.strides();
    if (own == strides && is_dense(tensor.sizes(), own)) return tensor.data();
    Tensor copy = empty_strided(tensor.sizes(), strides, tensor.dtype(), tensor.device());
    copy_memory(copy, tensor);
    items_.push_back({tensor, copy, written});
    return copy.data();
  }
  void put_back() const {
    for (const Item& item : items_) {
      if (item.written) copy_memory(item.target, item.copy);
    }
  }

 private:
  struct Item {
    Tensor target, copy;
    bool written;
  };
  std::vector<Item> items_;
};

Dims dense_order(const Tensor& param) {
  // An empty tensor counts as dense with any strides, even negative ones.
  return param.numel() != 0 && is_dense(param.sizes(), param.strides())
             ? param.strides()
             : dense_strides_like(param.sizes(), param.strides());
}

void* state(Copies& copies, TensorList list, size_t i, const Dims& strides) {
  if (list.empty()) return nullptr;
  begin_inplace(list[i], false);
  return copies.dense(list[i], strides, true);
}

// A float64 in the memory of each device.
class Norms {
 public:
  // Null if the device has none yet.
  [[nodiscard]] double* find(Device device) const {
    for (const Tensor& norm : all_) {
      if (norm.device() == device) return norm.data_as<double>();
    }
    return nullptr;
  }
  double* make(Device device) {
    return all_.emplace_back(empty({}, DType::kFloat64, device)).data_as<double>();
  }
  [[nodiscard]] const std::vector<Tensor>& all() const { return all_; }

 private:
  std::vector<Tensor> all_;
};

// Passes each run of parameters of one dtype and device to the kernel in one call.
void launch_runs(OptimPlan plan, TensorList params, TensorList grads, const StepStates& states,
                 const Norms& norms = {}) {
  const NoGrad pause;
  Copies copies;
  std::vector<OptimSlot> slots;
  slots.reserve(params.size());
  const auto launch = [&](const Tensor& param) {
    plan.count = static_cast<int64_t>(slots.size());
    plan.slots = slots.data();
    plan.dtype = param.dtype();
    plan.place = kernel::place_on(param.device());
    plan.norm = norms.find(param.device());
    kernel::launch(kernel::kOptim, param.device(), plan);
    slots.clear();
  };
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor& param = params[i];
    if (!slots.empty() &&
        (param.dtype() != params[i - 1].dtype() || param.device() != params[i - 1].device())) {
      launch(params[i - 1]);
    }
    begin_inplace(param, false);
    const Dims strides = dense_order(param);
    slots.push_back({param.numel(), copies.dense(param, strides, true),
                     grads.empty() ? nullptr : copies.dense(grads[i], strides, false),
                     state(copies, states.first, i, strides),
                     state(copies, states.second, i, strides),
                     state(copies, states.third, i, strides)});
  }
  if (!slots.empty()) launch(params[params.size() - 1]);
  copies.put_back();
}

struct AdamLists {
  TensorList params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs;
};

void run_adam(OptimOp op, const AdamLists& lists, int64_t step, double learning_rate, double beta1,
              double beta2, double eps, double weight_decay, bool maximize) {
  check_params(lists.params);
  check_list({lists.grads, "grads", false}, lists.params, true);
  check_list({lists.exp_avgs, "exp_avgs"}, lists.params, true);
  check_list({lists.exp_avg_sqs, "exp_avg_sqs"}, lists.params, true);
  check_list({lists.max_exp_avg_sqs, "max_exp_avg_sqs"}, lists.params, false);
  TSR_CHECK(step >= 1, Code::kValue, "step", "expected at least 1, got ", step);
  check_range(beta1 >= 0 && beta1 < 1, "beta1", "in [0, 1)", beta1);
  check_range(beta2 >= 0 && beta2 < 1, "beta2", "in [0, 1)", beta2);
  check_range(eps >= 0, "eps", "of at least 0", eps);
  OptimPlan plan{};
  plan.op = op;
  plan.step = step;
  plan.learning_rate = learning_rate;
  plan.beta1 = beta1;
  plan.beta2 = beta2;
  plan.eps = eps;
  plan.weight_decay = weight_decay;
  plan.maximize = maximize ? 1 : 0;
  launch_runs(plan, lists.params, lists.grads,
              {lists.exp_avgs, lists.exp_avg_sqs, lists.max_exp_avg_sqs});
}

// ---- clipping ----

// Adds the norm of one run of gradients (of one dtype and device) to the norm of that device.
void take_norm(TensorList grads, double norm_type, Norms& norms) {
  Copies copies;
  std::vector<OptimSlot> slots;
  for (const Tensor& grad : grads) {
    OptimSlot slot{};
    slot.numel = grad.numel();
    slot.gradient = copies.dense(grad, dense_order(grad), false);
    slots.push_back(slot);
  }
  const Device device = grads[0].device();
  OptimPlan plan{};
  plan.op = OptimOp::kNorm;
  plan.count = static_cast<int64_t>(slots.size());
  plan.slots = slots.data();
  plan.dtype = grads[0].dtype();
  plan.place = kernel::place_on(device);
  plan.norm_type = norm_type;
  plan.norm = norms.find(device);
  plan.joins = plan.norm != nullptr ? 1 : 0;
  if (plan.joins == 0) plan.norm = norms.make(device);
  kernel::launch(kernel::kOptim, device, plan);
}

double joined(double total, double part, double p) {
  if (p == INFINITY) return std::isnan(part) ? part : std::max(total, part);
  if (p == -INFINITY) return std::isnan(part) ? part : std::min(total, part);
  if (p == 0) return total + part;
  return std::pow(std::pow(total, p) + std::pow(part, p), 1 / p);
}

// Only if gradients are on several devices, the host must know the norms.
void join_devices(const Norms& norms, double p) {
  if (norms.all().size() < 2) return;
  double total = 0;
  for (size_t i = 0; i < norms.all().size(); ++i) {
    const double part = *to(norms.all()[i], Device{}, std::nullopt).data_as<double>();
    total = i == 0 ? part : joined(total, part, p);
  }
  for (const Tensor& norm : norms.all()) fill_memory(norm, total);
}

// The norm of all gradients, on every device that has some.
Norms total_norm(TensorList grads, double p) {
  Norms norms;
  for (size_t begin = 0; begin < grads.size();) {
    size_t end = begin + 1;
    while (end < grads.size() && grads[end].dtype() == grads[begin].dtype() &&
           grads[end].device() == grads[begin].device()) {
      ++end;
    }
    take_norm(grads.subspan(begin, end - begin), p, norms);
    begin = end;
  }
  join_devices(norms, p);
  return norms;
}

// Whether the host knows without waiting that clipping changes nothing. Only asks the CPU's norm.
bool stays(const Norms& norms, double max_norm) {
  const double* const norm = norms.find(Device{});
  if (norm != nullptr) kernel::note_host_decision("the norm of the gradients");
  return norm != nullptr && max_norm / (*norm + 1e-6) >= 1;
}

// The gradients of the parameters, each one once.
std::vector<Tensor> gradients_of(TensorList params) {
  std::vector<Tensor> found;
  std::unordered_set<const TensorImpl*> known;
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor grad = grad_of(params[i]);
    if (!grad.defined() || !known.insert(grad.impl()).second) continue;
    check_written(grad, "params", i);
    found.push_back(std::move(grad));
  }
  return found;
}

// The common norm, which every device of `norms` holds; waits for the device.
double on_host(const Norms& norms) {
  kernel::note_host_decision("the norm of the gradients");
  return norms.all().empty() ? 0 : *to(norms.all()[0], Device{}, std::nullopt).data_as<double>();
}

// Writes without recording; the caller has checked the rules of autograd.
Tensor clip_together(TensorList tensors, double max_norm, double norm_type,
                     bool error_if_nonfinite) {
  check_range(max_norm >= 0, "max_norm", "of at least 0", max_norm);
  TSR_CHECK(!std::isnan(norm_type), Code::kValue, "norm_type", "expected a number, got NaN");
  const Norms norms = total_norm(tensors, norm_type);
  if (error_if_nonfinite) {
    const double norm = on_host(norms);
    TSR_CHECK(std::isfinite(norm), Code::kValue, nullptr, "expected a finite norm, got ", norm,
              " for norm_type ", norm_type, "; nothing was changed");
  }
  // NaN is written into the tensors, so that training does not continue unnoticed.
  if (!stays(norms, max_norm)) {
    OptimPlan plan{};
    plan.op = OptimOp::kClip;
    plan.max_norm = max_norm;
    launch_runs(plan, tensors, {}, {}, norms);
  }
  const bool twice = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.dtype() == DType::kFloat64;
  });
  const DType dtype = twice ? DType::kFloat64 : DType::kFloat32;
  if (!tensors.empty()) return cast_memory(norms.all()[0], dtype);
  Tensor nothing = empty({}, dtype, Device{});
  fill_memory(nothing, 0);
  return nothing;
}

}  // namespace

void take_step(const kernel::OptimPlan& plan, TensorList params, TensorList grads,
               const StepStates& states) {
  check_params(params);
  check_list({grads, "grads", false}, params, plan.op != OptimOp::kUnscale);
  check_list({states.first, "state"}, params, false);
  check_list({states.second, "state"}, params, false);
  check_list({states.third, "state"}, params, false);
  launch_runs(plan, params, grads, states);
}

void sgd_step(TensorList params, TensorList grads, TensorList momentum_buffers,
              double learning_rate, double momentum, double dampening, double weight_decay,
              bool nesterov, bool maximize, bool first_step) {
  check_params(params);
  check_list({grads, "grads", false}, params, true);
  check_list({momentum_buffers, "momentum_buffers"}, params, momentum != 0);
  TSR_CHECK(!nesterov || (momentum > 0 && dampening == 0), Code::kValue, "nesterov",
            "expected a momentum and no dampening, got ", momentum, " and ", dampening);
  OptimPlan plan{};
  plan.op = OptimOp::kSgd;
  plan.learning_rate = learning_rate;
  plan.momentum = momentum;
  plan.dampening = dampening;
  plan.weight_decay = weight_decay;
  plan.nesterov = nesterov ? 1 : 0;
  plan.maximize = maximize ? 1 : 0;
  plan.first_momentum = first_step ? 1 : 0;
  launch_runs(plan, params, grads, {momentum != 0 ? momentum_buffers : TensorList{}, {}, {}});
}

void adam_step(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
               TensorList max_exp_avg_sqs, int64_t step, double learning_rate, double beta1,
               double beta2, double eps, double weight_decay, bool maximize) {
  run_adam(OptimOp::kAdam, {params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs}, step,
           learning_rate, beta1, beta2, eps, weight_decay, maximize);
}

void adamw_step(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                TensorList max_exp_avg_sqs, int64_t step, double learning_rate, double beta1,
                double beta2, double eps, double weight_decay, bool maximize) {
  run_adam(OptimOp::kAdamW, {params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs}, step,
           learning_rate, beta1, beta2, eps, weight_decay, maximize);
}

Tensor clip_norm(TensorList tensors, double max_norm, double norm_type, bool error_if_nonfinite) {
  for (size_t i = 0; i < tensors.size(); ++i) check_written(tensors[i], "tensors", i);
  check_constants(tensors, "tensors");
  return clip_together(tensors, max_norm, norm_type, error_if_nonfinite);
}

Tensor clip_grad_norm(TensorList params, double max_norm, double norm_type,
                      bool error_if_nonfinite) {
  return clip_together(gradients_of(params), max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value(TensorList params, double clip_value) {
  check_range(clip_value >= 0, "clip_value", "of at least 0", clip_value);
  const NoGrad pause;
  for (const Tensor& grad : gradients_of(params)) {
    clip(grad, Scalar(-clip_value), Scalar(clip_value), Out::inplace(grad));
  }
}

}  // namespace tsr::ops
