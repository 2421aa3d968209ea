// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

namespace tsr::test {
namespace {

constexpr const char* kFolder = TSR_CONFORMANCE;  // read while tests are registered

std::vector<Json> read_families() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kFolder) + "/cases")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Json> found;
  for (const auto& path : paths) found.push_back(Json::parse(std::ifstream(path)));
  return found;
}

std::map<std::string, Tensor> read_vectors() {
  const std::string path = std::string(kFolder) + "/vectors.safetensors";
  tsr_archive archive = nullptr;
  int64_t count = 0;
  ok(tsr_archive_open(path.c_str(), -1, &archive));
  ok(tsr_archive_count(archive, &count));
  std::map<std::string, Tensor> found;
  for (int64_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    int64_t length = 0;
    ok(tsr_archive_name(archive, i, &name, &length));
    ok(tsr_archive_tensor(archive, i,
                          found[std::string(name, static_cast<size_t>(length))].slot()));
  }
  tsr_archive_release(archive);
  return found;
}

const std::map<std::string, Tensor>& vectors() {
  static const auto* const kVectors = new std::map<std::string, Tensor>(read_vectors());
  return *kVectors;
}

int64_t constant(const std::string& name) {
  return schema().at("constants").at(name).get<int64_t>();
}
tsr_dtype dtype_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return static_cast<tsr_dtype>(constant("TSR_" + name));
}

bool starts(const std::string& text, std::string_view head) {
  return text.compare(0, head.size(), head) == 0;
}

double real_of(const Json& given) {
  return given.is_object() ? std::stod(given.at("float").get<std::string>()) : given.get<double>();
}

tsr_value plain(tsr_value_kind kind, int64_t integer) {
  tsr_value value = {};
  value.kind = kind;
  value.integer = integer;
  return value;
}
tsr_value pointing(tsr_value_kind kind, const void* pointer) {
  tsr_value value = {};
  value.kind = kind;
  value.pointer = pointer;
  return value;
}

// Whether the function takes a host number for the argument.
bool takes_number(const std::string& function, const std::string& argument) {
  static const auto* const kTaken = [] {
    auto* found = new std::set<std::string>;
    for (const auto& row : schema().at("functions")) {
      for (const auto& param : row.at("params")) {
        if (param[0] == "const tsr_number*") {
          found->insert(row.at("name").get<std::string>() + "/" + param[1].get<std::string>());
        }
      }
    }
    return found;
  }();
  return kTaken->count(function + "/" + argument) == 1;
}

}  // namespace

const std::vector<Case>& cases() {
  static const auto* const kFamilies = new std::vector<Json>(read_families());
  static const auto* const kCases = [] {
    auto* found = new std::vector<Case>;
    for (const Json& family : *kFamilies) {
      for (const Json& op : family.at("ops")) {
        for (const Json& row : op.at("cases")) found->push_back({&op, &row});
      }
    }
    return found;
  }();
  return *kCases;
}

const nlohmann::json& schema() {
  static const auto* const kSchema = [] {
    const char* text = nullptr;
    int64_t size = 0;
    ok(tsr_schema_json(&text, &size));
    return new nlohmann::json(nlohmann::json::parse(text, text + size));
  }();
  return *kSchema;
}

Literal stored(const Json& key) {
  if (key.is_null()) return shaped(0, {});
  if (key.is_object() && key.contains("dtype"))
    return shaped(dtype_of(key.at("dtype")), key.at("shape"));
  const bool pairs = key.is_object();
  Literal found = literal_of(vectors().at(pairs ? key.at("pairs") : key));
  if (pairs) {
    found.dtype = TSR_COMPLEX128;
    found.shape.pop_back();
  }
  return found;
}

std::vector<std::string> stored_keys() {
  std::vector<std::string> found;
  for (const auto& [key, tensor] : vectors()) found.push_back(key);
  return found;
}

tsr_value tensor_value(tsr_tensor tensor) {
  return pointing(TSR_VALUE_TENSOR, tensor);
}
tsr_value list_value(tsr_value_kind kind, const void* entries, size_t count) {
  tsr_value value = pointing(kind, entries);
  value.n = static_cast<int32_t>(count);
  return value;
}

Call::Call(const Case& one, const std::string& form)
    : function_(one.row->at("functions").at(form)) {
  const Json& given = one.row->at("in");
  for (const Json& arg : one.op->at("args")) {
    const std::string name = arg.at("name"), type = arg.at("type");
    const Json value = given.contains(name) ? given.at(name) : arg.value("default", Json());
    Argument argument{name, type, value_of(type, value)};
    argument.extremes = arg.value("fuzz", true);
    argument.numbers = one.op->value("numbers", Json());
    if (takes_number(function_, name)) argument.type = type.back() == '?' ? "scalar?" : "scalar";
    arguments.push_back(argument);
  }
  if (form != "inplace") add_results(one, form);
}

void Call::add_results(const Case& one, const std::string& form) {
  for (const auto& result :
       schema().at("ops").at(one.op->at("op").get<std::string>()).at("returns")) {
    const std::string name = result.at("name"), type = result.at("type");
    if (form == "out") {
      tensors_.push_back(place_for(stored(one.row->at("out").at(name))));
      arguments.push_back(Argument{name, type, tensor_value(tensors_.back())});
    } else if (type == "out tensor[]") {
      places_.emplace_back();
      arguments.push_back(Argument{name, type, pointing(TSR_VALUE_PLACES, &places_.back()), true});
    } else {
      tensors_.emplace_back();
      arguments.push_back(Argument{name, type, pointing(TSR_VALUE_PLACE, &tensors_.back()), true});
    }
  }
}

tsr_value Call::value_of(const std::string& type, const Json& given) {
  if (given.is_null()) return plain(TSR_VALUE_NONE, 0);
  if (given.is_array()) return list_of(type, given);
  if (starts(type, "dtype")) return plain(TSR_VALUE_DTYPE, dtype_of(given));
  if (starts(type, "device")) return plain(TSR_VALUE_DEVICE, TSR_DEVICE_CPU);
  if (starts(type, "str")) {
    texts_.push_back(given);
    tsr_value value = pointing(TSR_VALUE_TEXT, texts_.back().c_str());
    value.integer = -1;
    return value;
  }
  if (given.is_string() || (given.is_object() && given.contains("pairs"))) {
    tensors_.emplace_back(stored(given));
    return tensor_value(tensors_.back());
  }
  return number(type, given);
}

tsr_value Call::number(const std::string& type, const Json& given) const {
  if (given.is_boolean()) return plain(TSR_VALUE_BOOL, given.get<bool>() ? 1 : 0);
  if (given.is_number_integer() && !starts(type, "f64")) return plain(TSR_VALUE_INT, given);
  tsr_value value = plain(TSR_VALUE_REAL, 0);
  if (given.is_object() && given.contains("complex")) {
    value.kind = TSR_VALUE_COMPLEX;
    value.real = real_of(given.at("complex")[0]);
    value.imaginary = real_of(given.at("complex")[1]);
  } else {
    value.real = real_of(given);
  }
  return value;
}

tsr_value Call::list_of(const std::string& type, const Json& given) {
  if (starts(type, "int64")) {
    integers_.push_back(given);
    return list_value(TSR_VALUE_INTS, integers_.back().data(), given.size());
  }
  if (starts(type, "f64")) {
    reals_.push_back(given);
    return list_value(TSR_VALUE_REALS, reals_.back().data(), given.size());
  }
  handles_.emplace_back();
  for (const Json& key : given) {
    handles_.back().push_back(nullptr);
    if (key.is_null()) continue;
    tensors_.emplace_back(stored(key));
    handles_.back().back() = tensors_.back();
  }
  return list_value(TSR_VALUE_TENSORS, handles_.back().data(), given.size());
}

tsr_status Call::make() {
  return with(arguments.size(), {});
}

tsr_status Call::with(size_t place, tsr_value value) {
  std::vector<tsr_value> values;
  for (const Argument& argument : arguments) {
    values.push_back(argument.value);
    if (!argument.is_result) continue;
    auto* owner = const_cast<void*>(argument.value.pointer);
    if (argument.value.kind == TSR_VALUE_PLACE) {
      values.back().pointer = static_cast<Tensor*>(owner)->slot();
    } else {
      auto* places = static_cast<Places*>(owner);
      values.back() =
          list_value(TSR_VALUE_PLACES, places->slots(), static_cast<size_t>(places->capacity()));
    }
  }
  if (place < values.size()) values[place] = value;
  return call(std::move(values));
}

tsr_status Call::call(std::vector<tsr_value> values) {
  const int32_t id = tsr_function_id(function_.c_str(), -1);
  const tsr_status status = tsr_call(id, values.data(), static_cast<int32_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const tsr_value& own = arguments[i].value;
    if (arguments[i].is_result && own.kind == TSR_VALUE_PLACES)
      *static_cast<Places*>(const_cast<void*>(own.pointer))->count() = values[i].n;
  }
  return status;
}

Call::Argument& Call::argument(const std::string& name) {
  for (Argument& argument : arguments) {
    if (argument.name == name) return argument;
  }
  throw std::out_of_range(function_ + " has no argument or result " + name);
}

std::vector<tsr_tensor> Call::tensors(const Argument& argument) const {
  const tsr_value& value = argument.value;
  switch (value.kind) {
    case TSR_VALUE_PLACE:
      return {*static_cast<const Tensor*>(value.pointer)};
    case TSR_VALUE_PLACES: {
      const auto* places = static_cast<const Places*>(value.pointer);
      return {places->begin(), places->end()};
    }
    case TSR_VALUE_TENSORS: {
      const auto* handles = static_cast<const tsr_tensor*>(value.pointer);
      return {handles, handles + value.n};
    }
    default:
      return {static_cast<tsr_tensor>(const_cast<void*>(value.pointer))};
  }
}

}  // namespace tsr::test
