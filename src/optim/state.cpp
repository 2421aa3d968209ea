// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Saves the state of an optimizer as named tensors and JSON, and loads it. docs/optimizer_state.md
// describes the format.
#include <charconv>
#include <unordered_set>

#include "base/error.h"
#include "base/json.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "optim/optimizer.h"

namespace tsr::optim {
namespace {

using Form = OptionRow::Form;

constexpr int kFormat = 1;
constexpr const char* kStep = "step";
constexpr const char* kProduct = "mu_product";

template <class... Pieces>
[[noreturn]] void refuse(const char* arg, const Pieces&... pieces) {
  fail(Code::kValue, arg, __FILE__, __LINE__, pieces...);
}

// ---- options ----

Json option_json(const OptionRow& row, double value) {
  if (row.form == Form::kFlag) return value != 0;
  if (row.form == Form::kCount) return static_cast<int64_t>(value);
  return value;
}

Json describe(const KindRow& row, std::span<const Group> groups) {
  Json list = Json::array();
  for (const Group& group : groups) {
    Json options = Json::object();
    for (const Default& known : row.options) {
      const OptionRow& option = row_of(known.option);
      options[option.name] = option_json(option, group.options.get(known.option));
    }
    list.push_back({{"params", group.params.size()}, {"options", std::move(options)}});
  }
  return {{"format", kFormat}, {"kind", row.name}, {"groups", std::move(list)}};
}

void read_option(Options& options, const std::string& name, const Json& value) {
  for (const Default& known : options.row().options) {
    const OptionRow& option = row_of(known.option);
    if (name != option.name) continue;
    const bool flag = option.form == Form::kFlag;
    if (!(flag ? value.is_boolean() : value.is_number())) {
      refuse("description", options.row().name, ": expected ",
             flag ? "true or false" : option.range, " for ", name, ", got ", short_text(value));
    }
    options.set(known.option,
                value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>());
    return;
  }
  refuse("description", options.row().name, ": expected options of this kind, got '", name, "'");
}

Options read_options(const Options& defaults, const Json& tree) {
  Options options(defaults.kind());
  if (!tree.is_object())
    refuse("description", "expected an object of options, got ", short_text(tree));
  for (const auto& [name, value] : tree.items()) read_option(options, name, value);
  options.check();
  return options;
}

// The groups of a description. Its kind and group sizes must equal those of the optimizer.
std::vector<Group> read_groups(std::string_view text, const Options& defaults,
                               std::span<const Group> own) {
  const Json tree = Json::try_parse(text).value_or(nullptr);
  const auto has = [&tree](const char* key, auto is) {
    const Json* found = tree.find(key);
    return found != nullptr && is(*found);
  };
  if (!has("format", [](const Json& v) { return v == kFormat; }) ||
      !has("kind", [](const Json& v) { return v.is_string(); }) ||
      !has("groups", [](const Json& v) { return v.is_array(); })) {
    refuse("description", "expected the description of an optimizer's state of format ", kFormat,
           ", got '", text.substr(0, 80), "'");
  }
  if (tree["kind"] != defaults.row().name) {
    refuse("description", "expected the state of ", defaults.row().name, ", got that of ",
           tree["kind"].get<std::string>());
  }
  const Json& list = tree["groups"];
  if (list.size() != own.size()) {
    refuse("description", "expected ", own.size(), " groups, got ", list.size());
  }
  std::vector<Group> groups;
  for (size_t g = 0; g < own.size(); ++g) {
    const Json& entry = list[g];
    if (!entry.contains("params") || !entry.contains("options") ||
        entry["params"] != own[g].params.size()) {
      refuse("description", "expected ", own[g].params.size(), " parameters in group ", g, ", got ",
             short_text(entry));
    }
    groups.push_back({read_options(defaults, entry["options"]), own[g].params});
  }
  return groups;
}

// ---- names ----

struct Place {
  size_t group, index;
  std::string_view state;
};

// Reads a number only in the form in which it is written: no sign, spaces or leading zeros.
bool read_number(std::string_view text, size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() &&
         (text.size() == 1 || text[0] != '0');
}

Place read_name(std::string_view name, std::span<const Group> groups) {
  const size_t first = name.find('.');
  const size_t second = first == std::string_view::npos ? first : name.find('.', first + 1);
  Place place{};
  if (second == std::string_view::npos || !read_number(name.substr(0, first), place.group) ||
      !read_number(name.substr(first + 1, second - first - 1), place.index) ||
      place.group >= groups.size() || place.index >= groups[place.group].params.size()) {
    refuse("names", "expected <group>.<index>.<state> of a parameter of this optimizer, got '",
           name.substr(0, 80), "'");
  }
  place.state = name.substr(second + 1);
  return place;
}

double read_scalar(const Tensor& tensor, DType dtype, std::string_view name) {
  TSR_CHECK(tensor.dtype() == dtype, Code::kDType, "tensors", "expected ", dtype, " for '", name,
            "', got ", tensor.dtype());
  TSR_CHECK(tensor.numel() == 1, Code::kShape, "tensors", "expected one number for '", name,
            "', got shape ", tensor.sizes());
  const Tensor here = ops::contiguous(ops::to(tensor, Device{}, DType::kFloat64));
  return *here.data_as<double>();
}

// A copy with the dtype, device and order of dims of the parameter.
Tensor copied(const Tensor& tensor, const Tensor& param, std::string_view name) {
  TSR_CHECK(is_floating(tensor.dtype()), Code::kDType, "tensors", "expected a floating dtype for '",
            name, "', got ", tensor.dtype());
  TSR_CHECK(tensor.sizes() == param.sizes(), Code::kShape, "tensors", "expected shape ",
            param.sizes(), " for '", name, "', got ", tensor.sizes());
  Tensor copy = ops::empty_like(param);
  ops::copy_(copy, ops::to(tensor, param.device(), std::nullopt));
  return copy;
}

// Stores a tensor in its state; throws kValue for an unknown name.
void read_state(ParamState& state, const KindRow& row, const Place& place, const Tensor& param,
                const Tensor& tensor, std::string_view name) {
  if (place.state == kStep) {
    const double step = read_scalar(tensor, DType::kInt64, name);
    if (!(step >= 1 && step <= 9007199254740992.0)) {
      refuse("tensors", "expected a number of steps from 1 for '", name, "', got ", step);
    }
    state.step = static_cast<int64_t>(step);
    return;
  }
  if (place.state == kProduct && row.kind == Kind::kNadam) {
    state.momentum_product = read_scalar(tensor, DType::kFloat64, name);
    return;
  }
  for (size_t i = 0; i < kMaxStates; ++i) {
    if (row.states[i].name == nullptr || place.state != row.states[i].name) continue;
    state.tensors[i] = copied(tensor, param, name);
    return;
  }
  refuse("names", row.name, ": expected a state of this kind, got '", name, "'");
}

// Throws kValue if only a part of a parameter's state was saved.
void check_whole(const ParamState& state, const Group& group, size_t g, size_t i) {
  const auto expect = [&](bool found, const char* name) {
    if (!found) {
      refuse("names", group.options.row().name, ": expected also '", g, ".", i, ".", name,
             "', which is missing");
    }
  };
  expect(state.step != 0, kStep);
  for (size_t s = 0; s < kMaxStates; ++s) {
    const StateRow& row = group.options.row().states[s];
    if (row.kept(group.options)) expect(state.tensors[s].defined(), row.name);
  }
}

template <class T>
Tensor number(DType dtype, T value) {
  Tensor made = ops::empty({}, dtype, Device{});
  *made.data_as<T>() = value;
  return made;
}

}  // namespace

NamedState Optimizer::state() const {
  const Quiet quiet;
  NamedState found;
  found.description = describe(row(), groups_).dump();
  const size_t most = states_.size() * (kMaxStates + 2);
  found.names.reserve(most);
  found.tensors.reserve(most);
  std::string place;
  const auto add = [&](const char* name, Tensor tensor) {
    found.names.push_back(place + name);
    found.tensors.push_back(std::move(tensor));
  };
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (size_t i = 0; i < groups_[g].params.size(); ++i) {
      const auto known = states_.find(groups_[g].params[i].impl());
      if (known == states_.end()) continue;
      const ParamState& state = known->second;
      place = std::to_string(g) + '.' + std::to_string(i) + '.';
      add(kStep, number(DType::kInt64, state.step));
      if (row().kind == Kind::kNadam) {
        add(kProduct, number(DType::kFloat64, state.momentum_product));
      }
      for (size_t s = 0; s < kMaxStates; ++s) {
        if (state.tensors[s].defined()) add(row().states[s].name, state.tensors[s]);
      }
    }
  }
  return found;
}

Optimizer::States Optimizer::read_states(std::span<const Group> groups,
                                         std::span<const std::string> names,
                                         std::span<const Tensor> tensors) const {
  States states;
  std::unordered_set<std::string_view> known;
  for (size_t n = 0; n < names.size(); ++n) {
    if (!known.insert(names[n]).second) {
      refuse("names", "expected different names, got '", names[n], "' again");
    }
    const Place place = read_name(names[n], groups);
    const Tensor& param = groups[place.group].params[place.index];
    read_state(states[param.impl()], row(), place, param, tensors[n], names[n]);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].params.size(); ++i) {
      const auto found = states.find(groups[g].params[i].impl());
      if (found != states.end()) check_whole(found->second, groups[g], g, i);
    }
  }
  return states;
}

void Optimizer::load(std::string_view description, std::span<const std::string> names,
                     std::span<const Tensor> tensors) {
  const Quiet quiet;
  TSR_CHECK(names.size() == tensors.size(), Code::kValue, "names", "expected ", tensors.size(),
            " names, one per tensor, got ", names.size());
  std::vector<Group> groups = read_groups(description, defaults_, groups_);
  States states = read_states(groups, names, tensors);
  groups_.swap(groups);
  states_.swap(states);
}

}  // namespace tsr::optim
