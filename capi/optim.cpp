// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers.
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/json_args.h"
#include "capi/optimizer_args.h"
#include "capi/structs.h"
#include "io/safetensors.h"
#include "optim/optimizer.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

using optim::Kind;
using optim::Optimizer;
using optim::Option;
using optim::Options;

constexpr const char* kMetadataKey = "tessera.optimizer";

// A JSON array of names that have nothing to escape: numbers, dots and the names of states.
std::string json_of_plain(const std::vector<std::string>& names) {
  size_t size = 2;
  for (const std::string& name : names) size += name.size() + 3;
  std::string json = "[";
  json.reserve(size);
  for (const std::string& name : names) {
    if (json.size() > 1) json += ',';
    json.append("\"").append(name).append("\"");
  }
  return json += ']';
}

// ---- options ----

struct NumberField {
  Option option;
  double tsr_optimizer_options::*field;
};
constexpr NumberField kNumbers[] = {
    {Option::kLr, &tsr_optimizer_options::lr},
    {Option::kBeta1, &tsr_optimizer_options::beta1},
    {Option::kBeta2, &tsr_optimizer_options::beta2},
    {Option::kEps, &tsr_optimizer_options::eps},
    {Option::kWeightDecay, &tsr_optimizer_options::weight_decay},
    {Option::kMomentum, &tsr_optimizer_options::momentum},
    {Option::kDampening, &tsr_optimizer_options::dampening},
    {Option::kAlpha, &tsr_optimizer_options::alpha},
    {Option::kRho, &tsr_optimizer_options::rho},
    {Option::kLrDecay, &tsr_optimizer_options::lr_decay},
    {Option::kInitialAccumulatorValue, &tsr_optimizer_options::initial_accumulator_value},
    {Option::kMomentumDecay, &tsr_optimizer_options::momentum_decay},
    {Option::kEtaminus, &tsr_optimizer_options::etaminus},
    {Option::kEtaplus, &tsr_optimizer_options::etaplus},
    {Option::kStepSizeMin, &tsr_optimizer_options::step_size_min},
    {Option::kStepSizeMax, &tsr_optimizer_options::step_size_max},
    {Option::kLambd, &tsr_optimizer_options::lambd},
    {Option::kT0, &tsr_optimizer_options::t0},
};
struct WholeField {
  Option option;
  int32_t tsr_optimizer_options::*field;
};
constexpr WholeField kWholes[] = {
    {Option::kNsSteps, &tsr_optimizer_options::ns_steps},
    {Option::kNesterov, &tsr_optimizer_options::nesterov},
    {Option::kAmsgrad, &tsr_optimizer_options::amsgrad},
    {Option::kCentered, &tsr_optimizer_options::centered},
    {Option::kDecoupledWeightDecay, &tsr_optimizer_options::decoupled_weight_decay},
    {Option::kMaximize, &tsr_optimizer_options::maximize},
};
static_assert(std::size(kNumbers) + std::size(kWholes) == optim::kOptionCount);

Options options_arg(const tsr_optimizer_options* from) {
  const auto given = read_struct(from, "options");
  Options options(static_cast<Kind>(given.kind));
  for (const NumberField& entry : kNumbers) options.set(entry.option, given.*entry.field);
  for (const WholeField& entry : kWholes) options.set(entry.option, given.*entry.field);
  return options;
}

void give_options(const Options& options, tsr_optimizer_options* to) {
  fill_struct(to, "options", [&options](tsr_optimizer_options& filled) {
    filled.kind = static_cast<tsr_optimizer_kind>(options.kind());
    for (const NumberField& entry : kNumbers) filled.*entry.field = options.get(entry.option);
    for (const WholeField& entry : kWholes) {
      filled.*entry.field = static_cast<int32_t>(options.get(entry.option));
    }
  });
}

}  // namespace

extern "C" {

tsr_status tsr_optimizer_defaults(tsr_optimizer_kind kind, tsr_optimizer_options* options) {
  return guard(Call(kInfo_optimizer_defaults, kind, options),
               [&] { give_options(Options(static_cast<Kind>(kind)), options); });
}

tsr_status tsr_optimizer_new(const tsr_optimizer_options* options, const tsr_tensor* params,
                             int32_t n_params, tsr_optimizer* optimizer) {
  clear(optimizer);
  return guard(Call(kInfo_optimizer_new, options, ListOf{params, n_params}), [&] {
    out_arg(optimizer, "optimizer");
    const auto list = tensors_arg(params, n_params, "params");
    give_object(new Optimizer(options_arg(options), list), optimizer);
  });
}

void tsr_optimizer_retain(tsr_optimizer optimizer) {
  retain_handle(optimizer, optim::kOptimizerTag);
}

void tsr_optimizer_release(tsr_optimizer optimizer) {
  release_handle<Optimizer>(optimizer, optim::kOptimizerTag);
}

tsr_status tsr_optimizer_add_group(tsr_optimizer optimizer, const tsr_optimizer_options* options,
                                   const tsr_tensor* params, int32_t n_params) {
  return guard(Call(kInfo_optimizer_add_group, optimizer, options, ListOf{params, n_params}), [&] {
    const auto list = tensors_arg(params, n_params, "params");
    optimizer_arg(optimizer).add_group(options_arg(options), list);
  });
}

tsr_status tsr_optimizer_group_count(tsr_optimizer optimizer, int64_t* count) {
  return guard(Call(kInfo_optimizer_group_count, optimizer), [&] {
    *out_arg(count, "count") = static_cast<int64_t>(optimizer_arg(optimizer).groups().size());
  });
}

tsr_status tsr_optimizer_options_get(tsr_optimizer optimizer, int64_t group,
                                     tsr_optimizer_options* options) {
  return guard(Call(kInfo_optimizer_options_get, optimizer, group, options),
               [&] { give_options(optimizer_arg(optimizer).group(group).options, options); });
}

tsr_status tsr_optimizer_options_set(tsr_optimizer optimizer, int64_t group,
                                     const tsr_optimizer_options* options) {
  return guard(Call(kInfo_optimizer_options_set, optimizer, group, options),
               [&] { optimizer_arg(optimizer).set_options(group, options_arg(options)); });
}

tsr_status tsr_optimizer_params_get(tsr_optimizer optimizer, int64_t group, tsr_tensor* params,
                                    int32_t params_capacity, int32_t* params_count) {
  clear_count(params_count);
  const tsr_status status = guard(Call(kInfo_optimizer_params_get, optimizer, group), [&] {
    const auto& list = optimizer_arg(optimizer).group(group).params;
    check_list_out(params, params_capacity, params_count, "params");
    give_list(std::vector<Tensor>(list), params, params_capacity, params_count);
  });
  if (status != TSR_OK) clear_list(params, params_capacity);
  return status;
}

tsr_status tsr_optimizer_params_set(tsr_optimizer optimizer, int64_t group,
                                    const tsr_tensor* params, int32_t n_params) {
  return guard(Call(kInfo_optimizer_params_set, optimizer, group, ListOf{params, n_params}), [&] {
    const auto list = tensors_arg(params, n_params, "params");
    optimizer_arg(optimizer).set_params(group, list);
  });
}

tsr_status tsr_optimizer_step(tsr_optimizer optimizer) {
  return guard(Call(kInfo_optimizer_step, optimizer), [&] { optimizer_arg(optimizer).step(); });
}

tsr_status tsr_optimizer_step_with(tsr_optimizer optimizer, const tsr_tensor* gradients,
                                   int32_t n_gradients) {
  return guard(Call(kInfo_optimizer_step_with, optimizer, ListOf{gradients, n_gradients}), [&] {
    const auto list = sparse_tensors_arg(gradients, n_gradients, "gradients");
    optimizer_arg(optimizer).step(list);
  });
}

tsr_status tsr_optimizer_zero_grad(tsr_optimizer optimizer, int32_t set_to_none) {
  return guard(Call(kInfo_optimizer_zero_grad, optimizer, set_to_none),
               [&] { optimizer_arg(optimizer).zero_grad(bool_arg(set_to_none, "set_to_none")); });
}

tsr_status tsr_optimizer_state(tsr_optimizer optimizer, tsr_buffer* description, tsr_buffer* names,
                               tsr_tensor* tensors, int32_t tensors_capacity,
                               int32_t* tensors_count) {
  clear(description, names);
  clear_count(tensors_count);
  const tsr_status status = guard(Call(kInfo_optimizer_state, optimizer), [&] {
    out_arg(description, "description");
    out_arg(names, "names");
    check_list_out(tensors, tensors_capacity, tensors_count, "tensors");
    optim::NamedState state = optimizer_arg(optimizer).state();
    auto text = std::make_unique<BufferObject>(std::move(state.description));
    auto list = std::make_unique<BufferObject>(json_of_plain(state.names));
    give_list(std::move(state.tensors), tensors, tensors_capacity, tensors_count);
    give_object(text.release(), description);
    give_object(list.release(), names);
  });
  if (status != TSR_OK) clear_list(tensors, tensors_capacity);
  return status;
}

tsr_status tsr_optimizer_state_load(tsr_optimizer optimizer, const char* description,
                                    int64_t description_len, const char* names, int64_t names_len,
                                    const tsr_tensor* tensors, int32_t n_tensors) {
  const Call call(kInfo_optimizer_state_load, optimizer, TextOf{description, description_len},
                  TextOf{names, names_len}, ListOf{tensors, n_tensors});
  return guard(call, [&] {
    Optimizer& target = optimizer_arg(optimizer);
    const auto list = tensors_arg(tensors, n_tensors, "tensors");
    const std::string_view text = text_arg(description, description_len, "description");
    target.load(text, names_arg(text_arg(names, names_len, "names"), list.size()), list);
  });
}

tsr_status tsr_optimizer_save(tsr_optimizer optimizer, const char* path, int64_t path_len) {
  return guard(Call(kInfo_optimizer_save, optimizer, TextOf{path, path_len}), [&] {
    const optim::NamedState state = optimizer_arg(optimizer).state();
    const std::string file = path_arg(path, path_len);
    std::vector<io::NamedTensor> named;
    for (size_t i = 0; i < state.names.size(); ++i) {
      named.push_back({state.names[i], &state.tensors[i]});
    }
    io::save_archive(file, named, {{kMetadataKey, state.description}});
  });
}

tsr_status tsr_optimizer_load(tsr_optimizer optimizer, const char* path, int64_t path_len) {
  return guard(Call(kInfo_optimizer_load, optimizer, TextOf{path, path_len}), [&] {
    Optimizer& target = optimizer_arg(optimizer);
    const auto archive = io::Archive::open(path_arg(path, path_len));
    std::string description;
    for (const auto& [key, value] : archive->header.metadata) {
      if (key == kMetadataKey) description = value;
    }
    std::vector<std::string> names;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < archive->header.entries.size(); ++i) {
      names.push_back(archive->header.entries[i].name);
      tensors.push_back(archive->tensor(i));
    }
    target.load(description, names, tensors);
  });
}

}  // extern "C"
