// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/json.h"

#include <cmath>

#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/program/runner.h"

namespace tsr::capi::program {
namespace {

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw_error(Code::kIo, "path", __FILE__, __LINE__, concat("not a program: ", pieces...));
}

// ---- Numbers ----

Json json_of(const Integer& number) {
  if (!number.is_dynamic()) return number.base;
  if (number.is_simple()) return Json::array({number.base, number.terms[0].factor});
  Json list = Json::array({number.base});
  for (const Term& term : number.terms) {
    Json row = Json::array({term.factor});
    for (const int32_t size : term.sizes) row.push_back(size);
    list.push_back(std::move(row));
  }
  return list;
}
Json json_of(const Integers& numbers) {
  Json list = Json::array();
  for (const Integer& number : numbers) list.push_back(json_of(number));
  return list;
}
// JSON has no infinities and no nan.
Json json_of(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

int64_t whole(const Json& tree) {
  if (!tree.is_number_integer()) refuse("expected a whole number, got ", short_text(tree));
  return tree.get<int64_t>();
}
int32_t small(const Json& tree) {
  const int64_t number = whole(tree);
  if (number != static_cast<int32_t>(number)) refuse("expected a small number, got ", number);
  return static_cast<int32_t>(number);
}
// `count`: how many dynamic sizes there are.
Integer integer_from(const Json& tree, size_t count) {
  if (!tree.is_array()) return {whole(tree)};
  Integer number{whole(tree.at(0))};
  for (size_t i = 1; i < tree.size(); ++i) {
    Term term;
    if (tree[i].is_array()) {
      term.factor = whole(tree[i].at(0));
      for (size_t k = 1; k < tree[i].size(); ++k) term.sizes.push_back(small(tree[i][k]));
    } else {
      term = {whole(tree[i]), {0}};
    }
    for (const int32_t size : term.sizes) {
      if (size < 0 || static_cast<size_t>(size) >= count) refuse("there is no dynamic size ", size);
    }
    if (term.factor != 0 && !term.sizes.empty()) number.terms.push_back(std::move(term));
  }
  return number;
}
Integers integers_from(const Json& tree, size_t count) {
  Integers list;
  for (const Json& each : tree) list.push_back(integer_from(each, count));
  return list;
}
double real_from(const Json& tree) {
  if (tree.is_number()) return tree.get<double>();
  const auto text = tree.get<std::string>();
  if (text == "nan") return std::nan("");
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  refuse("expected a number, got '", text, "'");
}

// ---- Values ----

DType dtype_from(const Json& tree) {
  const auto name = tree.get<std::string>();
  for (size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (concat(dtype) == name) return dtype;
  }
  refuse("there is no dtype '", name, "'");
}

Json json_of(const Value& value, int32_t number, const std::string& name) {
  return {{"name", name},
          {"value", number},
          {"dtype", concat(value.dtype)},
          {"device", {static_cast<int32_t>(value.device.type), value.device.index}},
          {"shape", json_of(value.sizes)}};
}

Json list_of(const Program& program, const std::vector<Named>& named) {
  Json list = Json::array();
  for (const Named& each : named)
    list.push_back(json_of(program.values[static_cast<size_t>(each.value)], each.value, each.name));
  return list;
}

// ---- Arguments: the key says what it is ----

Json json_of(const Argument& arg) {
  switch (arg.kind) {
    case TSR_VALUE_BOOL:
      return {{"bool", arg.integer.base != 0}};
    case TSR_VALUE_INT:
      return {{"int", json_of(arg.integer)}};
    case TSR_VALUE_UNSIGNED:
      return {{"unsigned", static_cast<uint64_t>(arg.integer.base)}};
    case TSR_VALUE_REAL:
      return {{"real", json_of(arg.real)}};
    case TSR_VALUE_COMPLEX:
      return {{"complex", {json_of(arg.real), json_of(arg.imaginary)}}};
    case TSR_VALUE_DTYPE:
      return {{"dtype", arg.integer.base}};
    case TSR_VALUE_DEVICE:
      return {{"device", {arg.integer.base, arg.n}}};
    case TSR_VALUE_TEXT:
      return {{"text", arg.text}};
    case TSR_VALUE_TENSOR:
      return {{"tensor", arg.values[0]}};
    case TSR_VALUE_TENSORS:
      return {{"tensors", arg.values}};
    case TSR_VALUE_GENERATOR:
      return {{"generator", arg.n}};
    case TSR_VALUE_POINTER:
      return {{"optimizer", arg.n}};
    case TSR_VALUE_INTS:
      return {{"ints", json_of(arg.integers)}};
    case TSR_VALUE_REALS: {
      Json list = Json::array();
      for (const double number : arg.reals) list.push_back(json_of(number));
      return {{"reals", std::move(list)}};
    }
    default:
      return nullptr;
  }
}

Argument argument_from(const Json& tree, size_t count) {
  Argument arg;
  if (tree.is_null()) return arg;
  if (!tree.is_object() || tree.size() != 1) refuse("an argument is ", short_text(tree));
  const auto& [key, value] = tree.items().front();
  if (key == "bool") {
    arg.kind = TSR_VALUE_BOOL;
    arg.integer.base = value.get<bool>() ? 1 : 0;
  } else if (key == "int") {
    arg.kind = TSR_VALUE_INT;
    arg.integer = integer_from(value, count);
  } else if (key == "unsigned") {
    if (!value.is_number_unsigned())
      refuse("expected a whole number from 0, got ", short_text(value));
    arg.kind = TSR_VALUE_UNSIGNED;
    arg.integer.base = static_cast<int64_t>(value.get<uint64_t>());
  } else if (key == "real") {
    arg.kind = TSR_VALUE_REAL;
    arg.real = real_from(value);
  } else if (key == "complex") {
    arg.kind = TSR_VALUE_COMPLEX;
    arg.real = real_from(value.at(0));
    arg.imaginary = real_from(value.at(1));
  } else if (key == "dtype") {
    arg.kind = TSR_VALUE_DTYPE;
    arg.integer.base = whole(value);
  } else if (key == "device") {
    arg.kind = TSR_VALUE_DEVICE;
    arg.integer.base = whole(value.at(0));
    arg.n = small(value.at(1));
  } else if (key == "text") {
    arg.kind = TSR_VALUE_TEXT;
    arg.text = value.get<std::string>();
  } else if (key == "tensor") {
    arg.kind = TSR_VALUE_TENSOR;
    arg.values = {small(value)};
  } else if (key == "tensors") {
    arg.kind = TSR_VALUE_TENSORS;
    for (const Json& each : value) arg.values.push_back(small(each));
  } else if (key == "generator") {
    arg.kind = TSR_VALUE_GENERATOR;
    arg.n = small(value);
  } else if (key == "optimizer") {
    arg.kind = TSR_VALUE_POINTER;
    arg.n = small(value);
  } else if (key == "ints") {
    arg.kind = TSR_VALUE_INTS;
    arg.integers = integers_from(value, count);
  } else if (key == "reals") {
    arg.kind = TSR_VALUE_REALS;
    for (const Json& each : value) arg.reals.push_back(real_from(each));
  } else {
    refuse("there is no kind of argument '", key, "'");
  }
  return arg;
}

// ---- Text ----

class Text {
 public:
  explicit Text(const Program& program) : program_(program), names_(program.values.size()) {
    for (size_t i = 0; i < names_.size(); ++i)
      names_[i] = program.values[i].name.empty() ? concat("%", i) : program.values[i].name;
  }

  std::string all() const {
    std::string text = "program(", any;
    for (const Named& input : program_.inputs)
      text += concat(&input == program_.inputs.data() ? "" : ", ", declared(input));
    for (const DynamicSize& size : program_.sizes)
      any += concat(any.empty() ? " for any " : ", ", size.name);
    text += concat(")", any, "\n");
    for (const Value& value : program_.values) {
      if (!value.stored.defined()) continue;
      text += concat("  ", value.source == Source::kParameter ? "parameter " : "constant ",
                     value.name, ": ", value.dtype, "(", text_of(program_, value.sizes), ")\n");
    }
    for (const Step& step : program_.steps) text += line(step);
    text += "  return ";
    for (const Named& output : program_.outputs)
      text += concat(&output == program_.outputs.data() ? "" : ", ", output.name, "=",
                     name(output.value));
    return text + "\n";
  }

 private:
  std::string declared(const Named& named) const {
    const Value& value = program_.values[static_cast<size_t>(named.value)];
    return concat(named.name, ": ", value.dtype, "(", text_of(program_, value.sizes), ")");
  }
  std::string name(int32_t value) const {
    return value == kAbsent ? "none" : names_[static_cast<size_t>(value)];
  }
  std::string line(const Step& step) const {
    std::string text = "  ";
    for (size_t i = 0; i < step.results.size(); ++i)
      text += concat(i == 0 ? "" : ", ", name(step.results[i]));
    if (!step.results.empty()) text += " = ";
    const std::string_view function = step.symbol->name;
    text += concat(function.substr(4), "(");
    for (size_t i = 0; i < step.args.size(); ++i) {
      const CallInfo& info = *step.symbol->info;
      const char* arg = static_cast<int32_t>(i) < info.n ? info.args[i].name : "dst";
      text += concat(i == 0 ? "" : ", ", arg, "=", argument(step.args[i]));
    }
    return text + ")\n";
  }
  std::string argument(const Argument& arg) const {
    switch (arg.kind) {
      case TSR_VALUE_NONE:
        return "none";
      case TSR_VALUE_TENSOR:
        return name(arg.values[0]);
      case TSR_VALUE_TENSORS: {
        std::string list;
        for (const int32_t value : arg.values)
          list += concat(list.empty() ? "" : ", ", name(value));
        return concat("[", list, "]");
      }
      case TSR_VALUE_INT:
        return text_of(program_, arg.integer);
      case TSR_VALUE_INTS:
        return concat("[", text_of(program_, arg.integers), "]");
      case TSR_VALUE_DTYPE: {
        const auto dtype = dtype_from_abi(static_cast<int32_t>(arg.integer.base));
        return dtype ? concat(*dtype) : "?";
      }
      default:
        return json_of(arg).items().front().second.dump();
    }
  }

  const Program& program_;
  std::vector<std::string> names_;
};

}  // namespace

std::string text_of(const Program& program, const Integer& number) {
  std::string text;
  for (const Term& term : number.terms) {
    std::string product = term.factor == 1 ? "" : term.factor == -1 ? "-" : concat(term.factor);
    for (const int32_t size : term.sizes) {
      const bool is_first = product.empty() || product == "-";
      product += concat(is_first ? "" : "*", program.sizes[static_cast<size_t>(size)].name);
    }
    text += concat(text.empty() || term.factor < 0 ? "" : "+", product);
  }
  if (text.empty()) return concat(number.base);
  return number.base == 0 ? text : concat(text, number.base > 0 ? "+" : "", number.base);
}

std::string text_of(const Program& program, const Integers& numbers) {
  std::string text;
  for (const Integer& number : numbers)
    text += concat(text.empty() ? "" : ", ", text_of(program, number));
  return text;
}

Json to_json(const Program& program) {
  Json tree;
  tree["inputs"] = list_of(program, program.inputs);
  tree["outputs"] = list_of(program, program.outputs);
  Json dtypes = Json::array();
  for (const Value& value : program.values)
    dtypes.push_back({concat(value.dtype), static_cast<int32_t>(value.device.type),
                      value.device.index, json_of(value.sizes)});
  tree["values"] = std::move(dtypes);
  // What format 1 calls them; `sizes` has all.
  tree["dynamic"] = !program.sizes.empty();
  tree["size"] = program.sizes.empty() ? 0 : program.sizes[0].recorded;
  tree["sizes"] = Json::array();
  for (const DynamicSize& size : program.sizes)
    tree["sizes"].push_back({{"name", size.name}, {"size", size.recorded}});
  Json calls = Json::array();
  for (const Step& step : program.steps) {
    Json args = Json::array();
    for (const Argument& arg : step.args) args.push_back(json_of(arg));
    calls.push_back({{"function", step.symbol->id},
                     {"args", std::move(args)},
                     {"results", step.results},
                     {"mode", step.mode}});
  }
  tree["calls"] = std::move(calls);
  return tree;
}

void from_json(const Json& tree, Program& program) {
  if (tree.contains("sizes")) {
    for (const Json& row : tree["sizes"])
      program.sizes.push_back({row.at("name").get<std::string>(), whole(row.at("size"))});
  } else if (tree.at("dynamic").get<bool>()) {
    program.sizes.push_back({"n", whole(tree.at("size"))});
  }
  const size_t count = program.sizes.size();
  for (const Json& row : tree.at("values")) {
    Value value;
    value.dtype = dtype_from(row.at(0));
    value.device = Device{static_cast<DeviceType>(small(row.at(1))), small(row.at(2))};
    value.sizes = integers_from(row.at(3), count);
    program.values.push_back(std::move(value));
  }
  const auto read_names = [&](const char* key, std::vector<Named>& to) {
    for (const Json& row : tree.at(key)) {
      to.push_back({row.at("name").get<std::string>(), small(row.at("value"))});
      const int32_t at = to.back().value;
      if (at < 0 || static_cast<size_t>(at) >= program.values.size())
        refuse("'", to.back().name, "' is value ", at, ", which it does not have");
    }
  };
  read_names("inputs", program.inputs);
  read_names("outputs", program.outputs);
  for (const Named& input : program.inputs) {
    Value& value = program.values[static_cast<size_t>(input.value)];
    if (value.source == Source::kInput) refuse("two inputs are one value");
    value.source = Source::kInput;
    value.name = input.name;
  }
  for (const Json& row : tree.at("calls")) {
    Step step;
    step.symbol = find_symbol(small(row.at("function")));
    TSR_CHECK(step.symbol != nullptr, Code::kAbi, "path", "the program calls function ",
              row.at("function").dump(), ", which this library does not have");
    for (const Json& arg : row.at("args")) step.args.push_back(argument_from(arg, count));
    for (const Json& result : row.at("results")) step.results.push_back(small(result));
    step.mode = static_cast<uint8_t>(small(row.at("mode")) & (kModeGrad | kModeInference));
    program.steps.push_back(std::move(step));
  }
}

std::string describe(Program& program) {
  const auto lock = program.lock();
  Json tree = to_json(program);
  tree.erase("values");
  tree["trains"] = program.trains;
  tree["optimizers"] = program.optimizers.size();
  tree["generators"] = program.generators.size();
  for (const char* key : {"parameters", "constants"}) tree[key] = Json::array();
  for (size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    if (!value.stored.defined()) continue;
    tree[value.source == Source::kParameter ? "parameters" : "constants"].push_back(
        json_of(value, static_cast<int32_t>(i), value.name));
  }
  for (size_t i = 0; i < program.steps.size(); ++i)
    tree["calls"][i]["name"] = program.steps[i].symbol->name;
  const Plan* plan = program.runner == nullptr ? nullptr : program.runner->last_plan();
  if (plan != nullptr)
    tree["plan"] = {{"arena_bytes", plan->arena_bytes()},
                    {"calls", plan->call_count()},
                    {"kept_calls", plan->kept_calls()},
                    {"graph", plan->has_graph()},
                    {"graph_reason", plan->graph_reason()}};
  const Replay* replay = program.runner == nullptr ? nullptr : program.runner->last_replay();
  if (replay != nullptr)
    tree["replay"] = {{"kept", replay->is_kept()},
                      {"reason", replay->reason()},
                      {"launches", replay->launch_count()},
                      {"pool_bytes", replay->pool_bytes()}};
  return tree.dump();
}

std::string to_text(Program& program) {
  return Text(program).all();
}

}  // namespace tsr::capi::program
