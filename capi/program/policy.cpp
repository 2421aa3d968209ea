// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What a recording does with each function of the ABI, and the way into those that are recorded.
#include <algorithm>
#include <array>
#include <string_view>

#include "capi/generated/infos.h"
#include "capi/program/program.h"
#include "capi/unpack.h"

namespace tsr::capi::program {
namespace {

// ---- Functions that are no operators ----

tsr_optimizer optimizer(const tsr_value& value) {
  return static_cast<tsr_optimizer>(const_cast<void*>(pointer(value)));
}

// Letters as in arg_type; 'O' is an optimizer.
struct Special {
  int32_t id;
  Policy policy;
  std::string_view letters = {};
  Caller call = nullptr;
  bool trains = false;
};

constexpr Special kSpecials[] = {
    {kInfo_backward.id, Policy::kRecord, "LlLI",
     [](AnyFunction, tsr_value* v) {
       return tsr_backward(list<tsr_tensor>(v[0]), count(v[0]), list<tsr_tensor>(v[1]), count(v[1]),
                           list<tsr_tensor>(v[2]), count(v[2]), static_cast<int32_t>(v[3].integer));
     },
     true},
    {kInfo_grad.id, Policy::kRecord, "LlLIQ",
     [](AnyFunction, tsr_value* v) {
       return tsr_grad(list<tsr_tensor>(v[0]), count(v[0]), list<tsr_tensor>(v[1]), count(v[1]),
                       list<tsr_tensor>(v[2]), count(v[2]), static_cast<int32_t>(v[3].integer),
                       place(v[4]));
     },
     true},
    {kInfo_tensor_grad.id, Policy::kRecord, "TP",
     [](AnyFunction, tsr_value* v) { return tsr_tensor_grad(tensor(v[0]), place(v[1])); }, true},
    {kInfo_tensor_set_grad.id, Policy::kRecord, "Tt",
     [](AnyFunction, tsr_value* v) { return tsr_tensor_set_grad(tensor(v[0]), tensor(v[1])); },
     true},
    {kInfo_tensor_set_requires_grad.id, Policy::kRecord, "TB",
     [](AnyFunction, tsr_value* v) {
       return tsr_tensor_set_requires_grad(tensor(v[0]), small(v[1]));
     },
     true},
    {kInfo_tensor_retain_grad.id, Policy::kRecord, "T",
     [](AnyFunction, tsr_value* v) { return tsr_tensor_retain_grad(tensor(v[0])); }, true},
    {kInfo_tensor_set_data.id, Policy::kRecord, "TT",
     [](AnyFunction, tsr_value* v) { return tsr_tensor_set_data(tensor(v[0]), tensor(v[1])); },
     true},
    {kInfo_tensor_empty_strided.id, Policy::kRecord, "JJdcP",
     [](AnyFunction, tsr_value* v) {
       return tsr_tensor_empty_strided(list<int64_t>(v[0]), count(v[0]), list<int64_t>(v[1]),
                                       count(v[1]), small(v[2]), small(v[3]), device_index(v[3]),
                                       place(v[4]));
     }},
    {kInfo_optimizer_step.id, Policy::kRecord, "O",
     [](AnyFunction, tsr_value* v) { return tsr_optimizer_step(optimizer(v[0])); }, true},
    {kInfo_optimizer_step_with.id, Policy::kRecord, "OL",
     [](AnyFunction, tsr_value* v) {
       return tsr_optimizer_step_with(optimizer(v[0]), list<tsr_tensor>(v[1]), count(v[1]));
     },
     true},
    {kInfo_optimizer_zero_grad.id, Policy::kRecord, "OB",
     [](AnyFunction, tsr_value* v) {
       return tsr_optimizer_zero_grad(optimizer(v[0]), small(v[1]));
     },
     true},
    {kInfo_tensor_info.id, Policy::kIgnore},
    {kInfo_tensor_version.id, Policy::kIgnore},
    {kInfo_tensor_version_increment.id, Policy::kIgnore},
    {kInfo_tensor_use_count.id, Policy::kIgnore},
    {kInfo_tensor_requires_grad.id, Policy::kIgnore},
    {kInfo_tensor_is_leaf.id, Policy::kIgnore},
    {kInfo_tensor_retains_grad.id, Policy::kIgnore},
    {kInfo_tensor_grad_fn.id, Policy::kIgnore},
    {kInfo_tensor_output_number.id, Policy::kIgnore},
    {kInfo_tensor_gradient_edge.id, Policy::kIgnore},
    {kInfo_tensor_traverse.id, Policy::kIgnore},
    {kInfo_node_variable.id, Policy::kIgnore},
    {kInfo_tensor_is_pinned.id, Policy::kIgnore},
    {kInfo_tensor_record_stream.id, Policy::kIgnore},
    {kInfo_scope_end.id, Policy::kIgnore},
    {kInfo_graph_draw.id, Policy::kIgnore},
    {kInfo_optimizer_params_get.id, Policy::kIgnore},
    {kInfo_archive_tensor.id, Policy::kIgnore},
    {kInfo_program_record_begin.id, Policy::kIgnore},
    {kInfo_program_record_end.id, Policy::kIgnore},
    {kInfo_program_tensor.id, Policy::kIgnore},
    {kInfo_tensor_from_data.id, Policy::kHostData, "P"},
    {kInfo_from_dlpack.id, Policy::kHostData, "P"},
    {kInfo_from_dlpack_versioned.id, Policy::kHostData, "P"},
    {kInfo_tensor_data.id, Policy::kHostRead},
    {kInfo_tensor_read.id, Policy::kHostRead},
    {kInfo_tensor_item.id, Policy::kHostRead},
    {kInfo_to_dlpack.id, Policy::kHostRead},
    {kInfo_to_dlpack_versioned.id, Policy::kHostRead},
    {kInfo_dltensor_view.id, Policy::kHostRead},
    {kInfo_archive_save.id, Policy::kHostRead},
    {kInfo_tensor_mutable_data.id, Policy::kHostWrite},
    {kInfo_tensor_write.id, Policy::kHostWrite},
    // Without tensors, but a run would not repeat what they do.
    {kInfo_generator_seed.id, Policy::kRefuse},
    {kInfo_generator_set_state.id, Policy::kRefuse},
    {kInfo_generator_set_current.id, Policy::kRefuse},
    {kInfo_optimizer_options_set.id, Policy::kRefuse},
    {kInfo_optimizer_load.id, Policy::kRefuse},
    {kInfo_optimizer_state_load.id, Policy::kRefuse},
    {kInfo_optimizer_new.id, Policy::kRefuse},
    {kInfo_optimizer_add_group.id, Policy::kRefuse},
    {kInfo_optimizer_params_set.id, Policy::kRefuse},
    {kInfo_saved_hooks_push.id, Policy::kRefuse},
    {kInfo_forward_enter.id, Policy::kRefuse},
    {kInfo_stream_set_current.id, Policy::kRefuse},
    {kInfo_backward_queue.id, Policy::kRefuse},
    {kInfo_grad_scaler_begin_step.id, Policy::kRefuse},
    {kInfo_grad_scaler_step.id, Policy::kRefuse},
    {kInfo_grad_scaler_unscale.id, Policy::kRefuse},
    {kInfo_grad_scaler_update.id, Policy::kRefuse},
};

const Special* special(const Symbol& symbol) noexcept {
  const auto* found = std::find_if(std::begin(kSpecials), std::end(kSpecials),
                                   [&](const Special& row) { return row.id == symbol.id; });
  return found == std::end(kSpecials) ? nullptr : found;
}

bool has_tensors(const CallInfo& info) noexcept {
  return std::any_of(info.args, info.args + info.n, [](const ArgInfo& arg) {
    const char type = required(arg.type);
    return type == arg_type::kTensor || type == arg_type::kTensors || type == arg_type::kPlace ||
           type == arg_type::kPlaces;
  });
}

}  // namespace

Policy policy_of(const Symbol& symbol) noexcept {
  if (symbol.signature != nullptr) return Policy::kRecord;
  if (const Special* row = special(symbol)) return row->policy;
  return has_tensors(*symbol.info) ? Policy::kRefuse : Policy::kIgnore;
}

std::string_view letters_of(const Symbol& symbol) noexcept {
  if (symbol.signature != nullptr) return symbol.signature->letters;
  const Special* row = special(symbol);
  return row == nullptr || row->policy != Policy::kRecord ? std::string_view() : row->letters;
}

Caller caller_of(const Symbol& symbol) noexcept {
  if (symbol.signature != nullptr) return symbol.signature->call;
  const Special* row = special(symbol);
  return row == nullptr ? nullptr : row->call;
}

bool is_training_call(const Symbol& symbol) noexcept {
  if (symbol.signature != nullptr) {
    const std::string_view name = symbol.info->name;
    return name == "clip_grad_norm" || name == "clip_grad_value";
  }
  const Special* row = special(symbol);
  return row != nullptr && row->trains;
}

bool has_data_dependent_shape(const Symbol& symbol) noexcept {
  constexpr std::string_view kNames[] = {
      "argwhere",      "bincount",      "getitem",        "getitem_boolean", "masked_select",
      "nonzero",       "one_hot",       "unique_all",     "unique_axis",     "unique_consecutive",
      "unique_counts", "unique_values", "unique_inverse", "tensor_split_at"};
  return std::find(std::begin(kNames), std::end(kNames), symbol.info->name) != std::end(kNames);
}

}  // namespace tsr::capi::program
