// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "optim/grad_scaler.h"

#include <algorithm>
#include <cmath>

#include "autograd/tensor_grad.h"
#include "base/error.h"
#include "base/json.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/optim/foreach.h"

namespace tsr::optim {
namespace {

double as_float32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

bool is_scale(double scale) {
  return as_float32(scale) > 0 && std::isfinite(as_float32(scale));
}

// A text comes from a file.
double number_in(const Json& tree, const char* name) {
  const Json* number = tree.find(name);
  TSR_CHECK(number != nullptr && number->is_number(), Code::kValue, "path",
            "expected the state of an enabled scaler, got one without the number '", name, "'");
  return number->get<double>();
}

int64_t count_in(const Json& tree, const char* name) {
  static_cast<void>(number_in(tree, name));
  const Json& number = tree.at(name);
  TSR_CHECK(number.is_int64(), Code::kValue, "path", "expected a whole number below 2^63 as '",
            name, "', got ", short_text(number));
  return number.get<int64_t>();
}

}  // namespace

void ScalerState::check() const {
  TSR_CHECK(is_scale(scale), Code::kValue, "state",
            "expected a finite float32 above 0 as scale, got ", scale);
  TSR_CHECK(growth_factor > 1 && std::isfinite(growth_factor), Code::kValue, "state",
            "expected a number above 1 as growth_factor, got ", growth_factor);
  TSR_CHECK(backoff_factor > 0 && backoff_factor < 1, Code::kValue, "state",
            "expected a number above 0 and below 1 as backoff_factor, got ", backoff_factor);
  TSR_CHECK(growth_interval >= 1, Code::kValue, "state",
            "expected a growth_interval of at least 1, got ", growth_interval);
  TSR_CHECK(growth_tracker >= 0, Code::kValue, "state",
            "expected a growth_tracker of at least 0, got ", growth_tracker);
}

GradScaler::GradScaler(const ScalerState& state) : Object(kGradScalerTag) {
  set_state(state);
}

void GradScaler::destroy(GradScaler* scaler) noexcept {
  scaler->tag = ObjectTag::kDead;
  delete scaler;
}

void GradScaler::set_state(const ScalerState& state) {
  state.check();
  state_ = state;
  state_.scale = as_float32(state.scale);
}

Tensor GradScaler::scale(const Tensor& loss) {
  if (!state_.enabled) return loss;
  TSR_CHECK(is_floating(loss.dtype()), Code::kDType, "loss", "expected a floating dtype, got ",
            loss.dtype());
  Tensor scaled = ops::multiply(loss, Scalar(state_.scale));
  scaled_ = true;
  return scaled;
}

void GradScaler::check_scaled(const char* function) const {
  TSR_CHECK(scaled_, Code::kValue, nullptr, "expected ", function,
            " after a loss was scaled, got it before the first");
}

GradScaler::Iteration& GradScaler::iteration(Optimizer& optimizer) {
  Iteration& found = iterations_[&optimizer];
  if (!found.optimizer) found.optimizer = IntrusivePtr<Optimizer>::share(&optimizer);
  return found;
}

void GradScaler::look_at_gradients(Iteration& iteration) const {
  const Quiet quiet;
  std::vector<std::vector<Tensor>> devices;
  for (const Group& group : iteration.optimizer->groups()) {
    for (const Tensor& param : group.params) {
      const Tensor grad = grad_of(param);
      if (!grad.defined()) continue;
      TSR_CHECK(grad.dtype() != DType::kFloat16, Code::kValue, "optimizer",
                "expected gradients of float32, bfloat16 or float64, got float16, which may have "
                "no room for a divided gradient; keep the parameters in float32");
      const auto known = std::find_if(devices.begin(), devices.end(), [&](const auto& list) {
        return list[0].device() == grad.device();
      });
      (known == devices.end() ? devices.emplace_back() : *known).push_back(grad);
    }
  }
  const double inverse = as_float32(1 / state_.scale);
  iteration.found.clear();
  iteration.infinite.reset();
  for (const std::vector<Tensor>& grads : devices) {
    const Device device = grads[0].device();
    const Tensor factor = ops::full({}, inverse, DType::kFloat32, device);
    const Tensor found = ops::zeros({}, DType::kFloat32, device);
    ops::amp_unscale_(grads, found, factor);
    iteration.found.push_back(found);
  }
}

// Waits for the devices, once.
bool GradScaler::is_infinite(Iteration& iteration) {
  if (!iteration.infinite) {
    const Quiet quiet;
    iteration.infinite =
        std::any_of(iteration.found.begin(), iteration.found.end(), [](const Tensor& found) {
          return *ops::to(found, Device{}, std::nullopt).data_as<float>() != 0;
        });
  }
  return *iteration.infinite;
}

void GradScaler::unscale(Optimizer& optimizer) {
  if (!state_.enabled) return;
  check_scaled("gradients");
  Iteration& own = iteration(optimizer);
  TSR_CHECK(own.stage != Stage::kUnscaled, Code::kValue, "optimizer",
            "unscale has already been called for this optimizer since the last update");
  TSR_CHECK(own.stage != Stage::kStepped, Code::kValue, "optimizer",
            "unscale is being called after the step of this optimizer; update comes first");
  look_at_gradients(own);
  own.stage = Stage::kUnscaled;
}

bool GradScaler::begin_step(Optimizer& optimizer) {
  if (!state_.enabled) return true;
  check_scaled("a step");
  Iteration& own = iteration(optimizer);
  TSR_CHECK(own.stage != Stage::kStepped, Code::kValue, "optimizer",
            "step has already been called for this optimizer since the last update");
  if (own.stage == Stage::kReady) unscale(optimizer);
  TSR_CHECK(!own.found.empty(), Code::kValue, "optimizer",
            "expected a parameter with a gradient, got none, so nothing was looked at");
  const bool infinite = is_infinite(own);
  own.stage = Stage::kStepped;
  return !infinite;
}

bool GradScaler::step(Optimizer& optimizer) {
  const bool may = begin_step(optimizer);
  if (may) optimizer.step();
  return may;
}

bool GradScaler::found_inf(const Optimizer& optimizer) {
  const auto known = iterations_.find(&optimizer);
  return known != iterations_.end() && is_infinite(known->second);
}

void GradScaler::update(std::optional<double> scale) {
  if (!state_.enabled) return;
  check_scaled("an update");
  if (scale) {
    TSR_CHECK(is_scale(*scale), Code::kValue, "new_scale",
              "expected a finite float32 above 0, got ", *scale);
    state_.scale = as_float32(*scale);
    iterations_.clear();
    return;
  }
  bool looked = false, infinite = false;
  for (auto& [optimizer, own] : iterations_) {
    looked |= !own.found.empty();
    infinite |= is_infinite(own);
  }
  TSR_CHECK(looked, Code::kValue, nullptr,
            "expected unscale or step of an optimizer since the last update, got none");
  if (infinite) {
    // Not to 0, from which no growth leads back.
    const double smaller = as_float32(state_.scale * state_.backoff_factor);
    if (smaller > 0) state_.scale = smaller;
    state_.growth_tracker = 0;
  } else if (++state_.growth_tracker >= state_.growth_interval) {
    const double larger = as_float32(state_.scale * state_.growth_factor);
    if (std::isfinite(larger)) state_.scale = larger;
    state_.growth_tracker = 0;
  }
  iterations_.clear();
}

// ---- the state as text ----

std::string GradScaler::json() const {
  if (!state_.enabled) return "{}";
  const Json tree = {{"scale", state_.scale},
                     {"growth_factor", state_.growth_factor},
                     {"backoff_factor", state_.backoff_factor},
                     {"growth_interval", state_.growth_interval},
                     {"_growth_tracker", state_.growth_tracker}};
  return tree.dump_in_order();
}

void GradScaler::load(std::string_view text) {
  const std::optional<Json> tree = Json::try_parse(text);
  TSR_CHECK(tree.has_value(), Code::kValue, "path", "expected JSON, got '", text.substr(0, 80),
            "'");
  if (!state_.enabled) return;
  ScalerState next;
  next.scale = number_in(*tree, "scale");
  next.growth_factor = number_in(*tree, "growth_factor");
  next.backoff_factor = number_in(*tree, "backoff_factor");
  next.growth_interval = count_in(*tree, "growth_interval");
  next.growth_tracker = count_in(*tree, "_growth_tracker");
  set_state(next);
}

}  // namespace tsr::optim
